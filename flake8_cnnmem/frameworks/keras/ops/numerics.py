"""Functions whose results have shapes that their arguments tell: spectra, segments, decompositions, counts, samples
(shapes as keras/src/ops and tensorflow/python/ops document them)."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape, Size, add, floor_divide, multiply, subtract
from flake8_cnnmem.frameworks.keras.constants import is_constant, plain
from flake8_cnnmem.frameworks.keras.dtypes import tensor_dtype
from flake8_cnnmem.frameworks.keras.ops.elementwise import binary, unary
from flake8_cnnmem.frameworks.keras.ops.operands import apply, axis_number, listed, shape_of
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.frameworks.keras.ops.shaping import sizes
from flake8_cnnmem.frameworks.keras.session import map_structure, tensors_in
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def given(run: Runtime, kind: str, shapes: list[Shape], *inputs: Value, dtypes: list[str] | None = None) -> Value:
    """Results of these shapes: one, or a tuple of several."""
    for each in inputs:
        if isinstance(each, Unknown):
            return tuple(each for _ in shapes) if len(shapes) > 1 else each
    return apply(run, Given(kind, tuple(shapes)), *inputs, function=kind, dtypes=dtypes)


def of_both(run: Runtime, x: Value, *, kind: str) -> Value:
    """What is computed of a pair, a real and an imaginary part (`keras.ops.fft`): a pair again."""
    parts = list(x) if isinstance(x, (list, tuple)) else [x]
    return tuple(unary(run, part, kind=kind) for part in parts)


def real_spectrum(run: Runtime, x: Value, fft_length: Value = None) -> Value:
    """`keras.ops.rfft`: the real and the imaginary parts of half the frequencies."""
    shape, length = shape_of(x), plain(fft_length)
    if isinstance(shape, Unknown) or not shape:
        return (shape, shape) if isinstance(shape, Unknown) else run.unknown("a spectrum of a number")
    own = shape[-1] if length is None else plain_size(length)
    half: Shape = (*shape[:-1], add(floor_divide(own, 2), 1))
    return given(run, "rfft", [half, half], x)


def from_real_spectrum(run: Runtime, x: Value, fft_length: Value = None) -> Value:
    """`keras.ops.irfft`: the signal of half the frequencies."""
    parts = list(x) if isinstance(x, (list, tuple)) else [x]
    shape, length = shape_of(parts[0]), plain(fft_length)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("a spectrum of a number")
    own = multiply(subtract(shape[-1], 1), 2) if length is None else plain_size(length)
    return given(run, "rfft", [(*shape[:-1], own)], *parts)


def segments(run: Runtime, x: Value, indices: Value, count: Value = None, *, joined: str = "sum") -> Value:
    """Rows of `x` joined by the segment that each belongs to: as many rows as there are segments."""
    shape, places = shape_of(x), shape_of(listed(indices))
    for each in (shape, places):
        if isinstance(each, Unknown):
            return each
    assert isinstance(shape, tuple)
    assert isinstance(places, tuple)
    left = run.unknown("how many segments there are is not stated") if count is None else plain_size(plain(count))
    kind = "put" if joined == "sum" else f"segment_{joined}"
    return given(run, kind, [(left, *shape[len(places) :])], x, listed(indices))


def sequence_mask(run: Runtime, lengths: Value, maxlen: Value = None, dtype: Value = None) -> Value:
    """Whether each place is within its row's length."""
    shape, longest = shape_of(listed(lengths)), plain(maxlen)
    if isinstance(shape, Unknown):
        return shape
    last = run.unknown("how long the longest sequence is is not stated") if longest is None else plain_size(longest)
    wanted = "bool" if dtype is None else tensor_dtype(dtype)
    return given(run, "sequence_mask", [(*shape, last)], listed(lengths), dtypes=[wanted])


def number(run: Runtime, x: Value, *, kind: str) -> Value:
    """One number of a whole tensor, or of several in a list."""
    return given(run, kind, [()], *(x if isinstance(x, (list, tuple)) else [x]))


def l2_loss(run: Runtime, x: Value) -> Value:
    """`tf.nn.l2_loss`: half the sum of the squares."""
    return reduce(run, unary(run, x, kind="square"), None, kind="sum")


