"""How long an editor waits behind a keystroke: run by hand, `python tests/lsp/latency.py FILE...`.

Each file is opened in a real server; then letters are typed into it, one after the other, each where it leaves valid
Python (in a comment, a name, a number), and the inlay hints of the new text are asked for. What is measured is the time
from sending the letter to having the hints, the server's own pause included.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from client import Client

LETTERS = 30


def measured(path: Path) -> tuple[int, int, list[float]]:
    """The file's lines, its hints, and the seconds behind each letter."""
    text = path.read_text()
    lines = text.count("\n")
    waited = []
    with Client(path.parent) as client:
        client.open(path.name, text)
        hints = len(client.hints(path.name))
        at = next(number for number, line in enumerate(text.split("\n")) if line.strip().startswith("def forward"))
        # A new line in front of the forward pass, whose name grows letter by letter.
        indent = len(text.split("\n")[at]) - len(text.split("\n")[at].lstrip())
        client.type(path.name, at, 0, f"{' ' * indent}a = 1\n")
        client.hints(path.name)
        for _ in range(LETTERS):
            begun = time.perf_counter()
            client.type(path.name, at, indent, "a")
            client.hints(path.name)
            waited.append(time.perf_counter() - begun)
            time.sleep(0.1)
    return lines, hints, waited


def main(paths: list[str]) -> None:
    every: list[float] = []
    print("file, lines, hints, median ms, p95 ms, worst ms")
    for name in paths:
        lines, hints, waited = measured(Path(name).resolve())
        every += waited
        print(f"{name}, {lines}, {hints}, {figures(waited)}")
    print(f"all: {figures(every)}")


def figures(waited: list[float]) -> str:
    ordered = sorted(waited)
    worst = ordered[-1]
    middle, late = statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return ", ".join(f"{each * 1000:.0f}" for each in (middle, late, worst))


if __name__ == "__main__":
    main(sys.argv[1:])
