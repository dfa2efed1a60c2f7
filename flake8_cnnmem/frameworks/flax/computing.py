"""What layers of linen and nnx compute alike, on parameters that their caller has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from flake8_cnnmem.dims import Shape, Size, product
from flake8_cnnmem.frameworks.flax.arrays import apply, as_array, axes, dtype_named, plain, promoted, rank, sizes
from flake8_cnnmem.frameworks.flax.layouts import (
    declared,
    kernel_of,
    padding_of,
    parameters_of,
    per_axis,
    transposed_padding,
)
from flake8_cnnmem.graph import Mismatch, Op, Tensor, WeightSpec
from flake8_cnnmem.ops import (
    BatchNorm,
    Convolution,
    Dropout,
    Embedding,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    Linear,
    Permute,
    Pool,
    PRelu,
    Reshape,
    RMSNorm,
)
from flake8_cnnmem.ops.base import asked, axes_of, extent, quotient
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

Held = Mapping[str, Value]
"""What a layer is told, by the names of its fields."""

Maker = Callable[[str, WeightSpec], Value]
"""Gives the parameter of this name, and makes it where there is none yet."""


def count(value: Value) -> Size:
    """A number of features."""
    found = plain(value)
    return found if isinstance(found, Unknown) else extent(found)


def result_dtype(held: Held, *inputs: Value) -> str:
    """The dtype that a layer computes in: its own, or that of inputs and parameters together."""
    own = held.get("dtype")
    if own is not None and not isinstance(own, Unknown):
        return dtype_named(own)
    stored = held.get("param_dtype")
    parameters = Tensor((), "float" if stored is None or isinstance(stored, Unknown) else dtype_named(stored))
    found = promoted(*inputs, parameters)
    return found if rank(found) >= rank("float16") else "float"


def stored_dtype(held: Held, spec: WeightSpec) -> str:
    """The dtype in which a layer stores a weight: its `param_dtype`, or the op's."""
    stored = held.get("param_dtype")
    return spec.dtype if stored is None or isinstance(stored, Unknown) or spec.buffer else dtype_named(stored)


def run_op(run: Runtime, op: Op, held: Held, make: Maker, *inputs: Value, function: str) -> Value:
    """Run a layer's op on arrays, with its parameters."""
    arrays = [as_array(run, value) for value in inputs]
    shapes = [array.shape for array in arrays if isinstance(array, Tensor) and isinstance(array.shape, tuple)]
    try:
        specs = parameters_of(op, *shapes)
    except Mismatch:
        # The call itself reports it.
        specs = {}
    weights = [make(name, spec) for name, spec in specs.items()]
    if weights and isinstance(weights[0], Tensor):
        op = declared(op, weights[0])
    return run.apply(
        op, *arrays, weights=weights, function=function, dtypes=[result_dtype(held, *arrays)], framework="flax"
    )


# --- ops of layers ----------------------------------------------------------------------------------------------------


def convolution(held: Held, channels: Size | None = None) -> Op | Unknown:
    """The op of a Conv, from the layer's fields; unknown where its kernel is."""
    kernel = kernel_of(held.get("kernel_size"))
    if isinstance(kernel, Unknown):
        return kernel
    spread = per_axis(held.get("input_dilation", 1), len(kernel))
    if any(each != 1 for each in spread):
        return Unknown("a convolution of a spread input (input_dilation) is not followed")
    return Convolution(
        count(held.get("features", held.get("out_features"))),
        kernel,
        channels,
        per_axis(held.get("strides"), len(kernel)),
        padding_of(held.get("padding"), len(kernel)),
        per_axis(held.get("kernel_dilation"), len(kernel)),
        plain(held.get("feature_group_count", 1)),
        asked(held.get("use_bias", True)),
        channels_last=True,
    )