def left_axes(run: Runtime, x: Value, *, kind: str, left: int, dtype: str = "") -> Value:
    """One value for what the axes behind the first `left` ones hold."""
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return shape
    return given(run, kind, [shape[:left]], x, dtypes=[dtype] if dtype else None)


def each_sample(run: Runtime, x: Value, y: Value = None, *, kind: str, axes: int = 3) -> Value:
    """One number for each picture of a batch, or of a pair of batches."""
    shape = shape_of(x)
    if isinstance(shape, Unknown):
        return shape
    others = [] if y is None else [y]
    return given(run, kind, [shape[: max(len(shape) - axes, 0)]], x, *others)


def several(run: Runtime, x: Value, *, kind: str, last: int) -> Value:
    """As many values more on a new last axis: both gradients of a picture."""
    shape = shape_of(x)
    return shape if isinstance(shape, Unknown) else given(run, kind, [(*shape, last)], x)


def alike(run: Runtime, x: Value, *, kind: str, count: int) -> Value:
    """Several results of the input's shape."""
    shape = shape_of(x)
    return tuple(shape for _ in range(count)) if isinstance(shape, Unknown) else given(run, kind, [shape] * count, x)


def normalized(run: Runtime, x: Value, axis: Value = None) -> Value:
    """`tf.linalg.normalize`: the tensor divided by its norm, and the norm."""
    norm = reduce(run, x, axis, True, kind="norm")
    return binary(run, x, norm, kind="divide"), norm


def of_second(run: Runtime, x: Value, y: Value, *, kind: str) -> Value:
    """What solves a system of equations: of the right side's shape."""
    shape = shape_of(y)
    return shape if isinstance(shape, Unknown) else given(run, kind, [shape], x, y)


def both_shapes(x: Value, y: Value) -> tuple[Shape, Shape] | Unknown:
    """The shapes of two tensors; the first Unknown where one is not known."""
    left, right = shape_of(x), shape_of(y)
    if isinstance(left, Unknown):
        return left
    return right if isinstance(right, Unknown) else (left, right)


def least_squares(run: Runtime, x: Value, y: Value) -> Value:
    """`keras.ops.lstsq`: (..., N, K) for (..., M, N) and (..., M, K)."""
    shapes = both_shapes(x, y)
    if isinstance(shapes, Unknown):
        return shapes
    left, right = shapes
    return given(run, "matrix_lstsq", [(*left[:-2], left[-1], *right[len(left) - 1 :])], x, y)


def smaller(first: Size, second: Size) -> Size:
    """The smaller of two sizes; Unknown where that is not known."""
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    return first if first == second else Unknown("which side of a matrix is shorter is not known")


def decomposed(run: Runtime, x: Value, full: Value = False, vectors: Value = True, *, into: str) -> Value:
    """The parts of a matrix: `svd` (keras: u, s, v; "svd_first": s before), `qr`, `eigh`."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or len(shape) < 2:
        return shape if isinstance(shape, Unknown) else run.unknown(f"{into} of what is no matrix")
    front, rows, columns = shape[:-2], shape[-2], shape[-1]
    side = smaller(rows, columns)
    if into == "eigh":
        return given(run, "matrix_eigh", [(*front, side), shape], x)
    if into == "qr":
        wide = rows if full is True else side
        return given(run, "matrix_qr", [(*front, rows, wide), (*front, wide, columns)], x)
    values: Shape = (*front, side)
    if vectors is False:
        return given(run, "matrix_svd", [values], x)
    left: Shape = (*front, rows, rows if full is True else side)
    if into == "svd_first":
        return given(run, "matrix_svd", [values, left, (*front, columns, columns if full is True else side)], x)
    return given(run, "matrix_svd", [left, values, (*front, columns if full is True else side, columns)], x)


def diagonal(run: Runtime, x: Value) -> Value:
    """`keras.ops.diag`: of a vector the matrix, of a matrix the diagonal."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("a diagonal of a number")
    target: Shape = (shape[0], shape[0]) if len(shape) == 1 else (*shape[:-2], smaller(shape[-2], shape[-1]))
    return given(run, "diagonal", [target], x)


