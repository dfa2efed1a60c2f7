"""Reductions, running sums, sorting and what selects by value."""

from __future__ import annotations

import collections
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, note_whole, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import axes, whole
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, kind
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, along, constant, flat
from flake8_cnnmem.frameworks.torch.functions.indexing import index
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise, Loss, Reduce, Sort, Stack, TopK
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Property, Value


def _mean(values: list[Any]) -> Any:
    return sum(values) / len(values)


HOST: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum, "mean": _mean, "prod": math.prod, "max": max, "min": min, "any": any, "all": all,
    "argmax": lambda values: values.index(max(values)), "argmin": lambda values: values.index(min(values)),
}  # fmt: skip
"""What a reduction does to the values of a constant."""


def reduce(
    run: Runtime,
    op_kind: str,
    input: Value,
    dim: Value = None,
    keepdim: Value = False,
    dtype: str = "",
    results: int = 1,
    function: str = "",
) -> Value:
    """A reduction over the axes `dim` (None: all), which stay as size 1 with `keepdim`. `results` 2 gives values and
    int64 positions. The values of constants are followed."""
    which = axes(dim)
    tensor = tensor_of(input)
    own = tensor.dtype if isinstance(tensor, Tensor) else "float"
    known = known_reduction(op_kind, tensor, which, keepdim, dtype or own) if results == 1 else None
    if known is not None and not isinstance(tensor, Weight):
        note_whole(run, op_kind, tensor, (dtype or own,))
        return known
    if isinstance(which, Unknown):
        return lost_shape(run, input, which, function or op_kind, op_kind)
    dtypes = (dtype or own,) if results == 1 else (own, "int64")
    op = Reduce(op_kind, which, keepdim if isinstance(keepdim, Unknown) else keepdim is True, results)
    result = apply(run, op, input, function=function or op_kind, dtypes=dtypes)
    if known is not None and isinstance(result, Tensor):
        # A buffer is on the device, and so is what is computed from it, whose value is known all the same.
        result.data = known.data
    elif op_kind == "max" and isinstance(result, Tensor) and isinstance(tensor, Tensor) and result.shape == ():
        result.data = tensor.largest
    return result


def known_reduction(op_kind: str, tensor: Value, which: Any, keepdim: Value, dtype: str) -> Constant | None:
    """The reduction of a constant whose values are known."""
    function = HOST.get(op_kind)
    if function is None or not isinstance(tensor, Tensor) or tensor.data is None or getattr(tensor, "trainable", False):
        return None
    if isinstance(tensor.shape, Unknown) or keepdim not in (True, False) or isinstance(which, Unknown):
        return None
    rank = len(tensor.shape)
    try:
        if not which or len(which) == rank:
            values = flat(tensor)
            if not values:
                return None
            return constant((1,) * rank if keepdim else (), [function(values)], dtype)
        if len(which) != 1 or not isinstance(which[0], int):
            return None
        axis = which[0] % rank
        lines = along(tensor, axis, function)
    except (ArithmeticError, TypeError, ValueError):
        return None
    shape = (*tensor.shape[:axis], *((1,) if keepdim else ()), *tensor.shape[axis + 1 :])
    return None if lines is None else constant(shape, lines, dtype)


def mean_of_numbers(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, dtype: str = "") -> Value:
    """nanmean: the sum of the numbers, divided by how many of them there are (aten/src/ATen/native/ReduceOps.cpp)."""
    there: Value = input
    for name, in_place in (("isnan", False), ("logical_not", True)):
        there = apply(run, Elementwise(name, in_place), there, function="nanmean", dtype="bool")
    factor = reduce(run, "sum", there, dim, keepdim, "int64", function="nanmean")
    total = reduce(run, "nansum", input, dim, keepdim, dtype, function="nanmean")
    return binary(run, "/", total, factor)


def floating(input: Value, dtype: Value = None) -> str:
    """The dtype of a mean or norm: the stated one, the input's, or float for whole numbers."""
    own = input.dtype if isinstance(input, Tensor) else "float"
    return dtype_of(dtype, "float" if kind(own) < kind("float") else own)


def summed(input: Value, dtype: Value) -> str:
    """The dtype of a sum: the stated one, the input's, or int64 for bools and whole numbers."""
    own = input.dtype if isinstance(input, Tensor) else "float"
    return dtype_of(dtype, "int64" if kind(own) < kind("float") else own)


