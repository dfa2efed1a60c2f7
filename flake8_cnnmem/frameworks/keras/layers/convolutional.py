"""Convolutions: plain, transposed, separable, depthwise, with Keras' own signatures (keras/src/layers/convolutional)."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.keras.stubs import Step, layer, per_axis
from flake8_cnnmem.ops import Convolution, DepthwiseConvolution
from flake8_cnnmem.values import Value

__all__ = [
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "DepthwiseConv1D",
    "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D",
]  # fmt: skip


def convolution(
    rank: int,
    filters: Value,
    kernel_size: Value,
    strides: Value,
    padding: Value,
    data_format: Value,
    dilation_rate: Value,
    use_bias: Value,
    groups: Value = 1,
    transposed: bool = False,
    output_padding: Value = None,
) -> Convolution:
    return Convolution(
        filters,
        per_axis(kernel_size, rank),
        stride=per_axis(strides, rank),
        padding=padding,
        dilation=per_axis(dilation_rate, rank),
        groups=groups,
        bias=use_bias is not False,
        transposed=transposed,
        output_padding=None if output_padding is None else per_axis(output_padding, rank),
        channels_last=data_format != "channels_first",
    )


@layer("Convolution1D", rank=1)
def Conv1D(
    filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1, activation=None,
    use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution2D", rank=2)
def Conv2D(
    filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), groups=1,
    activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
    kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution3D", rank=3)
def Conv3D(
    filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1), groups=1,
    activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
    kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution1DTranspose", rank=1)
def Conv1DTranspose(
    filters, kernel_size, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1,
    activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
    kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(
        1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


@layer("Convolution2DTranspose", rank=2)
def Conv2DTranspose(
    filters, kernel_size, strides=(1, 1), padding="valid", output_padding=None, data_format=None,
    dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer="glorot_uniform",
    bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
    kernel_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(
        2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


@layer("Convolution3DTranspose", rank=3)
def Conv3DTranspose(
    filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format=None, output_padding=None,
    dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer="glorot_uniform",
    bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
    kernel_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return convolution(
        3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


def depthwise(
    rank: int,
    kernel_size: Value,
    strides: Value,
    padding: Value,
    depth_multiplier: Value,
    data_format: Value,
    dilation_rate: Value,
    use_bias: Value,
) -> DepthwiseConvolution:
    return DepthwiseConvolution(
        per_axis(kernel_size, rank),
        multiplier=depth_multiplier,
        stride=per_axis(strides, rank),
        padding=padding,
        dilation=per_axis(dilation_rate, rank),
        bias=use_bias is not False,
        channels_last=data_format != "channels_first",
    )


@layer("DepthwiseConvolution1D", rank=1)
def DepthwiseConv1D(
    kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None, dilation_rate=1, activation=None,
    use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return depthwise(1, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias)


@layer("DepthwiseConvolution2D", rank=2)
def DepthwiseConv2D(
    kernel_size, strides=(1, 1), padding="valid", depth_multiplier=1, data_format=None, dilation_rate=(1, 1),
    activation=None, use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros",
    depthwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
    bias_constraint=None, **kwargs,
):  # fmt: skip
    return depthwise(2, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias)


DEPTHWISE = {"kernel": "depthwise_kernel"}
POINTWISE = {"kernel": "pointwise_kernel", "bias": "bias"}


def separable(
    rank: int,
    filters: Value,
    kernel_size: Value,
    strides: Value,
    padding: Value,
    data_format: Value,
    dilation_rate: Value,
    depth_multiplier: Value,
    use_bias: Value,
) -> Sequence[Step]:
    first = depthwise(rank, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, False)
    second = convolution(rank, filters, 1, 1, "valid", data_format, 1, use_bias)
    return Step(first, DEPTHWISE), Step(second, POINTWISE)


@layer("SeparableConvolution1D", rank=1)
def SeparableConv1D(
    filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, depth_multiplier=1,
    activation=None, use_bias=True, depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
    bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
    activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return separable(
        1, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, use_bias
    )


@layer("SeparableConvolution2D", rank=2)
def SeparableConv2D(
    filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
    depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
    pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
    pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
    pointwise_constraint=None, bias_constraint=None, **kwargs,
):  # fmt: skip
    return separable(
        2, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, use_bias
    )
