"""Model: functional, subclassed, and what both do."""

from __future__ import annotations

import re
from typing import Any

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.frameworks.keras.batches import one_batch
from flake8_cnnmem.frameworks.keras.compiled_losses import LOSS_METHODS
from flake8_cnnmem.frameworks.keras.configurations import model_config
from flake8_cnnmem.frameworks.keras.fed import compare_called, compare_inputs, compare_number_called
from flake8_cnnmem.frameworks.keras.fitting import EVALUATE, compile_model, fitter, not_followed, usual_step
from flake8_cnnmem.frameworks.keras.functional import Graph, replay, trace
from flake8_cnnmem.frameworks.keras.inputs import input_for, is_input_layer
from flake8_cnnmem.frameworks.keras.layer import build_shapes, call_layer, initialise
from flake8_cnnmem.frameworks.keras.looks import note_look
from flake8_cnnmem.frameworks.keras.model_state import ModelState, graph_of, model_state
from flake8_cnnmem.frameworks.keras.properties import one_or_list
from flake8_cnnmem.frameworks.keras.saving import save, to_json
from flake8_cnnmem.frameworks.keras.session import LayerState, Node, first_unknown_in, flatten, session_of, tensors_in
from flake8_cnnmem.frameworks.keras.shapes import shown_shapes
from flake8_cnnmem.frameworks.keras.tracking import LAYER, is_layer, native, state_of, sublayers
from flake8_cnnmem.frameworks.keras.version import is_before
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Property, Value

INPUT_WORDS, OUTPUT_WORDS = ("inputs", "input"), ("outputs", "output")


def model_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`Model(inputs, outputs, name=None)`, Keras 1's `Model(input=, output=)`, or a subclass's `super().__init__()`."""
    given = dict(zip(("inputs", "outputs", "name", "trainable"), args, strict=False)) | kwargs
    inputs = next((given.pop(word) for word in INPUT_WORDS if word in given), None)
    outputs = next((given.pop(word) for word in OUTPUT_WORDS if word in given), None)
    functional = inputs is not None and outputs is not None
    if functional and self.cls is MODEL:
        self.cls = FUNCTIONAL
    initialise(run, self, given)
    state = model_state(run, self)
    if functional:
        set_graph(run, self, state, inputs, outputs)
    if given.get("trainable") is False:
        run.set(self, "trainable", False)


def set_graph(run: Runtime, self: Instance, state: ModelState, inputs: Value, outputs: Value) -> None:
    """Keep a functional model's inputs and outputs, or why they are not known."""
    lost = first_unknown_in(inputs)
    state.cause = first_unknown_in(outputs) if lost is None else lost
    for word, given in (("inputs", inputs), ("outputs", outputs)):
        if any(isinstance(leaf, (int, float, str)) or is_layer(leaf) for leaf in flatten(given)):
            raise run.error("ValueError", f"All `{word}` values must be KerasTensors.")
    state.graph = trace(run, inputs, outputs)
    if state.cause is None and (other := state.graph.other_input) is not None:
        raise run.error("ValueError", f"Output is not connected to `inputs`: it needs the input of shape {other.shape}")
    if state.cause is None and not state.graph.is_whole:
        state.cause = next(
            (tensor.shape for tensor in state.graph.flat_outputs if isinstance(tensor.shape, Unknown)),
            run.unknown("what leads from the model's inputs to its outputs is not followed"),
        )
    layer_state = state_of(run, self)
    layer_state.sublayers = state.graph.layers
    layer_state.built = True


def functional_call(
    run: Runtime, self: Instance, inputs: Value = None, training: Value = None, mask: Value = None, **options: Value
) -> Value:
    """A functional model on other inputs."""
    state = model_state(run, self)
    if state.graph is None:
        return run.unknown(f"{self.cls.name} has no call method")
    given = matched(run, state.graph, inputs)
    compare_number_called(run, state.graph, inputs)
    compare_called(run, state.graph, given)
    return replay(run, state.graph, given)


