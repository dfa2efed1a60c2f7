"""torch.nn's activations and dropouts: each call asks the stub for the op with the layer's present attributes."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.functions.elementwise import prelu, softsign, tanhshrink, unary
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.layer import base_class, current, layer
from flake8_cnnmem.graph import Op
from flake8_cnnmem.ops import GLU as GLUOp
from flake8_cnnmem.ops import Dropout as DropoutOp
from flake8_cnnmem.ops import Elementwise, PRelu
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

_DropoutNd = base_class("_DropoutNd", "dropout")
BASES = {"_DropoutNd": _DropoutNd}


def activation(kind: str, inplace: Value = False) -> Elementwise:
    """The op of an activation: the input's shape, written into the input where it is in place."""
    return Elementwise(kind, inplace is True)


@layer("activation", weighted=False)
def ReLU(inplace: Value = False) -> Op:
    """max(0, x)."""
    return activation("relu", inplace)


@layer("activation", weighted=False)
def Hardtanh(
    min_val: Value = -1.0, max_val: Value = 1.0, inplace: Value = False, min_value: Value = None,
    max_value: Value = None,
) -> Op:  # fmt: skip
    """x between `min_val` and `max_val`; the last two are their names before 0.4."""
    return activation("hardtanh", inplace)


def _relu6(attributes: dict[str, Value]) -> None:
    attributes.update(min_val=0.0, max_val=6.0)


@layer("activation", Hardtanh, weighted=False, arrange=_relu6)
def ReLU6(inplace: Value = False) -> Op:
    """x between 0 and 6."""
    return activation("relu6", inplace)


@layer("activation", weighted=False)
def RReLU(lower: Value = 1 / 8, upper: Value = 1 / 3, inplace: Value = False) -> Op:
    """A leaky ReLU whose slope is drawn at random while training."""
    return activation("rrelu", inplace)


@layer("activation", weighted=False)
def Threshold(threshold: Value, value: Value, inplace: Value = False) -> Op:
    """x above a threshold, else a value."""
    return activation("threshold", inplace)


@layer("activation", weighted=False)
def SiLU(inplace: Value = False) -> Op:
    """x sigmoid(x)."""
    return activation("silu", inplace)


@layer("activation", weighted=False)
def Mish(inplace: Value = False) -> Op:
    """x tanh(softplus(x))."""
    return activation("mish", inplace)


@layer("activation", weighted=False)
def Hardswish(inplace: Value = False) -> Op:
    """x relu6(x + 3) / 6."""
    return activation("hardswish", inplace)


@layer("activation", weighted=False)
def Hardsigmoid(inplace: Value = False) -> Op:
    """relu6(x + 3) / 6."""
    return activation("hardsigmoid", inplace)


@layer("activation", weighted=False)
def LeakyReLU(negative_slope: Value = 0.01, inplace: Value = False) -> Op:
    """x, times a slope below 0."""
    return activation("leaky_relu", inplace)


@layer("activation", weighted=False)
def ELU(alpha: Value = 1.0, inplace: Value = False) -> Op:
    """x, or alpha (exp(x) - 1) below 0."""
    return activation("elu", inplace)


@layer("activation", weighted=False)
def CELU(alpha: Value = 1.0, inplace: Value = False) -> Op:
    """x, or alpha (exp(x / alpha) - 1) below 0."""
    return activation("celu", inplace)


@layer("activation", weighted=False)
def SELU(inplace: Value = False) -> Op:
    """A scaled ELU."""
    return activation("selu", inplace)


@layer("activation", weighted=False)
def GELU(approximate: Value = "none") -> Op:
    """x times the normal distribution's share below it."""
    return activation("gelu")


@layer("activation", weighted=False)
def Sigmoid() -> Op:
    """1 / (1 + exp(-x))."""
    return activation("sigmoid")


@layer("activation", weighted=False)
def Tanh() -> Op:
    """tanh(x)."""
    return activation("tanh")


@layer("activation", weighted=False)
def LogSigmoid() -> Op:
    """log(sigmoid(x))."""
    return activation("logsigmoid")


