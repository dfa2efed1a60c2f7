"""Normalisations (keras/src/layers/normalization)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.keras.layer import call_layer
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_inner
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import state_of
from flake8_cnnmem.graph import Weight, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import BatchNorm, GroupNorm, LayerNorm, Normalise, RMSNorm
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


@dataclass(frozen=True, slots=True)
class BatchRenorm(BatchNorm):
    """Batch renormalization: three further statistics, of which the corrections of each step are made."""

    kind = "batch_renorm"

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """Those of `BatchNorm`, and the buffers "moving_stddev", "renorm_mean" and "renorm_stddev" (features,)."""
        own = BatchNorm.weights(self, *inputs)
        kept = own.get("running_mean")
        return (
            own if kept is None else {**own, **dict.fromkeys(("moving_stddev", "renorm_mean", "renorm_stddev"), kept)}
        )


@layer("SyncBatchNormalization", "BatchNormalizationV2", "BatchNormalizationV1")
def BatchNormalization(
    axis: Value = -1, momentum: Value = 0.99, epsilon: Value = 0.001, center: Value = True, scale: Value = True,
    beta_initializer: Value = "zeros", gamma_initializer: Value = "ones", moving_mean_initializer: Value = "zeros",
    moving_variance_initializer: Value = "ones", beta_regularizer: Value = None, gamma_regularizer: Value = None,
    beta_constraint: Value = None, gamma_constraint: Value = None, renorm: Value = False,
    renorm_clipping: Value = None, renorm_momentum: Value = 0.99, synchronized: Value = False, *,
    training: bool = True, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The input's shape, normalized over all axes but one."""
    if isinstance(axis, (list, tuple)) and len(axis) == 1:
        axis = axis[0]
    # What is no axis is found by the op.
    return (BatchRenorm if asked(renorm) else BatchNorm)(
        axis=cast("Size", axis), scale=asked(scale), center=asked(center), training=training, counted=False
    )


@layer()
def LayerNormalization(
    axis: Value = -1, epsilon: Value = 0.001, center: Value = True, scale: Value = True,
    beta_initializer: Value = "zeros", gamma_initializer: Value = "ones", beta_regularizer: Value = None,
    gamma_regularizer: Value = None, beta_constraint: Value = None, gamma_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The input's shape, normalized over these axes."""
    return LayerNorm(axes=axes_of(axis), scale=asked(scale), center=asked(center))


@layer()
def GroupNormalization(
    groups: Size = 32, axis: Size = -1, epsilon: Value = 0.001, center: Value = True, scale: Value = True,
    beta_initializer: Value = "zeros", gamma_initializer: Value = "ones", beta_regularizer: Value = None,
    gamma_regularizer: Value = None, beta_constraint: Value = None, gamma_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The input's shape, normalized in groups of channels."""
    return GroupNorm(groups, axis=axis, scale=asked(scale), center=asked(center))


@layer()
def RMSNormalization(axis: Value = -1, epsilon: Value = 1e-06, **kwargs: Value) -> Ops:
    """The input's shape, divided by the root of the mean square over an axis."""
    return RMSNorm(axes=axes_of(axis))


@layer()
def UnitNormalization(axis: Value = -1, **kwargs: Value) -> Ops:
    """The input's shape, divided by its norm over an axis."""
    return Normalise()


def axes_of(axis: Value) -> Any:
    """An axis, or several as a tuple."""
    return tuple(axis) if isinstance(axis, list) else axis


def build_spectral(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Keras adds one vector `u` for the power iteration, as long as the kernel has filters."""
    inner = self.attributes.get("layer")
    build_inner(run, inner, input_shape)
    state_of(run, self).built = True
    kernel = inner.attributes.get("kernel", inner.attributes.get("embeddings")) if isinstance(inner, Instance) else None
    if isinstance(kernel, Weight) and isinstance(kernel.shape, tuple):
        vector = run.call(run.get(self, "add_weight"), shape=(1, kernel.shape[-1]), trainable=False, name="vector_u")
        self.attributes["vector_u"] = vector


def call_spectral(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of SpectralNormalization: of the layer, its kernel normalized first."""
    inner = self.attributes.get("layer")
    if not isinstance(inner, Instance):
        return run.unknown("the layer inside SpectralNormalization is not known")
    return call_layer(run, inner, inputs)


@layer(call=call_spectral, build=build_spectral)
def SpectralNormalization(layer: Value, power_iterations: Value = 1, **kwargs: Value) -> Ops:
    """A layer whose kernel is divided by its largest singular value."""
    return ()
