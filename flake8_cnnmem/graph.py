"""The layer graph: tensors, the calls that made them, and the model that is recovered from them.

This is the waist of the program: above it nothing knows of bytes, below it nothing knows of syntax.
The graph is the value: a `Tensor` knows the `Call` that made it, a `Call` its input tensors, so that a
model is recovered by walking back from its outputs. There is no recorder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.dims import BatchTest, Shape, Size, show
from flake8_cnnmem.lazy_dataclass import Referable, dataclass
from flake8_cnnmem.op_traits import OpTraits
from flake8_cnnmem.supported import FIRST
from flake8_cnnmem.unknown import Leaving, Unknown

FOREVER = 2**62
"""A tensor that is held until the end, as far as the program was followed."""


class Site(Protocol):
    """A place in source code, worked out only when somebody asks."""

    @property
    def path(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int:
        """1-based."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class Tensor(Referable):
    """A feature map, a batch of inputs, a constant.

    `shape` includes the batch axis (`Batch(1)`), or is Unknown where not even the rank is known.
    `dtype` is "float" for the dtype the model trains in, else a fixed one: "float32", "float16",
    "bfloat16", "float64", "int64", "int32", "uint8", "bool", "complex64", ...
    `data` holds the values of a small constant as nested tuples (`torch.linspace(0, 0.2, 5)`), else None.
    """

    shape: Shape | Unknown
    dtype: str = "float"
    call: Call | None = None
    index: int = 0
    data: Any = None
    framework: str = FIRST
    requires_grad: bool = False
    """Set on leaves that ask for a gradient; for results of calls the memory replay derives it."""
    held: int = 0
    """The number that calls had reached when the code let go of it (variables, arguments); 0 if it never held it."""
    moved: bool = False
    """Whether the code has moved it to a device of its own choice, or made it there."""
    made_there: bool = False
    """Whether it was never anywhere else."""
    born: int = 0
    """The number that calls had reached when the code gave a leaf its first name; 0 if it has none."""
    classes: int = 0
    """Of labels: how many classes they tell apart. Each of the numbers below it is among the values. 0 for others."""
    one_hot: int = 0
    """Of labels as rows with a one at their class: how many classes they tell apart, each of them in some row."""
    largest: int | None = None
    """Of whole numbers that a model is given (lengths of sequences): the largest one, where it is known."""
    drawn: tuple[int, int] = (0, 0)
    """Of whole numbers drawn at random, each of those below a bound as likely as the others: the bound, and how many of
    them there are."""
    true: int | None = None
    """Of a mask that holds more values than are kept: how many of them are true. None where that is not known."""
    chance: bool = False
    """Of a constant of no known values: whether they are drawn at random each time."""
    symbolic: bool = False
    """Of a leaf: whether it stands for what a model is given later. What is computed from it holds no values."""
    as_wide_as: Tensor | None = None
    """Of a leaf that the code makes in the dtype of another tensor, which autocast may decide, or of a cast to it: the
    other."""
    view_of: Tensor | None = None
    """Of a leaf that the code has read off another one, of no op of the graph: that one, in whose storage it lies."""
    gradient_of: Weight | None = None
    """The parameter whose gradient the code reads here: it lies where the backward pass has left it."""
    site: Site | None = None
    """Of a parameter, a buffer or a tensor that the code makes of sizes: where it does. None where nobody noted it."""
    trained_as: Weight | None = None
    """Of a tensor of no model that an optimizer updates: the parameter that stands for it in the graph of its step."""

    def __repr__(self) -> str:
        # Not the call that made it: that names its inputs, and so the whole graph.
        return f"<{type(self).__name__} {'of unknown rank' if isinstance(self.shape, Unknown) else show(self.shape)}>"


