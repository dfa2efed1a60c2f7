"""What code asks of a layer to add a weight to it, and to open and close it for such (`layer._tracker`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.frameworks.keras.tracking import LOCKED, make_weight, state_of
from flake8_cnnmem.frameworks.keras.version import is_of_2
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

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


def assign(run: Runtime, self: Instance, value: Value, trainable: bool) -> Value:
    """`self.trainable_weights = [...]`, as layers of Keras 1 and 2 say which variables are theirs. Gives them; what
    `K.zeros(shape)` gave was a variable there."""
    state = state_of(run, self)
    if not isinstance(value, (list, tuple)):
        return value
    run.changed(state.weights)
    state.weights[:] = [weight for weight in state.weights if (id(weight) in state.frozen) is trainable]
    found = [own_weight(run, self, given, trainable) for given in value]
    return [weight for weight in found if weight is not None]


def own_weight(run: Runtime, self: Instance, given: Value, trainable: bool) -> Weight | None:
    """The variable that code of Keras 1 and 2 gives a layer for its own; None where it is none."""
    if not isinstance(given, Tensor):
        return None
    state = state_of(run, self)
    if not isinstance(given, Weight):
        sizes = given.shape if isinstance(given.shape, tuple) else (given.shape,)
        weight = make_weight(run, self, "variable", sizes, trainable)
        run.changed(self)
        self.attributes.update({name: weight for name, held in self.attributes.items() if held is given})
        return weight
    if all(each is not given for each in state.weights):
        run.changed(state.weights)
        state.weights.append(given)
    (state.frozen.discard if trainable else state.frozen.add)(id(given))
    return given


class OwnWeights(list[Value]):
    """`layer._trainable_weights` of Keras 2, whose layers put into it what is theirs."""

    def __init__(self, items: Iterable[Value], put: Callable[[Value], Value]) -> None:
        super().__init__(items)
        self.put = put

    def append(self, item: Value, /) -> None:
        """Add a variable, which is the layer's own from then on."""
        weight = self.put(item)
        super().append(item if weight is None else weight)

    def extend(self, items: Iterable[Value], /) -> None:
        """Add variables, which are the layer's own from then on."""
        for item in items:
            self.append(item)

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        self.extend(items)
        return self


def own_weights(trainable: bool) -> Property:
    """`layer._trainable_weights` and `layer._non_trainable_weights`: lists of Keras 2, which Keras 3 has not."""

    def read(run: Runtime, self: Instance) -> Value:
        session_of(run).older = True
        state = state_of(run, self)
        items = [weight for weight in state.weights if (id(weight) in state.frozen) is not trainable]
        return OwnWeights(items, lambda given: own_weight(run, self, given, trainable))

    def write(run: Runtime, self: Instance, value: Value) -> None:
        if is_of_2(run):
            assign(run, self, value, trainable)
        elif isinstance(value, (list, tuple)):
            # To Keras 3 an attribute like others, in which it finds weights.
            for item in value:
                if isinstance(item, Weight):
                    own_weight(run, self, item, trainable and item.trainable)

    word = "_trainable_weights" if trainable else "_non_trainable_weights"
    return Property(Native(word, read, propagate_unknown=False), Native(word, write, propagate_unknown=False))


def assigned(trainable: bool) -> Native:
    """The setter of the public name, which neither TensorFlow's Keras nor Keras 3 has."""

    def set_it(run: Runtime, self: Instance, value: Value) -> None:
        session_of(run).older = True
        assign(run, self, value, trainable)

    return Native("trainable_weights", set_it, propagate_unknown=False)


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
