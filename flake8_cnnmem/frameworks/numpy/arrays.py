"""Arrays of the interpreted program: tensors of framework "numpy" with their values as long as these are few."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.frameworks.numpy.dtypes import NUMBER_OF, common, dtype_of_value, name_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import (
    NARROW,
    flattened,
    in_order,
    is_part,
    nest,
    same_values,
    shares,
    wrapped,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value

KEPT = 4096
"""Values of an array that are kept. Model code computes with a handful; data sets are far above."""

LARGEST_RANK = 32
"""As in numpy."""


def count(shape: Shape | Unknown) -> int | None:
    """How many values an array of this shape has, where that is a number."""
    if isinstance(shape, Unknown):
        return None
    total = dims.product(shape)
    return total if isinstance(total, int) else None


def make(shape: Shape | Unknown, flat: Sequence[Value] | None, dtype: str) -> Tensor:
    """An array; `flat` are its values in order, or None where they are not known or too many to keep."""
    if isinstance(shape, Unknown):
        # Of a picture whose channels are not known, few functions keep the sides where they are.
        return Tensor(shape.loose(), dtype, framework="numpy")
    if flat is None or len(flat) > KEPT or count(shape) != len(flat):
        return Tensor(shape, dtype, framework="numpy")
    return Tensor(shape, dtype, data=nested(shape, [cast(value, dtype) for value in flat]), framework="numpy")


def viewed(made: Tensor, array: Tensor, order: Sequence[int] | None = None) -> Tensor:
    """An array that lies in the storage of another one, whose axes it has in this order, or whose values in theirs."""
    made.classes = array.classes if made.dtype != "bool" and order is None else 0
    if array.data is None or made is array or not isinstance(array.shape, tuple):
        return made
    rank, shape, before = len(array.shape), made.shape, [size for size in array.shape if isinstance(size, int)]

    def read(data: Any) -> Any:
        values = flattened(data, rank)
        return nest(values if order is None else in_order(values, before, order), shape)

    # It may have to copy what is a view in another order itself.
    shares(made, array, None if is_part(array) and order is None else read)
    return made


def with_values_of(made: Tensor, source: Tensor) -> Tensor:
    """An array with the same values as another: labels stay labels."""
    made.classes = source.classes if made.dtype != "bool" else 0
    return made


def cast(value: Value, dtype: str) -> Value:
    """A value as an array of this dtype holds it."""
    kind = NUMBER_OF.get(dtype)
    if dtype in NARROW and type(value) is int:
        return wrapped(value, dtype)
    if kind is None or type(value) is kind or not isinstance(value, (int, float)):
        return value
    if kind is int and isinstance(value, float) and not math.isfinite(value):
        return value
    return wrapped(kind(value), dtype)


def nested(shape: Shape, flat: Sequence[Value]) -> Any:
    """Nested tuples; the value itself for no axes."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return tuple(flat)
    step = len(flat) // shape[0] if isinstance(shape[0], int) and shape[0] else 0
    return tuple(nested(shape[1:], flat[at * step : (at + 1) * step]) for at in range(shape[0] if step else 0))  # type: ignore[arg-type]


def flat_of(tensor: Tensor) -> list[Value] | None:
    """The values in order, or None where they are not kept."""
    if tensor.data is None or isinstance(tensor.shape, Unknown):
        return None
    values: list[Value] = [tensor.data]
    for _ in tensor.shape:
        values = [item for part in values for item in (part if isinstance(part, tuple) else (part,))]
    return values if len(values) == count(tensor.shape) else None


ANY_NUMBER = {"int": 0, "float": 0.0}
"""What stands for a number that is not known, where only its dtype is asked for."""


def scalar(value: Value) -> bool:
    """Whether a value counts as one element: a number, a size, text, anything that is no sequence."""
    return not isinstance(value, (list, tuple, range, Tensor, deque, set, dict)) and not hasattr(value, "__next__")


def may_be_an_array(item: Value) -> bool:
    """Whether an item of a list, of which nothing is known, may be an array or a list itself. What has a dtype may:
    `image.astype(np.float32)`."""
    if not isinstance(item, Unknown):
        return False
    return item.sequence or not (item.number or item.something) or (item.known is not None and "dtype" in item.known)


