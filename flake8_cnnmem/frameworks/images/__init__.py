"""Images on their way into a model: Pillow, OpenCV, torchvision's and albumentations' transforms, torchvision's data
sets. All that is followed of an image is its size, its channels and its dtype.

torchvision's models and ops are read from its source where that is found; `stand_in` is torchvision without source.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from flake8_cnnmem.frameworks.images import albumentations, kornia, opencv, pictures
from flake8_cnnmem.frameworks.images.datasets import CLASSES, FOLDER_NAMES
from flake8_cnnmem.frameworks.images.files import IO, MARKED, READERS, UTILITIES
from flake8_cnnmem.frameworks.images.functional import FUNCTIONAL
from flake8_cnnmem.frameworks.images.transforms import INTERPOLATION, TRANSFORMS
from flake8_cnnmem.values import MISSING, Namespace, Value

MODULES: dict[str, Mapping[str, Value]] = {
    **pictures.MODULES,
    **opencv.MODULES,
    **albumentations.MODULES,
    **kornia.MODULES,
    **READERS,
    "torchvision.transforms": TRANSFORMS,
    "torchvision.transforms.transforms": TRANSFORMS,
    "torchvision.transforms.autoaugment": TRANSFORMS,
    "torchvision.transforms.v2": TRANSFORMS,
    "torchvision.transforms.functional": {**FUNCTIONAL, "InterpolationMode": INTERPOLATION},
    "torchvision.transforms.functional_tensor": FUNCTIONAL,
    "torchvision.transforms.v2.functional": {**FUNCTIONAL, "InterpolationMode": INTERPOLATION},
    "torchvision.datasets": CLASSES,
    **{f"torchvision.datasets.{name}": CLASSES for name in ("mnist", "cifar", "svhn", "stl10", "vision", "voc", "coco",
                                                            "imagenet", "celeba", "cityscapes", "fakedata")},
    "torchvision.datasets.folder": FOLDER_NAMES,
    "torchvision.datasets.utils": {},
    "torchvision.io": IO,
    "torchvision.tv_tensors": MARKED,
    "torchvision.utils": UTILITIES,
}  # fmt: skip

STAND_INS = ("torchvision", "torchvision.utils")
"""Packages that are read from source, with what is here in place of some of their modules."""


@cache
def find_module(dotted: str) -> Namespace | None:
    """A module that we provide; None for what is read from source."""
    if dotted in STAND_INS:
        return None
    return namespace(dotted)


def stand_in(dotted: str) -> Namespace | None:
    """A package whose source is not found, as far as it is known without."""
    return namespace(dotted) if dotted in STAND_INS else None


@cache
def namespace(dotted: str) -> Namespace | None:
    contents = MODULES.get(dotted)
    if contents is None and not any(name.startswith(f"{dotted}.") for name in MODULES):
        return None
    names = contents if contents is not None else {}

    def look_up(name: str) -> Value:
        found = names.get(name, MISSING)
        if found is MISSING:
            return namespace(f"{dotted}.{name}") or MISSING
        return found

    return Namespace(dotted, look_up)
