"""The trace of a program: what a run of it did, in order and nested, as far as it tells which models a file defines and
how they are trained.

Loops are entered and left, and each `Turn` of one is a stretch of the events and of the ops between its beginning and
its end. Who asks for a training reads it off the turns of the loop that repeats its step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from typing import TypeAlias

from flake8_cnnmem.evaluate.counted_rests import CountedRest
from flake8_cnnmem.graph import Call, Invocation, Site, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

LONGEST_PERIOD = 64
"""What happens less often than every so many turns is not waited for."""

MOST_COUNTED = 100_000

MOST_LIMITS = 64
"""Comparisons that are noted in one turn."""

Filled: TypeAlias = "int | tuple[int, str]"
"""A container by its id, or an attribute of an object."""


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


@dataclass(slots=True, eq=False)
class Loop:
    """One run of a loop: of a statement, or of a native that repeats a step on the program's behalf (`site` is then the
    call of it). `outer` is the turn of the loop around it."""

    site: Site | None
    outer: Turn | None
    started: int
    """How many events there were before it."""
    began: int = 0
    """The number of the last op before it."""
    repeated: bool = False
    """Whether it runs in a turn that stands for others, with a loop variable that is not known."""
    held: InReach | None = None
    """What the program held at the loop's first optimizer step; None where it makes none."""
    held_again: InReach | None = None
    """What it held at the first call of a model or step of the turn after that."""
    early: tuple[InReach, InReach] | None = None
    """Both of these as they were before what later turns hold was put beside it."""
    looked: int = 0
    """How many turns there were when it was last looked at what the program holds."""
    most_looked_at: int = 8
    """In so many turns it is seen what the program holds."""
    models: int = 0
    """How many models and loose weights names led to when it was last looked at."""
    one_more: bool = False
    """Whether the last turn has left more of them than any step has found."""
    turns: list[Turn] = field(default_factory=list)
    """Those in which something happened."""
    gathers: bool = False
    """Whether it was not followed to its end though the program holds more models after every turn of it."""
    count: int | None = None
    """How many turns the program makes of it, each like the other; None where that is not known. Looked at only where
    results outlive a turn."""
    most: tuple[int, int | None] = (0, None)
    """How many items of what it goes through were taken before it, and how many it may take, where the code says so."""
    less: bool = False
    """Whether one more comes behind these, which is given less."""
    length: int | None = None
    """How many turns the program makes of it, where that is known: those in which something happens, where all were
    followed."""
    counted: bool = False
    """Whether it goes through numbers that only count."""
    open: Unknown | None = None
    """Why it is not known how many turns it has, where one was followed that stands for all of them."""
    sources: tuple[object, ...] = ()
    """What it goes through, while it runs: a value, and the iterator over it. They may hold data of later turns."""
    follows: Loop | None = None
    """Of a turn that stands for the rest of a loop: the turns of it that were followed."""

    @property
    def statement(self) -> object:
        """What all runs of a loop have in common: its statement, where it is one."""
        return getattr(self.site, "statement", self)


@dataclass(frozen=True, slots=True, eq=False)
class Retained:
    """A result of ops that the program still holds when a turn has ended. `what` is the name of the container that was
    filled with it in the turn, or of the variable or attribute that leads to it; `site` is the statement that does."""

    what: str
    tensor: Tensor
    inside: bool
    """Whether it is an item of a container, or an attribute."""
    site: Site | None
    limited: bool = False
    """Whether the container lets go of its first items when it holds so many (`deque(maxlen=100)`)."""

    replaced: bool = False
    """Whether it is itself what the turn gave an attribute (`self.a = self.a.to(device)`): one alone lies there."""


