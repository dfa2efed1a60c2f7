"""Where a program ends before its text does: at an `exit()` or `raise` that stands under no condition, neither in its
own body nor in those around the calls that led there, or under one that constants of the text alone decide (`if
DEBUG:` below `DEBUG = True`). One below another `if` may rest on what was only assumed of the command line or the disk,
and what another statement raises on a fault of ours; behind those the program goes on."""

from __future__ import annotations

import ast
from collections import Counter
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
    constants = Constants(frame)
    while frame is not None:
        if frame.kind == "module":
            body: Sequence[ast.stmt] = [statement]
        else:
            site = frame.function.site if frame.function is not None else None
            definition = site.statement if isinstance(site, StatementSite) else None
            body = definition.body if isinstance(definition, ast.FunctionDef) else []
        line = frame.line
        here = next((each for each in unconditional(body, constants) if each.lineno == line), None)
        if here is None or (frame.kind != "module" and frame.called_from is None):
            return False
        at = at or here
        frame = frame.called_from
    return at is not None and (is_end(at, raised) or (at is statement and isinstance(at, ast.Raise)))


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


class Constants:
    """The names of a program's own file that are given a value once in all of it, at its top, and as a plain constant.
    Read when somebody asks."""

    __slots__ = ("frame", "known")

    def __init__(self, frame: Frame | None) -> None:
        self.frame = frame
        self.known: dict[str, object] | None = None

    def values(self) -> dict[str, object]:
        """All of them."""
        if self.known is None:
            frame = self.frame
            while frame is not None and frame.called_from is not None:
                frame = frame.called_from
            self.known = given_once(frame.module.source.tree) if frame is not None else {}
        return self.known

    def decide(self, test: ast.expr) -> bool | None:
        """What a test gives that is made of nothing but these; None where it asks for anything else."""
        if isinstance(test, ast.BoolOp):
            each = [self.decide(value) for value in test.values]
            if None in each:
                return None
            return all(each) if isinstance(test.op, ast.And) else any(each)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decide(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            sides = [self.value(side) for side in (test.left, test.comparators[0])]
            same = sides[0] == sides[1] if UNSAID not in sides else None
            equal = isinstance(test.ops[0], (ast.Eq, ast.Is))
            asked = equal or isinstance(test.ops[0], (ast.NotEq, ast.IsNot))
            return same is equal if asked and same is not None else None
        value = self.value(test)
        return None if value is UNSAID else bool(value)

    def value(self, node: ast.expr) -> object:
        """What a side of a test stands for; UNSAID where that is no constant."""
        if isinstance(node, ast.Constant):
            return node.value
        return self.values().get(node.id, UNSAID) if isinstance(node, ast.Name) else UNSAID


UNSAID = object()
"""What is no constant of the text."""


def given_once(tree: ast.Module) -> dict[str, object]:
    """The constants at the top of a file, by their names, that no other place of it names for anything else."""
    stored: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] += 1
        elif isinstance(node, ast.arg):
            stored[node.arg] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stored[node.name] += 1
        elif isinstance(node, ast.alias):
            stored[(node.asname or node.name).partition(".")[0]] += 1
    found: dict[str, object] = {}
    for statement in tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and stored[target.id] == 1:
            if isinstance(statement.value, ast.Constant):
                found[target.id] = statement.value.value
    return found


def unconditional(body: Sequence[ast.stmt], constants: Constants) -> Iterator[ast.stmt]:
    """The statements that run whenever a block does, those within `with` and `try`, behind the test of the program's
    name and behind tests of constants among them."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from unconditional(statement.body, constants)
        elif isinstance(statement, ast.Try):
            yield from unconditional([*statement.body, *statement.orelse, *statement.finalbody], constants)
        elif isinstance(statement, ast.If):
            answer = True if asks_for_name(statement.test) else constants.decide(statement.test)
            if answer is not None:
                yield from unconditional(statement.body if answer else statement.orelse, constants)


def asks_for_name(test: ast.expr) -> bool:
    """Whether a test is `__name__ == "__main__"`."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
