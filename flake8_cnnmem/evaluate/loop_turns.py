"""Loops as a program runs them, and their turns: what happens in one, what it counts, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field

from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

LONGEST_PERIOD = 64
"""What happens less often than every so many turns is not waited for."""

MOST_COUNTED = 100_000

MOST_LIMITS = 64
"""Comparisons that are noted in one turn."""

MOST_LOOKED_AT = 1_000
"""Numbers of turns of which multiples are tried."""


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
    ends: bool = False
    """Whether its last turn was given the last batch, which is smaller than the others."""
    length: int | None = None
    """How many turns the program makes of it, where that is known: those in which something happens, where all were
    followed."""
    counted: bool = False
    """Whether it goes through numbers that only count."""
    open: Unknown | None = None
    """Why it is not known how many turns it has, where one was followed that stands for all of them."""
    in_layers: list[list[Tensor]] = field(default_factory=list)
    """For each turn at whose end it was looked for what its layers have kept of their results: what was found."""
    lost_sight: bool = False
    """Whether it is not known when the program lets go of what was found so, or more of it is held after every turn."""
    sources: tuple[object, ...] = ()
    """What it goes through, while it runs: a value, and the iterator over it. They may hold data of later turns."""
    follows: Loop | None = None
    """Of a turn that stands for the rest of a loop: the turns of it that were followed."""

    @property
    def knows_kept_results(self) -> bool:
        """Whether of all that its layers keep of their results it is known from when until when they do."""
        return len(self.in_layers) > 1 and not self.lost_sight

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
    counts: list[tuple[int, int, int]] = field(default_factory=list)
    """What a count was divided by, for its rest: (the count, the divisor, the rest that is asked for). What is done
    every so many turns."""
    kept: list[Retained] = field(default_factory=list)
    """What the program holds at its end of what ops gave since the loop began."""
    filled: dict[int, tuple[Collection[Value], int]] = field(default_factory=dict)
    """The containers, by id, that something is put into, and how much was in them before."""
    named: dict[str, list[Tensor]] = field(default_factory=dict)
    """What variables lead to at its end, themselves or as containers, of what was made since the loop began."""
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
    cut: bool = False
    """Whether it was not evaluated to its end: it took more steps than there were."""
    forms: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Numbers that were computed from its own (`epoch + 1`, `epoch * every`): (how many times it, how much more)."""

    def form_of(self, count: int) -> tuple[int, int] | None:
        """How a count is computed from the turn's number: (how many times it, how much more)."""
        return (1, 0) if self.number == count else self.forms.get(count)

    def counted_on(self, symbol: str, count: int, other: int, result: Value) -> None:
        """A number was added to a count (or taken from it, or it was multiplied by one)."""
        for turn in around(self):
            form = turn.form_of(count)
            if form is None or type(result) is not int or (other == turn.number and count != other):
                continue
            times, more = form
            made = (times * other, more * other) if symbol == "*" else (times, more + result - count)
            if made[0] > 0 and len(turn.forms) < MOST_LIMITS:
                turn.forms.setdefault(result, made)

    def compared(self, symbol: str, count: int, limit: int) -> int:
        """A count was compared with a limit: a later turn of this loop, or of one around it, finds the other answer.
        The first count that does, or 0."""
        first = limit + (symbol in (">", "<="))
        if not 0 <= count < first <= MOST_COUNTED:
            return 0
        for turn in around(self):
            if (turn is self or turn.number == count) and len(turn.limits) < MOST_LIMITS:
                turn.limits.append((count, first))
            # Other counts that come to the same number by chance are compared with limits; few are asked to be equal.
            asked = symbol == "==" and count in turn.forms and turn.number != count
            if asked and len(turn.limits) < MOST_LIMITS:
                times, more = turn.forms[count]
                turn.limits.append(((count - more) // times, -((more - first) // times)))
        return first

    def looked_up(self, count: int, largest: int) -> None:
        """A table says something else at a later count: most at that of the loop's turns."""
        for turn in around(self):
            if turn.number == count and count < largest <= MOST_COUNTED and len(turn.limits) < MOST_LIMITS:
                turn.limits.append((count, largest))

    def divided(self, count: int, divisor: int) -> None:
        """A count was divided, for what is whole of it: another number when the next multiple is reached."""
        if divisor > 1 and 0 <= count < MOST_COUNTED:
            if any(turn.form_of(count) is not None for turn in around(self)):
                self.compared("<", count, (count // divisor + 1) * divisor)

    def counted_off(self, count: Value, divisor: Value, wanted: Value = 0, is_test: bool = False) -> None:
        """A count was divided: every so many turns, when this rest is left, something else is done. Where a test asks
        for the rest, also when that is rarely."""
        if type(count) is not int or type(divisor) is not int or type(wanted) is not int:
            return
        if not (1 < divisor <= MOST_COUNTED and 0 <= count < MOST_COUNTED and 0 <= wanted < divisor):
            return
        explained = False
        for turn in around(self):
            form = turn.form_of(count)
            if divisor <= LONGEST_PERIOD and (turn is self or turn.number == count):
                turn.counts.append((count, divisor, wanted))
            elif is_test and turn.number is not None and form is not None and not explained:
                later = first_with_rest(form, turn.number, divisor, wanted)
                if later and len(turn.limits) < MOST_LIMITS:
                    turn.limits.append((turn.number, later))
            # That the turn around has the same number, or one more, is chance.
            explained = explained or form is not None


def first_with_rest(form: tuple[int, int], number: int, divisor: int, wanted: int) -> int:
    """The first number from this one on of which a multiple, and so much more, leaves a rest; 0 where that is this one,
    or none."""
    times, more = form
    near = range(number, number + min(divisor, MOST_LOOKED_AT if times > 1 else divisor))
    if times == 1:
        near = range(number + (wanted - more - number) % divisor, near.stop)
    first = next((each for each in near if (times * each + more) % divisor == wanted), number)
    return first if first != number else 0


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