@dataclass(slots=True, eq=False)
class Turn:
    """One pass of a loop's body. Events and ops are counted from the trace's beginning: `events` and `calls` are how
    many there were before it and at its end, `first` and `last` the numbers of the last op before it and in it."""

    loop: Loop
    events: tuple[int, int]
    calls: tuple[int, int]
    first: int
    last: int = 0
    doubts: int = 0
    """How many tests that are not known stood around the loop."""
    counts: list[tuple[int, int]] = field(default_factory=list)
    """What a count was divided by, for its rest: (the count, the divisor). What is done every so many turns."""
    kept: list[Retained] = field(default_factory=list)
    """What the program holds at its end of what ops gave since the loop began."""
    filled: dict[int, tuple[Collection[Value], int]] = field(default_factory=dict)
    """The containers, by id, that something is put into, and how much was in them before."""
    older: list[tuple[str, int]] = field(default_factory=list)
    """What it holds of ops before: the variable that leads there, and the op's number."""

    number: int | None = None
    """What the loop counts this turn as: its variable, or the number that comes with an item."""
    limits: list[tuple[int, int]] = field(default_factory=list)
    """What a count was compared with, if it is smaller: (the count, the first that would answer otherwise)."""
    leaves: bool = False
    """Whether it learns nothing, and has put results of models into containers."""
    passed: bool = False
    """Whether the program has gone on to the next turn before the end of the body."""
    offsets: dict[int, int] = field(default_factory=dict)
    """Numbers that were computed from its own (`epoch + 1`), each with how much more it is."""

    def counted_on(self, count: int, result: Value) -> None:
        """A fixed number was added to a count."""
        for turn in around(self):
            if turn.number == count and type(result) is int:
                turn.offsets[result] = result - count

    def compared(self, symbol: str, count: int, limit: int) -> int:
        """A count was compared with a limit: a later turn of this loop, or of one around it, finds the other answer.
        The first count that does, or 0."""
        first = limit + (symbol in (">", "<="))
        if not 0 <= count < first <= MOST_COUNTED:
            return 0
        for turn in around(self):
            if (turn is self or turn.number == count) and len(turn.limits) < MOST_LIMITS:
                turn.limits.append((count, first))
            if count in turn.offsets and turn.number != count and len(turn.limits) < MOST_LIMITS:
                turn.limits.append((count - turn.offsets[count], first - turn.offsets[count]))
        return first

    def looked_up(self, count: int, largest: int) -> None:
        """A table says something else at a later count: most at that of the loop's turns."""
        for turn in around(self):
            if turn.number == count and count < largest <= MOST_COUNTED and len(turn.limits) < MOST_LIMITS:
                turn.limits.append((count, largest))

    def divided(self, count: int, divisor: int) -> None:
        """A count was divided, for what is whole of it: another number when the next multiple is reached."""
        if divisor > 1 and 0 <= count < MOST_COUNTED:
            base = next((turn.offsets[count] for turn in around(self) if count in turn.offsets), 0)
            if any(turn.number == count - base for turn in around(self)):
                self.compared("<", count, (count // divisor + 1) * divisor)

    def counted_off(self, count: Value, divisor: Value) -> None:
        """A count was divided: every so many turns something else is done."""
        if type(count) is int and type(divisor) is int and 1 < divisor <= LONGEST_PERIOD and 0 <= count < MOST_COUNTED:
            for turn in around(self):
                if turn is self or turn.number == count:
                    turn.counts.append((count, divisor))


@dataclass(slots=True, eq=False)
class InReach:
    """What the program could reach through its names at one moment: layers that nothing holds but names, optimizers,
    and tensors, each with the name that leads to it."""

    layers: list[tuple[str, Instance]] = field(default_factory=list)
    optimizers: list[tuple[str, Instance]] = field(default_factory=list)
    tensors: list[tuple[str, Tensor]] = field(default_factory=list)
    weights: dict[int, frozenset[int]] = field(default_factory=dict)
    """The weights, by id, that each of these layers had then, by the layer's id."""
    loaded: list[tuple[str, Unknown]] = field(default_factory=list)
    """What files hold whose tensors may lie on the device."""


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

    def leave(self, outer: Turn | None, number: int) -> None:
        """Whatever turns are running inside of `outer` have ended, by an exception perhaps."""
        while self.turn is not None and self.turn is not outer:
            self.end(self.turn, number)
        self.turn = outer

    def doubt(self) -> Unknown | None:
        """The innermost test that is not known, within the turn that is running."""
        outside = self.turn.doubts if self.turn is not None else 0
        return self.doubts[-1] if len(self.doubts) > outside else None

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


def around(turn: Turn | None) -> Iterator[Turn]:
    """A turn and those around it, innermost first."""
    while turn is not None:
        yield turn
        turn = turn.loop.outer


def is_single(turn: Turn | None) -> bool:
    """Whether the program comes by a turn once: no loop around it makes another one."""
    return all(each.loop.length == 1 for each in around(turn))


def is_within(turn: Turn | None, loop: Loop) -> bool:
    """Whether a turn is one of a loop's, or of a loop inside of it."""
    return any(each.loop is loop for each in around(turn))
