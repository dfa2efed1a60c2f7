"""Functions that move, join, cut and make arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from flake8_cnnmem.dims import Size, is_size
from flake8_cnnmem.frameworks.flax.arrays import (
    apply,
    as_array,
    axes,
    is_constant,
    is_symbolic,
    made,
    on_host,
    plain,
    promoted,
    shape_of,
    sizes,
)
from flake8_cnnmem.frameworks.flax.jax.elementwise import NUMPY, define
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import (
    Concatenate,
    Elementwise,
    Expand,
    Flip,
    Index,
    Pad,
    Permute,
    Repeat,
    RepeatInterleave,
    Reshape,
    Roll,
    Split,
    Squeeze,
    Stack,
    Transpose,
    Unbind,
    Unsqueeze,
)
from flake8_cnnmem.ops.base import axes_of, axis_of
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

# --- moving -----------------------------------------------------------------------------------------------------------


@define(NUMPY, "reshape", host=True)
def reshape(run: Runtime, a: Value, shape: Value = None, order: Value = "C", **options: Value) -> Value:
    """The array in another shape, a -1 worked out."""
    target = sizes(run, options.get("newshape") if shape is None else shape)
    return target if isinstance(target, Unknown) else apply(run, Reshape(target), a, function="reshape")


@define(NUMPY, "ravel", host=True)
def ravel(run: Runtime, a: Value, order: Value = "C") -> Value:
    """(values,)."""
    return apply(run, Reshape((-1,)), a, function="ravel")


@define(NUMPY, "transpose", host=True)
def transpose(run: Runtime, a: Value, axes: Value = None) -> Value:
    """The axes in reverse, or in this order."""
    shape, order = shape_of(run, a), plain(axes)
    if isinstance(shape, Unknown):
        return shape
    order = tuple(reversed(range(len(shape)))) if order is None else order
    return order if isinstance(order, Unknown) else apply(run, Permute(tuple(order)), a, function="transpose")


@define(NUMPY, "swapaxes", host=True)
def swapaxes(run: Runtime, a: Value, axis1: Value, axis2: Value) -> Value:
    """Two axes swapped."""
    return apply(run, Transpose(plain(axis1), plain(axis2)), a, function="swapaxes")


@define(NUMPY, "moveaxis", host=True)
def moveaxis(run: Runtime, a: Value, source: Value, destination: Value) -> Value:
    """Axes moved to other places."""
    shape, start, end = shape_of(run, a), axes(source), axes(destination)
    if isinstance(shape, Unknown):
        return shape
    try:
        starts, ends = axes_of(start, len(shape)), axes_of(end, len(shape))
    except Mismatch as mismatch:
        raise run.error("ValueError", mismatch.problem.what) from None
    if isinstance(starts, Unknown) or isinstance(ends, Unknown):
        return starts if isinstance(starts, Unknown) else ends
    order = [axis for axis in range(len(shape)) if axis not in starts]
    for last, first in sorted(zip(ends, starts, strict=True)):
        order.insert(last, first)
    return apply(run, Permute(tuple(order)), a, function="moveaxis")


@define(NUMPY, "expand_dims", host=True)
def expand_dims(run: Runtime, a: Value, axis: Value) -> Value:
    """With an axis of size 1 at each place."""
    wanted = axes(axis)
    for each in sorted(wanted) if isinstance(wanted, tuple) else (wanted,):
        a = apply(run, Unsqueeze(each), a, function="expand_dims")
    return a


@define(NUMPY, "squeeze", host=True)
def squeeze(run: Runtime, a: Value, axis: Value = None) -> Value:
    """Without axes of size 1: all, or those that are named."""
    return apply(run, Squeeze(axes(axis), axis is not None), a, function="squeeze")


@define(NUMPY, "broadcast_to", host=True)
def broadcast_to(run: Runtime, array: Value, shape: Value, **options: Value) -> Value:
    """The array in a larger shape, sizes of 1 repeated."""
    target = sizes(run, shape)
    return target if isinstance(target, Unknown) else apply(run, Expand(whole(target)), array, function="broadcast_to")


def whole(target: Sequence[Any]) -> tuple[Size, ...]:
    """Sizes, floats without a fraction among them as whole numbers."""
    return tuple(int(size) if isinstance(size, float) and size.is_integer() else size for size in target)


@define(NUMPY, "tile", host=True)
def tile(run: Runtime, A: Value, reps: Value) -> Value:
    """Each axis as often as `reps` says."""
    times, shape = sizes(run, reps), shape_of(run, A)
    if isinstance(times, Unknown) or isinstance(shape, Unknown):
        return times if isinstance(times, Unknown) else shape
    return apply(run, Repeat((1,) * (len(shape) - len(times)) + whole(times)), A, function="tile")


@define(NUMPY, "repeat", host=True)
def repeat(run: Runtime, a: Value, repeats: Value, axis: Value = None, **options: Value) -> Value:
    """Each value repeated along an axis, or of the flat array."""
    times = plain(repeats)
    if not isinstance(times, int):
        return run.unknown("how often values are repeated is not known")
    return apply(run, RepeatInterleave(times, plain(axis)), a, function="repeat")


@define(NUMPY, "flip", "fliplr", "flipud", host=True)
def flip(run: Runtime, m: Value, axis: Value = None) -> Value:
    """The values in reverse along axes."""
    return apply(run, Flip(axes(axis)), m, function="flip")


@define(NUMPY, "roll", host=True)
def roll(run: Runtime, a: Value, shift: Value, axis: Value = None) -> Value:
    """The values shifted along axes."""
    return apply(run, Roll(axes(axis)), a, function="roll")


@define(NUMPY, "pad", host=True)
def pad(run: Runtime, array: Value, pad_width: Value, mode: Value = "constant", **options: Value) -> Value:
    """Each axis longer by what stands before and behind."""
    width, shape = plain(pad_width), shape_of(run, array)
    if isinstance(width, Unknown) or isinstance(shape, Unknown):
        return width if isinstance(width, Unknown) else shape
    pairs = (width,) * len(shape) if isinstance(width, int) else tuple(plain(each) for each in width)
    if len(pairs) == 2 and all(isinstance(each, int) for each in pairs):
        pairs = (pairs,) * len(shape)
    if len(pairs) == 1:
        pairs *= len(shape)
    full_pairs = tuple((each, each) if isinstance(each, int) else tuple(each) for each in pairs)
    if any(len(each) != 2 for each in full_pairs):
        return run.unknown("what is padded is not known")
    kind = "circular" if mode == "wrap" else str(mode)
    return apply(run, Pad(full_pairs, kind), array, function="pad")


# --- joining and cutting ----------------------------------------------------------------------------------------------


def parts_of(run: Runtime, arrays: Value) -> list[Value] | Unknown:
    """Arrays of a list, or the parts of one array, or why they are not known."""
    if isinstance(arrays, Tensor):
        return iterate(run, arrays)
    return run.items(arrays)


@define(NUMPY, "concatenate", "concat")
def concatenate(run: Runtime, arrays: Value, axis: Value = 0, dtype: Value = None) -> Value:
    """Arrays behind each other along an axis."""
    parts = parts_of(run, arrays)
    if isinstance(parts, Unknown):
        return parts
    if not is_symbolic(parts) and not any(isinstance(each, Unknown) for each in parts):
        return on_host(run, "concatenate", (parts, plain(axis)), {})
    if axis is None:
        parts, axis = [ravel(run, part) for part in parts], 0
    return apply(run, Concatenate(plain(axis)), *parts, function="concatenate", dtypes=[promoted(*parts)])


def declare_stack(name: str, least: int, axis: int) -> None:
    """`hstack` and its like: arrays of too few axes get more."""

    @define(NUMPY, name)
    def stack_along(run: Runtime, tup: Value, dtype: Value = None) -> Value:
        parts = parts_of(run, tup)
        if isinstance(parts, Unknown):
            return parts
        joined = axis
        for at, part in enumerate(parts):
            shape = shape_of(run, part)
            while isinstance(shape, tuple) and len(shape) < least:
                parts[at] = expand_dims(run, parts[at], 0 if len(shape) < 2 or name == "vstack" else -1)
                shape = shape_of(run, parts[at])
            if name == "hstack" and isinstance(shape, tuple) and len(shape) == 1:
                joined = 0
        return concatenate(run, parts, joined)


for _name, _least, _axis in (("hstack", 1, 1), ("vstack", 2, 0), ("dstack", 3, 2)):
    declare_stack(_name, _least, _axis)


@define(NUMPY, "stack")
def stack(run: Runtime, arrays: Value, axis: Value = 0, **options: Value) -> Value:
    """One axis more, as long as there are arrays."""
    parts = parts_of(run, arrays)
    if isinstance(parts, Unknown):
        return parts
    if not is_symbolic(parts) and not any(isinstance(each, Unknown) for each in parts):
        return on_host(run, "stack", (parts, plain(axis)), {})
    return apply(run, Stack(plain(axis)), *parts, function="stack", dtypes=[promoted(*parts)])


@define(NUMPY, "split", "array_split")
def split(run: Runtime, ary: Value, indices_or_sections: Value, axis: Value = 0) -> Value:
    """Equal parts, or those between the given positions."""
    at, given, shape = plain(axis), plain(indices_or_sections), shape_of(run, ary)
    if isinstance(shape, Unknown) or isinstance(given, Unknown) or not isinstance(at, int):
        return run.unknown("how an array is split is not known")
    try:
        which = axis_of(at, len(shape))
    except Mismatch as mismatch:
        raise run.error("ValueError", mismatch.problem.what) from None
    if isinstance(which, Unknown):
        return which
    length = shape[which]
    if isinstance(given, int):
        if not isinstance(length, int) or not given:
            return run.unknown("how an array is split is not known")
        if length % given:
            raise run.error("ValueError", f"array split does not result in an equal division: {length} by {given}")
        each: tuple[Size, ...] = (length // given,) * given
    else:
        marks = [0, *(mark + length if isinstance(mark, int) and mark < 0 and isinstance(length, int) else mark
                      for mark in given), length]  # fmt: skip
        lengths = [run.operate("-", last, first) for first, last in pairwise(marks)]
        each = tuple(length if is_size(length) else run.unknown("where it is split is not known") for length in lengths)
    result = apply(run, Split(each, which), ary, function="split", dtypes=[promoted(ary)] * len(each))
    return list(result) if isinstance(result, tuple) else [result] if isinstance(result, Tensor) else result


@define(NUMPY, "meshgrid")
def meshgrid(run: Runtime, *xi: Value, indexing: Value = "xy", **options: Value) -> Value:
    """One array of all sizes for each input (size,)."""
    found = [shape_of(run, each) for each in xi]
    if not all(isinstance(shape, tuple) and len(shape) < 2 for shape in found):
        return run.unknown("the shape of a grid is not known")
    lengths = [shape[0] if shape else 1 for shape in found if isinstance(shape, tuple)]
    if indexing == "xy" and len(lengths) > 1:
        lengths[:2] = lengths[1::-1]
    return [made(tuple(lengths), promoted(*xi)) for _ in xi]


def declare_at_least(name: str, least: int) -> None:
    """Enter `atleast_1d` and its like, by the number of axes."""

    @define(NUMPY, name)
    def at_least(run: Runtime, x: Value) -> Value:
        shape = shape_of(run, x)
        while isinstance(shape, tuple) and len(shape) < least:
            x = expand_dims(run, as_array(run, x), 0)
            shape = shape_of(run, x)
        return x


for _name, _least in (("atleast_1d", 1), ("atleast_2d", 2), ("atleast_3d", 3)):
    declare_at_least(_name, _least)


# --- picking ----------------------------------------------------------------------------------------------------------


@define(NUMPY, "take")
def take(run: Runtime, a: Value, indices: Value, axis: Value = None, **options: Value) -> Value:
    """Values picked by number along an axis, or of the flat array."""
    shape, at = shape_of(run, a), plain(axis)
    if isinstance(shape, Unknown):
        return shape
    if at is None:
        return index(run, ravel(run, a), indices)
    if not isinstance(at, int) or not -len(shape) <= at < len(shape):
        return run.unknown("along which axis is taken is not known")
    return index(run, as_array(run, a), (*(slice(None),) * (at % len(shape)), indices))


@define(NUMPY, "take_along_axis")
def take_along_axis(run: Runtime, arr: Value, indices: Value, axis: Value = -1, **options: Value) -> Value:
    """The shape of the indices: values picked along an axis."""
    shape = shape_of(run, indices)
    if isinstance(shape, Unknown):
        return shape
    return apply(run, Given("pick", (shape,)), arr, indices, function="take_along_axis")


def index(run: Runtime, tensor: Value, key: Value) -> Value:
    """`x[key]`: of known values these, else a view or a copy."""
    items = key if isinstance(key, tuple) else (key,)
    if is_constant(tensor) and not is_symbolic(list(items)):
        from flake8_cnnmem.frameworks.flax.arrays import from_numpy, to_numpy
        from flake8_cnnmem.frameworks.numpy import indexing

        array = to_numpy(tensor)
        if isinstance(array, Tensor):
            return as_array(run, from_numpy(indexing.index(run, array, to_numpy(tuple(map(position, items))))))
    if not isinstance(tensor, Tensor):
        return tensor
    return apply(run, Index(tuple(map(position, items))), tensor, function="getitem")


def position(item: Value) -> Value:
    """An index with its bounds as plain numbers."""
    if isinstance(item, slice):
        return slice(plain(item.start), plain(item.stop), plain(item.step))
    return plain(item) if isinstance(item, Tensor) and item.shape == () else item


def iterate(run: Runtime, tensor: Tensor) -> list[Value] | Unknown:
    """The items along the first axis."""
    if is_constant(tensor) and isinstance(tensor.data, tuple):
        return [index(run, tensor, at) for at in range(len(tensor.data))]
    if tensor.shape == ():
        raise run.error("TypeError", "iteration over a 0-d array")
    found = apply(run, Unbind(0), tensor, function="unstack")
    return list(found) if isinstance(found, tuple) else found if isinstance(found, Unknown) else [found]


def length(run: Runtime, tensor: Tensor) -> Size:
    """`len(x)`: the size of the first axis."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    if not tensor.shape:
        raise run.error("TypeError", "len() of unsized object")
    return tensor.shape[0]


