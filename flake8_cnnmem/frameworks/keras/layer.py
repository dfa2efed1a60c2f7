"""The class Layer: what every Keras layer does, whether it is ours or the user's own.

Building on the first call, the invocation that a call runs in, and the node that it leaves in a functional graph.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.keras.adding_weights import add_weight, assigned, own_weights, tracker_of
from flake8_cnnmem.frameworks.keras.dtypes import FLOATS
from flake8_cnnmem.frameworks.keras.parameters import parameter_names, refuses
from flake8_cnnmem.frameworks.keras.properties import (
    add_loss,
    compute_mask,
    count_params,
    flattened_layers,
    from_config,
    get_built,
    get_config,
    get_dtype,
    get_input,
    get_input_at,
    get_input_shape,
    get_input_shape_at,
    get_losses,
    get_name,
    get_nodes,
    get_output,
    get_output_at,
    get_output_shape,
    get_output_shape_at,
    get_sublayers,
    get_weights,
    nothing,
    quantize,
    set_built,
    set_name,
    set_weights,
    stored,
    weights_where,
)
from flake8_cnnmem.frameworks.keras.session import (
    LayerState,
    Node,
    Session,
    map_structure,
    session_of,
    snake_case,
    tensors_in,
)
from flake8_cnnmem.frameworks.keras.shapes import is_shape, plain_size, shown_shapes, stated
from flake8_cnnmem.frameworks.keras.tracking import (
    LAYER,
    TRAINABLE,
    attributes_dict,
    delete_attribute,
    native,
    set_attribute,
    state_of,
    sublayers,
)
from flake8_cnnmem.frameworks.keras.trainable import apply_trainable, get_trainable, set_trainable
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, ClassMethod, Instance, Native, Property, Value

IDENTITY = Elementwise("identity")


OPTIONS = frozenset(
    {
        "name", "dtype", "trainable", "input_shape", "batch_input_shape", "input_dim", "input_length", "batch_size",
        "weights", "activity_regularizer", "autocast", "dynamic", "batch_shape", "input_dtype", "create_input_layer",
        "implementation", "experimental_autocast", "time_major", "jit_compile", "fused", "virtual_batch_size",
        "lora_rank", "lora_alpha",
    }
)  # fmt: skip
"""Arguments that every layer takes in some version of Keras, beside its own."""


def initialise(run: Runtime, self: Instance, options: dict[str, Value], named: str = "") -> LayerState:
    """What `Layer.__init__` does with the arguments that every layer takes."""
    name = options.get("name")
    session = session_of(run)
    if not isinstance(name, str):
        name = named or session.unique_name(snake_case(self.cls.name))
    state = LayerState(name, dtype=options.get("dtype"), made_under=(session.policy, session.policy_site))
    trainable = options.get("trainable")
    if isinstance(trainable, bool):
        self.attributes[TRAINABLE] = trainable
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
    if shape is None:
        sides = tuple(options[word] for word in ("input_length", "input_dim") if options.get(word) is not None)
        # an Embedding's input_dim is its own: a length alone is a sequence of indices
        shape = sides or None
    if shape is None:
        return None
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, (list, tuple)):
        return shape if isinstance(shape, Unknown) else None
    return (options.get("batch_size"), *shape)


def layer_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`Layer.__init__(trainable, name, dtype)`. TypeError for options that it does not know."""
    # tf.keras took these by position too: Layer(trainable=True, name=None, dtype=None, dynamic=False)
    options = dict(zip(("trainable", "name", "dtype", "dynamic"), args, strict=False)) | kwargs
    unexpected = next((word for word in options if word not in OPTIONS), None)
    if unexpected is not None:
        raise TypeError(f"{self.cls.name}.__init__() got an unexpected keyword argument '{unexpected}'")
    initialise(run, self, options)