def transposed(held: Held, channels: Size | None = None) -> Op | Unknown:
    """The op of a ConvTranspose, from the layer's fields; unknown where its kernel is."""
    kernel = kernel_of(held.get("kernel_size"))
    if isinstance(kernel, Unknown):
        return kernel
    dilation = per_axis(held.get("kernel_dilation"), len(kernel))
    padding = transposed_padding(held.get("padding"), kernel, dilation)
    if not isinstance(padding, str) and any(isinstance(side, int) and side < 0 for pair in padding for side in pair):
        return Unknown("a transposed convolution that is padded beyond its kernel is not followed")
    return Convolution(
        count(held.get("features", held.get("out_features"))),
        kernel,
        channels,
        per_axis(held.get("strides"), len(kernel)),
        padding,
        dilation,
        bias=asked(held.get("use_bias", True)),
        transposed=True,
        output_padding=None if isinstance(padding, str) else 0,
        channels_last=True,
    )


def convolve(run: Runtime, op: Op | Unknown, held: Held, make: Maker, x: Value, function: str) -> Value:
    """A convolution of inputs with any number of batch axes."""
    array = as_array(run, x)
    if isinstance(op, Unknown) or isinstance(array, Unknown):
        return op if isinstance(op, Unknown) else array
    assert isinstance(op, Convolution)
    sides, shape = len(op.kernel) + 1, array.shape
    if isinstance(shape, Unknown) or len(shape) <= sides + 1:
        return run_op(run, op, held, make, array, function=function)
    lead = shape[: len(shape) - sides]
    flat = apply(run, Reshape((product(lead), *shape[len(shape) - sides :])), array, function="reshape")
    found = run_op(run, op, held, make, flat, function=function)
    if not isinstance(found, Tensor) or isinstance(found.shape, Unknown):
        return found
    return apply(run, Reshape((*lead, *found.shape[1:])), found, function="reshape")


def dense(held: Held, inputs: Size | None = None) -> Linear:
    """The op of a Dense or Linear, from the layer's fields."""
    return Linear(count(held.get("features", held.get("out_features"))), inputs, asked(held.get("use_bias", True)))


def general(run: Runtime, held: Held, make: Maker, x: Value, function: str) -> Value:
    """A product over several axes, to several axes: parameters (*inputs, *features). As a product of matrices between
    two reshapes."""
    array, features = as_array(run, x), sizes(run, held.get("features", held.get("out_features")))
    over = axes(held.get("axis", -1))
    cause = next((each for each in (array, features, over) if isinstance(each, Unknown)), None)
    if cause is not None or isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return cause if cause is not None else array.shape  # type: ignore[union-attr]
    if axes(held.get("batch_dims", held.get("batch_axis", ()))):
        return run.unknown("a product with axes of the batch is not followed")
    try:
        at = axes_of(over, len(array.shape))
    except Mismatch as mismatch:
        raise run.error("ValueError", mismatch.problem.what) from None
    if isinstance(at, Unknown):
        return at
    kept = [axis for axis in range(len(array.shape)) if axis not in at]
    inputs, lead = tuple(array.shape[axis] for axis in at), tuple(array.shape[axis] for axis in kept)
    assert not isinstance(features, Unknown)
    bias = asked(held.get("use_bias", True))
    weights = [make("kernel", WeightSpec((*inputs, *features)))]
    if bias is not False:
        weights.append(make("bias", WeightSpec(features if bias is True else (bias,))))
    if [*kept, *at] != list(range(len(array.shape))):
        array = cast("Tensor", apply(run, Permute((*kept, *at)), array, function="transpose"))
    flat = array if len(at) == 1 else apply(run, Reshape((*lead, product(inputs))), array, function="reshape")
    kernel = weights[0].shape if isinstance(weights[0], Tensor) else ()
    made_for = product(kernel[: len(at)]) if isinstance(kernel, tuple) else None
    op = Linear(product(features), made_for if isinstance(made_for, int) else None, bias)
    found = run.apply(op, flat, weights=weights, function=function, dtypes=[result_dtype(held, flat)], framework="flax")
    return found if len(features) == 1 else apply(run, Reshape((*lead, *features)), found, function="reshape")


