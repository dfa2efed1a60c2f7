"""What K.*, keras.ops.* and tf.* share: one function for each computation, whatever name and signature it goes by.

Tensors are recorded with `run.apply`; constants and plain numbers are computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size, product
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.dtypes import tensor_dtype
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size, shown, stated
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.ops import (
    Broadcast,
    Chunk,
    Concatenate,
    Dropout,
    Einsum,
    Elementwise,
    Expand,
    Flip,
    Index,
    Matmul,
    Normalise,
    Pad,
    Permute,
    PixelShuffle,
    Reduce,
    Repeat,
    RepeatInterleave,
    Reshape,
    Resize,
    Roll,
    Sort,
    Split,
    Squeeze,
    Stack,
    TopK,
    Transpose,
    Unbind,
    Unsqueeze,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Run, Value


def apply(run: Run, op: Op, *inputs: Value, function: str = "", dtypes: Sequence[str] | None = None) -> Value:
    """Run an op on tensors, numbers taken as constants."""
    tensors = [value if isinstance(value, (Tensor, Unknown)) else constant(value) for value in inputs]
    return run.apply(op, *tensors, function=function or op.kind, dtypes=dtypes, framework="keras")


def shape_of(value: Value) -> Shape | Unknown:
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, Unknown):
        return value
    found = constants.nested_shape(value)
    return Unknown("a value is not a tensor") if found is None else found


def axis_number(axis: Value) -> Value:
    """An axis argument as plain numbers."""
    axis = plain(axis)
    if isinstance(axis, (list, range)):
        return tuple(axis)
    return axis


# --- elementwise --------------------------------------------------------------------------------------------------------


def unary(run: Run, x: Value, *, kind: str, name: str = "") -> Value:
    """One tensor in, one of the same shape out."""
    if is_constant(x):
        function = constants.FUNCTIONS.get(kind)
        return constants.each(function, x) if function is not None else Tensor(x.shape, x.dtype, framework="keras")
    if isinstance(x, (Tensor, Unknown)):
        return run.apply(Elementwise(kind), x, function=name or kind, framework="keras")
    if isinstance(x, (int, float)) and kind in constants.FUNCTIONS:
        return constants.FUNCTIONS[kind](x)
    if isinstance(x, (list, tuple)):
        return unary(run, constant(x), kind=kind, name=name)
    return run.unknown(f"{name or kind} of what is not a tensor")


def activation(run: Run, x: Value, *ignored: Value, kind: str, name: str = "", **options: Value) -> Value:
    return unary(run, x, kind=kind, name=name)


SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "mod": "%", "power": "**",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip

COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical"})


def binary(run: Run, x: Value, y: Value, *, kind: str, name: str = "") -> Value:
    """Two tensors that broadcast together, or a tensor and a number."""
    x, y = listed(x), listed(y)
    if not isinstance(x, (Tensor, Unknown)) and not isinstance(y, (Tensor, Unknown)):
        if kind in SYMBOLS:
            return run.operate(SYMBOLS[kind], x, y)
        if kind in ("maximum", "minimum") and isinstance(x, (int, float)) and isinstance(y, (int, float)):
            return max(x, y) if kind == "maximum" else min(x, y)
        return run.unknown(f"{name or kind} of plain values")
    if known(x) and known(y) and kind in SYMBOLS:
        return constants.compute(run, SYMBOLS[kind], x, y)
    dtypes = ["bool"] if kind in COMPARISONS else None
    scalar_right, scalar_left = is_scalar(y), is_scalar(x)
    if scalar_right and not isinstance(x, Unknown):
        return run.apply(Elementwise(WITH_NUMBER.get(kind, kind)), x, function=name or kind, dtypes=dtypes, framework="keras")
    if scalar_left and not isinstance(y, Unknown):
        by_number = {"divide": "reciprocal", "power": "exp"}.get(kind, WITH_NUMBER.get(kind, kind))
        return run.apply(Elementwise(by_number), y, function=name or kind, dtypes=dtypes, framework="keras")
    if dtypes is None:
        dtypes = float_first(x, y)
    return apply(run, Broadcast("compare" if kind in COMPARISONS else kind), x, y, function=name or kind, dtypes=dtypes)


WITH_NUMBER = {
    "add": "shift", "subtract": "shift", "multiply": "scale", "divide": "scale", "power": "pow",
    "maximum": "clamp", "minimum": "clamp", **dict.fromkeys(COMPARISONS, "compare"),
}  # fmt: skip
"""The op that arithmetic with a number is: it keeps less for the backward pass than that of two tensors."""


def float_first(x: Value, y: Value) -> list[str] | None:
    """The result's dtype where the first operand does not say it."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype != y.dtype and y.dtype.startswith("float"):
        return [y.dtype]
    return None