def resized(
    run: Runtime, image: Value, shape: Value, method: Value = "linear", *args: Value, **options: Value
) -> Value:
    """`jax.image.resize`: to a whole shape, with axes that are not those of an image."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return target
    kind = {"nearest": "upsample_nearest", "linear": "upsample_bilinear", "bilinear": "upsample_bilinear"}
    word = kind.get(method, "upsample_bicubic") if isinstance(method, str) else "upsample_bicubic"
    if any(isinstance(size, float) and not math.isfinite(size) for size in target):
        return run.unknown("a size is not a number")
    return apply(run, Given(word, (whole(target),)), image, function="resize")


@define(NUMPY, "diag")
def diag(run: Runtime, v: Value, k: Value = 0) -> Value:
    """A matrix with these values on its diagonal, or the diagonal of a matrix."""
    shape = shape_of(run, v)
    if isinstance(shape, Unknown) or plain(k) != 0 or len(shape) not in (1, 2):
        return run.unknown("the shape of a diagonal is not known")
    least = (shape[0], shape[0]) if len(shape) == 1 else (shape[0],) if shape[0] == shape[1] else None
    if least is None:
        return run.unknown("the shape of a diagonal is not known")
    return apply(run, Given("diagonal", (least,)), v, function="diag", dtypes=[promoted(v)])


@define(NUMPY, "unstack")
def unstack(run: Runtime, x: Value, *, axis: Value = 0) -> Value:
    """The parts along an axis."""
    moved = moveaxis(run, x, axis, 0) if plain(axis) != 0 else as_array(run, x)
    found = iterate(run, moved) if isinstance(moved, Tensor) else moved
    return tuple(found) if isinstance(found, list) else found


@define(NUMPY, "append")
def append(run: Runtime, arr: Value, values: Value, axis: Value = None) -> Value:
    """`jnp.append(arr, values, axis)`."""
    return concatenate(run, [arr, values], axis)


@define(NUMPY, "matrix_transpose")
def matrix_transpose(run: Runtime, x: Value) -> Value:
    """The last two axes swapped."""
    return apply(run, Transpose(-1, -2), x, function="matrix_transpose")


def dynamic_slice_in_dim(
    run: Runtime, operand: Value, start_index: Value, slice_size: Value, axis: Value = 0
) -> Value:  # fmt: skip
    """As many values as are asked for along an axis, wherever they begin."""
    shape, size, at = shape_of(run, operand), plain(slice_size), plain(axis)
    if isinstance(shape, Unknown) or not isinstance(at, int) or not -len(shape) <= at < len(shape):
        return run.unknown("the shape of a slice is not known")
    at %= len(shape)
    return apply(run, Given("copy", ((*shape[:at], size, *shape[at + 1 :]),)), operand, function="dynamic_slice")


def dynamic_slice(run: Runtime, operand: Value, start_indices: Value, slice_sizes: Value) -> Value:
    """(slice_sizes): a part from a place that may not be known."""
    target = sizes(run, slice_sizes)
    return target if isinstance(target, Unknown) else apply(
        run, Given("copy", (whole(target),)), operand, function="dynamic_slice"
    )  # fmt: skip


def dynamic_update(run: Runtime, operand: Value, update: Value, *args: Value, **options: Value) -> Value:
    """`lax.dynamic_update_slice`: another array of the same shape."""
    return apply(run, Elementwise("copy"), operand, function="dynamic_update_slice", dtypes=[promoted(operand)])
