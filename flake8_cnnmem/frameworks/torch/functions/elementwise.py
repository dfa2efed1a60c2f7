"""Functions of one tensor whose result has its shape: mathematics and activations, with their in-place forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.torch.applying import apply, refuse_leaf, tensor_of
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, kind, real_dtype
from flake8_cnnmem.frameworks.torch.functions.constants import (
    Constant,
    broadcast_data,
    constant,
    flat,
    value_as,
    with_largest,
)
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast, Elementwise, PRelu
from flake8_cnnmem.ops.base import axis_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, rewrite
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

Numbers = Callable[[Any], Any]


def unary(
    run: Runtime, op_kind: str, input: Value, function: str = "", inplace: Value = False, dtype: str = ""
) -> Value:
    """An elementwise op. In place it is written into the input; what is written into a parameter is that parameter."""
    in_place = inplace is True
    if in_place and isinstance(input, Weight):
        refuse_leaf(run, input)
        lose(run, input)
        return input
    result_dtype = dtype or (input.dtype if isinstance(input, Tensor) else "float")
    return apply(run, Elementwise(op_kind, in_place), input, function=function or op_kind, dtype=result_dtype)


def calculated(input: Value, function: Numbers | None, dtype: str) -> Constant | None:
    """The function of a constant whose values are known, itself a constant."""
    if function is None or not isinstance(input, Tensor) or input.data is None or isinstance(input.shape, Unknown):
        return None
    values = broadcast_data(function, input.shape, input)
    return None if values is None else constant(input.shape, values, dtype)


def stored(run: Runtime, input: Value, known: Constant, inplace: Value) -> Tensor:
    """A known result; in place it is written into the input, in the dtype of that."""
    if inplace is not True or not isinstance(input, Tensor) or input.shape != known.shape:
        return known
    values = [value_as(value, input.dtype) for value in flat(known) or ()]
    rewrite(run, input, constant(known.shape, values, input.dtype).data if isinstance(known.shape, tuple) else None)
    return input


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
    "resolve_conj": "identity", "conj": "conj",
}  # fmt: skip
"""The op's kind where it is not the function's own name."""

OF_PARTS = ("abs", "absolute", "angle")
"""Real numbers of complex ones."""

HOST: dict[str, Numbers | None] = {**FLOATING, **KEEPING, **LOGICAL}


def elementwise(run: Runtime, input: Value, function: str, inplace: Value = False) -> Value:
    """A function of each value of a tensor of any shape, by torch's name of it ("exp", in place "exp_")."""
    name = function.removesuffix("_")
    dtype = input.dtype if isinstance(input, Tensor) else "float"
    if name in LOGICAL:
        dtype = "bool"
    elif name in OF_PARTS:
        dtype = real_dtype(input)
    elif name in FLOATING and kind(dtype) < kind("float"):
        dtype = "float"
    known = None if inplace is True and isinstance(input, Weight) else calculated(input, HOST.get(name), dtype)
    if known is not None:
        return stored(run, input, known, inplace)
    return unary(run, KINDS.get(name, name), input, function, inplace, "" if inplace is True else dtype)


def rounded(run: Runtime, input: Value, function: str, decimals: Value = 0, inplace: Value = False) -> Value:
    """`torch.round`: whole numbers, or as many decimals."""
    whole = _round if decimals == 0 and not inplace else None
    known = calculated(input, whole, input.dtype if isinstance(input, Tensor) else "")
    return known if known is not None else unary(run, "round", input, function, inplace)


def clamp(run: Runtime, input: Value, min: Value = None, max: Value = None, inplace: Value = False) -> Value:
    """The values of a tensor of any shape, none below `min` and none above `max`; None stands for no bound."""

    def number(x: Any) -> Any:
        x = x if min is None or x > min else min
        return x if max is None or x < max else max

    numbers = all(bound is None or isinstance(bound, (int, float)) for bound in (min, max))
    if numbers and isinstance(input, Tensor) and not isinstance(input, Weight):
        known = calculated(input, number, input.dtype)
        if known is not None:
            return stored(run, input, known, inplace)
    kind = "clamp" if min is not None and max is not None else "clamp_one"
    bounds = [bound for bound in (min, max) if isinstance(bound, Tensor) and bound.shape != ()]
    if bounds and not isinstance(input, Weight):
        return apply(run, Broadcast(kind, inplace is True), input, *bounds, function="clamp")
    made = unary(run, kind, input, "clamp_" if inplace else "clamp", inplace)
    return with_largest(made, input, number) if numbers else made


def softsign(run: Runtime, input: Value) -> Value:
    """x / (1 + |x|), in three steps."""
    magnitude = unary(run, "abs", input)
    return run.operate("/", input, unary(run, "shift", magnitude, "add"))


def tanhshrink(run: Runtime, input: Value) -> Value:
    """x - tanh(x), in two steps."""
    return run.operate("-", input, unary(run, "tanh", input))


@dataclass(frozen=True, slots=True)
class Along(Elementwise):
    """One that works along an axis, which its input has to have."""

    axis: Value = None

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch where it has no such axis."""
        axis_of(self.axis, max(len(inputs[0]), 1))
        return (inputs[0],)


def along_axis(run: Runtime, name: str, input: Value, dtype: Value, dim: Value = None) -> Value:
    """Softmax and its like. A `dtype` casts the input first."""
    input = tensor_of(input)
    wanted = dtype_of(dtype, "")
    own = input.dtype if isinstance(input, Tensor) else "float"
    if wanted and wanted != own:
        input = apply(run, Elementwise("cast"), input, function="to", dtype=wanted)
        own = wanted
    shape = input.shape if isinstance(input, Tensor) else None
    if isinstance(shape, tuple) and isinstance(dim, int) and not -max(len(shape), 1) <= dim < max(len(shape), 1):
        return apply(run, Along(name, axis=dim), input, function=name, dtype=own)
    return unary(run, name, input, dtype=own)


def softmin(run: Runtime, input: Value, dtype: Value = None) -> Value:
    """softmax(-x)."""
    return along_axis(run, "softmax", unary(run, "neg", input), dtype)


def prelu(run: Runtime, input: Value, weight: Value) -> Value:
    """max(0, x) + weight * min(0, x): the weight has one slope (1,), or one for each channel."""
    slopes = weight.shape[0] if isinstance(weight, Tensor) and isinstance(weight.shape, tuple) and weight.shape else 1
    return apply(run, PRelu(slopes), input, weights=[weight], function="prelu")
