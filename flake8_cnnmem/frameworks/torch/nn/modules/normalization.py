"""torch.nn's normalisation layers."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import shape_of, size
from flake8_cnnmem.frameworks.torch.nn.functional.normalization import (
    layer_norm_op,
    normalise_batch,
    normalise_groups,
    normalise_instance,
)
from flake8_cnnmem.frameworks.torch.nn.layer import AFFINE, STATISTICS, base_class, current, layer, nothing
from flake8_cnnmem.frameworks.torch.nn.modules.module import children_of, put
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import BatchNorm, InstanceNorm
from flake8_cnnmem.ops import GroupNorm as GroupNormOp
from flake8_cnnmem.ops import LayerNorm as LayerNormOp
from flake8_cnnmem.ops import LocalResponseNorm as LocalResponseNormOp
from flake8_cnnmem.ops import RMSNorm as RMSNormOp
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, StaticMethod, Value

_NormBase = base_class("_NormBase", "batchnorm")
_NormBase.namespace["reset_running_stats"] = Native("reset_running_stats", nothing, propagate_unknown=False)
_NormBase.namespace["_check_input_dim"] = Native("_check_input_dim", nothing, propagate_unknown=False)
_BatchNorm = base_class("_BatchNorm", "batchnorm", _NormBase)
_InstanceNorm = base_class("_InstanceNorm", "instancenorm", _NormBase)

BASES = {"_NormBase": _NormBase, "_BatchNorm": _BatchNorm, "_InstanceNorm": _InstanceNorm}


def batch_forward(ranks: tuple[int, ...]) -> Callable[..., Value]:
    """The call of a batch norm over inputs of these numbers of axes, by the weights and statistics that it has."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        attributes = self.attributes
        weight, bias, mean, variance = current(run, self, "weight", "bias", "running_mean", "running_var")
        training = attributes.get("training", True) is not False or (mean is None and variance is None)
        return normalise_batch(
            run, self.cls.name, input, mean, variance, weight, bias, training, attributes.get("num_features"), ranks
        )

    return forward


def batch_op(features: Value, affine: Value, track: Value, bias: Value) -> BatchNorm:
    """The op of a batch norm, with flags that may not be known."""
    learned = asked(affine)
    return BatchNorm(size(features), scale=learned, center=asked(learned, bias), track=asked(track))


@layer("batchnorm", _BatchNorm, forward=batch_forward((2, 3)), absent={**AFFINE, **STATISTICS})
def BatchNorm1d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = True,
    track_running_stats: Value = True, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> BatchNorm:  # fmt: skip
    """(N, features) or (N, features, L), unchanged."""
    return batch_op(num_features, affine, track_running_stats, bias)


@layer("batchnorm", _BatchNorm, forward=batch_forward((4,)), absent={**AFFINE, **STATISTICS})
def BatchNorm2d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = True,
    track_running_stats: Value = True, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> BatchNorm:  # fmt: skip
    """(N, features, H, W), unchanged."""
    return batch_op(num_features, affine, track_running_stats, bias)


@layer("batchnorm", _BatchNorm, forward=batch_forward((5,)), absent={**AFFINE, **STATISTICS})
def BatchNorm3d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = True,
    track_running_stats: Value = True, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> BatchNorm:  # fmt: skip
    """(N, features, D, H, W), unchanged."""
    return batch_op(num_features, affine, track_running_stats, bias)


@layer("batchnorm", _BatchNorm, forward=batch_forward(()), absent={**AFFINE, **STATISTICS})
def SyncBatchNorm(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = True,
    track_running_stats: Value = True, process_group: Value = None, device: Value = None, dtype: Value = None,
    *, bias: Value = True,
) -> BatchNorm:  # fmt: skip
    """(N, features, ...), unchanged, with statistics over all processes."""
    return batch_op(num_features, affine, track_running_stats, bias)


def convert_sync_batchnorm(run: Runtime, module: Value, process_group: Value = None) -> Value:
    """Every batch norm becomes a SyncBatchNorm with the same weights."""
    if not isinstance(module, Instance):
        return module
    if _BatchNorm in module.cls.mro:
        made = Instance(SyncBatchNorm, dict(module.attributes), site=module.site)
        for store in ("_parameters", "_buffers", "_modules"):
            made.attributes[store] = dict(module.attributes.get(store, {}))
        return made
    for name, child in children_of(module):
        put(run, module, "_modules", name, convert_sync_batchnorm(run, child, process_group))
    return module


SyncBatchNorm.namespace["convert_sync_batchnorm"] = StaticMethod(
    Native("convert_sync_batchnorm", convert_sync_batchnorm, propagate_unknown=False)
)


