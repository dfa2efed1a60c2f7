"""The classes of host values: which `Class` an int, a dict or a generator is an instance of."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.keys import lost
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Native, Property, StaticMethod, Value

HOSTED: dict[type, Class] = {}
"""The Class of each host type."""

OBJECT = Class("object", module="builtins")
TYPE = Class("type", (OBJECT,), module="builtins")


class FunctionValue:
    """Stands in `HOSTED` for the interpreter's own Function, which this room does not know."""


NO_MORE: dict[str, Value] = {}
"""A framework's Python subclass of a builtin type (a tensor's shape) has in `more` what it answers beyond that type."""

STILL_FOLLOWED = frozenset(("append", "extend", "insert", "clear", "__iadd__"))
"""Methods of a container of uncertain contents that are run all the same."""

READING = frozenset(("keys", "values", "items", "copy", "index", "count", "pop", "popitem"))
"""Methods for which all of a container has to be there."""


def host_class(
    name: str,
    host: type,
    namespace: dict[str, Value],
    *bases: Class,
    module: str = "builtins",
    also: tuple[type, ...] = (),
) -> Class:
    """The Class for a host type, entered for `class_of`; `also` are other host types with the same class."""
    cls = Class(name, bases or (OBJECT,), namespace, host=host, module=module)
    for kind in (host, *also):
        HOSTED[kind] = cls
    return cls


def class_of(value: Value) -> Class | None:
    """The class of a host value (an int, a dict, a generator); None for values of the interpreter's own kinds."""
    kind: Any = type(value)
    if isinstance(value, Class):
        metaclass = next((base.facts["metaclass"] for base in value.mro if "metaclass" in base.facts), None)
        return metaclass if isinstance(metaclass, Class) else TYPE
    cls = HOSTED.get(kind)
    if cls is None and kind.__module__ != "flake8_cnnmem.values":
        cls = next((HOSTED[base] for base in kind.__mro__[1:-1] if base in HOSTED), None)
        if cls is None and kind.__name__ == "Function":
            cls = HOSTED[FunctionValue]
        if cls is not None:
            HOSTED[kind] = cls
    return cls


def method(run: Runtime, value: Value, name: str) -> Value:
    """An attribute of a host value: a method bound to it, or a property's value; MISSING where it has none."""
    cls = class_of(value)
    if cls is None:
        return MISSING
    found = getattr(type(value), "more", NO_MORE).get(name, MISSING)
    if found is MISSING:
        found = cls.find(name)
    if found is MISSING:
        if name == "__class__":
            return cls
        # TensorFlow 1 gave sizes as Dimension objects: x.shape[1].value
        return value if name == "value" and isinstance(value, (int, type(None))) else MISSING
    if isinstance(value, (list, dict, set)) and name not in STILL_FOLLOWED:
        if name in READING:
            run.read_whole(value)
        cause = lost(run, value)
        if cause is not None:
            return cause
    if isinstance(found, Native):
        return Bound(found, value)
    if isinstance(found, Property):
        return run.call(found.fget, value)
    if isinstance(found, ClassMethod):
        return Bound(found.function, cls)
    if isinstance(found, StaticMethod):
        return found.function
    return found
