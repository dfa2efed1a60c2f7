"""The language fixtures: each `reveal(value)  # expectation` in fixtures/language must come out as its comment says.

What involves no tensors was confirmed with CPython itself (tests/oracle/check_language.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import dims
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native

LANGUAGE = Path(__file__).parents[2] / "fixtures" / "language"
REVEAL = re.compile(r"^\s*reveal\(.*\)\s*#\s*(.+?)\s*$")
FILES = sorted(LANGUAGE.glob("*.py"))


def show(value: Any) -> str:
    if isinstance(value, Unknown):
        return "unknown"
    if isinstance(value, Tensor):
        return "unknown" if isinstance(value.shape, Unknown) else dims.show(value.shape)
    if isinstance(value, (list, tuple)) and any(isinstance(item, (Unknown, Tensor)) for item in value):
        inner = ", ".join(show(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)


def evaluate(path: Path) -> dict[int, str]:
    """What each `reveal` line was given last."""
    run = Interpreter([str(path.parent)], strict=True)
    revealed: dict[int, str] = {}

    def reveal(run: Any, value: Any) -> Any:
        revealed[run.here().line] = show(value)
        return value

    run.builtins = {**run.builtins, "reveal": Native("reveal", reveal, propagate_unknown=False)}
    module = Module("__main__", Source(str(path), path.read_text()), lazy=False)
    run.run_module(module)
    return revealed


def test_there_are_language_fixtures() -> None:
    assert len(FILES) >= 15


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_reveal_comes_out_as_its_comment_says(path: Path) -> None:
    expected = {
        number: match.group(1)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := REVEAL.match(line))
    }
    assert expected
    revealed = evaluate(path)
    assert {line: revealed.get(line, "never run") for line in expected} == expected
