"""Convolutions, pools and norms in function form, whose kernels are tensors of the program."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.ops.operands import apply, layout, shape_of
from flake8_cnnmem.frameworks.keras.ops.shaping import transpose
from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import (
    BatchNorm,
    Broadcast,
    Convolution,
    DepthwiseConvolution,
    Index,
    LayerNorm,
    LocalResponseNorm,
    Pool,
    Reshape,
    ScaledDotProduct,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def spatial(value: Value, rank: int, last: bool, default: Value = 1) -> Any:
    """Strides and dilations: one for all axes, one each, or TensorFlow's four with the batch and the channels."""
    value = plain(value)
    if value is None:
        return (default,) * rank
    if isinstance(value, (list, tuple)):
        if len(value) == rank + 2:
            return tuple(value[1:-1] if last else value[2:])
        if len(value) == 1:
            return tuple(value) * rank
        return tuple(value)
    return (value,) * rank


def named_padding(padding: Value, last: bool) -> Value:
    """Padding as "same" or "valid", or as (before, after) for each side."""
    if isinstance(padding, str):
        return padding.lower()
    if isinstance(padding, (list, tuple)):
        pairs = tuple(tuple(pair) for pair in padding)
        return pairs[1:-1] if last else pairs[2:]
    return padding


def kernel_shape(kernel: Value) -> tuple[Size, ...] | Unknown:
    """The shape of a kernel (sides, in, out), or why it is not known."""
    found = shape_of(kernel)
    if not isinstance(found, Unknown) and len(found) < 3:
        return Unknown("a kernel has too few axes")
    return found


def weights_of(*values: Value) -> list[Tensor]:
    """Weights, and what the code computes of them (a kernel that it standardises)."""
    return [value for value in values if isinstance(value, Tensor) and (value.call or isinstance(value, Weight))]


def conv(
    run: Runtime, x: Value, kernel: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1,
) -> Value:  # fmt: skip
    """A convolution with a kernel (*sides, channels / groups, filters)."""
    last, shape, given = layout(run, data_format), kernel_shape(kernel), shape_of(x)
    if isinstance(shape, Unknown):
        return run.apply(Convolution(shape, (shape,)), shape, function="conv", framework="keras")
    rank = len(shape) - 2
    groups: Size = 1
    if isinstance(given, tuple) and len(given) == rank + 2:
        channels, each = given[-1 if last else 1], shape[-2]
        if isinstance(channels, int) and isinstance(each, int) and each and channels % each == 0:
            groups = channels // each
    op = Convolution(
        shape[-1],
        tuple(shape[:-2]),
        channels=None if not isinstance(groups, int) or groups != 1 else shape[-2],
        stride=spatial(strides, rank, last),
        padding=named_padding(padding, last),
        dilation=spatial(dilation_rate, rank, last),
        groups=groups,
        bias=False,
        channels_last=last,
    )
    return run.apply(op, x, weights=weights_of(kernel), function=f"conv{rank}d", framework="keras")


def conv_transpose(
    run: Runtime, x: Value, kernel: Value, strides: Value = 1, padding: Value = "valid", output_padding: Value = None,
    data_format: Value = None, dilation_rate: Value = 1, output_shape: Value = None,
) -> Value:  # fmt: skip
    """A transposed convolution with a kernel (*sides, filters, channels)."""
    last, shape = layout(run, data_format), kernel_shape(kernel)
    if isinstance(shape, Unknown):
        return run.apply(Convolution(shape, (shape,)), shape, function="conv_transpose", framework="keras")
    rank = len(shape) - 2
    op = Convolution(
        shape[-2],
        tuple(shape[:-2]),
        channels=shape[-1],
        stride=spatial(strides, rank, last),
        padding=named_padding(padding, last),
        dilation=spatial(dilation_rate, rank, last),
        bias=False,
        transposed=True,
        output_padding=None if output_padding is None else per_axis(output_padding, rank),
        channels_last=last,
    )
    return run.apply(op, x, weights=weights_of(kernel), function=f"conv{rank}d_transpose", framework="keras")


def depthwise_conv(
    run: Runtime, x: Value, kernel: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1,
) -> Value:  # fmt: skip
    """Each channel on its own, with a kernel (*sides, channels, multiplier)."""
    last, shape = layout(run, data_format), kernel_shape(kernel)
    if isinstance(shape, Unknown):
        return run.apply(DepthwiseConvolution((shape,)), shape, function="depthwise_conv", framework="keras")
    rank = len(shape) - 2
    op = DepthwiseConvolution(
        tuple(shape[:-2]),
        multiplier=shape[-1],
        channels=shape[-2],
        stride=spatial(strides, rank, last),
        padding=named_padding(padding, last),
        dilation=spatial(dilation_rate, rank, last),
        bias=False,
        channels_last=last,
    )
    return run.apply(op, x, weights=weights_of(kernel), function="depthwise_conv2d", framework="keras")


