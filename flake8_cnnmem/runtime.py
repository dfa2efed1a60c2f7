"""The protocol by which natives reach the interpreter: what they may ask of it while the program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

from flake8_cnnmem.graph import Invocation, Op, Site
from flake8_cnnmem.supported import FIRST
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.settings.pins import Pin


DRAWN_AT_RANDOM = "drawn at random"
"""Key of `Runtime.data`: the tensors, by id, that stand for any of several, of which chance draws one."""


class AbstractDrawn(Protocol):
    """What `Runtime.drawn_again` gives: called before each item but the first."""

    drawn: int
    passing: bool
    """Whether no turn so far has called a model."""
    shorter: bool
    """Whether the last item has fewer samples than the others."""
    ends: bool
    """Whether that one is drawn, behind those that stand for all."""

    def __call__(self) -> bool: ...

    def asks_at_last(self) -> bool:
        """Whether that one is still to be drawn, as a turn asks for its size."""
        ...

    def passes_on(self) -> bool:
        """Whether no model was called since the first item, in no turn that stands for others."""
        ...


class Runtime(Protocol):
    """What natives may ask of the interpreter."""

    strict: bool
    grad_enabled: bool
    numbered: int
    """How many ops there have been."""
    autocast: str | None
    cast_region: int
    """The number of the outermost region of autocast, 0 outside of all: casts of weights are cached as long as that."""
    caches_casts: bool
    offloading: bool
    """Whether what is kept for the backward pass goes to the host's memory."""
    attention: tuple[str, ...] | Unknown | None
    """The kernels that attention may take, the preferred one first; None where the framework is free."""
    modes: tuple[Any, ...]
    """All of these, to go back to them where a region ends."""
    invocation: Invocation | None
    called_at: int | None
    """The batch size of the program's own call that is made again for its graph; None outside of one."""
    making_data: bool

    @property
    def in_forward_of_turn(self) -> bool:
        """Whether a model is called in a turn of a training loop."""
        ...

    havocked: dict[int, tuple[Value, Unknown]]
    """Containers whose items cannot be known, by id, with the cause."""

    def next_number(self) -> int:
        """Another number among the ops: what is noted with it comes behind all that ran so far."""
        ...

    def call(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        """Call any callable value. Gives Unknown for what cannot be called or followed; raises Raised."""
        ...

    def attempt(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        """As `call`, with an Unknown that says so where the code raises."""
        ...

    def within(self, steps: int, function: Value, *args: Value, **kwargs: Value) -> Value:
        """As `attempt`, with so many steps at most; Unknown where it needs more, and the program goes on."""
        ...

    def made_of(self, cause: Unknown, values: Sequence[Value]) -> Unknown:
        """The cause for what nobody can follow and is made of some values, a layer or a class of them among them."""
        ...

    def refuse_made(self, made: Instance, kind: str, text: str) -> None:
        """The constructor of a layer or optimizer refuses what it is given: raised where the program takes the error,
        else noted."""
        ...

    def perhaps_done(self, cause: Unknown, action: Callable[[], object]) -> None:
        """Run an action that nobody knows whether it is done: what it changes is not known from here on."""
        ...

    def aside(self, function: Value, *args: Value) -> tuple[int, Value]:
        """As `attempt`, for what is no part of the forward pass: without gradients, and nobody asks whether its sizes
        are right. Also the number of the first op that it applies."""
        ...

    def one_of(self, items: Sequence[Value], cause: Unknown) -> Value:
        """What several values have in common of which one is taken: data, or functions. Else the cause."""
        ...

    def make_data(self, function: Value, *args: Value) -> Value:
        """As `attempt`, for what makes samples: the layers that it calls are no part of a training step."""
        ...

    def get(self, value: Value, name: str) -> Value:
        """`value.name`; Unknown where it cannot be known; raises Raised(AttributeError) where it is absent."""
        ...

    def find(self, value: Value, name: str) -> Value:
        """As `get`, with MISSING where it is absent."""
        ...

    def set(self, value: Value, name: str, new: Value) -> None:
        """`value.name = new`, through user-defined or native `__setattr__` and property setters."""
        ...

    def get_plainly(self, value: Instance, name: str) -> Value:
        """`object.__getattribute__(value, name)`; MISSING where it raises AttributeError."""
        ...

    def set_plainly(self, value: Instance, name: str, new: Value) -> None:
        """`object.__setattr__(value, name, new)`."""
        ...

    def delete_plainly(self, value: Instance, name: str) -> None:
        """`object.__delattr__(value, name)`."""
        ...

    def delete(self, value: Value, name: str) -> None: ...

    def truth(self, value: Value) -> bool | Unknown:
        """bool(value)."""
        ...

    def equal(self, left: Value, right: Value) -> bool | Unknown:
        """left == right as a truth value."""
        ...

    def import_failure(self, dotted: str) -> Unknown:
        """An import whose source is not found. Raised where the program expects that it may fail."""
        ...

    def iterate(self, value: Value) -> Iterator[Value] | Unknown:
        """The items, each drawing on the budget; Unknown for what cannot be iterated."""
        ...

    def items(self, value: Value) -> list[Value] | Unknown:
        """All items of an iterable, within the budget."""
        ...

    def index(self, value: Value, key: Value) -> Value:
        """`value[key]`."""
        ...

    def operate(self, operator: str, left: Value, right: Value) -> Value:
        """A binary operator by its symbol: "+", "//", "@", "==", "in", ..."""
        ...

    def type_of(self, value: Value) -> Class | Unknown: ...

    def is_instance(self, value: Value, cls: Value) -> bool | Unknown: ...

    def construct(self, cls: Class, *args: Value, **kwargs: Value) -> Value:
        """A new instance, as calling the class gives."""
        ...

    def error(self, kind: str, message: Value) -> Raised:
        """An exception of the interpreted program to raise: `raise run.error("ValueError", "...")`.

        `message` is the exception's argument: text but for `SystemExit`, which is given what `exit()` is given."""
        ...

    def unknown(self, reason: str) -> Unknown:
        """An Unknown with the line that is being evaluated as its cause."""
        ...

    def spend(self, steps: int) -> None:
        """Draw on the budget; ends the evaluation when nothing is left."""
        ...

    def read_whole(self, container: Value) -> None:
        """All of a container is about to be read: what imported modules put into it has to be there."""
        ...

    def check_size(self, length: int) -> None:
        """Raise when a string, number (in bits) or container of this length is beyond the budget."""
        ...

    def here(self) -> Site | None:
        """The call that is being evaluated."""
        ...

    def changed(self, container: Value) -> None:
        """To be called BEFORE a native changes a list, dict, set, or an Instance's attributes in place."""
        ...

    def havoc(self, container: Value, cause: Unknown) -> None:
        """From now on nobody knows what a list, dict or set holds, nor how much."""
        ...

    def length_of(self, value: Value) -> int | Unknown | None:
        """The length of a list or of a part of something in a row, as a number to compute with; None where nothing
        tells it from another one's."""
        ...

    def cut_to(self, size: Unknown, stop: int) -> int | Unknown:
        """What `[:stop]` leaves of an axis of which nobody knows how long it is: so much, or a number that is at most
        that."""
        ...

    def lengthened(self, container: list[Value], items: Value) -> bool:
        """Whether a list has got these items behind its own, where nobody knows how many there are of either."""
        ...

    def note_sample(self, container: Value, items: Sequence[Value]) -> None:
        """These may be among the unknown items of a list or dict."""
        ...

    def sample(self, container: Value) -> Value:
        """What every item of a list or dict of unknown items is like; MISSING where that is not known."""
        ...

    def operate_unary(self, operator: str, value: Value) -> Value:
        """A unary operator by its symbol: "neg", "pos", "~"."""
        ...

    def apply(
        self,
        op: Op,
        *inputs: Value,
        weights: Sequence[Value] = (),
        function: str = "",
        dtypes: Sequence[str] | None = None,
        framework: str = FIRST,
    ) -> Value:
        """Run an op on tensors: makes the Call and gives its output tensor, or the tuple of them.

        An Unknown input or an input of unknown rank gives outputs of Unknown shape, but still a Call,
        so that the layers behind it are not lost. `dtypes` are the outputs' (the first input's if None).
        """
        ...

    def let_go(self, *values: Value) -> None:
        """What a native has held until now, its arguments above all: their tensors may be freed from here on."""
        ...

    def enter(
        self, layer: Instance | None, checkpoint: bool = False, reentrant: Sequence[Value] | None = None
    ) -> AbstractInvocation:
        """`with run.enter(layer): ...`: what is applied inside happens within that layer's invocation. `reentrant` are
        the arguments of a checkpoint of that kind, None for any other."""
        ...

    def note(self, kind: str, subject: Value, **options: Value) -> None:
        """Tell that training code does something: it iterates over a loader ("iterate"), goes "backward" from a loss,
        makes an optimizer "step", clears gradients ("zero_grad"), or lets a model train itself ("fit"). `options` are
        what it is told that changes what stays in memory (`retain_graph`, `set_to_none`)."""
        ...

    def joins_step(self, optimizer: Instance) -> None:
        """Tell that the optimizer's last step updates more than when it was noted: what the optimizer holds now."""
        ...

    def repeated(self) -> AbstractTurns:
        """`with run.repeated(): ...`: what happens inside is one turn of a loop that a native runs for the program.
        What is entered again is another turn of the same loop (gradients that are gathered)."""
        ...

    def drawn_again(self, length: int | None = None) -> AbstractDrawn:
        """For a `Stream`, of so many items where that is known: whether a loop over it needs a second turn."""
        ...

    def text_of(self, path: Value, also: Sequence[str] = ()) -> str | Unknown:
        """The text of a file of the project (settings that the code names), or of the folders in `also`, which a
        library keeps for itself; Unknown for any other file."""
        ...

    def environment_variable(self, name: str) -> str | None:
        """A variable of the environment that says where a library keeps its files."""
        ...

    def pinned(self, name: str) -> Pin | None:
        """The version of a package, by its normalised name, that the project's own files ask for; None without one."""
        ...

    def arguments(self) -> dict[str, Value] | Unknown:
        """The arguments that the function which calls the native was called with, by name, `**kwargs` spread."""
        ...

    def choose(self, question: str, answers: Sequence[str], only_if_stopped: bool = False) -> str | None:
        """What the program's user answers: another answer in each run of the program, None where it is not run as one.

        With `only_if_stopped` the answers after the first are tried where the program stops before it trains.
        """
        ...

    def data(self, key: str) -> dict[Any, Any]:
        """A scratch dict that lives as long as this evaluation (Keras' name counters and global policy)."""
        ...


class AbstractInvocation(Protocol):
    def __enter__(self) -> Invocation: ...

    def __exit__(self, *exception: object) -> None: ...


class AbstractTurns(Protocol):
    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...

    def numbers(self, first: int, most: int | None, also: Sequence[int] = ()) -> Iterator[int]:
        """The numbers of the turns to enter, of `most` in all where that is known: the first, those in `also`, and
        those for which a test of a turn's number answers otherwise than in the turns before."""
        ...

    def later(self) -> set[int]:
        """The numbers for which tests of the last turn's number answer otherwise."""
        ...


def so_many(run: Runtime, item: Value, cause: Unknown) -> list[Value]:
    """A list of unknown length whose items are all like this one."""
    made: list[Value] = []
    run.havoc(made, cause)
    run.note_sample(made, [item])
    return made


def with_known_lengths(function: Callable[..., Value]) -> Callable[..., Value]:
    """A native that is given the cause in place of a list of numbers of which nobody knows how many it holds. Lists of
    tensors, modules or the like stay as they are: what takes them asks `Runtime.items`."""

    @wraps(function)
    def called(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        if run.havocked:
            args = tuple(of_known_length(run, value) for value in args)
            kwargs = {word: of_known_length(run, value) for word, value in kwargs.items()}
        return function(run, *args, **kwargs)

    return called


def of_known_length(run: Runtime, value: Value) -> Value:
    """A value, or why its length is not known, where it is a list of numbers."""
    if not isinstance(value, list) or id(value) not in run.havocked:
        return value
    held = next((item for item in (*value, run.sample(value)) if not isinstance(item, Unknown)), MISSING)
    return run.havocked[id(value)][1] if held is MISSING or isinstance(held, (int, float)) else value
