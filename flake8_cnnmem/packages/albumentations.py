"""albumentations: transforms of arrays (H, W, C) and their masks, called by keywords, giving a dict back.

Sizes by the documentation of each transform; both the old signatures (`height, width`) and the new (`size`).
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.torchvision.sizes import (
    NOT_KNOWN,
    Sides,
    as_tensor,
    channels_of,
    floating,
    pair_of,
    resized_sides,
    sides_of,
    whole,
    with_channels,
    with_sides,
)
from flake8_cnnmem.packages.torchvision.transforms import shared
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value, native

Options = dict[str, Value]
Change = Callable[[Runtime, Value, Options], Value]
"""(run, image, the constructor's arguments by name) -> the image."""

IMAGES = ("image", "mask", "image0", "mask0", "image1", "mask1")
TRANSFORMS: dict[str, Value] = {}
BASE = Class("BasicTransform", module="albumentations")


def arguments(names: tuple[str, ...], args: tuple[Value, ...], kwargs: Options) -> Options:
    return {**dict(zip(names, args, strict=False)), **kwargs}


def each(value: Value, word: str, change: Callable[[Value], Value]) -> Value:
    """An argument of a call with its images changed: images, masks, lists of masks. Boxes and labels stay."""
    if word in ("masks", "images") and isinstance(value, (list, tuple)):
        return [change(item) for item in value]
    return change(value) if word in IMAGES else value


def as_picture_array(value: Tensor) -> Tensor:
    """An array that is transformed as an image or a mask is one, whatever its shape."""
    cause = value.shape
    if isinstance(cause, Unknown) and value.framework == "numpy":
        return Tensor(cause.of_picture(cause, cause), value.dtype, framework="numpy")
    return value


def declare(name: str, names: tuple[str, ...], change: Change, targets: tuple[str, ...] = ()) -> None:
    """`targets` are the arguments that change, if not all images and masks."""

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        self.attributes.update(arguments(names, args, kwargs))
        return None

    def call(run: Runtime, self: Instance, *args: Value, **data: Value) -> Value:
        found: dict[str, Value] = {}
        for word, value in data.items():
            kept = targets and not any(word.startswith(target) for target in targets)
            if isinstance(value, Tensor) and isinstance(value.shape, Unknown) and value.shape.sides is None:
                value = as_picture_array(value)
            if isinstance(value, Unknown) and word == "image":
                # However it was read, it is an image.
                value = Tensor(value.of_picture(value, value), "uint8", framework="numpy")
            found[word] = value if kept else each(value, word, lambda item: change(run, item, self.attributes))
        return found

    TRANSFORMS[name] = Class(
        name,
        (BASE,),
        {
            "__init__": Native("__init__", init, propagate_unknown=False),
            "__call__": Native("__call__", call, propagate_unknown=False),
        },
        module="albumentations",
    )


def asked(options: Options) -> Sides:
    """`height` and `width`, or `size`."""
    size = options.get("size", MISSING)
    if isinstance(size, (tuple, list)):
        return pair_of(size)
    height = size if size is not MISSING and size is not None else options.get("height", NOT_KNOWN)
    width = options.get("width", NOT_KNOWN)
    return whole(height), whole(width)


def to_size(run: Runtime, image: Value, options: Options) -> Value:
    return with_sides(run, image, asked(options))


def shortest(run: Runtime, image: Value, options: Options) -> Value:
    return with_sides(run, image, resized_sides(sides_of(image), one_of(options.get("max_size", 1024))))


def longest(run: Runtime, image: Value, options: Options) -> Value:
    sides = sides_of(image)
    target = one_of(options.get("max_size", 1024))
    if all(isinstance(side, int) and side for side in sides) and isinstance(target, int):
        height, width = sides
        scale = target / max(height, width)  # type: ignore[type-var, operator]
        return with_sides(run, image, (round(height * scale), round(width * scale)))  # type: ignore[operator]
    return with_sides(run, image, (NOT_KNOWN, NOT_KNOWN))


def one_of(value: Value) -> Value:
    return NOT_KNOWN if isinstance(value, (tuple, list)) else value


def at_least(run: Runtime, image: Value, options: Options) -> Value:
    """PadIfNeeded. An image that was not larger before (as after LongestMaxSize) has the size that is asked for."""
    height, width = sides_of(image)
    wanted = whole(options.get("min_height", 1024)), whole(options.get("min_width", 1024))
    grown = tuple(
        max(side, least) if isinstance(side, int) and isinstance(least, int) else NOT_KNOWN
        for side, least in zip((height, width), wanted, strict=True)
    )
    return with_sides(run, image, (grown[0], grown[1]))


def cropped(run: Runtime, image: Value, options: Options) -> Value:
    """Crop(x_min, y_min, x_max, y_max)."""
    edges = [options.get(word) for word in ("x_min", "y_min", "x_max", "y_max")]
    if all(isinstance(edge, int) for edge in edges):
        left, top, right, bottom = edges
        return with_sides(run, image, (bottom - top, right - left))  # type: ignore[operator]
    return with_sides(run, image, (NOT_KNOWN, NOT_KNOWN))


def by_chance(run: Runtime, image: Value, options: Options) -> Value:
    return with_sides(run, image, (NOT_KNOWN, NOT_KNOWN))


def swapped(run: Runtime, image: Value, options: Options) -> Value:
    """A quarter turn changes no size of a square; of anything else it depends on chance."""
    height, width = sides_of(image)
    if isinstance(height, int) and height == width:
        return image
    return with_sides(run, image, (NOT_KNOWN, NOT_KNOWN))


def to_float(run: Runtime, image: Value, options: Options) -> Value:
    return Tensor(image.shape, "float32", framework=image.framework) if isinstance(image, Tensor) else image


def normalised(run: Runtime, image: Value, options: Options) -> Value:
    """An image of unknown channels has as many as there are means: with another number it would raise."""
    means = options.get("mean", (0.485, 0.456, 0.406))
    channels = len(means) if isinstance(means, (tuple, list)) else 0
    if isinstance(image, Tensor) and channels > 1:
        shape = image.shape
        if isinstance(shape, Unknown):
            if shape.sides:
                image = Tensor((*shape.sides, channels), image.dtype, framework="numpy")
        elif len(shape) == 3 and isinstance(shape[2], Unknown):
            image = Tensor((*shape[:2], channels), image.dtype, framework="numpy")
    return to_float(run, image, options)


def to_gray(run: Runtime, image: Value, options: Options) -> Value:
    count = options.get("num_output_channels", 3)
    return with_channels(run, image, count)


def as_it_is(run: Runtime, image: Value, options: Options) -> Value:
    return image


SIZE = ("height", "width")
declare("Resize", SIZE, to_size)
for _name in ("RandomCrop", "CenterCrop", "RandomResizedCrop", "CropNonEmptyMaskIfExists"):
    declare(_name, SIZE, to_size)
declare("RandomSizedCrop", ("min_max_height", *SIZE), to_size)
declare("RandomSizedBBoxSafeCrop", SIZE, to_size)
declare("SmallestMaxSize", ("max_size",), shortest)
declare("LongestMaxSize", ("max_size",), longest)
declare("PadIfNeeded", ("min_height", "min_width"), at_least)
declare("Crop", ("x_min", "y_min", "x_max", "y_max"), cropped)
for _name in ("RandomScale", "CropAndPad", "RandomCropFromBorders", "BBoxSafeRandomCrop", "Pad"):
    declare(_name, ("scale_limit",), by_chance)
for _name in ("Transpose", "RandomRotate90", "D4"):
    declare(_name, (), swapped)
declare("Normalize", ("mean", "std"), normalised, ("image",))
declare("ToFloat", (), to_float, ("image",))
declare("FromFloat", (), lambda run, image, options: Tensor(image.shape, "uint8", framework="numpy")
        if isinstance(image, Tensor) else image, ("image",))  # fmt: skip
declare("ToGray", (), to_gray, ("image",))
declare("ToRGB", (), lambda run, image, options: with_channels(run, image, 3), ("image",))


def to_tensor(run: Runtime, self: Instance, *args: Value, **data: Value) -> Value:
    """Images become (C, H, W); masks stay (H, W), or get their channels in front with `transpose_mask`."""

    def change(value: Value, mask: bool) -> Value:
        if not isinstance(value, Tensor) or value.framework != "numpy":
            return value
        if isinstance(value.shape, Unknown):
            sides = value.shape.sides
            if sides is None or mask:
                return Tensor(value.shape, floating(value.dtype))
            return Tensor((value.shape.loose(), *sides), floating(value.dtype))
        if mask and (len(value.shape) == 2 or run.truth(self.attributes.get("transpose_mask", False)) is not True):
            return Tensor(value.shape, floating(value.dtype))
        return Tensor((channels_of(value), *value.shape[:2]), floating(value.dtype))

    def changed(word: str, value: Value) -> Value:
        return each(value, word, lambda item: change(item, word.startswith("mask")))

    return {word: changed(word, value) for word, value in data.items()}


def keep_options(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update(kwargs)
    return None


def img_to_tensor(run: Runtime, im: Value, normalize: Value = None) -> Value:
    """(C, H, W) of floats; the channels of `normalize` are those of its means."""
    if isinstance(normalize, dict):
        im = normalised(run, im, normalize)
    if isinstance(im, Tensor) and im.framework == "numpy":
        return as_tensor(run, Tensor(im.shape, "float32", framework="numpy"))
    return im if isinstance(im, Unknown) else run.unknown("what is no image is made a tensor")


def mask_to_tensor(run: Runtime, mask: Value, num_classes: Value = 1, sigmoid: Value = True) -> Value:
    return run.unknown("the tensor of a mask is not followed")


FUNCTIONS: dict[str, Value] = {
    "img_to_tensor": native("img_to_tensor", img_to_tensor),
    "mask_to_tensor": native("mask_to_tensor", mask_to_tensor),
}
TO_TENSOR = Class(
    "ToTensorV2",
    (BASE,),
    {"__init__": native("__init__", keep_options), "__call__": native("__call__", to_tensor)},
    module="albumentations.pytorch",
)


# One after the other


def compose_init(run: Runtime, self: Instance, transforms: Value, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update({"transforms": transforms, **kwargs})
    return None


def in_turn(run: Runtime, self: Instance, *args: Value, **data: Value) -> Value:
    steps = run.items(self.attributes.get("transforms"))
    if isinstance(steps, Unknown):
        return dict.fromkeys(data, steps)
    given: Value = data
    for step in steps:
        given = run.call(step, **given) if isinstance(given, dict) else given
    return given


def one_by_chance(run: Runtime, self: Instance, *args: Value, **data: Value) -> Value:
    """OneOf, SomeOf: where the sizes differ they are not known."""
    steps = run.items(self.attributes.get("transforms"))
    if isinstance(steps, Unknown):
        return dict.fromkeys(data, steps)
    results = [run.call(step, **data) for step in steps]
    found = dict(data)
    for word, value in data.items():
        options = [result.get(word) for result in results if isinstance(result, dict)]
        for option in options or [value]:
            found[word] = agreed(run, found[word] if option is not options[0] else option, option)
    return found


def agreed(run: Runtime, left: Value, right: Value) -> Value:
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.shape != right.shape:
        cause = run.unknown("which transforms are applied is left to chance")
        return Tensor(shared(left, right, cause), left.dtype, framework=left.framework)
    return left


def composition(name: str, call: Callable[..., Value]) -> Class:
    return Class(
        name,
        (BASE,),
        {"__init__": native("__init__", compose_init), "__call__": native("__call__", call)},
        module="albumentations",
    )


for _name in ("Compose", "Sequential", "ReplayCompose"):
    TRANSFORMS[_name] = composition(_name, in_turn)
for _name in ("OneOf", "SomeOf", "OneOrOther"):
    TRANSFORMS[_name] = composition(_name, one_by_chance)
TRANSFORMS.update({"ToTensorV2": TO_TENSOR, "ToTensor": TO_TENSOR, "BasicTransform": BASE, "ImageOnlyTransform": BASE,
                   "DualTransform": BASE})  # fmt: skip


def lookup(name: str) -> Value:
    """Any other transform keeps the size: nearly all of them change values alone."""
    found = TRANSFORMS.get(name, MISSING)
    if found is MISSING and name[:1].isupper():
        declare(name, (), as_it_is)
        found = TRANSFORMS[name]
    return found


class TransformNames(dict[str, Value]):
    """The names of a module that answers for any transform."""

    def get(self, name: str, default: Value = None) -> Value:
        found = lookup(name)
        return default if found is MISSING else found


MODULES: dict[str, dict[str, Value]] = {
    "albumentations": TransformNames(),
    "albumentations.pytorch": {"ToTensorV2": TO_TENSOR, "ToTensor": TO_TENSOR},
    "albumentations.pytorch.transforms": {"ToTensorV2": TO_TENSOR, "ToTensor": TO_TENSOR},
    # What the package `albumentations.pytorch` was called, and what it held beside the transform.
    "albumentations.torch": {"ToTensor": TO_TENSOR},
    **dict.fromkeys(("albumentations.pytorch.functional", "albumentations.torch.functional"), FUNCTIONS),
    "albumentations.augmentations.transforms": TransformNames(),
    "albumentations.core.composition": TransformNames(),
    "albumentations.core.transforms_interface": {"ImageOnlyTransform": BASE, "DualTransform": BASE},
}
