"""torchvision: transforms and data sets. All that is followed of an image is its size, its channels and its dtype.

Its models and ops are read from its source where that is found.
"""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.packages.torchvision.datasets import CLASSES, FOLDER_NAMES
from flake8_cnnmem.packages.torchvision.files import IO, MARKED, UTILITIES
from flake8_cnnmem.packages.torchvision.functional import FUNCTIONAL
from flake8_cnnmem.packages.torchvision.transforms import INTERPOLATION, TRANSFORMS
from flake8_cnnmem.values import Value

MODULES: dict[str, Mapping[str, Value]] = {
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
}  # fmt: skip

STAND_INS: dict[str, Mapping[str, Value]] = {"torchvision": {}, "torchvision.utils": UTILITIES}
"""What is known without its source: its models and ops are read from that."""
