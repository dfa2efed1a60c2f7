"""torchvision.transforms.functional, of v1 and v2: what each function makes of an image's size, channels and dtype."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.PIL import picture_of
from flake8_cnnmem.packages.torchvision.sizes import (
    NOT_KNOWN,
    as_picture,
    as_tensor,
    channels_of,
    floating,
    padded_sides,
    pair_of,
    resized,
    sides_of,
    whole,
    with_channels,
    with_sides,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

FUNCTIONAL: dict[str, Value] = {}


def define(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        for name in names or (function.__name__,):
            FUNCTIONAL[name] = Native(name, function, propagate_unknown=False)
        return function

    return enter


@define("to_tensor")
def to_tensor(run: Runtime, pic: Value) -> Value:
    return as_tensor(run, pic, "float")


@define("pil_to_tensor", "to_image", "to_image_tensor", "to_image_pil")
def pil_to_tensor(run: Runtime, pic: Value) -> Value:
    return as_tensor(run, pic)


@define("to_pil_image")
def to_pil_image(run: Runtime, pic: Value, mode: Value = None) -> Value:
    return as_picture(run, pic, mode)


@define("convert_image_dtype", "to_dtype", "to_dtype_image", "convert_dtype")
def to_dtype(run: Runtime, image: Value, dtype: Value = None, scale: Value = False) -> Value:
    if not isinstance(image, Tensor):
        return image
    return Tensor(image.shape, floating(dtype_of(dtype, "float")), framework=image.framework)


@define("resize", "resize_image")
def resize(
    run: Runtime, img: Value, size: Value, interpolation: Value = None, max_size: Value = None, antialias: Value = True
) -> Value:
    return resized(run, img, size, max_size)


@define("center_crop")
def center_crop(run: Runtime, img: Value, output_size: Value) -> Value:
    return with_sides(run, img, pair_of(output_size))


@define("crop")
def crop(run: Runtime, img: Value, top: Value, left: Value, height: Value, width: Value) -> Value:
    return with_sides(run, img, (whole(height), whole(width)))


@define("resized_crop")
def resized_crop(
    run: Runtime, img: Value, top: Value, left: Value, height: Value, width: Value, size: Value,
    interpolation: Value = None, antialias: Value = True,
) -> Value:  # fmt: skip
    return with_sides(run, img, pair_of(size))


@define("pad")
def pad(run: Runtime, img: Value, padding: Value, fill: Value = 0, padding_mode: Value = "constant") -> Value:
    return with_sides(run, img, padded_sides(sides_of(img), padding))


@define("five_crop")
def five_crop(run: Runtime, img: Value, size: Value) -> Value:
    return (with_sides(run, img, pair_of(size)),) * 5


@define("ten_crop")
def ten_crop(run: Runtime, img: Value, size: Value, vertical_flip: Value = False) -> Value:
    return (with_sides(run, img, pair_of(size)),) * 10


@define("rotate")
def rotate(
    run: Runtime, img: Value, angle: Value, interpolation: Value = None, expand: Value = False, center: Value = None,
    fill: Value = None,
) -> Value:  # fmt: skip
    if run.truth(expand) is False:
        return img
    return with_sides(run, img, (NOT_KNOWN, NOT_KNOWN))


@define("to_grayscale")
def to_grayscale(run: Runtime, img: Value, num_output_channels: Value = 1) -> Value:
    return with_channels(run, img, num_output_channels)


@define("rgb_to_grayscale")
def rgb_to_grayscale(run: Runtime, img: Value, num_output_channels: Value = 1) -> Value:
    return with_channels(run, img, num_output_channels)


@define("grayscale_to_rgb")
def grayscale_to_rgb(run: Runtime, img: Value) -> Value:
    return with_channels(run, img, 3)


@define("get_image_size", "get_size")
def get_image_size(run: Runtime, img: Value) -> Value:
    """[width, height]."""
    height, width = sides_of(img)
    return [width, height]


@define("get_dimensions")
def get_dimensions(run: Runtime, img: Value) -> Value:
    return [channels_of(img), *sides_of(img)]


@define("get_image_num_channels", "get_num_channels")
def get_num_channels(run: Runtime, img: Value) -> Value:
    return channels_of(img)


@define("normalize")
def normalize(run: Runtime, tensor: Value, mean: Value, std: Value, inplace: Value = False) -> Value:
    """As many channels as there are means, where those of the image are not known: of another number it would raise."""
    if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        return tensor
    channels = channels_of(tensor)
    if isinstance(channels, Unknown) and isinstance(mean, (tuple, list)) and len(mean) > 1:
        return with_channels(run, tensor, len(mean))
    if tensor.call is not None and len(tensor.shape) == 4:
        shifted = run.operate("-", tensor, Tensor((dims.per_sample(channels), 1, 1)))
        return run.operate("/", shifted, Tensor((dims.per_sample(channels), 1, 1)))
    return tensor


def unchanged(run: Runtime, img: Value, *args: Value, **kwargs: Value) -> Value:
    """Neither size nor channels change."""
    return img


define(
    "hflip", "vflip", "horizontal_flip", "vertical_flip", "affine", "perspective", "elastic_transform", "elastic",
    "adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue", "adjust_gamma", "adjust_sharpness",
    "gaussian_blur", "gaussian_noise", "invert", "posterize", "solarize", "autocontrast", "equalize", "erase",
    "to_pure_tensor", "clamp_bounding_boxes", "jpeg", "permute_channels",
)(unchanged)  # fmt: skip


def is_picture(run: Runtime, img: Value) -> Value:
    return img if isinstance(img, Unknown) else picture_of(img) is not None


FUNCTIONAL["_is_pil_image"] = Native("_is_pil_image", is_picture, propagate_unknown=False)
