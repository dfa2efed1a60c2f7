"""What Keras keeps while a program runs: global settings, name counters, and which layer call made which tensor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from flake8_cnnmem.graph import Call, Site, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

BY_XLA = "XLA compiles the step (jit_compile=True) and places its tensors its own way: counted without it"


@dataclass(slots=True, eq=False)
class Node:
    """One symbolic call of a layer, as Keras' own node: what it was given and what it gave.

    `operation` is the layer (an Instance), or the graph's Call for an operator outside any layer.
    `arguments` and `options` are the positional and keyword arguments, tensors nested in them.
    """

    operation: Instance | Call
    arguments: tuple[Value, ...]
    options: dict[str, Value]
    inputs: list[Tensor]
    result: Value
    outputs: list[Tensor]

    @property
    def is_input(self) -> bool:
        """Whether the node is an input of a model."""
        return not self.inputs


@dataclass(slots=True, eq=False)
class Session:
    """Keras' global state of one evaluation."""

    data_format: str = "channels_last"
    floatx: str = "float32"
    policy: Value = "float32"
    policy_site: Site | None = None
    """Where the code asks for it."""
    training: list[Value] = field(default_factory=lambda: [True])
    """The `training` argument of the layer calls that are running, innermost last. A model is built to be fitted."""
    depth: int = 0
    """How many layer calls are running: only outermost ones are nodes of a functional graph."""
    backend: Value = None
    """What `keras.config.set_backend` was given."""
    taped: bool = False
    """Whether the code entered a GradientTape."""
    graphed: bool = False
    """Whether it makes graphs: with `tf.function`, or by compiling a model."""
    steps: list[tuple[Instance, tuple[Weight, ...] | None]] = field(default_factory=list)
    """Each step of an optimizer that the code makes itself, and what it updates; None where that is not known."""
    parts_of_steps: dict[int, Unknown] = field(default_factory=dict)
    """Layers, by id, that the train_step of a model around them calls beside others: a step is more than theirs."""
    called_unknown: list[Unknown] | None = None
    """While a step of the code's own runs: why what it calls with tensors is not known, a teacher that was loaded."""
    hooks: int = 0
    """How many hooks of callbacks are running: what is fitted in one is no training that is told."""
    hooked: dict[int, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)
    """As `traced`, where callbacks changed flags before the first step: those count in Keras 2, too."""
    usual_steps: list[tuple[Value, Unknown]] = field(default_factory=list)
    """What a step of the code's own runs Keras' step on, and the doubt that it is where that is another batch."""
    uneven: Unknown | None = None
    """Why the largest batch of what is being fitted is not known: a later one is larger than the first."""
    drawn: dict[str, Unknown] = field(default_factory=dict)
    """What a search of hyperparameters draws by chance, by name: which of its values was counted."""
    older: bool = False
    """Whether the code calls something as Keras 3 does not take it."""
    replicas: int = 1
    """How many devices share each batch."""
    traced: dict[int, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)
    """By the id of a `compile`: ids of what trained, and of all weights that there were, at the first step since."""
    optimizers: dict[int, tuple[Instance, frozenset[int]]] = field(default_factory=dict)
    """By the id of an optimizer that models were compiled with: it, and ids of what the first of them trained."""
    counted_new: dict[int, Unknown] = field(default_factory=dict)
    """By the id of a `compile`: what was counted as Keras 3 does it, and Keras 2 does otherwise."""
    altered: set[int] = field(default_factory=set)
    """Layers, by id, that compute something else than when they were last called."""
    saved: dict[int, Instance] = field(default_factory=dict)
    """The models that the code wrote to files, by id."""
    configured: dict[str, Class | None] = field(default_factory=dict)
    """The classes of layers whose configuration a model's own has, by name; None where several have one."""
    described: dict[int, tuple[Value, Any]] = field(default_factory=dict)
    """By the id of a text that describes a model: the text, and the model as it was (`saving.Saved`)."""
    written: int = 0
    """How many models were written to files, or described."""
    batch_size: int | None = None
    """The batch size that the code's Inputs state, if they state just one."""
    counters: dict[str, int] = field(default_factory=dict)
    nodes: dict[int, tuple[Node, int]] = field(default_factory=dict)
    """The node that made a tensor and the output's number, by the tensor's id."""
    names: dict[int, tuple[Tensor, str]] = field(default_factory=dict)

    def unique_name(self, prefix: str) -> str:
        """`conv2d`, `conv2d_1`, ...: the name that Keras gives a layer without one."""
        count = self.counters.get(prefix, 0)
        self.counters[prefix] = count + 1
        return f"{prefix}_{count}" if count else prefix

    def record(self, node: Node) -> None:
        """Note a node by each of its outputs."""
        for number, tensor in enumerate(node.outputs):
            self.nodes[id(tensor)] = (node, number)

    def node_of(self, tensor: Tensor) -> tuple[Node, int] | None:
        """The layer call or operator that made a tensor; None for constants."""
        found = self.nodes.get(id(tensor))
        if found is None and tensor.call is not None:
            call = tensor.call
            self.record(Node(call, call.inputs, {}, [*call.inputs], call.outputs, [*call.outputs]))
            found = self.nodes.get(id(tensor))
        return found