@layer("activation", weighted=False)
def Softplus(beta: Value = 1.0, threshold: Value = 20.0) -> Op:
    """log(1 + exp(beta x)) / beta."""
    return activation("softplus")


@layer("activation", weighted=False)
def Hardshrink(lambd: Value = 0.5) -> Op:
    """x outside of +-lambd, else 0."""
    return activation("hardshrink")


@layer("activation", weighted=False)
def Softshrink(lambd: Value = 0.5) -> Op:
    """x moved towards 0 by lambd."""
    return activation("softshrink")


def softsign_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Softsign."""
    return softsign(run, input)


@layer("activation", weighted=False, forward=softsign_forward)
def Softsign() -> Op:
    """x / (1 + |x|)."""
    return activation("softsign")


def tanhshrink_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Tanhshrink."""
    return tanhshrink(run, input)


@layer("activation", weighted=False, forward=tanhshrink_forward)
def Tanhshrink() -> Op:
    """x - tanh(x)."""
    return activation("tanhshrink")


@layer("activation", weighted=False)
def Softmax(dim: Value = None) -> Op:
    """Values that add up to 1 along an axis."""
    return activation("softmax")


def softmin_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Softmin."""
    return unary(run, "softmax", unary(run, "neg", input))


@layer("activation", weighted=False, forward=softmin_forward)
def Softmin(dim: Value = None) -> Op:
    """The softmax of -x."""
    return activation("softmax")


@layer("activation", weighted=False)
def Softmax2d() -> Op:
    """The softmax over channels, (N, C, H, W) or (C, H, W)."""
    return activation("softmax")


@layer("activation", weighted=False)
def LogSoftmax(dim: Value = None) -> Op:
    """The logarithm of the softmax."""
    return activation("log_softmax")


@layer("activation", weighted=False)
def GLU(dim: Size = -1) -> Op:
    """(..., 2 C, ...) to (..., C, ...): one half times the sigmoid of the other."""
    return GLUOp(dim)


def prelu_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.PReLU, by the weight that it has."""
    weight = attribute(run, self, "weight")
    return prelu(run, input, weight)


@layer("activation", forward=prelu_forward)
def PReLU(num_parameters: Value = 1, init: Value = 0.25, device: Value = None, dtype: Value = None) -> Op:
    """A leaky ReLU with a learned slope (1,), or one for each channel."""
    return PRelu(size(num_parameters))


def dropout(kind: str, p: Value, inplace: Value, training: bool = True) -> DropoutOp:
    """The op of a dropout; 0.5 where p is no number. ValueError for what is no probability."""
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return DropoutOp(p if isinstance(p, (int, float, Unknown)) else 0.5, kind, inplace is True, training)


def dropout_forward(kind: str, name: str) -> Callable[..., Value]:
    """The call of a dropout layer, by its `p` and whether it is training."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        p, inplace = current(run, self, "p", "inplace")
        op = dropout(kind, p, inplace, self.attributes.get("training", True) is not False)
        return apply(run, op, input, function=name)

    return forward


@layer("dropout", _DropoutNd, weighted=False, forward=dropout_forward("dropout", "Dropout"))
def Dropout(p: Value = 0.5, inplace: Value = False) -> Op:
    """Values dropped with probability p, the others scaled up."""
    return dropout("dropout", p, inplace)


def _declare(name: str, kind: str) -> None:
    def stub(p: Value = 0.5, inplace: Value = False) -> Op:
        return dropout(kind, p, inplace)

    stub.__name__ = name
    layer("dropout", _DropoutNd, weighted=False, forward=dropout_forward(kind, name))(stub)


for _name, _kind in (
    ("Dropout1d", "feature_dropout"),
    ("Dropout2d", "feature_dropout"),
    ("Dropout3d", "feature_dropout"),
    ("AlphaDropout", "alpha_dropout"),
    ("FeatureAlphaDropout", "feature_alpha_dropout"),
):
    _declare(_name, _kind)
