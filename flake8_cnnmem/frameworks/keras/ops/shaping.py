"""Computations that move, join, cut and count values."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flake8_cnnmem.dims import BATCH, Batch, Size, product
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.operands import apply, as_list, axis_number, float_of, known, layout, shape_of
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size, shown
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import (
    Chunk,
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
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def crelu(run: Runtime, x: Value, axis: Value = -1) -> Value:
    """relu(x) and relu(-x) side by side."""
    parts = [unary(run, x, kind="relu"), unary(run, unary(run, x, kind="neg"), kind="relu")]
    return concatenate(run, parts, axis)


def sizes(run: Runtime, shape: Value) -> tuple[Size, ...] | Unknown:
    """A shape argument: a tuple or list of sizes, a constant, or a size alone."""
    shape = plain(shape)
    if isinstance(shape, Unknown):
        return shape
    if isinstance(shape, Tensor):
        return run.unknown("a shape is computed from a tensor's values")
    if isinstance(shape, (int, float, Batch)):
        return (plain_size(shape),)
    if not isinstance(shape, (list, tuple)):
        return run.unknown("a shape is not a tuple")
    found = tuple(-1 if size is None else plain_size(plain(size)) for size in shape)
    if found and isinstance(found[0], int) and found[0] == session_of(run).batch_size:
        return (BATCH, *found[1:])
    return found


def reshape(run: Runtime, x: Value, shape: Value) -> Value:
    """The tensor in another shape, a -1 worked out; the batch may be in it."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return run.apply(Elementwise("reshape"), target, function="reshape", framework="keras")
    if is_constant(x):
        flat = constants.leaves(x.data)
        if target in ((-1,), (len(flat),)):
            return constant(tuple(flat))
        return constant_reshaped(flat, target)
    given = shape_of(x)
    if isinstance(given, tuple) and given and target and isinstance(given[0], Batch) and target.count(-1) > 1:
        # several open sizes: in Keras 2 code the first is the batch
        target = (given[0], *target[1:])
    return apply(run, Reshape(target), x, function="reshape")


