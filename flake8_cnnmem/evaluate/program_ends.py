"""Where a program ends before its text does: at an `exit()` or `raise` that stands under no condition, neither in its
own body nor in those around the calls that led there. One below an `if` may rest on what was only assumed of the
command line or the disk, and what another statement raises on a fault of ours; behind those the program goes on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.values import Raised

EXITS = ("exit", "quit", "_exit", "abort")
"""What ends a program when it is called, by its last name: `sys.exit`, `os._exit`."""


def is_definition(statement: ast.stmt) -> bool:
    """Whether a statement only says what a name stands for: its models are told though the program has ended."""
    return isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))


def ends_program(frame: Frame | None, statement: ast.stmt, raised: Raised) -> bool:
    """Whether the program surely ends with a top-level statement, which has raised in this frame."""
    at: ast.stmt | None = None
    while frame is not None:
        if frame.kind == "module":
            body: Sequence[ast.stmt] = [statement]
        else:
            site = frame.function.site if frame.function is not None else None
            definition = site.statement if isinstance(site, StatementSite) else None
            body = definition.body if isinstance(definition, ast.FunctionDef) else []
        line = frame.line
        here = next((each for each in unconditional(body) if each.lineno == line), None)
        if here is None or (frame.kind != "module" and frame.called_from is None):
            return False
        at = at or here
        frame = frame.called_from
    return at is not None and is_end(at, raised)


def is_end(statement: ast.stmt, raised: Raised) -> bool:
    """Whether a statement is there to leave: a `raise`, or a call of `exit` alone. An abstract method may have been
    taken for the one that stands in its place."""
    names = {cls.name for cls in raised.value.cls.mro}
    if isinstance(statement, ast.Raise):
        return "NotImplementedError" not in names
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name in EXITS and "SystemExit" in names


def unconditional(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run whenever a block does, those within `with` and `try` and behind the test of the program's
    name among them."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from unconditional(statement.body)
        elif isinstance(statement, ast.Try):
            yield from unconditional([*statement.body, *statement.orelse, *statement.finalbody])
        elif isinstance(statement, ast.If) and asks_for_name(statement.test):
            yield from unconditional(statement.body)


def asks_for_name(test: ast.expr) -> bool:
    """Whether a test is `__name__ == "__main__"`."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
