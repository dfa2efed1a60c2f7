"""torch.nn's convolutions, and their lazy forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flake8_cnnmem.dims import subtract
from flake8_cnnmem.frameworks.torch.applying import tensor_of
from flake8_cnnmem.frameworks.torch.arguments import ntuple, per_axis, size
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute, convolution_padding, convolve
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import padded
from flake8_cnnmem.frameworks.torch.nn.layer import BIAS, base_class, current, layer
from flake8_cnnmem.graph import Mismatch
from flake8_cnnmem.ops import Convolution
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

_ConvNd = base_class("_ConvNd", "conv")
_ConvTransposeNd = base_class("_ConvTransposeNd", "conv", _ConvNd)

BASES = {"_ConvNd": _ConvNd, "_ConvTransposeNd": _ConvTransposeNd}


PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def arranger(rank: int, transposed: bool) -> Callable[[dict[str, Value]], None]:
    """Store the arguments as torch does: a tuple for each that goes by axes."""

    def arrange(attributes: dict[str, Value]) -> None:
        for name in ("kernel_size", "stride", "dilation"):
            attributes[name] = ntuple(attributes[name], rank)
        padding, mode = attributes["padding"], attributes.get("padding_mode", "zeros")
        if isinstance(mode, str) and mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode={mode!r}")
        if transposed and isinstance(padding, str):
            raise ValueError("a transposed convolution takes its padding in numbers")
        attributes["padding"] = padding if isinstance(padding, str) else ntuple(padding, rank)
        attributes["output_padding"] = ntuple(attributes.get("output_padding", 0), rank)
        attributes["transposed"] = transposed
        sides = on_each_side(attributes["padding"], attributes, rank)
        attributes[SIDES] = [amount for pair in reversed(sides) for amount in pair]

    return arrange


def declared(self: Instance) -> tuple[Value, Value, Value]:
    """What a convolution was made with: out_channels, in_channels, kernel_size."""
    attributes = self.attributes
    return attributes.get("out_channels"), attributes.get("in_channels"), attributes.get("kernel_size")


def convolution(
    rank: int, filters: Value, channels: Value, kernel: Value, groups: Value, bias: Value, transposed: bool = False
) -> Convolution:
    """The op of a layer that is not called yet: only its weights are asked for."""
    return Convolution(
        size(filters), per_axis(kernel, rank), size(channels), groups=size(groups), bias=asked(bias),
        transposed=transposed,
    )  # fmt: skip


def forward(rank: int) -> Callable[..., Value]:
    """The call of a convolution over so many axes, by the weights and attributes that it has then."""

    def call(run: Runtime, self: Instance, input: Value) -> Value:
        weight, bias = current(run, self, "weight", "bias")
        if "_conv_forward" in self.attributes or not isinstance(self.cls.find("_conv_forward"), Native):
            return run.call(run.get(self, "_conv_forward"), input, weight, bias)
        return with_weight(run, self, input, weight, bias)

    def with_weight(run: Runtime, self: Instance, input: Value, weight: Value, bias: Value) -> Value:
        stride, padding, dilation, groups = current(run, self, "stride", "padding", "dilation", "groups")
        mode = self.attributes.get("padding_mode", "zeros")
        function = self.cls.name if self.cls.site is None else f"Conv{rank}d"
        if isinstance(mode, str) and mode != "zeros":
            sides = self.attributes.get(SIDES)
            if isinstance(sides, Unknown) or not isinstance(sides, (list, tuple)) or len(sides) != 2 * rank:
                return run.unknown("what a convolution pads is not known")
            pairs = list(zip(sides[::2], sides[1::2], strict=True))
            amounts = [(size(before), size(behind)) for before, behind in reversed(pairs)]
            input = padded(run, input, amounts, mode)
            padding = 0
        return convolve(
            run, function, rank, input, weight, bias, stride, padding, dilation, groups, declared=declared(self)
        )

    call.with_weight = with_weight  # type: ignore[attr-defined]
    return call


SIDES = "_reversed_padding_repeated_twice"
"""What the constructor makes of the padding, the last axis first: a padding that is set later changes nothing in it."""


def on_each_side(padding: Value, attributes: Mapping[str, Any], rank: int) -> Sequence[tuple[Value, Value]]:
    """What is added before and behind each axis where it is not zeros that are added."""
    if padding == "valid":
        return ((0, 0),) * rank
    if padding != "same":
        return [(amount, amount) for amount in per_axis(padding, rank)]
    sides = zip(attributes["kernel_size"], attributes["dilation"], strict=True)
    totals = [(side - 1) * step if isinstance(side, int) and isinstance(step, int) else side for side, step in sides]
    return [(total // 2, total - total // 2) if isinstance(total, int) else (total, total) for total in totals]


def forward_transposed(rank: int) -> Callable[..., Value]:
    """The call of a transposed convolution over so many axes; `output_size` decides its sides."""

    def call(run: Runtime, self: Instance, input: Value, output_size: Value = None) -> Value:
        weight, bias, stride, padding, extra, groups, dilation = current(
            run, self, "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"
        )
        if self.cls.find("_output_padding") is not MISSING:
            return run.unknown(f"{self.cls.name} has an _output_padding() of its own")
        if output_size is not None:
            extra = extra_padding(run, self, rank, input, output_size)
        function = self.cls.name if self.cls.site is None else f"ConvTranspose{rank}d"
        return convolve(
            run, function, rank, input, weight, bias, stride, padding, dilation, groups, True, extra, declared(self)
        )

    return call


def extra_padding(run: Runtime, self: Instance, rank: int, input: Value, output_size: Value) -> Value:
    """The output padding that gives the wanted size (`_ConvTransposeNd._output_padding`)."""
    wanted = ntuple(output_size, rank)[-rank:]
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown) or len(tensor.shape) < rank:
        return run.unknown("the size that a transposed convolution starts from is not known")
    op = Convolution(
        1, per_axis(attribute(run, self, "kernel_size"), rank), None,
        per_axis(attribute(run, self, "stride"), rank), convolution_padding(attribute(run, self, "padding"), rank),
        per_axis(attribute(run, self, "dilation"), rank), transposed=True,
    )  # fmt: skip
    try:
        least = op.outputs(tensor.shape)[0][-rank:]
    except Mismatch:
        return run.unknown("the size that a transposed convolution starts from is not known")
    return tuple(subtract(size(aim), side) for aim, side in zip(wanted, least, strict=False))


def conv_members(rank: int) -> dict[str, Any]:
    """What a class of convolutions has besides: `_conv_forward`, which programs override or call."""
    call = forward(rank)
    return {"_conv_forward": Native("_conv_forward", call.with_weight, propagate_unknown=False)}  # type: ignore[attr-defined]


@layer("conv", _ConvNd, forward=forward(1), arrange=arranger(1, False), absent=BIAS, members=conv_members(1))
def Conv1d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    dilation: Value = 1, groups: Value = 1, bias: Value = True, padding_mode: Value = "zeros", device: Value = None,
    dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, L) to (N, out, L')."""
    return convolution(1, out_channels, in_channels, kernel_size, groups, bias)


