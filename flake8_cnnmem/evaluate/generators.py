"""Generator functions: their bodies run up to the next `yield` when a value is asked for, as Python's do.

A statement that holds a `yield` becomes a generator of ours, which yields what the statement yields and returns its
signal. A `yield` in a place that cannot be left and entered again (inside a larger expression, on a branch whose
test is unknown) runs its statement ahead: all that it yields is noted first and handed out then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, cast

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.blocks import compile_statement, pair
from flake8_cnnmem.evaluate.budget import DEPTH, LOOP_ROUNDS, YIELDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite, constant
from flake8_cnnmem.evaluate.contexts import enter_all, guarded_by, guarding, leave_contexts
from flake8_cnnmem.evaluate.exceptions import catches
from flake8_cnnmem.evaluate.frame import Breaks, Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.loops import join_breaks
from flake8_cnnmem.evaluate.signals import BREAK, Returned, Signal
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.text.deferred_bodies import yields
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

Run = Generator[Value, Value, "Value | None"]
Steps = Callable[[Frame], Run]
"""Like `Code`, but yields what the code yields, and returns the signal that ends the block (or the value)."""


class GeneratorFull(Leaving):
    """A statement that is run ahead has yielded as much as anybody will look at."""


def generate(run: Interpreter, function: Function, frame: Frame) -> Run:
    """What a call of a generator function gives."""
    # The body of a generator function is compiled to what makes its steps.
    steps = cast("Run", function.body()(frame))
    sent: Value = None
    thrown: Raised | None = None
    for _ in range(YIELDS):
        budget = run.budget
        depth, saved = budget.depth, (run.frame, run.site, run.invocation)
        if depth > DEPTH:
            raise Exhausted("calls are nested too deeply to be followed")
        budget.depth = frame.depth = depth + 1
        run.frame = frame
        try:
            value = steps.send(sent) if thrown is None else steps.throw(thrown)
        except StopIteration as end:
            return end.value.value if isinstance(end.value, Returned) else None
        except Raised as raised:
            if raised.value.cls.name == "StopIteration":
                raise run.error("RuntimeError", "generator raised StopIteration") from None
            raise
        finally:
            budget.depth = depth
            run.frame, run.site, run.invocation = saved
        try:
            sent, thrown = (yield value), None
        except Raised as raised:
            sent, thrown = None, raised
    raise Exhausted("a generator runs for too long to be followed")


def compile_steps(path: str, node: Any, twins: list[ast.stmt]) -> Steps:
    """A block of a generator function."""
    body = node.body if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) else [node]
    parts = [statement_steps(path, each, twin) for each, twin in pair(body, twins)]

    def block(frame: Frame) -> Run:
        for steps, code in parts:
            signal = code(frame) if steps is None else (yield from steps(frame))
            if signal is not None:
                return signal
        return None

    return block


def statement_steps(path: str, node: Any, twin: ast.stmt) -> tuple[Steps | None, Code]:
    """The steps of a statement that yields, and its plain code."""
    code = compile_statement(path, node, twin)
    if not yields([twin]):
        return None, code
    rule = RULES.get(type(node))
    inner = rule(path, node, twin, code) if rule is not None else None
    site, line = StatementSite(path, twin), twin.lineno

    def steps(frame: Frame) -> Run:
        run = frame.run
        frame.line, run.frame, run.site = line, frame, site
        run.spend(1)
        if inner is None:
            return (yield from ahead(frame, lambda: code(frame)))
        return (yield from inner(frame))

    return steps, code


def ahead(frame: Frame, code: Callable[[], Value]) -> Run:
    """Run code to its end, then hand out what it has yielded."""
    outer, frame.yielded = frame.yielded, []
    signal: Value = None
    endless = False
    try:
        signal = code()
    except GeneratorFull:
        endless = True
    found, frame.yielded = frame.yielded, outer
    yield from found
    if endless:
        raise Exhausted("a generator runs for too long to be followed")
    return signal


# Simple statements


def compile_yield(compiler: Compiler, node: cst.Yield) -> Steps:
    """`yield value` and `yield from source` that stand by themselves; the value that they give is returned."""
    if isinstance(node.value, cst.From):
        source = compiler.expression(node.value.item)

        def delegate(frame: Frame) -> Run:
            value = source(frame)
            items = value if isinstance(value, Generator) else frame.run.iterate(value)
            if isinstance(items, Unknown):
                yield items
                return items
            return (yield from items)

        return delegate
    item = compiler.expression(node.value) if node.value is not None else constant(None)

    def step(frame: Frame) -> Run:
        return (yield item(frame))

    return step


def plain_yield(node: Any, twin: Any) -> bool:
    """Whether a node is a `yield` whose value holds no other one."""
    return isinstance(node, cst.Yield) and not yields(list(ast.iter_child_nodes(twin.value)))


def expression_steps(path: str, node: cst.Expr, twin: ast.Expr, whole: Code) -> Steps | None:
    """The steps of `yield value` as a statement; None where it is more than that."""
    if not isinstance(node.value, cst.Yield) or not plain_yield(node.value, twin):
        return None
    step = compile_yield(Compiler(path, twin), node.value)

    def steps(frame: Frame) -> Run:
        yield from step(frame)
        return None

    return steps


def assign_steps(path: str, node: cst.Assign, twin: ast.Assign, whole: Code) -> Steps | None:
    """The steps of `name = yield value`; None where it is more than that."""
    if not isinstance(node.value, cst.Yield) or not plain_yield(node.value, twin):
        return None
    compiler = Compiler(path, twin)
    stores = [compile_target(compiler, target.target) for target in node.targets]
    step = compile_yield(compiler, node.value)

    def steps(frame: Frame) -> Run:
        value = yield from step(frame)
        for store in stores:
            store(frame, value)
        return None

    return steps


def return_steps(path: str, node: cst.Return, twin: ast.Return, whole: Code) -> Steps | None:
    """The steps of `return (yield value)`; None where it is more than that."""
    if not isinstance(node.value, cst.Yield) or not plain_yield(node.value, twin):
        return None
    step = compile_yield(Compiler(path, twin), node.value)

    def steps(frame: Frame) -> Run:
        return Returned((yield from step(frame)))

    return steps


# Blocks


def if_steps(path: str, node: cst.If, twin: ast.If, whole: Code) -> Steps | None:
    """The steps of an `if` whose body yields; None where its test does."""
    parts = test_and_blocks(path, node, twin)
    if parts is None:
        return None
    test, body, orelse = parts

    def steps(frame: Frame) -> Run:
        truth = frame.run.truth(test(frame))
        if isinstance(truth, Unknown):
            return (yield from ahead(frame, lambda: whole(frame)))
        return (yield from (body if truth else orelse)(frame))

    return steps


def test_and_blocks(path: str, node: cst.If | cst.While, twin: ast.If | ast.While) -> tuple[Code, Steps, Steps] | None:
    """The test of an `if` or `while`, its body and its `else`; None where the test yields."""
    if yields([twin.test]):
        return None
    test = Compiler(path, twin).expression(node.test)
    return test, compile_steps(path, node.body, twin.body), else_steps(path, node.orelse, twin.orelse)


def else_steps(path: str, node: Any, twins: list[ast.stmt]) -> Steps:
    """The steps of an `else` or `elif`; none where there is neither."""
    if node is None:
        return nothing
    return compile_steps(path, node if isinstance(node, cst.If) else node.body, twins)


def nothing(frame: Frame) -> Run:
    """Steps that do nothing."""
    yield from ()
    return None


def for_steps(path: str, node: cst.For, twin: ast.For, whole: Code) -> Steps | None:
    """The steps of a `for` whose body yields; None where it is asynchronous, or what it goes through yields."""
    if yields([twin.iter, twin.target]) or node.asynchronous is not None:
        return None
    compiler = Compiler(path, twin)
    target = compile_target(compiler, node.target)
    source = compiler.expression(node.iter)
    body = compile_steps(path, node.body, twin.body)
    orelse = else_steps(path, node.orelse, twin.orelse)

    def steps(frame: Frame) -> Run:
        run = frame.run
        items: Iterator[Value] | Unknown = run.iterate(source(frame))
        if isinstance(items, Unknown):
            return (yield from ahead(frame, lambda: whole(frame)))
        outer, frame.breaks = frame.breaks, []
        signal: Value = None
        for rounds, item in enumerate(items):
            check_rounds(run, rounds)
            target(frame, item)
            signal = yield from body(frame)
            if signal is BREAK or isinstance(signal, Returned):
                break
        else:
            signal = yield from orelse(frame)
        return leave_loop(frame, outer, signal)

    return steps


def while_steps(path: str, node: cst.While, twin: ast.While, whole: Code) -> Steps | None:
    """The steps of a `while` whose body yields; None where its test does."""
    parts = test_and_blocks(path, node, twin)
    if parts is None:
        return None
    test, body, orelse = parts

    def steps(frame: Frame) -> Run:
        run = frame.run
        outer, frame.breaks = frame.breaks, []
        signal: Value = None
        rounds = 0
        while True:
            truth = run.truth(test(frame))
            if isinstance(truth, Unknown):
                signal = yield from ahead(frame, lambda: whole(frame))
                break
            if not truth:
                signal = yield from orelse(frame)
                break
            check_rounds(run, rounds)
            rounds += 1
            signal = yield from body(frame)
            if signal is BREAK or isinstance(signal, Returned):
                break
        return leave_loop(frame, outer, signal)

    return steps


def check_rounds(run: Interpreter, rounds: int) -> None:
    """Draw on the budget for one turn of a loop. Exhausted after LOOP_ROUNDS of them."""
    run.spend(1)
    if rounds >= LOOP_ROUNDS:
        raise Exhausted("a loop runs for too long to be followed")


def leave_loop(frame: Frame, outer: Breaks, signal: Value) -> Signal | None:
    """Join what `break` left open, and give the signal of a `return`."""
    join_breaks(frame, outer)
    return signal if isinstance(signal, Returned) else None


def with_steps(path: str, node: cst.With, twin: ast.With, whole: Code) -> Steps | None:
    """The steps of a `with` whose body yields; None where it is asynchronous, or a manager yields."""
    if any(yields([item.context_expr]) for item in twin.items) or node.asynchronous is not None:
        return None
    compiler = Compiler(path, twin)
    items = [
        (
            compiler.expression(item.item),
            compile_target(compiler, item.asname.name) if item.asname is not None else None,
        )
        for item in node.items
    ]
    body = compile_steps(path, node.body, twin.body)

    def steps(frame: Frame) -> Run:
        run = frame.run
        entered = enter_all(frame, items)
        try:
            with guarded_by(run, *entered):
                signal = yield from body(frame)
        except Raised as raised:
            run.budget.depth, run.frame = frame.depth, frame
            if leave_contexts(run, entered, (raised.value.cls, raised.value, None)):
                return None
            raise
        leave_contexts(run, entered, (None, None, None))
        return signal

    return steps


def try_steps(path: str, node: Any, twin: Any, whole: Code) -> Steps:
    """The steps of a `try` whose body yields."""
    body = compile_steps(path, node.body, twin.body)
    handlers: list[tuple[Code | None, str | None, Steps]] = []
    for handler, handler_twin in zip(node.handlers, twin.handlers, strict=True):
        kind = Compiler(path, handler_twin).expression(handler.type) if handler.type is not None else None
        word = handler.name.name.value if handler.name is not None else None
        handlers.append((kind, word, compile_steps(path, handler.body, handler_twin.body)))
    orelse = else_steps(path, node.orelse, twin.orelse)
    finalbody = else_steps(path, node.finalbody, twin.finalbody)

    def handle(frame: Frame, raised: Raised) -> Run:
        run = frame.run
        run.budget.depth, run.frame = frame.depth, frame
        for kind, word, steps in handlers:
            if catches(frame, kind, raised.value):
                if word is not None:
                    frame.store(word, raised.value)
                outer, frame.handling = frame.handling, raised.value
                try:
                    signal = yield from steps(frame)
                finally:
                    frame.handling = outer
                run.trace.was_refused(raised.value, run.invocation)
                return signal
        raise raised

    def guarded(frame: Frame) -> Run:
        caught: Raised | None = None
        signal: Value = None
        try:
            with guarding(frame.run, lambda error: any(catches(frame, kind, error) for kind, _, _ in handlers)):
                signal = yield from body(frame)
        except Raised as raised:
            caught = raised
        if caught is not None:
            return (yield from handle(frame, caught))
        return signal if signal is not None else (yield from orelse(frame))

    def steps(frame: Frame) -> Run:
        caught: Raised | None = None
        signal: Value = None
        try:
            signal = yield from guarded(frame)
        except Raised as raised:
            caught = raised
        ending = yield from finalbody(frame)
        if ending is not None:
            return ending
        if caught is not None:
            raise caught
        return signal

    return steps


RULES: dict[type[cst.CSTNode], Callable[[str, Any, Any, Code], Steps | None]] = {
    cst.Expr: expression_steps, cst.Assign: assign_steps, cst.Return: return_steps, cst.If: if_steps,
    cst.For: for_steps, cst.While: while_steps, cst.With: with_steps, cst.Try: try_steps,
}  # fmt: skip
"""Every statement that can hold a `yield` and is followed step by step."""
