"""How long an editor waits behind a keystroke: run by hand, `python -m tests.lsp.latency FILE...`.

Each file is opened in a real server; then letters are typed into it, one after the other, each where it leaves valid
Python: into a comment, into a top-level name, and into a name at the beginning of the last `forward` (a Keras file has
none: the last function). The inlay hints of the new text are asked for, and at the same time what stands under the
cursor. What is measured is the time from sending the letter to having the hints, which are those of the lines that have
not changed where more takes too long; the time to the hover, which waits for the new text to be worked out; and the
processor's time that the server took for both, which says what it would be on a machine that has nothing else to do.
"""

from __future__ import annotations

import ast
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lsp.client import Client

LETTERS = 10
"""At each of the places."""

PAUSE = 0.2
"""Seconds between letters."""


def places(text: str) -> Iterator[tuple[int, str, str]]:
    """Where is typed: the line, counted from 0, in front of which a new one is written, its beginning and its end."""
    tree = ast.parse(text)
    top = next((each for each in tree.body if isinstance(each, (ast.ClassDef, ast.FunctionDef))), tree.body[-1])
    at = min([top.lineno, *(each.lineno for each in getattr(top, "decorator_list", ()))]) - 1
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    runs = [each for each in functions if each.name == "forward"] or functions
    yield at, "# a", "\n"
    yield at, "a", " = 1\n"
    if runs:
        first = max(runs, key=lambda each: each.lineno).body[0]
        yield first.lineno - 1, " " * first.col_offset + "a", " = 1\n"


def measured(path: Path) -> tuple[int, int, list[float], list[float], list[float]]:
    """The file's lines, its hints, and behind each letter the seconds to the hints, to the hover, and those of the
    processor."""
    text = path.read_text()
    shown, known, worked = [], [], []
    with Client(path.parent) as client:
        client.open(path.name, text)
        hints = len(client.hints(path.name))
        for at, begin, end in places(text):
            client.change(path.name, text)
            client.type(path.name, at, 0, begin + end)
            client.hover(path.name, at, 0)
            assert dict(client.hints(path.name)), "the text is to stay sound"
            for letter in range(LETTERS):
                time.sleep(PAUSE)
                begun, busy = time.perf_counter(), processor_time(client.process.pid)
                client.type(path.name, at, len(begin) + letter, "a")
                hover = client.begin_hover(path.name, at, 0)
                client.hints(path.name)
                shown.append(time.perf_counter() - begun)
                client.answer(hover)
                known.append(time.perf_counter() - begun)
                worked.append(processor_time(client.process.pid) - busy)
    return text.count("\n"), hints, shown, known, worked


def processor_time(process: int) -> float:
    """Seconds that a process has run, from /proc."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(paths: list[str]) -> None:
    every: list[list[float]] = [[], [], []]
    print("file, lines, hints; each median, p95 and worst in ms: to the hints; to the hover; processor")
    for name in paths:
        lines, hints, *found = measured(Path(name).resolve())
        for all_of_it, its in zip(every, found, strict=True):
            all_of_it += its
        print(f"{name}, {lines}, {hints}; {'; '.join(map(figures, found))}", flush=True)
    print(f"all: {'; '.join(map(figures, every))}")


def figures(waited: list[float]) -> str:
    ordered = sorted(waited)
    middle, late = statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return ", ".join(f"{each * 1000:.0f}" for each in (middle, late, ordered[-1]))


if __name__ == "__main__":
    main(sys.argv[1:])
