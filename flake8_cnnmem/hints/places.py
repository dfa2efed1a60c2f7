"""Where expressions stand, counted in letters. `ast` counts columns in bytes of UTF-8."""

from __future__ import annotations

import ast

from flake8_cnnmem.hints.model import Span


class Places:
    """The lines of a text."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def of(self, node: ast.expr | ast.stmt) -> Span:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Span(node.lineno, self.column(node.lineno, node.col_offset), end_line, self.column(end_line, end))

    def column(self, line: int, offset: int) -> int:
        """Letters before so many bytes of a line."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
