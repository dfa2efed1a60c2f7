"""attrs: classes with fields, as dataclasses have them. What a validator refuses, and a converter makes, is not
looked at."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.dataclasses import FIELD, SENTINEL, asdict, astuple, dataclass_, replace
from flake8_cnnmem.evaluate.stdlib.dataclasses import field as field_of
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def keep_factory(run: Runtime, self: Instance, factory: Value, takes_self: Value = False) -> None:
    self.attributes["factory"] = factory


FACTORY = native_class("Factory", {"__init__": native("__init__", keep_factory)}, module="attr")


def attribute(run: Runtime, default: Value = SENTINEL, *args: Value, **kwargs: Value) -> Value:
    """`attr.ib(default=...)`, `attrs.field(factory=list)`."""
    factory = kwargs.get("factory", SENTINEL)
    if isinstance(default, Instance) and default.cls is FACTORY:
        default, factory = SENTINEL, default.attributes["factory"]
    init, kw_only = kwargs.get("init", True), kwargs.get("kw_only", False)
    return field_of(run, default=default, default_factory=factory, init=init, kw_only=kw_only)


def define(run: Runtime, maybe_cls: Value = None, **options: Value) -> Value:
    """`@attr.s`, `@attrs.define`, with options or without: fields by their annotation, and those without one."""

    def decorate(run: Runtime, cls: Value) -> Value:
        if not isinstance(cls, Class):
            return cls
        run.changed(cls.namespace)
        declared = cls.namespace.setdefault("__annotations__", {})
        for word, value in cls.namespace.items():
            if isinstance(value, Instance) and value.cls is FIELD:
                declared.setdefault(word, "object")
        return dataclass_(run, cls, kw_only=options.get("kw_only", False))

    return decorate(run, maybe_cls) if maybe_cls is not None else native("decorator", decorate)


NAMES: dict[str, Value] = {
    **{word: native(word, define) for word in ("s", "attrs", "dataclass", "define", "mutable", "frozen")},
    **{word: native(word, attribute) for word in ("ib", "attrib", "field")},
    "Factory": FACTORY, "asdict": native("asdict", asdict), "astuple": native("astuple", astuple),
    "evolve": native("evolve", replace),
}  # fmt: skip

MODULES = {"attr": NAMES}