@dataclass(slots=True, eq=False, repr=False)
class Weight(Tensor):
    """A parameter or buffer. Its shape has no batch. `trainable` may be changed by the code at any time."""

    name: str = ""
    trainable: bool = True
    buffer: bool = False
    fixed: bool = False
    """Whether it is not trained, whatever holds it: `tf.Variable(0, trainable=False)`, `bias.trainable = False`."""
    freed: bool = False
    """Whether it is trained though its layer is frozen: it was set free by itself after that."""
    unsure: Unknown | None = None
    """Why it is not known whether it is trained; it is taken to be."""
    channels_last: bool = False
    """Whether the second of its axes runs fastest in memory (`torch.channels_last`)."""
    moves: tuple[tuple[int, bool], ...] = ()
    """Each time that the code moved it to another device: (the number among the ops, whether it was `moved` until
    then)."""

    stands_for: Tensor | None = None
    """The tensor of no model that it stands for."""

    def moved_at(self, number: int) -> bool:
        """Whether it was `moved` when the op of this number ran: a model may go back to the host when it is trained."""
        return next((before for until, before in self.moves if number <= until), self.moved)


class Operand(Protocol):
    """What an op is run on: its shape, its dtype, and whether a gradient flows into it."""

    @property
    def shape(self) -> Shape | Unknown: ...

    @property
    def dtype(self) -> str: ...

    @property
    def grad(self) -> bool: ...


class Op(OpTraits, Protocol):
    """What one computation knows: its output shapes, its weights, and what flake8_cnnmem/ops/base.py tells of the rest.

    What a row of a framework's table needs of it (p, in_place, the channels of statistics) is the concrete op's to say,
    in `ops/`.
    """

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]: ...

    def quantity(self, name: str, *inputs: Shape) -> Size: ...

    def view_strides(
        self, sizes: tuple[int, ...], strides: tuple[int, ...], result: tuple[int, ...]
    ) -> tuple[int, ...] | None: ...

    @property
    def view_gradient(self) -> str: ...

    def view_gradient_strides(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...] | None: ...

    def before_last_slice(self, shape: Shape) -> Shape | None: ...

    @property
    def expected_input(self) -> Any: ...

    @property
    def row_features(self) -> Size | None: ...

    @property
    def keeps_axes(self) -> bool: ...

    @property
    def flattens(self) -> bool: ...

    @property
    def joins_samples(self) -> bool: ...

    def leaves_open(self, *inputs: Shape) -> bool: ...

    def dropped(self, shape: Shape) -> tuple[tuple[int, int], ...]: ...

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown, ...]:
        """Output shapes for these input shapes (weights not among them). Raises `Mismatch`.

        Unknown stands for an output of which not even the number of axes is known.
        """
        ...

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """The op's weights in order of creation. Layers that declare their sizes are asked with no inputs."""
        ...


@dataclass(frozen=True, slots=True)
class WeightSpec:
    shape: Shape
    trainable: bool = True
    buffer: bool = False
    dtype: str = "float"


@dataclass(frozen=True, slots=True)
class Problem:
    """A size that cannot be right. `code` is CNM201 (another size than declared) or CNM202 (shrunk to nothing).

    `what` completes "LAYER ...", for example "takes 400 features, but is given 256"; `advice` says
    what would work, or is empty. `given` and `declared` are the two sizes, where there are two.
    """

    code: str
    what: str
    advice: str = ""
    given: int | None = None
    declared: int | None = None
    error: str = ""
    """The class of what the framework raises, where it is another one than for most sizes."""
    elsewhere: int | None = None
    """The one other axis of the input that has the declared size: its axes may be in another order."""
    fitting: int | None = None
    """The one size that would be right where the declared one is written; None where several things would."""


class Mismatch(Leaving):
    """Raised by `Op.outputs` for sizes that cannot be right.

    `recovered` are the output shapes that the rest of the model is probably meant to see, so that one
    wrong size gives one finding; None where there is no sensible continuation.
    """

    def __init__(self, problem: Problem, recovered: tuple[Shape, ...] | None = None) -> None:
        super().__init__(problem.what)
        self.problem = problem
        self.recovered = recovered


@dataclass(slots=True, eq=False)
class OwnBackward:
    """The backward pass that the code itself writes for a function (torch.autograd.Function): of what its forward
    pass makes only `saved` is kept. Its calls have numbers from `first` on and are no part of the model."""

    saved: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    """What the function gives."""
    given: tuple[Tensor, ...]
    """The gradients of `results` that the backward pass is handed."""
    arguments: tuple[Any, ...]
    gradients: tuple[Any, ...]
    """What it gives for each of the arguments; empty where it could not be followed."""
    first: int


@dataclass(slots=True, eq=False, repr=False)
class Invocation:
    """One call of a layer or module: the frame that ops run in. Invocations form a tree through `parent`."""

    layer: Any
    """The `values.Instance` that was called; None for a region that is not a layer (a checkpoint)."""
    parent: Invocation | None
    number: int
    site: Site | None = None
    checkpoint: bool = False
    """The forward pass inside keeps nothing but its inputs and is run again in the backward pass."""
    reentrant: bool = False
    """The second run of a checkpoint and its way back are one call from inside of the backward pass: it holds what the
    second run gives, and the gradient that has arrived, until it is done."""
    arguments: tuple[Tensor, ...] | None = None
    """The tensors that a reentrant checkpoint is called on, which it keeps: unless one of them asks for a gradient,
    what it gives does not either, whatever trains inside. None where that is not what decides."""
    own: OwnBackward | None = None
    """The backward pass inside is the code's own."""
    gives: Shape | None = None
    """The shape of its result, where who reads that may read its last op's instead."""

    def __repr__(self) -> str:
        return f"<Invocation {self.number}>"

    def ancestry(self) -> Iterator[Invocation]:
        """This invocation, then outwards."""
        at: Invocation | None = self
        while at is not None:
            yield at
            at = at.parent


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """One run of an op. `number` grows in the order in which the code runs."""

    op: Op
    inputs: tuple[Tensor, ...]
    """The tensors that the op reads, weights left out."""
    weights: tuple[Tensor, ...]
    """Its weights, or what the code computed from them (standardised weights)."""
    number: int
    outputs: tuple[Tensor, ...] = ()
    within: Invocation | None = None
    site: Site | None = None
    grad: bool = True
    """False under `torch.no_grad()` and its like."""
    autocast: str | None = None
    """The half dtype of the autocast region that the call runs in, if any."""
    cast_region: int = 0
    """The number of the outermost region of autocast around it, also where one inside switches autocast off."""
    caches_casts: bool = True
    offloaded: bool = False
    """Whether what it keeps for the backward pass is kept in the host's memory."""
    problem: Problem | None = None
    called_from: tuple[str, int] | None = None
    """Of a call with a problem: the file and line that called the function which it stands in."""
    function: str = ""
    """The framework's own name of the function or layer type: "Conv2d", "relu", "Dense"."""
    doubtful: bool = False
    """Whether it stands behind a test that is not known: it may not run at all."""
    guarded: bool = False
    """Whether the program may deal with it itself where its sizes are refused: it then says nothing of the input."""
    derives: bool = False
    """Whether a backward pass ran it, whose own graph is kept."""
    rereads: int = 0
    """The number of the call whose weight it reads by the same view of it: what the two give that is added up before it
    is the weight's."""
    frozen: frozenset[int] = frozenset()
    """Ids of those of its weights that asked for no gradient when it ran, whatever they do later in the step."""

    def __repr__(self) -> str:
        return f"<Call {self.number} {self.function or self.op.kind}>"

    def ancestry(self) -> Iterator[Invocation]:
        """The invocations that the call runs in, innermost first."""
        return self.within.ancestry() if self.within is not None else iter(())


@dataclass(frozen=True, slots=True, eq=False)
class Resident:
    """What is in memory during a step and is not the step's own: another model, what an earlier phase has left.

    `weights` lie there themselves, unless another resident or the model has them; `tensors` are results that the code
    still holds; `gradients` are weights whose
    gradients do; `optimizer` (a `training.Optimizer`) keeps its state for those in `updated`.
    """

    what: str
    """ "teacher: weights", "small: gradients", "the optimizer of line 12: state"."""
    site: Site | None = None
    weights: tuple[Weight, ...] = ()
    tensors: tuple[Tensor, ...] = ()
    gradients: tuple[Weight, ...] = ()
    optimizer: Any = None
    updated: tuple[Weight, ...] = ()
    remade: bool = False
    """Whether every turn of the loop makes it anew, while that of the turn before is still there."""
    copies: int = 1
    """Of how many copies the weights are, where each turn makes one more."""


