"""Values picked out by their places, and put at places: `tf.gather_nd`, `tf.scatter_nd`, `tf.boolean_mask`, shapes as
tensorflow/python/ops/array_ops.py documents them; `keras.ops.take` (keras/src/ops/numpy.py)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape, same
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.operands import apply, axis_number, listed, shape_of
from flake8_cnnmem.frameworks.keras.ops.shaping import reshape, sizes
from flake8_cnnmem.frameworks.keras.ops.windows import pool
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Elementwise, Index
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def picked(run: Runtime, x: Value, indices: Value, target: Shape, function: str) -> Value:
    """Values of `x` at places that a tensor tells: a shape of its own, the places kept for the gradient."""
    dtype = [x.dtype] if isinstance(x, Tensor) else None
    if is_constant(indices):
        return apply(run, Given("pick", (target,)), x, function=function, dtypes=dtype)
    return apply(run, Given("pick", (target,)), x, indices, function=function, dtypes=dtype)


def gather_nd(run: Runtime, x: Value, indices: Value, batch_dims: Value = 0) -> Value:
    """The innermost axis of the indices counts along the first axes of `x`, behind `batch_dims` that both have."""
    indices = listed(indices)
    shape, places, shared = shape_of(x), shape_of(indices), plain(batch_dims)
    for each in (shape, places, shared):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(places, tuple)
    depth = places[-1] if places else None
    if not isinstance(depth, int) or not isinstance(shared, int) or shared + depth > len(shape):
        return run.unknown("what is gathered is not known")
    return picked(run, x, indices, (*places[:-1], *shape[shared + depth :]), "gather_nd")


def gather(run: Runtime, x: Value, indices: Value, axis: Value = 0, batch_dims: Value = 0) -> Value:
    """Rows by number, along an axis."""
    axis = 0 if axis is None else axis_number(axis)
    shape, picked = shape_of(x), shape_of(listed(indices))
    numbers = listed(indices)
    if is_constant(x) and x.data is not None and is_constant(numbers) and axis == 0:
        chosen = numbers.data
        return constant(tuple(x.data[at] for at in chosen)) if isinstance(chosen, tuple) else x.data[chosen]
    if isinstance(shape, Unknown) or isinstance(picked, Unknown) or not isinstance(axis, int):
        return apply(
            run,
            Elementwise("gather"),
            shape if isinstance(shape, Unknown) else run.unknown("what is gathered is not known"),
        )
    if isinstance(plain(batch_dims), int) and plain(batch_dims):
        return gather_within(run, x, indices, axis, plain(batch_dims))
    axis %= max(len(shape), 1)
    item: Any = listed(indices)
    if not isinstance(item, Tensor) or item.shape == ():
        item = plain(item)
    return apply(run, Index((*(slice(None),) * axis, item)), x, function="gather")


def take(run: Runtime, x: Value, indices: Value, axis: Value = None) -> Value:
    """`keras.ops.take(x, indices, axis)`: as `gather`; without an axis the places count in the flattened `x`, and the
    result has the shape of the indices."""
    return gather(run, reshape(run, x, (-1,)) if axis is None else x, indices, 0 if axis is None else axis)


def take_along(run: Runtime, x: Value, indices: Value, axis: Value = None) -> Value:
    """`keras.ops.take_along_axis(x, indices, axis)`: along the axis as many values as there are indices, along
    the others both are broadcast. Without an axis a row of places in the flattened `x`."""
    indices = listed(indices)
    shape, places, at = shape_of(x), shape_of(indices), axis_number(axis)
    for each in (shape, places):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(places, tuple)
    if axis is None and len(places) == 1:
        return picked(run, x, indices, places, "take_along_axis")
    if not isinstance(at, int) or len(places) != len(shape) or not -len(shape) <= at < len(shape):
        return run.unknown("what is taken along an axis is not known")
    at %= len(shape)
    try:
        others = broadcast(((*shape[:at], 1, *shape[at + 1 :]), (*places[:at], 1, *places[at + 1 :])))
    except Mismatch:
        return run.unknown("what is taken along an axis is not known")
    return picked(run, x, indices, (*others[:at], places[at], *others[at + 1 :]), "take_along_axis")


def gather_within(run: Runtime, x: Value, indices: Value, axis: Value, batch_dims: int) -> Value:
    """`tf.gather(x, indices, axis, batch_dims)`: for each of the shared axes its own places."""
    indices = listed(indices)
    shape, places = shape_of(x), shape_of(indices)
    axis = axis_number(axis)
    for each in (shape, places, axis):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(places, tuple)
    shared = batch_dims % (len(places) + 1)
    # Where no axis is told, it is the first one that is not shared.
    at = (axis or shared) % len(shape) if isinstance(axis, int) else shared
    return picked(run, x, indices, (*shape[:at], *places[shared:], *shape[at + 1 :]), "gather")


def boolean_mask(run: Runtime, x: Value, mask: Value, axis: Value = None) -> Value:
    """The values for which a mask holds, in one axis in place of the mask's. How many is open, as it is for Keras."""
    mask = listed(mask)
    shape, held = shape_of(x), shape_of(mask)
    for each in (shape, held):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(held, tuple)
    at = axis if isinstance(axis, int) else 0
    left = run.unknown("how many values a mask leaves is not known")
    return picked(run, x, mask, (*shape[:at], left, *shape[at + len(held) :]), "boolean_mask")


