"""Edits of a text by line and column, and what is left alone by them: all the rest, to the byte."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from flake8_cnnmem.lazy_dataclass import dataclass

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """`text` in the place of what stands from one position to another, the second one not included.

    Lines count from 1. Columns count from 1 in characters (not in bytes, nor in UTF-16 units).
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends one finding. `line` and `column` are the finding's; all edits are of the file at `path`."""

    path: str
    line: int
    column: int
    code: str
    title: str
    """What is done, for a menu: "write 256 instead of 400"."""
    edits: tuple[Edit, ...]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, which must not overlap. Whatever ends its lines ends them still."""
    lines = LINE.findall(text)
    for edit in sorted(set(edits), reverse=True):
        before = lines[edit.line - 1][: edit.column - 1]
        after = lines[edit.end_line - 1][edit.end_column - 1 :]
        lines[edit.line - 1 : edit.end_line] = [before + edit.text + after]
    return "".join(lines)


def instead_of(node: ast.expr, lines: list[str], text: str) -> Edit:
    """The edit that writes `text` in the place of an expression. `lines` are those of the file: `ast` counts bytes."""
    end_line = node.end_lineno or node.lineno
    return Edit(
        node.lineno,
        characters(lines[node.lineno - 1], node.col_offset) + 1,
        end_line,
        characters(lines[end_line - 1], node.end_col_offset or 0) + 1,
        text,
    )


def characters(line: str, offset: int) -> int:
    """How many characters stand before an offset in bytes of UTF-8."""
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "surrogatepass"))


def with_keyword(call: ast.Call, lines: list[str], name: str, value: str) -> Edit:
    """The edit that gives a call a keyword argument, or the one that it has another value."""
    for word in call.keywords:
        if word.arg == name:
            return instead_of(word.value, lines, value)
    given = [*call.args, *(word.value for word in call.keywords)]
    whole = instead_of(call, lines, "")
    if not given:
        return Edit(whole.end_line, whole.end_column - 1, whole.end_line, whole.end_column - 1, f"{name}={value}")
    last = max((instead_of(each, lines, "") for each in given), key=lambda edit: (edit.end_line, edit.end_column))
    return Edit(last.end_line, last.end_column, last.end_line, last.end_column, f", {name}={value}")