def diagonal_along(run: Runtime, x: Value, offset: Value = 0, axis1: Value = 0, axis2: Value = 1) -> Value:
    """`keras.ops.diagonal`: the diagonals that run along two axes, on a last axis of their own."""
    shape, axes, less = shape_of(x), [axis_number(axis1), axis_number(axis2)], plain(offset)
    if isinstance(shape, Unknown):
        return shape
    places = [axis % len(shape) for axis in axes if isinstance(axis, int) and -len(shape) <= axis < len(shape)]
    if len(places) < 2 or less != 0:
        return run.unknown("which diagonals are taken is not known")
    others = tuple(size for at, size in enumerate(shape) if at not in places)
    return given(run, "diagonal", [(*others, smaller(shape[places[0]], shape[places[1]]))], x)


def quantile(run: Runtime, x: Value, q: Value, axis: Value = None, keepdims: Value = False, **options: Value) -> Value:
    """One value, or as many as are asked for, along an axis."""
    asked = shape_of(listed(q)) if isinstance(listed(q), Tensor) else ()
    rest = reduce(run, x, axis_number(axis), keepdims, kind="median", function="quantile")
    shape = shape_of(rest)
    if not asked or isinstance(shape, Unknown) or isinstance(asked, Unknown):
        return rest
    return given(run, "quantile", [(*asked, *shape)], rest)


def places(run: Runtime, sorted_sequence: Value, values: Value, **options: Value) -> Value:
    """Where values belong in a sorted sequence: of the values' shape."""
    shape = shape_of(listed(values))
    if isinstance(shape, Unknown):
        return shape
    return given(run, "compare", [shape], listed(values), dtypes=["int32"])


def in_top_k(run: Runtime, targets: Value, predictions: Value, k: Value = None) -> Value:
    """Whether each target is among the `k` best predictions of its row."""
    shape = shape_of(targets)
    return (
        shape if isinstance(shape, Unknown) else given(run, "compare", [shape], targets, predictions, dtypes=["bool"])
    )