def scatter_nd(run: Runtime, indices: Value, updates: Value, shape: Value) -> Value:
    """Zeros of a shape with values put at places."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return target
    dtype = [updates.dtype] if isinstance(updates, Tensor) else None
    return apply(run, Given("put", (target,)), updates, listed(indices), function="scatter_nd", dtypes=dtype)


def put_into(run: Runtime, tensor: Value, indices: Value, updates: Value) -> Value:
    """`tf.tensor_scatter_nd_update(tensor, indices, updates)`: the tensor with values put at places."""
    shape = shape_of(tensor)
    if isinstance(shape, Unknown):
        return shape
    dtype = [tensor.dtype] if isinstance(tensor, Tensor) else None
    return apply(run, Given("put", (shape,)), tensor, listed(indices), updates, function="scatter", dtypes=dtype)


def max_pool_with_argmax(
    run: Runtime, x: Value, pool_size: Value, strides: Value, padding: Value = "VALID", data_format: Value = None
) -> Value:
    """The pool's result, and the place of each of its values."""
    result = pool(run, x, pool_size, strides, padding, data_format)
    shape = shape_of(result)
    if isinstance(shape, Unknown):
        return shape, shape
    return result, apply(run, Given("argmax", (shape,)), x, function="max_pool_with_argmax", dtypes=["int64"])


def diag_part(run: Runtime, x: Value) -> Value:
    """The diagonals of matrices."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or len(shape) < 2:
        return shape if isinstance(shape, Unknown) else run.unknown("a diagonal of what is no matrix")
    rows, columns = shape[-2:]
    side = rows if same(rows, columns) is True else None
    if isinstance(rows, int) and isinstance(columns, int):
        side = min(rows, columns)
    if side is None:
        return run.unknown("how long a diagonal is is not known")
    return apply(run, Given("diagonal", ((*shape[:-2], side),)), x, function="diag_part")


def diag(run: Runtime, x: Value) -> Value:
    """Matrices with these diagonals."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("a diagonal of no values")
    return apply(run, Given("diagonal", ((*shape, shape[-1]),)), x, function="diag")


def per_matrix(run: Runtime, x: Value, *, kind: str, left: int) -> Value:
    """What is computed of each matrix: one number (`left` 0), or a matrix of its size (2)."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or len(shape) < 2:
        return shape if isinstance(shape, Unknown) else run.unknown(f"{kind} of what is no matrix")
    if left == 2:
        return unary(run, x, kind=kind)
    return apply(run, Given(kind, (shape[:-2],)), x, function=kind)


def sign_and_logdet(run: Runtime, x: Value) -> Value:
    """`slogdet`: a sign and a logarithm for each matrix, as a pair."""
    each = per_matrix(run, x, kind="matrix_slogdet", left=0)
    return each, each


def trace(run: Runtime, x: Value, axis1: Value = 0, axis2: Value = 1) -> Value:
    """`keras.ops.trace`: the sums of diagonals that run along two axes, one for each place in the others."""
    shape, axes = shape_of(x), [axis_number(axis1), axis_number(axis2)]
    if isinstance(shape, Unknown):
        return shape
    known = [axis for axis in axes if isinstance(axis, int) and -len(shape) <= axis < len(shape)]
    if len(known) < 2:
        return run.unknown("the axes of a trace are not known")
    left = {axis % len(shape) for axis in known}
    others = tuple(size for at, size in enumerate(shape) if at not in left)
    return apply(run, Given("matrix_trace", (others,)), x, function="trace")


def matvec(run: Runtime, x: Value, y: Value, **options: Value) -> Value:
    """A matrix with a vector."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or len(shape) < 2:
        return shape if isinstance(shape, Unknown) else run.unknown("a product with what is no matrix")
    return apply(run, Given("matvec", (shape[:-1],)), x, y, function="matvec")


def central_crop(run: Runtime, image: Value, central_fraction: Value) -> Value:
    """As much of the middle of both sides as the fraction says (tensorflow/python/ops/image_ops_impl.py)."""
    shape, fraction = shape_of(image), plain(central_fraction)
    if isinstance(shape, Unknown) or len(shape) < 3 or not isinstance(fraction, (int, float)):
        return shape if isinstance(shape, Unknown) else run.unknown("how images are cropped is not known")
    left = []
    for side in shape[-3:-1]:
        if not isinstance(side, int):
            return side if isinstance(side, Unknown) else run.unknown("a side of an image is the batch")
        left.append(side - 2 * int((side - side * fraction) / 2))
    return apply(run, Given("crop", ((*shape[:-3], *left, shape[-1]),)), image, function="central_crop")


def crop_and_resize(
    run: Runtime, image: Value, boxes: Value, box_indices: Value, crop_size: Value, method: Value = "bilinear"
) -> Value:
    """A picture of one size for each box."""
    shape, count, size = shape_of(image), shape_of(boxes), sizes(run, crop_size)
    for each in (shape, count, size):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(count, tuple)
    assert isinstance(size, tuple)
    if len(size) != 2 or not count or len(shape) != 4:
        return run.unknown("how images are cropped is not known")
    op = Given("crop_and_resize", ((count[0], *size, shape[-1]),))
    return apply(run, op, image, boxes, function="crop_and_resize", dtypes=["float"])
