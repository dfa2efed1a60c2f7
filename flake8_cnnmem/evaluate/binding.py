"""What is found on a class or on a metaclass, bound to what it was asked of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Native, Property, StaticMethod, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def bind(run: Interpreter, found: Value, receiver: Value, cls: Class) -> Value:
    """What an attribute found on a class gives when it is read through an instance."""
    kind = type(found)
    if kind is Function or kind is Native:
        return Bound(found, receiver)
    if type(found) is StaticMethod:
        return found.function
    if type(found) is ClassMethod:
        return Bound(found.function, cls)
    if type(found) is Property:
        return run.invoke(found.fget, (receiver,), {})
    if type(found) is Instance and found.cls.find("__get__") is not MISSING:
        return run.invoke(Bound(found.cls.find("__get__"), found), (receiver, cls), {})
    return found


def of_metaclass(run: Interpreter, cls: Class, bases: Sequence[Class], name: str) -> Value:
    """An attribute of a metaclass's own bases, bound to the class that it makes. What `type` does with a class that is
    there already is nothing."""
    for base in bases:
        if base.unknown_base is not None:
            return base.unknown_base
        if name in base.namespace and base is not run.builtin("type"):
            return bind(run, base.namespace[name], cls, base)
    if name == "__init__":
        return Native(name, lambda run, *args, **kwargs: None, propagate_unknown=False)
    return bind(run, run.builtin("type").namespace.get(name, MISSING), cls, run.builtin("type"))
