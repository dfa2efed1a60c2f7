"""What a tf.data pipeline knows of itself: its facts, and the element that stands for all.

What a pipeline keeps is its `native`: `element`, the structure that iterating gives; `batch_size` and where it is
said (`site`) once the pipeline is batched; `batch_shape` of its first tensor, by which a model is built; how many
elements there are (`element_counts`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.frameworks.keras import element_counts
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

DEPTH = 8
NOT_KNOWN = Unknown("the items of a data set are not known")
WINDOW = "window"
"""The fact of a data set that is a window of another one: how many elements it has, but for the last ones."""


def native(function: Callable[..., Value]) -> Native:
    """A native of the function's own name that sees unknowns."""
    return Native(function.__name__, function, propagate_unknown=False)


def facts_of(self: Instance) -> dict[str, Any]:
    """What is known of a data set: its element, its batch size, where that is said."""
    return self.native if isinstance(self, Instance) and isinstance(self.native, dict) else {}


def pipeline(cls: Class, facts: dict[str, Value]) -> Instance:
    """A pipeline with these facts, what follows from its element among them."""
    found = dict(facts)
    first = first_tensor(found.get("element"))
    if "batch_size" in found and first is not None and isinstance(first.shape, tuple) and first.shape:
        found["batch_shape"] = (None, *first.shape[1:])
    else:
        found.pop("batch_shape", None)
    return Instance(cls, native=found)


def first_tensor(value: Value) -> Tensor | None:
    """The first tensor within nested values; None without one, and where what comes first is not known: what stands
    behind it are targets."""
    found = first_found(value)
    return found if isinstance(found, Tensor) else None


def first_found(value: Value, depth: int = DEPTH) -> Tensor | Unknown | None:
    """The first tensor, or the first thing that is not known."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return next((found for item in items if depth and (found := first_found(item, depth - 1)) is not None), None)


def changed_in(value: Value, change: Callable[[Tensor], Value], depth: int = DEPTH) -> Value:
    """A structure with its tensors changed."""
    if isinstance(value, Tensor):
        return change(value)
    if depth and isinstance(value, dict):
        return {key: changed_in(item, change, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (tuple, list)):
        return tuple(changed_in(item, change, depth - 1) for item in value)
    return value


def element_of(self: Instance) -> Value:
    """What a data set gives, nested as it gives it."""
    return facts_of(self).get("element", NOT_KNOWN)


def fact(run: Runtime, self: Instance, name: str) -> Value:
    """What a pipeline keeps, and Unknown for what it does not."""
    facts = facts_of(self)
    if not isinstance(name, str):
        raise TypeError("attribute name must be string")
    if name == "batch_size" and "asked" in facts:
        return facts["asked"]
    if name in facts and name not in ("element", "site", *element_counts.FACTS):
        return facts[name]
    return MISSING if name.startswith("__") else run.unknown(f"{name} of a data set is not known")


def lead(data: Instance) -> Value:
    """How many samples an element of a pipeline has; None where it has no tensor of a known rank."""
    first = first_tensor(element_of(data))
    return first.shape[0] if first is not None and isinstance(first.shape, tuple) and first.shape else None
