"""The frameworks that there are: the one line that each takes outside of its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Supported(NamedTuple):
    """A folder in `frameworks/`. `packages` are the top-level packages of imports that it answers for; `markers` are
    words of which one is in every text that can hold a model of it, in the names of packages on top of it as well, and
    `training` calls of which one is in every text that trains such a model."""

    packages: tuple[str, ...]
    markers: tuple[str, ...] = ()
    training: tuple[str, ...] = ()


FRAMEWORKS: Mapping[str, Supported] = {
    "torch": Supported(("torch",),
                       ("torch", "timm", "lightning", "transformers", "diffusers", "accelerate", "peft", "fastai",
                        "monai", "ultralytics", "detectron2", "mmengine", "open_clip"),
                       ("backward(", "step(", "fit(", "train(")),
    "keras": Supported(("keras", "tensorflow", "tf_keras", "keras_applications", "tensorflow_datasets"),
                       ("keras", "tensorflow"),
                       ("fit(", "fit_generator(", "_on_batch(", "apply_gradients(", "minimize(")),
    "flax": Supported(("flax", "jax", "jaxlib", "optax"), ("flax",), ("apply_gradients(", "update(")),
    "numpy": Supported(("numpy",)),
}  # fmt: skip
"""By the names of the folders. Where several could answer, the first one is asked first."""

FIRST = next(iter(FRAMEWORKS))
"""The framework of tensors of which nothing else is said."""

TRAINING = tuple(dict.fromkeys(word for each in FRAMEWORKS.values() for word in each.training))

MARKERS = tuple(dict.fromkeys(word for each in FRAMEWORKS.values() for word in each.markers))
