"""Arrays of JAX: what is an argument, a shape or a dtype of them, how ops run on them, what small constants hold.

What is computed from known values alone is computed as numpy does it, and is no call of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard, cast

from flake8_cnnmem.dims import Batch, Shape, Size, as_size, is_size
from flake8_cnnmem.frameworks.numpy.arrays import as_array as as_numpy
from flake8_cnnmem.frameworks.numpy.dtypes import DTYPE, SCALARS, name_of
from flake8_cnnmem.frameworks.numpy.functions import FUNCTIONS
from flake8_cnnmem.graph import Op, Tensor, Weight
from flake8_cnnmem.ops import Stack
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

FRAMEWORK = "flax"

FILLED = 16
"""Values of `ones` and its like that are kept: larger ones stand for inputs and parameters, not for numbers."""

BFLOAT16 = Class("bfloat16", (SCALARS["float32"],), module="jax.numpy")
"""numpy has none."""

WITHOUT_X64 = {"float64": "float", "float32": "float", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
"""JAX computes in 32 bits unless it is told otherwise; its float32 is the dtype that a model trains in."""


def dtype_named(value: Value, otherwise: str = "float") -> str:
    """The dtype that an argument names; what it is without one."""
    if value is BFLOAT16 or value == "bfloat16":
        return "bfloat16"
    if isinstance(value, Instance) and value.cls is DTYPE and value.attributes.get("name") == "bfloat16":
        return "bfloat16"
    found = name_of(value)
    return otherwise if found is None else WITHOUT_X64.get(found, found)


def shown_dtype(dtype: str) -> Instance:
    """`x.dtype`."""
    return Instance(DTYPE, {"name": "float32" if dtype == "float" else dtype})


RANKS = ("bool", "uint", "int", "float16", "bfloat16", "float", "complex")


def rank(dtype: str) -> int:
    """The place of a dtype among kinds: bool, whole numbers, floats, complex numbers."""
    return next((at for at, word in reversed(list(enumerate(RANKS))) if dtype.startswith(word)), 0)


def promoted(*values: Value) -> str:
    """The dtype of a result of these operands. Python's numbers are weak: they take the other's."""
    dtypes = [value.dtype for value in values if isinstance(value, Tensor)]
    dtypes = [WITHOUT_X64.get(dtype, dtype) for dtype in dtypes]
    if {"float16", "bfloat16"} <= set(dtypes):
        return "float"
    return max(dtypes, key=rank, default="float")


def floating(*values: Value) -> str:
    """The dtype of a result that has a fraction."""
    found = promoted(*values)
    return "float" if rank(found) < rank("float16") else found


def is_constant(value: Value) -> TypeGuard[Tensor]:
    """Whether it is an array whose values are known, and which no call made."""
    return isinstance(value, Tensor) and not isinstance(value, Weight) and value.data is not None and value.call is None


def is_symbolic(value: Value) -> bool:
    """Whether a value is, or holds, an array whose values are not known."""
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    return isinstance(value, Tensor) and not is_constant(value)


def holds_batch(value: Value) -> bool:
    """Whether a shape or number has the batch in it, which has no value yet."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_batch, value))
    return isinstance(value, (Batch, Unknown))


def from_numpy(value: Value) -> Value:
    """What numpy computes, as JAX gives it."""
    if isinstance(value, Tensor) and value.framework == "numpy":
        return Tensor(value.shape, WITHOUT_X64.get(value.dtype, value.dtype), data=value.data, framework=FRAMEWORK)
    if isinstance(value, (list, tuple)):
        return type(value)(map(from_numpy, value)) if type(value) in (list, tuple) else value
    return value


def to_numpy(value: Value) -> Value:
    """An array of JAX as one of NumPy; anything else as it is."""
    if isinstance(value, Tensor) and value.framework == FRAMEWORK:
        return Tensor(value.shape, "float32" if value.dtype == "float" else value.dtype, data=value.data,
                      framework="numpy")  # fmt: skip
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(to_numpy, value))
    return value


def on_host(run: Runtime, name: str, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
    """The function of numpy of this name, on values that are known."""
    native = FUNCTIONS.get(name)
    if not isinstance(native, Native):
        return run.unknown(f"{name} of known values is not followed")
    words = {word: to_numpy(value) for word, value in kwargs.items()}
    return from_numpy(run.call(native, *map(to_numpy, args), **words))


def as_array(run: Runtime, value: Value) -> Tensor | Unknown:
    """An argument as the array that it is taken for: lists with arrays in them stacked, numbers as constants."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    if isinstance(value, (list, tuple)) and is_symbolic(value):
        parts = [as_array(run, item) for item in value]
        stacked = run.apply(Stack(0), *parts, function="stack", framework=FRAMEWORK)
        # One output: its tensor.
        return cast("Tensor", stacked)
    if isinstance(value, Batch):
        return Tensor((), "int32", data=value, framework=FRAMEWORK)
    if not isinstance(value, (bool, int, float, complex, list, tuple, range)):
        return run.unknown("an argument is not an array")
    found = from_numpy(as_numpy(run, value, None))
    return found if isinstance(found, (Tensor, Unknown)) else run.unknown("an argument is not an array")


def apply(run: Runtime, op: Op, *inputs: Value, function: str = "", dtypes: Sequence[str] | None = None) -> Value:
    """Run an op on arrays, numbers and lists taken as constants."""
    arrays = [as_array(run, value) for value in inputs]
    if dtypes is None:
        dtypes = [promoted(*arrays)]
    return run.apply(op, *arrays, function=function or op.kind, dtypes=dtypes, framework=FRAMEWORK)


def plain(value: Value) -> Any:
    """A constant's value as plain Python; anything else as it is."""
    return thawed(value.data) if is_constant(value) else value


def thawed(data: Any) -> Any:
    """Nested tuples as nested lists."""
    return [thawed(item) for item in data] if isinstance(data, tuple) else data


def shape_of(run: Runtime, value: Value) -> Shape | Unknown:
    """The shape of a value as an array, or why it is not known."""
    array = as_array(run, value)
    return array if isinstance(array, Unknown) else array.shape


def sizes(run: Runtime, shape: Value) -> tuple[Size, ...] | Unknown:
    """A shape argument: a size, or several."""
    shape = plain(shape)
    if isinstance(shape, Unknown):
        return shape
    items = shape if isinstance(shape, (list, tuple, range)) else (shape,)
    found = tuple(plain(item) for item in items)
    if not all(is_size(size) or isinstance(size, float) for size in found):
        return run.unknown("a shape is not made of whole numbers")
    return found


def axes(axis: Value) -> Any:
    """An axis argument as a number, a tuple of them, or None for all."""
    axis = plain(axis)
    return tuple(axis) if isinstance(axis, (list, range)) else axis


def made(shape: tuple[Size, ...] | Unknown, dtype: str, fill: Value = None) -> Tensor:
    """An array of this shape that no call makes; `fill` is the value of all of it, None where it is not known."""
    if isinstance(shape, tuple):
        shape = tuple(as_size(size, Unknown("a size is no whole number")) for size in shape)
    count = 1
    for size in shape if isinstance(shape, tuple) else ():
        count *= size if isinstance(size, int) else FILLED + 1
    data = None
    if fill is not None and isinstance(shape, tuple) and 0 < count <= FILLED:
        data = fill
        for size in reversed(shape):
            assert isinstance(size, int)
            data = (data,) * size
    return Tensor(shape, dtype, data=data, framework=FRAMEWORK)
