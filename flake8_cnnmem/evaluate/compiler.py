"""From syntax to closures: each libcst node becomes a Python function of the Frame it is evaluated in.

Positions are not asked of libcst, whose metadata costs twice its parse. Every statement is paired with
its `ast` twin instead, and a call is found again in the twin by its ordinal: both trees are walked in
the order in which calls end in the source text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.noting import Notes, notes_for, twins_of
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.values import Value

ExpressionRule = Callable[["Compiler", Any], Code]

EXPRESSIONS: dict[type[cst.CSTNode], ExpressionRule] = {}
"""How each kind of expression is compiled: one rule for each libcst node type."""


def expression(*kinds: type[cst.CSTNode]) -> Callable[[ExpressionRule], ExpressionRule]:
    """Register the rule for these node types."""

    def register(rule: ExpressionRule) -> ExpressionRule:
        for kind in kinds:
            EXPRESSIONS[kind] = rule
        return rule

    return register


class StatementSite:
    """The place of a statement, or of one call in it."""

    __slots__ = ("ordinal", "path", "position", "statement")

    def __init__(self, path: str, statement: ast.AST, ordinal: int = -1) -> None:
        self.path = path
        self.statement = statement
        self.ordinal = ordinal
        self.position: tuple[int, int] | None = None

    @property
    def node(self) -> ast.AST:
        """The statement, or the one call in it."""
        if self.ordinal >= 0:
            calls = sorted(
                header_calls(self.statement), key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0)
            )
            if self.ordinal < len(calls):
                return calls[self.ordinal]
        return self.statement

    def resolve(self) -> tuple[int, int]:
        """Line and column (from 1) of the node, worked out when they are first asked for."""
        if self.position is None:
            node = self.node
            self.position = (getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        return self.position

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.resolve()[0]

    @property
    def column(self) -> int:
        """The column, from 1."""
        return self.resolve()[1]


BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
NOT_EVALUATED = ("annotation", "returns", "type_params", "type_comment")


def header_calls(statement: ast.AST) -> Iterator[ast.Call]:
    """The calls in a statement's own expressions: not those in its nested blocks, in annotations or f-strings."""
    waiting: list[ast.AST] = []
    for name, value in ast.iter_fields(statement):
        if name in NOT_EVALUATED or (name in BODIES and isinstance(value, list)):
            continue
        waiting.extend(node for node in (value if isinstance(value, list) else [value]) if isinstance(node, ast.AST))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, (ast.JoinedStr, ast.arguments, ast.arg)):
            if isinstance(node, ast.arguments):
                waiting.extend(default for default in node.defaults + node.kw_defaults if default is not None)
            continue
        waiting.extend(ast.iter_child_nodes(node))


class Compiler:
    """Compiles the expressions of one statement of the file at `path`.

    What is compiled belongs to no evaluation: the module that the code runs in is the frame's.
    """

    __slots__ = ("calls", "in_format", "notes", "path", "statement", "twins")

    def __init__(self, path: str, statement: ast.AST) -> None:
        self.path = path
        self.statement = statement
        self.calls = 0
        self.in_format = 0
        self.notes: Notes | None = None
        self.twins: dict[int, ast.expr] = {}
        """By the id of a libcst node: the expressions whose values go into the notes."""

    def take_notes(self, node: cst.CSTNode, twin: ast.stmt) -> None:
        """Note what the expressions of this statement give, if somebody has asked for it."""
        self.notes = notes_for(self.path)
        if self.notes is not None:
            self.twins = twins_of(node, twin)

    def expression(self, node: cst.CSTNode) -> Code:
        """The code of an expression: a function of the frame. Syntax without a rule gives an unknown."""
        rule = EXPRESSIONS.get(type(node))
        if rule is None:
            return unfollowed(f"{type(node).__name__} syntax is not followed")
        code = rule(self, node)
        if self.notes is not None and id(node) in self.twins:
            return self.notes.behind(code, self.twins[id(node)])
        return code

    def site(self) -> StatementSite:
        """The place of the call whose last argument has just been compiled."""
        if self.in_format:
            return StatementSite(self.path, self.statement)
        self.calls += 1
        return StatementSite(self.path, self.statement, self.calls - 1)


def unfollowed(reason: str) -> Code:
    """Code that gives an unknown with this reason."""

    def code(frame: Frame) -> Value:
        return frame.run.unknown(reason)

    return code


def constant(value: Value) -> Code:
    """Code that gives this value."""

    def code(frame: Frame) -> Value:
        return value

    return code