def instance_forward(ranks: tuple[int, ...]) -> Callable[..., Value]:
    """The call of an instance norm over inputs of these numbers of axes."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        weight, bias, mean, variance = current(run, self, "weight", "bias", "running_mean", "running_var")
        features = self.attributes.get("num_features")
        # Without weights torch takes any number of channels, with a warning; batched inputs only are checked.
        declared = features if weight is not None else None
        tensor = tensor_of(input)
        single = isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == ranks[0]
        return normalise_instance(
            run, self.cls.name, input, mean, variance, weight, bias, declared, ranks, 0 if single else 1
        )

    return forward


def instance_op(features: Value, affine: Value, track: Value, bias: Value) -> InstanceNorm:
    """The op of an instance norm, with flags that may not be known."""
    learned = asked(affine)
    return InstanceNorm(size(features), scale=learned, center=asked(learned, bias), track=asked(track))


@layer("instancenorm", _InstanceNorm, forward=instance_forward((2, 3)), absent={**AFFINE, **STATISTICS})
def InstanceNorm1d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = False,
    track_running_stats: Value = False, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> InstanceNorm:  # fmt: skip
    """(N, features, L), unchanged."""
    return instance_op(num_features, affine, track_running_stats, bias)


@layer("instancenorm", _InstanceNorm, forward=instance_forward((3, 4)), absent={**AFFINE, **STATISTICS})
def InstanceNorm2d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = False,
    track_running_stats: Value = False, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> InstanceNorm:  # fmt: skip
    """(N, features, H, W), unchanged."""
    return instance_op(num_features, affine, track_running_stats, bias)


@layer("instancenorm", _InstanceNorm, forward=instance_forward((4, 5)), absent={**AFFINE, **STATISTICS})
def InstanceNorm3d(
    num_features: Value, eps: Value = 1e-5, momentum: Value = 0.1, affine: Value = False,
    track_running_stats: Value = False, device: Value = None, dtype: Value = None, *, bias: Value = True,
) -> InstanceNorm:  # fmt: skip
    """(N, features, D, H, W), unchanged."""
    return instance_op(num_features, affine, track_running_stats, bias)


def arrange_shape(attributes: dict[str, Value]) -> None:
    """The normalized shape as the layer keeps it, a tuple."""
    shape = shape_of(attributes["normalized_shape"])
    attributes["normalized_shape"] = (shape,) if isinstance(shape, Unknown) else shape


def layer_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.LayerNorm, by the weights that it has."""
    shape, weight, bias = current(run, self, "normalized_shape", "weight", "bias")
    return apply(run, layer_norm_op(shape, weight, bias), input, weights=(weight, bias), function="LayerNorm")


@layer("normalization", forward=layer_forward, arrange=arrange_shape, absent=AFFINE)
def LayerNorm(
    normalized_shape: Shape | None, eps: Value = 1e-5, elementwise_affine: Value = True, bias: Value = True,
    device: Value = None, dtype: Value = None,
) -> LayerNormOp:  # fmt: skip
    """(..., *normalized_shape), unchanged."""
    learned = asked(elementwise_affine)
    return LayerNormOp(normalized_shape, None, learned, asked(learned, bias))


def rms_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.RMSNorm, by the weight that it has."""
    shape, weight = current(run, self, "normalized_shape", "weight")
    return apply(run, RMSNormOp(shape, weight is not None), input, weights=(weight,), function="RMSNorm")


@layer("normalization", forward=rms_forward, arrange=arrange_shape, absent={"weight": "_parameters"})
def RMSNorm(
    normalized_shape: Shape | None, eps: Value = None, elementwise_affine: Value = True, device: Value = None,
    dtype: Value = None,
) -> RMSNormOp:  # fmt: skip
    """(..., *normalized_shape), unchanged."""
    return RMSNormOp(normalized_shape, asked(elementwise_affine))


def group_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.GroupNorm, by the weights that it has."""
    groups, weight, bias = current(run, self, "num_groups", "weight", "bias")
    return normalise_groups(run, "GroupNorm", input, groups, weight, bias, self.attributes.get("num_channels"))


@layer("normalization", forward=group_forward, absent=AFFINE)
def GroupNorm(
    num_groups: Value, num_channels: Value, eps: Value = 1e-5, affine: Value = True, device: Value = None,
    dtype: Value = None, *, bias: Value = True,
) -> GroupNormOp:  # fmt: skip
    """(N, num_channels, ...), unchanged."""
    learned = asked(affine)
    return GroupNormOp(size(num_groups), size(num_channels), scale=learned, center=asked(learned, bias))


@layer("normalization", weighted=False)
def LocalResponseNorm(size: Size, alpha: Value = 1e-4, beta: Value = 0.75, k: Value = 1.0) -> LocalResponseNormOp:
    """(N, C, ...), unchanged: each value by its neighbours in `size` channels."""
    return LocalResponseNormOp(size)


@layer("normalization", weighted=False)
def CrossMapLRN2d(size: Size, alpha: Value = 1e-4, beta: Value = 0.75, k: Value = 1) -> LocalResponseNormOp:
    """(N, C, H, W), unchanged: the same, from Torch 7."""
    return LocalResponseNormOp(size)
