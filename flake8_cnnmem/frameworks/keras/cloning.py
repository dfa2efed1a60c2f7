"""clone_model: the same graph over new layers."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.functional import replay
from flake8_cnnmem.frameworks.keras.inputs import input_for, is_input_layer
from flake8_cnnmem.frameworks.keras.model_state import is_model, model_state
from flake8_cnnmem.frameworks.keras.models import FUNCTIONAL
from flake8_cnnmem.frameworks.keras.properties import one_or_list
from flake8_cnnmem.frameworks.keras.session import flatten
from flake8_cnnmem.frameworks.keras.tracking import is_layer, native, state_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


def clone_model(
    run: Runtime, model: Value, input_tensors: Value = None, clone_function: Value = None, **options: Value
) -> Value:
    """The same graph over new layers."""
    if not isinstance(model, Instance) or not is_layer(model):
        return run.unknown("what clone_model is given is not a model")
    state = model_state(run, model)
    if state.stack is not None:
        layers = [copied(run, layer, clone_function) for layer in state.stack if not is_input_layer(layer)]
        front = next((layer for layer in state.stack if is_input_layer(layer)), None)
        shape = front.native.nodes[0].result.shape if front is not None else None
        first = [] if shape is None else [input_for(run, shape)]
        return run.construct(model.cls, [*first, *layers], name=state_of(run, model).name)
    if state.graph is None:
        return run.unknown("only functional and sequential models are cloned")
    copies: dict[int, Value] = {}

    def renew(layer: Instance) -> Value:
        if id(layer) not in copies:
            copies[id(layer)] = copied(run, layer, clone_function)
        return copies[id(layer)]

    inputs = (
        list(flatten(input_tensors))
        if input_tensors is not None
        else [input_for(run, tensor.shape, dtype=tensor.dtype) for tensor in state.graph.flat_inputs]
    )
    outputs = replay(run, state.graph, inputs, renew)
    # A copy has the name of what it is a copy of (keras/src/models/cloning.py).
    return run.construct(FUNCTIONAL, one_or_list(inputs), outputs, name=state_of(run, model).name)


def copied(run: Runtime, layer: Instance, clone_function: Value) -> Value:
    """The copy of a layer in `clone_model`: by the function that is given, or from its configuration."""
    if clone_function is not None:
        return run.call(clone_function, layer)
    if is_model(layer):
        return clone_model(run, layer)
    return run.call(run.get(layer.cls, "from_config"), run.call(run.get(layer, "get_config")))


CLONE_MODEL = native(clone_model)
