"""Special forms of `typing`, and classes with what they are of: instances that can be subscripted and called."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.objects import union
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value

forms = Names()


@forms.function("__getitem__", propagate_unknown=False)
def subscript(run: Runtime, self: Instance, parameters: Value) -> Value:
    """`List[int]`: the form with its parameters."""
    args = parameters if isinstance(parameters, tuple) else (parameters,)
    return Instance(FORM, {"__origin__": self.attributes["_form"], "__args__": args, "_form": self.attributes["_form"]})


forms["__or__"] = Native("__or__", lambda run, self, other: union(self, other), propagate_unknown=False)
forms["__ror__"] = Native("__ror__", lambda run, self, other: union(other, self), propagate_unknown=False)


@forms.function("__call__", propagate_unknown=False)
def call(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`list[int](values)` makes a list; a form without a class gives what it is given."""
    origin = self.attributes.get("__origin__")
    if isinstance(origin, Class):
        return run.construct(origin, *args, **kwargs)
    return args[0] if args else None


@forms.function("__eq__", propagate_unknown=False)
def equal(run: Runtime, self: Instance, other: Value) -> Value:
    """Forms with the same parameters are equal."""
    if other is self.attributes.get("__origin__"):
        return run.unknown("what a generic class was subscripted with is not kept")
    if not isinstance(other, Instance) or other.cls is not self.cls:
        return False
    if self.attributes["_form"] is not other.attributes["_form"]:
        return False
    return run.equal(self.attributes["__args__"], other.attributes["__args__"])


FORM = native_class("_SpecialForm", dict(forms), module="typing")


def form(name: str) -> Instance:
    """A form of typing by its name (`List`, `Literal`)."""
    made = Instance(FORM, {"_name": name, "__args__": ()})
    made.attributes["_form"] = made
    return made


def generic(origin: Class, parameters: Value) -> Instance:
    """A class with what it is of, as an annotation says it: `list[Stage]`."""
    args = parameters if isinstance(parameters, tuple) else (parameters,)
    return Instance(FORM, {"__origin__": origin, "__args__": args, "_form": origin})
