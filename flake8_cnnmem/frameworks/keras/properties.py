"""What code reads back from a layer: its tensors, shapes, weights and configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.dims import Shape, product, show
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.session import Node, session_of
from flake8_cnnmem.frameworks.keras.shapes import shown_shapes
from flake8_cnnmem.frameworks.keras.tracking import all_layers, all_weights, state_of, sublayers, trains
from flake8_cnnmem.frameworks.keras.trainable import trainable_ids
from flake8_cnnmem.graph import Problem, Tensor, Weight
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value


def one_or_list(values: Sequence[Value]) -> Value:
    """The only one of several values, or all of them."""
    return values[0] if len(values) == 1 else values


def node_at(run: Runtime, self: Instance, index: int, what: str) -> Node:
    """A call of a layer by its number. AttributeError where it was not called so often."""
    nodes = state_of(run, self).nodes
    if not nodes or index >= len(nodes):
        raise run.error(
            "AttributeError",
            f"The layer {state_of(run, self).name} has never been called and thus has no defined {what}.",
        )
    return nodes[index]


def get_output(run: Runtime, self: Instance) -> Value:
    """`layer.output`: of its first call."""
    return node_at(run, self, 0, "output").result


def get_input(run: Runtime, self: Instance) -> Value:
    """`layer.input`: of its first call."""
    node = node_at(run, self, 0, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_at(run: Runtime, self: Instance, node_index: int) -> Value:
    """`layer.get_output_at(node_index)`: what its call of that number gave. AttributeError where it was not called
    so often."""
    return node_at(run, self, node_index, "output").result


def get_input_at(run: Runtime, self: Instance, node_index: int) -> Value:
    """`layer.get_input_at(node_index)`: what its call of that number was given: a tensor, or a list of several."""
    node = node_at(run, self, node_index, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_shape(run: Runtime, self: Instance) -> Value:
    """`layer.output_shape`: None for the batch."""
    return shown_shapes(node_at(run, self, 0, "output").result)


def get_input_shape(run: Runtime, self: Instance) -> Value:
    """`layer.input_shape`: None for the batch."""
    node = node_at(run, self, 0, "input")
    return shown_shapes(one_or_list(node.inputs) if node.inputs else node.result)


def get_output_shape_at(run: Runtime, self: Instance, node_index: int) -> Value:
    """`layer.get_output_shape_at(node_index)`: shapes as tuples, the batch as None."""
    return shown_shapes(node_at(run, self, node_index, "output").result)


def get_input_shape_at(run: Runtime, self: Instance, node_index: int) -> Value:
    """`layer.get_input_shape_at(node_index)`: shapes as tuples, the batch as None."""
    return shown_shapes(one_or_list(node_at(run, self, node_index, "input").inputs))


def get_name(run: Runtime, self: Instance) -> str:
    """`layer.name`: as it was given, or made of the class and a number."""
    return state_of(run, self).name


def set_name(run: Runtime, self: Instance, value: Value) -> None:
    """`layer.name = value`: what is no text leaves the name as it is."""
    if isinstance(value, str):
        state_of(run, self).name = value


def get_built(run: Runtime, self: Instance) -> bool:
    """`layer.built`: whether its weights are there."""
    return state_of(run, self).built


def set_built(run: Runtime, self: Instance, value: Value) -> None:
    """`layer.built = value`: what is no bool changes nothing."""
    if isinstance(value, bool):
        state_of(run, self).built = value


def weights_where(trainable: bool | None) -> Native:
    """The weights of a layer and those below it: trainable ones, others, or with None all."""

    def read(run: Runtime, self: Instance) -> list[Weight]:
        found = all_weights(self)
        if trainable is None:
            return found
        trained = trainable_ids(self)
        return [weight for weight in found if (id(weight) in trained and weight.trainable) is trainable]

    return Native("weights", read)


def count_params(run: Runtime, self: Instance) -> Value:
    """`layer.count_params()`: how many values its weights have."""
    total = 0
    for weight in all_weights(self):
        size = weight.shape if isinstance(weight.shape, Unknown) else product(weight.shape)
        if not isinstance(size, int):
            return size
        total += size
    return total


def quantize(run: Runtime, self: Instance, mode: Value = None, *args: Value, **kwargs: Value) -> None:
    """`layer.quantize("int8")` makes other weights, of other sizes."""
    for weight in all_weights(self):
        weight.shape = run.unknown("what quantize() makes of weights is not followed")


def get_weights(run: Runtime, self: Instance) -> list[Tensor]:
    """`layer.get_weights()`: arrays of the weights' shapes."""
    return [Tensor(weight.shape, "float32", framework="numpy") for weight in all_weights(self)]


