"""Functions of one tensor whose result has its shape: mathematics and activations, with their in-place forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.frameworks.torch.applying import apply, kind, tensor_of
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, real_dtype
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, broadcast_data, constant
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import GLU, Elementwise, PRelu
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Runtime, Value

Numbers = Callable[[Any], Any]


def unary(
    run: Runtime, op_kind: str, input: Value, function: str = "", inplace: Value = False, dtype: str = ""
) -> Value:
    """An elementwise op. In place it is written into the input; what is written into a parameter is that parameter."""
    in_place = inplace is True
    if in_place and isinstance(input, Weight):
        input.data = None
        return input
    result_dtype = dtype or (input.dtype if isinstance(input, Tensor) else "float")
    return apply(run, Elementwise(op_kind, in_place), input, function=function or op_kind, dtype=result_dtype)


def calculated(input: Value, function: Numbers | None, dtype: str) -> Constant | None:
    """The function of a constant whose values are known, itself a constant."""
    if function is None or not isinstance(input, Tensor) or input.data is None or isinstance(input.shape, Unknown):
        return None
    values = broadcast_data(function, input.shape, input)
    return None if values is None else constant(input.shape, values, dtype)


def _round(value: Any) -> Any:
    return float(round(value)) if isinstance(value, float) else value


FLOATING: dict[str, Numbers | None] = {
    "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1, "log": math.log, "log2": math.log2,
    "log10": math.log10, "log1p": math.log1p, "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "asinh": None, "acosh": None, "atanh": math.atanh, "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "erf": math.erf, "erfc": math.erfc, "erfinv": None,
    "reciprocal": lambda x: 1 / x, "lgamma": math.lgamma, "digamma": None, "sinc": None, "i0": None,
    "deg2rad": math.radians, "rad2deg": math.degrees, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
}  # fmt: skip
"""Their result is floating, whatever the input."""

KEEPING: dict[str, Numbers | None] = {
    "abs": abs, "absolute": abs, "neg": lambda x: -x, "negative": lambda x: -x, "positive": lambda x: +x,
    "square": lambda x: x * x, "sign": lambda x: (x > 0) - (x < 0), "sgn": lambda x: (x > 0) - (x < 0),
    "floor": lambda x: float(math.floor(x)) if isinstance(x, float) else x,
    "ceil": lambda x: float(math.ceil(x)) if isinstance(x, float) else x,
    "trunc": lambda x: float(math.trunc(x)) if isinstance(x, float) else x,
    "fix": lambda x: float(math.trunc(x)) if isinstance(x, float) else x,
    "frac": lambda x: x - math.trunc(x), "bitwise_not": lambda x: (not x) if isinstance(x, bool) else ~x,
    "relu": lambda x: max(x, 0), "conj": None, "angle": None, "resolve_conj": None,
}  # fmt: skip
LOGICAL: dict[str, Numbers | None] = {
    "logical_not": lambda x: not x, "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
    "signbit": lambda x: x < 0, "isreal": lambda x: True,
}  # fmt: skip

KINDS = {
    "absolute": "abs", "negative": "neg", "positive": "identity", "fix": "trunc", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "square": "pow", "sgn": "sign", "deg2rad": "scale", "rad2deg": "scale",
    "resolve_conj": "identity", "conj": "identity",
}  # fmt: skip
"""The op's kind where it is not the function's own name."""

OF_PARTS = ("abs", "absolute", "angle")
"""Real numbers of complex ones."""

WITHOUT_IN_PLACE = {"positive", "isnan", "isinf", "isfinite", "signbit", "isreal", "conj", "angle", "resolve_conj"}


def _declare(name: str, function: Numbers | None, result: str) -> None:
    op_kind = KINDS.get(name, name)

    def dtype_for(input: Value) -> str:
        own = input.dtype if isinstance(input, Tensor) else "float"
        if result == "bool":
            return "bool"
        if name in OF_PARTS:
            return real_dtype(input)
        return "float" if result == "float" and kind(own) < kind("float") else own

    def plain(run: Runtime, input: Value) -> Value:
        dtype = dtype_for(input)
        known = calculated(input, function, dtype)
        return known if known is not None else unary(run, op_kind, input, name, dtype=dtype)

    define(f"torch.{name}", f"tensor.{name}")(plain)
    if name in WITHOUT_IN_PLACE:
        return

    def written(run: Runtime, input: Value) -> Value:
        known = None if isinstance(input, Weight) else calculated(input, function, dtype_for(input))
        return known if known is not None else unary(run, op_kind, input, f"{name}_", inplace=True)

    define(f"torch.{name}_", f"tensor.{name}_")(written)


for _result, _table in (("float", FLOATING), ("same", KEEPING), ("bool", LOGICAL)):
    for _name, _function in _table.items():
        _declare(_name, _function, _result)


@define("torch.round", "tensor.round")
def round_(run: Runtime, input: Value, *, decimals: Value = 0) -> Value:
    known = calculated(input, _round if decimals == 0 else None, input.dtype if isinstance(input, Tensor) else "")
    return known if known is not None else unary(run, "round", input)


@define("tensor.round_")
def round_in_place(run: Runtime, input: Value, *, decimals: Value = 0) -> Value:
    return unary(run, "round", input, "round_", inplace=True)


@define("torch.nan_to_num", "tensor.nan_to_num")
def nan_to_num(run: Runtime, input: Value, nan: Value = None, posinf: Value = None, neginf: Value = None) -> Value:
    return unary(run, "nan_to_num", input)


@define("torch.logit", "tensor.logit")
def logit(run: Runtime, input: Value, eps: Value = None) -> Value:
    return unary(run, "logit", input)


@define("torch.clamp", "tensor.clamp", "torch.clip", "tensor.clip")
def clamp(run: Runtime, input: Value, min: Value = None, max: Value = None) -> Value:
    return _clamp(run, input, min, max, False)


@define("tensor.clamp_", "torch.clamp_", "tensor.clip_")
def clamp_in_place(run: Runtime, input: Value, min: Value = None, max: Value = None) -> Value:
    return _clamp(run, input, min, max, True)


def _clamp(run: Runtime, input: Value, least: Value, most: Value, inplace: bool) -> Value:
    def number(x: Any) -> Any:
        x = x if least is None or x > least else least
        return x if most is None or x < most else most

    numbers = all(bound is None or isinstance(bound, (int, float)) for bound in (least, most))
    if numbers and isinstance(input, Tensor) and not isinstance(input, Weight):
        known = calculated(input, number, input.dtype)
        if known is not None:
            return known
    kind = "clamp" if least is not None and most is not None else "clamp_one"
    return unary(run, kind, input, "clamp_" if inplace else "clamp", inplace)


@define("torch.clamp_min", "tensor.clamp_min")
def clamp_min(run: Runtime, input: Value, min: Value) -> Value:
    return _clamp(run, input, min, None, False)


@define("torch.clamp_max", "tensor.clamp_max")
def clamp_max(run: Runtime, input: Value, max: Value) -> Value:
    return _clamp(run, input, None, max, False)


@define("tensor.clamp_min_", "torch.clamp_min_")
def clamp_min_in_place(run: Runtime, input: Value, min: Value) -> Value:
    return _clamp(run, input, min, None, True)


@define("tensor.clamp_max_", "torch.clamp_max_")
def clamp_max_in_place(run: Runtime, input: Value, max: Value) -> Value:
    return _clamp(run, input, None, max, True)


# Activations.


@define("functional.relu")
def relu(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "relu", input, inplace=inplace)


@define("functional.relu6")
def relu6(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "relu6", input, inplace=inplace)


@define("functional.silu")
def silu(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "silu", input, inplace=inplace)


@define("functional.mish")
def mish(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "mish", input, inplace=inplace)


@define("functional.hardswish")
def hardswish(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "hardswish", input, inplace=inplace)


@define("functional.hardsigmoid")
def hardsigmoid(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "hardsigmoid", input, inplace=inplace)


@define("functional.hardtanh")
def hardtanh(run: Runtime, input: Value, min_val: Value = -1.0, max_val: Value = 1.0, inplace: Value = False) -> Value:
    return unary(run, "hardtanh", input, inplace=inplace)


@define("functional.leaky_relu")
def leaky_relu(run: Runtime, input: Value, negative_slope: Value = 0.01, inplace: Value = False) -> Value:
    return unary(run, "leaky_relu", input, inplace=inplace)


@define("functional.elu")
def elu(run: Runtime, input: Value, alpha: Value = 1.0, inplace: Value = False) -> Value:
    return unary(run, "elu", input, inplace=inplace)


@define("functional.selu")
def selu(run: Runtime, input: Value, inplace: Value = False) -> Value:
    return unary(run, "selu", input, inplace=inplace)


@define("functional.celu")
def celu(run: Runtime, input: Value, alpha: Value = 1.0, inplace: Value = False) -> Value:
    return unary(run, "celu", input, inplace=inplace)


@define("functional.threshold")
def threshold(run: Runtime, input: Value, threshold: Value, value: Value, inplace: Value = False) -> Value:
    return unary(run, "threshold", input, inplace=inplace)


@define("functional.rrelu")
def rrelu(
    run: Runtime,
    input: Value,
    lower: Value = 1 / 8,
    upper: Value = 1 / 3,
    training: Value = False,
    inplace: Value = False,
) -> Value:
    return unary(run, "rrelu", input, inplace=inplace)


@define("functional.gelu")
def gelu(run: Runtime, input: Value, approximate: Value = "none") -> Value:
    return unary(run, "gelu", input)


@define("functional.softplus")
def softplus(run: Runtime, input: Value, beta: Value = 1, threshold: Value = 20) -> Value:
    return unary(run, "softplus", input)


@define("functional.logsigmoid")
def logsigmoid(run: Runtime, input: Value) -> Value:
    return unary(run, "logsigmoid", input)


@define("functional.sigmoid")
def sigmoid(run: Runtime, input: Value) -> Value:
    return unary(run, "sigmoid", input)


@define("functional.tanh")
def tanh(run: Runtime, input: Value) -> Value:
    return unary(run, "tanh", input)


@define("functional.hardshrink", "torch.hardshrink", "tensor.hardshrink")
def hardshrink(run: Runtime, input: Value, lambd: Value = 0.5) -> Value:
    return unary(run, "hardshrink", input)


@define("functional.softshrink")
def softshrink(run: Runtime, input: Value, lambd: Value = 0.5) -> Value:
    return unary(run, "softshrink", input)


@define("functional.softsign")
def softsign(run: Runtime, input: Value) -> Value:
    magnitude = unary(run, "abs", input)
    return run.operate("/", input, unary(run, "shift", magnitude, "add"))


@define("functional.tanhshrink")
def tanhshrink(run: Runtime, input: Value) -> Value:
    return run.operate("-", input, unary(run, "tanh", input))


def _declare_in_place(name: str, method: bool) -> None:
    """`F.relu_(x)`, `torch.relu_(x)`, `x.relu_()`."""

    def written(run: Runtime, input: Value, *options: Value, **named: Value) -> Value:
        return unary(run, name, input, f"{name}_", inplace=True)

    places = [f"functional.{name}_"] if name not in ("silu", "mish", "hardswish") else []
    if method:
        places += [f"tensor.{name}_"]
    if name in ("celu", "selu", "rrelu", "threshold"):
        places += [f"torch.{name}_"]
    if places:
        define(*places)(written)


for _name in ("leaky_relu", "elu", "selu", "celu", "hardtanh", "threshold", "rrelu", "relu"):
    _declare_in_place(_name, False)


@define("torch.selu")
def torch_selu(run: Runtime, input: Value) -> Value:
    return unary(run, "selu", input)


@define("torch.celu")
def torch_celu(run: Runtime, input: Value, alpha: Value = 1.0) -> Value:
    return unary(run, "celu", input)


@define("torch.rrelu")
def torch_rrelu(
    run: Runtime,
    input: Value,
    lower: Value = 1 / 8,
    upper: Value = 1 / 3,
    training: Value = False,
    generator: Value = None,
) -> Value:
    return unary(run, "rrelu", input)


@define("torch.threshold")
def torch_threshold(run: Runtime, input: Value, threshold: Value, value: Value) -> Value:
    return unary(run, "threshold", input)


def along_axis(run: Runtime, name: str, input: Value, dtype: Value) -> Value:
    """Softmax and its like. A `dtype` casts the input first."""
    input = tensor_of(input)
    wanted = dtype_of(dtype, "")
    own = input.dtype if isinstance(input, Tensor) else "float"
    if wanted and wanted != own:
        input = apply(run, Elementwise("cast"), input, function="to", dtype=wanted)
        own = wanted
    return unary(run, name, input, dtype=own)


@define("functional.softmax")
def softmax(run: Runtime, input: Value, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> Value:
    return along_axis(run, "softmax", input, dtype)


@define("functional.log_softmax")
def log_softmax(run: Runtime, input: Value, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> Value:
    return along_axis(run, "log_softmax", input, dtype)


@define("functional.softmin")
def softmin(run: Runtime, input: Value, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> Value:
    return along_axis(run, "softmax", unary(run, "neg", input), dtype)


@define("torch.softmax", "tensor.softmax")
def torch_softmax(run: Runtime, input: Value, dim: Value, dtype: Value = None) -> Value:
    return along_axis(run, "softmax", input, dtype)


@define("torch.log_softmax", "tensor.log_softmax")
def torch_log_softmax(run: Runtime, input: Value, dim: Value, dtype: Value = None) -> Value:
    return along_axis(run, "log_softmax", input, dtype)


@define("functional.gumbel_softmax")
def gumbel_softmax(
    run: Runtime, logits: Value, tau: Value = 1, hard: Value = False, eps: Value = 1e-10, dim: Value = -1
) -> Value:
    noisy = unary(run, "scale", unary(run, "shift", logits, "add"), "div")
    return unary(run, "softmax", noisy)


@define("functional.glu")
def glu(run: Runtime, input: Value, dim: Value = -1) -> Value:
    return apply(run, GLU(dim), input, function="glu")


@define("functional.prelu", "torch.prelu", "tensor.prelu")
def prelu(run: Runtime, input: Value, weight: Value) -> Value:
    slopes = weight.shape[0] if isinstance(weight, Tensor) and isinstance(weight.shape, tuple) and weight.shape else 1
    return apply(run, PRelu(slopes), input, weights=[weight], function="prelu")
