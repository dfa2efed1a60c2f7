"""Dropouts, noise, and what only adds to the loss (keras/src/layers/regularization)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.stubs import layer
from flake8_cnnmem.ops import Dropout as DropoutOp
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def dropout(rate: Value, kind: str, training: bool, noise_shape: Value = None) -> DropoutOp:
    noise = None
    if isinstance(noise_shape, (list, tuple)):
        noise = tuple(size if type(size) is int else None for size in noise_shape)
    return DropoutOp(rate if isinstance(rate, (int, float, Unknown)) else 0.5, kind, training=training, noise=noise)


@layer()
def Dropout(rate, noise_shape=None, seed=None, *, training=True, **kwargs):
    return dropout(rate, "dropout", training, noise_shape)


@layer(ndim=3)
def SpatialDropout1D(rate, seed=None, name=None, dtype=None, *, training=True):
    return dropout(rate, "feature_dropout", training)


@layer(ndim=4)
def SpatialDropout2D(rate, data_format=None, seed=None, name=None, dtype=None, *, training=True):
    return dropout(rate, "feature_dropout", training)


@layer(ndim=5)
def SpatialDropout3D(rate, data_format=None, seed=None, name=None, dtype=None, *, training=True):
    return dropout(rate, "feature_dropout", training)


@layer()
def AlphaDropout(rate, noise_shape=None, seed=None, *, training=True, **kwargs):
    return dropout(rate, "alpha_dropout", training)


@layer()
def GaussianDropout(rate, seed=None, *, training=True, **kwargs):
    return dropout(rate, "gaussian_dropout", training)


@layer()
def GaussianNoise(stddev, seed=None, *, training=True, **kwargs):
    return Elementwise("gaussian_noise" if training else "identity")


@layer()
def ActivityRegularization(l1=0.0, l2=0.0, **kwargs):
    return Elementwise("identity")