def set_weights(run: Runtime, self: Instance, weights: Value) -> None:
    """The values of weights change no size. Keras refuses arrays of other shapes than the weights have."""
    own = all_weights(self)
    if not isinstance(weights, (list, tuple)) or len(weights) != len(own):
        return
    for weight, array in zip(own, weights, strict=True):
        if not isinstance(array, Tensor) or not are_numbers(weight.shape) or not are_numbers(array.shape):
            continue
        if weight.shape != array.shape:
            what = f"sets a weight of {show(weight.shape)} to values of {show(array.shape)}"  # type: ignore[arg-type]
            with run.enter(self):
                apply(run, Refused(Problem("CNM201", what, error="ValueError")), weight, array, function="set_weights")
            return


def are_numbers(shape: Shape | Unknown) -> bool:
    """Whether each size of a shape is a number."""
    return isinstance(shape, tuple) and all(type(size) is int for size in shape)


def compute_mask(run: Runtime, self: Instance, inputs: Value = None, mask: Value = None, **kwargs: Value) -> Value:
    """`layer.compute_mask(inputs, mask)`: the mask."""
    return mask


def get_config(run: Runtime, self: Instance) -> Value:
    """The constructor's arguments by name. Of a class of the program's own without a `get_config` Keras has noted them,
    and nobody here."""
    state = state_of(run, self)
    constructor = self.cls.find("__init__")
    own = not isinstance(constructor, Native) and not state.properties.get("arguments")
    if own and isinstance(self.cls.find("get_config"), Native):
        return run.unknown(f"what a {self.cls.name} was constructed with is not kept")
    config: dict[str, Value] = {"name": state.name, "trainable": trains(self)}
    arguments = state.properties.get("arguments")
    if arguments:
        config.update({word: self.attributes.get(word, value) for word, value in arguments.items()})
    if state.declared_shape is not None:
        config["batch_input_shape"] = state.declared_shape
    return config


def from_config(run: Runtime, cls: Class, config: Any, custom_objects: Value = None) -> Value:
    """`Class.from_config(config)`: a layer made with the entries of a config as arguments."""
    return config if isinstance(config, Unknown) else run.construct(cls, **config)


def add_loss(run: Runtime, self: Instance, *losses: Value, **kwargs: Value) -> None:
    """`layer.add_loss(loss)`: one more tensor that `fit` adds to the loss."""
    state_of(run, self).losses.extend(losses)


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def get_losses(run: Runtime, self: Instance) -> list[Value]:
    """`layer.losses`: of the layer and all below it."""
    return [loss for layer in all_layers(self) for loss in state_of(run, layer).losses]


def get_dtype(run: Runtime, self: Instance) -> Value:
    """`layer.dtype`: the session's where the layer is told none."""
    state = state_of(run, self)
    return state.dtype if isinstance(state.dtype, str) else session_of(run).floatx


def stored(word: str, default: Value) -> Property:
    """A property that code may read and set, without a meaning for shapes."""

    def read(run: Runtime, self: Instance) -> Value:
        return state_of(run, self).properties.get(word, default)

    def write(run: Runtime, self: Instance, value: Value) -> None:
        state_of(run, self).properties[word] = value

    return Property(Native(word, read, propagate_unknown=False), Native(word, write, propagate_unknown=False))


def get_sublayers(run: Runtime, self: Instance) -> list[Instance]:
    """The layers that a layer holds directly."""
    return sublayers(self)


def flattened_layers(
    run: Runtime, self: Instance, include_self: Value = True, recursive: Value = True
) -> list[Instance]:
    """`layer._flatten_layers()`: the layer and all below it."""
    return [layer for layer in all_layers(self) if include_self or layer is not self]


def get_nodes(run: Runtime, self: Instance) -> list[Value]:
    """`layer._inbound_nodes`: the result of each call."""
    return [node.result for node in state_of(run, self).nodes]