def categorical(run: Runtime, x: Value, count: Value, dtype: Value = None) -> Value:
    """`tf.random.categorical(logits, num_samples)`: so many classes for each row."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("samples of no classes")
    wanted = "int64" if dtype is None else tensor_dtype(dtype)
    return given(run, "categorical", [(*shape[:-1], plain_size(plain(count)))], x, dtypes=[wanted])


def sampled_loss(run: Runtime, weights: Value, biases: Value, labels: Value, x: Value, **options: Value) -> Value:
    """`tf.nn.sampled_softmax_loss`, `tf.nn.nce_loss`: one number for each row."""
    shape = shape_of(x)
    return shape if isinstance(shape, Unknown) else given(run, "sampled_loss", [shape[:1]], x, weights, biases)


def count_of_each(
    run: Runtime, x: Value, weights: Value = None, minlength: Value = None, maxlength: Value = None
) -> Value:
    """`bincount`: how often each number is there, up to a length that is stated twice alike; else it is open."""
    least, most = plain(minlength), plain(maxlength)
    length: Size = least if isinstance(least, int) and least == most else run.unknown("how many bins there are is open")
    return given(run, "bincount", [(length,)], listed(x), dtypes=["int32"])


def clip_together(run: Runtime, tensors: Value, clip_norm: Value = None) -> Value:
    """`tf.clip_by_global_norm`: the tensors, and their norm."""
    found = tensors_in(tensors)
    norm = given(run, "global_norm", [()], found[0]) if found else run.unknown("a norm of nothing")
    return map_structure(
        lambda each: unary(run, each, kind="clamp") if isinstance(each, Tensor) else each, tensors
    ), norm


def difference(run: Runtime, x: Value, n: Value = 1, axis: Value = -1) -> Value:
    """Each value less the one before it: `n` fewer along the axis."""
    shape, at, less = shape_of(x), axis_number(axis), plain(n)
    if isinstance(shape, Unknown) or not shape or not isinstance(at, int) or not isinstance(less, int):
        return shape if isinstance(shape, Unknown) else run.unknown("which differences are taken is not known")
    at %= len(shape)
    return given(run, "difference", [(*shape[:at], subtract(shape[at], less), *shape[at + 1 :])], x)


def kronecker(run: Runtime, x: Value, y: Value) -> Value:
    """The Kronecker product: each size is the product of both."""
    shapes = both_shapes(x, y)
    if isinstance(shapes, Unknown):
        return shapes
    left, right = shapes
    if len(left) != len(right):
        return run.unknown("a Kronecker product of tensors of different ranks")
    return given(run, "kronecker", [tuple(multiply(a, b) for a, b in zip(left, right, strict=True))], x, y)


def numbers(run: Runtime, shape: Value = (), dtype: Value = None, **options: Value) -> Value:
    """Random numbers in a tensor of a shape."""
    target = sizes(run, shape)
    return Tensor(target, tensor_dtype(dtype), framework="keras")


def samples(run: Runtime, shape: Value = (), first: Value = None, second: Value = None, dtype: Value = None) -> Value:
    """`tf.random.gamma`: so many samples (`shape`) for each of the distributions that the parameters are for."""
    parameters = [shape_of(each) for each in (first, second) if each is not None]
    number = sizes(run, shape)
    cause = next((each for each in (number, *parameters) if isinstance(each, Unknown)), None)
    if cause is not None or isinstance(number, Unknown):
        return cause
    own = broadcast(tuple(each for each in parameters if not isinstance(each, Unknown))) if parameters else ()
    return Tensor((*number, *own), tensor_dtype(dtype), framework="keras")


def boxes_kept(run: Runtime, boxes: Value, scores: Value, each: Value = None, total: Value = None) -> Value:
    """`tf.image.combined_non_max_suppression`: boxes, scores, classes, and how many of each picture hold."""
    shape, most = shape_of(boxes), plain_size(plain(total))
    if isinstance(shape, Unknown) or not shape:
        return run.unknown("which boxes are kept is not known")
    rows = shape[0]
    return given(run, "boxes_kept", [(rows, most, 4), (rows, most), (rows, most), (rows,)], boxes, scores)


def places_kept(run: Runtime, boxes: Value, *args: Value, **options: Value) -> Value:
    """`tf.image.non_max_suppression`: as many boxes as are left."""
    left = run.unknown("how many boxes are kept is not known")
    return given(run, "boxes_kept", [(left,)], boxes, dtypes=["int32"])


def chosen(run: Runtime, index: Value, branches: Value = None, *operands: Value, **options: Value) -> Value:
    """`tf.switch_case`, `keras.ops.switch`: the branches give the same shapes; the one that is known, or the first. All
    are traced, so that the layers of all have their weights."""
    found = list(branches.values()) if isinstance(branches, dict) else branches
    if not isinstance(found, (list, tuple)) or not found:
        return run.unknown("the branches of a choice are not known")
    at = plain(index)
    picked = at if isinstance(at, int) and 0 <= at < len(found) else 0
    results = [run.call(each[1] if isinstance(each, tuple) else each, *operands) for each in found]
    return results[picked]


def first_case(run: Runtime, pairs: Value, default: Value = None, **options: Value) -> Value:
    """`tf.case`: all branches give the same shapes."""
    return chosen(run, 0, pairs) if isinstance(pairs, (list, tuple)) and pairs else run.call(default)


def looped(run: Runtime, cond: Value, body: Value, variables: Value = None, **options: Value) -> Value:
    """`while_loop(cond, body, loop_vars)`: the body once; the variables keep their shapes from turn to turn, as both
    frameworks demand."""
    given_now = map_structure(some_turn, variables)
    if not isinstance(given_now, (list, tuple)):
        return turned(run, run.call(body, given_now))
    return turned(run, run.call(body, *given_now))


def some_turn(value: Value) -> Value:
    """A loop's variable in any of its turns: a number differs from turn to turn."""
    if isinstance(value, (bool, int, float)):
        return Tensor((), {bool: "bool", int: "int32"}.get(type(value), "float"), framework="keras")
    if is_constant(value):
        return Tensor(value.shape, value.dtype, framework="keras")
    return value


def turned(run: Runtime, after: Value) -> Value:
    """What a loop's variables are after turns that nobody has counted."""

    def of(value: Value) -> Value:
        if isinstance(value, Tensor) and isinstance(value.shape, tuple) and value.call is not None:
            return given(run, "while_loop", [value.shape], value, dtypes=[value.dtype])
        known = isinstance(value, (Tensor, Unknown, Instance))
        return value if known else run.unknown("how often a loop runs is not known")

    return map_structure(of, after)


def counted_loop(run: Runtime, lower: Value, upper: Value, body: Value, start: Value) -> Value:
    """`keras.ops.fori_loop`: the body once, at some index."""
    return turned(run, run.call(body, some_turn(0), start))


def item_at(run: Runtime, x: Value, key: Value) -> Value:
    """`keras.ops.get_item(x, key)`: `x[key]`."""
    return run.index(x, key)
