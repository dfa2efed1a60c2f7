"""Element by element: operators and functions on arrays and numbers, with broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.frameworks.numpy.arrays import KEPT, as_array, cast, count, flat_of, make, plain, refused
from flake8_cnnmem.frameworks.numpy.dtypes import common, dtype_of_value
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, nest, rewrite
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def broadcast(run: Runtime, *shapes: Shape) -> Shape:
    """The common shape; ValueError where two sizes differ and neither is 1."""
    rank = max(map(len, shapes), default=0)
    result: list[Size] = []
    for axis in range(-rank, 0):
        size: Size = 1
        for shape in shapes:
            if len(shape) < -axis:
                continue
            own = shape[axis]
            if size == 1:
                size = own
            elif own != 1 and dims.same(size, own) is False:
                raise ValueError(f"operands could not be broadcast together: {dims.show(shapes[0])} {dims.show(shape)}")
            elif own != 1 and dims.same(size, own) is None:
                size = own if isinstance(own, Unknown) else size
        result.append(size)
    return tuple(result)


def spread(flat: list[Value], shape: Shape, target: Shape) -> list[Value]:
    """Values in the order of a shape that this one is broadcast to."""
    if shape == target:
        return flat
    if len(flat) == 1:
        return flat * (count(target) or 0)
    sizes: Any = (1,) * (len(target) - len(shape)) + shape
    places = [0]
    stride = len(flat)
    for size, wanted in zip(sizes, target, strict=True):
        stride //= max(size, 1)
        places = [place + (at * stride if size != 1 else 0) for place in places for at in range(wanted)]  # type: ignore[arg-type]
    return [flat[place] for place in places]


def elementwise(
    run: Runtime, function: Callable[..., Value], values: tuple[Value, ...], dtype: str | None = None
) -> Value:
    """Apply a function of numbers to arrays and numbers. Numbers alone give a number."""
    arrays: list[Tensor] = []
    for value in values:
        array = as_array(run, value)
        if isinstance(array, Unknown):
            return array
        arrays.append(array)
    shapes = [array.shape for array in arrays]
    kind = dtype or promoted(values, arrays)
    for shape in shapes:
        if isinstance(shape, Unknown):
            others = [array.shape for array in arrays if array.shape is not shape]
            if shape.sides is not None and all(other == () for other in others):
                # With numbers a picture stays a picture.
                return Tensor(shape, kind, framework="numpy")
            return make(shape, None, kind)
    try:
        target = broadcast(run, *shapes)  # type: ignore[arg-type]
    except ValueError as error:
        raise refused(run, str(error), *arrays) from None
    total = count(target)
    flats = [flat_of(array) for array in arrays]
    if total is None or total > KEPT or any(flat is None for flat in flats):
        return make(target, None, kind)
    run.spend(total // 4 + 1)
    columns = [spread(flat or [], array.shape, target) for flat, array in zip(flats, arrays, strict=True)]  # type: ignore[arg-type]
    results = [function(*items) for items in zip(*columns, strict=True)]
    if dtype is None and not kind.startswith("float"):
        kind = common([kind, *(own for own in map(dtype_of_value, results) if own != "int64" or kind == "bool")])
    made = make(target, results, kind)
    return made if any(isinstance(value, Tensor) and value.shape for value in values) else plain(made)


def promoted(values: tuple[Value, ...], arrays: list[Tensor]) -> str:
    """The common dtype. A plain number does not widen an array of its own kind or a higher one."""
    own = [
        array.dtype
        for value, array in zip(values, arrays, strict=True)
        if isinstance(value, Tensor) and array.shape != ()
    ]
    if not own or len(own) == len(arrays):
        return common(array.dtype for array in arrays)
    kind = common(own)
    plain_kind = common(array.dtype for array in arrays if array.shape == ())
    if plain_kind.startswith("float") and not kind.startswith(("float", "complex")):
        return "float64"
    return "int64" if kind == "bool" and plain_kind == "int64" else kind


def operate(run: Runtime, symbol: str, left: Value, right: Value) -> Value:
    """The Framework's operators. In-place forms give the new array."""
    if right is None and symbol in ("neg", "pos", "invert"):
        if symbol == "invert":
            return elementwise(run, lambda x: not x if isinstance(x, bool) else run.operate_unary("~", x), (left,))
        return elementwise(run, lambda x: run.operate_unary(symbol, x), (left,))
    if symbol.endswith("=") and symbol not in COMPARISONS:
        made = operate(run, symbol[:-1], left, right)
        return written(run, left, made) if isinstance(left, Tensor) and left.framework == "numpy" else made
    if symbol == "@":
        return matmul(run, left, right)
    if not isinstance(left, (Tensor, int, float, complex, Batch, list, tuple)) or not isinstance(
        right, (Tensor, int, float, complex, Batch, list, tuple)
    ):
        if symbol in ("==", "!="):
            return symbol == "!="
        return run.unknown(f"{symbol} between an array and another value is not followed")
    dtype = "bool" if symbol in COMPARISONS else None
    return elementwise(run, lambda a, b: safely(run, symbol, a, b), (left, right), dtype)


