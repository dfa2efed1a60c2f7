"""kornia: torchvision's transforms, as modules on batches that may be on the GPU. What comes in gets a batch axis."""

from __future__ import annotations

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.torchvision.sizes import pair_of, resized_sides, sides_of, with_channels, with_sides
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native

BASE = Class("AugmentationBase2D", module="kornia.augmentation")

SIZED = ("RandomCrop", "CenterCrop", "RandomResizedCrop", "Resize", "LongestMaxSize", "SmallestMaxSize", "PadTo")
UNCHANGED = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "ColorJiggle", "RandomRotation", "RandomAffine",
    "RandomPerspective", "RandomErasing", "RandomGrayscale", "RandomGaussianBlur", "RandomGaussianNoise",
    "RandomInvert",
    "RandomSolarize", "RandomPosterize", "RandomSharpness", "RandomEqualize", "RandomBoxBlur", "RandomMotionBlur",
    "RandomElasticTransform", "RandomFisheye", "RandomThinPlateSpline", "RandomChannelShuffle",
    "RandomPlanckianJitter",
    "RandomBrightness", "RandomContrast", "RandomSaturation", "RandomHue", "RandomGamma", "Normalize", "Denormalize",
)  # fmt: skip


def keep(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update(kwargs)
    self.attributes["given"] = args
    return None


def batched(run: Runtime, self: Instance, value: Value) -> Value:
    """(C, H, W) as a batch of one, unless it is asked to keep its axes."""
    if not isinstance(value, Tensor) or not isinstance(value.shape, tuple) or len(value.shape) != 3:
        return value
    if run.truth(self.attributes.get("keepdim", False)) is True:
        return value
    return Tensor((1, *value.shape), value.dtype)


def changing(name: str) -> Native:
    def call(run: Runtime, self: Instance, input: Value, *others: Value, **kwargs: Value) -> Value:
        value = batched(run, self, input)
        if not isinstance(value, Tensor) or name not in SIZED:
            return value
        given = self.attributes.get("given", ())
        size = self.attributes.get("size", given[0] if given else None)
        if name == "Resize":
            return with_sides(run, value, resized_sides(sides_of(value), size))
        if name in ("LongestMaxSize", "SmallestMaxSize"):
            cause = run.unknown("the size of an image that keeps its aspect is not known")
            return with_sides(run, value, (cause, cause))
        return with_sides(run, value, pair_of(size))

    return native("__call__", call)


def declare(name: str) -> Class:
    call = changing(name)
    return Class(
        name, (BASE,), {"__init__": native("__init__", keep), "__call__": call, "forward": call},
        module="kornia.augmentation",
    )  # fmt: skip


def in_turn(run: Runtime, self: Instance, *inputs: Value, **kwargs: Value) -> Value:
    """Each of the images and masks goes through all that are sizes; labels and boxes stay."""
    steps = self.attributes.get("given", ())
    found = []
    for value in inputs:
        for step in steps if isinstance(value, Tensor) and is_image(value) else ():
            value = run.call(step, value)
        found.append(value)
    return found[0] if len(found) == 1 else found


def is_image(value: Tensor) -> bool:
    return isinstance(value.shape, Unknown) or len(value.shape) >= 3


def sequence(name: str) -> Class:
    call = native("__call__", in_turn)
    return Class(
        name, (BASE,), {"__init__": native("__init__", keep), "__call__": call, "forward": call},
        module="kornia.augmentation",
    )  # fmt: skip


AUGMENTATIONS: dict[str, Value] = {
    **{name: declare(name) for name in (*SIZED, *UNCHANGED)},
    **{name: sequence(name) for name in ("AugmentationSequential", "ImageSequential")},
}


def resize(run: Runtime, input: Value, size: Value, *args: Value, **kwargs: Value) -> Value:
    return with_sides(run, input, resized_sides(sides_of(input), size))


def cropped(run: Runtime, input: Value, size: Value, *args: Value, **kwargs: Value) -> Value:
    return with_sides(run, input, pair_of(size))


def as_tensor(run: Runtime, image: Value, keepdim: Value = True) -> Value:
    """`image_to_tensor`: (H, W, C) as (C, H, W)."""
    shape = image.shape if isinstance(image, Tensor) else image
    if isinstance(shape, Unknown):
        return shape
    if not isinstance(image, Tensor) or not isinstance(shape, tuple) or len(shape) not in (2, 3):
        return run.unknown("what is no image is made a tensor")
    made = (shape[2], *shape[:2]) if len(shape) == 3 else (1, *shape)
    return Tensor(made if run.truth(keepdim) is True else (1, *made), image.dtype)


GEOMETRY: dict[str, Value] = {"resize": native("resize", resize), "center_crop": native("center_crop", cropped)}
MODULES: dict[str, dict[str, Value]] = {
    "kornia": {
        "image_to_tensor": native("image_to_tensor", as_tensor),
    },
    "kornia.augmentation": AUGMENTATIONS,
    "kornia.augmentation.container": AUGMENTATIONS,
}

# Networks of kornia call functions of these modules that stand nowhere here: their source is read where it is found.
STAND_INS: dict[str, dict[str, Value]] = {
    "kornia.geometry": GEOMETRY,
    "kornia.geometry.transform": GEOMETRY,
    "kornia.utils": {"image_to_tensor": native("image_to_tensor", as_tensor)},
    "kornia.color": {
        "rgb_to_grayscale": native("rgb_to_grayscale", lambda run, image, *args: with_channels(run, image, 1)),
        "grayscale_to_rgb": native("grayscale_to_rgb", lambda run, image: with_channels(run, image, 3)),
    },
}
