"""`for`, `while`: loops over what is known, and what is left of those over what is not.

A training loop does the same in every round. Once a round has been seen that only trains (a loss's backward, an
optimizer's step, calls of models, and no layer made), the rounds after it are taken as a loop of unknown length: its
body is run once more with the loop's variable unknown, and what the two disagree on is unknown from then on.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator

from flake8_cnnmem.evaluate.alternatives import item_of_one
from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.blocks import compile_block, statement
from flake8_cnnmem.evaluate.budget import LOOP_ROUNDS, Exhausted
from flake8_cnnmem.evaluate.by_number import MOST_BY_NUMBER, OnTrial, depends, numbers_left, with_numbers
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.drawn_ahead import goes_on, one_by_one, passed
from flake8_cnnmem.evaluate.frame import Breaks, Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.gathering import fill_up_counted, gathered_by
from flake8_cnnmem.evaluate.growing import note_gathered, note_growing, note_growing_ops
from flake8_cnnmem.evaluate.iteration import size_of
from flake8_cnnmem.evaluate.joins import alike
from flake8_cnnmem.evaluate.lengths import appended_once, filled_up, one_for_each
from flake8_cnnmem.evaluate.loop_turns import Loop
from flake8_cnnmem.evaluate.rounds import MANY_ROUNDS, MOST_GATHERED, Rounds
from flake8_cnnmem.evaluate.signals import BREAK, CONTINUE, UNDONE, Returned
from flake8_cnnmem.evaluate.training_notes import note_perhaps_held
from flake8_cnnmem.evaluate.turns import (
    COUNTED,
    FINITE,
    differ,
    is_of_a_stream,
    is_too_long,
    may_break,
    passed_over,
    turns_of,
)
from flake8_cnnmem.graph import Invocation, Tensor
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Raised, Value

MOST_EXITS = 64
"""So often a loop may be left, for all that is known, before its further turns are taken for one."""

FEW_ROUNDS = 2
"""Where so few items of a sequence are left, as of `["train", "val"]`, they are gone through one by one."""


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
    gathers = appended_once(twin.body)

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
            if item is MISSING:
                item = item_of_one(run, items) if items.among else items
            with one_for_each(run, value, [frame.variables.get(word) for word in gathers]):
                return any_number(frame, items, once(item))
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        turn = run.trace.turn
        parted = len(frame.parted or ())
        watched = Rounds(frame, twin, isinstance(items, COUNTED))
        watched.goes_through(value, items)
        try:
            signal = rounds(frame, value, items, watched)
        except Raised:
            signal = left_before(frame, depth, invocation)
        except Exhausted:
            run.trace.cut(turn)
            raise
        finally:
            watched.goes_through()
            run.trace.leave(turn, run.numbered)
            run.trace.skipping = False
            run.meet(frame, parted, (BREAK, CONTINUE))
        if signal is not None:
            frame.breaks = outer_breaks
            return signal
        join_breaks(frame, outer_breaks)
        return None

    def any_number(frame: Frame, cause: Unknown, body: Code) -> Value:
        """The loop over nobody knows how many items, and its `else` unless it is left before."""
        outer_breaks, frame.breaks = frame.breaks, []
        signal = unknown_loop(frame, cause, body, twin)
        if signal is None and node.orelse is not None:
            left = frame.breaks[-1][1] if frame.breaks else None
            signal = orelse(frame) if left is None else frame.run.branch(left, frame, orelse, lambda frame: None)
        join_breaks(frame, outer_breaks)
        return signal

    def rounds(frame: Frame, value: Value, items: Iterator[Value], watched: Rounds) -> Value:
        run = frame.run
        size = size_of(value)
        turns = turns_of(items) if isinstance(items, FINITE) else None
        done = 0
        before, made = run.budget.steps, run.layers_made
        items = one_by_one(run, items)
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
            parted = len(frame.parted or ())
            signal = body(frame)
            if frame.parted:
                run.meet(frame, parted, (CONTINUE,))
            watched.end(signal is CONTINUE)
            if signal is not None:
                if signal is BREAK or isinstance(signal, Returned):
                    watched.left()
                    return signal if isinstance(signal, Returned) else None
            if size >= 0 and size_of(value) != size and not frame.module.source.floors:
                raise run.error("RuntimeError", f"{run.type_name(value)} changed size during iteration")
            if (
                watched.repeat(turns_of(items) if turns is not None else None)
                and not 0 < operator.length_hint(items) <= FEW_ROUNDS
                and (done > MOST_GATHERED or not (differ(items) or watched.may_count()))
            ):
                if passed_over(run, items, watched.ahead(items)) or goes_on(run, items, watched.since_step > 0):
                    continue
                watched.stopped()
                watched.over(frame, turns)
                return orelse(frame) if watched.is_all() else rest(frame, items, watched, turns)
        if is_of_a_stream(items):
            watched.stopped()
        watched.over(frame, turns)
        return counted_on(frame, items, watched)

    def counted_on(frame: Frame, items: Iterator[Value], watched: Rounds) -> Value:
        """No item is left. Of data of which one item stands for all, a later turn may find a count at its limit."""
        if is_of_a_stream(items) and watched.item is not None and watched.counts_on():
            cause = frame.run.unknown("which round of a training loop it is is not known")
            signal = unknown_loop(frame, cause, once(watched.item), twin, True, watched.loop)
            if signal is not None:
                return signal
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

    def rest(frame: Frame, items: Iterator[Value], watched: Rounds, turns: int | None) -> Value:
        settled = not watched.waited(items)
        item = next(items, MISSING)
        if item is MISSING and not passed(items):
            return counted_on(frame, items, watched)
        trace = frame.run.trace
        left = numbers_left(item, items)
        cause = frame.run.unknown("which round of a training loop it is is not known")
        if type(item) is int:
            cause = cause.as_number("int")
        trace.settled += settled
        trial = OnTrial(frame.run) if left is not None else None
        gathered = gathered_by(frame.run, watched.last) if left is not None else []
        try:
            signal = unknown_loop(frame, cause, once(cause), twin, True, watched.loop, trial is not None)
        finally:
            trace.settled -= settled
        if signal is not UNDONE or trial is None or left is None:
            if signal is None and left is not None:
                if gathered and watched.last is not None:
                    note_gathered(frame.run, watched.last)
                fill_up_counted(frame.run, gathered, len(left))
            return signal
        trial.take_back()
        chosen = with_numbers(left, watched.steps_of_turn())
        for number in chosen:
            watched.item = number
            watched.begin()
            target(frame, number)
            signal = body(frame)
            watched.end(signal is CONTINUE)
            if signal is BREAK or isinstance(signal, Returned):
                watched.left()
                return signal if isinstance(signal, Returned) else None
        watched.over(frame, turns)
        if len(chosen) == len(left):
            return orelse(frame)
        return unknown_loop(frame, cause, once(cause), twin, True, watched.loop)

    return loop


def filling(compiler: Compiler, node: cst.While) -> Callable[[Frame], bool] | None:
    """Code for `while len(ids) < 64: ids.append(0)` as a whole, which says whether it has run; None for other loops."""
    test, body = node.test, node.body.body
    statement = body[0] if len(body) == 1 else None
    small = statement.body if isinstance(statement, cst.SimpleStatementLine) else body
    call = small[0].value if len(small) == 1 and isinstance(small[0], cst.Expr) else None
    if not (
        isinstance(test, cst.Comparison)
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, (cst.LessThan, cst.NotEqual))
        and isinstance(test.left, cst.Call)
        and isinstance(test.left.func, cst.Name)
        and test.left.func.value == "len"
        and len(test.left.args) == 1
        and isinstance(call, cst.Call)
        and isinstance(call.func, cst.Attribute)
        and call.func.attr.value == "append"
        and len(call.args) == 1
        and call.func.value.deep_equals(test.left.args[0].value)
        and isinstance(call.func.value, cst.Name)
    ):
        return None
    held, item = compiler.expression(call.func.value), compiler.expression(call.args[0].value)
    limit = compiler.expression(test.comparisons[0].comparator)
    return lambda frame: filled_up(frame.run, held(frame), lambda: item(frame), lambda: limit(frame))


@statement(cst.While)
def while_(compiler: Compiler, node: cst.While, twin: ast.While) -> Code:
    """Code for a `while`: until its test is false, or both ways where that is not known."""
    test = compiler.expression(node.test)
    body = compile_block(compiler.path, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)
    endless = isinstance(twin.test, ast.Constant) and bool(twin.test.value)
    returns_only = endless and not any(map(may_break, twin.body))
    fills = filling(compiler, node)

    def loop(frame: Frame) -> Value:
        run = frame.run
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        turn = run.trace.turn
        parted = len(frame.parted or ())
        try:
            signal = rounds(frame)
        except Raised:
            signal = left_before(frame, depth, invocation)
        except Exhausted:
            run.trace.cut(turn)
            raise
        finally:
            run.trace.leave(turn, run.numbered)
            run.meet(frame, parted, (BREAK, CONTINUE))
        join_breaks(frame, outer_breaks)
        return signal

    def rounds(frame: Frame) -> Value:
        run = frame.run
        if fills is not None and fills(frame):
            return orelse(frame)
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
            parted = len(frame.parted or ())
            signal = body(frame)
            if frame.parted:
                run.meet(frame, parted, (CONTINUE,))
            watched.end()
            if signal is BREAK or isinstance(signal, Returned):
                watched.left()
                return signal if isinstance(signal, Returned) else None
            if len(frame.breaks) > MOST_EXITS and endless:
                return unknown_loop(frame, frame.breaks[-1][1], body, twin, True)
            if watched.goes_by_number():
                continue
            if watched.repeat() and not watched.soon_otherwise():
                trial = OnTrial(run) if not watched.by_number else None
                cause = run.unknown("how long a training loop goes on is not known")
                signal = unknown_loop(frame, cause, body, twin, True, watched.loop, trial is not None)
                if signal is UNDONE and trial is not None:
                    trial.take_back()
                    watched.by_number = MOST_BY_NUMBER
                    continue
                watched.stopped()
                return signal
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


def unknown_loop(
    frame: Frame,
    cause: Unknown,
    body: Code,
    twin: ast.stmt,
    again: bool = False,
    followed: Loop | None = None,
    on_trial: bool = False,
) -> Value:
    """A loop of unknown length: its body is run once, as a branch that may not be taken. With `again` it was run
    before, and this is a turn that stands for all others: those behind the ones of `followed`. `on_trial` it is UNDONE
    where what it does depends on the number of the turn."""
    trace = frame.run.trace

    def guarded(frame: Frame) -> Value:
        watched = Rounds(frame, twin, False)
        if watched.loop is not None:
            watched.loop.open, watched.loop.follows = cause, followed
            watched.loop.counted = followed is not None and followed.counted
        watched.begin()
        signal = body(frame)
        watched.end()
        if again and signal is None and watched.sets_free():
            # What is let go at the end of a turn trains in the next one.
            watched.begin()
            signal = body(frame)
            watched.end()
        if followed is not None and watched.loop is not None:
            if on_trial and depends(frame.run, followed, watched.loop):
                return UNDONE
            note_growing(frame.run, followed, watched.loop)
            note_growing_ops(frame.run, followed, watched.loop)
            note_perhaps_held(frame.run, watched.loop)
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
