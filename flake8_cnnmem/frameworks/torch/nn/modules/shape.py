"""torch.nn's layers that change only the shape: flatten, padding, up-sampling, pixel shuffle, unfold."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.arguments import ntuple, per_axis, size, sizes
from flake8_cnnmem.frameworks.torch.functions.shapes import shaped, unflatten
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import padded, resize
from flake8_cnnmem.frameworks.torch.nn.layer import base_class, current, layer
from flake8_cnnmem.graph import Op
from flake8_cnnmem.ops import ChannelShuffle as ChannelShuffleOp
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.ops import Flatten as FlattenOp
from flake8_cnnmem.ops import Fold as FoldOp
from flake8_cnnmem.ops import PixelShuffle as PixelShuffleOp
from flake8_cnnmem.ops import Unflatten as UnflattenOp
from flake8_cnnmem.ops import Unfold as UnfoldOp
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

_ConstantPadNd = base_class("_ConstantPadNd", "padding")
_ReflectionPadNd = base_class("_ReflectionPadNd", "padding")
_ReplicationPadNd = base_class("_ReplicationPadNd", "padding")
_CircularPadNd = base_class("_CircularPadNd", "padding")
BASES = {cls.name: cls for cls in (_ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd)}


def flatten_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Flatten, by the attributes that it has then."""
    start, end = current(run, self, "start_dim", "end_dim")
    return shaped(run, FlattenOp(start, end), input, "Flatten")


@layer("flatten", weighted=False, forward=flatten_forward)
def Flatten(start_dim: Size = 1, end_dim: Size = -1) -> Op:
    """(N, ...) to (N, values), or the axes from `start_dim` to `end_dim` as one."""
    return FlattenOp(start_dim, end_dim)


def unflatten_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Unflatten, by the attributes that it has then."""
    dim, lengths = current(run, self, "dim", "unflattened_size")
    target = sizes((lengths,))
    if isinstance(target, Unknown):
        return unflatten(run, input, dim, target)
    return shaped(run, UnflattenOp(dim, target), input, "Unflatten")


@layer("flatten", weighted=False, forward=unflatten_forward)
def Unflatten(dim: Size, unflattened_size: Value) -> Op:
    """One axis as several."""
    shape = sizes((unflattened_size,))
    return Elementwise("view") if isinstance(shape, Unknown) else UnflattenOp(dim, shape)


def pad_forward(rank: int, mode: str, name: str) -> Callable[..., Value]:
    """The call of a padding layer over so many axes, by its mode."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        amounts = per_axis(attribute(run, self, "padding"), 2 * rank)
        pairs = [(amounts[at], amounts[at + 1]) for at in range(0, len(amounts) - 1, 2)]
        return padded(run, input, tuple(reversed(pairs)), mode, name)

    return forward


def arranger(rank: int) -> Callable[[dict[str, Value]], None]:
    """How a padding layer keeps its amounts: one before and one behind for each axis."""

    def arrange(attributes: dict[str, Value]) -> None:
        attributes["padding"] = ntuple(attributes["padding"], 2 * rank)

    return arrange


def _declare_pads(rank: int) -> None:
    def padding_only(padding: Value) -> Op:
        return Elementwise("pad")

    def with_value(padding: Value, value: Value) -> Op:
        return Elementwise("pad")

    def declare(name: str, stub: Callable[..., Op], mode: str, *bases: object) -> object:
        copy = stub if stub.__name__ == name else _renamed(stub, name)
        return layer(
            "padding",
            *bases,  # type: ignore[arg-type]
            weighted=False,
            forward=pad_forward(rank, mode, name),
            arrange=arranger(rank),
        )(copy)

    constant = declare(f"ConstantPad{rank}d", with_value, "constant", _ConstantPadNd)
    declare(f"ZeroPad{rank}d", padding_only, "constant", constant)
    declare(f"ReflectionPad{rank}d", padding_only, "reflect", _ReflectionPadNd)
    declare(f"ReplicationPad{rank}d", padding_only, "replicate", _ReplicationPadNd)
    declare(f"CircularPad{rank}d", padding_only, "circular", _CircularPadNd)


def _renamed(stub: Callable[..., Op], name: str) -> Callable[..., Op]:
    def copy(*args: Value, **kwargs: Value) -> Op:
        return stub(*args, **kwargs)

    copy.__name__ = name
    copy.__wrapped__ = stub  # type: ignore[attr-defined]
    return copy


for _rank in (1, 2, 3):
    _declare_pads(_rank)


def upsample_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Upsample, by the attributes that it has then."""
    target, scale, mode = current(run, self, "size", "scale_factor", "mode")
    return resize(run, input, target, scale, mode, self.cls.name)


@layer("upsampling", weighted=False, forward=upsample_forward)
def Upsample(
    size: Value = None, scale_factor: Value = None, mode: Value = "nearest", align_corners: Value = None,
    recompute_scale_factor: Value = None,
) -> Op:  # fmt: skip
    """(N, C, sides) to (N, C, size), or each side times its scale."""
    return Elementwise("upsample_nearest")


def _nearest(attributes: dict[str, Value]) -> None:
    attributes["mode"] = "nearest"


def _bilinear(attributes: dict[str, Value]) -> None:
    attributes["mode"] = "bilinear"


@layer("upsampling", Upsample, weighted=False, forward=upsample_forward, arrange=_nearest)
def UpsamplingNearest2d(size: Value = None, scale_factor: Value = None) -> Op:
    """(N, C, H, W) to (N, C, size), by the nearest value."""
    return Elementwise("upsample_nearest")


@layer("upsampling", Upsample, weighted=False, forward=upsample_forward, arrange=_bilinear)
def UpsamplingBilinear2d(size: Value = None, scale_factor: Value = None) -> Op:
    """(N, C, H, W) to (N, C, size), bilinear."""
    return Elementwise("upsample_bilinear")


@layer("pixelshuffle", weighted=False)
def PixelShuffle(upscale_factor: Value) -> Op:
    """(..., C r r, H, W) to (..., C, H r, W r)."""
    return PixelShuffleOp(size(upscale_factor))


@layer("pixelshuffle", weighted=False)
def PixelUnshuffle(downscale_factor: Value) -> Op:
    """(..., C, H r, W r) to (..., C r r, H, W)."""
    return PixelShuffleOp(size(downscale_factor), inverse=True)


@layer("channelshuffle", weighted=False)
def ChannelShuffle(groups: Value) -> Op:
    """(N, C, ...), channels dealt out anew."""
    return ChannelShuffleOp(size(groups))


@layer("fold", weighted=False)
def Unfold(kernel_size: Value, dilation: Value = 1, padding: Value = 0, stride: Value = 1) -> Op:
    """(N, C, H, W) to (N, C * kernel, blocks)."""
    return UnfoldOp(per_axis(kernel_size, 2), per_axis(dilation, 2), per_axis(padding, 2), per_axis(stride, 2))


@layer("fold", weighted=False)
def Fold(output_size: Value, kernel_size: Value, dilation: Value = 1, padding: Value = 0, stride: Value = 1) -> Op:
    """(N, C * kernel, blocks) to (N, C, output_size)."""
    return FoldOp(
        per_axis(output_size, 2), per_axis(kernel_size, 2), per_axis(dilation, 2), per_axis(padding, 2),
        per_axis(stride, 2),
    )  # fmt: skip
