"""Layers that move, cut or repeat values without computing (keras/src/layers/reshaping)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flake8_cnnmem.dims import Shape, Size, product
from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Crop, Pad, Resize, Unsqueeze
from flake8_cnnmem.ops import Permute as PermuteOp
from flake8_cnnmem.ops import Repeat as RepeatOp
from flake8_cnnmem.ops import Reshape as ReshapeOp
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

INTERPOLATIONS = ("area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic", "nearest")
"""Those of all versions."""


def rank_of(run: Runtime, inputs: Value) -> Shape | Unknown:
    """The shape of an input, or why it is not known."""
    if isinstance(inputs, Tensor):
        return inputs.shape
    return inputs if isinstance(inputs, Unknown) else run.unknown("a layer is called on what is not a tensor")


def call_flatten(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Flatten: (N, values of a sample)."""
    shape = rank_of(run, inputs)
    if isinstance(shape, Unknown):
        return apply(run, self, ReshapeOp((shape, shape)), inputs)
    target: tuple[Size, ...] = (shape[0], product(shape[1:])) if shape else (1,)
    return apply(run, self, ReshapeOp(target), inputs)


@layer(call=call_flatten)
def Flatten(data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, ...) to (N, values of a sample)."""
    return ()


def call_reshape(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Reshape: (N, *target_shape), a -1 worked out."""
    shape = rank_of(run, inputs)
    target = self.attributes.get("target_shape")
    if isinstance(target, int):
        target = (target,)
    if isinstance(target, Unknown) or not isinstance(target, (list, tuple)):
        return run.unknown("the target of a Reshape is not known")
    first = shape if isinstance(shape, Unknown) else shape[0]
    # a dimension of None leaves its size open, as -1 does
    sizes = tuple(-1 if size is None else size for size in target)
    return apply(run, self, ReshapeOp((first, *sizes)), inputs)


@layer(call=call_reshape)
def Reshape(target_shape: Value, **kwargs: Value) -> Ops:
    """(N, ...) to (N, *target_shape)."""
    return ()


@layer()
def Permute(dims: Iterable[Size], **kwargs: Value) -> Ops:
    """The axes of a sample in another order."""
    return PermuteOp((0, *dims))


@layer(ndim=2)
def RepeatVector(n: Size, **kwargs: Value) -> Ops:
    """(N, features) to (N, n, features)."""
    if isinstance(n, int) and n <= 0:
        raise ValueError(f"Argument `n` should be a positive integer, not {n}")
    return Unsqueeze(1), RepeatOp((1, n, 1))


def pairs(value: Any, rank: int) -> tuple[Any, ...]:
    """Cropping and padding arguments in full: a (before, after) pair for each spatial axis."""
    if isinstance(value, (list, tuple)):
        if rank == 1 and len(value) == 2 and not isinstance(value[0], (list, tuple)):
            return (tuple(value),)
        if rank == 1 and len(value) == 1:
            return (tuple(per_axis(value[0], 2)),)
        # Keras 1 wrote ZeroPadding2D((top, bottom, left, right))
        if rank == 2 and len(value) == 4:
            return (tuple(value[:2]), tuple(value[2:]))
        return tuple(tuple(item) if isinstance(item, (list, tuple)) else (item, item) for item in value)
    return ((value, value),) * rank


def around(sides: tuple[Any, ...], data_format: Value) -> tuple[Any, ...]:
    """The pairs of spatial axes among those of the batch and the channels."""
    none = ((0, 0),)
    return none * 2 + sides if data_format == "channels_first" else none + sides + none


@layer(ndim=3)
def ZeroPadding1D(padding: Value = 1, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, L, C) with zeros before and behind."""
    return Pad(around(pairs(padding, 1), data_format))


@layer(ndim=4)
def ZeroPadding2D(padding: Value = (1, 1), data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, H, W, C) with zeros around."""
    return Pad(around(pairs(padding, 2), data_format))


@layer(ndim=5)
def ZeroPadding3D(padding: Value = ((1, 1), (1, 1), (1, 1)), data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) with zeros around."""
    return Pad(around(pairs(padding, 3), data_format))


@layer(ndim=3)
def Cropping1D(cropping: Value = (1, 1), **kwargs: Value) -> Ops:
    """(N, L, C) without what is cut before and behind."""
    return Crop(around(pairs(cropping, 1), "channels_last"))


@layer(ndim=4)
def Cropping2D(cropping: Value = ((0, 0), (0, 0)), data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, H, W, C) without what is cut around."""
    return Crop(around(pairs(cropping, 2), data_format))


@layer(ndim=5)
def Cropping3D(cropping: Value = ((1, 1), (1, 1), (1, 1)), data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) without what is cut around."""
    return Crop(around(pairs(cropping, 3), data_format))


@layer(ndim=3)
def UpSampling1D(size: Value = 2, **kwargs: Value) -> Ops:
    """(N, L, C) to (N, L * size, C)."""
    return Resize(scale=per_axis(size, 1), mode="nearest", channels_last=True)


@layer(ndim=4)
def UpSampling2D(
    size: Value = (2, 2), data_format: Value = None, interpolation: Value = "nearest", **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H * size, W * size, C)."""
    mode = interpolation if isinstance(interpolation, str) else "nearest"
    if mode.lower() not in INTERPOLATIONS:
        raise ValueError(f"`interpolation` argument should be one of {INTERPOLATIONS}, not {interpolation!r}")
    return Resize(scale=per_axis(size, 2), mode=mode, channels_last=data_format != "channels_first")


@layer(ndim=5)
def UpSampling3D(size: Value = (2, 2, 2), data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, D, H, W, C), each side times its size."""
    return Resize(scale=per_axis(size, 3), mode="nearest", channels_last=data_format != "channels_first")
