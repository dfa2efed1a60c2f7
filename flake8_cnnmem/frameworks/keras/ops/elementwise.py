"""Computations on each value, of one tensor or of several that broadcast together."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant
from flake8_cnnmem.frameworks.keras.dtypes import tensor_dtype
from flake8_cnnmem.frameworks.keras.ops.operands import apply, is_scalar, known, listed
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Dropout, Elementwise, Normalise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def unary(run: Runtime, x: Value, *, kind: str, function: str = "") -> Value:
    """One tensor in, one of the same shape out."""
    if is_constant(x):
        host = constants.FUNCTIONS.get(kind)
        return constants.each(host, x) if host is not None else Tensor(x.shape, x.dtype, framework="keras")
    if isinstance(x, (Tensor, Unknown)):
        return run.apply(Elementwise(kind), x, function=function or kind, framework="keras")
    if isinstance(x, (int, float)) and kind in constants.FUNCTIONS:
        return constant(constants.FUNCTIONS[kind](x))
    if isinstance(x, (list, tuple)):
        return unary(run, constant(x), kind=kind, function=function)
    return run.unknown(f"{function or kind} of what is not a tensor")


def elementwise(run: Runtime, x: Value, function: str) -> Value:
    """A function whose name is that of its kind: one tensor in, one of the same shape out."""
    return unary(run, x, kind=function, function=function)


def numeric(value: Value) -> Value:
    """A number as the tensor that TensorFlow's functions make of it; anything else as it is."""
    return constant(value) if isinstance(value, (bool, int, float)) else value


SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip


COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical"})


def binary(run: Runtime, x: Value, y: Value, *, kind: str, function: str = "") -> Value:
    """Two tensors that broadcast together, or a tensor and a number."""
    x, y = listed(x), listed(y)
    if not isinstance(x, (Tensor, Unknown)) and not isinstance(y, (Tensor, Unknown)):
        if kind in SYMBOLS:
            return numeric(run.operate(SYMBOLS[kind], x, y))
        if kind in ("maximum", "minimum") and isinstance(x, (int, float)) and isinstance(y, (int, float)):
            return constant(max(x, y) if kind == "maximum" else min(x, y))
        return run.unknown(f"{function or kind} of plain values")
    if known(x) and known(y) and kind in SYMBOLS:
        return constants.compute(run, SYMBOLS[kind], x, y)
    dtypes = ["bool"] if kind in COMPARISONS else None
    scalar_right, scalar_left = is_scalar(y), is_scalar(x)
    if scalar_right and not isinstance(x, Unknown):
        return run.apply(
            Elementwise(WITH_NUMBER.get(kind, kind)), x, function=function or kind, dtypes=dtypes, framework="keras"
        )
    if scalar_left and not isinstance(y, Unknown):
        by_number = {"divide": "reciprocal", "power": "exp"}.get(kind, WITH_NUMBER.get(kind, kind))
        return run.apply(Elementwise(by_number), y, function=function or kind, dtypes=dtypes, framework="keras")
    if dtypes is None:
        dtypes = float_first(x, y)
    return apply(
        run, Broadcast("compare" if kind in COMPARISONS else kind), x, y, function=function or kind, dtypes=dtypes
    )


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


def variadic(run: Runtime, inputs: Value, *others: Value, kind: str, function: str = "") -> Value:
    """`tf.add_n([a, b])` and its like: any number of tensors, in a list or one by one, broadcast to one shape."""
    tensors = [*inputs, *others] if isinstance(inputs, (list, tuple)) else [inputs, *others]
    if len(tensors) == 1:
        return tensors[0]
    return apply(run, Broadcast(kind), *tensors, function=function or kind)


def where(run: Runtime, condition: Value, x: Value = None, y: Value = None) -> Value:
    """The values of x where the condition holds, else of y, in their broadcast shape."""
    if x is None:
        return run.unknown("which values a condition holds for is not known")
    tensors = [value for value in (condition, x, y) if isinstance(value, (Tensor, Unknown))]
    if not tensors:
        truth = run.truth(condition)
        return truth if isinstance(truth, Unknown) else numeric(x if truth else y)
    dtype = next((value.dtype for value in (x, y) if isinstance(value, Tensor)), "float")
    return apply(run, Broadcast("where"), *tensors, function="where", dtypes=[dtype])


def clip(run: Runtime, x: Value, low: Value = None, high: Value = None) -> Value:
    """The input's shape, no value below `low` or above `high`."""
    return unary(run, x, kind="clamp", function="clip")


def cast(run: Runtime, x: Value, dtype: Value = None) -> Value:
    """Floats stay floats of the model; a count that becomes a float is still the same number."""
    wanted = tensor_dtype(dtype)
    if isinstance(x, (bool, int, float)):
        integer = wanted.startswith(("int", "uint"))
        return constant(int(x) if integer else bool(x) if wanted == "bool" else float(x), wanted)
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


def identity(run: Runtime, x: Value) -> Value:
    """The tensor, through an op of its own."""
    if isinstance(x, Tensor) and not is_constant(x):
        return run.apply(Elementwise("identity"), x, function="identity", framework="keras")
    return x


def stop_gradient(run: Runtime, x: Value) -> Value:
    """The tensor, through which no gradient flows."""
    if isinstance(x, Tensor):
        return run.apply(Elementwise("detach"), x, function="stop_gradient", framework="keras")
    return x


def same(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
    """Gives its first argument on."""
    return x


def dropout(run: Runtime, x: Value, rate: Value = None, noise_shape: Value = None, keep_prob: Value = None) -> Value:
    """The input's shape, values dropped at a rate, or kept with `keep_prob` in TensorFlow 1."""
    if rate is None:
        rate = 1 - keep_prob if isinstance(keep_prob, (int, float)) else keep_prob
    p = rate if isinstance(rate, (int, float, Unknown)) else 0.5
    return apply(run, Dropout(p), x, function="dropout")


def normalize(run: Runtime, x: Value, axis: Value = None, order: Value = 2) -> Value:
    """The input's shape, divided by its norm along an axis."""
    return apply(run, Normalise(), x, function="normalize")
