"""The class Layer: what every Keras layer does, whether it is ours or the user's own.

Building on the first call, the invocation that a call runs in, the node that it leaves in a functional
graph, weights and sublayers, and the properties that code reads back (`output_shape`, `weights`, `name`).
"""

from __future__ import annotations

from collections.abc import Iterator

from flake8_cnnmem.dims import BATCH, Shape, product
from flake8_cnnmem.frameworks.keras.parameters import parameter_names
from flake8_cnnmem.frameworks.keras.session import (
    LayerState,
    Node,
    Session,
    flatten,
    map_structure,
    session_of,
    snake_case,
    tensors_in,
)
from flake8_cnnmem.frameworks.keras.shapes import is_shape, plain_size, shown, shown_shapes, stated
from flake8_cnnmem.graph import Invocation, Tensor, Weight
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Native, Property, Run, Value

IDENTITY = Elementwise("identity")

OPTIONS = frozenset(
    {
        "name", "dtype", "trainable", "input_shape", "batch_input_shape", "input_dim", "input_length", "batch_size",
        "weights", "activity_regularizer", "autocast", "dynamic", "batch_shape", "input_dtype", "create_input_layer",
        "implementation", "experimental_autocast", "time_major", "jit_compile", "fused", "virtual_batch_size",
    }
)  # fmt: skip
"""Arguments that every layer takes in some version of Keras, beside its own."""


def state_of(run: Run, layer: Instance) -> LayerState:
    """A layer's state, made now for a subclass that never called `super().__init__()`."""
    state = layer.native
    if not isinstance(state, LayerState):
        session = session_of(run)
        state = layer.native = LayerState(session.unique_name(snake_case(layer.cls.name)))
    return state


def is_layer(value: Value) -> bool:
    return isinstance(value, Instance) and LAYER in value.cls.mro


def initialise(run: Run, self: Instance, options: dict[str, Value], named: str = "") -> LayerState:
    """What `Layer.__init__` does with the arguments that every layer takes."""
    name = options.get("name")
    session = session_of(run)
    if not isinstance(name, str):
        name = named or session.unique_name(snake_case(self.cls.name))
    state = LayerState(name, dtype=options.get("dtype"))
    trainable = options.get("trainable")
    if isinstance(trainable, bool):
        state.trainable = trainable
    state.declared_shape = declared_shape(options)
    state.initial_weights = options.get("weights")
    self.native = state
    return state


def declared_shape(options: dict[str, Value]) -> Value:
    """`input_shape=` and its relatives, with the batch axis; None where a layer has none."""
    for word in ("batch_input_shape", "batch_shape"):
        if options.get(word) is not None:
            return options[word]
    shape = options.get("input_shape")
    if shape is None and options.get("input_dim") is not None:
        length = options.get("input_length")
        shape = (options["input_dim"],) if length is None else (length, options["input_dim"])
    if shape is None:
        return None
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, (list, tuple)):
        return shape if isinstance(shape, Unknown) else None
    return (options.get("batch_size"), *shape)


