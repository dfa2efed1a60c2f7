"""How long an editor waits behind a keystroke: run by hand, `python -m tests.lsp.latency FILE...`.

Each file is opened in a real server; then letters are typed into it, one after the other, each where it leaves valid
Python (in a comment, a name, a number), and the inlay hints of the new text are asked for. What is measured is the time
from sending the letter to having the hints, the server's own pause included; and the processor's time that the server
took for it, which says what it would be on a machine that has nothing else to do.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from tests.lsp.client import Client

LETTERS = 30


def measured(path: Path) -> tuple[int, int, list[float], list[float]]:
    """The file's lines, its hints, and behind each letter the seconds that passed and those of the processor."""
    text = path.read_text()
    waited, worked = [], []
    with Client(path.parent) as client:
        client.open(path.name, text)
        hints = len(client.hints(path.name))
        # A new line in front of the first class, with a name that grows letter by letter.
        lines = text.split("\n")
        at = next(at for at, line in enumerate(lines) if line.startswith("class ") and lines[at - 1][:1] != "@")
        client.type(path.name, at, 0, "a = 1\n")
        client.hints(path.name)
        assert dict(client.hints(path.name)), "the text is to stay sound"
        for _ in range(LETTERS):
            time.sleep(0.2)
            begun, busy = time.perf_counter(), processor_time(client.process.pid)
            client.type(path.name, at, 0, "a")
            client.hints(path.name)
            waited.append(time.perf_counter() - begun)
            worked.append(processor_time(client.process.pid) - busy)
    return text.count("\n"), hints, waited, worked


def processor_time(process: int) -> float:
    """Seconds that a process has run, from /proc."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(paths: list[str]) -> None:
    every: list[float] = []
    busy: list[float] = []
    print("file, lines, hints, waited: median ms, p95 ms, worst ms, processor: median ms, p95 ms, worst ms")
    for name in paths:
        lines, hints, waited, worked = measured(Path(name).resolve())
        every += waited
        busy += worked
        print(f"{name}, {lines}, {hints}, {figures(waited)}, {figures(worked)}", flush=True)
    print(f"all: {figures(every)}, {figures(busy)}")


def figures(waited: list[float]) -> str:
    ordered = sorted(waited)
    middle, late = statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return ", ".join(f"{each * 1000:.0f}" for each in (middle, late, ordered[-1]))


if __name__ == "__main__":
    main(sys.argv[1:])