def matched(run: Runtime, graph: Graph, inputs: Value) -> list[Value]:
    """The new inputs in the order of the graph's own: dicts are matched by the inputs' names."""
    if isinstance(inputs, dict) and not isinstance(graph.inputs, dict):
        names = session_of(run).names
        own = [names[id(tensor)][1] if id(tensor) in names else "" for tensor in graph.flat_inputs]
        if all(name in inputs for name in own):
            return [inputs[name] for name in own]
    return list(flatten(inputs))


def build_model(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """`model.build((None, 32, 32, 3))`: a subclassed model is called on an input of that shape."""
    state = state_of(run, self)
    if state.built or input_shape is None:
        state.built = True
        return
    state.built = True
    if state.building or session_of(run).depth or isinstance(input_shape, Unknown):
        # a call is on its way, which builds the layers inside
        return
    shapes = build_shapes(input_shape)
    call_layer(run, self, inputs_for(run, shapes))


def inputs_for(run: Runtime, shapes: Value) -> Value:
    """Inputs of these shapes, nested as they are."""
    if isinstance(shapes, list):
        return [inputs_for(run, shape) for shape in shapes]
    if isinstance(shapes, dict):
        return {key: inputs_for(run, shape) for key, shape in shapes.items()}
    if isinstance(shapes, tuple) and shapes:
        shapes = (BATCH, *shapes[1:])
    return input_for(run, shapes)


def get_inputs(run: Runtime, self: Instance) -> Any:
    """`model.inputs`: the list of its input tensors; those of its first call where it has no graph, None before
    that."""
    state = model_state(run, self)
    if state.graph is not None:
        return list(state.graph.flat_inputs)
    nodes = state_of(run, self).nodes
    return list(nodes[0].inputs) if nodes else None


def get_outputs(run: Runtime, self: Instance) -> Any:
    """`model.outputs`: the list of its output tensors; those of its first call where it has no graph, None before
    that."""
    state = model_state(run, self)
    if state.cause is not None:
        return state.cause
    if state.graph is not None:
        return list(state.graph.flat_outputs)
    nodes = state_of(run, self).nodes
    return list(nodes[0].outputs) if nodes else None


def set_outputs(run: Runtime, self: Instance, outputs: Value) -> None:
    """`model.outputs = [model.layers[-2].output]`: Keras 2 code cuts a model short like this."""
    state = model_state(run, self)
    if state.graph is not None and not isinstance(outputs, Unknown):
        set_graph(run, self, state, state.graph.inputs, outputs)


def get_input(run: Runtime, self: Instance) -> Value:
    """`model.input`: the one input tensor, or the structure of several."""
    note_uncalled(run, self)
    return own_input(run, self)


def get_output(run: Runtime, self: Instance) -> Value:
    """`model.output`: the one output tensor, or the structure of several."""
    note_uncalled(run, self)
    return own_output(run, self)


def own_input(run: Runtime, self: Instance) -> Value:
    """The input of the model's own graph; where it has none, that of its first call."""
    state = model_state(run, self)
    if state.graph is not None:
        inputs = state.graph.inputs
        return inputs[0] if isinstance(inputs, (list, tuple)) and len(inputs) == 1 else inputs
    return first_node(run, self, "input").inputs[0]


def own_output(run: Runtime, self: Instance) -> Value:
    """The output of the model's own graph; where it has none, that of its first call."""
    state = model_state(run, self)
    if state.cause is not None:
        return state.cause
    if state.graph is not None:
        outputs = state.graph.outputs
        return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs
    return first_node(run, self, "output").result


def note_uncalled(run: Runtime, self: Instance) -> None:
    """Tell Keras 2 by the `input` or `output` of a Sequential that nobody has called: Keras 3 has none for it
    (AttributeError in 3.15.1), though it has its `output_shape`."""
    state = model_state(run, self)
    if state.cause is None and state.graph is not None and state.stack is not None and not state_of(run, self).nodes:
        session_of(run).older = True


def first_node(run: Runtime, self: Instance, what: str) -> Node:
    """The first call of a layer. AttributeError for a layer that was never called."""
    nodes = state_of(run, self).nodes
    if not nodes:
        raise run.error("AttributeError", f"The model {state_of(run, self).name} has no defined {what} yet.")
    return nodes[0]


def get_input_shape(run: Runtime, self: Instance) -> Value:
    """`model.input_shape`: None for the batch."""
    return shown_shapes(own_input(run, self))


def get_output_shape(run: Runtime, self: Instance) -> Value:
    """`model.output_shape`: None for the batch."""
    outputs = own_output(run, self)
    # Keras lists the shapes of a dict's tensors in the order of its keys
    return shown_shapes(list(flatten(outputs)) if isinstance(outputs, dict) else outputs)


def get_layers(run: Runtime, self: Instance) -> list[Instance]:
    """`model.layers`: the list of its layers, in the order in which they were made or added. Keras before 2.4 gives out
    its own list, of which code takes the last layers away."""
    if graph_of(self) is None or not is_before(run.pinned("keras"), 2, 4):
        return list(sublayers(self))
    found: list[Instance] = state_of(run, self).properties.setdefault("layers", list(sublayers(self)))
    return found


def names_of(layers: list[Instance]) -> list[str]:
    """The names of layers."""
    return [layer.native.name for layer in layers if isinstance(layer.native, LayerState)]


def get_input_names(run: Runtime, self: Instance) -> list[str]:
    """`model.input_names`: the names of the layers that its inputs belong to."""
    session = session_of(run)
    found = (session.node_of(tensor) for tensor in get_inputs(run, self) or ())
    return names_of([node[0].operation for node in found if node and isinstance(node[0].operation, Instance)])


def get_output_names(run: Runtime, self: Instance) -> Value:
    """`model.output_names`: the names of the layers that its outputs come from."""
    session = session_of(run)
    outputs = get_outputs(run, self)
    if isinstance(outputs, Unknown):
        return outputs
    found = (session.node_of(tensor) for tensor in outputs or ())
    return names_of([node[0].operation for node in found if node and isinstance(node[0].operation, Instance)])


def get_layer(run: Runtime, self: Instance, name: Value = None, index: Value = None) -> Value:
    """`model.get_layer(name, index)`. ValueError for one that it does not have."""
    layers: Any = run.get(self, "layers")
    if isinstance(layers, Unknown):
        return layers
    if isinstance(name, int):
        name, index = None, name
    if isinstance(index, int):
        return layers[index]
    for layer in layers:
        if layer.native.name == name:
            return layer
    old = renamed(self, layers, name) if isinstance(name, str) else None
    if old is not None:
        return old
    cause = model_state(run, self).cause
    return run.unknown(f"the model has no layer named {name!r}") if cause is None else cause


def renamed(model: Instance, layers: list[Instance], name: str) -> Instance | None:
    """A layer by the automatic name that older versions of Keras gave it: `input_1`, `conv2d_1` for the first."""
    match = re.fullmatch(r"(\w+?)_(\d+)", name)
    if match is None:
        return None
    kind, number = match[1], int(match[2])
    if kind == "input":
        state = model.native
        stack = state.model.stack if isinstance(state.model, ModelState) and state.model.stack else layers
        inputs = [layer for layer in stack if is_input_layer(layer)]
        return inputs[number - 1] if 0 < number <= len(inputs) else None
    kind = OLD_NAMES.get(kind, kind)
    wanted = f"{kind}_{number - 1}" if number > 1 else kind
    return next((layer for layer in layers if layer.native.name == wanted), None)


OLD_NAMES = {
    "convolution1d": "conv1d", "convolution2d": "conv2d", "convolution3d": "conv3d",
    "batchnormalization": "batch_normalization", "maxpooling1d": "max_pooling1d", "maxpooling2d": "max_pooling2d",
    "maxpooling3d": "max_pooling3d", "averagepooling2d": "average_pooling2d", "zeropadding2d": "zero_padding2d",
    "globalaveragepooling2d": "global_average_pooling2d", "globalmaxpooling2d": "global_max_pooling2d",
    "upsampling2d": "up_sampling2d", "deconvolution2d": "conv2d_transpose", "leakyrelu": "leaky_re_lu",
}  # fmt: skip
"""Keras 1's automatic names."""


def predict(
    run: Runtime, self: Instance, x: Value = None, batch_size: Value = None, *args: Value, **kwargs: Value
) -> Value:
    """`model.predict(x)`: arrays of the outputs' shapes."""
    note_look(run, self, x, batch_size)
    return predicted(run, self, x)


def predict_on_batch(run: Runtime, self: Instance, x: Value = None) -> Value:
    """`model.predict_on_batch(x)`: the whole of it at once."""
    note_look(run, self, x, whole=True)
    return predicted(run, self, x)


def predicted(run: Runtime, self: Instance, x: Value) -> Value:
    """What a model gives for samples."""
    outputs = get_outputs(run, self)
    first = next(iter(tensors_in(x)), None)
    if isinstance(outputs, Unknown) or not outputs or first is None or not isinstance(first.shape, tuple):
        return run.unknown("what predict gives is not followed")
    compare_inputs(run, self, x, "predict")
    called_on_others(run, self, x)
    made: list[Value] = []
    for tensor in outputs:
        if isinstance(tensor.shape, Unknown):
            return tensor.shape
        made.append(Tensor((first.shape[0], *tensor.shape[1:]), "float32", framework="numpy"))
    return one_or_list(made)


def evaluate_on_batch(run: Runtime, self: Instance, x: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`model.test_on_batch(x, y)`: the whole of it at once."""
    note_look(run, self, x, whole=True, loss=True)
    return run.unknown("what test_on_batch gives is not followed")


def called_on_others(run: Runtime, self: Instance, x: Value) -> None:
    """A model of the code's own is called on samples of other sizes than it was built with: its layers look at them."""
    nodes = state_of(run, self).nodes
    batch = one_batch(x, BATCH)
    if graph_of(self) is not None or not nodes:
        return
    pairs = list(zip(nodes[0].inputs, tensors_in(batch), strict=False))
    known = len(pairs) == len(nodes[0].inputs) and all(isinstance(each.shape, tuple) for pair in pairs for each in pair)
    if known and any(own.shape[1:] != its.shape[1:] for own, its in pairs):  # type: ignore[index]
        run.attempt(Native("predict", call_layer, propagate_unknown=False), self, batch, training=False)


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Saving, loading, printing: changes no shape."""


def model_from_config(run: Runtime, cls: Class, config: Value, custom_objects: Value = None) -> Value:
    """`Model.from_config(config)`, which is not followed."""
    return run.unknown("a model made from a configuration is not followed")


MODEL = Class(
    "Model",
    (LAYER,),
    {
        "__init__": Native("__init__", model_init, propagate_unknown=False),
        "build": Native("build", build_model, propagate_unknown=False),
        "call": Native("call", functional_call, propagate_unknown=False),
        "compile": Native("compile", compile_model, propagate_unknown=False),
        "fit": fitter("fit"),
        "fit_generator": fitter("fit_generator"),
        "train_on_batch": fitter("train_on_batch"),
        "evaluate": EVALUATE,
        "evaluate_generator": not_followed("evaluate_generator"),
        "predict": native(predict),
        "predict_on_batch": native(predict_on_batch),
        "predict_generator": not_followed("predict_generator"),
        "predict_classes": not_followed("predict_classes"),
        "test_on_batch": native(evaluate_on_batch),
        "to_json": native(to_json),
        "to_yaml": not_followed("to_yaml"),
        "get_metrics_result": not_followed("get_metrics_result"),
        "compute_metrics": not_followed("compute_metrics"),
        "train_step": native(usual_step),
        "test_step": not_followed("test_step"),
        "make_train_function": not_followed("make_train_function"),
        **LOSS_METHODS,
        "summary": native(nothing),
        "save": native(save),
        "export": native(nothing),
        "save_weights": native(nothing),
        "load_weights": native(nothing),
        "reset_states": native(nothing),
        "reset_metrics": native(nothing),
        "get_layer": native(get_layer),
        "from_config": ClassMethod(native(model_from_config)),
        "get_config": native(model_config),
        "layers": Property(native(get_layers)),
        "inputs": Property(native(get_inputs)),
        "outputs": Property(native(get_outputs), native(set_outputs)),
        "input": Property(native(get_input)),
        "output": Property(native(get_output)),
        "input_shape": Property(native(get_input_shape)),
        "output_shape": Property(native(get_output_shape)),
        "input_names": Property(native(get_input_names)),
        "output_names": Property(native(get_output_names)),
    },
    module="keras",
)


FUNCTIONAL = Class("Functional", (MODEL,), {}, module="keras")
