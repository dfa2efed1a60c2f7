"""Jupyter notebooks: the code cells of one as the text of one module, and lines that know their cell.

Cells are counted as people see them, those with text as well, from 1. Magics, shell lines and cells in other languages
leave blank lines or a `pass`, so that every other line and column stays what it was.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.text.lines import CellLine

ENDING = ".ipynb"

LARGEST = 32 * 1024 * 1024
"""Bytes of a notebook's file: pictures stand in it as text. Its code is held to what any module is."""

PYTHON_CELLS = ("%%time", "%%capture", "%%prun")
"""The cell magics under which the rest of the cell runs as it stands."""

_WORDS = frozenset(["pip", "conda", "mamba", "cd", "ls", "cat", "cp", "mv", "rm", "mkdir", "rmdir"])
"""Magics that IPython takes without their sign."""
_TARGET = re.compile(r"[\w\s,.*\[\]'\"]+")
_TIMED = re.compile(r"(\s*)%time (.*)")


class NotNotebook(Exception):
    """The content is no notebook with Python in it; the message says why, in a few plain words."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The module that a notebook's code cells make, and the cell and inner line of each of its lines."""

    text: str
    lines: Sequence[CellLine]
    left_out: tuple[CellLine, ...] = ()
    """The first lines of cells that are no Python, whatever is taken out of them."""

    def line(self, number: int) -> int:
        """A line of the module with its cell; a number that is none of its lines as it is."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else number

    def place(self, tree: ast.AST) -> None:
        """Tell every node of the module's syntax tree its cell."""
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.lineno = self.line(node.lineno)


def read(content: bytes) -> Notebook:
    """The code of a notebook (nbformat 4). Raises NotNotebook."""
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise NotNotebook("not a notebook: not JSON") from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise NotNotebook("not a notebook: no cells (nbformat 4 is understood)")
    language = language_of(document.get("metadata"))
    if language not in ("", "python"):
        raise NotNotebook(f"a notebook in {language}, not in Python")
    return joined((number, source_of(cell)) for number, cell in enumerate(cells, 1) if is_code(cell))


def language_of(metadata: object) -> str:
    """The language of the notebook's kernel in lower case; empty where it does not say."""
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        facts = metadata.get(place) if isinstance(metadata, dict) else None
        word = facts.get(key) if isinstance(facts, dict) else None
        if isinstance(word, str) and word:
            return "python" if word.lower() in ("python", "ipython", "python3") else word.lower()[:40]
    return ""


def is_code(cell: object) -> bool:
    return isinstance(cell, Mapping) and cell.get("cell_type") == "code"


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's text: a string, or a list of its lines with their ends."""
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    text = source if isinstance(source, str) else ""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def joined(cells: Iterable[tuple[int, str]]) -> Notebook:
    effort = Effort()
    text: list[str] = []
    lines: list[CellLine] = []
    left_out: list[CellLine] = []
    for number, source in cells:
        code = python_of(source, effort)
        if code is None:
            left_out.append(CellLine(len(lines) + 1, number, 1))
            code = [""] * (source.count("\n") + 1)
        for inner, line in enumerate(code, 1):
            lines.append(CellLine(len(lines) + 1, number, inner))
            text.append(line)
    return Notebook("".join(f"{line}\n" for line in text), lines, tuple(left_out))


@dataclass(slots=True)
class Effort:
    """Letters that may still be parsed: each line that is taken out of a cell costs another reading of the cell."""

    left: int = 16 * 1024 * 1024


def python_of(source: str, effort: Effort) -> list[str] | None:
    """The lines of a cell with what is no Python taken out; None where what is left does not parse either."""
    lines = source.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        if lines[first].split()[0] not in PYTHON_CELLS:
            return [""] * len(lines)
        lines[first] = ""
    while True:
        text = "\n".join(lines)
        effort.left -= len(text) + 1
        wrong = wrong_line(text)
        if wrong is None:
            return lines
        if effort.left <= 0 or not 1 <= wrong <= len(lines):
            return None
        plain = without_magic(lines[wrong - 1])
        if plain is None:
            return None
        rest = wrong
        while rest < len(lines) and lines[rest - 1].endswith("\\"):
            # The shell reads on in the next line.
            lines[rest - 1] = ""
            rest += 1
        lines[rest - 1] = ""
        lines[wrong - 1] = plain


def wrong_line(text: str) -> int | None:
    """The line at which Python stops reading a cell, None where it reads all of it.

    Whether a line that begins with a per cent sign is a magic, or the rest of a sum or of a string, is only known to
    who has read all before it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(f"{text}\n")
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def without_magic(line: str) -> str | None:
    """A line that Python does not read, as what the rest of the cell needs of it; None where it is no magic."""
    timed = _TIMED.fullmatch(line)
    if timed is not None:
        # As wide as the magic, so that the statement's columns stay.
        statement = f"{timed[1]}if 1: {timed[2]}"
        return statement if wrong_line(statement.strip()) is None else f"{timed[1]}pass"
    target, equals, value = line.partition("=")
    if equals and value.lstrip()[:1] in ("!", "%") and target.strip() and _TARGET.fullmatch(target):
        # What IPython makes of it. There is no such name here: the value is not known.
        return f"{line[: len(line) - len(value.lstrip())]}get_ipython()"
    return f"{line[: len(line) - len(line.lstrip())]}pass" if is_magic(line.strip()) else None


def is_magic(line: str) -> bool:
    """Whether it is a magic, a shell line, a question for help, or one of the magics that IPython takes without its
    sign."""
    first, _, rest = line.partition(" ")
    return line[:1] in ("%", "!", "?") or line.endswith("?") or (first in _WORDS and bool(rest.strip()))
