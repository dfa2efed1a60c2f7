"""`for`, `while`: loops over what is known, and what is left of those over what is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.budget import LOOP_ROUNDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.statements import BREAK, Returned, compile_block, statement
from flake8_cnnmem.graph import Invocation
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Raised, Value


def compile_orelse(compiler: Compiler, node: cst.Else | None, twins: list[ast.stmt]) -> Code:
    return compile_block(compiler.module, node.body, twins) if node is not None else lambda frame: None


@statement(cst.For)
def for_(compiler: Compiler, node: cst.For, twin: ast.For) -> Code:
    target = compile_target(compiler, node.target)
    source = compiler.expression(node.iter)
    body = compile_block(compiler.module, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)

    def once(unknown: Unknown) -> Code:
        def code(frame: Frame) -> Value:
            target(frame, unknown)
            return body(frame)

        return code

    def loop(frame: Frame) -> Value:
        run = frame.run
        items = run.iterate(source(frame))
        if isinstance(items, Unknown):
            return unknown_loop(frame, items, once(items))
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
        return orelse(frame)

    return loop


@statement(cst.While)
def while_(compiler: Compiler, node: cst.While, twin: ast.While) -> Code:
    test = compiler.expression(node.test)
    body = compile_block(compiler.module, node.body, twin.body)
    orelse = compile_orelse(compiler, node.orelse, twin.orelse)

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
        done = 0
        while True:
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

    return loop


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
    frame.variables.update(frame.breaks.pop())
    return None


def join_breaks(frame: Frame, outer: list[dict[str, Value]]) -> None:
    """Join the variables of every point at which the loop may have been left with those at its end."""
    for variables in frame.breaks:
        for word, value in variables.items():
            now = frame.variables.get(word)
            if now is not value:
                frame.variables[word] = frame.run.join(now, value, None)
    frame.breaks = outer
