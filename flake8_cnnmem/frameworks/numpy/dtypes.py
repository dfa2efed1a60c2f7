"""numpy's dtypes: classes such as `np.float32`, and the objects that `array.dtype` gives."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "float16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16, "object": 8, "str": 4,
}  # fmt: skip
"""Size of one value, from the smallest kind to the one that takes all others in."""

ORDER = list(BYTES)

NUMBER_OF: dict[str, Any] = {
    name: bool if name == "bool" else int if "int" in name else float
    for name in BYTES
    if name[:2] in ("bo", "in", "ui", "fl")
}
"""Python's type for the values of a dtype, where there is one."""

ALIASES = {
    "int": "int64", "float": "float64", "complex": "complex128", "int_": "int64", "float_": "float64",
    "double": "float64",
    "single": "float32", "half": "float16", "bool_": "bool", "bool8": "bool", "intp": "int64", "uint": "uint64",
    "byte": "int8", "ubyte": "uint8", "short": "int16", "intc": "int32", "longlong": "int64", "object_": "object",
    "long": "int64", "ulong": "uint64", "ushort": "uint16", "uintc": "uint32", "ulonglong": "uint64",
    "f4": "float32", "f8": "float64", "f2": "float16", "i4": "int32", "i8": "int64", "u1": "uint8", "f": "float32",
    "d": "float64", "i": "int32", "b": "int8", "str_": "str", "unicode_": "str",
    "bfloat16": "float32",
}  # fmt: skip


def name_of(value: Value) -> str | None:
    """The dtype that an argument names: text, a class, another array's dtype; None for nothing or something else."""
    if isinstance(value, Instance):
        value = value.attributes.get("name") or value.payload
    if isinstance(value, Class):
        value = value.name
    if not isinstance(value, str):
        value = getattr(value, "name", None)
    if not isinstance(value, str):
        return None
    word = value.lstrip("<>=|").rpartition(".")[2]
    return word if word in BYTES else ALIASES.get(word)


def dtype_of_value(value: Value) -> str:
    """The dtype that NumPy gives a value of Python: int64, float64, bool, ..."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, Batch)):
        return "int64"
    if isinstance(value, (float, Unknown)):
        return "float64"
    if isinstance(value, complex):
        return "complex128"
    if isinstance(value, Tensor):
        return value.dtype
    return "str" if isinstance(value, (str, bytes)) else "object"


def common(dtypes: Iterable[str]) -> str:
    """The dtype that takes all of them in."""
    names = ["float64" if name == "float" or name not in BYTES else name for name in dtypes]
    widest = max(names, key=ORDER.index, default="float64")
    if widest in ("float16", "float32") and any(name in ("int32", "int64", "uint32", "uint64") for name in names):
        return "float64"
    return widest


# The class of array.dtype


def equal(run: Runtime, self: Instance, other: Value) -> Value:
    """`dtype == other`, also by name."""
    return self.attributes["name"] == name_of(other)


DTYPE = Class("dtype", namespace={
    "__eq__": Native("__eq__", equal),
    "__ne__": Native("__ne__", lambda run, self, other: not equal(run, self, other)),
    "__str__": Native("__str__", lambda run, self: self.attributes["name"]),
    "__repr__": Native("__repr__", lambda run, self: f"dtype('{self.attributes['name']}')"),
    "__new__": Native("__new__", lambda run, cls, dtype, *args, **kwargs: dtype_object(name_of(dtype) or "object")),
    "itemsize": Property(Native("itemsize", lambda run, self: BYTES[self.attributes["name"]])),
    "kind": Property(Native("kind", lambda run, self: kind(self.attributes["name"]))),
    "type": Property(Native("type", lambda run, self: scalar_of(self.attributes["name"]))),
}, module="numpy")  # fmt: skip


def kind(name: str) -> str:
    """The letter of a dtype's kind: "f", "i", "u", "b", "O", ..."""
    return {"bool": "b", "object": "O", "str": "U"}.get(name, "u" if name.startswith("ui") else name[0])


