"""The functions of `numpy`, by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.numpy import rearranging, shapes
from flake8_cnnmem.frameworks.numpy.arithmetic import elementwise, matmul, on_number, operate
from flake8_cnnmem.frameworks.numpy.arrays import (
    as_array,
    flat_of,
    make,
    plain,
    scalar,
)
from flake8_cnnmem.frameworks.numpy.creation import FUNCTIONS, function
from flake8_cnnmem.frameworks.numpy.dtypes import common, dtype_of_value, is_subtype, name_of
from flake8_cnnmem.frameworks.numpy.indexing import TABLES
from flake8_cnnmem.frameworks.numpy.reductions import FOLDS, cumulative, differences, reduce
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

__all__ = ["FUNCTIONS", "rearranging"]

# Element by element

WHOLE: dict[str, Callable[[Any], Any]] = {
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round, "fix": math.trunc,
}  # fmt: skip

UNARY: dict[str, Callable[[Any], Any]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10, "log1p": math.log1p,
    "expm1": math.expm1, "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin, "arccos": math.acos,
    "arctan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "fabs": abs, "deg2rad": math.radians,
    "radians": math.radians, "degrees": math.degrees, "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
}  # fmt: skip
"""Functions whose result is a float."""

KEEPING: dict[str, Callable[[Any], Any]] = {
    "abs": abs, "absolute": abs, "square": lambda x: x * x, "negative": lambda x: -x, "positive": lambda x: x,
    "sign": lambda x: (x > 0) - (x < 0), "conj": lambda x: x, "real": lambda x: x,
}  # fmt: skip

TESTS: dict[str, Callable[[Any], Any]] = {
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite, "logical_not": lambda x: not x,
}  # fmt: skip


def unary(name: str, body: Callable[[Any], Any], dtype: str | None, whole: bool = False) -> None:
    """Define a function of each value: `dtype` is the result's, or None; `whole` leaves a batch as it is."""

    @function(name)
    def apply(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
        convert = (lambda value: float(body(value))) if dtype == "float64" else body
        if isinstance(x, Batch) and whole:
            return x
        own = name_of(kwargs.get("dtype")) or (
            x.dtype if isinstance(x, Tensor) and x.dtype.startswith("float") else None
        )
        return elementwise(run, on_number(run, convert, whole), (x,), (own or dtype) if dtype == "float64" else dtype)


for _name, _body in WHOLE.items():
    unary(_name, _body, "float64", True)
for _name, _body in UNARY.items():
    unary(_name, _body, "float64")
for _name, _body in KEEPING.items():
    unary(_name, _body, None, _name in ("abs", "absolute", "positive", "real", "conj"))
for _name, _body in TESTS.items():
    unary(_name, _body, "bool")

BINARY = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "floor_divide": "//", "mod": "%",
    "remainder": "%", "fmod": "%", "power": "**", "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=",
    "greater": ">", "greater_equal": ">=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
}  # fmt: skip


def binary(name: str, symbol: str) -> None:
    """Define the function that a binary operator is (`numpy.add` for "+"): arrays broadcast together."""

    @function(name)
    def apply(run: Runtime, x1: Value, x2: Value, *args: Value, **kwargs: Value) -> Value:
        return operate(run, symbol, x1, x2)


for _name, _symbol in BINARY.items():
    binary(_name, _symbol)


def choosing(name: str, symbol: str) -> None:
    """`maximum`, `minimum`."""

    @function(name)
    def apply(run: Runtime, x1: Value, x2: Value, *args: Value, **kwargs: Value) -> Value:
        def choose(a: Value, b: Value) -> Value:
            first = run.truth(run.operate(symbol, a, b))
            return first if isinstance(first, Unknown) else a if first else b

        return elementwise(run, choose, (x1, x2))


for _name, _symbol in (("maximum", ">="), ("fmax", ">="), ("minimum", "<="), ("fmin", "<=")):
    choosing(_name, _symbol)


def logical(name: str, combine: Callable[[bool, bool], bool]) -> None:
    """Define a function of two truth values for each value: arrays broadcast together, the result is of bools."""

    @function(name)
    def apply(run: Runtime, x1: Value, x2: Value, **kwargs: Value) -> Value:
        def both(a: Value, b: Value) -> Value:
            left, right = run.truth(a), run.truth(b)
            if isinstance(left, Unknown) or isinstance(right, Unknown):
                return left if isinstance(left, Unknown) else right
            return combine(left, right)

        return elementwise(run, both, (x1, x2), "bool")