def as_array(run: Runtime, value: Value, dtype: str | None = None) -> Tensor | Unknown:
    """What `np.asarray` makes of numbers, nested sequences, arrays and other frameworks' tensors.

    What nobody knows is an array as soon as its dtype is said: of it, or by who asks.
    """
    if isinstance(value, Unknown):
        kind = dtype or name_of((value.known or {}).get("dtype"))
        return value if kind is None else Tensor(value, kind, framework="numpy")
    if isinstance(value, Tensor):
        own = "float32" if value.dtype == "float" else value.dtype
        if value.framework == "numpy" and dtype in (None, own):
            return value
        if isinstance(value.shape, Unknown) and value.framework == "numpy":
            return Tensor(value.shape, dtype or own, framework="numpy")
        array = with_values_of(make(value.shape, flat_of(value), dtype or own), value)
        if value.data is not None and dtype in (None, own):
            shares(array, value, same_values)
        return array
    if isinstance(value, Instance) and isinstance(value.payload, (list, tuple)):
        value = value.payload
    if isinstance(value, Instance) and value.cls.find("__array__") is not MISSING:
        made = run.call(run.get(value, "__array__"))
        if isinstance(made, (Tensor, Unknown)):
            return as_array(run, made, dtype)
    if scalar(value):
        return make((), [value], dtype or dtype_of_value(value))
    items = run.items(value)
    if isinstance(items, Unknown):
        item = run.sample(value)
        if isinstance(item, Unknown) and item.number:
            item = ANY_NUMBER[item.number]
        one = items if item is MISSING else as_array(run, item, dtype)
        if isinstance(one, Unknown):
            return items
        if isinstance(one.shape, Unknown):
            return Tensor(items, one.dtype, framework="numpy")
        length = run.length_of(value)
        return make((items if length is None else length, *one.shape), None, one.dtype)
    return gathered(run, items, dtype)


def gathered(run: Runtime, items: list[Value], dtype: str | None, depth: int = 0) -> Tensor | Unknown:
    """An array of a sequence's items, which may be sequences themselves."""
    if depth > LARGEST_RANK:
        return run.unknown("an array has too many axes")
    if items and isinstance(items[0], Unknown) and all(may_be_an_array(item) for item in items):
        return items[0].loose()
    if all(scalar(item) for item in items):
        kind = dtype or (common(dtype_of_value(item) for item in items) if items else "float64")
        return make((len(items),), items, kind)
    parts: list[Tensor] = []
    for item in items:
        run.spend(1)
        if isinstance(item, Unknown):
            return item
        inner = run.items(item) if not isinstance(item, Tensor) and not scalar(item) else item
        part = gathered(run, inner, dtype, depth + 1) if isinstance(inner, list) else as_array(run, inner, dtype)
        if isinstance(part, Unknown):
            return part
        parts.append(part)
    return stacked(run, parts, dtype)


def stacked(run: Runtime, parts: list[Tensor], dtype: str | None) -> Tensor | Unknown:
    """Arrays of one shape along a new first axis; rows of unequal length are an array of objects."""
    shape = parts[0].shape
    kind = dtype or common(part.dtype for part in parts)
    if isinstance(shape, Unknown):
        return make(shape, None, kind)
    for part in parts[1:]:
        if isinstance(part.shape, Unknown) or len(part.shape) != len(shape):
            return make((len(parts),), None, "object")
        if any(dims.same(a, b) is False for a, b in zip(part.shape, shape, strict=True)):
            return make((len(parts),), None, "object")
    flats = [flat_of(part) for part in parts]
    total = sum(len(flat) for flat in flats if flat is not None)
    known = total <= KEPT and all(flat is not None for flat in flats)
    return make((len(parts), *shape), [v for flat in flats for v in flat or ()] if known else None, kind)


def plain(tensor: Value) -> Any:
    """An array without axes as the number that it is, where it is known; other values as they are."""
    if isinstance(tensor, Tensor) and tensor.shape == () and tensor.framework == "numpy" and tensor.data is not None:
        return tensor.data
    return tensor


def sizes(run: Runtime, value: Value) -> Shape | Unknown:
    """A shape argument: one size or a sequence of them."""
    if isinstance(value, Tensor):
        flat = flat_of(value)
        value = tuple(flat) if flat is not None else run.unknown("the values of a shape are not known")
    if isinstance(value, Unknown):
        return (value,) if value.number == "int" else value
    if isinstance(value, (int, Batch)) and not isinstance(value, bool):
        return (value,)
    if isinstance(value, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    items = run.items(value)
    if isinstance(items, Unknown):
        return items
    found: list[Size] = []
    for item in items:
        if isinstance(item, (int, Batch, Unknown)):
            found.append(int(item) if isinstance(item, bool) else item)
        elif isinstance(item, Instance) and isinstance(item.payload, int):
            found.append(item.payload)
        else:
            raise TypeError("a shape is made of whole numbers")
    if any(isinstance(size, int) and size < 0 for size in found):
        raise ValueError("negative dimensions are not allowed")
    return tuple(found)


def axis_of(axis: Value, rank: int) -> int:
    """An axis counted from the front; ValueError where there is none."""
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank
