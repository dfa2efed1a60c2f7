"""Weight and colour in a terminal."""

from __future__ import annotations

import io

import pytest

from flake8_cnnmem.reporting.ink import Ink


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "colours"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_who_gets_colours(
    stream: io.StringIO, variables: dict[str, str], colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "93")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ink = Ink.of(stream)
    assert ink.colours is colours
    assert ink.columns == (93 if isinstance(stream, Terminal) else None)
    assert ("\x1b[" in ink("text", "over")) is colours
    assert ink("text", "plain") == "text"
