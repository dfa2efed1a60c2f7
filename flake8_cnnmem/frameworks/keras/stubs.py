"""How a stub (a function with a Keras layer's own signature that returns ops) becomes a layer class.

Arguments are bound by the stub's signature and kept as attributes under Keras' names. Weights are
made when the layer is built. The ops are made anew from the current attributes at every call, because
people change `layer.strides` or `layer.activation` after construction.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeAlias

from flake8_cnnmem.dims import Shape, show
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.layer import OPTIONS, build_shapes, initialise
from flake8_cnnmem.frameworks.keras.legacy import KERAS_1, in_todays_order, is_old_order, translate
from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.frameworks.keras.session import first_unknown_in, session_of
from flake8_cnnmem.frameworks.keras.tracking import LAYER, make_weight, state_of, trains
from flake8_cnnmem.frameworks.keras.version import defaults, note_older
from flake8_cnnmem.frameworks.keras.weights import keras_weights
from flake8_cnnmem.graph import Mismatch, Op, Problem, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Convolution, DepthwiseConvolution, Linear, Recurrent
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value


@dataclass(frozen=True, slots=True)
class Step:
    """An op with other names for its weights than Keras usually has (`depthwise_kernel`)."""

    op: Op
    names: dict[str, str]


Ops: TypeAlias = "Op | Step | Sequence[Op | Step]"


@dataclass(slots=True, eq=False)
class LayerStub:
    """A layer's signature and what it computes."""

    name: str
    function: Callable[..., Any]
    rank: int
    own_activation: bool
    """The op applies `activation` itself (recurrent layers)."""
    ndim: int
    """How many axes the input must have, the batch among them; 0 for any number."""
    least: int
    """How many it must have at least."""
    hook: str = ""
    """The method that a subclass may say itself, by which `call` computes what comes before the bias."""
    names: tuple[str, ...] = ()
    defaults: tuple[Value, ...] = ()
    training: bool = False
    """The stub asks whether the layer runs in training mode."""

    def __post_init__(self) -> None:
        code = self.function.__code__
        self.names = code.co_varnames[: code.co_argcount]
        self.defaults = self.function.__defaults__ or ()
        self.training = "training" in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    @property
    def signature(self) -> inspect.Signature:
        """The layer's signature."""
        return inspect.signature(self.function)

    def bind(self, args: Sequence[Value], kwargs: dict[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
        """The layer's own arguments, and those that every layer takes. TypeError as Python's."""
        if self.rank and "kernel_size" in self.names and is_old_order(self.rank, args, kwargs):
            args, kwargs = in_todays_order(self.rank, tuple(args), kwargs, self.names)
        if any(word in KERAS_1 and word not in self.names for word in kwargs):
            kwargs = translate(self.names, kwargs)
        if len(args) > len(self.names):
            raise TypeError(
                f"{self.name}.__init__() takes {len(self.names) + 1} positional arguments, not {len(args) + 1}"
            )
        bound = dict(zip(self.names, args, strict=False))
        options: dict[str, Value] = {}
        for word, value in kwargs.items():
            if word in self.names:
                if word in bound:
                    raise TypeError(f"{self.name}.__init__() got multiple values for argument '{word}'")
                bound[word] = value
            elif word in OPTIONS:
                options[word] = value
            else:
                raise TypeError(f"{self.name}.__init__() got an unexpected keyword argument '{word}'")
        first_default = len(self.names) - len(self.defaults)
        for place, word in enumerate(self.names):
            if word not in bound:
                if place < first_default:
                    raise TypeError(f"{self.name}.__init__() missing 1 required positional argument: '{word}'")
                bound[word] = self.defaults[place - first_default]
        for word in ("name", "dtype", "weights"):
            if word in bound:
                options[word] = bound[word]
        for word in BESIDE:
            if word in options:
                bound[word] = options.pop(word)
        return bound, options

    def steps(self, layer: Instance, training: Value) -> list[Op | Step]:
        """The layer's ops, from its attributes as they are now."""
        attributes = layer.attributes
        arguments = [attributes.get(word) for word in self.names]
        mode = {"training": training is not False} if self.training else {}
        try:
            made = self.function(*arguments, **mode)
        except (TypeError, ValueError):
            cause = first_unknown_in(arguments)
            if cause is None:
                raise
            return [Undecided(cause)]
        return list(made) if isinstance(made, (list, tuple)) else [made]


BESIDE = ("lora_rank", "lora_alpha")
"""What a base class of Keras' own takes beside the layer's own arguments."""

LAYERS: dict[str, Class] = {}
"""Every layer class by each name that some version of Keras has for it."""

PER_AXIS = ("kernel_size", "strides", "dilation_rate", "pool_size", "output_padding")


def layer(
    *aliases: str,
    rank: int = 0,
    own_activation: bool = False,
    ndim: int = 0,
    least: int = 0,
    bases: tuple[Class, ...] = (LAYER,),
    call: Callable[..., Value] | None = None,
    build: Callable[..., Value] | None = None,
    init: Callable[..., None] | None = None,
    extra: Mapping[str, Value] | None = None,
    hook: str = "",
) -> Callable[[Callable[..., Any]], Class]:
    """Register the stub below as the layer class of the same name.

    `rank` is the number of spatial axes, `ndim` the number of all axes that an input must have where it is not
    `rank + 2`, `least` how many it must have at least. `call(run, self, inputs, **options)` and
    `build(run, self, shapes)` replace what the ops of the stub would do, for layers that are more than ops in a row.
    `init(run, self)` runs after the arguments are bound. `hook` names a method of `extra` that gives the result before
    the bias, of the input and the kernel: `call` asks it where a subclass has its own.
    """

    def register(function: Callable[..., Any]) -> Class:
        stub = LayerStub(function.__name__, function, rank, own_activation, ndim or (rank and rank + 2), least, hook)
        namespace: dict[str, Value] = {
            "__init__": Native("__init__", with_known_lengths(lenient(maker(stub, init))), propagate_unknown=False),
            "build": Native("build", surely(lenient(build or builder(stub))), propagate_unknown=False),
            "call": Native("call", checked(stub, call or caller(stub)), propagate_unknown=False),
        }
        cls = Class(stub.name, bases, {**namespace, **(extra or {})}, module="keras.layers", facts={"stub": stub})
        for name in (stub.name, *aliases):
            LAYERS[name] = cls
        return cls

    return register


def maker(stub: LayerStub, init: Callable[..., None] | None) -> Callable[..., None]:
    """The `__init__` of a layer class: binds the arguments and keeps them as attributes."""

    def initialise_stub(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
        bound, options = stub.bind(args, kwargs)
        note_older(run, stub.name, stub.names, args, [*kwargs])
        older = defaults(run, stub.name)
        bound |= {word: value for word, value in older.items() if word not in kwargs}
        state = initialise(run, self, options)
        normalise(run, stub, bound)
        state.properties["arguments"] = bound
        run.changed(self.attributes)
        self.attributes.update(bound)
        if init is not None:
            init(run, self)

    return initialise_stub


def normalise(run: Runtime, stub: LayerStub, bound: dict[str, Any]) -> None:
    """Arguments as the layer keeps them: tuples for each axis, the layout in words, activations as functions."""
    if "data_format" in bound:
        bound["data_format"] = data_format(run, bound["data_format"])
    if stub.rank:
        for word in PER_AXIS:
            if bound.get(word) is not None:
                bound[word] = per_axis(bound[word], stub.rank)
        if "pool_size" in bound:
            # TensorFlow cuts the sides of a window to whole numbers: `pool_size=(h / 3, w / 3)`.
            for word in ("pool_size", "strides"):
                if isinstance(bound.get(word), tuple):
                    bound[word] = tuple(int(side) if isinstance(side, float) else side for side in bound[word])
            if bound.get("strides") is None:
                bound["strides"] = bound["pool_size"]
    if isinstance(bound.get("padding"), str):
        bound["padding"] = bound["padding"].lower()
    for word in ("activation", "recurrent_activation"):
        if word in bound:
            bound[word] = activations.get(run, bound[word])


FORMATS = {
    "channels_last": "channels_last", "channels_first": "channels_first", "tf": "channels_last", "th": "channels_first",
}  # fmt: skip
"""The layouts by every name that some version of Keras takes."""


def data_format(run: Runtime, value: Value) -> Value:
    """A layout in words, the session's where none is said. ValueError for one that is not known."""
    if value in (None, "default"):
        return session_of(run).data_format
    if not isinstance(value, str):
        return value
    found = FORMATS.get(value.lower())
    if found is None:
        raise run.error(
            "ValueError", f"The `data_format` argument must be channels_first or channels_last, not {value}"
        )
    return found


def builder(stub: LayerStub) -> Callable[..., None]:
    """The `build` of a layer class: makes the weights of the stub's ops for an input shape."""

    def build_stub(run: Runtime, self: Instance, input_shape: Value = None) -> None:
        state = state_of(run, self)
        state.built = True
        shapes = shape_list(build_shapes(input_shape))
        state.properties["built_for"] = tuple(shapes)
        steps = stub.steps(self, True)
        made = state.properties["made"] = []
        for number, step in enumerate(steps):
            op, names = (step.op, step.names) if isinstance(step, Step) else (step, {})
            known = [shape for shape in shapes if not isinstance(shape, Unknown)]
            try:
                specs = keras_weights(op, *known)
                shapes = list(op.outputs(*known)) if known and number + 1 < len(steps) else []
            except Mismatch as mismatch:
                # the call itself will report it
                specs = {}
                shapes = list(mismatch.recovered or ())
            for name, spec in specs.items():
                name = names.get(name, name)
                made.append(name)
                self.attributes[name] = make_weight(
                    run, self, name, spec.shape, spec.trainable and not spec.buffer, spec.dtype
                )

    return build_stub


def shape_list(shapes: Any) -> list[Shape | Unknown]:
    """One shape or several, as a list."""
    return shapes if isinstance(shapes, list) else [shapes]


def caller(stub: LayerStub) -> Callable[..., Value]:
    """The `call` of a layer class: the stub's ops one after the other, then the activation."""
    activates = "activation" in stub.names and not stub.own_activation

    def call_stub(run: Runtime, self: Instance, inputs: Value = None, *others: Value, **options: Value) -> Value:
        training = session_of(run).training[-1]
        if training is not False and trains(self) is False and stub.name == "BatchNormalization":
            training = False
        result: Value = [*inputs, *others] if isinstance(inputs, (list, tuple)) else [inputs, *others]
        own = self.cls.find(stub.hook) if stub.hook else MISSING
        if own is not MISSING and not isinstance(own, Native):
            result = run.call(Bound(own, self), inputs, self.attributes.get("kernel"))
            if self.attributes.get("use_bias") is not False:
                result = run.operate("+", result, self.attributes.get("bias"))
            return activations.apply(run, self.attributes.get("activation"), result) if activates else result
        for step in stub.steps(self, training):
            op, names = (step.op, step.names) if isinstance(step, Step) else (step, None)
            result = apply(run, self, op, result, names)
        if activates:
            result = activations.apply(run, self.attributes.get("activation"), result)
        return result

    return call_stub


@dataclass(frozen=True, slots=True)
class Undecided(Weightless):
    """The op of a layer whose arguments are not known well enough to tell what it gives."""

    cause: Unknown
    kind = "unknown"

    def outputs(self, *inputs: Shape) -> tuple[Unknown, ...]:
        """An unknown shape, with its cause."""
        return (self.cause,)


@dataclass(frozen=True, slots=True)
class WrongRank(Weightless):
    """The op of a layer whose input has another number of axes than it takes. Its output is unknown."""

    expected: str
    kind: str
    advice: str

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """None: Mismatch, with the number of axes that the layer takes."""
        what = f"takes an input of {self.expected} axes with the batch, but is given {show(inputs[0])}"
        raise Mismatch(Problem("CNM201", what, self.advice), None)


def checked(stub: LayerStub, call: Callable[..., Value]) -> Callable[..., Value]:
    """The layer's call, behind Keras' check of how many axes the input has (`input_spec`)."""
    if not stub.ndim and not stub.least:
        return lenient(call)

    def call_checked(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
        if isinstance(inputs, Tensor) and isinstance(inputs.shape, tuple):
            rank = len(inputs.shape)
            if (stub.ndim and rank != stub.ndim) or rank < stub.least:
                expected = str(stub.ndim) if stub.ndim else f"at least {stub.least}"
                op = WrongRank(expected, "unknown", advice_on_axes(inputs, stub.ndim or stub.least))
                return run.apply(op, inputs, function=self.cls.name, framework="keras")
        return call(run, self, inputs, *args, **options)

    return lenient(call_checked)


def rank_of(tensor: Tensor) -> int | None:
    """How many axes a tensor has; None where that is not known."""
    return len(tensor.shape) if isinstance(tensor.shape, tuple) else None


def advice_on_axes(given: Tensor, wanted: int) -> str:
    """What would give a layer the number of axes that it takes: the slips that people make, each with its cure."""
    assert isinstance(given.shape, tuple)
    rank = len(given.shape)
    if rank > wanted:
        return f"Flatten or a global pool before it would give {wanted}" if wanted == 2 else ""
    before = given.call
    while before is not None and before.inputs and rank_of(before.inputs[0]) == rank:
        # Dropout, a norm or an activation stands between.
        before = before.inputs[0].call
    if before is not None and isinstance(before.op, Recurrent) and rank == wanted - 1:
        return "return_sequences=True in the recurrent layer before it would fit"
    if given.call is None and rank == wanted - 1 and all(isinstance(size, int) for size in given.shape[1:]):
        return f"an input with a channel axis, as {'x'.join(map(str, given.shape[1:]))}x1, would fit"
    return ""


def lenient(function: Callable[..., Value]) -> Callable[..., Value]:
    """A native method that stumbles over an Unknown argument of its layer or call gives that Unknown."""

    @wraps(function)
    def attempt(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        try:
            return function(run, self, *args, **kwargs)
        except (TypeError, ValueError, AttributeError, LookupError):
            cause = first_unknown_in((args, kwargs, list(self.attributes.values())))
            if cause is None:
                raise
            return cause

    return attempt


def surely(build: Callable[..., Value]) -> Callable[..., Value]:
    """A `build` that could not be worked out leaves a weight that is not known, so that the model is not exact."""

    @wraps(build)
    def attempt(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        result = build(run, self, *args, **kwargs)
        if isinstance(result, Unknown):
            make_weight(run, self, "kernel", (result,))
        return result

    return attempt


def apply(run: Runtime, layer: Instance, op: Op, inputs: Value, names: dict[str, str] | None = None) -> Value:
    """Run one op of a layer with the weights that the layer has for it."""
    tensors = inputs if isinstance(inputs, list) else [inputs]
    weights = weights_for(layer, op, names)
    if weights and isinstance(weights[0], Weight):
        op = declared(op, weights[0])
    return run.apply(
        op,
        *(as_tensor(run, tensor) for tensor in tensors),
        weights=weights,
        function=layer.cls.name,
        dtypes=output_dtypes(bool(weights), tensors),
        framework="keras",
    )


def as_tensor(run: Runtime, value: Value) -> Tensor | Unknown:
    """What a layer is called on, where it is a tensor."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    return run.unknown("a layer is called on what is not a tensor")


FIRST_NAMES = ("kernel", "gamma", "beta", "moving_mean", "moving_variance", "embeddings", "alpha", "scale")
OTHER_NAMES = ("recurrent_kernel", "bias")


def weights_for(layer: Instance, op: Op, names: dict[str, str] | None) -> list[Value]:
    """The layer's attributes that hold this op's weights, as they are now."""
    state = layer.native
    if not state.weights and names is None:
        return []
    attributes = layer.attributes
    if names is not None:
        found = [attributes.get(name) for name in names.values()]
    else:
        own = dict.fromkeys((*FIRST_NAMES, *OTHER_NAMES, *state.properties.get("made", ())))
        found = [attributes.get(name) for name in own if name in attributes]
    return [value for value in found if isinstance(value, Tensor)]


def declared(op: Op, kernel: Weight) -> Op:
    """The op with the input size that its kernel was built for: a shared layer takes no other."""
    shape = kernel.shape
    if isinstance(shape, Unknown):
        return op
    if isinstance(op, Convolution) and op.channels is None and len(shape) > 1:
        size = shape[-1] if op.transposed else shape[-2]
        groups = op.groups
        if isinstance(size, int) and isinstance(groups, int):
            return replace(op, channels=size * groups)
    elif isinstance(op, DepthwiseConvolution) and op.channels is None and len(shape) > 1:
        if isinstance(shape[-2], int):
            return replace(op, channels=shape[-2])
    elif isinstance(op, Linear) and op.inputs is None and len(shape) == 2 and isinstance(shape[0], int):
        return replace(op, inputs=shape[0])
    return op


def output_dtypes(computes: bool, inputs: Sequence[Value]) -> Sequence[str] | None:
    """A layer with weights gives floats, whatever it is given; any other one gives its input's dtype."""
    if computes and inputs and isinstance(inputs[0], Tensor) and inputs[0].dtype != "float":
        return ["float"]
    return None
