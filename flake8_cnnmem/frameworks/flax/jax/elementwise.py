"""Functions of each value: jax.numpy's arithmetic, jax.nn's activations, casts and choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.frameworks.flax.arrays import (
    apply,
    as_array,
    dtype_named,
    floating,
    is_constant,
    is_symbolic,
    on_host,
    plain,
    promoted,
)
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import GLU, Broadcast, Elementwise, OneHot
from flake8_cnnmem.ops.base import extent
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

NUMPY: dict[str, Value] = {}
"""`jax.numpy`, as far as it is followed."""

ACTIVATIONS: dict[str, Value] = {}
"""Those of `jax.nn`, which flax.linen and flax.nnx have as well."""


def define(table: dict[str, Value], *names: str, host: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Enter a function under these names. With `host` numpy computes what it is told of known values alone."""

    def enter(body: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            table[name] = Native(name, known_first(name, body) if host else body, propagate_unknown=host)
        return body

    return enter


def known_first(name: str, body: Callable[..., Value]) -> Callable[..., Value]:
    """A function that works out values where all arguments are known, and notes an op where they are not."""

    def run_it(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        if is_symbolic(args) or is_symbolic(list(kwargs.values())):
            return body(run, *args, **kwargs)
        return on_host(run, name, args, kwargs)

    return run_it


UNARY = {
    "abs": "abs", "absolute": "abs", "exp": "exp", "exp2": "exp", "expm1": "exp", "log": "log", "log2": "log",
    "log10": "log", "log1p": "log1p", "sqrt": "sqrt", "square": "square", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "arctanh": "atanh", "negative": "neg", "sign": "sign", "floor": "floor", "ceil": "ceil", "round": "round",
    "rint": "round", "reciprocal": "reciprocal", "cbrt": "pow", "deg2rad": "scale", "rad2deg": "scale", "conj": "conj",
    "nan_to_num": "nan_to_num", "positive": "identity", "fix": "floor", "trunc": "floor", "sinc": "sin", "copy": "copy",
    "acos": "acos", "asin": "asin", "atan": "atan", "arccosh": "acosh", "arcsinh": "asinh", "degrees": "scale",
    "radians": "scale", "angle": "angle", "real": "identity", "conjugate": "conj", "around": "round", "fabs": "abs",
}  # fmt: skip
"""Functions of jax.numpy with one array, and the kind of op that each is."""

TESTS = ("isnan", "isinf", "isfinite", "logical_not", "invert", "bitwise_not", "signbit", "isposinf", "isneginf")

FRACTIONS = frozenset(
    {"exp", "log", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "atanh",
     "reciprocal", "pow", "scale"}
)  # fmt: skip
"""Kinds that give fractions of whole numbers."""


def unary(run: Runtime, x: Value, *, kind: str, name: str) -> Value:
    """One array in, one of the same shape out."""
    dtypes = [floating(x)] if kind in FRACTIONS else None
    return apply(run, Elementwise(kind), x, function=name, dtypes=dtypes)


def declare_unary(name: str, kind: str) -> None:
    """Enter a function of each value, by the kind of its op."""

    @define(NUMPY, name, host=True)
    def function(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
        return unary(run, x, kind=kind, name=name)


def declare_test(name: str) -> None:
    """Enter a function of each value that gives bools."""

    @define(NUMPY, name, host=True)
    def function(run: Runtime, x: Value) -> Value:
        return apply(run, Elementwise("compare"), x, function=name, dtypes=["bool"])


for _name, _kind in UNARY.items():
    declare_unary(_name, _kind)
for _name in TESTS:
    declare_test(_name)

BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide",
    "floor_divide": "floor_divide", "remainder": "remainder", "mod": "remainder", "power": "power", "pow": "power",
    "float_power": "power", "maximum": "maximum", "minimum": "minimum", "fmax": "maximum", "fmin": "minimum",
    "arctan2": "atan2",
    "atan2": "atan2", "copysign": "multiply", "fmod": "remainder",
    "hypot": "hypot", "logaddexp": "logaddexp", "bitwise_and": "logical", "bitwise_or": "logical",
    "bitwise_xor": "logical", "left_shift": "multiply", "right_shift": "floor_divide",
}  # fmt: skip

COMPARISONS = (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
    "isclose",
)  # fmt: skip

WITH_NUMBER = {
    "add": "shift", "subtract": "shift", "multiply": "scale", "divide": "scale", "power": "pow", "maximum": "clamp",
    "minimum": "clamp",
}  # fmt: skip
"""The op that arithmetic with a number is."""


def is_number(value: Value) -> bool:
    """Whether a value is one number, whose shape gives way to the other operand's."""
    if isinstance(value, Tensor):
        return is_constant(value) and value.shape == ()
    return not isinstance(value, (Unknown, list, tuple))


def binary(run: Runtime, x: Value, y: Value, *, kind: str, name: str = "", dtype: str = "") -> Value:
    """Two arrays that broadcast together, or an array and a number."""
    found = dtype or (floating(x, y) if kind in ("divide", "atan2", "hypot", "logaddexp") else promoted(x, y))
    if kind != "compare" and any(isinstance(each, float) for each in (x, y)):
        found = floating(x, y)
    for one, other in ((x, y), (y, x)):
        if is_number(other) and isinstance(one, (Tensor, Unknown)):
            return apply(run, Elementwise(WITH_NUMBER.get(kind, kind)), one, function=name or kind, dtypes=[found])
    return apply(run, Broadcast(kind), x, y, function=name or kind, dtypes=[found])


def declare_binary(name: str, kind: str, dtype: str = "") -> None:
    """Enter a function of two arrays that broadcast, by the kind of its op."""

    @define(NUMPY, name, host=True)
    def function(run: Runtime, x: Value, y: Value, *args: Value, **kwargs: Value) -> Value:
        return binary(run, x, y, kind=kind, name=name, dtype=dtype)


for _name, _kind in BINARY.items():
    declare_binary(_name, _kind)
for _name in COMPARISONS:
    declare_binary(_name, "compare", "bool")


@define(NUMPY, "clip", host=True)
def clip(run: Runtime, arr: Value, min: Value = None, max: Value = None, **options: Value) -> Value:
    """`jnp.clip(arr, min, max)`: the input's shape."""
    return apply(run, Elementwise("clamp"), arr, function="clip")


@define(NUMPY, "where")
def where(run: Runtime, condition: Value, x: Value = None, y: Value = None, **options: Value) -> Value:
    """`jnp.where(condition, x, y)`: their broadcast shape; alone, how many hold is not known."""
    if x is None:
        return run.unknown("which values a condition holds for is not known")
    if not is_symbolic((condition, x, y)) and not any(isinstance(each, Unknown) for each in (condition, x, y)):
        return on_host(run, "where", (condition, x, y), {})
    given = [each for each in (condition, x, y) if not is_number(each)]
    return apply(run, Broadcast("where"), *given, function="where", dtypes=[promoted(x, y)])


def cast(run: Runtime, x: Value, dtype: Value) -> Value:
    """`x.astype(dtype)`."""
    array = as_array(run, x)
    if isinstance(array, Unknown):
        return array
    wanted = dtype if isinstance(dtype, str) and dtype == "float" else dtype_named(dtype, array.dtype)
    if array.dtype == wanted:
        return array
    if is_constant(array):
        return Tensor(array.shape, wanted, data=array.data, framework=array.framework)
    return apply(run, Elementwise("cast"), array, function="astype", dtypes=[wanted])


@define(NUMPY, "astype")
def astype(run: Runtime, x: Value, dtype: Value = None, **options: Value) -> Value:
    """`jnp.astype(x, dtype)`."""
    return cast(run, x, dtype)


# --- jax.nn -----------------------------------------------------------------------------------------------------------

KINDS = {
    "relu": "relu", "relu6": "relu6", "sigmoid": "sigmoid", "softplus": "softplus", "sparse_plus": "softplus",
    "silu": "silu", "swish": "silu", "log_sigmoid": "log_sigmoid", "elu": "elu", "selu": "selu", "celu": "celu",
    "gelu": "gelu", "leaky_relu": "leaky_relu", "hard_tanh": "hardtanh", "hard_sigmoid": "hardsigmoid",
    "hard_silu": "hardswish", "hard_swish": "hardswish", "soft_sign": "softsign", "squareplus": "softplus",
    "mish": "mish", "softmax": "softmax", "log_softmax": "log_softmax", "standardize": "normalize", "tanh": "tanh",
    "identity": "identity", "sparse_sigmoid": "sparse_sigmoid",
}  # fmt: skip


def declare_activation(name: str, kind: str) -> None:
    """Enter a function of `jax.nn`, by the kind of its op."""

    @define(ACTIVATIONS, name)
    def function(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
        return apply(run, Elementwise(kind), x, function=name, dtypes=[floating(x)])


for _name, _kind in KINDS.items():
    declare_activation(_name, _kind)


@define(ACTIVATIONS, "glu")
def glu(run: Runtime, x: Value, axis: Value = -1) -> Value:
    """(..., 2 C) to (..., C)."""
    return apply(run, GLU(plain(axis)), x, function="glu")


@define(ACTIVATIONS, "one_hot")
def one_hot(run: Runtime, x: Value, num_classes: Value, *, dtype: Value = None, axis: Value = -1) -> Value:
    """Indices (...) to (..., num_classes)."""
    count = plain(num_classes)
    size = count if isinstance(count, Unknown) else extent(count)
    return apply(run, OneHot(size, plain(axis)), x, function="one_hot", dtypes=[dtype_named(dtype)])


# --- operators --------------------------------------------------------------------------------------------------------

OPERATORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
    "&": "logical", "|": "logical", "^": "logical",
}  # fmt: skip
COMPARING = ("<", "<=", ">", ">=", "==", "!=")
SIGNS = {"neg": "negative", "~": "invert", "invert": "invert", "abs": "abs"}


def operate(run: Runtime, symbol: str, left: Value, right: Value) -> Value:
    """A binary operator with an array on either side, or a unary one with the right side None."""
    from flake8_cnnmem.frameworks.flax.jax.products import matmul

    if symbol == "pos":
        return left
    if symbol in SIGNS:
        return run.call(NUMPY[SIGNS[symbol]], left)
    if symbol.endswith("=") and symbol not in COMPARING:
        symbol = symbol[:-1]
    if symbol in ("==", "!=") and any(each is None or isinstance(each, str) for each in (left, right)):
        return symbol == "!="
    if symbol == "@":
        return matmul(run, left, right)
    kind = "compare" if symbol in COMPARING else OPERATORS.get(symbol, "")
    if not kind:
        return run.unknown(f"{symbol!r} of an array is not followed")
    if not is_symbolic((left, right)) and not any(isinstance(each, Unknown) for each in (left, right)):
        names = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal",
                 "!=": "not_equal", "&": "logical_and", "|": "logical_or", "^": "logical_xor"}  # fmt: skip
        return on_host(run, names.get(symbol, OPERATORS.get(symbol, "")), (left, right), {})
    return binary(run, left, right, kind=kind, dtype="bool" if kind == "compare" else "")