@layer("conv", _ConvNd, forward=forward(2), arrange=arranger(2, False), absent=BIAS, members=conv_members(2))
def Conv2d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    dilation: Value = 1, groups: Value = 1, bias: Value = True, padding_mode: Value = "zeros", device: Value = None,
    dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, H, W) to (N, out, H', W')."""
    return convolution(2, out_channels, in_channels, kernel_size, groups, bias)


@layer("conv", _ConvNd, forward=forward(3), arrange=arranger(3, False), absent=BIAS, members=conv_members(3))
def Conv3d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    dilation: Value = 1, groups: Value = 1, bias: Value = True, padding_mode: Value = "zeros", device: Value = None,
    dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, D, H, W) to (N, out, D', H', W')."""
    return convolution(3, out_channels, in_channels, kernel_size, groups, bias)


@layer("conv", _ConvTransposeNd, forward=forward_transposed(1), arrange=arranger(1, True), absent=BIAS)
def ConvTranspose1d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    output_padding: Value = 0, groups: Value = 1, bias: Value = True, dilation: Value = 1,
    padding_mode: Value = "zeros", device: Value = None, dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, L) to (N, out, L'), as the gradient of a Conv1d."""
    return convolution(1, out_channels, in_channels, kernel_size, groups, bias, True)


@layer("conv", _ConvTransposeNd, forward=forward_transposed(2), arrange=arranger(2, True), absent=BIAS)
def ConvTranspose2d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    output_padding: Value = 0, groups: Value = 1, bias: Value = True, dilation: Value = 1,
    padding_mode: Value = "zeros", device: Value = None, dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, H, W) to (N, out, H', W'), as the gradient of a Conv2d."""
    return convolution(2, out_channels, in_channels, kernel_size, groups, bias, True)


@layer("conv", _ConvTransposeNd, forward=forward_transposed(3), arrange=arranger(3, True), absent=BIAS)
def ConvTranspose3d(
    in_channels: Value, out_channels: Value, kernel_size: Value, stride: Value = 1, padding: Value = 0,
    output_padding: Value = 0, groups: Value = 1, bias: Value = True, dilation: Value = 1,
    padding_mode: Value = "zeros", device: Value = None, dtype: Value = None,
) -> Convolution:  # fmt: skip
    """(N, in, D, H, W) to (N, out, D', H', W'), as the gradient of a Conv3d."""
    return convolution(3, out_channels, in_channels, kernel_size, groups, bias, True)


CONVOLUTIONS: dict[str, Class] = {
    cls.name: cls for cls in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
}
