"""`for`, `while`: loops over what is known, and what is left of those over what is not.

A training loop does the same in every round. Once a round has been seen that only trains (a loss's backward, an
optimizer's step, calls of models, and no layer made), the rounds after it are taken as a loop of unknown length: its
body is run once more with the loop's variable unknown, and what the two disagree on is unknown from then on.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.budget import LOOP_ROUNDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite
from flake8_cnnmem.evaluate.frame import Breaks, Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.gathering import batches_of, fill_up
from flake8_cnnmem.evaluate.joins import alike
from flake8_cnnmem.evaluate.statements import BREAK, CONTINUE, Returned, compile_block, statement
from flake8_cnnmem.evaluate.trace import Event, Loop, Turn
from flake8_cnnmem.evaluate.training_state import learns, mark_held, models_put_by
from flake8_cnnmem.evaluate.turns import COUNTED, FINITE, is_too_long, may_break, passed_over, turns_of, turns_until
from flake8_cnnmem.graph import Invocation, Tensor
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

FEW_ROUNDS = 2
"""Where so few items of a sequence are left, as of `["train", "val"]`, they are gone through one by one."""

MANY_ROUNDS = 16
"""Rounds that only call models, as a benchmark does, before the rest are taken to be like them. A layer that a model
calls in a loop looks the same from outside, and its calls count."""

HEAVY = 40_000
"""Steps after which two such rounds suffice, where no gradient goes back through them and they fill no list: a large
model that is evaluated on twenty batches leaves nothing else than one that is evaluated on two."""

MOST_ROLLED = 64
"""Rounds that are left of a loop that counts and are gone through all the same, where they take few steps: a rollout
of twenty steps keeps twenty graphs."""

FITS_ALIKE = 2
"""So often a round that trains models by their own `fit` is like the one before it when the rest are taken to be so."""

MOST_GATHERED = 32
"""Turns of a loop that keeps a model of each (snapshots for an ensemble) that are gone through one by one."""

MOST_JUMPS = 2
"""How often turns are passed over for one that does something new."""

TRAINING = ("backward", "step")
"""What a round that trains is known by."""


class Rounds:
    """The turns of one loop, and the point from which they only repeat."""

    __slots__ = (
        "alike", "changing", "counted", "done", "drawn", "item", "jumps", "last", "layers", "loop", "models", "run",
        "seen", "seldom", "since_step", "stepped", "steps", "turn",
    )  # fmt: skip

    def __init__(self, frame: Frame, twin: ast.stmt, counted: bool) -> None:
        run = self.run = frame.run
        self.counted = counted
        self.layers = run.layers_made
        self.steps = run.budget.steps
        self.seen: list[Any] | None = None
        self.alike = 0
        self.stepped = 0
        self.jumps = 0
        self.models = 0
        """How many of them were in containers that the last turn has put something into."""
        self.seldom: dict[int, int] = {}
        """By divisor, how many turns are left until a count has no rest; 0 where such a turn was seen."""
        self.item: Value = None
        """What the loop's variable is given in the turn that is running."""
        self.changing: set[int] = set()
        """The items that are the first for which a test of the loop's variable answers otherwise."""
        self.since_step = 0
        # What a layer does inside is its own affair: the trace is of the program around it.
        self.loop: Loop | None = None
        if run.invocation is None:
            self.loop = run.trace.enter(StatementSite(frame.module.path, twin), run.numbered)
        self.turn: Turn | None = None
        self.last: Turn | None = None
        """The last one that has ended."""
        self.done = 0
        self.drawn = run.trace.so_far(run.numbered)
        """How far the trace was when the turn's item was asked for."""

    def begin(self) -> None:
        """A turn begins. Where its item comes from a generator that calls models, it has begun with that."""
        if self.loop is not None:
            trace = self.run.trace
            trace.skipping = False
            # A number of its own: what is given another value now has outlived the turn before.
            self.turn = trace.begin(self.loop, self.run.next_number())
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
        if len(events) > first and any(event.turn is turn and learns(event) for event in events[first:]):
            mark_held(run, turn)
        run.trace.end(turn, run.numbered)

    def over(self, frame: Frame, count: int | None) -> None:
        """The loop has ended, or goes on as before: so many turns where that is known of itself, unless it is left."""
        loop = self.loop
        if loop is not None and self.last is not None and count is None and not frame.breaks:
            fill_up(self.run, loop, self.last, self.done)
        if loop is None or not loop.turns:
            return
        # What is given another value now has outlived the last turn.
        self.run.next_number()
        if frame.breaks:
            return
        batches = batches_of(self.run, loop) if count is None else None
        loop.length = batches.count if batches is not None else count
        if loop.turns[-1].kept:
            # A last batch that is smaller leaves less.
            loop.count = batches.count if batches is not None and batches.last == batches.size else count

    def left(self) -> None:
        """The loop is left for certain by what its body or its test says."""
        if self.loop is not None and self.done == 1:
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
        if not last or before != self.layers:
            self.seen = None
            return False
        assert turn is not None
        own = [event for event in last if event.turn is turn]
        trains = any(event.kind in TRAINING for event in last)
        if trains and len(own) < len(last) and self.keeps_models(turn):
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

    def soon_over(self, left: int | None) -> bool:
        """Whether few turns are left, which take few steps."""
        spent = self.steps - self.run.budget.steps
        return left is not None and left <= MOST_ROLLED and spent * left < HEAVY * max(self.done, 1)

    def is_heavy(self, turn: Turn, last: Sequence[Event]) -> bool:
        """Whether a turn only calls models without a gradient, keeps nothing in a list, and takes long to follow."""
        only_looks = all(event.kind == "call" and event.call is not None and not event.call.grad for event in last)
        return only_looks and not turn.lengths and self.steps - self.run.budget.steps > HEAVY

    def keeps_models(self, turn: Turn) -> bool:
        """Whether there are more models in a container that the turn has put something into than one turn before."""
        before, self.models = self.models, models_put_by(self.run, turn)
        return self.models > before

    def gathers_on(self) -> bool:
        """A loop that keeps a model of every turn is followed to its end, as far as it may go."""
        self.seen, loop = None, self.loop
        if loop is None or self.run.trace.repeating:
            return True
        loop.gathers = len(loop.turns) >= MOST_GATHERED
        return loop.gathers

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
        return self.stepped >= 2 or gathered or self.run.trace.repeating > 0 or self.since_step >= MANY_ROUNDS

    def periods(self, turn: Turn) -> None:
        """Note what is done every so many turns, and whether a turn in which it is done has been seen; and the first
        turns that answer otherwise when they are compared with a number."""
        self.changing = {first for count, first in turn.limits if count == self.item} | self.changing
        for count, divisor in turn.counts:
            self.seldom[divisor] = 0 if count % divisor == 0 or self.seldom.get(divisor) == 0 else -count % divisor

    def ahead(self, items: Iterator[Value]) -> int:
        """How many turns from here something is done that was in none so far (every fifth turn, from the tenth on): 0
        where there is no such thing."""
        waited = [turns for turns in self.seldom.values() if turns]
        waited += [turns for first in self.changing if (turns := turns_until(items, self.item, first))]
        if not waited or self.run.trace.repeating or self.jumps >= MOST_JUMPS:
            return 0
        self.jumps += 1
        self.seldom = dict.fromkeys(self.seldom, 0)
        return min(waited)


