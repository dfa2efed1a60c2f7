"""Tests of what a program counts by itself (`if step % 100 == 0`, `if not self.step % every`).

Few turns of a training loop are followed, and one that stands for all others. What is done every so many of them, by a
count that goes from loop to loop, is in that turn done perhaps, unless one that was followed has done it.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.counted_rests import CountedRest
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.loop_turns import around
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.values import Value


def tested(compiler: Compiler, node: cst.BaseExpression, wanted: cst.BaseExpression | None) -> Code:
    """Code for what a test asks about: where that is the rest of a division, it may be that of a count. `wanted` is
    what it is compared with."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Modulo):
        return compiler.expression(node)
    left, right = compiler.expression(node.left), compiler.expression(node.right)
    other = compiler.expression(wanted) if isinstance(wanted, (cst.BinaryOperation, cst.Integer, cst.Name)) else None

    def code(frame: Frame) -> Value:
        count, divisor = left(frame), right(frame)
        rest = frame.run.operate("%", count, divisor)
        if frame.run.trace.turn is not None:
            frame.run.trace.turn.counted_off(count, divisor, 0 if other is None else other(frame), is_test=True)
        if (
            type(count) is int
            and type(divisor) is int
            and divisor
            and frame.run.invocation is None
            and is_open(frame, node, count, divisor)
        ):
            return frame.run.unknown("how far a loop has counted is not known").as_number("int")
        return rest

    return code


def is_open(frame: Frame, node: cst.CSTNode, count: int, divisor: int) -> bool:
    """Whether a test of a count may answer otherwise in one of the turns that the one that is running stands for: the
    count was another one in a turn before, and none was without rest."""
    trace = frame.run.trace
    if trace.turn is None:
        return False
    known = trace.rests.get(node)
    if trace.repeating:
        return known is not None and known.is_open
    if known is None:
        known = trace.rests[node] = CountedRest(count, count, divisor)
    known.last, known.divisor = count, divisor
    known.asked += 1
    known.moves = known.moves or count != known.first or any(turn.number == count for turn in around(trace.turn))
    known.whole = known.whole or count % divisor == 0
    known.number = frame.run.numbered
    return False
