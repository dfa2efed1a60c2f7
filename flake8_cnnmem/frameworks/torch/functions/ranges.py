"""Tensors whose values follow their places: arange, linspace, eye, windows, indices of triangles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.dims import Size, first_unknown, floor_divide, subtract
from flake8_cnnmem.frameworks.distances import note_range
from flake8_cnnmem.frameworks.torch.arguments import whole
from flake8_cnnmem.frameworks.torch.dtypes import dtype_made, kind
from flake8_cnnmem.frameworks.torch.functions.constants import LARGEST, Constant, constant, scalar
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def arange(run: Runtime, start: Value = 0, end: Value = None, step: Value = 1, *, dtype: Value = None) -> Value:
    """(ceil((end - start) / step),): int64 of whole numbers, else float; with its values where they are few."""
    if end is None:
        start, end = 0, start
    bounds = [number_of(value) for value in (start, end, step)]
    unknown = first_unknown(bound for bound in bounds if isinstance(bound, Unknown))
    floating = any(isinstance(bound, float) for bound in bounds)
    result = dtype_made(run, dtype, "float" if floating else "int64")
    if unknown is not None:
        made = Constant((unknown,), result)
        note_range(run, made, unknown, bounds[2])
        return made
    first, last, by = bounds
    if not isinstance(first, (int, float)) or not isinstance(last, (int, float)) or not isinstance(by, (int, float)):
        length: Size = subtract(whole(last), whole(first))
        return Constant((length if by == 1 else floor_divide(length, whole(by)),), result)
    if not by:
        raise run.error("RuntimeError", "step must be nonzero")
    count = max(0, math.ceil((last - first) / by))
    if count > LARGEST:
        return Constant((count,), result)
    values = [first + at * by for at in range(count)]
    return constant((count,), [float(v) for v in values] if kind(result) == 2 else values, result)


def number_of(value: Value) -> Value:
    """A bound as a number, a multiple of the batch, or Unknown."""
    if isinstance(value, Tensor):
        number = scalar(value)
        return number if number is not None else Unknown("a bound is computed from a tensor's values")
    return value


def linspace(
    run: Runtime,
    start: Value,
    end: Value,
    steps: Value,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    """(steps,), float unless a dtype is said."""
    first, last, count = number_of(start), number_of(end), whole(number_of(steps))
    result = dtype_made(run, dtype)
    if not isinstance(count, int) or count < 0 or count > LARGEST:
        return Constant((count,), result)
    if not isinstance(first, (int, float)) or not isinstance(last, (int, float)):
        return Constant((count,), result)
    by = (last - first) / (count - 1) if count > 1 else 0.0
    # Counted from both ends, as the kernel does it, so that the last value is exact.
    values = [first + by * at if at < count / 2 else last - by * (count - 1 - at) for at in range(count)]
    if count == 1:
        values = [float(first)]
    return constant((count,), values, result)


@define("torch.logspace")
def logspace(run: Runtime, start: Value, end: Value, steps: Value, base: Value = 10.0, **options: Value) -> Value:
    """(steps,), float unless a dtype is said."""
    return Constant((whole(number_of(steps)),), dtype_made(run, options.get("dtype")))


@define("torch.eye")
def eye(run: Runtime, n: Value, m: Value = None, **options: Value) -> Value:
    """(n, m), m as n where it is not said."""
    rows, columns = whole(n), whole(n if m is None else m)
    result = dtype_made(run, options.get("dtype"))
    if not isinstance(rows, int) or not isinstance(columns, int):
        return Constant((rows, columns), result)
    if 0 <= rows * columns <= LARGEST:
        as_value: Callable[[bool], Any] = bool if result == "bool" else float
        values = [as_value(row == column) for row in range(rows) for column in range(columns)]
        return constant((rows, columns), values, result)
    return Constant((rows, columns), result, true=min(rows, columns))


@define("torch.hamming_window", "torch.kaiser_window")
def hamming_window(
    run: Runtime,
    window_length: Value,
    periodic: Value = True,
    alpha: Value = 0.54,
    beta: Value = 0.46,
    **options: Value,
) -> Value:
    """`torch.hamming_window`, `torch.kaiser_window`: (window_length,)."""
    return Constant((whole(window_length),), dtype_made(run, options.get("dtype")))


def _declare_window(name: str) -> None:
    def function(run: Runtime, window_length: Value, periodic: Value = True, **options: Value) -> Value:
        return Constant((whole(window_length),), dtype_made(run, options.get("dtype")))

    define(f"torch.{name}")(function)


for _name in ("hann_window", "blackman_window", "bartlett_window"):
    _declare_window(_name)


@define("torch.tril_indices", "torch.triu_indices")
def tril_indices(run: Runtime, row: Value, col: Value, offset: Value = 0, **options: Value) -> Value:
    """(2, places), int64: how many places is not worked out."""
    return Constant((2, run.unknown("how many places a triangle has is not worked out")), "int64")
