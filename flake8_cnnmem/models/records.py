"""Objects of the program's own that hold what a model is given: a batch with its mask, a graph with its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from flake8_cnnmem import frameworks
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.models.outcome import tensors_in
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

DEEPEST = 4
"""Objects within objects that are looked into."""

CARRIERS = (Tensor, Unknown, tuple, list, dict, Instance)
"""What may hold a size; anything else that an object holds (functions, classes, references to itself) has none."""


def is_record(value: Value) -> TypeGuard[Instance]:
    """Whether an object is one that a class of the program holds tensors with, and no layer."""
    if not isinstance(value, Instance) or value.native is not None or value.payload is not None:
        return False
    return frameworks.of_layer(value) is None and next(tensors_in(value), None) is not None


def parts_of(value: Instance, depth: int = DEEPEST) -> Iterator[Value]:
    """What a record holds, and what the objects in it hold."""
    for part in value.attributes.values():
        if isinstance(part, Instance) and depth and frameworks.of_layer(part) is None:
            yield from parts_of(part, depth - 1)
        elif isinstance(part, CARRIERS):
            yield part


def with_parts(value: Instance, changed: Callable[[Value], Value], depth: int = DEEPEST) -> Instance:
    """A copy of a record with other parts, also in the objects that it holds."""
    made = Instance(value.cls, dict(value.attributes), value.payload, value.native, value.site)
    for name, part in value.attributes.items():
        if isinstance(part, Instance) and depth and frameworks.of_layer(part) is None:
            made.attributes[name] = with_parts(part, changed, depth - 1)
        elif isinstance(part, CARRIERS):
            made.attributes[name] = changed(part)
    return made
