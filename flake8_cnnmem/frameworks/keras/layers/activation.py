"""Activation layers (keras/src/layers/activations)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.ops import Elementwise, PRelu
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


def call_activation(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Activation: the function that it holds then."""
    return activations.apply(run, self.attributes.get("activation"), inputs)


@layer(call=call_activation)
def Activation(activation: Value, **kwargs: Value) -> Ops:
    """An activation by name or as a function."""
    return ()


@layer()
def ELU(alpha: Value = 1.0, **kwargs: Value) -> Ops:
    """x, or alpha (exp(x) - 1) below 0."""
    return Elementwise("elu")


@layer()
def LeakyReLU(negative_slope: Value = 0.3, **kwargs: Value) -> Ops:
    """x, times a slope below 0."""
    return Elementwise("leaky_relu")


@layer("ParametricReLU")
def PReLU(
    alpha_initializer: Value = "Zeros", alpha_regularizer: Value = None, alpha_constraint: Value = None,
    shared_axes: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """A leaky ReLU with a learned slope for each place of a sample, one along `shared_axes`."""
    if isinstance(shared_axes, int):
        shared_axes = (shared_axes,)
    return PRelu(None, tuple(shared_axes) if isinstance(shared_axes, (list, tuple)) else None)


@layer()
def ReLU(max_value: Value = None, negative_slope: Value = 0.0, threshold: Value = 0.0, **kwargs: Value) -> Ops:
    """max(0, x), with a slope below 0 or a ceiling."""
    if negative_slope not in (0, None):
        return Elementwise("leaky_relu")
    return Elementwise("relu" if max_value is None else "relu6")


@layer()
def ThresholdedReLU(theta: Value = 1.0, **kwargs: Value) -> Ops:
    """x above theta, else 0."""
    return Elementwise("threshold")


@layer()
def Softmax(axis: Value = -1, **kwargs: Value) -> Ops:
    """Values that add up to 1 along an axis."""
    return Elementwise("softmax")
