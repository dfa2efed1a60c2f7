"""Dropouts, noise, and what only adds to the loss (keras/src/layers/regularization)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.ops import Dropout as DropoutOp
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def dropout(rate: Value, kind: str, training: bool, noise_shape: Value = None) -> DropoutOp:
    """The op of a dropout: nothing is dropped outside of training. ValueError for a rate that is none."""
    noise = None
    # All versions refuse it, but for Gaussian and alpha dropout.
    if kind in ("dropout", "feature_dropout") and (
        isinstance(rate, str) or (isinstance(rate, (int, float)) and not 0 <= rate <= 1)
    ):
        raise ValueError(f"Invalid value received for argument `rate`: {rate!r}")
    if isinstance(noise_shape, (list, tuple)):
        noise = tuple(size if type(size) is int else None for size in noise_shape)
    return DropoutOp(rate if isinstance(rate, (int, float, Unknown)) else 0.5, kind, training=training, noise=noise)


@layer()
def Dropout(
    rate: Value, noise_shape: Value = None, seed: Value = None, *, training: bool = True, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The input's shape, values dropped while training."""
    return dropout(rate, "dropout", training, noise_shape)


@layer(ndim=3)
def SpatialDropout1D(
    rate: Value, seed: Value = None, name: Value = None, dtype: Value = None, *, training: bool = True,
) -> Ops:  # fmt: skip
    """(N, T, C), whole channels dropped while training."""
    return dropout(rate, "feature_dropout", training)


@layer(ndim=4)
def SpatialDropout2D(
    rate: Value, data_format: Value = None, seed: Value = None, name: Value = None, dtype: Value = None, *,
    training: bool = True,
) -> Ops:  # fmt: skip
    """(N, H, W, C), whole channels dropped while training."""
    return dropout(rate, "feature_dropout", training)


@layer(ndim=5)
def SpatialDropout3D(
    rate: Value, data_format: Value = None, seed: Value = None, name: Value = None, dtype: Value = None, *,
    training: bool = True,
) -> Ops:  # fmt: skip
    """(N, D, H, W, C), whole channels dropped while training."""
    return dropout(rate, "feature_dropout", training)


@layer()
def AlphaDropout(
    rate: Value, noise_shape: Value = None, seed: Value = None, *, training: bool = True, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The input's shape, values dropped so that mean and variance stay."""
    return dropout(rate, "alpha_dropout", training)


@layer()
def GaussianDropout(rate: Value, seed: Value = None, *, training: bool = True, **kwargs: Value) -> Ops:
    """The input's shape, times noise while training."""
    return dropout(rate, "gaussian_dropout", training)


@layer()
def GaussianNoise(stddev: Value, seed: Value = None, *, training: bool = True, **kwargs: Value) -> Ops:
    """The input's shape, with noise added while training."""
    return Elementwise("gaussian_noise" if training else "identity")


@layer()
def ActivityRegularization(l1: Value = 0.0, l2: Value = 0.0, **kwargs: Value) -> Ops:
    """Its input; what it adds to the loss is not followed."""
    return Elementwise("identity")
