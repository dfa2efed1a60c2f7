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


_above = 0
"""Lines that stand above the line of progress, and are taken away with it."""


def progress(
    items: Sequence[T],
    name: Callable[[T], str],
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    above: Callable[[], Sequence[str]] | None = None,
) -> Iterator[T]:
    """The items one by one; while they are worked on, one line says how many are done and which one is at hand. `above`
    gives what is known so far, for the lines above it.

    All of it is taken away at the end. Nothing is written to what is no terminal, nor for work that is done in no time.
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
                clear(stream)
                _write_above(stream, above() if above is not None else ())
                _line(stream, f"{done + 1}/{len(items)} {name(item)}")
                written, shown = True, now
            yield item
    finally:
        if written:
            clear(stream)
            stream.flush()


def clear(stream: TextIO | None = None) -> None:
    """Take the line away, for a message that is to be printed; the next item brings it back."""
    global _above
    stream = sys.stderr if stream is None else stream
    if stream.isatty():
        stream.write(f"\x1b[{_above}A\r\x1b[J" if _above else "\r\x1b[K")
    _above = 0


def _write_above(stream: TextIO, lines: Sequence[str]) -> None:
    """As many lines as a terminal has room for, none wider than it."""
    global _above
    size = shutil.get_terminal_size()
    shown = [_fitting(line, size.columns) for line in lines[: max(0, size.lines - 2)]]
    stream.writelines(f"{line}\n" for line in shown)
    _above = len(shown)


def _fitting(text: str, columns: int) -> str:
    width = max(20, columns - 1)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _line(stream: TextIO, text: str) -> None:
    """One line in the place of the last, no wider than the terminal: a wrapped line would not go away."""
    stream.write(_fitting(text, shutil.get_terminal_size().columns))
    stream.flush()
