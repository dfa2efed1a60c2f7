"""The weights and layers that a layer holds: made, found among its attributes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.session import LayerState, session_of, snake_case
from flake8_cnnmem.frameworks.keras.version import is_of_2
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.ops.base import extent
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, in_turn

LAYER = Class("Layer", module="keras.layers")
"""`keras.layers.Layer`. Every layer class, ours or the user's, derives from it. Its methods are entered in layer.py."""


MERGE = Class("Merge", (LAYER,), module="keras.layers")
"""The base of every merge layer."""


def state_of(run: Runtime, layer: Instance) -> LayerState:
    """A layer's state, made now for a subclass that never called `super().__init__()`."""
    state = layer.native
    if not isinstance(state, LayerState):
        session = session_of(run)
        state = layer.native = LayerState(session.unique_name(snake_case(layer.cls.name)))
    return state


def is_layer(value: Value) -> TypeGuard[Instance]:
    """Whether a value is an instance of keras.layers.Layer."""
    return isinstance(value, Instance) and LAYER in value.cls.mro


def make_weight(
    run: Runtime, layer: Instance, name: str, shape: Shape, trainable: bool = True, dtype: str = "float"
) -> Weight:
    """A new variable of a layer. Variables that are not trained are what Keras calls non-trainable weights."""
    state = state_of(run, layer)
    weight = Weight(
        # What is no size (text, less than nothing, beyond any memory) is not known.
        tuple(extent(size, batch=True) for size in shape),
        dtype,
        framework="keras",
        name=name,
        trainable=trainable and trains(layer) is not False,
        site=run.here(),
    )
    state.weights.append(weight)
    if not trainable:
        state.frozen.add(id(weight))
    return weight


STACK = "_layers"
"""The attribute of a Sequential that holds its layers."""

PLAIN = frozenset((int, float, bool, str, type(None)))
"""What most attributes are: in these nothing is held."""


def layers_in(value: Value, depth: int = 0) -> Iterator[Instance]:
    """Layers in an attribute's value: itself, or held in lists, tuples and dicts, as Keras tracks them."""
    if isinstance(value, Instance):
        if LAYER in value.cls.mro:
            yield value
        elif isinstance(value.payload, (list, dict, tuple)) and depth < 8:
            yield from layers_in(value.payload, depth + 1)
    elif isinstance(value, (list, tuple, set)) and depth < 8:
        for item in value.held() if isinstance(value, TrackedList) else in_turn(value) if type(value) is set else value:
            if type(item) not in PLAIN:
                yield from layers_in(item, depth + 1)
    elif isinstance(value, dict) and depth < 8:
        for item in value.held() if isinstance(value, TrackedDict) else value.values():
            if type(item) not in PLAIN:
                yield from layers_in(item, depth + 1)


def weights_in(value: Value) -> Iterator[Weight]:
    """The weights within nested values."""
    if isinstance(value, Weight):
        yield value
    elif isinstance(value, Instance) and any(cls.module == "tensorflow" for cls in value.cls.mro):
        # A tf.Module's variables: Keras 2 counts them as those of the layer itself.
        for item in value.attributes.values():
            yield from weights_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value.held() if isinstance(value, TrackedList) else value:
            if isinstance(item, Weight):
                yield item
    elif isinstance(value, dict):
        for item in value.held() if isinstance(value, TrackedDict) else value.values():
            if isinstance(item, Weight):
                yield item


def held_by(layer: Instance) -> Iterator[Value]:
    """What a layer tracks beside what it made itself: its attributes' values, those before them too."""
    state = layer.native
    if not isinstance(state, LayerState):
        yield from layer.attributes.values()
        return
    yield from state.former
    for name, value in layer.attributes.items():
        if name not in state.set_around and (state.statements is None or name in state.statements):
            yield value


def attributes_dict(run: Runtime, self: Instance) -> dict[str, Value]:
    """`layer.__dict__`. From now on attributes may come to be without `Layer.__setattr__`."""
    state = self.native
    if isinstance(state, LayerState) and state.statements is None:
        state.statements = set(self.attributes)
    return self.attributes


