"""Resizing, cropping, patches, and other functions of images."""

from __future__ import annotations

from typing import cast

from flake8_cnnmem.dims import Size, product
from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.ops.operands import apply, float_dtype, layout, shape_of
from flake8_cnnmem.frameworks.keras.ops.shaping import sizes
from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.ops import Convolution, Elementwise, Index, PixelShuffle, RepeatInterleave, Resize
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def resize(
    run: Runtime,
    images: Value,
    size: Value,
    method: Value = "bilinear",
    data_format: Value = "channels_last",
    **options: Value,
) -> Value:
    """`tf.image.resize(images, size)` and its like."""
    target = sizes(run, size)
    if isinstance(target, Unknown):
        target = (target, target)
    mode = (
        method.lower()
        if isinstance(method, str)
        else {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}.get(method, "bilinear")
        if isinstance(method, int)
        else "bilinear"
    )
    return apply(
        run,
        Resize(size=target, mode=mode, channels_last=layout(run, data_format)),
        images,
        function="resize",
        dtypes=float_dtype(images),
    )


def resize_images(
    run: Runtime,
    x: Value,
    height_factor: Value,
    width_factor: Value,
    data_format: Value = None,
    interpolation: str = "nearest",
) -> Value:
    """K.resize_images: by whole factors."""
    # Factors of a wrong kind are found by the op.
    scale = cast("tuple[float | Unknown, ...]", (height_factor, width_factor))
    op = Resize(scale=scale, mode=interpolation, channels_last=layout(run, data_format))
    return apply(run, op, x, function="resize_images")


def depth_to_space(run: Runtime, x: Value, block_size: Size, data_format: Value = "NHWC") -> Value:
    """(N, H, W, C b b) to (N, H b, W b, C), or channels first."""
    return apply(run, PixelShuffle(block_size, layout(run, data_format)), x, function="depth_to_space")


def space_to_depth(run: Runtime, x: Value, block_size: Size, data_format: Value = "NHWC") -> Value:
    """(N, H b, W b, C) to (N, H, W, C b b), or channels first."""
    return apply(run, PixelShuffle(block_size, layout(run, data_format), inverse=True), x, function="space_to_depth")


def patches(
    run: Runtime, images: Value, size: Value, strides: Value = None, dilation_rate: Value = 1, padding: Value = "valid",
    data_format: Value = None,
) -> Value:  # fmt: skip
    """`keras.ops.image.extract_patches`: (N, H, W, C) -> (N, rows, columns, size * size * C)."""
    shape, last = shape_of(images), layout(run, data_format)
    if isinstance(shape, Unknown) or len(shape) != 4:
        return apply(
            run,
            Elementwise("patches"),
            shape if isinstance(shape, Unknown) else run.unknown("patches of what is not an image"),
        )
    kernel = per_axis(plain(size), 2)
    filters = product((*kernel, shape[-1 if last else 1]))
    op = Convolution(
        filters, kernel, stride=kernel if strides is None else per_axis(plain(strides), 2), padding=padding,
        dilation=per_axis(dilation_rate, 2), bias=False, channels_last=last,
    )  # fmt: skip
    return run.apply(op, images, function="extract_patches", framework="keras")


def extract_patches(
    run: Runtime, images: Value, sizes: Value = None, strides: Value = None, rates: Value = None,
    padding: Value = "VALID", ksizes: Value = None,
) -> Value:  # fmt: skip
    """`tf.image.extract_patches`: sizes, strides and rates have four entries, as [1, rows, columns, 1]."""
    size = plain(ksizes if sizes is None else sizes)
    if not isinstance(size, (list, tuple)) or not isinstance(plain(strides), (list, tuple)):
        return run.unknown("the size of patches is not known")
    rate = tuple(rates[1:3]) if isinstance(rates, (list, tuple)) else 1
    name = padding.lower() if isinstance(padding, str) else padding
    return patches(run, images, tuple(size[1:3]), tuple(plain(strides)[1:3]), rate, name, "channels_last")


def crop_images(
    run: Runtime, images: Value, top_cropping: Value = None, left_cropping: Value = None, bottom_cropping: Value = None,
    right_cropping: Value = None, target_height: Value = None, target_width: Value = None, data_format: Value = None,
) -> Value:  # fmt: skip
    """`keras.ops.image.crop_images`: from the top and the left, to a size or up to the bottom and the right."""
    rows = side(run, top_cropping, bottom_cropping, target_height)
    columns = side(run, left_cropping, right_cropping, target_width)
    if rows is None or columns is None:
        return run.unknown("where images are cropped is not known")
    rest = (slice(None),) if layout(run, data_format) else ()
    return apply(run, Index((Ellipsis, rows, columns, *rest)), images, function="crop_images")


def side(run: Runtime, before: Value, after: Value, target: Value) -> slice | None:
    """The slice along one axis that two of the three describe."""
    if target is not None:
        if before is None and after is not None:
            end = None if after == 0 else run.operate_unary("neg", after)
            return slice(run.operate("-", run.operate("*", -1, target), after), end)
        start = before or 0
        return slice(start, run.operate("+", start, target))
    if isinstance(after, int):
        return slice(before or 0, -after if after else None)
    return None


def crop(
    run: Runtime, image: Value, offset_height: Value, offset_width: Value, target_height: Value, target_width: Value
) -> Value:
    """`tf.image.crop_to_bounding_box`: (..., height, width, channels) to (..., target_height, target_width,
    channels)."""
    rows = slice(offset_height, run.operate("+", offset_height, target_height))
    columns = slice(offset_width, run.operate("+", offset_width, target_width))
    return apply(run, Index((Ellipsis, rows, columns, slice(None))), image, function="crop")


def fit(run: Runtime, image: Value, target_height: Value, target_width: Value) -> Value:
    """Cropped or padded to a size: `tf.image.resize_with_crop_or_pad` and its like."""
    return resize(run, image, (target_height, target_width), "nearest")


def more_channels(run: Runtime, x: Value, times: int = 3) -> Value:
    """`tf.image.grayscale_to_rgb`: (..., channels) to (..., 3 channels)."""
    return apply(run, RepeatInterleave(times, -1), x, function="grayscale_to_rgb")
