"""torch.nn's activations and dropouts: each call asks the stub for the op with the layer's present attributes."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.functions.elementwise import prelu, softsign, tanhshrink, unary
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.layer import base_class, current, layer
from flake8_cnnmem.graph import Op
from flake8_cnnmem.ops import GLU as GLUOp
from flake8_cnnmem.ops import Dropout as DropoutOp
from flake8_cnnmem.ops import Elementwise, PRelu
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Runtime, Value

_DropoutNd = base_class("_DropoutNd", "dropout")
BASES = {"_DropoutNd": _DropoutNd}


def activation(kind: str, inplace: Value = False) -> Elementwise:
    return Elementwise(kind, inplace is True)


@layer("activation", weighted=False)
def ReLU(inplace: Value = False) -> Op:
    return activation("relu", inplace)


@layer("activation", weighted=False)
def Hardtanh(
    min_val: Value = -1.0, max_val: Value = 1.0, inplace: Value = False, min_value: Value = None,
    max_value: Value = None,
) -> Op:  # fmt: skip
    return activation("hardtanh", inplace)


def _relu6(attributes: dict[str, Value]) -> None:
    attributes.update(min_val=0.0, max_val=6.0)


@layer("activation", Hardtanh, weighted=False, arrange=_relu6)
def ReLU6(inplace: Value = False) -> Op:
    return activation("relu6", inplace)


@layer("activation", weighted=False)
def RReLU(lower: Value = 1 / 8, upper: Value = 1 / 3, inplace: Value = False) -> Op:
    return activation("rrelu", inplace)


@layer("activation", weighted=False)
def Threshold(threshold: Value, value: Value, inplace: Value = False) -> Op:
    return activation("threshold", inplace)


@layer("activation", weighted=False)
def SiLU(inplace: Value = False) -> Op:
    return activation("silu", inplace)


@layer("activation", weighted=False)
def Mish(inplace: Value = False) -> Op:
    return activation("mish", inplace)


@layer("activation", weighted=False)
def Hardswish(inplace: Value = False) -> Op:
    return activation("hardswish", inplace)


@layer("activation", weighted=False)
def Hardsigmoid(inplace: Value = False) -> Op:
    return activation("hardsigmoid", inplace)


@layer("activation", weighted=False)
def LeakyReLU(negative_slope: Value = 0.01, inplace: Value = False) -> Op:
    return activation("leaky_relu", inplace)


@layer("activation", weighted=False)
def ELU(alpha: Value = 1.0, inplace: Value = False) -> Op:
    return activation("elu", inplace)


@layer("activation", weighted=False)
def CELU(alpha: Value = 1.0, inplace: Value = False) -> Op:
    return activation("celu", inplace)


@layer("activation", weighted=False)
def SELU(inplace: Value = False) -> Op:
    return activation("selu", inplace)


@layer("activation", weighted=False)
def GELU(approximate: Value = "none") -> Op:
    return activation("gelu")


@layer("activation", weighted=False)
def Sigmoid() -> Op:
    return activation("sigmoid")


@layer("activation", weighted=False)
def Tanh() -> Op:
    return activation("tanh")


@layer("activation", weighted=False)
def LogSigmoid() -> Op:
    return activation("logsigmoid")


@layer("activation", weighted=False)
def Softplus(beta: Value = 1.0, threshold: Value = 20.0) -> Op:
    return activation("softplus")


@layer("activation", weighted=False)
def Hardshrink(lambd: Value = 0.5) -> Op:
    return activation("hardshrink")


@layer("activation", weighted=False)
def Softshrink(lambd: Value = 0.5) -> Op:
    return activation("softshrink")


def softsign_forward(run: Runtime, self: Instance, input: Value) -> Value:
    return softsign(run, input)


@layer("activation", weighted=False, forward=softsign_forward)
def Softsign() -> Op:
    return activation("softsign")


def tanhshrink_forward(run: Runtime, self: Instance, input: Value) -> Value:
    return tanhshrink(run, input)


@layer("activation", weighted=False, forward=tanhshrink_forward)
def Tanhshrink() -> Op:
    return activation("tanhshrink")


@layer("activation", weighted=False)
def Softmax(dim: Value = None) -> Op:
    return activation("softmax")


def softmin_forward(run: Runtime, self: Instance, input: Value) -> Value:
    return unary(run, "softmax", unary(run, "neg", input))


@layer("activation", weighted=False, forward=softmin_forward)
def Softmin(dim: Value = None) -> Op:
    return activation("softmax")


@layer("activation", weighted=False)
def Softmax2d() -> Op:
    return activation("softmax")


@layer("activation", weighted=False)
def LogSoftmax(dim: Value = None) -> Op:
    return activation("log_softmax")


@layer("activation", weighted=False)
def GLU(dim: Value = -1) -> Op:
    return GLUOp(dim)


def prelu_forward(run: Runtime, self: Instance, input: Value) -> Value:
    weight = attribute(run, self, "weight")
    return prelu(run, input, weight)


@layer("activation", forward=prelu_forward)
def PReLU(num_parameters: Value = 1, init: Value = 0.25, device: Value = None, dtype: Value = None) -> Op:
    return PRelu(size(num_parameters))


def dropout(kind: str, p: Value, inplace: Value, training: bool = True) -> DropoutOp:
    return DropoutOp(p if isinstance(p, (int, float, Unknown)) else 0.5, kind, inplace is True, training)


def dropout_forward(kind: str, name: str) -> Callable[..., Value]:
    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        p, inplace = current(run, self, "p", "inplace")
        op = dropout(kind, p, inplace, self.attributes.get("training", True) is not False)
        return apply(run, op, input, function=name)

    return forward


@layer("dropout", _DropoutNd, weighted=False, forward=dropout_forward("dropout", "Dropout"))
def Dropout(p: Value = 0.5, inplace: Value = False) -> Op:
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
