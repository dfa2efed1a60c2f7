"""torch.nn.functional's normalisations and dropouts."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import shape_of, size
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import (
    BatchNorm,
    Dropout,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    Normalise,
    RMSNorm,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def width(*tensors: Value) -> Size | None:
    """The number of features that the first of these tensors is for; None when none says."""
    for value in tensors:
        tensor = tensor_of(value) if value is not None else None
        if isinstance(tensor, Tensor) and not isinstance(tensor.shape, Unknown) and len(tensor.shape) == 1:
            return tensor.shape[0]
    return None


def stated(found: Size | None, declared: Any) -> Any:
    """The features that the weights are for; where they do not say, those that the layer was declared with."""
    if isinstance(declared, float) or found is None or isinstance(found, Unknown):
        return declared
    return found


def normalise_batch(
    run: Runtime,
    function: str,
    input: Value,
    running_mean: Value,
    running_var: Value,
    weight: Value,
    bias: Value,
    training: Value,
    declared: Value = None,
    ranks: tuple[int, ...] = (),
) -> Value:
    """`declared` is the layer's num_features, where there is a layer. ValueError where statistics are asked of a single
    value (`_verify_batch_size` in torch/nn/functional.py)."""
    if training is True and isinstance(input, Tensor) and isinstance(input.shape, tuple) and len(input.shape) > 1:
        others = (input.shape[0], *input.shape[2:])
        if all(type(size) is int and size == 1 for size in others):
            raise run.error("ValueError", "Expected more than 1 value per channel when training")
    if isinstance(training, Unknown):
        note_cause(run, None, "mode of norms", f"which statistics a batch norm takes is not known: {training.reason}")
    op = BatchNorm(
        stated(width(weight, bias, running_mean), declared),
        scale=weight is not None,
        center=bias is not None,
        track=running_mean is not None,
        training=training is not False,
        ranks=ranks,
    )
    return apply(run, op, input, weights=(weight, bias, running_mean, running_var), function=function)


def normalise_instance(
    run: Runtime,
    function: str,
    input: Value,
    running_mean: Value,
    running_var: Value,
    weight: Value,
    bias: Value,
    declared: Value = None,
    ranks: tuple[int, ...] = (),
    axis: int = 1,
) -> Value:
    """The input's shape (N, C, ...), each sample's channel normalized by itself; `declared` is the layer's
    num_features."""
    op = InstanceNorm(
        stated(width(weight, bias, running_mean), declared),
        axis,
        scale=weight is not None,
        center=bias is not None,
        track=running_mean is not None,
        ranks=ranks,
    )
    return apply(run, op, input, weights=(weight, bias, running_mean, running_var), function=function)


def layer_norm_op(normalized_shape: Value, weight: Value, bias: Value) -> LayerNorm:
    """The op of a normalization over the last axes, with the shapes of the weights that are given."""
    shape = shape_of(normalized_shape)
    given = tuple(each.shape for each in (weight, bias) if isinstance(each, Tensor) and isinstance(each.shape, tuple))
    declared = None if isinstance(shape, Unknown) else shape
    return LayerNorm(declared, None, weight is not None, bias is not None, given)


def layer_norm(run: Runtime, input: Value, normalized_shape: Value, weight: Value = None, bias: Value = None) -> Value:
    """The input's shape, normalized over its last axes."""
    op = layer_norm_op(normalized_shape, weight, bias)
    return apply(run, op, input, weights=(weight, bias), function="layer_norm")


def rms_norm(run: Runtime, input: Value, normalized_shape: Value, weight: Value = None) -> Value:
    """The input's shape, divided by the root of the mean square over its last axes."""
    shape = shape_of(normalized_shape)
    op = RMSNorm(None if isinstance(shape, Unknown) else shape, weight is not None)
    return apply(run, op, input, weights=(weight,), function="rms_norm")


def normalise_groups(
    run: Runtime, function: str, input: Value, num_groups: Value, weight: Value, bias: Value, declared: Value = None
) -> Value:
    """The input's shape (N, C, ...), normalized in groups of channels; `declared` is the layer's num_channels."""
    op = GroupNorm(
        size(num_groups),
        stated(width(weight, bias), declared),
        scale=weight is not None,
        center=bias is not None,
    )
    return apply(run, op, input, weights=(weight, bias), function=function)


def normalize(
    run: Runtime, input: Value, p: Value = 2.0, dim: Size | Shape = 1, eps: Value = 1e-12, out: Value = None
) -> Value:
    """The input's shape, divided by its norm along an axis."""
    return apply(run, Normalise(axis=dim), input, function="normalize")


def drop(run: Runtime, function: str, kind: str, input: Value, p: Value, training: Value, inplace: Value) -> Value:
    """The input's shape, values dropped with probability p while training; a parameter that is written to stays
    itself."""
    if isinstance(input, Weight) and inplace is True:
        return input
    if isinstance(training, Unknown):
        note_cause(
            run, None, "mode of dropout", f"whether values are dropped is not known: {training.reason}", upper=True
        )
    rate = p if isinstance(p, (int, float, Unknown)) else 0.5
    op = Dropout(rate, kind, inplace is True, training is not False)
    return apply(run, op, input, function=function)


def native_dropout(run: Runtime, input: Value, p: Value, train: Value) -> Value:
    """The result of a dropout and its mask, which is not known."""
    return drop(run, "dropout", "dropout", input, p, train, False), run.unknown("the mask of a dropout is not known")
