"""numpy's functions that move, repeat or sort the values of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.numpy import shapes
from flake8_cnnmem.frameworks.numpy.arithmetic import operate
from flake8_cnnmem.frameworks.numpy.arrays import KEPT, as_array, flat_of, make, sizes
from flake8_cnnmem.frameworks.numpy.creation import function
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


@function("swapaxes")
def swapaxes(run: Runtime, a: Value, axis1: int, axis2: int) -> Value:
    """`numpy.swapaxes(a, axis1, axis2)`: two axes exchanged."""
    own = as_array(run, a)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    order = list(range(len(own.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return shapes.transposed(run, own, order)


@function("moveaxis")
def moveaxis(run: Runtime, a: Value, source: int, destination: int) -> Value:
    """`numpy.moveaxis(a, source, destination)`: one axis at another place."""
    return moved(run, a, source, lambda rank: destination % rank)


@function("rollaxis")
def rollaxis(run: Runtime, a: Value, axis: int, start: int = 0) -> Value:
    """`numpy.rollaxis(a, axis, start)`: one axis before the one that is at `start` now."""

    def place(rank: int) -> int:
        before = start + rank if start < 0 else start
        return before - (axis % rank < before)

    return moved(run, a, axis, place)


def moved(run: Runtime, a: Value, source: Value, place: Callable[[int], int]) -> Value:
    """An array with one axis where `place(number of axes)` says."""
    own = as_array(run, a)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    rank = len(own.shape)
    try:
        to = place(rank)
    except TypeError:
        return make(run.unknown("how axes are moved is not followed"), None, own.dtype)
    if not isinstance(source, int):
        return make(run.unknown("how axes are moved is not followed"), None, own.dtype)
    order = [at for at in range(rank) if at != source % rank]
    order.insert(to, source % rank)
    return shapes.transposed(run, own, order)


@function("flip", "fliplr", "flipud", "roll", "nan_to_num", "triu", "tril")
def same_shape(run: Runtime, a: Value, *args: Value, **kwargs: Value) -> Value:
    """Functions that move or change values and keep the shape of `a`."""
    own = as_array(run, a)
    return own if isinstance(own, Unknown) else make(own.shape, None, own.dtype)


@function("put", "putmask", "place", "copyto", "fill_diagonal", "put_along_axis", propagate_unknown=False)
def filled(run: Runtime, a: Value, *args: Value, **kwargs: Value) -> None:
    """Functions that write into an array: its values are not known then."""
    if isinstance(a, Tensor):
        lose(run, a)


@function("sort")
def sort(run: Runtime, a: Value, axis: Value = -1, *args: Value, **kwargs: Value) -> Value:
    """`numpy.sort(a, axis)`: the shape of `a`, flat where the axis is None."""
    own = shapes.raveled(run, a) if axis is None else as_array(run, a)
    return make(own.shape, None, own.dtype) if isinstance(own, Tensor) else own


@function("rot90")
def rot90(run: Runtime, m: Value, k: Value = 1, axes: Value = (0, 1)) -> Value:
    """`numpy.rot90(m, k, axes)`: by an odd number of quarters, two axes are exchanged."""
    own = as_array(run, m)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    if not isinstance(axes, (tuple, list)) or len(axes) != 2 or not all(isinstance(each, int) for each in axes):
        return make(run.unknown("which axes are turned is not known"), None, own.dtype)
    first, second = axes
    sizes_ = list(own.shape)
    if not isinstance(k, int) and sizes_[first] != sizes_[second]:
        return make(run.unknown("how often an array is turned is not known"), None, own.dtype)
    if isinstance(k, int) and k % 2:
        sizes_[first], sizes_[second] = sizes_[second], sizes_[first]
    return make(tuple(sizes_), None, own.dtype)


@function("gradient")
def gradient(run: Runtime, f: Value, *args: Value, axis: Value = None, **kwargs: Value) -> Value:
    """`numpy.gradient(f)`: an array of the shape of `f` for each axis, in a list where they are several."""
    own = as_array(run, f)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    if axis is None:
        count = len(own.shape)
    elif isinstance(axis, (int, tuple)):
        count = 1 if isinstance(axis, int) else len(axis)
    else:
        return run.unknown("along which axes a gradient is taken is not known")
    dtype = own.dtype if own.dtype.startswith("float") else "float64"
    made: list[Value] = [make(own.shape, None, dtype) for _ in range(count)]
    return made[0] if count == 1 else made


@function("argsort")
def argsort(run: Runtime, a: Value, axis: Value = -1, *args: Value, **kwargs: Value) -> Value:
    """`numpy.argsort(a, axis)`: whole numbers in the shape of `a`, flat where the axis is None."""
    own = shapes.raveled(run, a) if axis is None else as_array(run, a)
    return make(own.shape, None, "int64") if isinstance(own, Tensor) else own


@function("repeat")
def repeat(run: Runtime, a: Value, repeats: Value, axis: int | None = None) -> Value:
    """`numpy.repeat(a, repeats, axis)`: each item so many times along an axis, or flat without one."""
    own = as_array(run, a)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    if not isinstance(repeats, (int, Batch)):
        return make(run.unknown("how often values are repeated is not known"), None, own.dtype)
    if axis is None:
        flat = flat_of(own)
        total = dims.multiply(dims.product(own.shape), repeats)
        known = flat is not None and isinstance(repeats, int) and len(flat) * repeats <= KEPT
        return make((total,), [v for v in flat or [] for _ in range(repeats)] if known else None, own.dtype)  # type: ignore[arg-type]
    sizes_ = list(own.shape)
    sizes_[axis] = dims.multiply(sizes_[axis], repeats)
    return make(tuple(sizes_), None, own.dtype)


@function("outer")
def outer(run: Runtime, a: Value, b: Value, **kwargs: Value) -> Value:
    """`numpy.outer(a, b)`: (n,), (m,) -> (n, m)."""
    return operate(run, "*", shapes.expanded(run, shapes.raveled(run, a), 1), shapes.raveled(run, b))


@function("diag")
def diag(run: Runtime, v: Value, k: Value = 0) -> Value:
    """`numpy.diag(v, k)`: (n,) -> (n + |k|, n + |k|), or the diagonal of a matrix."""
    own = as_array(run, v)
    if isinstance(own, Unknown) or isinstance(own.shape, Unknown):
        return own
    if not isinstance(k, int):
        return run.unknown("which diagonal is meant is not known")
    if len(own.shape) == 1:
        return make((dims.add(own.shape[0], abs(k)),) * 2, None, own.dtype)
    if len(own.shape) != 2:
        raise run.error("ValueError", "Input must be 1- or 2-d.")
    rows, columns = own.shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        return make((run.unknown("how long a diagonal is is not known"),), None, own.dtype)
    return make((max(min(rows + min(k, 0), columns - max(k, 0)), 0),), None, own.dtype)


@function("broadcast_to")
def broadcast_to(run: Runtime, array: Value, shape: Value, **kwargs: Value) -> Value:
    """`numpy.broadcast_to(array, shape)`: the array in that shape."""
    own = as_array(run, array)
    return own if isinstance(own, Unknown) else make(sizes(run, shape), None, own.dtype)


@function("meshgrid")
def meshgrid(run: Runtime, *xi: Value, indexing: Value = "xy", **kwargs: Value) -> Value:
    """`numpy.meshgrid(*xi)`: an array of all lengths for each of the axes; the first two are exchanged for "xy"."""
    lengths, dtypes = [], []
    for each in xi:
        flat: Any = shapes.raveled(run, each)
        if isinstance(flat, Unknown):
            return flat
        lengths.append(flat.shape[0])
        dtypes.append(flat.dtype)
    if indexing == "xy" and len(lengths) > 1:
        lengths[:2] = lengths[1::-1]
    return [make(tuple(lengths), None, dtype) for dtype in dtypes]