def constant_reshaped(flat: list[Any], target: tuple[Size, ...]) -> Value:
    """Known values in another shape."""
    others = product(size for size in target if size != -1)
    if not isinstance(others, int) or not others:
        return Tensor(target, framework="keras")
    shape = tuple(len(flat) // others if size == -1 else size for size in target)
    items: list[Any] = flat
    for size in reversed(shape[1:]):
        assert isinstance(size, int)
        items = [tuple(items[at : at + size]) for at in range(0, len(items), size)] if size else []
    return constant(tuple(items)) if shape else constant(flat[0])


def flatten(run: Runtime, x: Value) -> Value:
    """`keras.ops.ravel(x)`: all values in one axis."""
    return apply(run, Reshape((-1,)), x, function="flatten")


def batch_flatten(run: Runtime, x: Value) -> Value:
    """(N, values of a sample)."""
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return apply(run, Reshape((shape, shape)), x, function="flatten")
    return apply(run, Reshape((shape[0], product(shape[1:]))), x, function="flatten")


def transpose(run: Runtime, x: Value, axes: Any = None, conjugate: Value = False) -> Value:
    """The axes in reverse, or in this order."""
    axes = axis_number(axes)
    shape = shape_of(x)
    if axes is None:
        if isinstance(shape, Unknown):
            return apply(run, Transpose(-1, -2), x, function="transpose")
        axes = tuple(reversed(range(len(shape))))
    if isinstance(axes, Unknown):
        return apply(run, Elementwise("transpose"), axes, function="transpose")
    if is_constant(x) and isinstance(x.shape, tuple):
        return Tensor(tuple(x.shape[axis] for axis in axes), x.dtype, framework="keras")
    return apply(run, Permute(tuple(axes)), x, function="transpose")


def swapaxes(run: Runtime, x: Value, axis1: Size, axis2: Size) -> Value:
    """Two axes swapped."""
    return apply(run, Transpose(axis1, axis2), x, function="swapaxes")


def moveaxis(run: Runtime, x: Value, source: Any, destination: Any) -> Value:
    """Axes moved to other places."""
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return apply(run, Elementwise("transpose"), shape, function="moveaxis")
    rank = len(shape)
    starts = [axis % rank for axis in (source if isinstance(source, (list, tuple)) else [source])]
    ends = [axis % rank for axis in (destination if isinstance(destination, (list, tuple)) else [destination])]
    order = [axis for axis in range(rank) if axis not in starts]
    for end, start in sorted(zip(ends, starts, strict=True)):
        order.insert(end, start)
    return apply(run, Permute(tuple(order)), x, function="moveaxis")


def expand_dims(run: Runtime, x: Value, axis: Any = -1) -> Value:
    """With an axis of size 1 at each place."""
    axis = axis_number(axis)
    if is_constant(x) or isinstance(x, (int, float)):
        tensor = x if isinstance(x, Tensor) else constant(x)
        if isinstance(tensor, Tensor) and axis in (0, -1) and tensor.shape == ():
            return constant((tensor.data,))
        if isinstance(tensor, Tensor) and axis == 0:
            return constant((tensor.data,))
    if isinstance(axis, tuple):
        for at in sorted(axis):
            x = apply(run, Unsqueeze(at), x, function="expand_dims")
        return x
    return apply(run, Unsqueeze(axis), x, function="expand_dims")


def squeeze(run: Runtime, x: Value, axis: Value = None) -> Value:
    """Without axes of size 1: all, or those that are named."""
    return apply(run, Squeeze(axis_number(axis), strict=True), x, function="squeeze")


def concatenate(run: Runtime, tensors: Value, axis: Any = -1) -> Value:
    """Tensors behind each other along an axis; of lists of numbers a constant."""
    items = run.items(tensors)
    if isinstance(items, Unknown):
        return run.apply(Concatenate(-1), items, function="concatenate", framework="keras")
    axis = axis_number(axis)
    if items and all(is_constant(item) or isinstance(item, (list, tuple)) for item in items):
        parts = [item.data if isinstance(item, Tensor) else constants.frozen(item) for item in items]
        if all(constants.depth(part) == 1 for part in parts):
            return constant(tuple(value for part in parts for value in part))
    return apply(run, Concatenate(axis), *items, function="concatenate", dtypes=float_of(items))


def stack(run: Runtime, tensors: Value, axis: Value = 0) -> Value:
    """One axis more, as long as there are tensors."""
    items = run.items(tensors)
    if isinstance(items, Unknown):
        return run.apply(Stack(0), items, function="stack", framework="keras")
    if all(known(item) for item in items) and axis in (0, -1):
        return constant(tuple(item.data if isinstance(item, Tensor) else item for item in items))
    return apply(run, Stack(axis_number(axis)), *items, function="stack", dtypes=float_of(items))


def unstack(run: Runtime, x: Value, num: Value = None, axis: Value = 0) -> Value:
    """A list of parts without the axis."""
    if is_constant(x):
        return [item if not isinstance(item, tuple) else constant(item) for item in x.data]
    op = Unbind(axis_number(axis))
    count = parts(run, op, x)
    return count if isinstance(count, Unknown) else as_list(apply(run, op, x, function="unstack"))


def parts(run: Runtime, op: Split | Chunk | Unbind, x: Value) -> int | Unknown:
    """How many tensors the op gives. What is wrong with its arguments is noted in a call."""
    shape = shape_of(x)
    try:
        return shape if isinstance(shape, Unknown) else op.count(shape)
    except Mismatch as mismatch:
        apply(run, op, x)
        return run.unknown(mismatch.problem.what)


def split(run: Runtime, x: Value, parts_or_sizes: Any, axis: Any = 0) -> Value:
    """`tf.split`: a number of equal parts, or the sizes of the parts."""
    parts_or_sizes, axis = plain(parts_or_sizes), axis_number(axis)
    if is_constant(x):
        return split_constant(run, x, parts_or_sizes)
    shape = shape_of(x)
    if isinstance(parts_or_sizes, (list, tuple)):
        given = list(parts_or_sizes)
        if -1 in given and isinstance(shape, tuple) and isinstance(axis, int):
            rest: Value = shape[axis]
            for size in given:
                if size != -1:
                    rest = run.operate("-", rest, size)
            given[given.index(-1)] = rest
        op: Split | Chunk = Split(tuple(plain_size(size) for size in given), axis)
    else:
        op = Chunk(parts_or_sizes, axis, exact=True)
    count = parts(run, op, x)
    return count if isinstance(count, Unknown) else as_list(apply(run, op, x, function="split"))


def split_constant(run: Runtime, x: Tensor, parts_or_sizes: Value) -> Value:
    """The parts of a known vector, so many or of these sizes."""
    values = x.data
    if isinstance(parts_or_sizes, int) and parts_or_sizes > 0 and len(values) % parts_or_sizes == 0:
        each = len(values) // parts_or_sizes
        return [constant(values[at : at + each]) for at in range(0, len(values), each)]
    return run.unknown("the parts of a constant are not followed")


def split_at(run: Runtime, x: Value, indices_or_sections: Value, axis: Any = 0) -> Value:
    """`keras.ops.split`: a number of parts, or the positions at which to cut."""
    cuts = plain(indices_or_sections)
    if not isinstance(cuts, (list, tuple)):
        return split(run, x, cuts, axis)
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return shape
    edges = [0, *cuts, shape[axis]]
    return split(run, x, [run.operate("-", after, before) for before, after in pairwise(edges)], axis)


def tile(run: Runtime, x: Value, multiples: Value) -> Value:
    """Each axis as often as `multiples` says."""
    times = sizes(run, multiples)
    if isinstance(times, Unknown):
        return apply(run, Elementwise("tile"), times, function="tile")
    return apply(run, Repeat(times), x, function="tile")


def repeat(run: Runtime, x: Value, repeats: Value, axis: Value = None) -> Value:
    """Each value repeated along an axis."""
    return apply(run, RepeatInterleave(plain_size(plain(repeats)), axis_number(axis)), x, function="repeat")


def repeat_vector(run: Runtime, x: Value, n: Size) -> Value:
    """(N, features) to (N, n, features)."""
    return apply(run, Repeat((1, n, 1)), apply(run, Unsqueeze(1), x), function="repeat")


def broadcast_to(run: Runtime, x: Value, shape: Value) -> Value:
    """The tensor in a larger shape, sizes of 1 repeated."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return apply(run, Elementwise("expand"), target, function="broadcast_to")
    return apply(run, Expand(target), x, function="broadcast_to")


def roll(run: Runtime, x: Value, shift: Value, axis: Value = None) -> Value:
    """The values shifted along an axis."""
    return apply(run, Roll(axis_number(axis)), x, function="roll")


def flip(run: Runtime, x: Value, axis: Value = None) -> Value:
    """The values in reverse along an axis."""
    return apply(run, Flip(axis_number(axis)), x, function="flip")


def pad(run: Runtime, x: Value, paddings: Value, mode: Value = "constant", constant_values: Value = 0) -> Value:
    """(before, after) for each axis."""
    pairs = plain(paddings)
    if isinstance(pairs, int):
        shape = shape_of(x)
        pairs = [pairs] * len(shape) if isinstance(shape, tuple) else Unknown("the rank is not known")
    if not isinstance(pairs, (list, tuple)):
        return apply(
            run, Elementwise("pad"), pairs if isinstance(pairs, Unknown) else run.unknown("a padding is not known")
        )
    full = tuple(tuple(plain(pair)) if isinstance(plain(pair), (list, tuple)) else (pair, pair) for pair in pairs)
    return apply(run, Pad(full, mode.lower() if isinstance(mode, str) else "constant"), x, function="pad")


def spatial_pad(run: Runtime, x: Value, padding: Value = 1, data_format: Value = None, *, rank: int) -> Value:
    """K.spatial_2d_padding and its like."""
    sides = padding if isinstance(padding, (list, tuple)) else ((padding, padding),) * rank
    sides = (sides,) if rank == 1 and not isinstance(sides[0], (list, tuple)) else sides
    full = tuple(tuple(side) if isinstance(side, (list, tuple)) else (side, side) for side in sides)
    zero = ((0, 0),)
    first = layout(run, data_format) is False
    return apply(run, Pad(zero * 2 + full if first else zero + full + zero), x, function="pad")


def strided_slice(run: Runtime, x: Value, begin: Value, size: Value) -> Value:
    """`tf.slice`: from `begin`, `size` values along each axis; -1 is all that is left."""
    begin, size = plain(begin), plain(size)
    if not isinstance(begin, (list, tuple)) or not isinstance(size, (list, tuple)):
        return run.unknown("where a tensor is sliced is not known")
    items = []
    for start, length in zip(begin, size, strict=False):
        stop = None if isinstance(length, int) and length == -1 else run.operate("+", plain(start), plain(length))
        items.append(slice(plain(start), stop))
    return apply(run, Index(tuple(items)), x, function="slice")


def shape(run: Runtime, x: Value) -> Value:
    """`tf.shape(x)`: a constant whose values are sizes, the batch among them."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else constant(given, "int32")


def ops_shape(run: Runtime, x: Value) -> Value:
    """`keras.ops.shape(x)`: a tuple with the batch as a size one can compute with."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else tuple(given)


def int_shape(run: Runtime, x: Value) -> Value:
    """`K.int_shape(x)`: a tuple with None for the batch."""
    return shown(shape_of(x), session_of(run).batch_size)


def ndim(run: Runtime, x: Value) -> Value:
    """How many axes a tensor has."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else len(given)


def size(run: Runtime, x: Value) -> Value:
    """How many values a tensor has."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else product(given)


def joined(run: Runtime, tensors: Value, *, axis: int) -> Value:
    """`hstack` and `vstack` of tensors with enough axes."""
    return concatenate(run, tensors, axis)


def split_unevenly(run: Runtime, x: Value, indices_or_sections: Value, axis: Any = 0) -> Value:
    """`array_split`: so many parts, the first ones larger by one where they do not come out even."""
    shape, count, at = shape_of(x), plain(indices_or_sections), axis_number(axis)
    if not isinstance(count, int) or isinstance(shape, Unknown) or not isinstance(at, int) or not shape:
        return split_at(run, x, count, axis)
    own = shape[at % len(shape)]
    if not isinstance(own, int) or count < 1:
        return own if isinstance(own, Unknown) else run.unknown("into what parts a tensor is cut is not known")
    each, more = divmod(own, count)
    return split(run, x, [each + (number < more) for number in range(count)], at)


def rotated(run: Runtime, x: Value, k: Value = 1, axes: Any = (0, 1)) -> Value:
    """`rot90`: so many quarter turns in the plane of two axes, which are swapped by every one."""
    turns, plane = plain(k), [axis_number(axis) for axis in axes] if isinstance(axes, (list, tuple)) else []
    if not isinstance(turns, int) or len(plane) != 2 or not all(isinstance(axis, int) for axis in plane):
        return run.unknown("how a tensor is turned is not known")
    turned = flip(run, x, plane[0])
    return swapaxes(run, turned, *plane) if turns % 2 else turned