def told_apart_by(event: Any) -> Any:
    """Two events that agree in this are the same step of a loop's round."""
    call = event.call
    if event.kind == "fit":
        given = ((each, shape_of(each)) for each in event.options.values())
        shapes = tuple(repr(each if shape is None or shape == () else shape) for each, shape in given)
    else:
        shapes = () if call is None else tuple(shape_of(each) for each in (*call.args, *call.kwargs.values()))
    return event.kind, id(event.subject) if isinstance(event.subject, Instance) else None, shapes


def shape_of(value: Value) -> Any:
    """The shape of a tensor, or those in a tuple or list; None of anything else."""
    return getattr(value, "shape", None) if not isinstance(value, (tuple, list)) else tuple(map(shape_of, value))


def compile_orelse(compiler: Compiler, node: cst.Else | None, twins: list[ast.stmt]) -> Code:
    """Code for the `else` of a loop; nothing where it has none."""
    return compile_block(compiler.path, node.body, twins) if node is not None else lambda frame: None


@statement(cst.For)
def for_(compiler: Compiler, node: cst.For, twin: ast.For) -> Code:
    """Code for a `for`: each item in turn, or once for all where their number is not known."""
    target = compile_target(compiler, node.target)
    source = compiler.expression(node.iter)
    body = compile_block(compiler.path, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)

    def once(item: Value) -> Code:
        def code(frame: Frame) -> Value:
            target(frame, item)
            return body(frame)

        return code

    def loop(frame: Frame) -> Value:
        run = frame.run
        value = source(frame)
        items = run.iterate(value)
        if isinstance(items, Unknown):
            item = run.sample(value)
            return unknown_loop(frame, items, once(items if item is MISSING else item), twin)
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        turn = run.trace.turn
        try:
            signal = rounds(frame, items)
        except Raised:
            signal = left_before(frame, depth, invocation)
        finally:
            run.trace.leave(turn, run.numbered)
            run.trace.skipping = False
        if signal is not None:
            frame.breaks = outer_breaks
            return signal
        join_breaks(frame, outer_breaks)
        return None

    def rounds(frame: Frame, items: Iterator[Value]) -> Value:
        run = frame.run
        watched = Rounds(frame, twin, isinstance(items, COUNTED))
        turns = turns_of(items) if isinstance(items, FINITE) else None
        done = 0
        before, made = run.budget.steps, run.layers_made
        for item in items:
            run.spend(1)
            done += 1
            many = done % MANY_ROUNDS == 0 and is_too_long(before, run.budget.steps, done, items)
            if many and run.layers_made == made:
                # One that makes layers is gone through: how many there are is what is asked.
                return rest_of_many(frame, items, item)
            if done > LOOP_ROUNDS:
                raise Exhausted("a loop runs for too long to be followed")
            watched.item = item
            watched.begin()
            target(frame, item)
            signal = body(frame)
            watched.end(signal is CONTINUE)
            if signal is not None:
                if signal is BREAK or isinstance(signal, Returned):
                    watched.left()
                    return signal if isinstance(signal, Returned) else None
            if (
                watched.repeat(turns_of(items) if turns is not None else None)
                and not 0 < operator.length_hint(items) <= FEW_ROUNDS
            ):
                if passed_over(run, items, watched.ahead(items)):
                    continue
                watched.over(frame, turns)
                is_all = watched.loop is not None and watched.loop.length == done
                return orelse(frame) if is_all else rest(frame, items)
        watched.over(frame, turns)
        return orelse(frame)

    def rest_of_many(frame: Frame, items: Iterator[Value], item: Value) -> Value:
        """The rounds from here on are not gone through one by one: their body is run for any of them. What it changes
        may change more in the next one."""
        cause = frame.run.unknown("which round of a long loop it is is not known")
        if type(item) is int and isinstance(items, COUNTED):
            cause = cause.as_number("int")
        for _ in range(2):
            signal = unknown_loop(frame, cause, once(cause), twin, True)
            if signal is not None:
                return signal
        return orelse(frame)

    def rest(frame: Frame, items: Iterator[Value]) -> Value:
        if next(items, MISSING) is not MISSING:
            cause = frame.run.unknown("which round of a training loop it is is not known")
            return unknown_loop(frame, cause, once(cause), twin, True)
        return orelse(frame)

    return loop


