"""Lines of source code as people find them: of a file by their number, of a notebook by their cell."""

from __future__ import annotations

from typing import Any


class CellLine(int):
    """A line of the module that a notebook's cells make. It counts and compares as that, and prints as people find it:
    `cell 3:12`. Cells are counted from 1, those with text as well."""

    cell: int
    inner: int

    def __new__(cls, line: int, cell: int, inner: int) -> CellLine:
        made = super().__new__(cls, line)
        made.cell = cell
        made.inner = inner
        return made

    def __str__(self) -> str:
        return f"cell {self.cell}:{self.inner}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return CellLine, (int(self), self.cell, self.inner)


def in_words(line: int) -> str:
    """`line 12`, `cell 3:12`."""
    return str(line) if isinstance(line, CellLine) else f"line {line}"


def position(line: int) -> dict[str, int]:
    """The keys of a line in a document for programs: `line`, and `cell` where it is one of a notebook."""
    return {"cell": line.cell, "line": line.inner} if isinstance(line, CellLine) else {"line": line}


def without_cell(line: int, column: int, message: str) -> tuple[int, int, str]:
    """Line, column and message for readers that know of no cells: the notebook's first line, the place in words."""
    if isinstance(line, CellLine):
        return 1, 1, f"{line}:{column}: {message}"
    return line, column, message