class TrackedList(list[Value]):
    """A list that an attribute of a layer holds: keras/src/utils/tracking.py (`TrackedList`). What its methods put in
    or take out is the layer's own from then on, or no longer; `items[0] = layer` and `items += layers` are not
    noticed."""

    def __init__(self, items: Iterable[Value], state: LayerState) -> None:
        super().__init__(items)
        self.state = state
        self.unnoticed: dict[int, Value] = {}
        """By id, what is in the list and not the layer's own."""
        self.replaced: list[Value] = []
        """What is no longer in the list and still the layer's own."""
        self.plain: Noticed = {}

    def held(self) -> list[Value]:
        """What the layer has of the list: its items that are noticed, and those that were replaced."""
        noticed = (item for item in self if id(item) not in self.unnoticed)
        return [*self.replaced, *noticed_in(noticed, self.plain)]

    def let_go(self, item: Value) -> None:
        """An item that is taken out is the layer's no longer."""
        if isinstance(item, (Weight, Instance)):
            self.state.order.pop(id(item), None)
            held: list[Any]
            for held in (self.replaced, self.state.weights):
                at = next((at for at in reversed(range(len(held))) if held[at] is item), None)
                if at is not None:
                    del held[at]
        elif id(item) not in self.unnoticed:
            # A list or tuple is none of the layer's own, but what is in it is.
            self.replaced += noticed_in([item], self.plain)

    def append(self, item: Value, /) -> None:
        """Add an item at the end, which the layer comes to know."""
        self.unnoticed.pop(id(item), None)
        super().append(item)
        take_in(self.state, item, self.plain)

    def insert(self, index: Any, item: Value, /) -> None:
        """Add an item at a place, which the layer comes to know."""
        self.unnoticed.pop(id(item), None)
        super().insert(index, item)
        take_in(self.state, item, self.plain)

    def extend(self, items: Iterable[Value], /) -> None:
        """Add items at the end, which the layer comes to know."""
        for item in items:
            self.append(TrackedList(item, self.state) if type(item) is list else item)

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        own = {id(item) for item in self.held()}
        self.unnoticed.update((id(item), item) for item in items if id(item) not in own)
        super().extend(items)
        return self

    def __setitem__(self, key: Any, value: Any, /) -> None:
        before = self.held()
        super().__setitem__(key, value)
        now, own = {id(item) for item in self}, {id(item) for item in before}
        self.replaced = [item for item in before if id(item) not in now]
        self.unnoticed = {id(item): item for item in self if id(item) not in own}

    def pop(self, index: Any = -1, /) -> Value:
        """Take an item out, from the layer as well."""
        item = super().pop(index)
        self.let_go(item)
        return item

    def __delitem__(self, key: Any, /) -> None:
        gone = self[key]
        super().__delitem__(key)
        if not isinstance(key, slice):
            self.let_go(gone)
        else:
            # `untrack` is asked for a list, which it does not know.
            self.replaced += gone

    def clear(self) -> None:
        """Take all items out, from the layer as well."""
        for item in self:
            self.let_go(item)
        super().clear()


class TrackedDict(dict[Value, Value]):
    """A dict that an attribute of a layer holds (`TrackedDict`). What is put in by `layers[name] = layer` and `update`
    is the layer's own, by `setdefault` it is not."""

    def __init__(self, items: Mapping[Value, Value], state: LayerState) -> None:
        super().__init__(items)
        self.state = state
        self.unnoticed: dict[int, Value] = {}
        """By id, what is in the dict and not the layer's own."""
        self.plain: Noticed = {}

    def held(self) -> list[Value]:
        """What the layer has of the dict: its values that are noticed."""
        return noticed_in((item for item in self.values() if id(item) not in self.unnoticed), self.plain)

    def __setitem__(self, key: Value, value: Value, /) -> None:
        super().__setitem__(key, value)
        self.unnoticed.pop(id(value), None)
        take_in(self.state, value, self.plain)

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """The value that is there, or the default, which is kept and is not the layer's own."""
        if key not in self:
            super().__setitem__(key, default)
            self.unnoticed[id(default)] = default
        return self[key]