@statement(cst.While)
def while_(compiler: Compiler, node: cst.While, twin: ast.While) -> Code:
    """Code for a `while`: until its test is false, or both ways where that is not known."""
    test = compiler.expression(node.test)
    body = compile_block(compiler.path, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)
    endless = isinstance(twin.test, ast.Constant) and bool(twin.test.value)
    returns_only = endless and not any(map(may_break, twin.body))

    def loop(frame: Frame) -> Value:
        run = frame.run
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        turn = run.trace.turn
        try:
            signal = rounds(frame)
        except Raised:
            signal = left_before(frame, depth, invocation)
        finally:
            run.trace.leave(turn, run.numbered)
        join_breaks(frame, outer_breaks)
        return signal

    def rounds(frame: Frame) -> Value:
        run = frame.run
        watched = Rounds(frame, twin, counted=True)
        done = 0
        before: dict[str, Value] = {}
        while True:
            exits = len(frame.pending), len(frame.breaks)
            truth = run.truth(test(frame))
            if isinstance(truth, Unknown):
                return unknown_loop(frame, truth, body, twin, watched.stepped > 0)
            if not truth:
                watched.left()
                return orelse(frame)
            run.spend(1)
            done += 1
            if done > LOOP_ROUNDS:
                raise Exhausted("a loop runs for too long to be followed")
            watched.begin()
            signal = body(frame)
            watched.end()
            if signal is BREAK or isinstance(signal, Returned):
                watched.left()
                return signal if isinstance(signal, Returned) else None
            if watched.repeat():
                cause = run.unknown("how long a training loop goes on is not known")
                return unknown_loop(frame, cause, body, twin, True)
            if endless and exits != (len(frame.pending), len(frame.breaks)):
                run.spend(len(frame.variables))
                # It may have been left, and goes round as before: what it draws is tried until it is taken.
                if same_state(before, frame.variables):
                    return Returned(frame.pending.pop()[0]) if returns_only and frame.pending else None
                before = frame.variables.copy()

    return loop


