"""Changing, joining and cutting arrays."""

from __future__ import annotations

import itertools
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.numpy.arrays import (
    KEPT,
    as_array,
    axis_of,
    count,
    flat_of,
    make,
    sizes,
    viewed,
    with_values_of,
)
from flake8_cnnmem.frameworks.numpy.dtypes import common
from flake8_cnnmem.frameworks.numpy.indexing import index
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def reshaped(run: Runtime, a: Value, shape: Value) -> Value:
    """One size may be -1."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    wanted: Any = shape if not isinstance(shape, int) else (shape,)
    if isinstance(wanted, (tuple, list)) and any(type(size) is int and size == -1 for size in wanted):
        rest = sizes(run, tuple(size for size in wanted if not (type(size) is int and size == -1)))
        if isinstance(rest, Unknown):
            return make(rest, None, array.dtype)
        left = missing(run, array.shape, rest)
        target: Shape | Unknown = tuple(left if type(size) is int and size == -1 else size for size in wanted)
    else:
        target = sizes(run, wanted)
    if isinstance(target, Unknown):
        return make(target, None, array.dtype)
    total, new = count(array.shape), count(target)
    if total is not None and new is not None and total != new:
        raise ValueError(f"cannot reshape array of size {total} into shape {dims.show(target)}")
    return viewed(make(target, flat_of(array), array.dtype), array)


def missing(run: Runtime, shape: Shape | Unknown, rest: Shape) -> Size:
    """What -1 stands for."""
    if isinstance(shape, Unknown):
        return shape
    total, known = dims.product(shape), dims.product(rest)
    if isinstance(total, int) and isinstance(known, int):
        if known == 0 or total % known:
            raise ValueError(f"cannot reshape array of size {total} into shape {dims.show((-1, *rest))}")
        return total // known
    return run.unknown("a size is divided by zero") if known == 0 else dims.floor_divide(total, known)


def transposed(run: Runtime, a: Value, axes: Any = None) -> Value:
    """`numpy.transpose(a, axes)`"""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown):
        if array.shape.sides is None or not isinstance(axes, (tuple, list)) or len(axes) != 3:
            return make(array.shape, None, array.dtype)
        # It has three axes for certain: the last one holds the channels.
        array = make((*array.shape.sides, array.shape.loose()), None, array.dtype)
    assert isinstance(array.shape, tuple)
    rank = len(array.shape)
    order = list(reversed(range(rank))) if axes is None else [axis_of(axis, rank) for axis in axes]
    if sorted(order) != list(range(rank)):
        raise ValueError("axes don't match array")
    shape = tuple(array.shape[axis] for axis in order)
    flat = flat_of(array)
    if flat is None:
        return with_values_of(make(shape, None, array.dtype), array)
    strides = [count(array.shape[axis + 1 :]) or 1 for axis in range(rank)]
    places = [0]
    for axis in order:
        places = [place + at * strides[axis] for place in places for at in range(array.shape[axis])]  # type: ignore[arg-type]
    return viewed(make(shape, [flat[place] for place in places], array.dtype), array, order)


def resized(run: Runtime, a: Value, new_shape: Value) -> Value:
    """`np.resize`: the values repeated or left out until they fill a shape."""
    array = as_array(run, a)
    shape = new_shape if isinstance(new_shape, Unknown) else sizes(run, new_shape)
    return array if isinstance(array, Unknown) else make(shape, None, array.dtype)


def expanded(run: Runtime, a: Value, axis: Value) -> Value:
    """`numpy.expand_dims(a, axis)`: axes of size 1 more."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(array.shape) + len(axes)
    places = {axis_of(each, rank) for each in axes}
    rest = iter(array.shape)
    shape = tuple(1 if at in places else next(rest) for at in range(rank))
    return viewed(make(shape, flat_of(array), array.dtype), array)


def squeezed(run: Runtime, a: Value, axis: Value = None) -> Value:
    """`numpy.squeeze(a, axis)`: axes of size 1 fewer."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array
    rank = len(array.shape)
    if axis is None:
        places = {at for at, size in enumerate(array.shape) if size == 1}
    else:
        places = {axis_of(each, rank) for each in (axis if isinstance(axis, tuple) else (axis,))}
        if any(isinstance(array.shape[at], int) and array.shape[at] != 1 for at in places):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    shape = tuple(size for at, size in enumerate(array.shape) if at not in places)
    return viewed(make(shape, flat_of(array), array.dtype), array)


def raveled(run: Runtime, a: Value) -> Value:
    """`numpy.ravel(a)`: all values along one axis."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    size: Size = array.shape if isinstance(array.shape, Unknown) else dims.product(array.shape)
    return viewed(make((size,), flat_of(array), array.dtype), array)


def arrays_of(run: Runtime, values: Value) -> list[Tensor] | Unknown:
    """Values as arrays, or the first cause why one is none."""
    items = run.items(values)
    if isinstance(items, Unknown):
        return items
    found: list[Tensor] = []
    for item in items:
        array = as_array(run, item)
        if isinstance(array, Unknown):
            return array
        found.append(array)
    if not found:
        raise ValueError("need at least one array to concatenate")
    return found


