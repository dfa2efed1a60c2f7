"""Pillow's images: their mode and size, as far as the code says them. Nothing is ever opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

BANDS = {
    "1": 1, "L": 1, "P": 1, "I": 1, "F": 1, "I;16": 1, "LA": 2, "PA": 2, "La": 2, "RGB": 3, "YCbCr": 3, "LAB": 3,
    "HSV": 3, "RGBA": 4, "CMYK": 4, "RGBX": 4, "RGBa": 4,
}  # fmt: skip
"""Bands by mode, from Pillow's documentation of its modes."""

VALUES = {"1": "bool", "I": "int32", "F": "float32", "I;16": "uint16"}
"""dtypes of the modes whose values are not bytes."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image's mode ("RGB") and size in pixels."""

    mode: str | Unknown
    height: Size
    width: Size

    @property
    def bands(self) -> Size:
        return self.mode if isinstance(self.mode, Unknown) else BANDS.get(self.mode, Unknown("an image's mode"))

    @property
    def dtype(self) -> str:
        return VALUES.get(self.mode, "uint8") if isinstance(self.mode, str) else "uint8"

    def either(self, other: Picture, cause: Unknown | None) -> Picture:
        """One picture for two that a test decides between: what they do not share is not known."""
        unknown = cause if cause is not None else Unknown("which of two images it is is not known")
        return Picture(
            self.mode if self.mode == other.mode else unknown,
            self.height if self.height == other.height else unknown,
            self.width if self.width == other.width else unknown,
        )

    def sized(self, height: Size, width: Size) -> Picture:
        return Picture(self.mode, height, width)


MEMBERS = Members()
IMAGE = Class("Image", namespace=MEMBERS, module="PIL.Image")


def image(picture: Picture) -> Instance:
    return Instance(IMAGE, native=picture)


def picture_of(value: Value) -> Picture | None:
    """What is known of a Pillow image; None for any other value."""
    return value.native if isinstance(value, Instance) and isinstance(value.native, Picture) else None


def of_unknown_size(run: Runtime, mode: str | Unknown) -> Instance:
    cause = run.unknown("the size of an image in a file is not known")
    return image(Picture(mode, cause, cause))