def layer_init(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
    # tf.keras took these by position too: Layer(trainable=True, name=None, dtype=None, dynamic=False)
    options = dict(zip(("trainable", "name", "dtype", "dynamic"), args, strict=False)) | kwargs
    unexpected = next((word for word in options if word not in OPTIONS), None)
    if unexpected is not None:
        raise TypeError(f"{self.cls.name}.__init__() got an unexpected keyword argument '{unexpected}'")
    initialise(run, self, options)


# --- calling ----------------------------------------------------------------------------------------------------------


def call_layer(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`layer(inputs)`: build, enter the layer's invocation, call, and remember the call as a node."""
    session = session_of(run)
    state = state_of(run, self)
    call = self.attributes.get("call", MISSING)
    receiver: tuple[Value, ...] = ()
    if call is MISSING:
        call = self.cls.find("call")
        receiver = (self,)
    given = kwargs
    names = parameter_names(call) or ()
    names = names[len(receiver) :]
    if not state.built:
        build_for_call(run, self, state, names, args, kwargs)
    training = kwargs.get("training")
    if "training" in names:
        place = names.index("training")
        if training is None and place < len(args):
            training = args[place]
        if training is None:
            training = session.training[-1]
            if place >= len(args):
                kwargs = {**kwargs, "training": training}
            else:
                args = (*args[:place], training, *args[place + 1 :])
    if training is None:
        training = session.training[-1]
    if "mask" in names and "mask" not in kwargs and names.index("mask") >= len(args):
        kwargs = {**kwargs, "mask": None}
    inputs = tensors_in((args, given))
    session.depth += 1
    session.training.append(training)
    try:
        with run.enter(self) as invocation:
            if isinstance(call, Native):
                result = call.function(run, *receiver, *args, **kwargs)
            else:
                result = run.call(Bound(call, self) if receiver else call, *args, **kwargs)
            result = with_own_outputs(run, result, inputs)
    finally:
        session.depth -= 1
        session.training.pop()
    state.built = True
    if session.depth == 0 and inputs:
        remember(session, state, self, args, given, inputs, result)
    del invocation
    return result


def with_own_outputs(run: Run, result: Value, inputs: list[Tensor]) -> Value:
    """A layer that gives back its input still has an output of its own, as in Keras."""
    if isinstance(result, Tensor):
        if any(result is tensor for tensor in inputs) or result.call is None:
            return run.apply(IDENTITY, result, function="identity", framework="keras")
        return result
    if isinstance(result, (list, tuple, dict)):
        return map_structure(lambda leaf: with_own_outputs(run, leaf, inputs), result)
    return result


def remember(
    session: Session,
    state: LayerState,
    self: Instance,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    inputs: list[Tensor],
    result: Value,
) -> None:
    node = Node(self, args, kwargs, inputs, result, tensors_in(result))
    state.nodes.append(node)
    session.record(node)


def build_for_call(
    run: Run,
    self: Instance,
    state: LayerState,
    names: tuple[str, ...],
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> None:
    """Build a layer from the shapes that it is called with, if it is called with any."""
    build = self.attributes.get("build", MISSING)
    if build is MISSING:
        build = self.cls.find("build")
    first = args[0] if args else next((kwargs[name] for name in names if name in kwargs), None)
    if isinstance(build, Native):
        if build is not BUILD:
            build.function(run, self, shapes_of(first))
    else:
        batch = session_of(run).batch_size
        wanted = (parameter_names(build) or ())[1:]
        bound = dict(zip(names, args, strict=False)) | kwargs
        if len(wanted) > 1 and all(name.removesuffix("_shape") in bound for name in wanted):
            shapes = {name: shown_shapes(bound[name.removesuffix("_shape")], batch) for name in wanted}
            run.call(Bound(build, self), **shapes)
        else:
            run.call(Bound(build, self), shown_shapes(first, batch))
    state.built = True
    apply_trainable(state)


def shapes_of(value: Value) -> Value:
    """Nested tensors as nested shapes of ours; what is not a tensor has an Unknown shape."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, (list, tuple)):
        return [shapes_of(item) for item in value]
    if isinstance(value, dict):
        return {key: shapes_of(item) for key, item in value.items()}
    return value if isinstance(value, Unknown) else Unknown("a layer is called on what is not a tensor")


def layer_build(run: Run, self: Instance, input_shape: Value = None) -> None:
    state_of(run, self).built = True


def build_shapes(value: Value) -> Value:
    """The argument of `build`, from our own call or written by user code, as shapes of ours."""
    if value is None or isinstance(value, Unknown):
        return value if value is not None else Unknown("a layer is built without a shape")
    if is_shape(value):
        return stated(value) if any(size is None for size in value) else tuple(plain_size(size) for size in value)
    if isinstance(value, dict):
        return {key: build_shapes(item) for key, item in value.items()}
    return [build_shapes(item) for item in value]


def layer_call(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown(f"{self.cls.name} has no call method")


# --- weights ----------------------------------------------------------------------------------------------------------

WEIGHT_ARGUMENTS = (
    "shape", "initializer", "dtype", "trainable", "autocast", "regularizer", "constraint", "aggregation",
    "overwrite_with_gradient", "name",
)  # fmt: skip
"""Keras 3's order; Keras 2 put the name first."""


def add_weight(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Weight:
    """`self.add_weight(...)` in the argument order of Keras 3, or of Keras 2 (name first), whichever was used."""
    order = WEIGHT_ARGUMENTS
    if args and (args[0] is None or isinstance(args[0], str)):
        order = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
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


def weight_shape(shape: Value) -> Shape:
    if shape is None:
        return ()
    if isinstance(shape, (int, float)):
        return (plain_size(shape),)
    if isinstance(shape, Unknown):
        return (shape,)
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


def make_weight(
    run: Run, layer: Instance, name: str, shape: Shape, trainable: bool = True, dtype: str = "float"
) -> Weight:
    """A new variable of a layer. Variables that are not trained are what Keras calls non-trainable weights."""
    state = state_of(run, layer)
    weight = Weight(
        shape,
        dtype,
        framework="keras",
        name=name,
        trainable=trainable and state.trainable,
        site=run.here(),
    )
    state.weights.append(weight)
    if not trainable:
        state.frozen.add(id(weight))
    return weight


def apply_trainable(state: LayerState) -> None:
    for weight in state.weights:
        weight.trainable = state.trainable and id(weight) not in state.frozen


def layers_in(value: Value, depth: int = 0) -> Iterator[Instance]:
    """Layers in an attribute's value: itself, or held in lists, tuples and dicts, as Keras tracks them."""
    if isinstance(value, Instance):
        if LAYER in value.cls.mro:
            yield value
        elif isinstance(value.payload, (list, dict)) and depth < 8:
            yield from layers_in(value.payload, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 8:
        for item in value:
            yield from layers_in(item, depth + 1)
    elif isinstance(value, dict) and depth < 8:
        for item in value.values():
            yield from layers_in(item, depth + 1)


def weights_in(value: Value) -> Iterator[Weight]:
    if isinstance(value, Weight):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, Weight):
                yield item
    elif isinstance(value, dict):
        for item in value.values():
            if isinstance(item, Weight):
                yield item


def sublayers(layer: Instance) -> list[Instance]:
    """The layers directly inside a layer, each once, in Keras' order."""
    found: dict[int, Instance] = {}
    state = layer.native
    if isinstance(state, LayerState) and state.sublayers is not None:
        for child in state.sublayers:
            found.setdefault(id(child), child)
    for value in layer.attributes.values():
        for child in layers_in(value):
            found.setdefault(id(child), child)
    found.pop(id(layer), None)
    return list(found.values())


def own_weights(layer: Instance) -> list[Weight]:
    """A layer's own variables: trainable ones first, each once."""
    found: dict[int, Weight] = {}
    state = layer.native
    if isinstance(state, LayerState):
        for weight in state.weights:
            found.setdefault(id(weight), weight)
    for value in layer.attributes.values():
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


def get_trainable(run: Run, self: Instance) -> bool:
    return state_of(run, self).trainable


def trainable_ids(layer: Instance) -> set[int]:
    """Which variables train: those that no `trainable = False` on the way to them freezes."""
    found: set[int] = set()
    seen: set[tuple[int, bool]] = set()
    waiting = [layer]
    while waiting:
        at = waiting.pop()
        state = at.native
        if (id(at), True) in seen or (isinstance(state, LayerState) and not state.trainable):
            continue
        seen.add((id(at), True))
        frozen = state.frozen if isinstance(state, LayerState) else ()
        found.update(id(weight) for weight in own_weights(at) if id(weight) not in frozen and not weight.buffer)
        waiting.extend(sublayers(at))
    return found


def set_trainable(run: Run, self: Instance, value: Value) -> None:
    """`layer.trainable = False` freezes the layer and all layers inside it."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = bool(value)
    if not isinstance(value, bool):
        return
    for layer in all_layers(self):
        state = state_of(run, layer)
        state.trainable = value
        for weight in own_weights(layer):
            weight.trainable = value and id(weight) not in state.frozen


# --- what code reads back -----------------------------------------------------------------------------------------------


def one_or_list(values: list[Value]) -> Value:
    return values[0] if len(values) == 1 else values


def node_at(run: Run, self: Instance, index: int, what: str) -> Node:
    nodes = state_of(run, self).nodes
    if not nodes or index >= len(nodes):
        raise run.error("AttributeError", f"The layer {state_of(run, self).name} has never been called and thus has no defined {what}.")
    return nodes[index]


def get_output(run: Run, self: Instance) -> Value:
    return node_at(run, self, 0, "output").result


def get_input(run: Run, self: Instance) -> Value:
    node = node_at(run, self, 0, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_at(run: Run, self: Instance, node_index: int) -> Value:
    return node_at(run, self, node_index, "output").result


def get_input_at(run: Run, self: Instance, node_index: int) -> Value:
    node = node_at(run, self, node_index, "input")
    return one_or_list(node.inputs) if node.inputs else node.result


def get_output_shape(run: Run, self: Instance) -> Value:
    return shown_shapes(node_at(run, self, 0, "output").result)


def get_input_shape(run: Run, self: Instance) -> Value:
    node = node_at(run, self, 0, "input")
    return shown_shapes(one_or_list(node.inputs) if node.inputs else node.result)


def get_output_shape_at(run: Run, self: Instance, node_index: int) -> Value:
    return shown_shapes(node_at(run, self, node_index, "output").result)


def get_input_shape_at(run: Run, self: Instance, node_index: int) -> Value:
    return shown_shapes(one_or_list(node_at(run, self, node_index, "input").inputs))


def get_name(run: Run, self: Instance) -> str:
    return state_of(run, self).name


def set_name(run: Run, self: Instance, value: Value) -> None:
    if isinstance(value, str):
        state_of(run, self).name = value


def get_built(run: Run, self: Instance) -> bool:
    return state_of(run, self).built


def set_built(run: Run, self: Instance, value: Value) -> None:
    if isinstance(value, bool):
        state_of(run, self).built = value


def weights_where(trainable: bool | None) -> Native:
    def read(run: Run, self: Instance) -> list[Weight]:
        found = all_weights(self)
        if trainable is None:
            return found
        trained = trainable_ids(self)
        return [weight for weight in found if (id(weight) in trained and weight.trainable) is trainable]

    return Native("weights", read)


def count_params(run: Run, self: Instance) -> Value:
    total = 0
    for weight in all_weights(self):
        size = weight.shape if isinstance(weight.shape, Unknown) else product(weight.shape)
        if not isinstance(size, int):
            return size
        total += size
    return total


def get_weights(run: Run, self: Instance) -> list[Tensor]:
    return [Tensor(weight.shape, "float32", framework="numpy") for weight in all_weights(self)]


def set_weights(run: Run, self: Instance, weights: Value) -> None:
    """The values of weights change no size."""


def compute_output_shape(run: Run, self: Instance, input_shape: Value) -> Value:
    """The shape that a call on an input of this shape would give."""
    session = session_of(run)
    shapes = build_shapes(input_shape)
    make = lambda shape: Tensor(shape, framework="keras")  # noqa: E731
    given = shapes if isinstance(shapes, Unknown) else (
        [make(shape) for shape in shapes] if isinstance(shapes, list) else make(shapes)
    )
    session.depth += 1
    try:
        result = call_layer(run, self, given)
    finally:
        session.depth -= 1
    return shown_shapes(result)


def compute_mask(run: Run, self: Instance, inputs: Value = None, mask: Value = None, **kwargs: Value) -> Value:
    return mask


def get_config(run: Run, self: Instance) -> dict[str, Value]:
    """The constructor's arguments by name, as far as the layer keeps them."""
    state = state_of(run, self)
    config: dict[str, Value] = {"name": state.name, "trainable": state.trainable}
    arguments = state.properties.get("arguments")
    if arguments:
        config.update({word: self.attributes.get(word, value) for word, value in arguments.items()})
    if state.declared_shape is not None:
        config["batch_input_shape"] = state.declared_shape
    return config


def from_config(run: Run, cls: Class, config: Value, custom_objects: Value = None) -> Value:
    return run.construct(cls, **config)


def add_loss(run: Run, self: Instance, *losses: Value, **kwargs: Value) -> None:
    state_of(run, self).losses.extend(losses)


def nothing(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def get_losses(run: Run, self: Instance) -> list[Value]:
    return [loss for layer in all_layers(self) for loss in state_of(run, layer).losses]


def get_dtype(run: Run, self: Instance) -> Value:
    state = state_of(run, self)
    return state.dtype if isinstance(state.dtype, str) else session_of(run).floatx


def stored(word: str, default: Value) -> Property:
    """A property that code may read and set, without a meaning for shapes."""

    def read(run: Run, self: Instance) -> Value:
        return state_of(run, self).properties.get(word, default)

    def write(run: Run, self: Instance, value: Value) -> None:
        state_of(run, self).properties[word] = value

    return Property(Native(word, read, absorb=False), Native(word, write, absorb=False))


def get_sublayers(run: Run, self: Instance) -> list[Instance]:
    return sublayers(self)


def flattened_layers(run: Run, self: Instance, include_self: Value = True, recursive: Value = True) -> list[Instance]:
    return [layer for layer in all_layers(self) if include_self or layer is not self]


def get_nodes(run: Run, self: Instance) -> list[Value]:
    return [node.result for node in state_of(run, self).nodes]


def native(function: Value, absorb: bool = False) -> Native:
    return Native(function.__name__, function, absorb)


BUILD = Native("build", layer_build, absorb=False)

LAYER = Class(
    "Layer",
    namespace={
        "__init__": Native("__init__", layer_init, absorb=False),
        "__call__": Native("__call__", call_layer, absorb=False),
        "build": BUILD,
        "call": Native("call", layer_call, absorb=False),
        "add_weight": Native("add_weight", add_weight, absorb=False),
        "add_variable": Native("add_variable", add_weight, absorb=False),
        "add_loss": Native("add_loss", add_loss, absorb=False),
        "add_metric": native(nothing),
        "add_update": native(nothing),
        "compute_output_shape": native(compute_output_shape),
        "get_output_shape_for": native(compute_output_shape),
        "compute_mask": native(compute_mask),
        "get_config": native(get_config),
        "from_config": ClassMethod(native(from_config)),
        "count_params": native(count_params),
        "get_weights": native(get_weights),
        "set_weights": native(set_weights),
        "get_output_at": native(get_output_at),
        "get_input_at": native(get_input_at),
        "get_output_shape_at": native(get_output_shape_at),
        "get_input_shape_at": native(get_input_shape_at),
        "_flatten_layers": native(flattened_layers),
        "_set_dtype_policy": native(nothing),
        "save_own_variables": native(nothing),
        "load_own_variables": native(nothing),
        "name": Property(native(get_name), native(set_name)),
        "_name": Property(native(get_name), native(set_name)),
        "path": Property(native(get_name)),
        "built": Property(native(get_built), native(set_built)),
        "trainable": Property(native(get_trainable), native(set_trainable)),
        "_trainable": Property(native(get_trainable), native(set_trainable)),
        "weights": Property(weights_where(None)),
        "variables": Property(weights_where(None)),
        "trainable_weights": Property(weights_where(True), native(nothing)),
        "trainable_variables": Property(weights_where(True)),
        "non_trainable_weights": Property(weights_where(False), native(nothing)),
        "non_trainable_variables": Property(weights_where(False)),
        "input": Property(native(get_input)),
        "output": Property(native(get_output)),
        "input_shape": Property(native(get_input_shape)),
        "output_shape": Property(native(get_output_shape)),
        "inbound_nodes": Property(native(get_nodes)),
        "_inbound_nodes": Property(native(get_nodes)),
        "dtype": Property(native(get_dtype)),
        "compute_dtype": Property(native(get_dtype)),
        "_compute_dtype": Property(native(get_dtype)),
        "variable_dtype": Property(native(get_dtype)),
        "dtype_policy": Property(native(get_dtype)),
        "losses": Property(native(get_losses)),
        "_layers": Property(native(get_sublayers)),
        "supports_masking": stored("supports_masking", False),
        "input_spec": stored("input_spec", None),
        "stateful": stored("stateful", False),
        "activity_regularizer": stored("activity_regularizer", None),
        "outbound_nodes": stored("outbound_nodes", ()),
        "_outbound_nodes": stored("outbound_nodes", ()),
        "_expects_training_arg": stored("_expects_training_arg", False),
    },
    module="keras.layers",
)
"""`keras.layers.Layer`. Every layer class, ours or the user's, derives from it."""

__all__ = [
    "BATCH", "IDENTITY", "LAYER", "OPTIONS", "Invocation", "all_layers", "all_weights", "build_shapes", "call_layer",
    "flatten", "initialise", "is_layer", "layers_in", "make_weight", "native", "own_weights", "shapes_of", "shown",
    "state_of", "sublayers",
]  # fmt: skip
