"""Convolutions: plain, transposed, separable, depthwise (keras/src/layers/convolutional)."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, product
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.layer import build_shapes
from flake8_cnnmem.frameworks.keras.ops.windows import conv
from flake8_cnnmem.frameworks.keras.parameters import count, per_axis
from flake8_cnnmem.frameworks.keras.stubs import Ops, Step, layer
from flake8_cnnmem.frameworks.keras.tracking import make_weight, state_of
from flake8_cnnmem.graph import Mismatch
from flake8_cnnmem.ops import Convolution, DepthwiseConvolution
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def above_one(sizes: Value) -> bool:
    """Whether one of the sizes by axes is larger than one for certain."""
    return isinstance(sizes, tuple) and any(isinstance(size, int) and size > 1 for size in sizes)


def convolution(
    rank: int,
    filters: Value,
    kernel_size: Value,
    strides: Value,
    padding: Value,
    data_format: Value,
    dilation_rate: Value,
    use_bias: Value,
    groups: Size = 1,
    transposed: bool = False,
    output_padding: Value = None,
) -> Convolution:
    """The op of a convolution over so many axes."""
    stride, dilation = per_axis(strides, rank), per_axis(dilation_rate, rank)
    if above_one(stride) and above_one(dilation):
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`")
    return Convolution(
        count(filters),
        per_axis(kernel_size, rank),
        stride=stride,
        # Sides in numbers, as torch takes them, are a name that Keras does not know.
        padding=padding if isinstance(padding, (str, Unknown)) else str(padding),
        dilation=dilation,
        groups=groups,
        bias=asked(use_bias),
        transposed=transposed,
        output_padding=None if output_padding is None else per_axis(output_padding, rank),
        channels_last=data_format != "channels_first",
    )


def convolution_op(run: Runtime, self: Instance, inputs: Value, kernel: Value) -> Value:
    """The convolution by this layer's arguments, with any kernel (`BaseConv.convolution_op`)."""
    given = (self.attributes.get(word) for word in ("strides", "padding", "data_format", "dilation_rate"))
    return conv(run, inputs, kernel, *given)


HOOK: dict[str, Value] = {"convolution_op": Native("convolution_op", convolution_op, propagate_unknown=False)}


