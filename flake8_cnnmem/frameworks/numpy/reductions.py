"""Sums, means, extremes: over all values or along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.numpy.arithmetic import on_number
from flake8_cnnmem.frameworks.numpy.arrays import as_array, axis_of, cast, flat_of, make, plain
from flake8_cnnmem.frameworks.numpy.dtypes import common, dtype_of_value, name_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

Fold = Callable[[Runtime, list[Value]], Value]


def total(run: Runtime, values: list[Value]) -> Value:
    """The sum of values."""
    result: Value = 0
    for value in values:
        result = run.operate("+", result, value)
    return result


def product(run: Runtime, values: list[Value]) -> Value:
    """The product of values."""
    sizes = [value for value in values if dims.is_size(value)]
    if len(sizes) == len(values):
        return dims.product(sizes)
    result: Value = 1
    for value in values:
        result = run.operate("*", result, value)
    return result


def mean(run: Runtime, values: list[Value]) -> Value:
    """The mean of values; nan of none."""
    return run.operate("/", total(run, values), len(values)) if values else math.nan


def extreme(symbol: str) -> Fold:
    """The largest (">") or smallest ("<") of values. ValueError of none."""

    def fold(run: Runtime, values: list[Value]) -> Value:
        if not values:
            raise ValueError("zero-size array to reduction operation which has no identity")
        best = values[0]
        for value in values[1:]:
            better = run.truth(run.operate(symbol, value, best))
            if isinstance(better, Unknown):
                return better
            best = value if better else best
        return best

    return fold


def place_of(symbol: str) -> Fold:
    """The place of the largest (">") or smallest ("<") of values."""

    def fold(run: Runtime, values: list[Value]) -> Value:
        best = extreme(symbol)(run, values)
        return best if isinstance(best, Unknown) else next(at for at, value in enumerate(values) if value == best)

    return fold


def variance(run: Runtime, values: list[Value]) -> Value:
    """The mean square of the distances to the mean."""
    centre = mean(run, values)
    return mean(run, [run.operate("**", run.operate("-", value, centre), 2) for value in values])


def deviation(run: Runtime, values: list[Value]) -> Value:
    """The root of the variance."""
    return on_number(run, math.sqrt)(variance(run, values))


def median(run: Runtime, values: list[Value]) -> Value:
    """The middle of the values in order."""
    numbers = [value for value in values if isinstance(value, (int, float))]
    if not values or len(numbers) < len(values):
        return run.unknown("a median is not known")
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def decided(deciding: bool) -> Fold:
    """`any` (True decides) or `all` (False decides) of values."""

    def fold(run: Runtime, values: list[Value]) -> Value:
        cause: Unknown | None = None
        for value in values:
            answer = run.truth(value)
            if answer is deciding:
                return deciding
            cause = answer if isinstance(answer, Unknown) else cause
        return (not deciding) if cause is None else cause

    return fold


FOLDS: dict[str, tuple[Fold, str]] = {
    "sum": (total, ""), "prod": (product, ""), "product": (product, ""), "mean": (mean, "float64"),
    "average": (mean, "float64"), "max": (extreme(">"), ""), "amax": (extreme(">"), ""), "min": (extreme("<"), ""),
    "amin": (extreme("<"), ""), "argmax": (place_of(">"), "int64"), "argmin": (place_of("<"), "int64"),
    "var": (variance, "float64"), "std": (deviation, "float64"), "median": (median, "float64"),
    "any": (decided(True), "bool"), "all": (decided(False), "bool"), "nansum": (total, ""), "nanmean": (mean,
    "float64"),
    "nanmax": (extreme(">"), ""), "nanmin": (extreme("<"), ""),
}  # fmt: skip
"""The fold of each reduction, and its dtype where that is not the array's own."""


EXTREMES = {"max": True, "amax": True, "nanmax": True, "min": False, "amin": False, "nanmin": False}
"""Reductions to one of the values, and whether it is the largest."""


def reduce(
    run: Runtime, word: str, a: Value, axis: Value = None, dtype: Value = None, keepdims: Value = False
) -> Value:
    """A reduction by its name. Over all axes it gives a plain number."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    fold, own = FOLDS[word]
    kind = name_of(dtype) or own or array.dtype
    kind = "int64" if word in ("sum", "prod") and kind == "bool" else kind
    if isinstance(array.shape, Unknown):
        return make(array.shape, None, kind)
    rank = len(array.shape)
    wanted = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(axis_of(each, rank) for each in wanted)
    kept = [at for at in range(rank) if at not in axes]
    shape: Any = tuple(1 if at in axes else size for at, size in enumerate(array.shape))
    shape = shape if keepdims is True else tuple(array.shape[at] for at in kept)
    flat = flat_of(array)
    if flat is None:
        if word in EXTREMES and shape == () and array.classes:
            return cast(array.classes - 1 if EXTREMES[word] else 0, kind)
        if word == "argmax" and array.one_hot and axes == [rank - 1]:
            return Tensor(shape, kind, framework="numpy", classes=array.one_hot)
        made = make(shape, None, kind)
        return made if shape else Tensor((), kind, framework="numpy")
    run.spend(len(flat) // 4 + 1)
    groups: dict[tuple[int, ...], list[Value]] = {}
    for place, value in enumerate(flat):
        where = unravel(place, array.shape)
        groups.setdefault(tuple(where[at] for at in kept), []).append(value)
    results = [fold(run, members) for members in groups.values()] if groups else [fold(run, [])]
    if not own and not dtype and results:
        kind = common([kind, *map(dtype_of_value, results)])
    return plain(make(shape, results, kind))


def unravel(place: int, shape: Any) -> list[int]:
    """A place in the flat array as one for each axis."""
    where = []
    for size in reversed(shape):
        place, at = divmod(place, size)
        where.append(at)
    return where[::-1]


def cumulative(run: Runtime, a: Value, axis: Value, symbol: str) -> Value:
    """`cumsum` and `cumprod`: values for a vector, else the shape."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    flat = flat_of(array)
    if isinstance(array.shape, Unknown) or flat is None or (axis is not None and len(array.shape) > 1):
        if axis is None and not isinstance(array.shape, Unknown):
            return make((dims.product(array.shape),), None, array.dtype)
        return make(array.shape, None, array.dtype)
    results: list[Value] = []
    for value in flat:
        results.append(run.operate(symbol, results[-1], value) if results else value)
    return make((len(results),), results, array.dtype)


def differences(run: Runtime, a: Value, n: Value, axis: Value) -> Value:
    """`diff`: what neighbours differ by, values for a vector, else the shape."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown) or not isinstance(n, int) or not isinstance(axis, int) or array.dtype == "bool":
        return run.unknown("what the neighbours of an array differ by is not known")
    if not array.shape or not n >= 0 or not -len(array.shape) <= axis < len(array.shape):
        raise run.error("ValueError", "diff requires input that is at least one dimensional")
    flat = flat_of(array) if len(array.shape) == 1 else None
    if flat is not None:
        for _ in range(min(n, len(flat))):
            flat = [run.operate("-", after, before) for before, after in pairwise(flat)]
        return make((len(flat),), flat, array.dtype)
    shape = list(array.shape)
    length = shape[axis]
    if not isinstance(length, int):
        return run.unknown("what the neighbours of an array differ by is not known")
    shape[axis] = max(length - n, 0)
    return make(tuple(shape), None, array.dtype)
