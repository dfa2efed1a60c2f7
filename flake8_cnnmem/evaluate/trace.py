"""The trace of a program: what a run of it did, in order and nested, as far as it tells which models a file defines and
how they are trained.

Loops are entered and left, and each `Turn` of one is a stretch of the events and of the ops between its beginning and
its end. Who asks for a training reads it off the turns of the loop that repeats its step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias

from flake8_cnnmem.evaluate.counted_rests import CountedRest
from flake8_cnnmem.evaluate.loop_turns import InReach, Loop, Turn, around
from flake8_cnnmem.graph import Call, Invocation, Site, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

Filled: TypeAlias = "int | tuple[int, str]"
"""A container by its id, or an attribute of an object."""

Tested: TypeAlias = "tuple[int, int | None, int | None, Site | None]"
"""The number of the last op before a comparison of two whole numbers, and these; None where a rest was asked for."""


@dataclass(slots=True)
class MadeLayer:
    """A layer that the code constructed: `site` is the outermost call in the analysed file that gave it, `last` is
    the number of the last layer that was made while it was constructed."""

    instance: Instance
    number: int
    site: Site | None
    entered: Site | None = None
    """The innermost call in the analysed file during which it was made, perhaps in a function of another file."""
    last: int = 0
    began: int = 0
    """The number that calls had reached when its construction began."""


@dataclass(slots=True, eq=False)
class RootCall:
    """A call of a layer from outside any layer, as the code makes it."""

    instance: Instance
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    site: Site | None
    grad: bool
    autocast: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Unfollowed:
    """A call, from outside any layer, of something that nobody can follow. `cause` is why; `given` is the first of its
    arguments; `turn` the innermost turn in which it happens."""

    cause: Unknown
    given: Tensor | Unknown
    site: Site | None
    turn: Turn | None


@dataclass(slots=True)
class Event:
    """One thing that training code does. Events are kept in the order in which the code does them.

    `kind` is "iterate" (over a loader), "call" (of a layer from outside any layer), "backward" (from a loss),
    "gradient" (a backward pass for the gradients of some tensors alone), "derived" (one whose ops are a part of the
    graph), "step" (of an optimizer), "zero_grad" (of an
    optimizer, a layer or a leaf), "fit" (of a model that trains itself) or "unclear" (a backward pass from what is not
    known). `number` counts it among the ops; that of a
    call is that of the last op before it.
    """

    kind: str
    subject: Value
    site: Site | None
    number: int
    call: RootCall | None = None
    turn: Turn | None = None
    """The innermost turn in which it happens."""
    doubt: Unknown | None = None
    """The innermost test between that turn and the event that is not known: it may not happen at all."""
    trainable: frozenset[int] = frozenset()
    """The weights, by id, that asked for a gradient then: of a "step" those that the optimizer holds, of a "backward"
    those that the loss depends on, of a "call" those of the layer."""
    held: InReach | None = None
    """What the program held then: of a "step" that no loop is around, and of a model's first few times of "fit"."""
    options: dict[str, Value] = field(default_factory=dict)
    """What it was told: `retain_graph` of a backward pass, `set_to_none` of a zero_grad."""
    cast_region: int = 0
    """The number of the outermost region of autocast around it, as of a call."""


MOST_EVENTS = 20_000
"""What is kept of a program that trains for long: its first steps say what the later ones do."""

MOST_CALLS = 400_000
"""Ops outside of models and in them that are kept in order, for the steps that they are part of."""


