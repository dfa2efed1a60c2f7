"""Cells in columns, for a terminal or as a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "  "
"""Between two columns on a terminal."""

SPARE = 2
"""A column is at least so much wider than its header."""


def in_columns(rows: Sequence[Sequence[object]], align: str = "", headers: Sequence[str] = ()) -> str:
    """Lines of cells that stand below each other, and below their headers and a rule if there are any.

    `align` has an `l` or `r` for each column, which is left where it says nothing; None is an empty cell.
    """
    widths, cells = laid_out(rows, align, headers)
    if headers:
        cells.insert(1, ["-" * width for width in widths])
    return "\n".join(GAP.join(line).rstrip() for line in cells)


def in_markdown(rows: Sequence[Sequence[object]], align: str, headers: Sequence[str]) -> str:
    """A table in Markdown of cells that are Markdown already; `align` as of `in_columns`."""
    widths, cells = laid_out(rows, align, headers)
    sides = align.ljust(len(widths), "l")
    rule = [f":{'-' * (width + 1)}" if side == "l" else f"{'-' * (width + 1)}:"
            for side, width in zip(sides, widths, strict=True)]  # fmt: skip
    head, *rest = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([head, f"|{'|'.join(rule)}|", *rest])


def laid_out(rows: Sequence[Sequence[object]], align: str, headers: Sequence[str]) -> tuple[list[int], list[list[str]]]:
    """The width of each column, and the cells of each line filled up to it, the headers first."""
    texts = [["" if cell is None else str(cell).strip() for cell in row] for row in rows]
    count = max([len(headers), *map(len, texts)], default=0)
    for row in texts:
        row += [""] * (count - len(row))
    heads = [*headers, *[""] * (count - len(headers))]
    widths = [
        max([len(head) + (SPARE if headers else 0), *(len(row[at]) for row in texts)]) for at, head in enumerate(heads)
    ]
    lines = [heads, *texts] if headers else texts
    sides = align.ljust(count, "l")
    return widths, [
        [cell.ljust(width) if side == "l" else cell.rjust(width) for cell, width, side in zip(*each, strict=False)]
        for each in ((line, widths, sides) for line in lines)
    ]