def aminmax(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    """The smallest and the largest values, of all or along an axis."""
    return (
        reduce(run, "min", input, dim, keepdim, function="aminmax"),
        reduce(run, "max", input, dim, keepdim, function="aminmax"),
    )


class ValuesAndIndices(tuple[Any, ...]):
    """The named tuple of `max(dim)`, `sort`, `topk` and their like."""

    __slots__ = ()
    more: ClassVar[dict[str, Value]] = {
        "values": Property(Native("values", lambda run, self: self[0])),
        "indices": Property(Native("indices", lambda run, self: self[1])),
    }


def named(results: Value) -> Value:
    """Two results as torch's named tuple (values, indices); anything else as it is."""
    return ValuesAndIndices(results) if isinstance(results, (tuple, list)) and len(results) == 2 else results


def extreme(run: Runtime, name: str, input: Value, dim: Value, keepdim: Value, other: Value = None) -> Value:
    """max and min: of all values, along an axis with positions, or of two tensors."""
    second = other if other is not None else dim
    if isinstance(second, Tensor):
        return binary(run, name, input, second)
    return middle(run, name, input, second, keepdim)


def middle(run: Runtime, name: str, input: Value, dim: Value, keepdim: Value) -> Value:
    """median and its like: of all values, or along an axis with positions."""
    if dim is None:
        return reduce(run, name, input)
    return named(reduce(run, name, input, dim, keepdim, results=2))


def quantile(run: Runtime, input: Value, q: Value, dim: Value = None, keepdim: Value = False) -> Value:
    """What so many of the values lie below; of several shares one after the other along an axis in front."""
    result = reduce(run, "quantile", input, dim, keepdim)
    shares = q.shape if isinstance(q, Tensor) else ()
    if isinstance(shares, tuple) and not shares:
        return result
    number = shares[0] if isinstance(shares, tuple) else shares
    if not isinstance(number, int):
        return lost_shape(run, result, run.unknown("how many quantiles are taken is not known"), "quantile")
    return apply(run, Stack(0), *(result,) * number, function="quantile")


def spread_dim(dim: Value) -> Value:
    """`x.var(False)` gives `unbiased` in the place of `dim`."""
    return None if isinstance(dim, bool) else dim


def spread_and_mean(run: Runtime, name: str, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    """`var_mean`, `std_mean` by name: (spread, mean), of all values or over axes."""
    which = axes(spread_dim(dim))
    own = input.dtype if isinstance(input, Tensor) else "float"
    if isinstance(which, Unknown):
        return which
    op = Reduce(name, which, keepdim is True, 2)
    return apply(run, op, input, function=name, dtypes=(own, own))


def norm_kind(p: Value) -> str:
    """The kind of a norm by its exponent: "norm" of the Euclidean one, "norm_one" of a sum of magnitudes, and else
    "norm_of_power": what their backward passes make differs."""
    if p == 2 or p in ("fro", None):
        return "norm"
    return "norm_one" if p == 1 else "norm_of_power"


def power_norm(
    run: Runtime, dtype: str, input: Value, p: Value = "fro", dim: Value = None, keepdim: Value = False
) -> Value:
    """`torch.norm`, of all values or over axes."""
    return reduce(run, norm_kind(p), input, dim, keepdim, dtype)


def dist(run: Runtime, input: Value, other: Value, p: Value) -> Value:
    """(): the norm of a difference."""
    kind = "dist" if p == 2 else "dist_of_power"
    return apply(
        run, Loss(kind, "sum", compared=2), input, other, function="dist", dtype=common_dtype([tensor_of(input)])
    )


RUNNING: dict[str, Callable[[Any, Any], Any]] = {"cumsum": operator.add, "cumprod": operator.mul}
"""What a running sum or product does to the values of a constant."""


def running(run: Runtime, dtype: str, input: Value, function: str) -> Value:
    """Running sums and their like along an axis: a tensor of the input's shape, of this dtype."""
    name = function.removesuffix("_")
    tensor = tensor_of(input)
    host = RUNNING.get(name)
    if host is not None and isinstance(tensor, Tensor) and isinstance(tensor.data, tuple):
        if tensor.shape == (len(tensor.data),) and not isinstance(tensor, Weight):
            return constant(tensor.shape, itertools.accumulate(tensor.data, host), dtype)
    return apply(run, Elementwise(name), tensor, function=name, dtype=dtype)


def diff(
    run: Runtime, input: Value, n: Value = 1, dim: Value = -1, prepend: Value = None, append: Value = None
) -> Value:
    """Differences of neighbours along an axis: n fewer. With `prepend` or `append` their number is not worked out."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown):
        return tensor
    if isinstance(tensor.data, tuple) and tensor.shape == (len(tensor.data),) and n == 1 and prepend is append is None:
        values = [after - before for before, after in zip(tensor.data, tensor.data[1:], strict=False)]
        return constant((len(values),), values, tensor.dtype)
    if prepend is not None or append is not None or not isinstance(n, int) or not isinstance(tensor.shape, tuple):
        return lost_shape(run, input, run.unknown("the size of a difference is not worked out"), "diff", "copy")
    rank = len(tensor.shape)
    result: Value = tensor
    for _ in range(min(n, 8)):
        lead = (slice(None),) * (dim % rank if isinstance(dim, int) and rank else 0)
        later, earlier = index(run, result, (*lead, slice(1, None))), index(run, result, (*lead, slice(None, -1)))
        result = binary(run, "-", later, earlier)
    return result


def with_indices(run: Runtime, op: TopK | Sort, input: Value, function: str) -> Value:
    """The named tuple (values, indices) of an op that orders values along an axis."""
    own = input.dtype if isinstance(input, Tensor) else "float"
    return named(apply(run, op, input, function=function, dtypes=(own, "int64")))


ascending = sorted
"""The builtin, where an argument has its name."""


def unique(
    run: Runtime,
    input: Value,
    sorted: Value = True,
    return_inverse: Value = False,
    return_counts: Value = False,
    dim: Value = None,
) -> Value:
    """(different,): how many is known of constants alone; with the inverse (the input's shape) and the counts
    (different,)."""
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.data is not None and dim is None:
        given = flat(tensor) or []
        counts = collections.Counter(given)
        values = ascending(counts)
        numbered = {value: at for at, value in enumerate(values)}
        places = [numbered[value] for value in given]
        return told_apart(tensor, values, places, [counts[value] for value in values], return_inverse, return_counts)
    return of_unknown_values(run, tensor, dim, return_inverse, return_counts)


def told_apart(
    tensor: Tensor, values: list[Any], places: list[int], counts: list[int], inverse: Value, counted: Value
) -> Value:
    """What `unique` gives of known values: the different ones, where each value of the input is among them, and how
    often each is there, as far as these are asked for."""
    answers = [constant((len(values),), values, tensor.dtype)]
    if inverse is True and isinstance(tensor.shape, tuple):
        answers.append(constant(tensor.shape, places, "int64"))
    if counted is True:
        answers.append(constant((len(values),), counts, "int64"))
    return answers[0] if len(answers) == 1 else tuple(answers)


def of_unknown_values(
    run: Runtime, tensor: Tensor | Unknown, dim: Value, return_inverse: Value, return_counts: Value
) -> Value:
    """What `unique` gives where nobody knows how many values are different."""
    count = run.unknown("how many different values a tensor has is not known")
    if isinstance(tensor, Unknown):
        return tensor
    shape = tensor.shape
    left: dims.Shape | Unknown
    places: dims.Shape | Unknown
    axis = dim + len(shape) if type(dim) is int and dim < 0 and not isinstance(shape, Unknown) else dim
    if axis is None:
        left, places = (count,), shape
    elif isinstance(shape, Unknown) or type(axis) is not int or not 0 <= axis < len(shape):
        # Whole slices are compared: as many axes as before, one of them shorter.
        left, places = (shape, shape) if isinstance(shape, Unknown) else (count, (count,))
    else:
        left, places = (*shape[:axis], count, *shape[axis + 1 :]), (shape[axis],)
    found = [Tensor(left, tensor.dtype)]
    found += [Tensor(places, "int64")] if return_inverse is True else []
    found += [Tensor((count,), "int64")] if return_counts is True else []
    return found[0] if len(found) == 1 else tuple(found)


def unique_consecutive(
    run: Runtime, input: Value, return_inverse: Value = False, return_counts: Value = False, dim: Value = None
) -> Value:
    """As `unique`, of neighbours alone: the lengths of runs of equal values."""
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.data is not None and dim is None:
        runs = [(value, len(list(equal))) for value, equal in itertools.groupby(flat(tensor) or [])]
        lengths = [length for _, length in runs]
        places = [at for at, length in enumerate(lengths) for _ in range(length)]
        return told_apart(tensor, [value for value, _ in runs], places, lengths, return_inverse, return_counts)
    return of_unknown_values(run, tensor, dim, return_inverse, return_counts)


def nonzero(run: Runtime, input: Value, *, as_tuple: Value = False) -> Value:
    """(found, axes), int64, or one (found,) for each axis; how many there are is not known."""
    count = run.unknown("how many values of a tensor are not zero is not known")
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return tensor if isinstance(tensor, Unknown) else tensor.shape
    if as_tuple is True:
        return tuple(Tensor((count,), "int64") for _ in tensor.shape)
    return Tensor((count, len(tensor.shape)), "int64")


def numel(run: Runtime, input: Value) -> Value:
    """How many values a tensor has."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown):
        return tensor
    return tensor.shape if isinstance(tensor.shape, Unknown) else dims.product(tensor.shape)


def bincount(run: Runtime) -> Value:
    """How often each whole number is there: as many counts as the largest one, which only the values say."""
    return Tensor((run.unknown("how many values are counted is not known"),), "int64")


def histc(run: Runtime, bins: Value) -> Value:
    """(bins,): how many values lie in each."""
    return Tensor((whole(bins),), "float")