def listed(value: Value) -> Value:
    """A list of numbers as a constant."""
    return constant(value) if isinstance(value, (list, tuple)) else value


def known(value: Value) -> bool:
    return is_constant(value) or isinstance(value, (int, float, Batch))


def is_scalar(value: Value) -> bool:
    return isinstance(value, (int, float, complex, Batch)) or (is_constant(value) and value.shape == ())


def variadic(run: Run, inputs: Value, *others: Value, kind: str, name: str = "") -> Value:
    """`tf.add_n([a, b])`."""
    tensors = [*inputs, *others] if isinstance(inputs, (list, tuple)) else [inputs, *others]
    if len(tensors) == 1:
        return tensors[0]
    return apply(run, Broadcast(kind), *tensors, function=name or kind)


def where(run: Run, condition: Value, x: Value = None, y: Value = None) -> Value:
    if x is None:
        return run.unknown("which values a condition holds for is not known")
    tensors = [value for value in (condition, x, y) if isinstance(value, (Tensor, Unknown))]
    if not tensors:
        truth = run.truth(condition)
        return truth if isinstance(truth, Unknown) else (x if truth else y)
    dtype = next((value.dtype for value in (x, y) if isinstance(value, Tensor)), "float")
    return apply(run, Broadcast("where"), *tensors, function="where", dtypes=[dtype])


def clip(run: Run, x: Value, low: Value = None, high: Value = None) -> Value:
    return unary(run, x, kind="clamp", name="clip")


