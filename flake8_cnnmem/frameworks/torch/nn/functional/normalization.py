"""torch.nn.functional's normalisations and dropouts."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import shape_of, size
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import (
    BatchNorm,
    Dropout,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LocalResponseNorm,
    Normalise,
    RMSNorm,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Runtime, Value


def width(*tensors: Value) -> Size | None:
    """The number of features that the first of these tensors is for; None when none says."""
    for value in tensors:
        tensor = tensor_of(value) if value is not None else None
        if isinstance(tensor, Tensor) and not isinstance(tensor.shape, Unknown) and len(tensor.shape) == 1:
            return tensor.shape[0]
    return None


def stated(found: Size | None, declared: Value) -> Value:
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
    """`declared` is the layer's num_features, where there is a layer."""
    op = BatchNorm(
        stated(width(weight, bias, running_mean), declared),
        scale=weight is not None,
        center=bias is not None,
        track=running_mean is not None,
        training=training is not False,
        ranks=ranks,
    )
    return apply(run, op, input, weights=(weight, bias, running_mean, running_var), function=function)


@define("functional.batch_norm")
def batch_norm(
    run: Runtime,
    input: Value,
    running_mean: Value,
    running_var: Value,
    weight: Value = None,
    bias: Value = None,
    training: Value = False,
    momentum: Value = 0.1,
    eps: Value = 1e-05,
) -> Value:
    return normalise_batch(run, "batch_norm", input, running_mean, running_var, weight, bias, training)


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
    op = InstanceNorm(
        stated(width(weight, bias, running_mean), declared),
        axis,
        scale=weight is not None,
        center=bias is not None,
        track=running_mean is not None,
        ranks=ranks,
    )
    return apply(run, op, input, weights=(weight, bias, running_mean, running_var), function=function)


@define("functional.instance_norm")
def instance_norm(
    run: Runtime,
    input: Value,
    running_mean: Value = None,
    running_var: Value = None,
    weight: Value = None,
    bias: Value = None,
    use_input_stats: Value = True,
    momentum: Value = 0.1,
    eps: Value = 1e-05,
) -> Value:
    return normalise_instance(run, "instance_norm", input, running_mean, running_var, weight, bias)


def layer_norm_op(normalized_shape: Value, weight: Value, bias: Value) -> LayerNorm:
    shape = shape_of(normalized_shape)
    given = tuple(each.shape for each in (weight, bias) if isinstance(each, Tensor) and isinstance(each.shape, tuple))
    declared = None if isinstance(shape, Unknown) else shape
    return LayerNorm(declared, None, weight is not None, bias is not None, given)


@define("functional.layer_norm")
def layer_norm(
    run: Runtime, input: Value, normalized_shape: Value, weight: Value = None, bias: Value = None, eps: Value = 1e-05
) -> Value:
    op = layer_norm_op(normalized_shape, weight, bias)
    return apply(run, op, input, weights=(weight, bias), function="layer_norm")


@define("torch.layer_norm")
def torch_layer_norm(
    run: Runtime,
    input: Value,
    normalized_shape: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-05,
    cudnn_enable: Value = True,
) -> Value:
    return layer_norm(run, input, normalized_shape, weight, bias)


@define("functional.rms_norm", "torch.rms_norm")
def rms_norm(run: Runtime, input: Value, normalized_shape: Value, weight: Value = None, eps: Value = None) -> Value:
    shape = shape_of(normalized_shape)
    op = RMSNorm(None if isinstance(shape, Unknown) else shape, weight is not None)
    return apply(run, op, input, weights=(weight,), function="rms_norm")


def normalise_groups(
    run: Runtime, function: str, input: Value, num_groups: Value, weight: Value, bias: Value, declared: Value = None
) -> Value:
    op = GroupNorm(
        size(num_groups),
        stated(width(weight, bias), declared),
        scale=weight is not None,
        center=bias is not None,
    )
    return apply(run, op, input, weights=(weight, bias), function=function)


@define("functional.group_norm")
def group_norm(
    run: Runtime, input: Value, num_groups: Value, weight: Value = None, bias: Value = None, eps: Value = 1e-05
) -> Value:
    return normalise_groups(run, "group_norm", input, num_groups, weight, bias)


@define("functional.local_response_norm")
def local_response_norm(
    run: Runtime, input: Value, size: Value, alpha: Value = 0.0001, beta: Value = 0.75, k: Value = 1.0
) -> Value:
    return apply(run, LocalResponseNorm(size), input, function="local_response_norm")


@define("functional.normalize")
def normalize(
    run: Runtime, input: Value, p: Value = 2.0, dim: Value = 1, eps: Value = 1e-12, out: Value = None
) -> Value:
    return apply(run, Normalise(axis=dim), input, function="normalize")


def drop(run: Runtime, function: str, kind: str, input: Value, p: Value, training: Value, inplace: Value) -> Value:
    if isinstance(input, Weight) and inplace is True:
        return input
    rate = p if isinstance(p, (int, float, Unknown)) else 0.5
    op = Dropout(rate, kind, inplace is True, training is not False)
    return apply(run, op, input, function=function)


@define("functional.dropout")
def dropout(run: Runtime, input: Value, p: Value = 0.5, training: Value = True, inplace: Value = False) -> Value:
    return drop(run, "dropout", "dropout", input, p, training, inplace)


def _declare(name: str) -> None:
    def dropout_of_channels(
        run: Runtime, input: Value, p: Value = 0.5, training: Value = True, inplace: Value = False
    ) -> Value:
        return drop(run, name, "feature_dropout", input, p, training, inplace)

    define(f"functional.{name}")(dropout_of_channels)


for _name in ("dropout1d", "dropout2d", "dropout3d"):
    _declare(_name)


@define("functional.alpha_dropout")
def alpha_dropout(run: Runtime, input: Value, p: Value = 0.5, training: Value = False, inplace: Value = False) -> Value:
    return drop(run, "alpha_dropout", "alpha_dropout", input, p, training, inplace)


@define("functional.feature_alpha_dropout")
def feature_alpha_dropout(
    run: Runtime, input: Value, p: Value = 0.5, training: Value = False, inplace: Value = False
) -> Value:
    return drop(run, "feature_alpha_dropout", "feature_alpha_dropout", input, p, training, inplace)


@define("torch.dropout")
def torch_dropout(run: Runtime, input: Value, p: Value, train: Value) -> Value:
    return drop(run, "dropout", "dropout", input, p, train, False)


@define("torch.dropout_")
def dropout_in_place(run: Runtime, input: Value, p: Value, train: Value) -> Value:
    return drop(run, "dropout", "dropout", input, p, train, True)


@define("torch.native_dropout")
def native_dropout(run: Runtime, input: Value, p: Value, train: Value) -> Value:
    return drop(run, "dropout", "dropout", input, p, train, False), run.unknown("the mask of a dropout is not known")