def embedding(held: Held) -> Embedding:
    """The op of an Embed, from the layer's fields."""
    return Embedding(count(held.get("num_embeddings")), count(held.get("features")))


def batch_norm(held: Held, uses_average: Value, features: Size | None = None) -> BatchNorm:
    """The op of a BatchNorm, by running statistics where `uses_average` is true."""
    return BatchNorm(
        features,
        axis=axes(held.get("axis", -1)),
        scale=asked(held.get("use_scale", True)),
        center=asked(held.get("use_bias", True)),
        training=uses_average is not True,
        counted=False,
    )


def layer_norm(held: Held) -> LayerNorm:
    """The op of a LayerNorm, from the layer's fields."""
    return LayerNorm(
        axes=axes(held.get("feature_axes", -1)),
        scale=asked(held.get("use_scale", True)),
        center=asked(held.get("use_bias", True)),
    )


def rms_norm(held: Held) -> RMSNorm:
    """The op of an RMSNorm, from the layer's fields."""
    return RMSNorm(axes=axes(held.get("feature_axes", -1)), scale=asked(held.get("use_scale", True)))


def instance_norm(held: Held) -> InstanceNorm:
    """The op of an InstanceNorm, from the layer's fields."""
    return InstanceNorm(axis=axes(held.get("feature_axes", -1)), scale=asked(held.get("use_scale", True)),
                        center=asked(held.get("use_bias", True)))  # fmt: skip


def group_norm(held: Held, shape: Shape | Unknown) -> GroupNorm | Unknown:
    """The op of a GroupNorm, by the number of groups or by their size."""
    groups, size = plain(held.get("num_groups")), plain(held.get("group_size"))
    if groups is None:
        if isinstance(shape, Unknown) or not shape:
            return shape if isinstance(shape, Unknown) else Unknown("an array without axes has no groups")
        groups = quotient(shape[-1], size)
    return GroupNorm(
        groups, axis=-1, scale=asked(held.get("use_scale", True)), center=asked(held.get("use_bias", True))
    )


def dropout(held: Held, deterministic: Value) -> Dropout:
    """The op of a Dropout: nothing is dropped where it is deterministic."""
    rate = plain(held.get("rate"))
    known = rate if isinstance(rate, (int, float, Unknown)) else 0.5
    return Dropout(known, training=deterministic is not True)


def prelu(held: Held) -> PRelu:
    """The op of a PReLU: one slope."""
    return PRelu(1)


# --- pools ------------------------------------------------------------------------------------------------------------


def pooled(mode: str) -> Callable[..., Value]:
    """`nn.max_pool` and its like: a stride of 1 where none is told."""

    def pool(
        run: Runtime, inputs: Value, window_shape: Value, strides: Value = None, padding: Value = "VALID",
        count_include_pad: Value = True,
    ) -> Value:  # fmt: skip
        array, window = as_array(run, inputs), kernel_of(window_shape)
        if isinstance(array, Unknown) or isinstance(window, Unknown):
            return array if isinstance(array, Unknown) else window
        op = Pool(mode, window, per_axis(strides, len(window)), padding_of(padding, len(window)), channels_last=True)
        return apply(run, op, array, function=f"{mode[:3] if mode == 'max' else 'avg'}_pool")

    return pool


def merged(run: Runtime, name: str, own: Value, given: Value) -> Value:
    """A switch that is told at the construction or at the call (`nn.merge_param`)."""
    return own if given is None else given


def with_features(op: Op, features: Size) -> Op:
    """A norm for so many features."""
    if isinstance(op, (LayerNorm, RMSNorm)):
        return replace(op, shape=(features,), axes=None)
    return replace(op, channels=features) if isinstance(op, GroupNorm) else op
