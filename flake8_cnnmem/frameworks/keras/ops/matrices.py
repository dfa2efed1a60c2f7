"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import product
from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.ops.operands import apply, axis_number, shape_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Dot, Einsum, Matmul, Permute, Reshape, Transpose
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def matmul(run: Runtime, x: Value, y: Value, transpose_a: Value = False, transpose_b: Value = False) -> Value:
    """(..., n, k) by (..., k, m) to (..., n, m), either side transposed before it."""
    if transpose_a is True:
        x = apply(run, Transpose(-1, -2), x, function="transpose")
    if transpose_b is True:
        y = apply(run, Transpose(-1, -2), y, function="transpose")
    return apply(run, Matmul(), x, y, function="matmul")


def dot(run: Runtime, x: Value, y: Value) -> Value:
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


def batch_dot(run: Runtime, x: Value, y: Value, axes: Any = None) -> Value:
    """K.batch_dot: each sample's product, summed over one axis of each. Of tensors with other numbers of axes, three at
    least, Keras before 2.3 multiplied matrices along the axes that they share (keras 2.2.4, tensorflow_backend.py)."""
    left, right = shape_of(x), shape_of(y)
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) != len(right) > 2 < len(left):
        return run.unknown(f"what batch_dot of {len(left)} and {len(right)} axes gives depends on the version of Keras")
    axes = axis_number(axes)
    if axes is None and isinstance(left, tuple) and isinstance(right, tuple):
        axes = (len(left) - 1, len(right) - 2 if len(right) > 2 else len(right) - 1)
    if isinstance(axes, int):
        axes = (axes, axes)
    return apply(run, Dot(axes if axes is not None else -1), x, y, function="batch_dot")


def einsum(run: Runtime, equation: str, *inputs: Value) -> Value:
    """Products of tensors by an equation."""
    return apply(run, Einsum(equation), *inputs, function="einsum")


def tensordot(run: Runtime, x: Value, y: Value, axes: Any = 2) -> Value:
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


def outer(run: Runtime, x: Value, y: Value) -> Value:
    """Each value of x with each of y: (values of x, values of y)."""
    left, right = shape_of(x), shape_of(y)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return apply(run, Matmul(), x, y, function="outer")
    column = apply(run, Reshape((product(left), 1)), x, function="reshape")
    return apply(run, Broadcast("multiply"), column, apply(run, Reshape((1, product(right))), y, function="reshape"))
