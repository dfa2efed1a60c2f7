"""Where the source of a notebook's cells stands in the text of its file, so that an edit leaves all the rest as it is.

A cell's `source` is one JSON string or a list of them. Outputs, metadata and the file's own layout are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence

from flake8_cnnmem.lazy_dataclass import dataclass

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]')
_LARGEST_DEPTH = 8
"""How deep a cell's source stands: deeper levels are counted and not named."""


@dataclass(frozen=True, slots=True)
class Literal:
    """One JSON string of a file: the characters from `start` up to `end`, quotes included."""

    start: int
    end: int
    value: str


def literals_of(text: str, wanted: Collection[int]) -> dict[int, list[Literal]]:
    """The strings that make the source of each of these cells (counted from 1), in order. `text` is sound JSON."""
    found: dict[int, list[Literal]] = {}
    path: list[str | int | None] = []
    key: str | None = None
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            path.append(None if word == "{" else 0)
        elif word in "}]":
            path.pop()
        elif word == ",":
            here = path[-1]
            path[-1] = here + 1 if isinstance(here, int) else None
        elif path and path[-1] is None:
            # The first string of a pair is its key, the second one its value.
            key = json.loads(word) if len(path) <= _LARGEST_DEPTH else ""
            path[-1] = key
        elif len(path) in (3, 4) and path[0] == "cells" and path[2] == "source":
            cell = path[1]
            if isinstance(cell, int) and cell + 1 in wanted:
                found.setdefault(cell + 1, []).append(Literal(token.start(), token.end(), json.loads(word)))
    return found


def substituted(values: Sequence[str], start: int, end: int, text: str) -> list[str]:
    """The strings after `text` took the place of the characters from `start` up to `end` of what they make together:
    the string in which it begins has it, the next ones lose what is taken away."""
    made = []
    first, placed = 0, False
    for at, value in enumerate(values):
        behind = first + len(value)
        new = value
        if placed:
            new = value[max(end - first, 0) :]
        elif start < behind or at == len(values) - 1:
            new = value[: start - first] + text + value[max(end - first, 0) :]
            placed = True
        made.append(new)
        first = behind
    return made


def rewritten(text: str, changes: Iterable[tuple[Literal, str]]) -> str:
    """The file's text with other values in the places of these strings, spelled as they are: other letters than
    ASCII's escaped where they were escaped."""
    for literal, value in sorted(changes, key=lambda change: change[0].start, reverse=True):
        escaped = text[literal.start : literal.end].isascii()
        text = text[: literal.start] + json.dumps(value, ensure_ascii=escaped) + text[literal.end :]
    return text