Noticed = dict[int, tuple[Value, list[Value]]]
"""By id a plain list, tuple or dict that was put into a tracked one, with the layers and weights in it at that moment:
those are the layer's own, and none that comes into it later."""


def take_in(state: LayerState, value: Value, plain: Noticed) -> None:
    """What a tracked list or dict makes of an item that is put in: `Tracker.track`, whose result it does not keep."""
    come_to_know(state, value)
    if type(value) in (list, tuple, dict):
        plain[id(value)] = value, [*layers_in(value), *weights_in(value)]


def noticed_in(items: Iterable[Value], plain: Noticed) -> list[Value]:
    """Items of a tracked list or dict, those that are plain ones as what was in them when they were put in."""
    found: list[Value] = []
    for item in items:
        found += plain[id(item)][1] if id(item) in plain else [item]
    return found


def come_to_know(state: LayerState, value: Value) -> None:
    """Number the layers in a value: in this order they are a layer's own (`Tracker.add_to_store`)."""
    for child in layers_in(value) if type(value) not in PLAIN else ():
        if id(child) not in state.order:
            state.known += 1
            state.order[id(child)] = (state.known, child)


def tracked(run: Runtime, state: LayerState, value: Value, depth: int = 0) -> Value:
    """What stands in an attribute that is set to `value`: lists and dicts are copied (`Tracker.track`)."""
    if id(value) in run.havocked or depth == DEEPEST or not holds_own(value):
        return value
    if type(value) is dict:
        run.spend(len(value))
        return TrackedDict({word: tracked(run, state, each, depth + 1) for word, each in value.items()}, state)
    if type(value) is not list and type(value) is not tuple:
        return value
    run.spend(len(value))
    items = [tracked(run, state, each, depth + 1) for each in value]
    return tuple(items) if type(value) is tuple else TrackedList(items, state)


DEEPEST = 8
"""So many lists inside one another are looked at."""


def holds_own(value: Value) -> bool:
    """Whether a list, tuple or dict is empty or holds layers or weights."""
    if type(value) not in (list, tuple, dict):
        return False
    return not value or any(True for _ in (*layers_in(value), *weights_in(value)))


