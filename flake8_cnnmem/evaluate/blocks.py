"""Blocks of statements, and the table of rules by which each is compiled: the modules of `grammar` fill it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite, unfollowed
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.stopping import passable, passing_over
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.values import Value

StatementRule = Callable[[Compiler, Any, Any], Code]
STATEMENTS: dict[type[cst.CSTNode], StatementRule] = {}


def statement(*kinds: type[cst.CSTNode]) -> Callable[[StatementRule], StatementRule]:
    """Register the rule below for these kinds of statements."""

    def register(rule: StatementRule) -> StatementRule:
        for kind in kinds:
            STATEMENTS[kind] = rule
        return rule

    return register


def pair(body: Sequence[Any], twins: list[ast.stmt]) -> list[tuple[Any, ast.stmt]]:
    """Each statement of a libcst block with its `ast` twin. `a; b` is two of either."""
    flat: list[Any] = []
    for node in body:
        flat.extend(node.body if isinstance(node, cst.SimpleStatementLine) else [node])
    return list(zip(flat, twins, strict=True))


def compile_block(path: str, node: Any, twins: list[ast.stmt]) -> Code:
    """Code for the statements of a block, in both trees."""
    body = node.body if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)) else [node]
    return run_all([compile_statement(path, each, twin) for each, twin in pair(body, twins)])


def run_all(codes: list[Code]) -> Code:
    """Code that runs statements one after the other, until one leaves."""
    if len(codes) == 1:
        return codes[0]

    def block(frame: Frame) -> Value:
        for code in codes:
            signal = code(frame)
            if signal is not None:
                return signal
        return None

    return block


def compile_statement(path: str, node: Any, twin: ast.stmt) -> Code:
    """Code for one statement; what is not followed gives up the names that it would bind."""
    compiler = Compiler(path, twin)
    compiler.take_notes(node, twin)
    rule = STATEMENTS.get(type(node))
    line = twin.lineno
    inner = rule(compiler, node, twin) if rule is not None else unfollowed(f"{type(node).__name__} is not followed")
    if rule is None:
        unknown = inner

        def skip(frame: Frame) -> None:
            unknown(frame)

        inner = skip
    site, passed = StatementSite(path, twin), passable(node)

    def code(frame: Frame) -> Value:
        run = frame.run
        frame.line = line
        run.frame = frame
        run.site = site
        budget = run.budget
        budget.steps -= 1
        if budget.steps < 0:
            run.spend(0)
        if run.passed_over and f"{path}:{line}" in run.passed_over:
            return passing_over(frame, inner, path, passed, twin)
        return inner(frame)

    return code
