"""Pooling, global pooling and adaptive pooling (keras/src/layers/pooling)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.ops import AdaptivePool, GlobalPool, Pool
from flake8_cnnmem.values import Value


def pool(mode: str, rank: int, pool_size: Value, strides: Value, padding: Value, data_format: Value) -> Pool:
    """The op of a pool over so many axes, "max" or "average"."""
    kernel = per_axis(pool_size, rank)
    return Pool(
        mode,
        kernel,
        kernel if strides is None else per_axis(strides, rank),
        padding,
        channels_last=data_format != "channels_first",
    )


@layer("MaxPool1D", rank=1)
def MaxPooling1D(
    pool_size: Value = 2, strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', C)."""
    return pool("max", 1, pool_size, strides, padding, data_format)


@layer("MaxPool2D", rank=2)
def MaxPooling2D(
    pool_size: Value = (2, 2), strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', C)."""
    return pool("max", 2, pool_size, strides, padding, data_format)


@layer("MaxPool3D", rank=3)
def MaxPooling3D(
    pool_size: Value = (2, 2, 2), strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, D, H, W, C) to (N, D', H', W', C)."""
    return pool("max", 3, pool_size, strides, padding, data_format)


# Keras 2's average pools had the default size of 2 that Keras 3 asks for.


@layer("AvgPool1D", rank=1)
def AveragePooling1D(
    pool_size: Value = 2, strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, L, C) to (N, L', C)."""
    return pool("average", 1, pool_size, strides, padding, data_format)


@layer("AvgPool2D", rank=2)
def AveragePooling2D(
    pool_size: Value = (2, 2), strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, H', W', C)."""
    return pool("average", 2, pool_size, strides, padding, data_format)


@layer("AvgPool3D", rank=3)
def AveragePooling3D(
    pool_size: Value = (2, 2, 2), strides: Value = None, padding: Value = "valid", data_format: Value = None,
    name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, D, H, W, C) to (N, D', H', W', C)."""
    return pool("average", 3, pool_size, strides, padding, data_format)


def global_pool(mode: str, rank: int, data_format: Value, keepdims: Value) -> GlobalPool:
    """The op of a global pool over so many axes, "max" or "average"."""
    return GlobalPool(mode, rank, keepdims=bool(keepdims is True), channels_last=data_format != "channels_first")


@layer("GlobalMaxPool1D", ndim=3)
def GlobalMaxPooling1D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, L, C) to (N, C)."""
    return global_pool("max", 1, data_format, keepdims)


@layer("GlobalMaxPool2D", ndim=4)
def GlobalMaxPooling2D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, H, W, C) to (N, C)."""
    return global_pool("max", 2, data_format, keepdims)


@layer("GlobalMaxPool3D", ndim=5)
def GlobalMaxPooling3D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) to (N, C)."""
    return global_pool("max", 3, data_format, keepdims)


@layer("GlobalAvgPool1D", ndim=3)
def GlobalAveragePooling1D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, L, C) to (N, C)."""
    return global_pool("average", 1, data_format, keepdims)


@layer("GlobalAvgPool2D", ndim=4)
def GlobalAveragePooling2D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, H, W, C) to (N, C)."""
    return global_pool("average", 2, data_format, keepdims)


@layer("GlobalAvgPool3D", ndim=5)
def GlobalAveragePooling3D(data_format: Value = None, keepdims: Value = False, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) to (N, C)."""
    return global_pool("average", 3, data_format, keepdims)


def adaptive(mode: str, rank: int, output_size: Value, data_format: Value) -> AdaptivePool:
    """The op of an adaptive pool over so many axes, "max" or "average"."""
    return AdaptivePool(mode, per_axis(output_size, rank), channels_last=data_format != "channels_first")


@layer(ndim=3)
def AdaptiveAveragePooling1D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, L, C) to (N, output_size, C)."""
    return adaptive("average", 1, output_size, data_format)


@layer(ndim=4)
def AdaptiveAveragePooling2D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, H, W, C) to (N, *output_size, C)."""
    return adaptive("average", 2, output_size, data_format)


@layer(ndim=5)
def AdaptiveAveragePooling3D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) to (N, *output_size, C)."""
    return adaptive("average", 3, output_size, data_format)


@layer(ndim=3)
def AdaptiveMaxPooling1D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, L, C) to (N, output_size, C)."""
    return adaptive("max", 1, output_size, data_format)


@layer(ndim=4)
def AdaptiveMaxPooling2D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, H, W, C) to (N, *output_size, C)."""
    return adaptive("max", 2, output_size, data_format)


@layer(ndim=5)
def AdaptiveMaxPooling3D(output_size: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, D, H, W, C) to (N, *output_size, C)."""
    return adaptive("max", 3, output_size, data_format)
