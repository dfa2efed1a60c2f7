"""Images read from files by torchvision.io, imageio, scikit-image and matplotlib; what torchvision.utils draws."""

from __future__ import annotations

from flake8_cnnmem.dims import as_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.PIL import picture_of
from flake8_cnnmem.packages.torchvision.sizes import NOT_KNOWN, as_tensor, floating, pair_of, sides_of, with_sides
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Value, native

CHANNELS = {"GRAY": 1, "GRAY_ALPHA": 2, "RGB": 3, "RGB_ALPHA": 4}
READ_MODE = Class("ImageReadMode", namespace={name: name for name in ("UNCHANGED", *CHANNELS)}, module="torchvision.io")


def read_image(run: Runtime, path: Value, mode: Value = "UNCHANGED", apply_exif_orientation: Value = False) -> Value:
    """(C, H, W), bytes."""
    cause = run.unknown("the size of an image in a file is not known")
    channels = CHANNELS.get(mode, cause) if isinstance(mode, str) else cause
    return Tensor((channels, cause, cause), "uint8")


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    return None


def not_known(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("what a file holds is not known")


def array(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """An image of which not even the number of axes is known."""
    cause = run.unknown("the size of an image in a file is not known")
    return Tensor(cause.of_picture(cause, cause), "uint8", framework="numpy")


def resize(run: Runtime, image: Value, output_shape: Value, *args: Value, **kwargs: Value) -> Value:
    """skimage.transform.resize: floats, of the given size; channels that it does not name stay."""
    if isinstance(output_shape, tuple) and len(output_shape) > 2:
        cause = run.unknown("the size of a resized image is not known")
        return Tensor(tuple(as_size(size, cause) for size in output_shape), "float64", framework="numpy")
    if isinstance(image, Unknown):
        return image
    resized = with_sides(run, image, pair_of(output_shape[:2] if isinstance(output_shape, tuple) else output_shape))
    if isinstance(resized, Tensor):
        return Tensor(resized.shape, "float64", framework="numpy")
    return resized


def floats(run: Runtime, image: Value, *args: Value, dtype: str = "float64", **kwargs: Value) -> Value:
    """Other values, as floats between 0 and 1, of the same size."""
    return Tensor(image.shape, dtype, framework="numpy") if isinstance(image, Tensor) else image


def rescale(run: Runtime, image: Value, scale: Value, *args: Value, **kwargs: Value) -> Value:
    """skimage.transform.rescale: each side by a factor, rounded."""
    if isinstance(image, Unknown):
        return image
    factors = list(scale) if isinstance(scale, (tuple, list)) else [scale, scale]
    sides = [
        round(side * factor) if isinstance(side, int) and isinstance(factor, (int, float)) else NOT_KNOWN
        for side, factor in zip(sides_of(image), factors, strict=False)
    ]
    return floats(run, with_sides(run, image, (sides[0], sides[1])) if len(sides) == 2 else image)


def turned(run: Runtime, image: Value, angle: Value, resize: Value = False, *args: Value, **kwargs: Value) -> Value:
    if isinstance(image, Unknown) or run.truth(resize) is False:
        return floats(run, image)
    return floats(run, with_sides(run, image, (NOT_KNOWN, NOT_KNOWN)))


def coloured(run: Runtime, image: Value, channels: int | None, kept: Value = None) -> Value:
    """An image with so many channels; None for no axis of them."""
    sides = sides_of(image)
    dtype = kept.dtype if isinstance(kept, Tensor) else "float64"
    return Tensor(sides if channels is None else (*sides, channels), dtype, framework="numpy")


IO: dict[str, Value] = {
    "read_image": native("read_image", read_image),
    "decode_image": native("decode_image", read_image),
    "decode_jpeg": native("decode_jpeg", read_image),
    "ImageReadMode": READ_MODE,
    **{name: native(name, not_known) for name in ("read_file", "read_video", "encode_jpeg", "VideoReader")},
    **{name: native(name, nothing) for name in ("write_jpeg", "write_png", "write_file", "write_video")},
}
UTILITIES: dict[str, Value] = {
    "save_image": native("save_image", nothing),
    "make_grid": native("make_grid", lambda run, *args, **kwargs: run.unknown("a grid of images is not followed")),
    "draw_bounding_boxes": native("draw_bounding_boxes", lambda run, image, *args, **kwargs: image),
    "draw_segmentation_masks": native("draw_segmentation_masks", lambda run, image, *args, **kwargs: image),
}
"""torchvision.utils, which only draws. What it registers for models is read nowhere else than in its models."""

READERS: dict[str, dict[str, Value]] = {
    "imageio": {"imread": native("imread", array), "imwrite": native("imwrite", nothing),
                "imsave": native("imsave", nothing), "mimsave": native("mimsave", nothing)},
    "imageio.v2": {"imread": native("imread", array), "imwrite": native("imwrite", nothing)},
    "imageio.v3": {"imread": native("imread", array), "imwrite": native("imwrite", nothing)},
    "skimage": {},
    "skimage.io": {"imread": native("imread", array), "imsave": native("imsave", nothing)},
    "skimage.transform": {
        "resize": native("resize", resize), "rescale": native("rescale", rescale), "rotate": native("rotate", turned),
        **{name: native(name, floats) for name in ("warp", "swirl")},
    },
    "skimage.color": {
        "rgb2gray": native("rgb2gray", lambda run, rgb, **kwargs: coloured(run, rgb, None)),
        "gray2rgb": native("gray2rgb", lambda run, image, **kwargs: coloured(run, image, 3, image)),
        **{name: native(name, floats) for name in ("rgb2lab", "lab2rgb", "rgb2hsv", "hsv2rgb", "rgb2yuv", "yuv2rgb")},
    },
    "skimage.util": {
        **{name: native(name, floats) for name in ("img_as_float", "img_as_float64", "random_noise")},
        "img_as_float32": native("img_as_float32", lambda run, image, *args: floats(run, image, dtype="float32")),
        "img_as_ubyte": native("img_as_ubyte", lambda run, image, *args: floats(run, image, dtype="uint8")),
    },
    "skimage.filters": {"gaussian": native("gaussian", floats)},
    "skimage.exposure": {
        name: native(name, floats)
        for name in ("rescale_intensity", "equalize_hist", "equalize_adapthist", "adjust_gamma")
    },
    "matplotlib.colors": {name: native(name, floats) for name in ("rgb_to_hsv", "hsv_to_rgb")},
}  # fmt: skip


def marked(run: Runtime, data: Value, *args: Value, **kwargs: Value) -> Value:
    """torchvision.tv_tensors: a Pillow image as (C, H, W), anything else as the tensor that it is."""
    if isinstance(data, Unknown) or picture_of(data) is not None:
        return as_tensor(run, data)
    return Tensor(data.shape, floating(data.dtype)) if isinstance(data, Tensor) else data


KINDS = ("Image", "Mask", "Video", "BoundingBoxes", "TVTensor")
MARKED: dict[str, Value] = {
    **{name: Class(name, namespace={"__new__": native("__new__", lambda run, cls, data, *args, **kwargs: marked(
        run, data))}, module="torchvision.tv_tensors") for name in KINDS},
    "wrap": native("wrap", lambda run, wrappee, **kwargs: wrappee),
    "set_return_type": native("set_return_type", nothing),
}  # fmt: skip