def same_state(before: dict[str, Value], after: dict[str, Value]) -> bool:
    """Whether a round has left the variables as the round before has: what is not known is not known again, and a
    tensor is as large as it was."""
    return before.keys() == after.keys() and all(same_value(before[word], now) for word, now in after.items())


def same_value(before: Value, now: Value) -> bool:
    """Whether a name holds after a turn what it held before, as far as the next turn can see."""
    if before is now or (isinstance(before, Unknown) and isinstance(now, Unknown)):
        return True
    if isinstance(before, Tensor) and isinstance(now, Tensor):
        return bool(before.shape == now.shape and before.dtype == now.dtype)
    return alike(before, now, FEW_ROUNDS)


def unknown_loop(frame: Frame, cause: Unknown, body: Code, twin: ast.stmt, again: bool = False) -> Value:
    """A loop of unknown length: its body is run once, as a branch that may not be taken. With `again` it was run
    before, and this is a turn that stands for all others."""
    trace = frame.run.trace

    def guarded(frame: Frame) -> Value:
        watched = Rounds(frame, twin, False)
        if watched.loop is not None:
            watched.loop.open = cause
        watched.begin()
        signal = body(frame)
        watched.end()
        return signal if isinstance(signal, Returned) else None

    turn = trace.turn
    trace.repeating += again
    try:
        return frame.run.branch(cause, frame, guarded, lambda frame: None, again)
    finally:
        trace.repeating -= again
        trace.leave(turn, frame.run.numbered)


def left_before(frame: Frame, depth: int, invocation: Invocation | None) -> Value:
    """The loop raises, but it may have been left before: as on a branch whose one side raises, that is taken."""
    if not frame.breaks:
        raise
    run = frame.run
    run.budget.depth, run.invocation, run.frame = depth, invocation, frame
    run.changed(frame.variables)
    frame.variables.update(frame.breaks.pop()[0])
    return None


def join_breaks(frame: Frame, outer: Breaks) -> None:
    """Join the variables of every point at which the loop may have been left with those at its end."""
    for variables, cause, number in reversed(frame.breaks):
        frame.run.doubt_calls(number)
        for word, earlier in variables.items():
            now = frame.variables.get(word)
            if now is not earlier:
                frame.variables[word] = frame.run.join(earlier, now, cause)
    frame.breaks = outer