logical("logical_and", lambda a, b: a and b)
logical("logical_or", lambda a, b: a or b)
logical("logical_xor", lambda a, b: a is not b)


@function("clip")
def clip(run: Runtime, a: Value, a_min: Value = None, a_max: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`numpy.clip(a, a_min, a_max)`: each value between the limits, in the shape of `a`."""
    if a_min is not None:
        a = run.call(FUNCTIONS["maximum"], a, a_min)
    return a if a_max is None else run.call(FUNCTIONS["minimum"], a, a_max)


@function("round", "around", "round_")
def rounded(run: Runtime, a: Value, decimals: Value = 0, **kwargs: Value) -> Value:
    """`numpy.round(a, decimals)`: each value rounded, in the shape of `a`."""
    if not isinstance(decimals, int) or abs(decimals) > 100:
        return run.unknown("how a number is rounded is not known")
    return elementwise(run, on_number(run, lambda x: round(x, decimals), True), (a,))


@function("load", propagate_unknown=False)
def load(run: Runtime, file: Value, *args: Value, **kwargs: Value) -> Value:
    """An array of a file: its shape is not known. What a model takes as it stands is in single precision."""
    path = str(file) if isinstance(file, (str, PurePosixPath)) else ""
    cause = run.unknown(f"what {path or 'a file of arrays'} holds is not known")
    return Tensor(cause, "float32", framework="numpy") if path.endswith(".npy") else cause


@function("loadtxt", "genfromtxt", propagate_unknown=False)
def load_text(run: Runtime, fname: Value, dtype: Value = "float64", *args: Value, **kwargs: Value) -> Value:
    """Numbers in a text: rows and columns, or one row where it has one of either."""
    cause = run.unknown("what a file of numbers holds is not known")
    kind = name_of(dtype)
    if kind is None or kwargs.keys() & {"names", "unpack", "ndmin"}:
        return cause
    made = Tensor(cause, kind, framework="numpy")
    run.data(TABLES)[id(made)] = made
    return made


@function("nonzero")
def nonzero(run: Runtime, a: Value) -> Value:
    """The places of what is true: an array for each axis, as long as nobody knows."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array if isinstance(array, Unknown) else array.shape
    cause = run.unknown("where a condition holds is not known")
    return tuple(make((cause,), None, "int64") for _ in array.shape)


@function("flatnonzero")
def flatnonzero(run: Runtime, a: Value) -> Value:
    """`numpy.flatnonzero(a)`: (n,) whole numbers, n not known."""
    return make((run.unknown("where a condition holds is not known"),), None, "int64")


@function("argwhere")
def argwhere(run: Runtime, a: Value) -> Value:
    """`numpy.argwhere(a)`: (n, axes of a) whole numbers, n not known."""
    array = as_array(run, a)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return array if isinstance(array, Unknown) else array.shape
    return make((run.unknown("where a condition holds is not known"), len(array.shape)), None, "int64")


@function("where")
def where(run: Runtime, condition: Value, x: Value = None, y: Value = None) -> Value:
    """`numpy.where(condition, x, y)`: a value of either for each of the condition; without them, where it holds."""
    if x is None or y is None:
        return nonzero(run, condition)

    def choose(test: Value, a: Value, b: Value) -> Value:
        answer = run.truth(test)
        return answer if isinstance(answer, Unknown) else a if answer else b

    kind = common(dtype_of_value(each) for each in (plain(x), plain(y)))
    return elementwise(run, choose, (condition, x, y), kind)


# Reductions


def reduction(name: str) -> None:
    """Define a reduction by its name (`sum`, `mean`): an axis goes, or has size 1 with `keepdims`."""

    @function(name)
    def apply(run: Runtime, a: Value, axis: Value = None, dtype: Value = None, out: Value = None,
              keepdims: Value = False, **kwargs: Value) -> Value:  # fmt: skip
        return reduce(run, name, a, axis, dtype, keepdims)


for _name in FOLDS:
    reduction(_name)
FUNCTIONS["cumsum"] = Native("cumsum", lambda run, a, axis=None, **kwargs: cumulative(run, a, axis, "+"))
FUNCTIONS["diff"] = Native("diff", lambda run, a, n=1, axis=-1: differences(run, a, n, axis))
FUNCTIONS["cumprod"] = Native("cumprod", lambda run, a, axis=None, **kwargs: cumulative(run, a, axis, "*"))


@function("count_nonzero")
def count_nonzero(run: Runtime, a: Value, axis: Value = None) -> Value:
    """`numpy.count_nonzero(a, axis)`: how many values are true, along an axis or in all."""
    return reduce(run, "sum", elementwise(run, lambda x: run.truth(x), (a,), "bool"), axis)


# Shapes


def of_shapes(name: str, body: Callable[..., Value]) -> Native:
    """A function of an array: what nobody knows is one where its dtype is known. Other arguments are known."""

    def applied(run: Runtime, a: Value, *args: Value, **kwargs: Value) -> Value:
        array = as_array(run, a) if isinstance(a, Unknown) else a
        unknown = next((each for each in (array, *args, *kwargs.values()) if isinstance(each, Unknown)), None)
        return body(run, array, *args, **kwargs) if unknown is None else unknown

    return Native(name, applied, propagate_unknown=False)


FUNCTIONS.update({
    "reshape": of_shapes("reshape", lambda run, a, newshape=None, order="C", shape=None, **kwargs: shapes.reshaped(
        run, a, shape if newshape is None else newshape)),
    "resize": Native("resize", lambda run, a, new_shape: shapes.resized(run, a, new_shape)),
    "transpose": of_shapes("transpose", lambda run, a, axes=None: shapes.transposed(run, a, axes)),
    "permute_dims": Native("permute_dims", lambda run, a, axes: shapes.transposed(run, a, axes)),
    "expand_dims": of_shapes("expand_dims", lambda run, a, axis: shapes.expanded(run, a, axis)),
    "squeeze": of_shapes("squeeze", lambda run, a, axis=None: shapes.squeezed(run, a, axis)),
    "ravel": of_shapes("ravel", lambda run, a, order="C": shapes.raveled(run, a)),
    "concatenate": Native("concatenate", lambda run, arrays, axis=0, **kwargs: shapes.concatenated(run, arrays, axis)),
    "concat": Native("concat", lambda run, arrays, axis=0, **kwargs: shapes.concatenated(run, arrays, axis)),
    "stack": Native("stack", lambda run, arrays, axis=0, **kwargs: shapes.stack(run, arrays, axis)),
    "split": Native("split", lambda run, ary, indices_or_sections, axis=0: shapes.split(
        run, ary, indices_or_sections, axis)),
    "array_split": Native("array_split", lambda run, ary, indices_or_sections, axis=0: shapes.split(
        run, ary, indices_or_sections, axis, True)),
    "pad": Native("pad", lambda run, array, pad_width, *args, **kwargs: shapes.padded(run, array, pad_width)),
    "tile": Native("tile", lambda run, A, reps: shapes.repeated(run, A, reps)),
    "atleast_1d": Native("atleast_1d", lambda run, a: shapes.at_least(run, a, 1)),
    "atleast_2d": Native("atleast_2d", lambda run, a: shapes.at_least(run, a, 2)),
    "dot": Native("dot", lambda run, a, b, **kwargs: matmul(run, a, b)),
    "matmul": Native("matmul", lambda run, a, b, **kwargs: matmul(run, a, b)),
})  # fmt: skip


@function("vstack", "row_stack")
def vstack(run: Runtime, tup: Value, **kwargs: Value) -> Value:
    """`numpy.vstack(arrays)`: joined along the first axis, (n,) taken as (1, n)."""
    found = shapes.arrays_of(run, tup)
    if isinstance(found, Unknown):
        return found
    return shapes.concatenated(run, [shapes.at_least(run, each, 2) for each in found], 0)


@function("hstack")
def hstack(run: Runtime, tup: Value, **kwargs: Value) -> Value:
    """`numpy.hstack(arrays)`: joined along the second axis, arrays of one axis along that."""
    found = shapes.arrays_of(run, tup)
    if isinstance(found, Unknown):
        return found
    first: Any = found[0].shape
    return shapes.concatenated(run, found, 0 if isinstance(first, tuple) and len(first) < 2 else 1)


@function("dstack")
def dstack(run: Runtime, tup: Value) -> Value:
    """`numpy.dstack(arrays)`: joined along the third axis, (n,) taken as (1, n, 1) and (m, n) as (m, n, 1)."""
    found = shapes.arrays_of(run, tup)
    if isinstance(found, Unknown):
        return found
    maps = [shapes.at_least(run, each, 2) for each in found]
    return shapes.concatenated(run, [shapes.expanded(run, each, 2) if rank(each) == 2 else each for each in maps], 2)


@function("column_stack")
def column_stack(run: Runtime, tup: Value) -> Value:
    """`numpy.column_stack(arrays)`: joined along the second axis, (n,) taken as a column of (n, 1)."""
    found = shapes.arrays_of(run, tup)
    if isinstance(found, Unknown):
        return found
    return shapes.concatenated(run, [shapes.expanded(run, each, 1) if rank(each) == 1 else each for each in found], 1)


def rank(array: Value) -> int | None:
    """How many axes an array has, where that is known."""
    return len(array.shape) if isinstance(array, Tensor) and isinstance(array.shape, tuple) else None


@function("append")
def append(run: Runtime, arr: Value, values: Value, axis: Value = None) -> Value:
    """`numpy.append(arr, values, axis)`: joined along an axis, or flat without one."""
    return shapes.concatenated(run, [arr, values], axis)


# Asking


@function("shape")
def shape(run: Runtime, a: Value) -> Value:
    """`numpy.shape(a)`: the sizes, as a tuple."""
    own = as_array(run, a)
    return own if isinstance(own, Unknown) else dims.read(own.shape)


@function("ndim")
def ndim(run: Runtime, a: Value) -> Value:
    """`numpy.ndim(a)`: how many axes there are."""
    own: Any = shape(run, a)
    return own if isinstance(own, Unknown) else len(own)


@function("size")
def size(run: Runtime, a: Value, axis: Value = None) -> Value:
    """`numpy.size(a, axis)`: how many values there are, in all or along an axis."""
    own: Any = shape(run, a)
    return own if isinstance(own, Unknown) else dims.product(own) if axis is None else own[axis]


FUNCTIONS["isscalar"] = Native("isscalar", lambda run, element: scalar(element) and element is not None)
FUNCTIONS["issubdtype"] = Native("issubdtype", is_subtype)
FUNCTIONS["iterable"] = Native("iterable", lambda run, y: not scalar(y) or isinstance(y, str))
FUNCTIONS["result_type"] = Native(
    "result_type", lambda run, *each: common(name_of(e) or dtype_of_value(e) for e in each)
)


@function("array_equal", "allclose", "isclose", "array_equiv")
def alike(run: Runtime, a: Value, b: Value, *args: Value, **kwargs: Value) -> Value:
    """Comparisons of two arrays as a whole or value by value (`allclose`, `isclose`): known where all values are."""
    first, second = as_array(run, a), as_array(run, b)
    for each in (first, second):
        if isinstance(each, Unknown):
            return each
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    left, right = flat_of(first), flat_of(second)
    if left is None or right is None:
        return run.unknown("the values of an array are not known")
    return run.equal(left, right)


@function("unique")
def unique(run: Runtime, ar: Value, return_index: Value = False, return_inverse: Value = False,
           return_counts: Value = False, axis: Value = None, *args: Value, **kwargs: Value) -> Value:  # fmt: skip
    """`numpy.unique(ar)`: the distinct values in order, and what else is asked for of them."""
    own = as_array(run, ar)
    if isinstance(own, Unknown):
        return own
    flat = flat_of(own)
    if axis is not None and isinstance(own.shape, tuple) and len(own.shape) != 1:
        return run.unknown("how many rows differ is not known")
    if flat is None and own.classes:
        found: list[Any] = list(range(own.classes))
    elif flat is None or not all(isinstance(value, (int, float)) for value in flat):
        return run.unknown("how many values differ is not known")
    else:
        found = sorted(set(flat))
    values = make((len(found),), found, own.dtype)
    beside = []
    if return_index is True:
        beside.append(make((len(found),), None, "int64"))
    if return_inverse is True:
        beside.append(make((dims.product(own.shape) if isinstance(own.shape, tuple) else own.shape,), None, "int64"))
    if return_counts is True:
        beside.append(make((len(found),), None if flat is None else [flat.count(each) for each in found], "int64"))
    return (values, *beside) if beside else values


@function("bincount")
def bincount(run: Runtime, x: Value, weights: Value = None, minlength: Value = 0) -> Value:
    """How often each whole number from 0 to the largest occurs."""
    own = as_array(run, x)
    if isinstance(own, Unknown):
        return own
    largest = reduce(run, "max", own)
    if not isinstance(largest, int) or not isinstance(minlength, int):
        return make((run.unknown("the largest value of an array is not known"),), None, "int64")
    return make((max(largest + 1, minlength),), None, "int64")


@function(
    "set_printoptions", "seterr", "save", "savez", "savetxt", "savez_compressed", "testing", propagate_unknown=False
)
def ignored(run: Runtime, *args: Value, **kwargs: Value) -> None:
    """What is printed or written changes no shape."""
