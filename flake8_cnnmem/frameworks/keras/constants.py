"""Small tensors whose values are known: shapes read with `tf.shape`, tables, scalars. Computed, not recorded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.nested import countable
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.base import TOO_LARGE
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

LARGEST = 1024
"""Values that are kept at most."""


def nested_shape(value: Any) -> Shape | None:
    """The shape of nested lists and tuples of numbers; None for what is ragged, too long or holds other things."""
    return shape_within(value) if not isinstance(value, (list, tuple, range)) or countable(value) is not None else None


def shape_within(value: Any) -> Shape | None:
    """The shape of nested lists; None where they are ragged."""
    if isinstance(value, (list, tuple, range)):
        shapes = [shape_within(item) for item in value]
        if not shapes:
            return (0,)
        if any(shape is None or shape != shapes[0] for shape in shapes):
            return None
        assert shapes[0] is not None
        return (len(shapes), *shapes[0])
    if isinstance(value, Tensor):
        return value.shape if isinstance(value.shape, tuple) else None
    return () if isinstance(value, (int, float, complex, str, bytes, Batch, Unknown)) or value is None else None


def frozen(value: Any) -> Any:
    """Nested lists as nested tuples, constants among them by their values."""
    if isinstance(value, (list, tuple, range)):
        return tuple(frozen(item) for item in value)
    return value.data if isinstance(value, Tensor) else value


def constant(value: Any, dtype: str | None = None) -> Tensor | Unknown:
    """The tensor of a number or of nested lists of numbers."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    shape = nested_shape(value)
    if shape is None:
        return Unknown("a constant is not made of numbers")
    data = frozen(value)
    count = 1
    for size in shape:
        count *= size if isinstance(size, int) else 1
    if dtype is None:
        dtype = dtype_of(data)
    return Tensor(shape, dtype, data=data if count <= LARGEST else None, framework="keras")


def dtype_of(data: Any) -> str:
    """The dtype that nested numbers get as a tensor."""
    while isinstance(data, tuple) and data:
        data = data[0]
    if isinstance(data, bool):
        return "bool"
    if isinstance(data, (int, Batch)):
        return "int32"
    return "string" if isinstance(data, (str, bytes)) else "float"


def is_constant(value: Value) -> TypeGuard[Tensor]:
    """A tensor of ours whose values are known, and which no call made."""
    return isinstance(value, Tensor) and not isinstance(value, Weight) and value.data is not None and value.call is None


def plain(value: Value) -> Any:
    """A constant's value as plain Python (a number, nested lists); anything else as it is."""
    if isinstance(value, Tensor) and value.data is not None and value.call is None and not isinstance(value, Weight):
        return thawed(value.data)
    return value


def thawed(data: Any) -> Any:
    """Nested tuples as nested lists."""
    return [thawed(item) for item in data] if isinstance(data, tuple) else data


def compute(run: Runtime, symbol: str, left: Value, right: Value) -> Value:
    """Arithmetic of constants and numbers, value by value with broadcasting."""
    data = combine(
        run, symbol, left.data if isinstance(left, Tensor) else left, right.data if isinstance(right, Tensor) else right
    )
    if isinstance(data, Unknown):
        return data
    return constant(data)


def combine(run: Runtime, symbol: str, left: Any, right: Any) -> Any:
    """An operator on nested values, broadcast."""
    if isinstance(left, tuple) or isinstance(right, tuple):
        if not isinstance(left, tuple) or depth(right) > depth(left):
            return tuple(combine(run, symbol, left, item) for item in right)
        if not isinstance(right, tuple) or depth(left) > depth(right):
            return tuple(combine(run, symbol, item, right) for item in left)
        if len(left) == 1 and len(right) > 1:
            left = left * len(right)
        if len(right) == 1 and len(left) > 1:
            right = right * len(left)
        return tuple(combine(run, symbol, one, other) for one, other in zip(left, right, strict=False))
    return run.operate(symbol, left, right)


def depth(data: Any) -> int:
    """How deep tuples are nested."""
    count = 0
    while isinstance(data, tuple):
        count += 1
        data = data[0] if data else None
    return count


def each(function: Callable[[Any], Any], tensor: Tensor) -> Tensor | Unknown:
    """A function of every value."""

    def over(data: Any) -> Any:
        if isinstance(data, tuple):
            return tuple(over(item) for item in data)
        return (
            data
            if isinstance(data, Unknown)
            else Unknown("a value of the batch")
            if isinstance(data, Batch)
            else function(data)
        )

    return constant(over(tensor.data))


def _square(value: Any) -> Any:
    """Whole numbers of Python's have no end; a tensor's do."""
    return value * value if isinstance(value, float) or abs(value) < 2**31 else TOO_LARGE


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "abs": abs, "floor": math.floor, "ceil": math.ceil,
    "round": round, "neg": operator.neg, "square": _square, "sign": lambda x: (x > 0) - (x < 0),
    "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "rsqrt": lambda x: 1 / math.sqrt(x),
}  # fmt: skip


def leaves(data: Any) -> list[Any]:
    """The numbers of nested tuples, in order."""
    return [leaf for item in data for leaf in leaves(item)] if isinstance(data, tuple) else [data]
