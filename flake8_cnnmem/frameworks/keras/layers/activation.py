"""Activation layers (keras/src/layers/activations)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.stubs import layer
from flake8_cnnmem.ops import Elementwise, PRelu
from flake8_cnnmem.values import Instance, Run, Value


def call_activation(run: Run, self: Instance, inputs: Value, **options: Value) -> Value:
    return activations.apply(run, self.attributes.get("activation"), inputs)


@layer(call=call_activation)
def Activation(activation, **kwargs):
    return ()


@layer()
def ELU(alpha=1.0, **kwargs):
    return Elementwise("elu")


@layer()
def LeakyReLU(negative_slope=0.3, **kwargs):
    return Elementwise("leaky_relu")


@layer("ParametricReLU")
def PReLU(
    alpha_initializer="Zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
):
    if isinstance(shared_axes, int):
        shared_axes = (shared_axes,)
    return PRelu(None, tuple(shared_axes) if isinstance(shared_axes, (list, tuple)) else None)


@layer()
def ReLU(max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
    if negative_slope not in (0, None):
        return Elementwise("leaky_relu")
    return Elementwise("relu" if max_value is None else "relu6")


@layer()
def ThresholdedReLU(theta=1.0, **kwargs):
    return Elementwise("threshold")


@layer()
def Softmax(axis=-1, **kwargs):
    return Elementwise("softmax")
