"""Tensors made from shapes and numbers."""

from __future__ import annotations

from flake8_cnnmem.dims import Batch, Size
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.dtypes import tensor_dtype
from flake8_cnnmem.frameworks.keras.ops.elementwise import cast
from flake8_cnnmem.frameworks.keras.ops.operands import apply, as_tensor, computed, listed, shape_of
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.frameworks.keras.ops.shaping import sizes
from flake8_cnnmem.frameworks.keras.shapes import plain_size, stated
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Elementwise, OneHot
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def filled(run: Runtime, shape: Value = (), value: Value = 0, dtype: Value = None) -> Value:
    """`tf.zeros(shape)`: known values where they are few."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return Tensor(target, tensor_dtype(dtype), framework="keras")
    if target == () and isinstance(value, (int, float)):
        return constant(value)
    return Tensor(target, tensor_dtype(dtype), framework="keras")


def like(run: Runtime, x: Value, dtype: Value = None) -> Value:
    """A tensor of another one's shape, which leads on from it in the graph."""
    own = tensor_dtype(dtype) if dtype is not None else getattr(x, "dtype", "float")
    if not isinstance(x, Tensor) or is_constant(x):
        return Tensor(shape_of(x), own, framework="keras")
    # Of a symbolic tensor it is one, too, and leads on from the input.
    return apply(run, Elementwise("like"), x, function="zeros_like", dtypes=[own])


def random(run: Runtime, shape: Value = (), dtype: Value = None) -> Value:
    """(shape): numbers are not known."""
    target = sizes(run, shape)
    return Tensor(target, tensor_dtype(dtype), framework="keras")


def arange(run: Runtime, start: Value, stop: Value = None, step: Value = 1, dtype: Value = None) -> Value:
    """(ceil((stop - start) / step),), with its values where they are few."""
    start, stop, step = plain(start), plain(stop), 1 if step is None else plain(step)
    if stop is None:
        start, stop = 0, start
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step:
        values = range(start, stop, step)
        if len(values) <= constants.LARGEST:
            return constant(tuple(values))
        return Tensor((len(values),), "int32", framework="keras")
    if isinstance(stop, (Batch, Unknown)) and start == 0 and step == 1:
        return Tensor((stop,), "int32", framework="keras")
    if not isinstance(start, (int, float)) or not isinstance(stop, (int, float)) or not isinstance(step, (int, float)):
        return Tensor((run.unknown("the length of a range is not known"),), "int32", framework="keras")
    if step:
        count = max(0, -int(-(stop - start) // step))
        return (
            constant(tuple(start + step * at for at in range(count)))
            if count <= constants.LARGEST
            else Tensor((count,), framework="keras")
        )
    return Tensor((run.unknown("the length of a range is not known"),), "int32", framework="keras")


def linspace(run: Runtime, start: Value, stop: Value, num: Value = 50, axis: Value = 0) -> Value:
    """(num,), with its values where they are few; between tensors, a new axis of that size before their own, or where
    it is asked for."""
    if (
        isinstance(num, int)
        and isinstance(start, (int, float))
        and isinstance(stop, (int, float))
        and 0 < num <= constants.LARGEST
    ):
        step = (stop - start) / (num - 1) if num > 1 else 0.0
        return constant(tuple(float(start + step * at) for at in range(num)))
    ends = [listed(each) for each in (start, stop)]
    shapes = [shape_of(each) for each in ends if isinstance(each, (Tensor, Unknown))]
    cause = next((each for each in shapes if isinstance(each, Unknown)), None)
    if cause is not None:
        return cause
    try:
        own = broadcast(tuple(each for each in shapes if not isinstance(each, Unknown))) if shapes else ()
    except Mismatch:
        return run.unknown("the ends of a row of numbers do not fit each other")
    at = axis if isinstance(axis, int) else 0
    at = at + len(own) + 1 if at < 0 else at
    target = (*own[:at], plain_size(plain(num)), *own[at:])
    tensors = [each for each in ends if isinstance(each, Tensor) and not is_constant(each)]
    if not tensors:
        return Tensor(target, framework="keras")
    return apply(run, Given("linspace", (target,)), *tensors, function="linspace")


def eye(run: Runtime, n: Value, m: Value = None) -> Value:
    """(n, m), m as n where it is not said."""
    return Tensor((plain_size(n), plain_size(n if m is None else m)), framework="keras")


def one_hot(run: Runtime, x: Value, depth: Value, axis: Value = -1, dtype: Value = None) -> Value:
    """Indices (...) to (..., depth), the new axis where it is asked for."""
    op = OneHot(plain_size(plain(depth)), -1 if axis is None else plain_size(axis))
    return apply(run, op, x, function="one_hot", dtypes=[tensor_dtype(dtype)])


def multi_hot(run: Runtime, x: Value, depth: Value, axis: Value = -1, dtype: Value = None) -> Value:
    """Indices (N, several) to (N, depth): which of them are there, the largest of their one-hot rows."""
    shape = shape_of(x)
    rows = one_hot(run, x, depth, axis, dtype)
    return reduce(run, rows, 0 if isinstance(shape, tuple) and len(shape) < 2 else 1, kind="max")


def to_tensor(run: Runtime, value: Value, dtype: Value = None) -> Value:
    """A value as a tensor: lists with their values, tensors cast where a dtype is said."""
    if isinstance(value, Tensor) and value.framework == "numpy":
        value = Tensor(value.shape, value.dtype, data=value.data, framework="keras")
    if isinstance(value, (Tensor, Unknown)):
        return value if dtype is None or isinstance(value, Unknown) else cast(run, value, dtype)
    if isinstance(value, Batch):
        return value
    if id(value) in run.havocked:
        return run.havocked[id(value)][1]
    if computed(value):
        return as_tensor(run, value)
    return constant(value, None if dtype is None else tensor_dtype(dtype))


def with_shape(run: Runtime, x: Value, shape: Value) -> Value:
    """`tf.ensure_shape`: sizes that were open are now stated."""
    if isinstance(x, Tensor):
        refine(x, shape)
    return x


def refine(x: Tensor, shape: Value) -> None:
    """`x.set_shape(...)`: open sizes become what the code says."""
    given = stated(shape)
    if isinstance(given, Unknown):
        return
    if isinstance(x.shape, Unknown) or len(x.shape) != len(given):
        x.shape = given
        return
    x.shape = tuple(new if isinstance(old, Unknown) else old for old, new in zip(x.shape, given, strict=True))


def meshgrid(run: Runtime, *tensors: Value, indexing: Value = "xy") -> Value:
    """One tensor of all sizes for each input (size,), the first two swapped for "xy"."""
    lengths: list[Size] = []
    for tensor in tensors:
        given = shape_of(tensor)
        if isinstance(given, Unknown) or len(given) != 1:
            return run.unknown("the sides of a grid are not known")
        lengths.append(given[0])
    if indexing == "xy" and len(lengths) > 1:
        lengths[:2] = lengths[1], lengths[0]
    return [Tensor(tuple(lengths), getattr(tensor, "dtype", "float"), framework="keras") for tensor in tensors]
