"""`contextvars`: variables of the one context that there is."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.stdlib.modules import native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, ClassMethod, Instance, Native, Value

variables = Names()

TOKEN = native_class("Token", {"MISSING": None}, module="contextvars")


@variables.function("__init__", propagate_unknown=False)
def init(run: Runtime, self: Instance, name: Value, *, default: Value = MISSING) -> None:
    """`ContextVar(name, default)`"""
    self.attributes["name"] = name
    if default is not MISSING:
        self.attributes["_default"] = default


@variables.function("get", propagate_unknown=False)
def get(run: Runtime, self: Instance, default: Value = MISSING, /) -> Value:
    """`variable.get(default)`. LookupError without a value or a default."""
    for found in (self.attributes.get("_value", MISSING), default, self.attributes.get("_default", MISSING)):
        if found is not MISSING:
            return found
    raise run.error("LookupError", str(self))


@variables.function("set", propagate_unknown=False)
def set_(run: Runtime, self: Instance, value: Value, /) -> Instance:
    """`variable.set(value)`: a token for `reset`."""
    token = Instance(TOKEN, {"var": self, "old_value": self.attributes.get("_value", MISSING)})
    run.changed(self)
    self.attributes["_value"] = value
    return token


@variables.function("reset", propagate_unknown=False)
def reset(run: Runtime, self: Instance, token: Value, /) -> None:
    """`variable.reset(token)`: the value that it had before."""
    before = token.attributes["old_value"] if isinstance(token, Instance) else run.unknown("a token is not known")
    run.changed(self)
    if before is MISSING:
        self.attributes.pop("_value", None)
    else:
        self.attributes["_value"] = before


variables["__class_getitem__"] = ClassMethod(
    Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
)
names: dict[str, Value] = {
    "ContextVar": native_class("ContextVar", dict(variables), module="contextvars"),
    "Token": TOKEN,
    "Context": unfollowed("contextvars.Context"),
    "copy_context": unfollowed("contextvars.copy_context"),
}

MODULES = {"contextvars": names}