def set_attribute(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """`layer.name = value`. What stood there before stays among the layer's own (`Layer.__setattr__` tracks and never
    lets go); a layer that is built takes no new one (`Tracker.lock`)."""
    state, before = self.native, self.attributes.get(name)
    if isinstance(state, LayerState):
        if state.locked and not state.building:
            refuse_new(run, self, value)
        if before is not None and before is not value:
            keep(run, state, before)
        state.set_around.discard(name)
        if computes_anew(run, self, name, before, value):
            session_of(run).altered.add(id(self))
        if state.statements is not None:
            state.statements.add(name)
        if not is_of_2(run):
            value = tracked(run, state, value)
            come_to_know(state, value)
        elif is_passed_over(value):
            state.set_around.add(name)
    run.set_plainly(self, name, value)


def computes_anew(run: Runtime, layer: Instance, name: str, before: Value, value: Value) -> bool:
    """Whether a layer that was called may compute something else by a new value: another activation, a `call` of its
    own. A model around it that is fitted calls it as it is then. What has weights keeps their sizes (`units`)."""
    state = layer.native
    if not isinstance(state, LayerState) or not state.nodes or state.model is not None or session_of(run).depth:
        return False
    if name == "call":
        return True
    read_by_call = name == "activation" or not state.weights
    return name in layer.attributes and before is not value and read_by_call


def is_passed_over(value: Value) -> bool:
    """Whether Keras 2 tracks nothing of what an attribute holds: it wraps lists, tuples and dicts, which it then sees
    live, and no set and no class derived from them (`wrap_or_unwrap` in tensorflow/python/trackable)."""
    if isinstance(value, Instance):
        return isinstance(value.payload, (list, dict))
    return isinstance(value, (set, dict)) and type(value) not in (dict, OrderedDict)


def delete_attribute(run: Runtime, self: Instance, name: str) -> None:
    """`del layer.name`. A variable is let go, a layer is not (`Layer.__delattr__`)."""
    if name not in self.attributes:
        raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    state, before = self.native, self.attributes[name]
    if isinstance(state, LayerState):
        if isinstance(before, Weight):
            run.changed(state.weights)
            state.weights[:] = [weight for weight in state.weights if weight is not before]
        else:
            keep(run, state, before)
    run.changed(self)
    del self.attributes[name]


def keep(run: Runtime, state: LayerState, before: Value) -> None:
    """Keep what an attribute held, if there are layers or weights in it."""
    if any(True for _ in (*layers_in(before), *weights_in(before))):
        run.changed(state.former)
        state.former.append(before)


LOCKED = "You cannot add new elements of state to a layer that is already built"


def refuse_new(run: Runtime, layer: Instance, value: Value) -> None:
    """ValueError for layers and variables that a layer does not hold yet. Keras 2 takes them."""
    if is_of_2(run):
        return
    known = {id(each) for each in (*sublayers(layer), *own_weights(layer))}
    if any(id(each) not in known for each in (*layers_in(value), *weights_in(value)) if each is not layer):
        raise run.error("ValueError", LOCKED)


def sublayers(layer: Instance) -> list[Instance]:
    """The layers directly inside a layer, each once, in Keras' order."""
    found: dict[int, Instance] = {}
    state = layer.native
    if isinstance(state, LayerState) and state.sublayers is not None:
        for child in state.sublayers:
            found.setdefault(id(child), child)
    if isinstance(state, LayerState) and state.sublayers is not None and layer.attributes.get(STACK) is state.sublayers:
        # A Sequential's layers are those of its stack (`Sequential.layers`), whatever its attributes hold.
        return [child for child in found.values() if child is not layer]
    for value in held_by(layer):
        if type(value) not in PLAIN:
            for child in layers_in(value):
                found.setdefault(id(child), child)
    found.pop(id(layer), None)
    if isinstance(state, LayerState) and state.order and state.sublayers is None:
        # What the class of Keras made for itself was there first.
        return sorted(found.values(), key=lambda child: state.order[id(child)][0] if id(child) in state.order else -1)
    return list(found.values())


def own_weights(layer: Instance) -> list[Weight]:
    """A layer's own variables: trainable ones first, each once."""
    found: dict[int, Weight] = {}
    state = layer.native
    if isinstance(state, LayerState):
        for weight in state.weights:
            found.setdefault(id(weight), weight)
    for value in held_by(layer):
        if type(value) not in PLAIN:
            for weight in weights_in(value):
                found.setdefault(id(weight), weight)
    return sorted(found.values(), key=lambda weight: not weight.trainable)


def all_layers(layer: Instance) -> Iterator[Instance]:
    """A layer and all layers inside it, each once, outer before inner."""
    seen: set[int] = set()
    waiting = [layer]
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        yield at
        waiting.extend(reversed(sublayers(at)))


def all_weights(layer: Instance) -> list[Weight]:
    """Keras' `.weights`: each variable once, a layer's own before those of the layers inside it."""
    found: dict[int, Weight] = {}
    for at in all_layers(layer):
        for weight in own_weights(at):
            found.setdefault(id(weight), weight)
    return list(found.values())


TRAINABLE = "_trainable"
"""Where a layer keeps whether it trains: among its attributes, which a branch that may not be taken gives back."""


def trains(layer: Instance) -> bool | Unknown:
    """Whether a layer's own `trainable` is set."""
    value = layer.attributes.get(TRAINABLE, True)
    return value if isinstance(value, (bool, Unknown)) else bool(value)


def native(function: Callable[..., Value], propagate_unknown: bool = False) -> Native:
    """A native of the function's own name."""
    return Native(function.__name__, function, propagate_unknown)
