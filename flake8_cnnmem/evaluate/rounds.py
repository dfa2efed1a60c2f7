"""The turns of one loop as they are followed, and the point from which they only repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.budget import FEW_STEPS
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.drawn_ahead import TURN_STEPS
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.gathering import batches_of, count_turns, fill_up
from flake8_cnnmem.evaluate.growing import told_apart_by
from flake8_cnnmem.evaluate.loop_turns import LONGEST_PERIOD, Loop, Turn, around
from flake8_cnnmem.evaluate.numbers import number_kind
from flake8_cnnmem.evaluate.results_in_layers import mark_results
from flake8_cnnmem.evaluate.trace import Event
from flake8_cnnmem.evaluate.training_state import (
    declares_inputs,
    learns,
    leaves_results,
    mark_held,
    models_put_by,
    note_one_more,
    weights_of,
)
from flake8_cnnmem.evaluate.turns import number_of, taken_and_most, turns_until
from flake8_cnnmem.frameworks.changed_weights import TRAINABLE_FLAGS
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MANY_ROUNDS = 16
"""Rounds that only call models, as a benchmark does, before the rest are taken to be like them. A layer that a model
calls in a loop looks the same from outside, and its calls count."""

MOST_ROLLED = 64
"""Rounds that are left of a loop that counts and are gone through all the same, where they take few steps: a rollout
of twenty steps keeps twenty graphs."""

FITS_ALIKE = 2
"""So often a round that trains models by their own `fit` is like the one before it when the rest are taken to be so."""

MOST_GATHERED = 32
"""Turns of a loop that keeps a model of each (snapshots for an ensemble) that are gone through one by one."""

MOST_IDLE = 2
"""So many turns that keep no more models than those before are followed to see whether the next one does."""

LONG_TURN = FEW_STEPS // 4
"""Steps of a turn that takes long to follow."""

MOST_UNFREEZING = 8
"""Turns that are gone through one by one where each sets other weights free, or freezes them."""

MOST_JUMPS = 2
"""How often turns are passed over for one that does something new."""

TRAINING = ("backward", "step")
"""What a round that trains is known by."""


def gathers(turn: Turn) -> bool:
    """Whether a turn puts something else than numbers into a list."""
    lists = [(held, before) for held, before in turn.filled.values() if isinstance(held, list)]
    return any(not number_kind(item) for held, before in lists for item in held[before:])


class Rounds:
    """The turns of one loop, and the point from which they only repeat."""

    __slots__ = (
        "alike", "approached", "awaited", "by_number", "changing", "counted", "done", "drawn", "flags", "gathered",
        "idle", "item", "jumps", "last", "layers", "limits", "loop", "missed", "models", "numbered", "pace", "periodic",
        "run", "seen", "seldom", "since_step", "stepped", "steps", "turn", "variables",
    )  # fmt: skip

    def __init__(self, frame: Frame, twin: ast.stmt, counted: bool) -> None:
        run = self.run = frame.run
        self.counted = counted
        self.variables = frame.variables
        self.layers = run.layers_made
        self.steps = run.budget.steps
        self.seen: list[Any] | None = None
        self.alike = 0
        self.stepped = 0
        self.jumps = 0
        self.models = 0
        """How many models there were at most in containers that a turn has put something into."""
        self.gathered = 0
        """In how many turns there came to be more of them."""
        self.idle = 0
        """How many turns there were since then."""
        self.periodic: set[tuple[int, int]] = set()
        """The divisors of counts that had the rest asked for in such a turn, each with that rest: so many turns later
        there may be more."""
        self.seldom: dict[tuple[int, int], int] = {}
        """By divisor and rest, how many turns are left until a count has it; 0 where such a turn was seen."""
        self.awaited: set[tuple[int, int]] = set()
        """Those for which turns were passed over."""
        self.missed = False
        """Whether such a turn had another count than was waited for: the program counts by itself."""
        self.item: Value = None
        """What the loop's variable is given in the turn that is running."""
        self.changing: set[int] = set()
        """The items that are the first for which a test of the loop's variable answers otherwise."""
        self.flags: dict[int, bool] = {}
        """What had been said of weights, by id, when the turn began: whether they are to train."""
        self.limits: dict[int, int] = {}
        """By limit the count that the last turn has compared with it."""
        self.numbered: set[Any] = set()
        """Where the models are told the number of each turn."""
        self.approached: set[int] = set()
        """The limits that such a count came nearer to from one turn to the next."""
        self.pace: dict[int, int] = {}
        """How much nearer in one turn, by limit."""
        self.since_step = 0
        self.by_number = 0
        """How many turns are gone through at most, since what models are given depends on how many there were."""
        # What a layer does inside is its own affair: the trace is of the program around it.
        self.loop: Loop | None = None
        if run.invocation is None:
            self.loop = run.trace.enter(StatementSite(frame.module.path, twin), run.numbered)
            self.loop.counted = counted
        self.turn: Turn | None = None
        self.last: Turn | None = None
        """The last one that has ended."""
        self.done = 0
        self.drawn = run.trace.so_far(run.numbered)
        """How far the trace was when the turn's item was asked for."""

    def goes_through(self, *sources: object) -> None:
        """What the loop goes through, while it runs: a value, and the iterator over it."""
        if self.loop is not None:
            self.loop.sources = sources
            self.loop.most = taken_and_most(sources[1]) if len(sources) > 1 else self.loop.most

    def begin(self) -> None:
        """A turn begins. Where its item comes from a generator that calls models, it has begun with that."""
        if self.loop is not None:
            trace = self.run.trace
            trace.skipping = False
            # A number of its own: what is given another value now has outlived the turn before.
            self.turn = trace.begin(self.loop, self.run.next_number())
            self.turn.number = number_of(self.item)
            self.flags = dict(self.run.data(TRAINABLE_FLAGS))
            drawn = self.drawn[0]
            if len(trace.events) > drawn and any(event.kind == "call" for event in trace.events[drawn:]):
                trace.begun_with(self.turn, self.drawn)

    def end(self, passed: bool = False) -> None:
        """It has ended; with `passed` by `continue`."""
        turn, run = self.turn, self.run
        if turn is None:
            return
        turn.passed = passed
        self.turn, self.last = None, turn
        self.done += 1
        self.drawn = run.trace.so_far(run.numbered)
        events, first = run.trace.events, turn.events[0]
        if len(events) > first:
            learned = any(event.turn is turn and learns(event) for event in events[first:])
            turn.leaves = not learned and leaves_results(run, turn, self.variables)
            if learned or turn.leaves:
                mark_held(run, turn)
                mark_results(run, turn)
        run.trace.end(turn, run.numbered)

    def over(self, frame: Frame, count: int | None) -> None:
        """The loop has ended, or goes on as before: so many turns where that is known of itself, unless it is left."""
        loop = self.loop
        if loop is not None and self.last is not None and count is None and not frame.breaks:
            fill_up(self.run, loop, self.last, self.done, frame.variables)
        if loop is None or not loop.turns:
            return
        if self.gathered:
            note_one_more(self.run, loop)
        # What is given another value now has outlived the last turn.
        self.run.next_number()
        if frame.breaks:
            return
        batches = batches_of(self.run, loop) if count is None else None
        loop.length = batches.count if batches is not None else count
        if loop.length == self.done:
            # All of them were followed, and in the others nothing happens.
            loop.length = len(loop.turns)
        if loop.turns[-1].kept:
            count_turns(loop, batches, count)

    def is_all(self) -> bool:
        """Whether all turns of the loop in which something happens were followed, as far as that is known."""
        return self.loop is not None and self.loop.length == len(self.loop.turns)

    def left(self) -> None:
        """The loop is left for certain by what its body or its test says."""
        if self.loop is not None and not self.jumps and len(self.loop.turns) == 1:
            self.loop.length = 1

    def repeat(self, left: int | None = None) -> bool:
        """Whether the turn that has just ended stands for those to come, of which so many are `left`, where that is
        known."""
        run = self.run
        before, self.layers = self.layers, run.layers_made
        turn = self.loop.turns[-1] if self.loop is not None and self.loop.turns else None
        last = run.trace.events_of(turn) if turn is not None and turn.events[1] == len(run.trace.events) else []
        if turn is not None:
            self.periods(turn)
        if last and all(event.options.get("by_hand") for event in last):
            # One weight after the other is updated: a loop that is a part of a step.
            last = []
        if not last or (before != self.layers and made_with_weights(run, before)):
            self.seen = None
            return False
        assert turn is not None
        if self.done < MOST_UNFREEZING and self.sets_free():
            # What trains in the next turn is something else.
            self.seen = None
            return False
        if self.done < MOST_UNFREEZING and self.is_told_number(turn, last):
            # It may do more with a larger one (a network that grows).
            self.seen = None
            return False
        # Weights that are updated one after the other are the turn's own step.
        own = [event for event in last if event.turn is turn or event.options.get("by_hand")]
        trains = any(event.kind in TRAINING for event in last)
        if trains and self.keeps_models(turn, len(own) < len(last)):
            return self.gathers_on()
        seen, self.seen = self.seen, [told_apart_by(event) for event in last]
        self.alike = self.alike + 1 if seen == self.seen else 0
        # Turns that gather gradients are alike until the optimizer's step.
        enough = self.enough(own) if trains and (self.counted or own) else True
        if trains and self.counted:
            return enough
        if trains or self.is_heavy(turn, last):
            return enough and self.alike >= 1
        fits = any(event.kind == "fit" for event in last)
        return enough and self.alike >= (FITS_ALIKE if fits else MANY_ROUNDS) and (fits or not self.soon_over(left))

    def sets_free(self) -> bool:
        """Whether the last turn has set weights free, or frozen them."""
        return self.loop is not None and self.run.data(TRAINABLE_FLAGS) != self.flags

    def is_told_number(self, turn: Turn, last: Sequence[Event]) -> bool:
        """Whether a model that learns is told the number of the turn, as an argument or attribute, in each so far."""
        now = set(places_of_number(self.run, turn, last)) if turn.number is not None else set()
        self.numbered = now if self.done == 1 else self.numbered & now
        return bool(self.numbered)

    def goes_by_number(self) -> bool:
        """Whether the next turn is gone through because what models are given depends on how many there were."""
        spent = self.steps - self.run.budget.steps
        return self.done < self.by_number and spent < TURN_STEPS

    def steps_of_turn(self) -> int:
        """How many steps a turn takes, as far as they were followed."""
        return (self.steps - self.run.budget.steps) // max(self.done, 1)

    def soon_over(self, left: int | None) -> bool:
        """Whether few turns are left, which take few steps."""
        spent = self.steps - self.run.budget.steps
        return left is not None and left <= MOST_ROLLED and spent * left < FEW_STEPS * max(self.done, 1)

    def is_heavy(self, turn: Turn, last: Sequence[Event]) -> bool:
        """Whether a turn only calls models without a gradient, keeps nothing in a list, and takes long to follow: two
        such rounds suffice. A large model that is evaluated on twenty batches leaves nothing else than one that is
        evaluated on two."""
        only_looks = all(event.kind == "call" and event.call is not None and not event.call.grad for event in last)
        gathers = any(isinstance(container, list) for container, _ in turn.filled.values())
        spent = self.steps - self.run.budget.steps
        return only_looks and not gathers and spent > FEW_STEPS

    def keeps_models(self, turn: Turn, epoch: bool) -> bool:
        """Whether there are more models in a container that the turn has put something into than there ever were, or
        whether the next turns are to tell if there come to be more. In an `epoch`, whose steps are those of a loop
        inside of it, other tensors count as well: those of a step are followed from one to the next."""
        put = models_put_by(self.run, turn, epoch)
        if put <= self.models:
            # What a turn puts in the place of what one before has put is no more.
            self.idle = MOST_IDLE if put else self.idle + 1
            self.periodic = set() if put else self.periodic
            return self.gathered > 0 and self.idle < MOST_IDLE
        self.models, self.idle = put, 0
        self.gathered += 1
        if self.loop is not None:
            self.loop.most_looked_at = MOST_GATHERED
        self.periodic |= {(divisor, rest) for count, divisor, rest in turn.counts if count % divisor == rest}
        return True

    def gathers_on(self) -> bool:
        """A loop that keeps a model of every turn is followed to its end, as far as it may go."""
        self.seen, loop = None, self.loop
        if loop is None or self.run.trace.repeating:
            return True
        loop.gathers = self.gathered > 1 and len(loop.turns) >= MOST_GATHERED
        return len(loop.turns) >= MOST_GATHERED

    def stopped(self) -> None:
        """The turns to come are not followed: where those so far have kept models, one after the other or every so
        many, nobody knows how many the others keep."""
        goes_on = self.gathered > 0 and (bool(self.periodic) or (self.gathered > 1 and self.idle < MOST_IDLE))
        if self.loop is not None and goes_on:
            batches = batches_of(self.run, self.loop)
            self.loop.gathers = batches is None or batches.count != self.done

    def enough(self, own: Sequence[Event]) -> bool:
        """Whether a loop that counts has shown its step: the second one finds in memory what the first has left. One
        whose step is made by a loop inside of it need not be run again for that, and one that gathers gradients goes
        on to its optimizer's step."""
        if not any(event.kind in TRAINING for event in own):
            return True
        if any(event.kind == "step" for event in own):
            self.stepped += 1
            self.since_step = 0
        else:
            self.since_step += 1
        gathered = self.stepped == 1 and len(self.loop.turns if self.loop is not None else ()) > 1
        # Turns of a large model are alike long before there are many, where nothing is gathered in them: the step is
        # made by what is around them, or in a turn that a count leads to.
        turns = self.loop.turns if self.loop is not None else ()
        kept = not turns or gathers(turns[-1])
        long = self.alike > MOST_IDLE and not kept and self.steps_of_turn() > LONG_TURN
        most = MOST_IDLE if long else MANY_ROUNDS
        return self.stepped >= 2 or gathered or self.run.trace.repeating > 0 or self.since_step >= most

    def periods(self, turn: Turn) -> None:
        """Note what is done every so many turns, and whether a turn in which it is done has been seen; and the first
        turns that answer otherwise when they are compared with a number."""
        limits = {first: count for count, first in turn.limits if count != turn.number}
        nearer = [first for first, count in limits.items() if self.limits.get(first, count) < count]
        self.approached.update(nearer)
        self.pace.update((first, limits[first] - self.limits[first]) for first in nearer)
        self.limits = limits
        self.run.trace.approached |= self.approached
        self.changing = {first for count, first in turn.limits if count == turn.number} | self.changing
        hit = {(divisor, rest) for count, divisor, rest in turn.counts if count % divisor == rest}
        late = {(divisor, rest) for _, divisor, rest in turn.counts} & self.awaited - hit
        self.missed = self.missed or bool(late)
        self.seldom = {key: left for key, left in self.seldom.items() if key not in late}
        self.awaited = set()
        for count, divisor, rest in turn.counts:
            key = divisor, rest
            seen = count % divisor == rest or (self.seldom.get(key) == 0 and key not in self.periodic)
            self.seldom[key] = 0 if seen else (rest - count) % divisor

    def soon_otherwise(self) -> bool:
        """Whether a count that comes nearer to a limit from turn to turn reaches it in a few."""
        near = [first - count for first, count in self.limits.items() if first in self.approached or self.done == 1]
        return bool(near) and min(near) + self.done <= MOST_GATHERED and not self.run.trace.repeating

    def counts_on(self) -> bool:
        """Whether in a turn that is not followed one by one a count of the program's own comes to what it was compared
        with, or to the first multiple of what it was divided by, as far as the number of turns is known."""
        loop = self.loop
        if loop is None or self.is_all():
            return False
        all_turns = turns_with(loop)
        for first, pace in self.pace.items():
            count = self.limits.get(first)
            if count is None or all_turns is None or first <= count + pace * (all_turns - self.done):
                return True
        rests = [rest for rest in self.run.trace.rests.values() if rest.number > loop.began]
        return any(rest.is_open and rest.within(all_turns) for rest in rests)

    def may_count(self) -> bool:
        """Whether the next epoch is to tell what the program counts by itself: a number that was compared with a limit
        in the first one, or has come nearer to one, where an epoch takes few steps."""
        few = self.steps - self.run.budget.steps < FEW_STEPS * MANY_ROUNDS
        return few and not self.stepped and self.soon_otherwise()

    def waited(self, items: Iterator[Value]) -> list[int]:
        """In how many turns from here tests of what the loop counts are known to answer otherwise than so far."""
        seldom = [turns for turns in self.seldom.values() if turns]
        return seldom + [turns for first in self.changing if (turns := turns_until(items, self.item, first))]

    def ahead(self, items: Iterator[Value]) -> int:
        """How many turns from here something is done that was in none so far (every fifth turn, from the tenth on): 0
        where there is no such thing."""
        waited = self.waited(items)
        if not waited or self.run.trace.repeating:
            return 0
        if self.missed:
            # The program counts by itself, in the turns that are gone through.
            return int(self.steps - self.run.budget.steps < TURN_STEPS and self.done < LONGEST_PERIOD)
        if self.jumps >= MOST_JUMPS + min(self.gathered, MOST_GATHERED):
            return 0
        turns = min(waited)
        # The next turn is none that is passed over.
        self.jumps += turns > 1 or self.done > MOST_UNFREEZING
        before = self.seldom
        self.seldom = {key: max(left - turns, 0) for key, left in before.items()}
        self.awaited = {key for key, left in before.items() if left and not self.seldom[key]}
        return turns