@layer("Convolution1D", rank=1, extra=HOOK, hook="convolution_op")
def Conv1D(
    filters: Value, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1, groups: Size = 1, activation: Value = None, use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', filters)."""
    return convolution(1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution2D", rank=2, extra=HOOK, hook="convolution_op")
def Conv2D(
    filters: Value, kernel_size: Value, strides: Value = (1, 1), padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = (1, 1), groups: Size = 1, activation: Value = None, use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', filters)."""
    return convolution(2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution3D", rank=3, extra=HOOK, hook="convolution_op")
def Conv3D(
    filters: Value, kernel_size: Value, strides: Value = (1, 1, 1), padding: Value = "valid",
    data_format: Value = None, dilation_rate: Value = (1, 1, 1), groups: Size = 1, activation: Value = None,
    use_bias: Value = True, kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros",
    kernel_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, D, H, W, C) to (N, D', H', W', filters)."""
    return convolution(3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, groups)


@layer("Convolution1DTranspose", rank=1)
def Conv1DTranspose(
    filters: Value, kernel_size: Value, strides: Value = 1, padding: Value = "valid", output_padding: Value = None,
    data_format: Value = None, dilation_rate: Value = 1, activation: Value = None, use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', filters), as the gradient of a Conv1D."""
    return convolution(
        1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


@layer("Convolution2DTranspose", rank=2)
def Conv2DTranspose(
    filters: Value, kernel_size: Value, strides: Value = (1, 1), padding: Value = "valid",
    output_padding: Value = None, data_format: Value = None, dilation_rate: Value = (1, 1), activation: Value = None,
    use_bias: Value = True, kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros",
    kernel_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', filters), as the gradient of a Conv2D."""
    return convolution(
        2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


@layer("Convolution3DTranspose", rank=3)
def Conv3DTranspose(
    filters: Value, kernel_size: Value, strides: Value = (1, 1, 1), padding: Value = "valid",
    data_format: Value = None, output_padding: Value = None, dilation_rate: Value = (1, 1, 1),
    activation: Value = None, use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, bias_regularizer: Value = None,
    activity_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, D, H, W, C) to (N, D', H', W', filters), as the gradient of a Conv3D."""
    return convolution(
        3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, 1, True, output_padding
    )


def depthwise(
    rank: int,
    kernel_size: Value,
    strides: Value,
    padding: Value,
    depth_multiplier: Size,
    data_format: Value,
    dilation_rate: Value,
    use_bias: Value,
) -> DepthwiseConvolution:
    """The op of a depthwise convolution over so many axes."""
    return DepthwiseConvolution(
        per_axis(kernel_size, rank),
        multiplier=depth_multiplier,
        stride=per_axis(strides, rank),
        padding=padding,
        dilation=per_axis(dilation_rate, rank),
        bias=asked(use_bias),
        channels_last=data_format != "channels_first",
    )


@layer("DepthwiseConvolution1D", rank=1)
def DepthwiseConv1D(
    kernel_size: Value, strides: Value = 1, padding: Value = "valid", depth_multiplier: Size = 1,
    data_format: Value = None, dilation_rate: Value = 1, activation: Value = None, use_bias: Value = True,
    depthwise_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros",
    depthwise_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    depthwise_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', C * depth_multiplier)."""
    return depthwise(1, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias)


@layer("DepthwiseConvolution2D", rank=2)
def DepthwiseConv2D(
    kernel_size: Value, strides: Value = (1, 1), padding: Value = "valid", depth_multiplier: Size = 1,
    data_format: Value = None, dilation_rate: Value = (1, 1), activation: Value = None, use_bias: Value = True,
    depthwise_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros",
    depthwise_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    depthwise_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', C * depth_multiplier)."""
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
    depth_multiplier: Size,
    use_bias: Value,
) -> Sequence[Step]:
    """A depthwise convolution and one of size 1, with Keras' names of their weights."""
    first = depthwise(rank, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, False)
    second = convolution(rank, filters, 1, 1, "valid", data_format, 1, use_bias)
    return Step(first, DEPTHWISE), Step(second, POINTWISE)


@layer("SeparableConvolution1D", rank=1)
def SeparableConv1D(
    filters: Value, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1, depth_multiplier: Size = 1, activation: Value = None, use_bias: Value = True,
    depthwise_initializer: Value = "glorot_uniform", pointwise_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", depthwise_regularizer: Value = None, pointwise_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, depthwise_constraint: Value = None,
    pointwise_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', filters), in two steps."""
    return separable(1, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, use_bias)


@layer("SeparableConvolution2D", rank=2)
def SeparableConv2D(
    filters: Value, kernel_size: Value, strides: Value = (1, 1), padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = (1, 1), depth_multiplier: Size = 1, activation: Value = None, use_bias: Value = True,
    depthwise_initializer: Value = "glorot_uniform", pointwise_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", depthwise_regularizer: Value = None, pointwise_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, depthwise_constraint: Value = None,
    pointwise_constraint: Value = None, bias_constraint: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', filters), in two steps."""
    return separable(2, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, use_bias)


# --- Keras 1 and 2: a kernel of its own for each position (keras 2, layers/locally_connected) -------------------------


def locally_connected(run: Runtime, self: Instance, rank: int) -> Convolution:
    """The op that gives a locally connected layer's output shape: a convolution of the same window."""
    attributes = self.attributes
    return convolution(
        rank, attributes["filters"], attributes["kernel_size"], attributes["strides"], attributes["padding"],
        attributes["data_format"], 1, False,
    )  # fmt: skip


def build_locally(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make a kernel for each place of the output, and the bias."""
    state_of(run, self).built = True
    shape = build_shapes(input_shape)
    if isinstance(shape, Unknown):
        return
    kernel = self.attributes["kernel_size"]
    rank = len(kernel)
    try:
        (result,) = locally_connected(run, self, rank).outputs(shape)
    except Mismatch:
        return
    last = self.attributes["data_format"] != "channels_first"
    sides = result[1:-1] if last else result[2:]
    channels, filters = shape[-1 if last else 1], self.attributes["filters"]
    weight: Shape = (product(sides), product((*kernel, channels)), filters)
    if self.attributes.get("implementation") == 2:
        # A dense matrix from every place to every place, most of it masked (keras 2, layers/locally_connected).
        weight = (*shape[1:], *result[1:])
    self.attributes["kernel"] = make_weight(run, self, "kernel", weight)
    if self.attributes.get("use_bias") is not False:
        self.attributes["bias"] = make_weight(run, self, "bias", (*sides, filters))


def call_locally(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of a locally connected layer."""
    op = locally_connected(run, self, len(self.attributes["kernel_size"]))
    weights = [self.attributes[name] for name in ("kernel", "bias") if name in self.attributes]
    result = run.apply(op, inputs, weights=weights, function=self.cls.name, framework="keras")
    return activations.apply(run, self.attributes.get("activation"), result)


@layer(rank=1, call=call_locally, build=build_locally)
def LocallyConnected1D(
    filters: Value, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    activation: Value = None, use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, bias_regularizer: Value = None,
    activity_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    implementation: Value = 1, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', filters), a kernel for each place."""
    return ()


@layer(rank=2, call=call_locally, build=build_locally)
def LocallyConnected2D(
    filters: Value, kernel_size: Value, strides: Value = (1, 1), padding: Value = "valid", data_format: Value = None,
    activation: Value = None, use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, bias_regularizer: Value = None,
    activity_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    implementation: Value = 1, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', filters), a kernel for each place."""
    return ()
