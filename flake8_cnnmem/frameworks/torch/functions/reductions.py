"""Reductions, running sums, sorting and what selects by value."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable
from typing import Any, ClassVar

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.applying import apply, kind, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import axes, size
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, along, constant, flat
from flake8_cnnmem.frameworks.torch.functions.indexing import index
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape
from flake8_cnnmem.frameworks.torch.registry import define, everywhere
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Distances, Elementwise, Reduce, Sort, TopK
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Property, Runtime, Value


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
    which = axes(dim)
    tensor = tensor_of(input)
    own = tensor.dtype if isinstance(tensor, Tensor) else "float"
    known = known_reduction(op_kind, tensor, which, keepdim, dtype or own) if results == 1 else None
    if known is not None and not isinstance(tensor, Weight):
        return known
    if isinstance(which, Unknown):
        return lost_shape(run, input, which, function or op_kind, op_kind)
    dtypes = (dtype or own,) if results == 1 else (own, "int64")
    op = Reduce(op_kind, which, keepdim if isinstance(keepdim, Unknown) else keepdim is True, results)
    result = apply(run, op, input, function=function or op_kind, dtypes=dtypes)
    if known is not None and isinstance(result, Tensor):
        # A buffer is on the device, and so is what is computed from it, whose value is known all the same.
        result.data = known.data
    return result


def known_reduction(op_kind: str, tensor: Value, which: Value, keepdim: Value, dtype: str) -> Constant | None:
    """The reduction of a constant whose values are known."""
    function = HOST.get(op_kind)
    if function is None or not isinstance(tensor, Tensor) or tensor.data is None or getattr(tensor, "trainable", False):
        return None
    if isinstance(tensor.shape, Unknown) or keepdim not in (True, False) or isinstance(which, Unknown):
        return None
    rank = len(tensor.shape)
    try:
        if which is None or len(which) == rank:
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


def floating(input: Value, dtype: Value = None) -> str:
    own = input.dtype if isinstance(input, Tensor) else "float"
    return dtype_of(dtype, "float" if kind(own) < kind("float") else own)


def summed(input: Value, dtype: Value) -> str:
    own = input.dtype if isinstance(input, Tensor) else "float"
    return dtype_of(dtype, "int64" if kind(own) < kind("float") else own)


@define(*everywhere("sum", "nansum"))
def sum_(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> Value:
    return reduce(run, "sum", input, dim, keepdim, summed(input, dtype))


@define(*everywhere("mean", "nanmean"))
def mean(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> Value:
    return reduce(run, "mean", input, dim, keepdim, floating(input, dtype))


@define(*everywhere("prod"))
def prod(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> Value:
    return reduce(run, "prod", input, dim, keepdim, summed(input, dtype))


@define(*everywhere("logsumexp"))
def logsumexp(run: Runtime, input: Value, dim: Value, keepdim: Value = False) -> Value:
    return reduce(run, "logsumexp", input, dim, keepdim, floating(input))


@define(*everywhere("amax"))
def amax(run: Runtime, input: Value, dim: Value = (), keepdim: Value = False) -> Value:
    return reduce(run, "max", input, None if dim == () else dim, keepdim, function="amax")


@define(*everywhere("amin"))
def amin(run: Runtime, input: Value, dim: Value = (), keepdim: Value = False) -> Value:
    return reduce(run, "min", input, None if dim == () else dim, keepdim, function="amin")


@define("torch.aminmax", "tensor.aminmax")
def aminmax(run: Runtime, input: Value, *, dim: Value = None, keepdim: Value = False) -> Value:
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
    return ValuesAndIndices(results) if isinstance(results, (tuple, list)) and len(results) == 2 else results


def extreme(run: Runtime, name: str, input: Value, dim: Value, keepdim: Value) -> Value:
    """max and min: of all values, along an axis with positions, or of two tensors."""
    if isinstance(dim, Tensor):
        return binary(run, name, input, dim)
    if dim is None:
        return reduce(run, name, input)
    return named(reduce(run, name, input, dim, keepdim, results=2))


@define(*everywhere("max"))
def max_(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, *, other: Value = None) -> Value:
    return extreme(run, "max", input, other if other is not None else dim, keepdim)


@define(*everywhere("min"))
def min_(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False, *, other: Value = None) -> Value:
    return extreme(run, "min", input, other if other is not None else dim, keepdim)


def middle(run: Runtime, name: str, input: Value, dim: Value, keepdim: Value) -> Value:
    if dim is None:
        return reduce(run, name, input)
    return named(reduce(run, name, input, dim, keepdim, results=2))


@define(*everywhere("median", "nanmedian"))
def median(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return middle(run, "median", input, dim, keepdim)


@define(*everywhere("mode"))
def mode(run: Runtime, input: Value, dim: Value = -1, keepdim: Value = False) -> Value:
    return middle(run, "mode", input, dim, keepdim)


@define(*everywhere("kthvalue"))
def kthvalue(run: Runtime, input: Value, k: Value, dim: Value = -1, keepdim: Value = False) -> Value:
    return middle(run, "kthvalue", input, dim, keepdim)


@define(*everywhere("argmax"))
def argmax(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return reduce(run, "argmax", input, dim, keepdim, "int64")


@define(*everywhere("argmin"))
def argmin(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return reduce(run, "argmin", input, dim, keepdim, "int64")


@define(*everywhere("any"))
def any_(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return reduce(run, "any", input, dim, keepdim, "bool")


@define(*everywhere("all"))
def all_(run: Runtime, input: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return reduce(run, "all", input, dim, keepdim, "bool")


@define(*everywhere("count_nonzero"))
def count_nonzero(run: Runtime, input: Value, dim: Value = None) -> Value:
    return reduce(run, "count_nonzero", input, dim, False, "int64")


def spread_dim(dim: Value, unbiased: Value) -> Value:
    """`x.var(False)` gives `unbiased` in the place of `dim`."""
    return None if isinstance(dim, bool) else dim


@define(*everywhere("var"))
def var(
    run: Runtime,
    input: Value,
    dim: Value = None,
    unbiased: Value = True,
    keepdim: Value = False,
    *,
    correction: Value = 1,
) -> Value:
    return reduce(run, "var", input, spread_dim(dim, unbiased), keepdim)


@define(*everywhere("std"))
def std(
    run: Runtime,
    input: Value,
    dim: Value = None,
    unbiased: Value = True,
    keepdim: Value = False,
    *,
    correction: Value = 1,
) -> Value:
    return reduce(run, "std", input, spread_dim(dim, unbiased), keepdim)


@define("torch.var_mean")
def var_mean(
    run: Runtime,
    input: Value,
    dim: Value = None,
    unbiased: Value = True,
    keepdim: Value = False,
    *,
    correction: Value = 1,
) -> Value:
    which = axes(spread_dim(dim, unbiased))
    own = input.dtype if isinstance(input, Tensor) else "float"
    if isinstance(which, Unknown):
        return which
    op = Reduce("var_mean", which, keepdim is True, 2)
    return apply(run, op, input, function="var_mean", dtypes=(own, own))


@define("torch.std_mean")
def std_mean(
    run: Runtime,
    input: Value,
    dim: Value = None,
    unbiased: Value = True,
    keepdim: Value = False,
    *,
    correction: Value = 1,
) -> Value:
    return var_mean(run, input, dim, unbiased, keepdim)


@define(*everywhere("norm"))
def norm(
    run: Runtime, input: Value, p: Value = "fro", dim: Value = None, keepdim: Value = False, dtype: Value = None
) -> Value:
    return reduce(run, "norm", input, dim, keepdim, floating(input, dtype))


@define("torch.cdist")
def cdist(run: Runtime, x1: Value, x2: Value, p: Value = 2.0, compute_mode: Value = None) -> Value:
    return apply(run, Distances(), x1, x2, function="cdist")


@define(*everywhere("dist"))
def dist(run: Runtime, input: Value, other: Value, p: Value = 2) -> Value:
    return reduce(run, "norm", binary(run, "-", input, other))


def running(run: Runtime, name: str, input: Value, dtype: str, function: Callable[[Any, Any], Any] | None) -> Value:
    tensor = tensor_of(input)
    if function is not None and isinstance(tensor, Tensor) and isinstance(tensor.data, tuple):
        if tensor.shape == (len(tensor.data),) and not isinstance(tensor, Weight):
            return constant(tensor.shape, itertools.accumulate(tensor.data, function), dtype)
    return apply(run, Elementwise(name), tensor, function=name, dtype=dtype)


@define(*everywhere("cumsum"), "tensor.cumsum_")
def cumsum(run: Runtime, input: Value, dim: Value, *, dtype: Value = None) -> Value:
    return running(run, "cumsum", input, summed(input, dtype), lambda total, x: total + x)


@define(*everywhere("cumprod"), "tensor.cumprod_")
def cumprod(run: Runtime, input: Value, dim: Value, *, dtype: Value = None) -> Value:
    return running(run, "cumprod", input, summed(input, dtype), lambda total, x: total * x)


@define(*everywhere("logcumsumexp"))
def logcumsumexp(run: Runtime, input: Value, dim: Value) -> Value:
    return running(run, "logcumsumexp", input, floating(input), None)


@define(*everywhere("cummax", "cummin"))
def cummax(run: Runtime, input: Value, dim: Value) -> Value:
    own = input.dtype if isinstance(input, Tensor) else "float"
    return apply(run, Sort(dim), input, function="cummax", dtypes=(own, "int64"))


@define(*everywhere("diff"))
def diff(
    run: Runtime, input: Value, n: Value = 1, dim: Value = -1, prepend: Value = None, append: Value = None
) -> Value:
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


@define(*everywhere("topk"))
def topk(run: Runtime, input: Value, k: Value, dim: Value = -1, largest: Value = True, sorted: Value = True) -> Value:
    own = input.dtype if isinstance(input, Tensor) else "float"
    return named(apply(run, TopK(size(k), dim), input, function="topk", dtypes=(own, "int64")))


@define(*everywhere("sort"))
def sort(run: Runtime, input: Value, dim: Value = -1, descending: Value = False, stable: Value = False) -> Value:
    own = input.dtype if isinstance(input, Tensor) else "float"
    return named(apply(run, Sort(dim), input, function="sort", dtypes=(own, "int64")))


@define(*everywhere("argsort"))
def argsort(run: Runtime, input: Value, dim: Value = -1, descending: Value = False, stable: Value = False) -> Value:
    return apply(run, Sort(dim, 1), input, function="argsort", dtype="int64")


@define("torch.searchsorted", "torch.bucketize")
def searchsorted(run: Runtime, input: Value, boundaries: Value, **options: Value) -> Value:
    queries = boundaries if rank_one(input) else input
    return apply(run, Elementwise("searchsorted"), queries, function="searchsorted", dtype="int64")


def rank_one(value: Value) -> bool:
    """Whether the first argument is the sorted sequence (searchsorted) rather than the queries (bucketize)."""
    tensor = tensor_of(value)
    return isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 1


ascending = sorted
"""The builtin, where an argument has its name."""


@define(*everywhere("unique"))
def unique(
    run: Runtime,
    input: Value,
    sorted: Value = True,
    return_inverse: Value = False,
    return_counts: Value = False,
    dim: Value = None,
) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and tensor.data is not None and dim is None and return_inverse is False:
        counts = collections.Counter(flat(tensor))
        values = ascending(counts)
        different = constant((len(values),), values, tensor.dtype)
        times = constant((len(values),), [counts[value] for value in values], "int64")
        return (different, times) if return_counts is True else different
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


@define(*everywhere("unique_consecutive"))
def unique_consecutive(
    run: Runtime, input: Value, return_inverse: Value = False, return_counts: Value = False, dim: Value = None
) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and tensor.data is not None and dim is None:
        # Only neighbours are compared: the values alone do not say how many are left.
        input = Tensor(tensor.shape, tensor.dtype)
    return unique(run, input, True, return_inverse, return_counts, dim)


@define(*everywhere("nonzero"))
def nonzero(run: Runtime, input: Value, *, as_tuple: Value = False) -> Value:
    count = run.unknown("how many values of a tensor are not zero is not known")
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return tensor if isinstance(tensor, Unknown) else tensor.shape
    if as_tuple is True:
        return tuple(Tensor((count,), "int64") for _ in tensor.shape)
    return Tensor((count, len(tensor.shape)), "int64")


@define("torch.numel", "tensor.numel", "tensor.nelement")
def numel(run: Runtime, input: Value) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown):
        return tensor
    return tensor.shape if isinstance(tensor.shape, Unknown) else dims.product(tensor.shape)


@define(*everywhere("trace"))
def trace(run: Runtime, input: Value) -> Value:
    return apply(run, Reduce("sum"), input, function="trace")


@define(*everywhere("quantile", "nanquantile"))
def quantile(run: Runtime, input: Value, q: Value, dim: Value = None, keepdim: Value = False) -> Value:
    return reduce(run, "quantile", input, dim, keepdim)


@define("torch.bincount", "tensor.bincount")
def bincount(run: Runtime, input: Value, weights: Value = None, minlength: Value = 0) -> Value:
    return Tensor((run.unknown("how many values are counted is not known"),), "int64")


@define("torch.histc", "tensor.histc")
def histc(run: Runtime, input: Value, bins: Value = 100, min: Value = 0, max: Value = 0) -> Value:
    return Tensor((size(bins),), "float")
