"""Python's builtins as natives: `BUILTINS`, the classes of host values, and their attributes.

How the interpreter uses them:

- `BUILTINS[name]` is the value of a builtin name. Types are `Class`es with `host` set, whose namespaces hold their
  methods as Natives of (run, self, ...); self is the host value, or an Instance whose payload is one.
- Constructing calls the `__new__` found on the mro as `new(run, cls, *args, **kwargs)`. It gives a finished value:
  the host value for the type itself (its `__init__` is then not called), an Instance for a subclass. Mutable types
  leave a subclass's payload empty for `__init__` to fill, as Python does.
- `class_of(value)` is the class of a host value, `method(run, value, name)` an attribute of one.
- `key(run, value)` says what a dict or set may hold for a value.
- A class's metaclass is `facts["metaclass"]`, also an inherited one.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT, TYPE, class_of, host_class, method
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.builtins.formatting import format_value, percent, to_repr, to_str
from flake8_cnnmem.evaluate.builtins.functions import functions
from flake8_cnnmem.evaluate.builtins.iterators import ENUMERATE, FILTER, MAP, REVERSED, ZIP
from flake8_cnnmem.evaluate.builtins.keys import key, lose, lost
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.builtins.numbers import BOOL, COMPLEX, FLOAT, INT
from flake8_cnnmem.evaluate.builtins.objects import CLASS_METHOD, PROPERTY, STATIC_METHOD, UNION
from flake8_cnnmem.evaluate.builtins.reflection import reflections
from flake8_cnnmem.evaluate.builtins.sequences import LIST, RANGE, SLICE, TUPLE
from flake8_cnnmem.evaluate.builtins.sets import FROZENSET, SET
from flake8_cnnmem.evaluate.builtins.text import BYTEARRAY, BYTES, STR
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Native, Value

__all__ = [
    "BUILTINS", "UNION", "class_of", "format_value", "key", "lose", "lost", "method", "percent", "to_repr", "to_str",
]  # fmt: skip


def new_memoryview() -> Class:
    """The class `memoryview`, whose instances are not followed."""

    def new(run: Runtime, cls: Class, *args: Value) -> Value:
        # What is written through it is written to what it is of.
        made = run.unknown("memoryview is not followed")
        for each in args:
            if isinstance(each, bytearray):
                run.havoc(each, made)
        return made

    names: dict[str, Value] = {"__new__": Native("__new__", new)}
    return host_class("memoryview", memoryview, names)


BUILTINS: dict[str, Any] = {
    **functions,
    **reflections,
    **EXCEPTIONS,
    "object": OBJECT, "type": TYPE, "int": INT, "float": FLOAT, "bool": BOOL, "complex": COMPLEX, "str": STR,
    "bytes": BYTES, "bytearray": BYTEARRAY, "memoryview": new_memoryview(), "list": LIST, "tuple": TUPLE,
    "range": RANGE, "slice": SLICE, "dict": DICT, "set": SET, "frozenset": FROZENSET, "map": MAP, "filter": FILTER,
    "zip": ZIP, "enumerate": ENUMERATE, "reversed": REVERSED, "property": PROPERTY, "staticmethod": STATIC_METHOD,
    "classmethod": CLASS_METHOD, "NotImplemented": NotImplemented, "Ellipsis": ..., "None": None, "True": True,
    "False": False, "__debug__": True,
}  # fmt: skip
"""Every builtin name but those that need the caller's frame: super, locals, globals."""