def converted(run: Runtime, mode: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`convert(mode)` of something that is not known: only an image has it with the name of a mode."""
    if isinstance(mode, str) and mode in BANDS:
        return of_unknown_size(run, mode)
    return run.unknown("what a data set holds is not known")


PERHAPS_IMAGE: Mapping[str, Value] = {"convert": Native("convert", converted, propagate_unknown=False)}
"""What is known of something that may be an image: a sample of a data set whose files are not read."""


def own(self: Instance) -> Picture:
    picture = picture_of(self)
    return picture if picture is not None else Picture(*[Unknown("an image that was never made")] * 3)


def size_of(value: Value) -> tuple[Size, Size]:
    """(height, width) of Pillow's (width, height)."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return plain(value[1]), plain(value[0])
    cause = value if isinstance(value, Unknown) else Unknown("the size of an image is not known")
    return cause, cause


def plain(value: Value) -> Size:
    if isinstance(value, (int, Unknown)):
        return value
    return int(value) if isinstance(value, float) else Unknown("the size of an image is not known")


@MEMBERS.method("convert")
def convert(run: Runtime, self: Instance, mode: Value = None, *args: Value, **kwargs: Value) -> Value:
    picture = own(self)
    return image(Picture(mode_of(run, mode), picture.height, picture.width))


@MEMBERS.method("resize")
def resize(run: Runtime, self: Instance, size: Value, *args: Value, **kwargs: Value) -> Value:
    return image(own(self).sized(*size_of(size)))


@MEMBERS.method("thumbnail", "draft")
def thumbnail(run: Runtime, self: Instance, size: Value, *args: Value, **kwargs: Value) -> Value:
    cause = run.unknown("the size of a thumbnail is not known")
    run.changed(self)
    self.native = own(self).sized(cause, cause)
    return None


@MEMBERS.method("crop")
def crop(run: Runtime, self: Instance, box: Value = None) -> Value:
    if box is None:
        return image(own(self))
    if isinstance(box, (tuple, list)) and len(box) == 4:
        left, top, right, bottom = box
        return image(own(self).sized(plain(run.operate("-", bottom, top)), plain(run.operate("-", right, left))))
    cause = run.unknown("the size of a crop is not known")
    return image(own(self).sized(cause, cause))


@MEMBERS.method("rotate")
def rotate(
    run: Runtime, self: Instance, angle: Value, resample: Value = 0, expand: Value = 0, **kwargs: Value
) -> Value:
    if run.truth(expand) is False:
        return image(own(self))
    cause = run.unknown("the size of a rotated image is not known")
    return image(own(self).sized(cause, cause))


@MEMBERS.method("transpose")
def transpose(run: Runtime, self: Instance, method: Value) -> Value:
    picture = own(self)
    if method in (FLIPS["FLIP_LEFT_RIGHT"], FLIPS["FLIP_TOP_BOTTOM"], FLIPS["ROTATE_180"]):
        return image(picture)
    if isinstance(method, int):
        return image(picture.sized(picture.width, picture.height))
    cause = run.unknown("the size of a transposed image is not known")
    return image(picture.sized(cause, cause))


@MEMBERS.method("transform")
def transform(run: Runtime, self: Instance, size: Value, *args: Value, **kwargs: Value) -> Value:
    return resize(run, self, size)


@MEMBERS.method("copy", "filter", "point", "quantize", "effect_spread", "__enter__")
def itself(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return self


@MEMBERS.method("split")
def split(run: Runtime, self: Instance) -> Value:
    picture = own(self)
    if not isinstance(picture.bands, int):
        return picture.bands
    return tuple(image(Picture("L", picture.height, picture.width)) for _ in range(picture.bands))


@MEMBERS.method("getchannel")
def getchannel(run: Runtime, self: Instance, channel: Value) -> Value:
    return image(Picture("L", own(self).height, own(self).width))


@MEMBERS.method("getbands")
def getbands(run: Runtime, self: Instance) -> Value:
    mode = own(self).mode
    return tuple(mode) if isinstance(mode, str) else run.unknown("the mode of an image is not known")


@MEMBERS.method("__array__")
def array(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return array_of(own(self))


def array_of(picture: Picture) -> Tensor:
    """(height, width, bands), or (height, width) for a mode of one band."""
    sides = (picture.height, picture.width)
    bands = picture.bands
    if isinstance(bands, Unknown):
        # Not even the rank is known.
        return Tensor(bands.of_picture(*sides), picture.dtype, framework="numpy")
    return Tensor(sides if bands == 1 else (*sides, bands), picture.dtype, framework="numpy")


@MEMBERS.method("save", "show", "close", "load", "verify", "seek", "paste", "putpixel", "putalpha", "alpha_composite",
                "putdata", "putpalette", "__exit__")  # fmt: skip
def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return None


@MEMBERS.method("__getattr__")
def other(run: Runtime, self: Instance, name: Value) -> Value:
    """What an image tells of its pixels or its file."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of an image is not known")


def as_read(side: Size) -> Size:
    return side.another("int") if isinstance(side, Unknown) else side


for _name, _property in {
    "size": lambda run, self: dims.read((own(self).width, own(self).height)),
    "width": lambda run, self: as_read(own(self).width),
    "height": lambda run, self: as_read(own(self).height),
    "mode": lambda run, self: own(self).mode,
}.items():
    MEMBERS[_name] = Property(Native(_name, _property))


# The modules

FLIPS = {
    "FLIP_LEFT_RIGHT": 0, "FLIP_TOP_BOTTOM": 1, "ROTATE_90": 2, "ROTATE_180": 3, "ROTATE_270": 4, "TRANSPOSE": 5,
    "TRANSVERSE": 6,
}  # fmt: skip
FILTERS = {"NEAREST": 0, "LANCZOS": 1, "ANTIALIAS": 1, "BILINEAR": 2, "BICUBIC": 3, "BOX": 4, "HAMMING": 5}
"""Constants of PIL.Image, by its documentation."""


def opened(run: Runtime, fp: Value, mode: Value = "r", formats: Value = None) -> Value:
    return of_unknown_size(run, run.unknown("the mode of an image in a file is not known"))


def new(run: Runtime, mode: str | Unknown, size: Value, color: Value = 0) -> Value:
    return image(Picture(mode, *size_of(size)))


def mode_of(run: Runtime, mode: Value) -> str | Unknown:
    return mode if isinstance(mode, (str, Unknown)) else run.unknown("the mode of an image is not known")


def from_array(run: Runtime, obj: Value, mode: Value = None) -> Value:
    """The mode is that of the array's last axis."""
    shape = obj.shape if isinstance(obj, Tensor) else obj
    if not isinstance(shape, tuple) or len(shape) not in (2, 3):
        cause = shape if isinstance(shape, Unknown) else run.unknown("an image is made from something else")
        return image(Picture(cause if mode is None else mode_of(run, mode), cause, cause))
    if mode is None:
        cause = run.unknown("the mode of an image is not known")
        last = shape[2] if len(shape) == 3 else 1
        mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}.get(last, cause) if isinstance(last, int) else cause
    return image(Picture(mode_of(run, mode), shape[0], shape[1]))


def merged(run: Runtime, mode: str | Unknown, bands: Value) -> Value:
    first = picture_of(bands[0]) if isinstance(bands, (tuple, list)) and bands else None
    cause = run.unknown("the size of a merged image is not known")
    return image(Picture(mode, cause, cause) if first is None else Picture(mode, first.height, first.width))


def passed_on(run: Runtime, img: Value, *args: Value, **kwargs: Value) -> Value:
    return img


def fitted(run: Runtime, img: Value, size: Value, *args: Value, **kwargs: Value) -> Value:
    picture = picture_of(img)
    return run.unknown("what is no image is fitted") if picture is None else image(picture.sized(*size_of(size)))


def expanded(run: Runtime, image_: Value, border: Value = 0, fill: Value = 0) -> Value:
    """A border of so many pixels: on all sides, left and right / top and bottom, or on each side."""
    picture = picture_of(image_)
    if picture is None:
        return run.unknown("what is no image is expanded")
    parts = list(border) if isinstance(border, (tuple, list)) else [border]
    left, top, right, bottom = (parts * 4)[:4] if len(parts) in (1, 2, 4) else [border] * 4

    def more(side: Size, before: Value, after: Value) -> Size:
        return plain(run.operate("+", run.operate("+", before, side), after))

    return image(picture.sized(more(picture.height, top, bottom), more(picture.width, left, right)))


def rescaled(run: Runtime, image_: Value, factor: Value, resample: Value = None) -> Value:
    picture = picture_of(image_)
    if picture is None:
        return run.unknown("what is no image is scaled")
    height, width = (
        round(factor * side) if isinstance(factor, (int, float)) and isinstance(side, int) else first_unknown(side)
        for side in (picture.height, picture.width)
    )
    return image(picture.sized(height, width))


def first_unknown(side: Size) -> Unknown:
    return side if isinstance(side, Unknown) else Unknown("the size of an image is not known")


def contained(run: Runtime, image_: Value, size: Value, method: Value = None) -> Value:
    """Inside of a size, at the image's own aspect."""
    picture = picture_of(image_)
    cause = run.unknown("the size of an image that keeps its aspect is not known")
    return cause if picture is None else image(picture.sized(cause, cause))


def natives(functions: dict[str, Any]) -> dict[str, Value]:
    return {
        name: value if isinstance(value, (Class, int)) else Native(name, value, propagate_unknown=False)
        for name, value in functions.items()
    }


RESAMPLING = Class("Resampling", namespace=dict(FILTERS), module="PIL.Image")
TRANSPOSE = Class("Transpose", namespace=dict(FLIPS), module="PIL.Image")

ENHANCER = Class(
    "Enhancer",
    namespace={
        "__init__": Native(
            "__init__", lambda run, self, image: self.attributes.update(image=image), propagate_unknown=False
        ),
        "enhance": Native("enhance", lambda run, self, factor: self.attributes.get("image"), propagate_unknown=False),
    },
    module="PIL.ImageEnhance",
)

MODULES: dict[str, dict[str, Value]] = {
    "PIL": {},
    "PIL.Image": natives({
        "Image": IMAGE, "open": opened, "new": new, "fromarray": from_array, "merge": merged, **FILTERS, **FLIPS,
        "Resampling": RESAMPLING, "Transpose": TRANSPOSE, "blend": passed_on, "AFFINE": 0, "EXTENT": 1,
    }),
    "PIL.ImageOps": natives({
        "expand": expanded, "scale": rescaled, "contain": contained, "cover": contained,
        **dict.fromkeys(("autocontrast", "equalize", "flip", "mirror", "invert", "posterize", "solarize"), passed_on),
        "exif_transpose": passed_on, "fit": fitted, "pad": fitted,
        "grayscale": lambda run, image: convert(run, image, "L"),
    }),
    "PIL.ImageEnhance": dict.fromkeys(("Color", "Contrast", "Brightness", "Sharpness"), ENHANCER),
    "PIL.ImageFilter": {},
    "PIL.ImageDraw": {},
    "PIL.ImageFont": {},
    "PIL.ImageFile": {"LOAD_TRUNCATED_IMAGES": False},
    "PIL.ImageChops": {},
}  # fmt: skip
"""Functions and constants by module."""
