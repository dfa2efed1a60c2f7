"""Reductions over axes, and what orders values."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import product
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import is_constant
from flake8_cnnmem.frameworks.keras.ops.elementwise import numeric
from flake8_cnnmem.frameworks.keras.ops.operands import apply, as_tensor, axis_number
from flake8_cnnmem.frameworks.keras.ops.shaping import reshape
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Reduce, Sort, TopK
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def reduce(
    run: Runtime, x: Value, axis: Any = None, keepdims: Value = False, *, kind: str, function: str = ""
) -> Value:
    """A reduction over axes (None: all), which stay as size 1 with `keepdims`; of known values a number."""
    axis = axis_number(axis)
    if not isinstance(x, (Tensor, Unknown)):
        x = as_tensor(run, x)
    if is_constant(x) and not keepdims and axis in (None, 0, -1, (0,)) and constants.depth(x.data) == 1:
        return numeric(reduced(run, x.data, kind))
    dtypes = ["int64"] if kind in ("argmax", "argmin", "argsort") else ["bool"] if kind in ("any", "all") else None
    return apply(
        run, Reduce(kind, axis, keepdims is True or keepdims == 1), x, function=function or kind, dtypes=dtypes
    )


def reduced(run: Runtime, data: tuple[Any, ...], kind: str) -> Value:
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


def top_k(run: Runtime, x: Value, k: Value = 1, sorted: Value = True) -> Value:
    """Values and indices of the k largest along the last axis: (..., k) each."""
    return apply(run, TopK(plain_size(k)), x, function="top_k", dtypes=["float", "int32"])


def sort(run: Runtime, x: Value, axis: Value = -1) -> Value:
    """`keras.ops.sort`: the input's shape; with an axis of None all values in one."""
    if axis is None:
        return sort(run, reshape(run, x, (-1,)))
    return apply(run, Sort(plain_size(axis), 1), x, function="sort")


def along(run: Runtime, x: Value, axis: Value = None, *, kind: str) -> Value:
    """A running sum or product, or the order of values, along an axis: the input's shape. Without an axis along all
    values, in one axis."""
    return reduce(run, reshape(run, x, (-1,)) if axis is None else x, 0 if axis is None else axis, kind=kind)


def moments(run: Runtime, x: Value, axes: Value = None, shift: Value = None, keepdims: Value = False) -> Value:
    """Mean and variance over axes."""
    return (
        reduce(run, x, axes, keepdims, kind="mean"),
        reduce(run, x, axes, keepdims, kind="var"),
    )
