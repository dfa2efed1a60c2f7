"""Modules that nbQA makes of notebooks for flake8: the cells stand one after another, with comments between them.

nbQA tells the cell of a finding's own place and knows nothing of the lines that a message names. These are told here in
nbQA's own way: `cell_2:9`, cells with text not counted (https://nbqa.readthedocs.io).
"""

from __future__ import annotations

import re
from typing import Any

from flake8_cnnmem.text.lines import CellLine
from flake8_cnnmem.text.notebook import Notebook

MARK = "# %%NBQA-CELL-SEP"

_SEPARATOR = re.compile(rf"{MARK}[0-9a-f]{{6}}")


class ModuleLine(CellLine):
    """A line as nbQA prints it."""

    def __str__(self) -> str:
        return f"cell_{self.cell}:{self.inner}"

    def __reduce__(self) -> tuple[Any, ...]:
        return ModuleLine, (int(self), self.cell, self.inner)


def cells_of(text: str) -> Notebook | None:
    """The cells that a module was made of; None where nbQA did not make it."""
    if not text.startswith(MARK):
        return None
    found: list[CellLine] = []
    cell = inner = 0
    for number, line in enumerate(text.split("\n"), 1):
        if _SEPARATOR.fullmatch(line):
            cell, inner = cell + 1, 0
        else:
            inner += 1
        found.append(ModuleLine(number, cell, inner))
    return Notebook(text, found)
