"""Sequential: a stack of layers, built as it grows when its input is known, else on its first call."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.frameworks.keras.configurations import stack_from_config
from flake8_cnnmem.frameworks.keras.fed import compare_stack
from flake8_cnnmem.frameworks.keras.functional import AGAIN_STEPS, invoke, refuse_twice, replay, trace
from flake8_cnnmem.frameworks.keras.inputs import input_for, is_input_layer
from flake8_cnnmem.frameworks.keras.layer import build_shapes, initialise
from flake8_cnnmem.frameworks.keras.model_state import ModelState, graph_of, model_state
from flake8_cnnmem.frameworks.keras.models import MODEL
from flake8_cnnmem.frameworks.keras.session import flatten, session_of
from flake8_cnnmem.frameworks.keras.tracking import MERGE, STACK, is_layer, native, state_of, sublayers
from flake8_cnnmem.frameworks.keras.version import is_before
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Property, Value


def sequential_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`Sequential(layers, name)`: each of the layers is added; in Keras 2 the second argument is the name."""
    given = dict(zip(("layers", "trainable", "name"), args, strict=False)) | kwargs
    layers = given.pop("layers", None)
    if isinstance(given.get("trainable"), str):
        # Keras 2's second argument was the name
        given["name"] = given.pop("trainable")
    initialise(run, self, given)
    state = model_state(run, self)
    state.stack = []
    state_of(run, self).sublayers = state.stack
    run.changed(self)
    # Among the attributes too, where a branch that may not be taken finds what it has made.
    self.attributes[STACK] = state.stack
    if isinstance(layers, Unknown):
        state.cause, state.gap = layers, 0
    elif layers is not None:
        items = run.items(layers)
        if isinstance(items, Unknown):
            state.cause, state.gap = items, 0
        else:
            for layer in items:
                add(run, self, layer)


def stack_of(run: Runtime, self: Instance) -> list[Instance]:
    """A Sequential's layers. Raises the program's AttributeError where its own `__init__` has not run."""
    stack = model_state(run, self).stack
    if stack is None:
        raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '_layers'")
    return stack


COMPARED = 8
"""So many names are compared in the time of a step."""