def written(run: Runtime, array: Tensor, made: Value) -> Value:
    """An array after a result was written into it, which is what stands under its name then."""
    flat = flat_of(made) if isinstance(made, Tensor) and made.shape == array.shape else None
    if flat is None:
        lose(run, array)
        return made
    array.classes = array.one_hot = 0
    rewrite(run, array, nest([cast(value, array.dtype) for value in flat], array.shape))
    return array


def safely(run: Runtime, symbol: str, left: Value, right: Value) -> Value:
    """Division by zero is not an error in numpy."""
    if symbol in ("/", "//", "%") and type(right) in (int, float) and right == 0 and isinstance(left, (int, float)):
        return math.nan if left == 0 or symbol == "%" else math.copysign(math.inf, left)
    return run.operate(symbol, left, right)


def matmul(run: Runtime, left: Value, right: Value) -> Value:
    """`np.matmul` and `np.dot` up to two axes: shapes only."""
    first, second = as_array(run, left), as_array(run, right)
    for array in (first, second):
        if isinstance(array, Unknown):
            return array
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    kind = common((first.dtype, second.dtype))
    a, b = first.shape, second.shape
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return make(a if isinstance(a, Unknown) else b, None, kind)
    if not a or not b:
        return operate(run, "*", left, right)
    inner = b[-2] if len(b) > 1 else b[-1]
    if dims.same(a[-1], inner) is False:
        raise refused(run, f"shapes {dims.show(a)} and {dims.show(b)} are not aligned", first, second)
    rows = a[:-1][-1:] if len(a) > 1 else ()
    columns = b[-1:] if len(b) > 1 else ()
    if len(a) <= 2 and len(b) <= 2:
        flat = product_values(run, first, second)
        return plain(make((*rows, *columns), flat, kind))
    return make((*broadcast(run, a[:-2], b[:-2]), *rows, *columns), None, kind)


def product_values(run: Runtime, first: Tensor, second: Tensor) -> list[Value] | None:
    """The values of a product of two matrices that are known; None where they are not."""
    a, b = flat_of(first), flat_of(second)
    if a is None or b is None or not a or not b:
        return None
    length: Any = first.shape[-1]  # type: ignore[index]
    rows, columns = len(a) // length, len(b) // length
    if rows * columns * length > KEPT:
        return None
    run.spend(rows * columns * length)
    result = []
    for row in range(rows):
        for column in range(columns):
            total: Value = 0
            for at in range(length):
                total = run.operate("+", total, run.operate("*", a[row * length + at], b[at * columns + column]))
            result.append(total)
    return result


def on_number(run: Runtime, function: Callable[[Any], Any], whole: bool = False) -> Callable[[Value], Value]:
    """A function of `math` on one value. What it has no value for is nan; `whole` keeps multiples of the batch."""

    def apply(value: Value) -> Value:
        if isinstance(value, Unknown) or (whole and isinstance(value, Batch)):
            return value
        if not isinstance(value, (int, float)):
            return run.unknown("the values of an array are not known")
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    return apply