@dataclass(slots=True)
class Trace:
    """What an evaluation does that tells which models a file defines, and what trains them."""

    path: str = ""
    entered: Site | None = None
    """The call in the analysed file that is running."""
    layers: dict[int, MadeLayer] = field(default_factory=dict)
    put_away: dict[int, Value] = field(default_factory=dict)
    """Layers, by id, that were put into something that is not known: the head of a model whose source is not found."""

    cut_short: dict[int, tuple[Instance, Unknown]] = field(default_factory=dict)
    """Objects that were being filled or made when the budget ended or the code raised, by id, with the cause."""
    root_calls: list[RootCall] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    calls: list[tuple[Call, Unknown | None]] = field(default_factory=list)
    """Every op in order, with the test that is not known behind which it stands, as that of an event."""
    unfollowed: list[Unfollowed] = field(default_factory=list)
    """What is called with tensors, or with what is not known, though nobody knows what it is: a model, perhaps."""
    problems: list[Call] = field(default_factory=list)
    """Those of them whose sizes cannot be right, where no test that is not known stands around them."""
    made_before: dict[int, int] = field(default_factory=dict)
    """By the number of such a call: the layer, by id, whose construction was the last to begin before it."""
    used: set[int] = field(default_factory=set)
    """Functions and classes, by id, that other functions called, and functions that the module calls as they stand:
    without arguments, so that what they give is what anybody gets."""
    called: set[int] = field(default_factory=set)
    """Functions, by id, that the module itself calls with arguments."""
    turn: Turn | None = None
    """The innermost turn that is running, outside of any layer."""
    ended: Turn | None = None
    """The one that has ended last."""
    doubts: list[Unknown] = field(default_factory=list)
    """The tests that are not known around what is running, the innermost last."""
    making: list[Instance] = field(default_factory=list)
    """The layers that are being constructed, the innermost last."""
    refused: dict[int, tuple[Instance, Unknown]] = field(default_factory=dict)
    """Layers whose constructor refuses what it is given, and those around them, with the error that is raised."""
    recording: bool = True
    """Whether ops are noted: not those of a model that is called on trial, after the program has run."""
    on_trial: bool = False
    """Whether such a call is running: its events are taken away when it has returned."""
    perhaps_held: dict[object, tuple[str, Unknown]] = field(default_factory=dict)
    """By a loop's statement what leads to weights in a turn of it where a test is answered one way, and why nobody
    knows the answer."""
    approached: set[int] = field(default_factory=set)
    """The limits that counts of the program's own come nearer to with every turn of a loop."""
    rests: dict[object, CountedRest] = field(default_factory=dict)
    """What tests that divide a count of the program's own have found, by the place of each."""
    skipping: bool = False
    """Whether turns of a loop are passed over: streams give what they are asked for."""
    filled: dict[Filled, tuple[int, Site | None]] = field(default_factory=dict)
    """What loops have put something into: (the number of the last op before, where)."""
    gathered: dict[object, set[str]] = field(default_factory=dict)
    """The names of the containers that the turns of a loop have put tensors into, by its statement."""
    tested: list[Tested] = field(default_factory=list)
    """What turns of loops have compared."""
    stored: int = -1
    """The number of ops when a layer that a loop calls last put something into a container, or an attribute."""
    limited: set[int] = field(default_factory=set)
    """The containers, by id, that let go of their first items when they hold so many."""
    repeating: int = 0
    """How many loops around what is running are in a turn that stands for others."""
    settled: int = 0
    """How many of them count, and no later count is compared with a number that it has not passed."""

    def enter(self, site: Site | None, number: int) -> Loop:
        """A loop begins."""
        return Loop(site, self.turn, len(self.events), number, self.repeating > 0)

    def begin(self, loop: Loop, number: int) -> Turn:
        """A turn of it begins."""
        events, calls = len(self.events), len(self.calls)
        self.turn = turn = Turn(loop, (events, events), (calls, calls), number, number, len(self.doubts))
        return turn

    def so_far(self, number: int) -> tuple[int, int, int]:
        """How many events and ops there were, and the number of the last op."""
        return len(self.events), len(self.calls), number

    def begun_with(self, turn: Turn, before: tuple[int, int, int]) -> None:
        """A turn that has just begun consists of what has happened since then, too."""
        events, calls, turn.first = before
        turn.events, turn.calls = (events, events), (calls, calls)
        for event in self.events[events:]:
            if event.turn is turn.loop.outer:
                event.turn = turn

    def end(self, turn: Turn, number: int) -> None:
        """A turn has ended. It is kept where something happened in it."""
        turn.events = (turn.events[0], len(self.events))
        turn.calls = (turn.calls[0], len(self.calls))
        turn.last = number
        self.ended = turn
        if turn.events[0] != turn.events[1]:
            turn.loop.turns.append(turn)
        self.turn = turn.loop.outer

    def cut(self, outer: Turn | None) -> None:
        """What may be evaluated of the program ends in the turns that are running inside of `outer`."""
        for turn in around(self.turn):
            if turn is outer:
                break
            turn.cut = True

    def leave(self, outer: Turn | None, number: int) -> None:
        """Whatever turns are running inside of `outer` have ended, by an exception perhaps."""
        while self.turn is not None and self.turn is not outer:
            self.end(self.turn, number)
        self.turn = outer

    def doubt(self) -> Unknown | None:
        """The innermost test that is not known, within the turn that is running."""
        outside = self.turn.doubts if self.turn is not None else 0
        return self.doubts[-1] if len(self.doubts) > outside else None

    def after_call(self) -> bool:
        """Whether a model's call with a gradient is the last that has happened, but for gradients that were cleared:
        not one that only looks, whose data are the program's own."""
        last = next((event for event in reversed(self.events) if event.kind != "zero_grad"), None)
        return last is not None and last.kind == "call" and last.call is not None and last.call.grad

    def ran(self, call: Call) -> None:
        """An op was applied."""
        if not self.recording:
            return
        if len(self.calls) < MOST_CALLS:
            self.calls.append((call, self.doubt()))
        if call.problem is not None and not self.doubts and not call.doubtful:
            self.problems.append(call)
            self.made_before[call.number] = next(reversed(self.layers), 0)

    def built(self, result: Value, before: int, site: Site) -> None:
        """A call has given a layer that was made during it: so far the outermost call that builds it. For one that
        another file makes, and that comes among other things (`model, preprocess = create()`), this call builds it."""
        if site.path != self.path:
            return
        made = self.layers.get(id(result))
        if made is not None:
            if made.number > before:
                made.site = site
            return
        for item in given_inside(result):
            made = self.layers.get(id(item))
            if made is not None and made.number > before and (made.site is None or made.site.path != self.path):
                made.site = site

    def not_followed(self, cause: Unknown, given: Value, site: Site | None) -> None:
        """Something is called that nobody can follow."""
        if isinstance(given, (Tensor, Unknown)) and self.recording and len(self.unfollowed) < MOST_EVENTS:
            self.unfollowed.append(Unfollowed(cause, given, site, self.turn))

    def tests(self, number: int, left: int | None, right: int | None, site: Site | None) -> None:
        """Two whole numbers are compared in a turn of a loop; None where a rest was asked for."""
        if len(self.tested) < MOST_EVENTS:
            self.tested.append((number, left, right, site))

    def fills(self, what: Filled, number: int, site: Site | None) -> None:
        """Something is put there while a loop runs. In another file it counts where the analysed file has called it."""
        if site is None or site.path != self.path:
            site = self.entered
        self.filled[what] = (number, site)

    def was_refused(self, error: Instance, within: Invocation | None) -> None:
        """The program has dealt with what it raised, `within` a layer or outside of all: where that was a model's
        refusal of its input, the call says nothing of what the model is fed with. A layer that deals with it itself
        goes on with its call."""
        if not isinstance(error.native, Call) or within is not None:
            return
        layers = [within.layer for within in error.native.ancestry()]
        outermost = layers[-1] if layers else None
        for calls in (self.root_calls, self.events):
            last = next((at for at in reversed(range(len(calls))) if called_in(calls[at]) is outermost), None)
            if last is not None and outermost is not None:
                del calls[last]

    def events_of(self, turn: Turn) -> list[Event]:
        """The events of a turn of a loop."""
        return self.events[slice(*turn.events)]

    def calls_of(self, turn: Turn) -> list[tuple[Call, Unknown | None]]:
        """The calls of ops of a turn of a loop, each with the doubt whether it is made."""
        return self.calls[slice(*turn.calls)]


def given_inside(result: Value) -> Iterable[Value]:
    """What a call gives at once: the items of a container, the attributes of an object."""
    if isinstance(result, dict):
        return result.values()
    if type(result) is Instance:
        return result.attributes.values()
    return result if isinstance(result, (tuple, list)) else ()


def called_in(noted: RootCall | Event) -> Instance | None:
    """The layer that is called, where it is a call that was noted."""
    call = noted if isinstance(noted, RootCall) else noted.call
    return call.instance if call is not None else None
