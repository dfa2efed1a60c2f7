"""From our lines and columns to those of the protocol, and back."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.hints import Span

SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def lines_of(text: str) -> list[str]:
    """The lines of a text, as we count them."""
    return plain(text).split("\n")


def plain(text: str) -> str:
    """A text with one kind of line end, as files are read."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Positions:
    """Positions in a text. The protocol counts lines from 0, and letters in units that client and server agree on."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.lines = lines_of(text)
        self.codec = codec

    def to(self, line: int, column: int) -> types.Position:
        """From a line counted from 1 and a column counted from 0."""
        if line > len(self.lines):
            return types.Position(line - 1, 0)
        return types.Position(line - 1, self.codec.client_num_units(self.lines[line - 1][:column]))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.to(span.line, span.column), self.to(span.end_line, span.end_column))

    def back(self, position: types.Position) -> tuple[int, int]:
        """The line counted from 1, and the column counted from 0."""
        found = self.codec.position_from_client_units(self.lines, types.Position(position.line, position.character))
        return found.line + 1, found.character

    def line_end(self, line: int) -> int:
        return len(self.lines[line - 1]) if line <= len(self.lines) else 0


def diagnostics(found: Sequence[Finding], text: str, codec: PositionCodec) -> list[types.Diagnostic]:
    """Findings as the editor underlines them: the whole expression that begins where a finding stands."""
    positions = Positions(text, codec)
    ends = expressions(text) if found else {}
    levels = {check.code: check.level for check in checks.every()}
    shown = []
    for finding in found:
        line, column = max(finding.line, 1), max(finding.column, 1) - 1
        end = ends.get((line, column), (line, positions.line_end(line)))
        shown.append(
            types.Diagnostic(
                range=positions.range(Span(line, column, *end)),
                message=finding.message,
                severity=SEVERITY[levels.get(finding.code, "warning")],
                code=finding.code,
                source="cnnmem",
            )
        )
    return shown


def expressions(text: str) -> dict[tuple[int, int], tuple[int, int]]:
    """Where the largest expression ends that begins at a place; nothing of a text that does not parse. Columns are
    those of findings: of `ast`, in bytes."""
    try:
        tree = ast.parse(plain(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            place = node.lineno, node.col_offset
            end = node.end_lineno or node.lineno, node.end_col_offset or 0
            found[place] = max(found.get(place, end), end)
    return found
