"""How far a long report is, on standard error, where that is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO, TypeVar

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds before anything is shown: a report that is there at once needs no progress."""
PAUSE = 0.1
"""Seconds between two changes of the line."""


def progress(
    items: Sequence[T],
    name: Callable[[T], str],
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """The items one by one; while they are worked on, one line says how many are done and which one is at hand.

    The line is taken away at the end. Nothing is written to what is no terminal, nor for work that is done in no time.
    """
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield from items
        return
    begun = shown = clock()
    written = False
    try:
        for done, item in enumerate(items):
            now = clock()
            if now - begun >= PATIENCE and (not written or now - shown >= PAUSE):
                _line(stream, f"{done + 1}/{len(items)} {name(item)}")
                written, shown = True, now
            yield item
    finally:
        if written:
            stream.write("\r\x1b[K")
            stream.flush()


def clear(stream: TextIO | None = None) -> None:
    """Take the line away, for a message that is to be printed; the next item brings it back."""
    stream = sys.stderr if stream is None else stream
    if stream.isatty():
        stream.write("\r\x1b[K")


def _line(stream: TextIO, text: str) -> None:
    """One line in the place of the last, no wider than the terminal: a wrapped line would not go away."""
    width = max(20, shutil.get_terminal_size().columns - 1)
    text = text if text.isprintable() else ascii(text)
    stream.write(f"\r\x1b[K{text if len(text) <= width else text[: width - 1] + '…'}")
    stream.flush()