def cast(run: Run, x: Value, dtype: Value = None) -> Value:
    """Floats stay floats of the model; a count that becomes a float is still the same number."""
    wanted = tensor_dtype(dtype)
    if isinstance(x, bool) or isinstance(x, (int, float)):
        return int(x) if wanted.startswith(("int", "uint")) else bool(x) if wanted == "bool" else float(x)
    if isinstance(x, Batch):
        return x
    if is_constant(x):
        integer = wanted.startswith(("int", "uint"))

        def convert(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(convert(item) for item in value)
            if isinstance(value, (Batch, Unknown, str)):
                return value
            return int(value) if integer else bool(value) if wanted == "bool" else float(value)

        return constant(convert(x.data), wanted)
    if isinstance(x, Tensor) and x.dtype == wanted:
        return x
    if isinstance(x, (list, tuple)):
        return cast(run, constant(x), dtype)
    return run.apply(Elementwise("cast"), x, function="cast", dtypes=[wanted], framework="keras")


def identity(run: Run, x: Value) -> Value:
    if isinstance(x, Tensor) and not is_constant(x):
        return run.apply(Elementwise("identity"), x, function="identity", framework="keras")
    return x


def stop_gradient(run: Run, x: Value) -> Value:
    if isinstance(x, Tensor):
        return run.apply(Elementwise("detach"), x, function="stop_gradient", framework="keras")
    return x


def same(run: Run, x: Value, *args: Value, **kwargs: Value) -> Value:
    return x


def dropout(run: Run, x: Value, rate: Value = None, noise_shape: Value = None, keep_prob: Value = None) -> Value:
    if rate is None:
        rate = 1 - keep_prob if isinstance(keep_prob, (int, float)) else keep_prob
    p = rate if isinstance(rate, (int, float, Unknown)) else 0.5
    return apply(run, Dropout(p), x, function="dropout")


def normalize(run: Run, x: Value, axis: Value = None, order: Value = 2) -> Value:
    return apply(run, Normalise(), x, function="normalize")


# --- reductions ---------------------------------------------------------------------------------------------------------


def reduce(run: Run, x: Value, axis: Value = None, keepdims: Value = False, *, kind: str, name: str = "") -> Value:
    axis = axis_number(axis)
    if not isinstance(x, (Tensor, Unknown)):
        x = constant(x)
    if is_constant(x) and not keepdims and axis in (None, 0, -1, (0,)) and constants.depth(x.data) == 1:
        return reduced(run, x.data, kind)
    dtypes = ["int64"] if kind in ("argmax", "argmin", "argsort") else ["bool"] if kind in ("any", "all") else None
    return apply(run, Reduce(kind, axis, keepdims is True or keepdims == 1), x, function=name or kind, dtypes=dtypes)


def reduced(run: Run, data: tuple[Any, ...], kind: str) -> Value:
    """A reduction of known values."""
    if any(isinstance(value, Unknown) for value in data):
        return next(value for value in data if isinstance(value, Unknown))
    if kind == "prod":
        return product(data)
    if kind in ("sum", "mean"):
        total: Value = 0
        for value in data:
            total = run.operate("+", total, value)
        return run.operate("/", total, len(data)) if kind == "mean" else total
    if kind in ("max", "min") and all(isinstance(value, (int, float)) for value in data) and data:
        return max(data) if kind == "max" else min(data)
    if kind in ("any", "all"):
        return any(data) if kind == "any" else all(data)
    return run.unknown(f"{kind} of known values is not followed")


def top_k(run: Run, x: Value, k: Value = 1, sorted: Value = True) -> Value:
    return apply(run, TopK(plain_size(k)), x, function="top_k", dtypes=["float", "int32"])


def sort(run: Run, x: Value, axis: Value = -1) -> Value:
    return apply(run, Sort(axis, 1), x, function="sort")


def moments(run: Run, x: Value, axes: Value = None, shift: Value = None, keepdims: Value = False) -> Value:
    return (
        reduce(run, x, axes, keepdims, kind="mean"),
        reduce(run, x, axes, keepdims, kind="var"),
    )


# --- shape --------------------------------------------------------------------------------------------------------------


def sizes(run: Run, shape: Value) -> tuple[Size, ...] | Unknown:
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


def reshape(run: Run, x: Value, shape: Value) -> Value:
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


def flatten(run: Run, x: Value) -> Value:
    return apply(run, Reshape((-1,)), x, function="flatten")


def batch_flatten(run: Run, x: Value) -> Value:
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return apply(run, Reshape((shape, shape)), x, function="flatten")
    return apply(run, Reshape((shape[0], product(shape[1:]))), x, function="flatten")


def transpose(run: Run, x: Value, axes: Value = None, conjugate: Value = False) -> Value:
    axes = axis_number(axes)
    shape = shape_of(x)
    if axes is None:
        if isinstance(shape, Unknown):
            return apply(run, Transpose(-1, -2), x, function="transpose")
        axes = tuple(reversed(range(len(shape))))
    if isinstance(axes, Unknown):
        return apply(run, Elementwise("transpose"), axes, function="transpose")
    if is_constant(x):
        return Tensor(tuple(x.shape[axis] for axis in axes), x.dtype, framework="keras")
    return apply(run, Permute(tuple(axes)), x, function="transpose")


def swapaxes(run: Run, x: Value, axis1: Value, axis2: Value) -> Value:
    return apply(run, Transpose(axis1, axis2), x, function="swapaxes")


def moveaxis(run: Run, x: Value, source: Value, destination: Value) -> Value:
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


def expand_dims(run: Run, x: Value, axis: Value = -1) -> Value:
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


def squeeze(run: Run, x: Value, axis: Value = None) -> Value:
    return apply(run, Squeeze(axis_number(axis)), x, function="squeeze")


def concatenate(run: Run, tensors: Value, axis: Value = -1) -> Value:
    items = run.items(tensors)
    if isinstance(items, Unknown):
        return run.apply(Concatenate(-1), items, function="concatenate", framework="keras")
    axis = axis_number(axis)
    if items and all(is_constant(item) or isinstance(item, (list, tuple)) for item in items):
        parts = [item.data if isinstance(item, Tensor) else constants.frozen(item) for item in items]
        if all(constants.depth(part) == 1 for part in parts):
            return constant(tuple(value for part in parts for value in part))
    return apply(run, Concatenate(axis), *items, function="concatenate", dtypes=float_of(items))


def float_of(items: Sequence[Value]) -> list[str] | None:
    dtypes = [item.dtype for item in items if isinstance(item, Tensor)]
    if dtypes and dtypes[0] != "float" and "float" in dtypes:
        return ["float"]
    return None


def stack(run: Run, tensors: Value, axis: Value = 0) -> Value:
    items = run.items(tensors)
    if isinstance(items, Unknown):
        return run.apply(Stack(0), items, function="stack", framework="keras")
    if all(known(item) for item in items) and axis in (0, -1):
        return constant(tuple(item.data if isinstance(item, Tensor) else item for item in items))
    return apply(run, Stack(axis_number(axis)), *items, function="stack", dtypes=float_of(items))


def unstack(run: Run, x: Value, num: Value = None, axis: Value = 0) -> Value:
    if is_constant(x):
        return [item if not isinstance(item, tuple) else constant(item) for item in x.data]
    op = Unbind(axis_number(axis))
    count = parts(op, x)
    return count if isinstance(count, Unknown) else as_list(apply(run, op, x, function="unstack"))


def parts(op: Split | Chunk | Unbind, x: Value) -> int | Unknown:
    shape = shape_of(x)
    return shape if isinstance(shape, Unknown) else op.count(shape)


def as_list(result: Value) -> Value:
    return list(result) if isinstance(result, tuple) else [result]


def split(run: Run, x: Value, parts_or_sizes: Value, axis: Value = 0) -> Value:
    """`tf.split`: a number of equal parts, or the sizes of the parts."""
    parts_or_sizes, axis = plain(parts_or_sizes), axis_number(axis)
    if is_constant(x):
        return split_constant(run, x, parts_or_sizes)
    shape = shape_of(x)
    if isinstance(parts_or_sizes, (list, tuple)):
        given = list(parts_or_sizes)
        if -1 in given and isinstance(shape, tuple) and isinstance(axis, int):
            rest = shape[axis]
            for size in given:
                if size != -1:
                    rest = run.operate("-", rest, size)
            given[given.index(-1)] = rest
        op: Split | Chunk = Split(tuple(plain_size(size) for size in given), axis)
    else:
        op = Chunk(parts_or_sizes, axis, exact=True)
    count = parts(op, x)
    return count if isinstance(count, Unknown) else as_list(apply(run, op, x, function="split"))


def split_constant(run: Run, x: Tensor, parts_or_sizes: Value) -> Value:
    values = x.data
    if isinstance(parts_or_sizes, int) and parts_or_sizes > 0 and len(values) % parts_or_sizes == 0:
        each = len(values) // parts_or_sizes
        return [constant(values[at : at + each]) for at in range(0, len(values), each)]
    return run.unknown("the parts of a constant are not followed")


def split_at(run: Run, x: Value, indices_or_sections: Value, axis: Value = 0) -> Value:
    """`keras.ops.split`: a number of parts, or the positions at which to cut."""
    cuts = plain(indices_or_sections)
    if not isinstance(cuts, (list, tuple)):
        return split(run, x, cuts, axis)
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return shape
    edges = [0, *cuts, shape[axis]]
    return split(run, x, [run.operate("-", after, before) for before, after in zip(edges, edges[1:], strict=False)], axis)


def tile(run: Run, x: Value, multiples: Value) -> Value:
    times = sizes(run, multiples)
    if isinstance(times, Unknown):
        return apply(run, Elementwise("tile"), times, function="tile")
    return apply(run, Repeat(times), x, function="tile")


def repeat(run: Run, x: Value, repeats: Value, axis: Value = None) -> Value:
    return apply(run, RepeatInterleave(plain_size(plain(repeats)), axis_number(axis)), x, function="repeat")


def repeat_vector(run: Run, x: Value, n: Value) -> Value:
    return apply(run, Repeat((1, n, 1)), apply(run, Unsqueeze(1), x), function="repeat")


def broadcast_to(run: Run, x: Value, shape: Value) -> Value:
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return apply(run, Elementwise("expand"), target, function="broadcast_to")
    return apply(run, Expand(target), x, function="broadcast_to")


def roll(run: Run, x: Value, shift: Value, axis: Value = None) -> Value:
    return apply(run, Roll(axis_number(axis)), x, function="roll")


def flip(run: Run, x: Value, axis: Value = None) -> Value:
    return apply(run, Flip(axis_number(axis)), x, function="flip")


def pad(run: Run, x: Value, paddings: Value, mode: Value = "constant", constant_values: Value = 0) -> Value:
    """(before, after) for each axis."""
    pairs = plain(paddings)
    if isinstance(pairs, int):
        shape = shape_of(x)
        pairs = [pairs] * len(shape) if isinstance(shape, tuple) else Unknown("the rank is not known")
    if not isinstance(pairs, (list, tuple)):
        return apply(run, Elementwise("pad"), pairs if isinstance(pairs, Unknown) else run.unknown("a padding is not known"))
    full = tuple(tuple(plain(pair)) if isinstance(plain(pair), (list, tuple)) else (pair, pair) for pair in pairs)
    return apply(run, Pad(full, mode.lower() if isinstance(mode, str) else "constant"), x, function="pad")


def spatial_pad(run: Run, x: Value, padding: Value = 1, data_format: Value = None, *, rank: int) -> Value:
    """K.spatial_2d_padding and its like."""
    sides = padding if isinstance(padding, (list, tuple)) else ((padding, padding),) * rank
    sides = (sides,) if rank == 1 and not isinstance(sides[0], (list, tuple)) else sides
    full = tuple(tuple(side) if isinstance(side, (list, tuple)) else (side, side) for side in sides)
    zero = ((0, 0),)
    first = layout(run, data_format) is False
    return apply(run, Pad(zero * 2 + full if first else zero + full + zero), x, function="pad")


def gather(run: Run, x: Value, indices: Value, axis: Value = 0, batch_dims: Value = 0) -> Value:
    """Rows by number, along an axis."""
    axis = 0 if axis is None else axis_number(axis)
    shape, picked = shape_of(x), shape_of(listed(indices))
    if is_constant(x) and is_constant(listed(indices)) and axis == 0:
        chosen = listed(indices).data
        return constant(tuple(x.data[at] for at in chosen)) if isinstance(chosen, tuple) else x.data[chosen]
    if isinstance(shape, Unknown) or isinstance(picked, Unknown) or not isinstance(axis, int):
        return apply(run, Elementwise("gather"), shape if isinstance(shape, Unknown) else run.unknown("what is gathered is not known"))
    if batch_dims:
        return run.unknown("gathering within a batch is not followed")
    axis %= max(len(shape), 1)
    item: Any = listed(indices)
    if not isinstance(item, Tensor) or item.shape == ():
        item = plain(item)
    return apply(run, Index((*(slice(None),) * axis, item)), x, function="gather")


def strided_slice(run: Run, x: Value, begin: Value, size: Value) -> Value:
    """`tf.slice`: from `begin`, `size` values along each axis; -1 is all that is left."""
    begin, size = plain(begin), plain(size)
    if not isinstance(begin, (list, tuple)) or not isinstance(size, (list, tuple)):
        return run.unknown("where a tensor is sliced is not known")
    items = []
    for start, length in zip(begin, size, strict=False):
        stop = None if isinstance(length, int) and length == -1 else run.operate("+", plain(start), plain(length))
        items.append(slice(plain(start), stop))
    return apply(run, Index(tuple(items)), x, function="slice")


def shape(run: Run, x: Value) -> Value:
    """`tf.shape(x)`: a constant whose values are sizes, the batch among them."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else constant(given, "int32")


def ops_shape(run: Run, x: Value) -> Value:
    """`keras.ops.shape(x)`: a tuple with the batch as a size one can compute with."""
    given = shape_of(x)
    return given if isinstance(given, Unknown) else tuple(given)


def int_shape(run: Run, x: Value) -> Value:
    """`K.int_shape(x)`: a tuple with None for the batch."""
    return shown(shape_of(x), session_of(run).batch_size)


def ndim(run: Run, x: Value) -> Value:
    given = shape_of(x)
    return given if isinstance(given, Unknown) else len(given)


def size(run: Run, x: Value) -> Value:
    given = shape_of(x)
    return given if isinstance(given, Unknown) else product(given)


# --- matrices -----------------------------------------------------------------------------------------------------------


def matmul(run: Run, x: Value, y: Value, transpose_a: Value = False, transpose_b: Value = False) -> Value:
    if transpose_a is True:
        x = apply(run, Transpose(-1, -2), x, function="transpose")
    if transpose_b is True:
        y = apply(run, Transpose(-1, -2), y, function="transpose")
    return apply(run, Matmul(), x, y, function="matmul")


def dot(run: Run, x: Value, y: Value) -> Value:
    """K.dot: the last axis of x with the last but one of y, whatever their ranks."""
    left, right = shape_of(x), shape_of(y)
    if isinstance(left, tuple) and isinstance(right, tuple) and len(right) > 2:
        rest = right[:-2] + right[-1:]
        order = (len(right) - 2, *range(len(right) - 2), len(right) - 1)
        flat = apply(run, Permute(order), y, function="transpose")
        flat = apply(run, Reshape((right[-2], product(rest))), flat, function="reshape")
        result = apply(run, Matmul(), x, flat, function="dot")
        return apply(run, Reshape((*left[:-1], *rest)), result, function="reshape")
    return apply(run, Matmul(), x, y, function="dot")


def batch_dot(run: Run, x: Value, y: Value, axes: Value = None) -> Value:
    """K.batch_dot: each sample's product, summed over one axis of each."""
    from flake8_cnnmem.ops import Dot

    left, right = shape_of(x), shape_of(y)
    axes = axis_number(axes)
    if axes is None and isinstance(left, tuple) and isinstance(right, tuple):
        axes = (len(left) - 1, len(right) - 2 if len(right) > 2 else len(right) - 1)
    if isinstance(axes, int):
        axes = (axes, axes)
    return apply(run, Dot(axes if axes is not None else -1), x, y, function="batch_dot")


def einsum(run: Run, equation: Value, *inputs: Value) -> Value:
    return apply(run, Einsum(equation), *inputs, function="einsum")


def tensordot(run: Run, x: Value, y: Value, axes: Value = 2) -> Value:
    """Sums over the given axes of both; the rest are joined."""
    left, right, axes = shape_of(x), shape_of(y), plain(axes)
    if isinstance(left, Unknown) or isinstance(right, Unknown) or isinstance(axes, (Unknown, Tensor)):
        return run.apply(Matmul(), x, y, function="tensordot", framework="keras")
    if isinstance(axes, int):
        pairs = list(range(len(left) - axes, len(left))), list(range(axes))
    else:
        pairs = tuple([axis] if isinstance(axis, int) else list(axis) for axis in axes)  # type: ignore[assignment]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names = [next(letters) for _ in left]
    others: list[str] = []
    sums = {axis % len(right): names[at % len(left)] for at, axis in zip(*pairs, strict=True)}
    for axis in range(len(right)):
        others.append(sums[axis] if axis in sums else next(letters))
    summed = set(sums.values())
    output = [name for name in names if name not in summed] + [name for name in others if name not in summed]
    return apply(run, Einsum(f"{''.join(names)},{''.join(others)}->{''.join(output)}"), x, y, function="tensordot")


# --- images -------------------------------------------------------------------------------------------------------------


def layout(run: Run, data_format: Value) -> bool:
    """Whether the channels come last, for Keras' words and TensorFlow's (`NHWC`)."""
    if not isinstance(data_format, str):
        return session_of(run).data_format != "channels_first"
    return data_format != "channels_first" and not data_format.startswith("NC")


def resize(
    run: Run, images: Value, size: Value, method: Value = "bilinear", data_format: Value = "channels_last", **options: Value
) -> Value:
    """`tf.image.resize(images, size)` and its like."""
    target = sizes(run, size)
    if isinstance(target, Unknown):
        target = (target, target)
    mode = method.lower() if isinstance(method, str) else {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}.get(method, "bilinear") if isinstance(method, int) else "bilinear"
    return apply(run, Resize(size=target, mode=mode, channels_last=layout(run, data_format)), images, function="resize", dtypes=float_dtype(images))


def float_dtype(x: Value) -> list[str] | None:
    return ["float"] if isinstance(x, Tensor) and x.dtype != "float" else None


def resize_images(
    run: Run, x: Value, height_factor: Value, width_factor: Value, data_format: Value = None, interpolation: Value = "nearest"
) -> Value:
    """K.resize_images: by whole factors."""
    op = Resize(scale=(height_factor, width_factor), mode=interpolation, channels_last=layout(run, data_format))
    return apply(run, op, x, function="resize_images")


def depth_to_space(run: Run, x: Value, block_size: Value, data_format: Value = "NHWC") -> Value:
    return apply(run, PixelShuffle(block_size, layout(run, data_format)), x, function="depth_to_space")


def space_to_depth(run: Run, x: Value, block_size: Value, data_format: Value = "NHWC") -> Value:
    return apply(run, PixelShuffle(block_size, layout(run, data_format), inverse=True), x, function="space_to_depth")


# --- making tensors -----------------------------------------------------------------------------------------------------


def filled(run: Run, shape: Value = (), value: Value = 0, dtype: Value = None) -> Value:
    """`tf.zeros(shape)`: known values where they are few."""
    target = sizes(run, shape)
    if isinstance(target, Unknown):
        return Tensor(target, tensor_dtype(dtype), framework="keras")
    if target == () and isinstance(value, (int, float)):
        return constant(value)
    return Tensor(target, tensor_dtype(dtype), framework="keras")


def like(run: Run, x: Value, dtype: Value = None) -> Value:
    given = shape_of(x)
    return Tensor(given, tensor_dtype(dtype) if dtype is not None else getattr(x, "dtype", "float"), framework="keras")


def random(run: Run, shape: Value = (), dtype: Value = None) -> Value:
    target = sizes(run, shape)
    return Tensor(target, tensor_dtype(dtype), framework="keras")


def arange(run: Run, start: Value, stop: Value = None, step: Value = 1, dtype: Value = None) -> Value:
    start, stop, step = plain(start), plain(stop), plain(step)
    if stop is None:
        start, stop = 0, start
    if all(isinstance(value, int) for value in (start, stop, step)) and step:
        values = range(start, stop, step)
        if len(values) <= constants.LARGEST:
            return constant(tuple(values))
        return Tensor((len(values),), "int32", framework="keras")
    if isinstance(stop, (Batch, Unknown)) and start == 0 and step == 1:
        return Tensor((stop,), "int32", framework="keras")
    if all(isinstance(value, (int, float)) for value in (start, stop, step)) and step:
        count = max(0, -int(-(stop - start) // step))
        return constant(tuple(start + step * at for at in range(count))) if count <= constants.LARGEST else Tensor((count,), framework="keras")
    return Tensor((run.unknown("the length of a range is not known"),), "int32", framework="keras")


def linspace(run: Run, start: Value, stop: Value, num: Value = 50) -> Value:
    if isinstance(num, int) and isinstance(start, (int, float)) and isinstance(stop, (int, float)) and 0 < num <= constants.LARGEST:
        step = (stop - start) / (num - 1) if num > 1 else 0.0
        return constant(tuple(float(start + step * at) for at in range(num)))
    return Tensor((plain_size(num),), framework="keras")


def eye(run: Run, n: Value, m: Value = None) -> Value:
    return Tensor((plain_size(n), plain_size(n if m is None else m)), framework="keras")


def one_hot(run: Run, x: Value, depth: Value, axis: Value = -1, dtype: Value = None) -> Value:
    given = shape_of(x)
    if isinstance(given, Unknown):
        return given
    at = len(given) if axis in (-1, None) else axis
    return Tensor((*given[:at], plain_size(plain(depth)), *given[at:]), tensor_dtype(dtype), framework="keras")


def to_tensor(run: Run, value: Value, dtype: Value = None) -> Value:
    if isinstance(value, (Tensor, Unknown)):
        return value if dtype is None or isinstance(value, Unknown) else cast(run, value, dtype)
    if isinstance(value, Batch):
        return value
    return constant(value, None if dtype is None else tensor_dtype(dtype))


def with_shape(run: Run, x: Value, shape: Value) -> Value:
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
