"""Normalisations (keras/src/layers/normalization)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.layer import call_layer, state_of
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_inner
from flake8_cnnmem.frameworks.keras.stubs import layer
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.ops import BatchNorm, GroupNorm, LayerNorm, Normalise, RMSNorm
from flake8_cnnmem.values import Instance, Run, Value


@layer("SyncBatchNormalization", "BatchNormalizationV2", "BatchNormalizationV1")
def BatchNormalization(
    axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
    moving_mean_initializer="zeros", moving_variance_initializer="ones", beta_regularizer=None, gamma_regularizer=None,
    beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99,
    synchronized=False, *, training=True, **kwargs,
):  # fmt: skip
    if isinstance(axis, (list, tuple)) and len(axis) == 1:
        axis = axis[0]
    return BatchNorm(
        axis=axis, scale=scale is not False, center=center is not False, training=training, counted=False
    )


@layer()
def LayerNormalization(
    axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
    beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs,
):  # fmt: skip
    return LayerNorm(axes=axes_of(axis), scale=scale is not False, center=center is not False)


@layer()
def GroupNormalization(
    groups=32, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
    beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs,
):  # fmt: skip
    return GroupNorm(groups, axis=axis, scale=scale is not False, center=center is not False)


@layer()
def RMSNormalization(axis=-1, epsilon=1e-06, **kwargs):
    return RMSNorm(axes=axes_of(axis))


@layer()
def UnitNormalization(axis=-1, **kwargs):
    return Normalise()


def axes_of(axis: Value) -> Value:
    return tuple(axis) if isinstance(axis, list) else axis


def build_spectral(run: Run, self: Instance, input_shape: Value = None) -> None:
    """Keras adds one vector `u` for the power iteration, as long as the kernel has filters."""
    inner = self.attributes.get("layer")
    build_inner(run, inner, input_shape)
    state_of(run, self).built = True
    kernel = inner.attributes.get("kernel", inner.attributes.get("embeddings")) if isinstance(inner, Instance) else None
    if isinstance(kernel, Weight) and isinstance(kernel.shape, tuple):
        vector = run.call(run.get(self, "add_weight"), shape=(1, kernel.shape[-1]), trainable=False, name="vector_u")
        self.attributes["vector_u"] = vector


def call_spectral(run: Run, self: Instance, inputs: Value, **options: Value) -> Value:
    inner = self.attributes.get("layer")
    if not isinstance(inner, Instance):
        return run.unknown("the layer inside SpectralNormalization is not known")
    return call_layer(run, inner, inputs)


@layer(call=call_spectral, build=build_spectral)
def SpectralNormalization(layer, power_iterations=1, **kwargs):
    return ()
