"""Which weights of a layer train: `trainable`, set on it or on a layer around it."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.session import LayerState
from flake8_cnnmem.frameworks.keras.tracking import TRAINABLE, all_layers, own_weights, state_of, sublayers, trains
from flake8_cnnmem.frameworks.keras.version import is_of_2
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def apply_trainable(layer: Instance) -> None:
    """Make a layer's weights trainable, or not, as it and those around it are."""
    state = layer.native
    for weight in state.weights if isinstance(state, LayerState) else ():
        weight.trainable = trains(layer) is True and id(weight) not in state.frozen and not weight.fixed


def get_trainable(run: Runtime, self: Instance) -> Value:
    """`layer.trainable`: as it is set on the layer itself."""
    return trains(self)


def undecided(layer: Instance) -> Unknown | None:
    """Why it is not known which variables train, if it is not."""
    return next((found for at in all_layers(layer) if isinstance(found := trains(at), Unknown)), None)


def trainable_ids(layer: Instance) -> set[int]:
    """Which variables train: none of a layer that is frozen itself, else all whose own layer is not. To freeze a layer
    freezes those inside, which may be set free again (`Layer.trainable_variables`): in Keras 3, where variables are
    asked one by one; before, a frozen layer has no trainable weights, whatever is inside (`trainable_weights`)."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [layer] if trains(layer) is True else []
    while waiting:
        at = waiting.pop()
        state = at.native
        if id(at) in seen:
            continue
        seen.add(id(at))
        if trains(at) is True or not (isinstance(state, LayerState) and state.of_2):
            waiting.extend(sublayers(at))
        if trains(at) is not True:
            # What was set free by itself after its layer was frozen trains: `trainable_variables` asks each variable.
            free = (weight for weight in own_weights(at) if trains(at) is False and weight.freed)
            found.update(id(weight) for weight in free if not weight.buffer)
            continue
        frozen = state.frozen if isinstance(state, LayerState) else ()
        own = (weight for weight in own_weights(at) if not weight.buffer and not weight.fixed)
        found.update(id(weight) for weight in own if id(weight) not in frozen)
    return found


def set_trainable(run: Runtime, self: Instance, value: Value) -> None:
    """`layer.trainable = False` freezes the layer and all layers inside it. On TensorFlow a layer that has the value
    already is left as it is, with all that is inside (`AutoTrackable.__setattr__`, which returns for the same object:
    `model.trainable = True` sets nothing free where layers alone were frozen)."""
    from flake8_cnnmem.frameworks.keras.ops.backend import backend

    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = bool(value)
    if not isinstance(value, (bool, Unknown)):
        return
    same_is_nothing = backend(run) == "tensorflow"
    seen: set[int] = set()
    waiting = [self]
    while waiting:
        layer = waiting.pop()
        if id(layer) in seen or (same_is_nothing and layer.attributes.get(TRAINABLE, True) is value):
            continue
        seen.add(id(layer))
        waiting += sublayers(layer)
        state = state_of(run, layer)
        state.of_2 = is_of_2(run)
        run.changed(layer)
        layer.attributes[TRAINABLE] = value
        for weight in state.weights:
            # What was frozen or set free by itself follows its layer again.
            weight.fixed = False
        for weight in own_weights(layer):
            weight.freed = False
            weight.trainable = value is True and id(weight) not in state.frozen and not weight.fixed