def scalar_of(name: str) -> Class:
    """`array.dtype.type`."""
    return SCALARS[name]


def dtype_object(name: str) -> Instance:
    """The dtype of this name."""
    return Instance(DTYPE, {"name": name})


# The classes of scalars: calling one gives a plain Python number


def abstract(name: str, kinds: tuple[type, ...], *bases: Class) -> Class:
    """`np.floating` and its like: plain Python numbers count as instances."""

    def check(run: Runtime, self: Class, value: Value) -> bool:
        if isinstance(value, Tensor):
            # What an array gives at a place.
            own = SCALARS.get(value.dtype) if value.framework == "numpy" and value.shape == () else None
            return own is not None and own.derives_from(self)
        return type(value) in kinds

    return Class(name, bases, {"__instancecheck__": Native("__instancecheck__", check)}, module="numpy")


GENERIC = abstract("generic", (bool, int, float, complex))
NUMBER = abstract("number", (int, float, complex), GENERIC)
INTEGER = abstract("integer", (int,), NUMBER)
SIGNED = abstract("signedinteger", (int,), INTEGER)
UNSIGNED = abstract("unsignedinteger", (), INTEGER)
INEXACT = abstract("inexact", (float, complex), NUMBER)
FLOATING = abstract("floating", (float,), INEXACT)
COMPLEX_FLOATING = abstract("complexfloating", (complex,), INEXACT)


def parent(name: str) -> Class:
    """The abstract class of a dtype's scalars."""
    if name.startswith("int"):
        return SIGNED
    if name.startswith("uint"):
        return UNSIGNED
    return FLOATING if name.startswith("float") else COMPLEX_FLOATING if name.startswith("complex") else GENERIC


NARROW = frozenset({"int8", "uint8", "int16", "uint16"})
"""Whole numbers so narrow that sums of sizes do not fit."""


ROUNDED = {"float16": "e", "float32": "f"}
"""Numbers with fewer digits than Python's, by the letters that the module struct has for them."""


def fits(value: float, letter: str) -> bool:
    """Whether a number stays what it is with so many digits."""
    try:
        return value != value or bool(struct.unpack(letter, struct.pack(letter, value))[0] == value)
    except OverflowError:
        return False


def scalar_class(name: str) -> Class:
    """The class of a dtype's scalars (`numpy.float32`): called, it gives a number."""
    number = NUMBER_OF.get(name)

    def new(run: Runtime, cls: Class, value: Value = 0, *args: Value) -> Value:
        if isinstance(value, Batch):
            return value
        if isinstance(value, (list, tuple, Tensor)):
            from flake8_cnnmem.frameworks.numpy.arrays import as_array

            return as_array(run, value, name)
        if name in NARROW and isinstance(value, (int, float)):
            # Arithmetic with it wraps around.
            return run.unknown(f"what is computed with a number of {name} is not followed").as_number("int")
        if name in ROUNDED and isinstance(value, float) and not fits(value, ROUNDED[name]):
            # It is rounded, and so is whatever is computed with it.
            return run.unknown(f"what is computed with a number of {name} is not followed").as_number("float")
        return number(value) if number is not None and isinstance(value, (int, float, str)) else value

    kinds = (number,) if number is not None and name in ("bool", "int64", "float64") else ()
    cls = abstract(name, kinds, parent(name))
    cls.namespace["__new__"] = Native("__new__", new)
    return cls


SCALARS: dict[str, Class] = {name: scalar_class(name) for name in BYTES}


def is_subtype(run: Runtime, arg1: Value, arg2: Value) -> Value:
    """`np.issubdtype`."""
    own, wanted = name_of(arg1), name_of(arg2)
    if own is None:
        return run.unknown("a dtype is not known")
    if wanted is not None and not (isinstance(arg2, Class) and arg2.name in ("float", "int")):
        return own == wanted
    target: Any = {"float": FLOATING, "int": INTEGER}.get(arg2.name, arg2) if isinstance(arg2, Class) else None
    return isinstance(target, Class) and SCALARS[own].derives_from(target)
