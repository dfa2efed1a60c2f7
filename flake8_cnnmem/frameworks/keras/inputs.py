"""Input and InputLayer, in the forms of Keras 1, 2 and 3."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import BATCH, Shape, Size
from flake8_cnnmem.frameworks.keras.dtypes import tensor_dtype
from flake8_cnnmem.frameworks.keras.layer import initialise
from flake8_cnnmem.frameworks.keras.session import Node, session_of
from flake8_cnnmem.frameworks.keras.shapes import TensorShape, plain_size, shown, unstated
from flake8_cnnmem.frameworks.keras.tracking import LAYER, is_layer, native, state_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

ARGUMENTS = ("shape", "batch_size", "dtype", "sparse", "ragged", "batch_shape", "name", "tensor", "optional")
"""Keras 3's order. By position hardly anyone gives more than the first."""

LAYER_ARGUMENTS = (
    "shape",
    "batch_size",
    "dtype",
    "sparse",
    "ragged",
    "batch_shape",
    "input_tensor",
    "optional",
    "name",
)


def stated_shape(run: Runtime, given: dict[str, Value]) -> tuple[Shape | Unknown, Value]:
    """The shape with the batch in front, and the batch size if the code states one."""
    whole: Any = next(
        (given[word] for word in ("batch_shape", "batch_input_shape") if given.get(word) is not None), None
    )
    batch = given.get("batch_size")
    shape = given.get("shape", given.get("input_shape"))
    if whole is not None:
        if isinstance(whole, Unknown):
            return whole, None
        batch, shape = (whole[0], whole[1:]) if len(whole) else (None, ())
    if shape is None:
        return run.unknown("an Input is made without a shape"), batch
    if isinstance(shape, Unknown):
        return shape, batch
    if isinstance(shape, (int, float)):
        shape = (shape,)
    if isinstance(shape, Tensor) and shape.data is not None:
        shape = shape.data
    if not isinstance(shape, (list, tuple)):
        return run.unknown("the shape of an Input is not known"), batch
    last = session_of(run).data_format != "channels_first"
    sizes: list[Size] = [BATCH]
    for axis, size in enumerate(shape, 1):
        sizes.append(unstated(axis, len(shape) + 1, last) if size is None else plain_size(size))
    return tuple(sizes), batch


def make_input(run: Runtime, layer: Instance, given: dict[str, Value]) -> Tensor:
    """Give an InputLayer its tensor, and the node that makes it."""
    session = session_of(run)
    tensor = given.get("tensor", given.get("input_tensor"))
    if isinstance(tensor, Tensor) and (session.node_of(tensor) is not None or tensor.framework == "keras"):
        result = tensor
    else:
        if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple):
            shape: Shape | Unknown = (BATCH, *tensor.shape[1:])
            batch: Value = tensor.shape[0]
        else:
            shape, batch = stated_shape(run, given)
        result = Tensor(shape, tensor_dtype(given.get("dtype")), framework="keras", symbolic=True)
        if isinstance(batch, int):
            state_of(run, layer).properties["batch_size"] = batch
            session.batch_size = batch if session.batch_size in (None, batch) else None
    state = state_of(run, layer)
    state.built = True
    node = Node(layer, (), {}, [], result, [result])
    state.nodes.append(node)
    session.names[id(result)] = (result, state.name)
    if session.node_of(result) is None:
        session.record(node)
    return result


def input_layer_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`InputLayer(shape, batch_size, dtype, ...)`: a layer whose one output is an input of the model."""
    given = dict(zip(LAYER_ARGUMENTS, args, strict=False)) | kwargs
    initialise(run, self, given)
    state_of(run, self).declared_shape = None
    make_input(run, self, given)


def get_batch_shape(run: Runtime, self: Instance) -> Value:
    """`layer.batch_shape`: None for the batch."""
    tensor = state_of(run, self).nodes[0].result
    shape = shown(tensor.shape) if isinstance(tensor, Tensor) else tensor
    size = state_of(run, self).properties.get("batch_size")
    return TensorShape((size, *shape[1:])) if isinstance(size, int) and isinstance(shape, TensorShape) else shape


def same(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives its first argument."""
    return args[0] if args else None


INPUT_LAYER = Class(
    "InputLayer",
    (LAYER,),
    {
        "__init__": Native("__init__", input_layer_init, propagate_unknown=False),
        "call": native(same),
        "batch_shape": Property(native(get_batch_shape)),
        "_batch_input_shape": Property(native(get_batch_shape)),
        "batch_input_shape": Property(native(get_batch_shape)),
    },
    module="keras.layers",
)


def keras_input(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`Input(shape=(224, 224, 3))`: the tensor of a new InputLayer."""
    order = list(ARGUMENTS)
    if len(args) > 1 and isinstance(args[1], (list, tuple)):
        order = ["shape", "batch_shape", "name", "dtype", "sparse", "tensor"]
    elif len(args) > 2 and isinstance(args[2], str) and tensor_dtype(args[2]) == args[2]:
        order[2:4] = ["name", "dtype"]
    given = dict(zip(order, args, strict=False)) | kwargs
    tensor = given.get("tensor")
    if isinstance(tensor, Tensor) and session_of(run).node_of(tensor) is not None:
        return tensor
    layer = Instance(INPUT_LAYER, site=run.here())
    initialise(run, layer, {"name": given.get("name")})
    return make_input(run, layer, given)


INPUT = Native("Input", with_known_lengths(keras_input), propagate_unknown=False)


def input_for(run: Runtime, shape: Value, name: Value = None, dtype: Value = None) -> Tensor:
    """A new Input of a shape of ours, or of one that code wrote with the batch in front."""
    layer = Instance(INPUT_LAYER, site=run.here())
    initialise(run, layer, {"name": name})
    if isinstance(shape, tuple) and shape and shape[0] == BATCH:
        state = state_of(run, layer)
        state.built = True
        tensor = Tensor(shape, tensor_dtype(dtype), framework="keras")
        node = Node(layer, (), {}, [], tensor, [tensor])
        state.nodes.append(node)
        session_of(run).record(node)
        session_of(run).names[id(tensor)] = (tensor, state.name)
        return tensor
    return make_input(run, layer, {"batch_shape": shape, "dtype": dtype})


def is_input_layer(value: Value) -> bool:
    """Whether a value is an InputLayer."""
    return is_layer(value) and value.cls.derives_from(INPUT_LAYER)
