"""torchvision.transforms, v1 and v2: classes with torchvision's own signatures that change sizes as it documents.

A transform of v2 takes any structure of images, masks and labels: images and masks in it are transformed alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.PIL import Picture, image, picture_of
from flake8_cnnmem.packages.torchvision import functional
from flake8_cnnmem.packages.torchvision.sizes import (
    NOT_KNOWN,
    as_picture,
    as_tensor,
    pair_of,
    resized,
    with_channels,
    with_sides,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, StaticMethod, Value

TRANSFORMS: dict[str, Any] = {}
BASE = Class("Transform", module="torchvision.transforms.v2")
SKIPPED = 2
"""Parameters of a stub that are ours: the run and the image."""

Stub = Callable[..., Value]


def transform(*names: str) -> Callable[[Stub], Stub]:
    """A transform class from a function of (run, image, *the constructor's parameters)."""

    def enter(stub: Stub) -> Stub:
        for name in names or (stub.__name__,):
            TRANSFORMS[name] = declare(name, stub)
        return stub

    return enter


def declare(name: str, stub: Stub, whole: bool = False) -> Class:
    """`whole` transforms see all of their input, other ones each image in it."""
    signature = inspect.signature(stub)
    own = signature.replace(parameters=list(signature.parameters.values())[SKIPPED:])

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        bound = own.bind(*args, **kwargs)
        bound.apply_defaults()
        run.changed(self)
        self.attributes.update(bound.arguments)
        return None

    def call(run: Runtime, self: Instance, *inputs: Value) -> Value:
        arguments = {word: self.attributes.get(word) for word in own.parameters}

        def change(value: Value) -> Value:
            if not isinstance(value, Unknown) or whole:
                return stub(run, value, **arguments)
            # However it was read, it is an image; of Pillow or a tensor only where the transform tells.
            unread = image(Picture(value, value, value))
            changed = stub(run, unread, **arguments)
            return value if changed is unread else changed

        if whole or (len(inputs) == 1 and not isinstance(inputs[0], (tuple, list, dict))):
            return change(inputs[0] if len(inputs) == 1 else Inputs(inputs))
        changed = tuple(each_image(value, change) for value in inputs)
        return changed[0] if len(changed) == 1 else changed

    members = {"__init__": init, "__call__": call, "forward": call}
    namespace: dict[str, Value] = {
        word: Native(word, function, propagate_unknown=False) for word, function in members.items()
    }
    cls = Class(name, (BASE,), namespace, module="torchvision.transforms")
    cls.facts["signature"] = own
    return cls


def each_image(value: Value, change: Callable[[Value], Value], depth: int = 6) -> Value:
    """A structure with its images and masks changed: Pillow's images, and tensors of at least two axes."""
    if picture_of(value) is not None or (
        isinstance(value, Tensor) and isinstance(value.shape, tuple) and len(value.shape) > 1
    ):
        return change(value)
    if depth and isinstance(value, dict):
        return {key: each_image(item, change, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (tuple, list)):
        return type(value)(each_image(item, change, depth - 1) for item in value)
    return value


# One after the other


def in_turn(run: Runtime, value: Value, transforms: Value) -> Value:
    steps = run.items(transforms)
    if isinstance(steps, Unknown):
        return steps
    several = isinstance(value, Inputs)
    for step in steps:
        value = run.call(step, *value) if isinstance(value, Inputs) else run.call(step, value)
        if several and isinstance(value, tuple):
            # What goes in as several inputs stays so; one input that is a tuple is one to each of the steps.
            value = Inputs(value)
    return tuple(value) if several and isinstance(value, Inputs) else value


class Inputs(tuple[Value, ...]):
    """Several inputs that go through the transforms of v2 together."""


def Compose(run: Runtime, img: Value, transforms: Value) -> Value:
    return in_turn(run, img, transforms)


def RandomApply(run: Runtime, img: Value, transforms: Value, p: Value = 0.5) -> Value:
    """It may be left out: what is not the same then is not known."""
    return agreed(run, [img, Compose(run, img, transforms)])


def RandomChoice(run: Runtime, img: Value, transforms: Value, p: Value = None) -> Value:
    steps = run.items(transforms)
    return steps if isinstance(steps, Unknown) else agreed(run, [run.call(step, img) for step in steps] or [img])


def agreed(run: Runtime, values: list[Value]) -> Value:
    """One value for several possible ones: sizes that they do not share are not known."""
    first = values[0]
    cause = run.unknown("which transforms are applied is left to chance")
    for other in values[1:]:
        ours, theirs = picture_of(first), picture_of(other)
        if ours is not None and theirs is not None:
            if (ours.height, ours.width) != (theirs.height, theirs.width):
                first = with_sides(run, first, (cause, cause))
            if ours.mode != theirs.mode:
                first = with_channels(run, first, cause)
        elif isinstance(first, Tensor) and isinstance(other, Tensor):
            if first.shape != other.shape:
                first = Tensor(shared(first, other, cause), first.dtype, framework=first.framework)
        elif type(first) is not type(other):
            return cause
    return first


def shared(left: Tensor, right: Tensor, cause: Unknown) -> Shape | Unknown:
    if isinstance(left.shape, Unknown) or isinstance(right.shape, Unknown) or len(left.shape) != len(right.shape):
        return cause
    return tuple(a if a == b else cause for a, b in zip(left.shape, right.shape, strict=True))


TRANSFORMS.update({
    "Compose": declare("Compose", Compose, whole=True),
    "RandomOrder": declare("RandomOrder", Compose, whole=True),
    "RandomApply": declare("RandomApply", RandomApply, whole=True),
    "RandomChoice": declare("RandomChoice", RandomChoice, whole=True),
})  # fmt: skip


def lambda_init(run: Runtime, self: Instance, lambd: Value, *types_to_transform: Value) -> Value:
    self.attributes["lambd"] = lambd
    return None


def lambda_call(run: Runtime, self: Instance, *inputs: Value) -> Value:
    changed = tuple(run.call(self.attributes.get("lambd"), value) for value in inputs)
    return changed[0] if len(changed) == 1 else changed


TRANSFORMS["Lambda"] = Class(
    "Lambda",
    (BASE,),
    {
        "__init__": Native("__init__", lambda_init, propagate_unknown=False),
        "__call__": Native("__call__", lambda_call, propagate_unknown=False),
        "forward": Native("forward", lambda_call, propagate_unknown=False),
    },
    module="torchvision.transforms",
)


# Kinds of values


@transform()
def ToTensor(run: Runtime, img: Value) -> Value:
    return as_tensor(run, img, "float")


@transform("PILToTensor", "ToImage", "ToImageTensor")
def PILToTensor(run: Runtime, img: Value) -> Value:
    return as_tensor(run, img)


@transform("ToPILImage", "ToImagePIL")
def ToPILImage(run: Runtime, img: Value, mode: Value = None) -> Value:
    return as_picture(run, img, mode)


@transform("ConvertImageDtype", "ConvertDtype")
def ConvertImageDtype(run: Runtime, img: Value, dtype: Value = None) -> Value:
    return functional.to_dtype(run, img, dtype)


@transform()
def ToDtype(run: Runtime, img: Value, dtype: Value, scale: Value = False) -> Value:
    wanted = of_its_kind(img, dtype) if isinstance(dtype, dict) else dtype
    return img if wanted is None else functional.to_dtype(run, img, wanted)


def of_its_kind(img: Value, dtypes: dict[Value, Value]) -> Value:
    """What `{tv_tensors.Image: torch.float32, "others": None}` has for it: an image is what has the channels of one in
    colour. Of anything else it may be a mask, or several, and stays as it is."""
    shape = img.shape if isinstance(img, Tensor) else None
    if not isinstance(shape, tuple) or len(shape) < 3 or shape[-3] not in (3, 4):
        return None
    kinds = {key.name: value for key, value in dtypes.items() if isinstance(key, Class)}
    return kinds.get("Image", dtypes.get("others"))


@transform()
def Normalize(run: Runtime, img: Value, mean: Value, std: Value, inplace: Value = False) -> Value:
    return functional.normalize(run, img, mean, std)


# Channels


@transform()
def Grayscale(run: Runtime, img: Value, num_output_channels: Value = 1) -> Value:
    return with_channels(run, img, num_output_channels)


@transform()
def RGB(run: Runtime, img: Value) -> Value:
    return with_channels(run, img, 3)


# Sizes


@transform()
def Resize(
    run: Runtime, img: Value, size: Value, interpolation: Value = None, max_size: Value = None, antialias: Value = True
) -> Value:
    return resized(run, img, size, max_size)


TRANSFORMS["Scale"] = TRANSFORMS["Resize"]


@transform()
def CenterCrop(run: Runtime, img: Value, size: Value) -> Value:
    return with_sides(run, img, pair_of(size))


@transform()
def RandomCrop(
    run: Runtime, img: Value, size: Value, padding: Value = None, pad_if_needed: Value = False, fill: Value = 0,
    padding_mode: Value = "constant",
) -> Value:  # fmt: skip
    return with_sides(run, img, pair_of(size))


@transform("RandomResizedCrop", "RandomSizedCrop")
def RandomResizedCrop(
    run: Runtime, img: Value, size: Value, scale: Value = (0.08, 1.0), ratio: Value = (3 / 4, 4 / 3),
    interpolation: Value = None, antialias: Value = True,
) -> Value:  # fmt: skip
    return with_sides(run, img, pair_of(size))


@transform()
def FiveCrop(run: Runtime, img: Value, size: Value) -> Value:
    return functional.five_crop(run, img, size)


@transform()
def TenCrop(run: Runtime, img: Value, size: Value, vertical_flip: Value = False) -> Value:
    return functional.ten_crop(run, img, size)


@transform()
def Pad(run: Runtime, img: Value, padding: Value, fill: Value = 0, padding_mode: Value = "constant") -> Value:
    return functional.pad(run, img, padding)


@transform()
def RandomRotation(
    run: Runtime, img: Value, degrees: Value, interpolation: Value = None, expand: Value = False, center: Value = None,
    fill: Value = 0,
) -> Value:  # fmt: skip
    return functional.rotate(run, img, degrees, expand=expand)


def by_chance(run: Runtime, img: Value) -> Value:
    return with_sides(run, img, (NOT_KNOWN, NOT_KNOWN))


# Neither


UNCHANGED = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "RandomAffine", "RandomGrayscale",
    "RandomPerspective", "RandomErasing", "GaussianBlur", "RandomInvert", "RandomPosterize", "RandomSolarize",
    "RandomAdjustSharpness", "RandomAutocontrast", "RandomEqualize", "ElasticTransform", "LinearTransformation",
    "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", "JPEG", "RandomPhotometricDistort",
    "RandomChannelPermutation", "ClampBoundingBoxes", "ClampKeyPoints", "ConvertBoundingBoxFormat",
    "SetClampingMode", "GaussianNoise", "Identity", "SanitizeBoundingBoxes", "SanitizeKeyPoints", "ToPureTensor",
)  # fmt: skip
"""Transforms that keep sizes, channels and dtype; their options tell nothing."""


def any_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update(kwargs)
    return None


def as_it_is(run: Runtime, self: Instance, *inputs: Value) -> Value:
    return inputs[0] if len(inputs) == 1 else inputs


def options_kept(name: str, call: Callable[..., Value]) -> Class:
    members = {"__init__": any_init, "__call__": call, "forward": call}
    namespace: dict[str, Value] = {
        word: Native(word, function, propagate_unknown=False) for word, function in members.items()
    }
    return Class(name, (BASE,), namespace, module="torchvision.transforms")


TRANSFORMS.update({name: options_kept(name, as_it_is) for name in UNCHANGED})
for _name in ("RandomResize", "RandomShortestSize", "ScaleJitter", "RandomZoomOut", "RandomIoUCrop", "FixedSizeCrop"):
    TRANSFORMS[_name] = options_kept(
        _name,
        lambda run, self, *inputs: as_it_is(
            run, self, *(each_image(value, lambda image: by_chance(run, image)) for value in inputs)
        ),
    )


def mixed(run: Runtime, self: Instance, *inputs: Value) -> Value:
    """MixUp and CutMix: whole batches, whose labels become one value a class."""
    parts = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
    classes = self.attributes.get("num_classes")

    def soft(value: Value) -> Value:
        if isinstance(value, Tensor) and isinstance(value.shape, tuple) and len(value.shape) == 1:
            return Tensor((*value.shape, classes if isinstance(classes, int) else NOT_KNOWN), "float")
        return value

    return tuple(soft(value) for value in parts)


TRANSFORMS.update({name: options_kept(name, mixed) for name in ("MixUp", "CutMix")})


# What a transform draws, which code takes to do the same to an image and its mask


def place_of_crop(run: Runtime, img: Value, output_size: Value) -> Value:
    """RandomCrop.get_params: (top, left, height, width)."""
    cause = run.unknown("where a random crop lies is not known")
    return cause, cause, *pair_of(output_size)


def drawn(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    cause = run.unknown("what a random transform draws is not known")
    return cause, cause, cause, cause


TRANSFORMS["RandomCrop"].namespace["get_params"] = StaticMethod(
    Native("get_params", place_of_crop, propagate_unknown=False)
)
for _name in ("RandomResizedCrop", "ColorJitter", "RandomAffine"):
    TRANSFORMS[_name].namespace["get_params"] = StaticMethod(Native("get_params", drawn, propagate_unknown=False))
TRANSFORMS["RandomRotation"].namespace["get_params"] = StaticMethod(
    Native(
        "get_params",
        lambda run, degrees: run.unknown("what a random transform draws is not known"),
        propagate_unknown=False,
    )
)

# What stands beside them


INTERPOLATION = Class(
    "InterpolationMode",
    namespace={name: name.lower().replace("_", "-") for name in
               ("NEAREST", "NEAREST_EXACT", "BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS")},
    module="torchvision.transforms.functional",
)  # fmt: skip
POLICY = Class(
    "AutoAugmentPolicy",
    namespace={name: name.lower() for name in ("IMAGENET", "CIFAR10", "SVHN")},
    module="torchvision.transforms.autoaugment",
)
TRANSFORMS.update({"InterpolationMode": INTERPOLATION, "AutoAugmentPolicy": POLICY, "Transform": BASE})
