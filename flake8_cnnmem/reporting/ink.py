"""Weight and colour of text in a terminal. What is printed elsewhere, and what people say with NO_COLOR, has none.

Colours are put on finished cells and lines; no message has any in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from flake8_cnnmem.lazy_dataclass import dataclass

CODES: Mapping[str, str] = MappingProxyType(
    {"bold": "1", "soft": "2", "over": "1;31", "fits": "32", "bound": "33", "plain": ""}
)
"""Styles by what they are for (ECMA-48, Select Graphic Rendition)."""


@dataclass(frozen=True, slots=True)
class Ink:
    """How text is written: with colours or without, and in how many columns at most (None: as many as it takes)."""

    colours: bool = False
    columns: int | None = None

    def __call__(self, text: str, style: str) -> str:
        code = CODES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self.colours and code and text else text

    @classmethod
    def of(cls, stream: TextIO) -> Ink:
        """That of a stream: colours and a width where it is a terminal (https://no-color.org, FORCE_COLOR)."""
        terminal = stream.isatty()
        colours = terminal and os.environ.get("TERM") != "dumb"
        if os.environ.get("FORCE_COLOR"):
            colours = True
        if os.environ.get("NO_COLOR"):
            colours = False
        return cls(colours, shutil.get_terminal_size().columns if terminal else None)


PLAIN = Ink()
