"""What code asks of a layer to add a weight to it, and to open and close it for such (`layer._tracker`)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.frameworks.keras.tracking import LOCKED, make_weight, state_of
from flake8_cnnmem.frameworks.keras.version import is_of_2
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

WEIGHT_ARGUMENTS = (
    "shape", "initializer", "dtype", "trainable", "autocast", "regularizer", "constraint", "aggregation",
    "overwrite_with_gradient", "name",
)  # fmt: skip
"""Keras 3's order; Keras 2 put the name first."""


def add_weight(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Weight:
    """`self.add_weight(...)` in the argument order of Keras 3, or of Keras 2 (name first), whichever was used."""
    order: tuple[str, ...] = WEIGHT_ARGUMENTS
    if args and (args[0] is None or isinstance(args[0], str)):
        order = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
    state = state_of(run, self)
    if state.locked and not state.building and not is_of_2(run):
        raise run.error("ValueError", LOCKED)
    given = dict(zip(order, args, strict=False)) | kwargs
    shape = given.get("shape")
    trainable = given.get("trainable")
    name = given.get("name")
    return make_weight(
        run,
        self,
        name if isinstance(name, str) else "variable",
        weight_shape(shape),
        trainable=trainable is not False,
        dtype=weight_dtype(given.get("dtype")),
    )


def weight_shape(shape: Any) -> Shape:
    """The shape of a weight, given as a number, a tuple or None."""
    if shape is None:
        return ()
    if isinstance(shape, (int, float)):
        return (plain_size(shape),)
    if isinstance(shape, Unknown):
        return (shape,)
    if isinstance(shape, (Batch, Tensor)):
        return (Unknown("a weight's shape is not known"),)
    sizes = []
    for size in shape:
        sizes.append(Unknown("a weight's size is None") if size is None else plain_size(size))
    return tuple(sizes)


def weight_dtype(dtype: Value) -> str:
    """Floating weights follow the model's dtype; counters and masks keep their own."""
    name = getattr(dtype, "name", dtype)
    if isinstance(name, str) and name.startswith(("int", "uint", "bool", "complex", "string")):
        return name
    return "float"


def set_locked(locked: bool) -> Native:
    """`layer._tracker.lock()` or `.unlock()`: whether a layer that is built refuses new weights and layers."""

    def set_it(run: Runtime, self: Instance, *args: Value) -> None:
        run.changed(self.native)
        self.native.locked = locked

    return Native("lock" if locked else "unlock", set_it)


TRACKER = Class("Tracker", namespace={"lock": set_locked(True), "unlock": set_locked(False)}, module="keras")


def tracker_of(run: Runtime, self: Instance) -> Instance:
    """`layer._tracker`, which code unlocks to put an adapter in the place of a layer inside."""
    return Instance(TRACKER, native=state_of(run, self))
