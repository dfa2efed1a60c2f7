"""What code reads back from a layer: its tensors, shapes, weights and configuration."""

from __future__ import annotations

from flake8_cnnmem.dims import product
from flake8_cnnmem.frameworks.keras.session import Node, session_of
from flake8_cnnmem.frameworks.keras.shapes import shown_shapes
from flake8_cnnmem.frameworks.keras.tracking import all_layers, all_weights, state_of, sublayers, trainable_ids, trains
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Runtime, Value


def one_or_list(values: list[Value]) -> Value:
    return values[0] if len(values) == 1 else values


def node_at(run: Runtime, self: Instance, index: int, what: str) -> Node:
    nodes = state_of(run, self).nodes
    if not nodes or index >= len(nodes):
        raise run.error(
            "AttributeError",
            f"The layer {state_of(run, self).name} has never been called and thus has no defined {what}.",
        )
    return nodes[index]


def get_output(run: Runtime, self: Instance) -> Value:
    return node_at(run, self, 0, "output").result


def get_input(run: Runtime, self: Instance) -> Value:
    node = node_at(run, self, 0, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_at(run: Runtime, self: Instance, node_index: int) -> Value:
    return node_at(run, self, node_index, "output").result


def get_input_at(run: Runtime, self: Instance, node_index: int) -> Value:
    node = node_at(run, self, node_index, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_shape(run: Runtime, self: Instance) -> Value:
    return shown_shapes(node_at(run, self, 0, "output").result)


def get_input_shape(run: Runtime, self: Instance) -> Value:
    node = node_at(run, self, 0, "input")
    return shown_shapes(one_or_list(node.inputs) if node.inputs else node.result)


def get_output_shape_at(run: Runtime, self: Instance, node_index: int) -> Value:
    return shown_shapes(node_at(run, self, node_index, "output").result)


def get_input_shape_at(run: Runtime, self: Instance, node_index: int) -> Value:
    return shown_shapes(one_or_list(node_at(run, self, node_index, "input").inputs))


def get_name(run: Runtime, self: Instance) -> str:
    return state_of(run, self).name


def set_name(run: Runtime, self: Instance, value: Value) -> None:
    if isinstance(value, str):
        state_of(run, self).name = value


def get_built(run: Runtime, self: Instance) -> bool:
    return state_of(run, self).built


def set_built(run: Runtime, self: Instance, value: Value) -> None:
    if isinstance(value, bool):
        state_of(run, self).built = value


def weights_where(trainable: bool | None) -> Native:
    def read(run: Runtime, self: Instance) -> list[Weight]:
        found = all_weights(self)
        if trainable is None:
            return found
        trained = trainable_ids(self)
        return [weight for weight in found if (id(weight) in trained and weight.trainable) is trainable]

    return Native("weights", read)


def count_params(run: Runtime, self: Instance) -> Value:
    total = 0
    for weight in all_weights(self):
        size = weight.shape if isinstance(weight.shape, Unknown) else product(weight.shape)
        if not isinstance(size, int):
            return size
        total += size
    return total


def get_weights(run: Runtime, self: Instance) -> list[Tensor]:
    return [Tensor(weight.shape, "float32", framework="numpy") for weight in all_weights(self)]


def set_weights(run: Runtime, self: Instance, weights: Value) -> None:
    """The values of weights change no size."""


def compute_mask(run: Runtime, self: Instance, inputs: Value = None, mask: Value = None, **kwargs: Value) -> Value:
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


def from_config(run: Runtime, cls: Class, config: Value, custom_objects: Value = None) -> Value:
    return config if isinstance(config, Unknown) else run.construct(cls, **config)


def add_loss(run: Runtime, self: Instance, *losses: Value, **kwargs: Value) -> None:
    state_of(run, self).losses.extend(losses)


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def get_losses(run: Runtime, self: Instance) -> list[Value]:
    return [loss for layer in all_layers(self) for loss in state_of(run, layer).losses]


def get_dtype(run: Runtime, self: Instance) -> Value:
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
    return sublayers(self)


def flattened_layers(
    run: Runtime, self: Instance, include_self: Value = True, recursive: Value = True
) -> list[Instance]:
    return [layer for layer in all_layers(self) if include_self or layer is not self]


def get_nodes(run: Runtime, self: Instance) -> list[Value]:
    return [node.result for node in state_of(run, self).nodes]
