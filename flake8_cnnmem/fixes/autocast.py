"""The part of a training loop that runs in mixed precision: its forward pass and its loss, where it has a scaler."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.source import SourceError, parse
from flake8_cnnmem.text.edits import Edit


def wrapped(text: str, region: str) -> Iterator[tuple[Edit, ...]]:
    """The forward pass and the loss of a loop that has `scaler.scale(loss).backward()`, in `with region`."""
    if "autocast" in text:
        return
    try:
        tree = parse(text)
    except SourceError:
        return
    lines = text.split("\n")
    for node in ast.walk(tree):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list):
                continue
            for at, statement in enumerate(body):
                loss = scaled(statement)
                span = forward_of(body[:at], loss) if loss else None
                if span is not None:
                    yield indented(span, lines, region)


def scaled(statement: ast.stmt) -> str:
    """`loss` of `scaler.scale(loss).backward()`."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    function = statement.value.func
    if (
        not isinstance(function, ast.Attribute)
        or function.attr != "backward"
        or not isinstance(function.value, ast.Call)
    ):
        return ""
    inner = function.value
    named = isinstance(inner.func, ast.Attribute) and inner.func.attr == "scale" and len(inner.args) == 1
    return inner.args[0].id if named and isinstance(inner.args[0], ast.Name) else ""


MOVES = ("to", "cuda", "float", "long", "next", "iter")


def forward_of(before: Sequence[ast.stmt], loss: str) -> tuple[ast.stmt, ast.stmt] | None:
    """The first and the last of the statements right before that lead to the loss: assignments of what calls give."""
    last = next((at for at in reversed(range(len(before))) if loss in set_by(before[at])), None)
    if last is None:
        return None
    needed = read_by(before[last])
    first = last
    while first and set_by(before[first - 1]) & needed and calls_something(before[first - 1]):
        first -= 1
        needed |= read_by(before[first])
    return before[first], before[last]


def set_by(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def read_by(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def calls_something(statement: ast.stmt) -> bool:
    """Whether it is an assignment of a call's result that is more than moving data."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    names = {
        each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
        for each in ast.walk(statement)
        if isinstance(each, ast.Call)
    }
    return bool(names - set(MOVES))


def indented(span: tuple[ast.stmt, ast.stmt], lines: Sequence[str], region: str) -> tuple[Edit, ...]:
    first, last = span
    indent = lines[first.lineno - 1][: first.col_offset]
    edits = [
        Edit(number, 1, number, 1, "    ")
        for number in range(first.lineno, (last.end_lineno or last.lineno) + 1)
        if lines[number - 1].strip()
    ]
    head = f"{indent}with {region}:\n    "
    return (Edit(first.lineno, 1, first.lineno, 1, head), *edits[1:])
