"""PyTorch: its layers, functions and tensors as natives, and what the rest of the program asks of it."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.frameworks.torch import fastai, namespaces, summaries, transformers
from flake8_cnnmem.frameworks.torch.arithmetic import operate
from flake8_cnnmem.frameworks.torch.containers import CONTAINERS
from flake8_cnnmem.frameworks.torch.indexing import index, set_index
from flake8_cnnmem.frameworks.torch.module import call_root, children_of, is_module, paths_of, weights_of
from flake8_cnnmem.frameworks.torch.optim import optimizer_of, packages, parameters_of
from flake8_cnnmem.frameworks.torch.optim.unfollowed import made_by_unfollowed
from flake8_cnnmem.frameworks.torch.parameters import type_of
from flake8_cnnmem.frameworks.torch.tensors import get, iterate, length, set_attribute
from flake8_cnnmem.values import Instance, Namespace, Value

__all__ = ["FRAMEWORK", "PLACED", "find_module", "stand_in"]


def find_module(dotted: str) -> Namespace | None:
    """A module of torch, or of the tools that print its models."""
    found = summaries.find_module(dotted) or packages.find_module(dotted)
    return namespaces.find_module(dotted) if found is None else found


PLACED: dict[str, Mapping[str, Value]] = {**transformers.PLACED, **fastai.PLACED}
"""By module or class of packages on top of torch what stands in the place of their own names."""


def stand_in(dotted: str) -> Namespace | None:
    """A package on top of torch whose source is not found."""
    return transformers.stand_in(dotted) or packages.stand_in(dotted) or fastai.stand_in(dotted)


def is_model(instance: Instance) -> bool:
    """A user's class or a container with something in it; not a single layer of torch's own."""
    if not is_module(instance):
        return False
    return instance.cls.site is not None or any(cls in CONTAINERS for cls in instance.cls.mro)


FRAMEWORK = Framework(
    name="torch",
    alignment=512,
    channels_last=False,
    get=get,
    set=set_attribute,
    type_of=type_of,
    operate=operate,
    index=index,
    set_index=set_index,
    iterate=iterate,
    length=length,
    is_layer=is_module,
    weights=weights_of,
    children=children_of,
    paths=paths_of,
    call_root=call_root,
    declares_inputs=True,
    is_model=is_model,
    own_inputs=lambda instance: None,
    optimizer_of=optimizer_of,
    updated_by=parameters_of,
    made_by_unfollowed=made_by_unfollowed,
)
