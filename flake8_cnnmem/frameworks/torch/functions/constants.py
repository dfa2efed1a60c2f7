"""Tensors whose values are known or do not depend on the model's input.

Code computes its own structure with small tensors (`torch.linspace(0, rate, sum(depths))`, index tables, masks).
Their values are kept while they are few, and no Call is recorded for what is computed from them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.shared_values import NARROW, Read, flattened, in_order, nest, shares, wrapped
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

LARGEST = 4096
"""Values that are kept at most; a larger table is only known by its shape."""

CONSTANT_STEPS = 10
"""What an operation on constants costs beside the call, in steps."""


@dataclass(slots=True, eq=False)
class Constant(Tensor):
    """A tensor that no input and no parameter takes part in: `torch.arange(h)`, and what is computed from it."""


def is_constant(value: object) -> TypeGuard[Tensor]:
    """Whether a value takes no part in the model: what is computed from such values alone needs no Call. One that asks
    for a gradient does."""
    if type(value) is Constant:
        return not value.requires_grad
    return type(value) is Tensor and value.data is not None and value.call is None and not value.requires_grad


def counted(shape: Shape | Unknown) -> int | None:
    """How many values a tensor of this shape has, if that is a number small enough to keep them."""
    if isinstance(shape, Unknown):
        return None
    total = 1
    for size in shape:
        if not isinstance(size, int) or size < 0:
            return None
        total *= size
    return total if total <= LARGEST else None


def constant(shape: Shape, values: Iterable[Any] | None, dtype: str) -> Constant:
    """A constant of this shape with its values in row-major order, which are dropped when they are too many."""
    if values is None or counted(shape) is None:
        return Constant(shape, dtype)
    given = [wrapped(value, dtype) for value in values] if dtype in NARROW else as_stored(list(values), dtype)
    return Constant(shape, dtype, data=nest(given, shape))


def as_stored(values: list[Any], dtype: str) -> list[Any]:
    """Numbers as a tensor of this dtype holds them: 0.1 is 0.10000000149... in single precision."""
    if dtype not in SINGLE or set(map(type, values)) != {float}:
        return values
    return list(array("f", values))


SINGLE = ("float", "float32")
"""Single precision, said or by default."""


def as_view(made: Constant, of: Tensor, read: Read | None = None) -> Constant:
    """A constant that lies in the storage of another one, from whose values its own are read."""
    made.view_of, made.born = of, of.born
    shares(made, of, read)
    return made


def value_as(value: Any, dtype: str) -> Any:
    """A number as one of a dtype: bool, int or float; what is no number stays."""
    if not isinstance(value, (int, float)) or dtype.startswith("complex"):
        return value
    if dtype == "bool":
        return bool(value)
    if not dtype.startswith(("int", "uint")):
        return float(value)
    return wrapped(int(value), dtype) if math.isfinite(value) else value


def with_true(made: Value, true: int | None) -> Value:
    """What was computed of a mask, with how many of its values are true, if it is a constant."""
    if true is not None and is_constant(made):
        made.true = true
    return made


def with_largest(made: Value, given: Value, change: Callable[[int], Any] = int) -> Value:
    """What was computed of each of some whole numbers, and grows with it, with the largest one that it gives."""
    known = given.largest if isinstance(given, Tensor) else None
    if known is not None and isinstance(made, Tensor) and made is not given and "int" in made.dtype:
        made.largest = int(change(known))
    return made


def from_nested(value: Any) -> tuple[Shape, list[Any]] | None:
    """The shape and the values of nested lists and tuples; None when they are ragged."""
    if not isinstance(value, (list, tuple)):
        return (), [value]
    inner: Shape = ()
    numbers: list[Any] = []
    for at, item in enumerate(value):
        part = from_nested(item)
        if part is None or (at and part[0] != inner):
            return None
        inner = part[0]
        numbers.extend(part[1])
    return (len(value), *inner), numbers


def shape_around(shape: Shape, values: Sequence[Any], first: Tensor) -> Shape | Unknown:
    """What nested lists of this shape give that hold tensors, or arrays, like the first. A tensor has one value there,
    whatever its axes, and is a number (measured: one of several values is a ValueError); an array keeps its axes, and
    so has whatever else stands there."""
    if first.framework == "torch":
        return shape
    if isinstance(first.shape, Unknown):
        return first.shape
    other = next((value for value in values if isinstance(value, Unknown)), None)
    return (*shape, *first.shape) if other is None or not first.shape else other.loose()


def flat(tensor: Tensor) -> list[Any] | None:
    """The values in row-major order, or None when they are not known."""
    if tensor.data is None or isinstance(tensor.shape, Unknown):
        return None
    return flattened(tensor.data, len(tensor.shape))


def broadcast_data(function: Callable[..., Any], shape: Shape, *operands: Any) -> list[Any] | None:
    """The values of an elementwise operation on tensors and numbers that broadcast to `shape`; None if unknown."""
    total = counted(shape)
    if total is None:
        return None
    columns = []
    # Numbers become what tensors beside them are.
    single = any(isinstance(operand, Tensor) and operand.dtype in SINGLE for operand in operands)
    for operand in operands:
        if isinstance(operand, Tensor):
            values = flat(operand)
            if values is None or isinstance(operand.shape, Unknown):
                return None
            columns.append(spread(values, operand.shape, shape))
        else:
            columns.append([operand] * total if not single else as_stored([operand], "float32") * total)
        if any(type(value) is Batch for value in columns[-1]):
            # A size that has no number yet.
            return None
    try:
        values = [function(*row) for row in zip(*columns, strict=True)]
    except (ArithmeticError, TypeError, ValueError):
        return None
    # Whole numbers of Python's have no end; a tensor's do.
    wide = bool(values) and type(values[0]) is int and max(map(abs, values)) >= 2**63
    return None if wide else values


def spread(values: list[Any], shape: Shape, target: Shape) -> list[Any]:
    """Row-major values of `shape` repeated to the larger shape `target`."""
    if shape == target:
        return values
    own: tuple[Size, ...] = (1,) * (len(target) - len(shape)) + shape
    strides, step = [0] * len(own), 1
    for axis in reversed(range(len(own))):
        size = own[axis]
        assert isinstance(size, int)
        strides[axis] = 0 if size == 1 else step
        step *= size
    places = [0]
    for axis, size in enumerate(target):
        assert isinstance(size, int)
        places = [place + strides[axis] * at for place in places for at in range(size)]
    return [values[place] for place in places]


def permuted(tensor: Tensor, axes: Sequence[int]) -> list[Any] | None:
    """The values after the axes are reordered; None when they are not known."""
    values = flat(tensor)
    if values is None or isinstance(tensor.shape, Unknown):
        return None
    return in_order(values, [size for size in tensor.shape if isinstance(size, int)], axes)


def along(tensor: Tensor, axis: int, function: Callable[[list[Any]], Any]) -> list[Any] | None:
    """`function` of each line of values along an axis, in row-major order of the axes that are left."""
    if isinstance(tensor.shape, Unknown):
        return None
    rank = len(tensor.shape)
    others = [at for at in range(rank) if at != axis]
    values = permuted(tensor, [*others, axis])
    size = tensor.shape[axis]
    if values is None or not isinstance(size, int) or not size:
        return None
    return [function(values[at : at + size]) for at in range(0, len(values), size)]


def scalar(value: object) -> Any:
    """The number that a value is: a number itself, or the only value of a constant; None when it is not known."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Tensor) and value.data is not None:
        values = flat(value)
        if values is not None and len(values) == 1:
            return values[0]
    return None
