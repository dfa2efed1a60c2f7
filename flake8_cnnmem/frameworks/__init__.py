"""The frameworks that we know, found by module name or by tensor. Each is imported when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache

from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Namespace, Native, Run, Value

PACKAGES = {
    "torch": "torch",
    "keras": "keras",
    "tensorflow": "keras",
    "tf_keras": "keras",
    "keras_applications": "keras",
    "tensorflow_datasets": "keras",
    "numpy": "numpy",
    "torchsummary": "torch",
    "torchinfo": "torch",
    "thop": "torch",
    "ptflops": "torch",
    "fvcore": "torch",
    "torchviz": "torch",
    "lightning": "torch",
    "pytorch_lightning": "torch",
    "lightning_fabric": "torch",
    "lightning_utilities": "torch",
    "accelerate": "torch",
    "apex": "torch",
    "deepspeed": "torch",
    "fastai": "torch",
    "ignite": "torch",
    "einops": "torch",
    "tensorboardX": "torch",
    "transformers": "torch",
    "bitsandbytes": "torch",
    "torchvision": "images",
    "PIL": "images",
    "cv2": "images",
    "albumentations": "images",
    "kornia": "images",
    "imageio": "images",
    "skimage": "images",
    "matplotlib": "images",
}
"""Top-level package of an import to the package here that answers for it."""


def find_module(dotted: str) -> Namespace | None:
    """The native module of this dotted name (`torch.nn.functional`), or None where there is none."""
    package = PACKAGES.get(dotted.partition(".")[0])
    if package is None:
        return None
    module = importlib.import_module(f"{__name__}.{package}")
    found: Namespace | None = module.find_module(dotted)
    return found


def stand_in(dotted: str) -> Namespace | None:
    """What is known of a package whose source is not found though it is usually read from source."""
    package = PACKAGES.get(dotted.partition(".")[0])
    if package not in ("images", "torch"):
        return None
    found: Namespace | None = importlib.import_module(f"{__name__}.{package}").stand_in(dotted)
    return found


def placed_in(dotted: str) -> Mapping[str, Value]:
    """What stands in the place of names of a module that is read from its source otherwise."""
    if PACKAGES.get(dotted.partition(".")[0]) != "torch":
        return {}
    found: Mapping[str, Value] = importlib.import_module(f"{__name__}.torch").PLACED.get(dotted, {})
    return found


def source_name(dotted: str) -> str | None:
    """Where the source of a module lies that code imports by another name: `tensorflow.keras.applications` is
    Keras' own. None where there is no other name."""
    if PACKAGES.get(dotted.partition(".")[0]) != "keras":
        return None
    found: str | None = importlib.import_module(f"{__name__}.keras").source_name(dotted)
    return found


def of(tensor: Tensor) -> Framework:
    """The framework that answers for this tensor."""
    return named(tensor.framework)


@cache
def named(name: str) -> Framework:
    """The framework of this name ("torch", "keras")."""
    framework: Framework = importlib.import_module(f"{__name__}.{name}").FRAMEWORK
    return framework


def is_tensor_method(native: Native) -> bool:
    """Whether it is a method of the tensors of a framework in use."""
    loaded = [name for name in ("torch", "keras", "numpy") if f"{__name__}.{name}" in sys.modules]
    return any(named(name).type_of(Tensor((), framework=name)).find(native.name) is native for name in loaded)


def of_layer(value: Value) -> Framework | None:
    """The framework whose layer, module or model this value is, or None. Only frameworks in use are asked."""
    if not isinstance(value, Instance):
        return None
    for package in ("torch", "keras"):
        loaded = sys.modules.get(f"{__name__}.{package}")
        if loaded is not None and loaded.FRAMEWORK.is_layer(value):
            return named(package)
    return None


def made_by_unfollowed(run: Run, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a call of a function gives that nobody can follow: the first framework in use that has an answer."""
    for package in ("torch", "keras") if args or kwargs else ():
        if f"{__name__}.{package}" in sys.modules:
            made = named(package).made_by_unfollowed(run, cause, args, kwargs)
            if made is not cause:
                return made
    return cause


def is_layer(value: Value) -> bool:
    return of_layer(value) is not None


def updated_by(optimizer: Instance) -> list[Weight] | None:
    """The weights that an optimizer of a framework in use was made for; None for what is no optimizer."""
    for package in ("torch", "keras"):
        if f"{__name__}.{package}" in sys.modules:
            found = named(package).updated_by(optimizer)
            if found is not None:
                return found
    return None


def optimizer_of(optimizer: Instance) -> Optimizer | None:
    """What an optimizer of a framework in use is; None for what is none, or not known."""
    for package in ("torch", "keras"):
        if f"{__name__}.{package}" in sys.modules:
            found = named(package).optimizer_of(optimizer)
            if found is not None:
                return found
    return None