def call_layer(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
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
    elif training is not None and refuses(call, "training"):
        # Keras tells the layers inside, and not a `call` that does not ask.
        kwargs = {word: value for word, value in kwargs.items() if word != "training"}
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
            if state.dtype is not None:
                retype(run, self, result)
    finally:
        session.depth -= 1
        session.training.pop()
    state.built = state.locked = True
    if state.initial_weights is not None:
        set_weights(run, self, state.initial_weights)
        state.initial_weights = None
    if session.depth == 0 and inputs:
        remember(session, state, self, args, given, inputs, result)
    del invocation
    return result


def with_own_outputs(run: Runtime, result: Value, inputs: list[Tensor]) -> Value:
    """A layer that gives back its input still has an output of its own, as in Keras."""
    if isinstance(result, Tensor):
        if any(result is tensor for tensor in inputs) or result.call is None:
            return run.apply(IDENTITY, result, function="identity", framework="keras")
        return result
    if isinstance(result, (list, tuple, dict)):
        return map_structure(lambda leaf: with_own_outputs(run, leaf, inputs), result)
    return result


def retype(run: Runtime, layer: Instance, result: Value) -> None:
    """A layer with a dtype of its own gives its results in that dtype."""
    dtype = own_dtype(run, layer)
    if dtype is not None:
        for tensor in tensors_in(result):
            tensor.dtype = dtype


def own_dtype(run: Runtime, layer: Instance) -> str | None:
    """The dtype that a layer asks for, where it differs from the one that the model computes in."""
    dtype = layer.native.dtype
    if isinstance(dtype, Instance):
        dtype = dtype.attributes.get("name")
    if not isinstance(dtype, str) or dtype not in FLOATS | {"float"}:
        return None
    if dtype in ("float32", "float"):
        # most code that says float32 means the default; under a mixed policy it means float32
        return "float32" if "mixed" in str(session_of(run).policy) else None
    return str(dtype)


def remember(
    session: Session,
    state: LayerState,
    self: Instance,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    inputs: list[Tensor],
    result: Value,
) -> None:
    """Note a call of a layer as a node of the graph, with inputs and result."""
    node = Node(self, args, kwargs, inputs, result, tensors_in(result))
    state.nodes.append(node)
    session.record(node)


def build_for_call(
    run: Runtime,
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
    given = shaped(build, names, dict(zip(names, args, strict=False)) | kwargs)
    state.building = True
    if isinstance(build, Native):
        if build is not BUILD and given:
            build.function(run, self, **{name: shapes_of(value) for name, value in given.items()})
        elif build is not BUILD:
            build.function(run, self, shapes_of(first))
    else:
        batch = session_of(run).batch_size
        if given:
            run.call(Bound(build, self), **{name: shown_shapes(value, batch) for name, value in given.items()})
        else:
            run.call(Bound(build, self), shown_shapes(first, batch))
    state.building = False
    state.built = True
    # Without a `build` of its own, a layer whose layers are not all built is called once to build them.
    state.locked = build is not BUILD or all(state_of(run, layer).built for layer in sublayers(self))
    apply_trainable(self)


def shaped(build: Value, names: tuple[str, ...], bound: dict[str, Value]) -> dict[str, Value]:
    """By the names of a `build` that asks for several shapes, what the call was given for each; empty for a `build` of
    one shape, or of others than the arguments (keras/src/layers/layer.py, `update_shapes_dict_for_target_fn`)."""
    wanted = {name: name.removesuffix("_shape") for name in (parameter_names(build) or ())[1:]}
    if len(wanted) < 2 or not all(name in names for name in wanted.values()):
        return {}
    return {name: bound[word] for name, word in wanted.items() if bound.get(word) is not None}


def shapes_of(value: Value) -> Value:
    """Nested tensors as nested shapes of ours; what is not a tensor has an Unknown shape."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, (list, tuple)):
        return [shapes_of(item) for item in value]
    if isinstance(value, dict):
        return {key: shapes_of(item) for key, item in value.items()}
    return value if isinstance(value, Unknown) else Unknown("a layer is called on what is not a tensor")


def layer_build(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """`Layer.build`: nothing to make."""
    state_of(run, self).built = True


def build_shapes(value: Any) -> Any:
    """The argument of `build`, from our own call or written by user code, as shapes of ours."""
    if value is None or isinstance(value, Unknown):
        return value if value is not None else Unknown("a layer is built without a shape")
    if is_shape(value):
        return stated(value) if any(size is None for size in value) else tuple(plain_size(size) for size in value)
    if isinstance(value, dict):
        return {key: build_shapes(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [build_shapes(item) for item in value]
    return Unknown("a layer is built from what is not a shape")


def layer_call(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A layer without a `call` of its own: an unknown."""
    return run.unknown(f"{self.cls.name} has no call method")


def compute_output_shape(run: Runtime, self: Instance, input_shape: Value) -> Value:
    """The shape that a call on an input of this shape would give."""
    session = session_of(run)
    shapes = build_shapes(input_shape)
    given: Value = shapes
    if isinstance(shapes, list):
        given = [Tensor(shape, framework="keras") for shape in shapes]
    elif isinstance(shapes, tuple):
        given = Tensor(shapes, framework="keras")
    session.depth += 1
    try:
        result = call_layer(run, self, given)
    finally:
        session.depth -= 1
    return shown_shapes(result)


BUILD = Native("build", layer_build, propagate_unknown=False)


LAYER.namespace.update(
    {
        "__init__": Native("__init__", layer_init, propagate_unknown=False),
        "__setattr__": Native("__setattr__", set_attribute, propagate_unknown=False),
        "__delattr__": Native("__delattr__", delete_attribute, propagate_unknown=False),
        "__dict__": Property(native(attributes_dict)),
        "__call__": Native("__call__", call_layer, propagate_unknown=False),
        "build": BUILD,
        "call": Native("call", layer_call, propagate_unknown=False),
        "add_weight": Native("add_weight", with_known_lengths(add_weight), propagate_unknown=False),
        "add_variable": Native("add_variable", add_weight, propagate_unknown=False),
        "add_loss": Native("add_loss", add_loss, propagate_unknown=False),
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
        "_tracker": Property(native(tracker_of)),
        "_set_dtype_policy": native(nothing),
        "quantize": native(quantize),
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
        "trainable_weights": Property(weights_where(True), assigned(True)),
        "trainable_variables": Property(weights_where(True)),
        "non_trainable_weights": Property(weights_where(False), assigned(False)),
        "non_trainable_variables": Property(weights_where(False)),
        "_trainable_weights": own_weights(True),
        "_non_trainable_weights": own_weights(False),
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
        "dtype_policy": Property(native(get_dtype), native(nothing)),
        "losses": Property(native(get_losses)),
        "_layers": Property(native(get_sublayers)),
        "supports_masking": stored("supports_masking", False),
        "input_spec": stored("input_spec", None),
        "stateful": stored("stateful", False),
        "activity_regularizer": stored("activity_regularizer", None),
        "outbound_nodes": stored("outbound_nodes", ()),
        "_outbound_nodes": stored("outbound_nodes", ()),
        "_expects_training_arg": stored("_expects_training_arg", False),
    }
)
