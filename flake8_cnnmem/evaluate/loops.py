"""`for`, `while`: loops over what is known, and what is left of those over what is not.

A training loop does the same in every round. Once a round has been seen that only trains (a loss's backward, an
optimizer's step, calls of models, and no layer made), the rounds after it are taken as a loop of unknown length: its
body is run once more with the loop's variable unknown, and what the two disagree on is unknown from then on.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.branches import alike
from flake8_cnnmem.evaluate.budget import LOOP_ROUNDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Breaks, Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.statements import BREAK, Returned, compile_block, statement
from flake8_cnnmem.graph import Invocation
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

FEW_ROUNDS = 2
"""Where so few items of a sequence are left, as of `["train", "val"]`, they are gone through one by one."""

MANY_ROUNDS = 16
"""Rounds that only call models, as a benchmark does, before the rest are taken to be like them. A layer that a model
calls in a loop looks the same from outside, and its calls count."""

COUNTED = (type(iter(range(0))), type(iter(range(10**30))))
"""Iterators over numbers that only count: every round after the first is like it."""

TRAINING = ("backward", "step")
"""What a round that trains is known by."""


class Rounds:
    """Watches the rounds of one loop for the point from which they only repeat."""

    __slots__ = ("alike", "counted", "events", "layers", "run", "seen")

    def __init__(self, run: Interpreter, counted: bool) -> None:
        self.run = run
        self.counted = counted
        self.events = len(run.watch.events)
        self.layers = run.layers_made
        self.seen: list[Any] | None = None
        self.alike = 0

    def repeat(self) -> bool:
        """Whether the round that has just ended stands for those to come."""
        run = self.run
        started, self.events = self.events, len(run.watch.events)
        before, self.layers = self.layers, run.layers_made
        if started == self.events or before != self.layers:
            self.seen = None
            return False
        new = run.watch.events[started:]
        trains = any(event.kind in TRAINING for event in new)
        if trains and self.counted:
            return True
        seen, self.seen = self.seen, [told_apart_by(event) for event in new]
        self.alike = self.alike + 1 if seen == self.seen else 0
        return self.alike >= (1 if trains else MANY_ROUNDS)


def told_apart_by(event: Any) -> Any:
    """Two events that agree in this are the same step of a loop's round."""
    call = event.call
    shapes = () if call is None else tuple(shape_of(each) for each in (*call.args, *call.kwargs.values()))
    return event.kind, id(event.subject) if isinstance(event.subject, Instance) else None, shapes


def shape_of(value: Value) -> Any:
    return getattr(value, "shape", None) if not isinstance(value, (tuple, list)) else tuple(map(shape_of, value))


def compile_orelse(compiler: Compiler, node: cst.Else | None, twins: list[ast.stmt]) -> Code:
    return compile_block(compiler.path, node.body, twins) if node is not None else lambda frame: None


@statement(cst.For)
def for_(compiler: Compiler, node: cst.For, twin: ast.For) -> Code:
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
            return unknown_loop(frame, items, once(items if item is MISSING else item))
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        try:
            signal = rounds(frame, items)
        except Raised:
            signal = left_before(frame, depth, invocation)
        if signal is not None:
            frame.breaks = outer_breaks
            return signal
        join_breaks(frame, outer_breaks)
        return None

    def rounds(frame: Frame, items: Iterator[Value]) -> Value:
        run = frame.run
        watched = Rounds(run, isinstance(items, COUNTED))
        for done, item in enumerate(items):
            run.spend(1)
            if done >= LOOP_ROUNDS:
                raise Exhausted("a loop runs for too long to be followed")
            target(frame, item)
            signal = body(frame)
            if signal is not None:
                if signal is BREAK:
                    return None
                if isinstance(signal, Returned):
                    return signal
            if watched.repeat() and not 0 < operator.length_hint(items) <= FEW_ROUNDS:
                return rest(frame, items)
        return orelse(frame)

    def rest(frame: Frame, items: Iterator[Value]) -> Value:
        if next(items, MISSING) is not MISSING:
            cause = frame.run.unknown("which round of a training loop it is is not known")
            return unknown_loop(frame, cause, once(cause))
        return orelse(frame)

    return loop


@statement(cst.While)
def while_(compiler: Compiler, node: cst.While, twin: ast.While) -> Code:
    test = compiler.expression(node.test)
    body = compile_block(compiler.path, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)
    endless = isinstance(twin.test, ast.Constant) and bool(twin.test.value)
    returns_only = endless and not any(map(may_break, twin.body))

    def loop(frame: Frame) -> Value:
        run = frame.run
        outer_breaks, frame.breaks = frame.breaks, []
        depth, invocation = run.budget.depth, run.invocation
        try:
            signal = rounds(frame)
        except Raised:
            signal = left_before(frame, depth, invocation)
        join_breaks(frame, outer_breaks)
        return signal

    def rounds(frame: Frame) -> Value:
        run = frame.run
        watched = Rounds(run, counted=True)
        done = 0
        before: dict[str, Value] = {}
        while True:
            exits = len(frame.pending), len(frame.breaks)
            truth = run.truth(test(frame))
            if isinstance(truth, Unknown):
                return unknown_loop(frame, truth, body)
            if not truth:
                return orelse(frame)
            run.spend(1)
            done += 1
            if done > LOOP_ROUNDS:
                raise Exhausted("a loop runs for too long to be followed")
            signal = body(frame)
            if signal is BREAK:
                return None
            if isinstance(signal, Returned):
                return signal
            if watched.repeat():
                cause = run.unknown("how long a training loop goes on is not known")
                return unknown_loop(frame, cause, body)
            if endless and exits != (len(frame.pending), len(frame.breaks)):
                # It may have been left, and goes round as before: what it draws is tried until it is taken.
                if same_state(before, frame.variables):
                    return Returned(frame.pending.pop()[0]) if returns_only and frame.pending else None
                before = frame.variables.copy()

    return loop


def may_break(statement: ast.AST) -> bool:
    """Whether a statement of a loop's body may leave that loop by `break`."""
    if isinstance(statement, ast.Break):
        return True
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        return any(map(may_break, statement.orelse))
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    inner = ast.iter_child_nodes(statement)
    return any(may_break(each) for each in inner if isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)))


def same_state(before: dict[str, Value], after: dict[str, Value]) -> bool:
    """Whether a round has left the variables as the round before has: what is not known is not known again."""
    return before.keys() == after.keys() and all(
        (isinstance(now, Unknown) and isinstance(before[word], Unknown)) or alike(before[word], now, FEW_ROUNDS)
        for word, now in after.items()
    )


def unknown_loop(frame: Frame, cause: Unknown, body: Code) -> Value:
    """A loop of unknown length: its body is run once, as a branch that may not be taken."""

    def guarded(frame: Frame) -> Value:
        signal = body(frame)
        return signal if isinstance(signal, Returned) else None

    return frame.run.branch(cause, frame, guarded, lambda frame: None)


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