def turns_with(loop: Loop) -> int | None:
    """How many turns a loop has in all turns of those around it; None where that is not known."""
    found = loop.length
    for turn in around(loop.outer):
        source = turn.loop.sources[0] if turn.loop.sources else None
        if found is None or not isinstance(source, (range, list, tuple)):
            return None
        found *= len(source)
    return found


def made_with_weights(run: Interpreter, before: int) -> bool:
    """Whether a layer with weights was made since there were so many layers. A loss that an epoch makes anew for itself
    is a layer as well, and tells nothing apart."""
    since = (made.instance for made in run.trace.layers.values() if made.number > before)
    return any(weights_of(layer) or not declares_inputs(layer) for layer in since)


def places_of_number(run: Interpreter, turn: Turn, events: Sequence[Event]) -> Iterator[object]:
    """The arguments and attributes by which models that learn are told the number of a turn."""
    for event in events:
        model = event.subject
        if event.call is None or not event.call.grad or not isinstance(model, Instance):
            continue
        given: list[tuple[object, Value]] = [*enumerate(event.call.args), *event.call.kwargs.items()]
        yield from ((model.cls, word) for word, value in given if type(value) is int and value == turn.number)
        for word, value in model.attributes.items():
            if type(value) is int and value == turn.number:
                number, _ = run.trace.filled.get((id(model), word), (-1, None))
                if number > turn.first:
                    yield id(model), word