def add(run: Runtime, self: Instance, layer: Value, rebuild: Value = True) -> None:
    """`model.add(layer)`: one more layer at the end, called at once where the shape of its input is known."""
    state = model_state(run, self)
    stack = stack_of(run, self)
    if isinstance(layer, Tensor):
        # the tensor of an Input stands for its layer
        found = session_of(run).node_of(layer)
        layer = found[0].operation if found is not None else layer
    if not is_layer(layer):
        cause = layer if isinstance(layer, Unknown) else run.unknown("what is added to a Sequential is not a layer")
        state.cause = cause if state.cause is None else state.cause
        state.gap = len(behind_input(stack)) if state.gap is None else state.gap
        state.graph = None
        return
    run.spend(len(stack) // COMPARED)
    name = state_of(run, layer).name
    if any(other.native.name == name for other in stack):
        refuse_twice([*stack, layer])
    run.changed(stack)
    merged = layer.attributes.get("layers") if layer.cls.derives_from(MERGE) else None
    if merged and not stack:
        join(run, self, state, layer, merged)
        return
    if not stack and not is_input_layer(layer):
        declared = state_of(run, layer).declared_shape
        if declared is not None:
            front = input_for(run, declared)
            stack.append(origin(run, front))
            finish(run, self, state, front, front)
    if state_of(run, self).nodes:
        session_of(run).altered.add(id(self))
    stack.append(layer)
    extend(run, self, state)


def join(run: Runtime, self: Instance, state: ModelState, layer: Instance, models: list[Value]) -> None:
    """Keras 1's Merge in front: its inputs are those of the models that it joins."""
    graphs = [graph_of(model) for model in models if is_layer(model)]
    state.stack = [layer]
    state_of(run, self).sublayers = state.stack
    run.changed(self)
    self.attributes[STACK] = state.stack
    if len(graphs) < len(models) or any(graph is None for graph in graphs):
        state.cause = run.unknown("a model that is merged has no known input")
        return
    inputs = [tensor for graph in graphs if graph is not None for tensor in graph.flat_inputs]
    outputs = [graph.outputs for graph in graphs if graph is not None]
    finish(run, self, state, inputs, invoke(run, layer, (outputs,), {}))


def origin(run: Runtime, tensor: Tensor) -> Instance:
    """The layer that gave a tensor."""
    found = session_of(run).node_of(tensor)
    assert found is not None
    assert isinstance(found[0].operation, Instance)
    return found[0].operation


def extend(run: Runtime, self: Instance, state: ModelState) -> None:
    """Call the newest layer on what the stack gave so far, where that is known."""
    stack = state.stack
    assert stack is not None
    newest = stack[-1]
    if is_input_layer(newest):
        if len(stack) == 1:
            finish(run, self, state, newest.native.nodes[0].result, newest.native.nodes[0].result)
        return
    if state.graph is None:
        own = graph_of(newest) if state.gap is None else None
        if len(stack) == 1 and own is not None and len(own.flat_inputs) == 1:
            # a model in front gives its input's shape
            front = input_for(run, own.flat_inputs[0].shape, dtype=own.flat_inputs[0].dtype)
            stack.insert(0, origin(run, front))
            finish(run, self, state, front, invoke(run, newest, (front,), {}))
        return
    finish(run, self, state, state.graph.inputs, invoke(run, newest, (state.graph.outputs,), {}))


def finish(run: Runtime, self: Instance, state: ModelState, inputs: Value, outputs: Value) -> None:
    """Keep the inputs and outputs of a model, or why they are not known."""
    if isinstance(outputs, Unknown):
        state.cause = outputs if state.cause is None else state.cause
    graph = state.graph
    if graph is not None and isinstance(outputs, Tensor):
        # one more node at the end: the graph need not be traced again
        found = session_of(run).node_of(outputs)
        if found is not None:
            graph.nodes.append(found[0])
            graph.outputs, graph.flat_outputs = outputs, [outputs]
            return
    state.graph = trace(run, inputs, outputs)
    state_of(run, self).built = True


def rebuild(run: Runtime, self: Instance, inputs: Value) -> Value:
    """Call all layers in a row from this input."""
    result, state = inputs, model_state(run, self)
    for at, layer in enumerate(behind_input(stack_of(run, self))):
        # Behind a layer that is not known nobody knows what the others are given.
        given = state.cause if at == state.gap else result
        run.spend(AGAIN_STEPS)
        result = invoke(run, layer, (given,), {})
    return state.cause if state.gap is not None else result


def behind_input(stack: list[Instance]) -> list[Instance]:
    """The layers without InputLayers."""
    return [layer for layer in stack if not is_input_layer(layer)]


def pop(run: Runtime, self: Instance, rebuild: Value = True) -> Value:
    """Take the last layer off."""
    state = model_state(run, self)
    stack = state.stack
    if not stack:
        raise run.error("TypeError", "There are no layers in the model.")
    run.changed(stack)
    layer = stack.pop()
    if state_of(run, self).nodes:
        session_of(run).altered.add(id(self))
    graph = state.graph
    if graph is not None:
        node = next((node for node in reversed(graph.nodes) if node.operation is layer), None)
        outputs = node.arguments[0] if node is not None and node.arguments else graph.inputs
        state.graph = trace(run, graph.inputs, outputs)
    return layer


def build(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """`model.build((None, 28, 28, 1))`, or the first call."""
    state = model_state(run, self)
    state_of(run, self).built = True
    if state.graph is not None or input_shape is None or not state.stack:
        return
    shape = build_shapes(input_shape)
    if isinstance(shape, tuple) and shape:
        front = input_for(run, (BATCH, *shape[1:]))
        session = session_of(run)
        depth, session.depth = session.depth, 0
        try:
            outputs = rebuild(run, self, front)
        finally:
            session.depth = depth
        state.stack.insert(0, origin(run, front))
        finish(run, self, state, front, outputs)


def call(
    run: Runtime, self: Instance, inputs: Value = None, training: Value = None, mask: Value = None, **options: Value
) -> Value:
    """A call of a Sequential: one layer after the other."""
    state = model_state(run, self)
    if state.cause is not None and not state.stack:
        return state.cause
    if state.graph is not None and len(state.graph.flat_inputs) > 1:
        return replay(run, state.graph, list(flatten(inputs)))
    if state.graph is not None:
        compare_stack(run, state.graph, list(flatten(inputs)))
    result = rebuild(run, self, inputs)
    return state.cause if state.cause is not None and not isinstance(result, Tensor) else result


def get_layers(run: Runtime, self: Instance) -> Value:
    """`model.layers`: without InputLayers."""
    state = model_state(run, self)
    if state.stack is None:
        return sublayers(self)
    if state.cause is not None and not state.stack:
        return state.cause
    layers = behind_input(state.stack)
    return OwnLayers(layers, run, self) if is_before(run.pinned("keras"), 2, 2) else layers


class OwnLayers(list[Value]):
    """`model.layers` before Keras 2.2: the list itself, and what is taken off its end is taken off the model
    (keras 2.1.6, models.py). Code that does so sets `model.outputs` anew."""

    def __init__(self, layers: list[Instance], run: Runtime, model: Instance) -> None:
        super().__init__(layers)
        self.run, self.model = run, model

    def pop(self, index: Any = -1, /) -> Value:
        """Take a layer off; the last one off the model as well."""
        if index in (-1, len(self) - 1):
            pop(self.run, self.model)
        return super().pop(index)


SEQUENTIAL = Class(
    "Sequential",
    (MODEL,),
    {
        "__init__": Native("__init__", sequential_init, propagate_unknown=False),
        "add": Native("add", add, propagate_unknown=False),
        "pop": native(pop),
        "build": Native("build", build, propagate_unknown=False),
        "call": Native("call", call, propagate_unknown=False),
        "layers": Property(native(get_layers)),
        "from_config": ClassMethod(native(stack_from_config)),
    },
    module="keras",
)