@dataclass(slots=True, eq=False)
class Model:
    """A model as it trains: its inputs and outputs, every call between them in order, every weight once.

    `weights` are those of all layers that the model owns, whether called or not, shared ones once.
    `causes` are the first things that could not be known; empty for an exact model.
    """

    name: str
    framework: str
    root: Any
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    calls: tuple[Call, ...]
    weights: tuple[Weight, ...]
    paths: Mapping[int, str] = field(default_factory=dict)
    """Module path ("layer1.0.conv1") by id of the layer instance."""
    causes: tuple[Unknown, ...] = ()
    site: Site | None = None
    backend: str = ""
    """What computes, in the framework's own words; empty for its default."""
    version: str = ""
    """The framework's version that it is counted for, and who asks for it; empty for the newest that is known."""
    trained: frozenset[int] | None = None
    """The weights, by id, that train with this model: in another one that shares them they may be frozen. None where
    they train as they stand."""

    updated: frozenset[int] | None = None
    """The weights, by id, that an optimizer keeps state for; None for all that train."""

    goes_back: bool = False
    """Whether its outputs are the losses themselves: the step's backward pass begins with them."""

    beside: tuple[Resident, ...] = ()
    """What else is in memory while it trains."""

    arrangement: Arrangement | None = None
    """How its training is spread over devices, where it is."""

    held: Mapping[int, int] = field(default_factory=dict)
    """Tensors, by id, that what computes holds for longer than the code does: until the op of this number."""

    allocator: str = ""
    """What the code asks of the allocator on the device, in the framework's own words."""

    batch_tests: tuple[BatchTest, ...] = ()
    """What of it was decided by the batch size in force: at another one it may compute something else."""

    def same_at(self, batch: int) -> bool:
        """Whether it computes the same at another batch size."""
        return all(test.holds(batch) for test in self.batch_tests)

    def asking(self, weights: Iterable[Weight]) -> list[Weight]:
        """Those of the weights that ask for a gradient in this model. What is neither its own nor beside it (a weight
        that it is called on) does as it stands."""
        trained = self.trained
        if trained is None:
            return [weight for weight in weights if weight.trainable and not weight.buffer]
        beside = (weight for each in self.beside for weight in each.weights)
        own = {id(weight) for weight in (*self.weights, *beside)}
        asks = ((weight, id(weight) in trained if id(weight) in own else weight.trainable) for weight in weights)
        return [weight for weight, wanted in asks if wanted and not weight.buffer]


def lies_on_device(tensor: Tensor) -> bool:
    """Whether a tensor was moved to the device, or computed of what was there then."""
    if tensor.moved or tensor.call is None:
        return tensor.moved
    # As `calls_behind` goes back, but only until one is found.
    seen = {tensor.call.number}
    waiting = [tensor.call]
    while waiting:
        call = waiting.pop()
        for one in (*call.inputs, *call.weights):
            if moved_at(one, call.number):
                return True
            made = one.call
            if made is not None and made.number not in seen:
                seen.add(made.number)
                waiting.append(made)
    return False


def moved_at(tensor: Tensor, number: int) -> bool:
    """Whether a tensor was `moved` when the op of this number ran."""
    return tensor.moved_at(number) if isinstance(tensor, Weight) else tensor.moved


def calls_behind(outputs: Iterable[Tensor], inputs: Iterable[Tensor] = ()) -> tuple[Call, ...]:
    """Every call that the outputs depend on, in the order in which the code ran them. What made one of the inputs (a
    Keras model may begin in the midst of another) is none of theirs."""
    given = {id(tensor) for tensor in inputs}
    found: dict[int, Call] = {}
    waiting = [tensor.call for tensor in outputs if tensor.call is not None and id(tensor) not in given]
    while waiting:
        call = waiting.pop()
        if call.number in found:
            continue
        found[call.number] = call
        waiting.extend(tensor.call for tensor in call.inputs if tensor.call is not None and id(tensor) not in given)
        waiting.extend(weight.call for weight in call.weights if weight.call is not None)
    return tuple(found[number] for number in sorted(found))