def joined_rows(run: Runtime, arrays: Value, cause: Unknown) -> Value:
    """Arrays, of which nobody knows how many there are, one behind another."""
    whole = as_array(run, arrays) if not isinstance(arrays, Unknown) else cause
    if isinstance(whole, Unknown) or isinstance(whole.shape, Unknown) or len(whole.shape) < 2:
        return cause
    return make((cause, *whole.shape[2:]), None, whole.dtype)


def concatenated(run: Runtime, arrays: Value, axis: Value = 0) -> Value:
    """Sizes of the joined axis add up; ValueError where other sizes differ."""
    found = arrays_of(run, arrays)
    if isinstance(found, Unknown):
        return joined_rows(run, arrays, found) if axis == 0 else found
    kind = common(array.dtype for array in found)
    for array in found:
        if isinstance(array.shape, Unknown):
            return make(array.shape, None, kind)
    if axis is None:
        found = [flat for flat in (raveled(run, array) for array in found) if isinstance(flat, Tensor)]
        axis = 0
    first: Any = found[0].shape
    at = axis_of(axis, len(first))
    total: Size = 0
    for array in found:
        shape: Any = array.shape
        rest = [dims.same(a, b) for place, (a, b) in enumerate(zip(shape, first, strict=False)) if place != at]
        if len(shape) != len(first) or any(same is False for same in rest):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        total = dims.add(total, shape[at])
    flats = [flat_of(array) for array in found]
    known = at == 0 and all(flat is not None for flat in flats) and sum(len(flat or []) for flat in flats) <= KEPT
    values = [value for flat in flats for value in flat or []] if known else None
    return make((*first[:at], total, *first[at + 1 :]), values, kind)


def stack(run: Runtime, arrays: Value, axis: Value = 0) -> Value:
    """`numpy.stack(arrays, axis)`: one axis more. ValueError where shapes differ."""
    found = arrays_of(run, arrays)
    if isinstance(found, Unknown):
        # So many of one shape that nobody knows: as an array of the list.
        return as_array(run, arrays) if axis == 0 and isinstance(run.items(arrays), Unknown) else found
    widened = [expanded(run, array, axis) for array in found]
    return concatenated(run, widened, axis)


def at_least(run: Runtime, a: Value, rank: int) -> Value:
    """`numpy.atleast_2d` and its like: axes of size 1 in front until there are `rank`."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array
    lacking = max(rank - len(array.shape), 0)
    return viewed(make((1,) * lacking + array.shape, flat_of(array), array.dtype), array)


def split(run: Runtime, a: Value, parts: Value, axis: Value = 0, uneven: bool = False) -> Value:
    """`numpy.split(a, parts, axis)`: a list of arrays; `uneven` where the parts may differ in size."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array if isinstance(array, Unknown) else array.shape
    at = axis_of(axis, len(array.shape))
    size = array.shape[at]
    if not isinstance(size, int):
        return run.unknown("an axis of unknown size is split")
    if uneven and isinstance(parts, float):
        # numpy.array_split takes what has no length as a number of parts: it is rounded towards 0.
        parts = int(parts)
    if isinstance(parts, int):
        if parts <= 0 or (size % parts and not uneven):
            raise ValueError("array split does not result in an equal division")
        run.check_size(parts)
        small, large = divmod(size, parts)
        ends = [0]
        for each in range(parts):
            ends.append(ends[-1] + small + (each < large))
    else:
        inner = run.items(parts)
        if isinstance(inner, Unknown):
            return inner
        marks: list[Any] = inner
        ends = [0, *marks, size]
    before = (slice(None),) * at
    return [index(run, array, (*before, slice(start, end))) for start, end in itertools.pairwise(ends)]


def padded(run: Runtime, a: Value, pad_width: Any) -> Value:
    """`numpy.pad(a, pad_width)`: each axis longer by what stands before and behind."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array
    if isinstance(pad_width, int):
        pairs: Any = [(pad_width, pad_width)] * len(array.shape)
    else:
        pairs = [each if isinstance(each, (tuple, list)) else (each, each) for each in pad_width]
        if len(pad_width) == 2 and not any(isinstance(each, (tuple, list)) for each in pad_width):
            pairs = [tuple(pad_width)]
        pairs = [tuple(pair) * 2 if len(pair) == 1 else pair for pair in pairs]
        pairs = pairs * len(array.shape) if len(pairs) == 1 else pairs
    shape = tuple(
        dims.add(size, dims.add(before, after)) for size, (before, after) in zip(array.shape, pairs, strict=False)
    )
    return make(shape, None, array.dtype)


def repeated(run: Runtime, a: Value, reps: Value) -> Value:
    """`np.tile`."""
    array = as_array(run, a)
    times = sizes(run, reps)
    if isinstance(array, Unknown) or isinstance(times, Unknown) or isinstance(array.shape, Unknown):
        return (
            array
            if isinstance(array, Unknown)
            else make(times if isinstance(times, Unknown) else array.shape, None, array.dtype)
        )
    rank = max(len(times), len(array.shape))
    own = (1,) * (rank - len(array.shape)) + array.shape
    factors = (1,) * (rank - len(times)) + times
    shape = tuple(dims.multiply(size, factor) for size, factor in zip(own, factors, strict=True))
    flat, total = flat_of(array), count(shape)
    if flat is None or total is None or total > KEPT or rank > 1 or not flat:
        return make(shape, None, array.dtype)
    return make(shape, flat * (total // len(flat)), array.dtype)