def separable_conv(
    run: Runtime, x: Value, depthwise_kernel: Value, pointwise_kernel: Value, strides: Value = 1,
    padding: Value = "valid", data_format: Value = None, dilation_rate: Value = 1,
) -> Value:  # fmt: skip
    """A depthwise convolution, then one of 1 x 1."""
    x = depthwise_conv(run, x, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(run, x, pointwise_kernel, 1, "valid", data_format)


def pool(
    run: Runtime, x: Value, pool_size: Value = 2, strides: Value = None, padding: Value = "valid",
    data_format: Value = None, *, mode: str = "max",
) -> Value:  # fmt: skip
    """(N, sides, C), or channels first, to the sides as the window leaves them."""
    last, shape = layout(run, data_format), shape_of(x)
    if isinstance(shape, Unknown):
        return run.apply(Pool(mode, (2, 2)), shape, function=f"{mode}_pool", framework="keras")
    rank = len(shape) - 2
    kernel = spatial(pool_size, rank, last)
    stride = kernel if strides is None else spatial(strides, rank, last)
    op = Pool(mode, kernel, stride, named_padding(padding, last), channels_last=last)
    return apply(run, op, x, function=f"{mode}_pool")


def pool_by_name(
    run: Runtime, x: Value, pool_size: Value, strides: Value = (1, 1), padding: Value = "valid",
    data_format: Value = None, pool_mode: Value = "max",
) -> Value:  # fmt: skip
    """`K.pool2d(x, pool_size, ..., pool_mode)`: the largest or the mean value of each window."""
    mode = "average" if pool_mode in ("avg", "average") else "max"
    return pool(run, x, pool_size, strides, padding, data_format, mode=mode)


def bias_add(run: Runtime, x: Value, bias: Value, data_format: Value = None) -> Value:
    """The input's shape with a bias (C,) added to its channels."""
    shape, last = shape_of(x), layout(run, data_format)
    if not last and isinstance(shape, tuple) and len(shape) > 2 and isinstance(bias, Tensor):
        bias = run.apply(Reshape((-1, *(1,) * (len(shape) - 2))), bias, function="reshape", framework="keras")
    return apply(run, Broadcast("add"), x, bias, function="bias_add")


def batch_normalization(run: Runtime, x: Value, axis: Size = -1, offset: Value = None, scale: Value = None) -> Value:
    """The input's shape, by statistics that are given."""
    op = BatchNorm(axis=axis, scale=scale is not None, center=offset is not None, counted=False)
    return run.apply(op, x, weights=weights_of(scale, offset), function="batch_normalization", framework="keras")


def fused_batch_norm(run: Runtime, x: Value, scale: Value = None, offset: Value = None, **options: Value) -> Value:
    """The normalized input, and a mean and a variance that are not known."""
    return batch_normalization(run, x, -1, offset, scale), run.unknown("a batch mean"), run.unknown("a batch variance")


def layer_normalization(run: Runtime, x: Value) -> Value:
    """The input's shape, normalized over its last axis."""
    return apply(run, LayerNorm(), x, function="layer_normalization")


def local_response(run: Runtime, x: Value, depth_radius: Size = 5) -> Value:
    """The input's shape, each value divided by its neighbours in other channels."""
    return apply(run, LocalResponseNorm(depth_radius), x, function="lrn")


def dot_product_attention(run: Runtime, query: Value, key: Value, value: Value, is_causal: Value = False) -> Value:
    """(N, T, heads, width): Keras has the heads behind the time."""
    parts = [transpose(run, part, (0, 2, 1, 3)) for part in (query, key, value)]
    result = apply(run, ScaledDotProduct(causal=is_causal is True, fused=False), *parts, function="attention")
    return transpose(run, result, (0, 2, 1, 3))


def to_grayscale(run: Runtime, x: Value, data_format: Value = None) -> Value:
    """(N, H, W, 3) to (N, H, W, 1), or channels first."""
    last = layout(run, data_format)
    return apply(run, Index((Ellipsis, slice(0, 1)) if last else (Ellipsis, slice(0, 1), slice(None), slice(None))), x)
