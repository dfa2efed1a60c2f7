"""Dtypes as TensorFlow code names them: `tf.float32` is a string that also answers `.name` and its like."""

from __future__ import annotations

from typing import ClassVar

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Native, Property, Value


class DType(str):
    """`tf.float32`: equal to the plain name, as TensorFlow has it."""

    __slots__ = ()
    more: ClassVar[dict[str, Value]] = {}


NAMES = (
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "string", "complex64", "complex128", "half", "double", "qint8", "quint8", "resource", "variant",
)  # fmt: skip

DTYPES: dict[str, DType] = {name: DType(name) for name in NAMES} | {
    "half": DType("float16"),
    "double": DType("float64"),
    "bool_": DType("bool"),
}

FLOATS = frozenset({"float16", "float32", "float64", "bfloat16", "half", "double"})


def name(run: Runtime, self: DType) -> Value:
    """`dtype.name`: "float32"."""
    return str(self)


def is_floating(run: Runtime, self: DType) -> Value:
    """`dtype.is_floating`: whether it is one of the floating dtypes."""
    return self in FLOATS


def is_integer(run: Runtime, self: DType) -> Value:
    """`dtype.is_integer`: whether it is a signed or unsigned whole number."""
    return self.startswith(("int", "uint"))


def same(run: Runtime, self: DType) -> Value:
    """A method that gives its dtype."""
    return self


ATTRIBUTES: dict[str, Value] = {
    "name": Property(Native("name", name)),
    "as_numpy_dtype": Property(Native("as_numpy_dtype", same)),
    "base_dtype": Property(Native("base_dtype", same)),
    "real_dtype": Property(Native("real_dtype", same)),
    "is_floating": Property(Native("is_floating", is_floating)),
    "is_integer": Property(Native("is_integer", is_integer)),
}
"""What a dtype answers beyond a string's own methods."""

DType.more = ATTRIBUTES

DTYPE = Class("DType", namespace=dict(ATTRIBUTES), module="tensorflow")


def tensor_dtype(dtype: Value) -> str:
    """The dtype of a tensor of ours for one that code names: floats follow the model's unless they are half or double.

    Code writes `float32` where it means the default, so that one follows the model too.
    """
    if dtype is None or isinstance(dtype, Unknown):
        return "float"
    text = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", "float")
    if not isinstance(text, str) or text in ("float32", "float"):
        return "float"
    return {"half": "float16", "double": "float64", "int": "int32", "bool_": "bool"}.get(text, text)


def shown_dtype(dtype: str, floatx: str) -> DType:
    """The dtype as code reads it back."""
    return DTYPES.get(floatx if dtype == "float" else dtype, DType(dtype))