def session_of(run: Runtime) -> Session:
    """The one Session of this evaluation."""
    data = run.data("keras")
    session: Session | None = data.get("session")
    if session is None:
        session = data["session"] = Session()
    return session


@dataclass(slots=True, eq=False)
class LayerState:
    """What a Keras layer keeps beside its attributes (`Instance.native`)."""

    name: str
    built: bool = False
    building: bool = False
    """`build` is running on behalf of a call."""
    dtype: Value = None
    """The dtype policy that was asked for, if any."""
    made_under: tuple[Value, Site | None] = ("float32", None)
    """The policy for all layers at its construction, which it keeps whatever is set later, and who asks for that."""
    weights: list[Weight] = field(default_factory=list)
    """Its own, in order of creation."""
    frozen: set[int] = field(default_factory=set)
    """Ids of own weights that are never trained (moving statistics), whatever `trainable` says."""
    nodes: list[Node] = field(default_factory=list)
    declared_shape: Value = None
    """`input_shape=` and its like on a layer: with the batch axis, as the user wrote it."""
    initial_weights: Value = None
    losses: list[Value] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    """Settable properties without a meaning for shapes: `supports_masking`, `stateful`, `input_spec`."""
    model: Any = None
    """What a Model keeps (`models.ModelState`)."""
    former: list[Value] = field(default_factory=list)
    """What attributes held that were set anew or deleted: a layer among it stays one of this layer's own."""
    of_2: bool = False
    """Whether it is of Keras 2, whose layers hide what is inside them while they are frozen themselves."""
    set_around: set[Value] = field(default_factory=set)
    """The names of attributes that were not set by `Layer.__setattr__`: what they hold is none of the layer's own."""
    statements: set[str] | None = None
    """The names of attributes that were set before `__dict__` was first asked for, or by `Layer.__setattr__` since:
    what else is there was written into the dict, and is none of the layer's own. None where nobody has asked."""
    order: dict[int, tuple[int, Instance]] = field(default_factory=dict)
    """By id, the layers that attributes hold, numbered as Keras has come to know them."""
    known: int = 0
    """How many of them there were so far."""
    locked: bool = False
    """Whether it is built, so that it takes no further layers and variables."""
    sublayers: list[Instance] | None = None
    """Layers that are not found among the attributes: those of a functional or sequential model."""


def snake_case(name: str) -> str:
    """`SeparableConv2D` -> `separable_conv2d`, as Keras names layers after their class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def flatten(structure: Value) -> Iterator[Value]:
    """The leaves of nested lists, tuples and dicts, in Keras' order (dicts by sorted key)."""
    if isinstance(structure, (list, tuple)):
        for item in structure:
            yield from flatten(item)
    elif isinstance(structure, dict):
        try:
            keys = sorted(structure)
        except TypeError:
            keys = list(structure)
        for key in keys:
            yield from flatten(structure[key])
    else:
        yield structure


def tensors_in(structure: Value) -> list[Tensor]:
    """The tensors among the leaves."""
    if isinstance(structure, Tensor):
        return [structure]
    return [leaf for leaf in flatten(structure) if isinstance(leaf, Tensor)]


def first_unknown_in(structure: Value) -> Unknown | None:
    """The first unknown among nested values; None without one."""
    return next((leaf for leaf in flatten(structure) if isinstance(leaf, Unknown)), None)


def map_structure(function: Any, structure: Value) -> Any:
    """The same nesting with every leaf mapped."""
    if isinstance(structure, list):
        return [map_structure(function, item) for item in structure]
    if isinstance(structure, tuple):
        return tuple(map_structure(function, item) for item in structure)
    if isinstance(structure, dict):
        return {key: map_structure(function, item) for key, item in structure.items()}
    return function(structure)
