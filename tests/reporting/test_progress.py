"""How far a long report is."""

from __future__ import annotations

import io
import re

import pytest

from flake8_cnnmem.reporting import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def passing(seconds: float, stream: io.StringIO) -> list[str]:
    """Three items, each of which takes so long."""
    now = iter(seconds * tick for tick in range(100))
    return list(progress.progress(["a.py", "b.py", "c.py"], str, stream, lambda: next(now)))


def test_a_long_report_tells_how_far_it_is_and_leaves_nothing_behind() -> None:
    stream = Terminal()
    assert passing(2, stream) == ["a.py", "b.py", "c.py"]
    written = stream.getvalue().split("\r\x1b[K")
    assert written == ["", "1/3 a.py", "2/3 b.py", "3/3 c.py", ""]


def test_a_short_report_says_nothing() -> None:
    stream = Terminal()
    assert passing(0.01, stream) == ["a.py", "b.py", "c.py"]
    assert stream.getvalue() == ""


def test_what_is_no_terminal_gets_nothing() -> None:
    stream = io.StringIO()
    passing(2, stream)
    progress.clear(stream)
    assert stream.getvalue() == ""


def test_what_is_known_stands_above_and_goes_away_too() -> None:
    stream = Terminal()
    now = iter(range(100))
    known = [["first"], ["first", "x" * 500], ["first", "second"]]
    for _ in progress.progress(["a.py", "b.py", "c.py"], str, stream, lambda: 2.0 * next(now), lambda: known.pop(0)):
        pass
    first, second, third, nothing = re.split(r"\x1b\[\d+A\r\x1b\[J", stream.getvalue().removeprefix("\r\x1b[K"))
    assert (first, third, nothing) == ("first\n1/3 a.py", "first\nsecond\n3/3 c.py", "")
    assert re.findall(r"\x1b\[(\d+)A", stream.getvalue()) == ["1", "2", "2"]
    assert all(len(line) < 200 for line in second.splitlines())


def test_the_line_goes_away_when_the_work_is_broken_off() -> None:
    stream = Terminal()
    now = iter(range(100))
    for _ in progress.progress(["a.py", "b.py"], str, stream, lambda: 2.0 * next(now)):
        break
    assert stream.getvalue().endswith("\r\x1b[K")


def test_a_long_name_stays_on_one_line_and_odd_letters_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    now = iter(range(100))
    list(progress.progress(["x" * 200, "a\nb"], str, stream, lambda: 2.0 * next(now)))
    lines = stream.getvalue().split("\r\x1b[K")
    assert all(len(line) < 40 for line in lines)
    assert "2/2 a\\nb" in lines[2]
