"""torch.nn.init: other values in the same parameters."""

from __future__ import annotations

import math

from flake8_cnnmem.dims import Size, multiply, product
from flake8_cnnmem.frameworks.torch.applying import tensor_of
from flake8_cnnmem.frameworks.torch.functions.creation import refilled
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

NAMES = (
    "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_", "xavier_uniform_",
    "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_", "uniform", "normal",
    "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal",
    "sparse", "_no_grad_trunc_normal_", "_no_grad_normal_", "_no_grad_uniform_", "_no_grad_fill_",
)  # fmt: skip

BY_FANS = ("xavier", "kaiming")
"""What the names of those begin with that ask for the fan in and out."""

GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def filled(run: Runtime, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    """An initializer that fills a tensor in place, without a gradient, and gives it."""
    before, run.grad_enabled = run.grad_enabled, False
    try:
        return refilled(run, tensor)
    finally:
        run.grad_enabled = before


def by_fans(run: Runtime, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    """One that asks for the fan in or out, or for rows and columns: ValueError for a vector."""
    fans(run, tensor)
    return filled(run, tensor)


def calculate_gain(run: Runtime, nonlinearity: Value, param: Value = None) -> Value:
    """`nn.init.calculate_gain(nonlinearity, param)`: a number, 1 where the nonlinearity is not listed."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2)) if isinstance(slope, (int, float)) else run.unknown("a gain")
    return GAINS.get(nonlinearity, 1.0) if isinstance(nonlinearity, str) else nonlinearity


def fans(run: Runtime, tensor: Value) -> tuple[Size, Size]:
    """(fan in, fan out): features times the receptive field."""
    found = tensor_of(tensor)
    shape = found.shape if isinstance(found, Tensor) else found
    if isinstance(shape, Unknown):
        return shape, shape
    if len(shape) < 2:
        raise run.error("ValueError", "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field: Size = product(shape[2:])
    return multiply(shape[1], field), multiply(shape[0], field)


def correct_fan(run: Runtime, tensor: Value, mode: Value) -> Value:
    """The fan in or out of a weight, by the mode."""
    inside, outside = fans(run, tensor)
    return inside if mode == "fan_in" else outside


INIT: dict[str, Value] = {
    **{name: Native(name, filled, propagate_unknown=False) for name in NAMES},
    **{
        name: Native(name, by_fans, propagate_unknown=False) for name in NAMES if name.startswith(("xavier", "kaiming"))
    },
    "calculate_gain": Native("calculate_gain", calculate_gain),
    "_calculate_fan_in_and_fan_out": Native("_calculate_fan_in_and_fan_out", fans, propagate_unknown=False),
    "_calculate_correct_fan": Native("_calculate_correct_fan", correct_fan, propagate_unknown=False),
}
