"""No input breaks the analysis, costs much, or is carried out. `python tests/hostile.py` prints what each costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import hostile
from tests.conftest import by_hand

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each input is analysed in a fork")

SECONDS = 3 * hostile.SECONDS
"""The command holds each to the bound itself; here other tests run beside them."""

SERVER = """\
import json, sys
from tests import hostile
for line in sys.stdin:
    print(json.dumps(vars(hostile.analysed(json.loads(line)))), flush=True)
"""

Analyse = Callable[[str], hostile.Cost]


@pytest.fixture(scope="module")
def analyse() -> Iterator[Analyse]:
    """Analyses one input in a fork of a process that has everything imported."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=hostile.ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(name: str) -> hostile.Cost:
            print(json.dumps(name), file=stdin, flush=True)
            return hostile.Cost(**json.loads(stdout.readline()))

        yield ask
        stdin.close()


LONG = {
    "30,000 directives", "Keras branches doubled", "Keras layers without end",
    "a ModuleList that grows while it is gone through", "a Sequential of 10**7 layers",
    "a huge dict comprehension", "a with that swallows all", "an import of many names",
    "arrays worked on without end", "branching recursion in forward", "calls on one line",
    "classes on few lines", "definitions on few lines", "deques of all kinds", "huge numbers",
    "lists in lists, doubled", "modules in modules, doubled", "nested Sequential (2)",
    "products without end (2)", "products without end (3)", "products without end (4)",
    "recursion on unknown tests that is given up many times", "sorted by hostile keys",
    "statements on one line", "texts replaced and joined", "comparisons of what is nested",
    "a class body that loops", "a diamond of 300 classes", "deletions without end", "deques",
    "exceptions without end", "unpacking without end", "decorators that make decorators",
    "a match of 20,000 cases", "ranges of 10**18",
}  # fmt: skip
"""Inputs that take half of the time of all. Each has a relation among the others: one that doubles, nests, fills a line
or never ends in the same way."""


BEHIND = (("exact", 1), ("lower-bound", 1), ("exact", 2))


def test_what_is_left_to_the_hand_is_an_input() -> None:
    assert set(hostile.inputs()) >= LONG


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=by_hand if name in LONG else ()) for name in hostile.inputs()]
)
def test_an_input_breaks_nothing(name: str, analyse: Analyse) -> None:
    cost = analyse(name)
    assert cost.broken(SECONDS) == ""
    # What is odd about a program is no reason to lose the model behind it.
    refused = "'refused': 1" in cost.printed or "too dense to be followed" in cost.printed or name == "an empty file"
    # One that calls `fit` may train it beyond what could be followed; PyTorch refuses the other one before its model.
    known = ("Keras models in models", "a ModuleList extended by itself")
    fitted = name in known and "'lower-bound': 2" in cost.printed
    behind = any(f"'{status}': {count}" in cost.printed for status, count in BEHIND)
    assert refused or fitted or behind


FOR_US_ALONE = (
    # Their time is flake8's own.
    "10 MB", "one line of 1 MB", "a line that is just short enough", "empty lines without end",
    "comments without end", "stars without end", "spaces behind lines", "backslashes without end",
    "an encoding named without end", "an encoding of many names",
    # flake8 itself ends with a LookupError: what these name is in Python's tables, and decodes no text.
    "an encoding that is no text", "an encoding that unpacks",
)  # fmt: skip
CHEAP = [name for name in hostile.inputs() if name not in hostile.PROGRAMS and name not in FOR_US_ALONE]


def test_flake8_as_a_whole_survives_them(
    start_flake8: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for number, name in enumerate(CHEAP):
        (tmp_path / f"case{number}").mkdir()
        hostile.write(tmp_path / f"case{number}", name)
    done = start_flake8("--select=CNM1,CNM2,CNM9,E9", "--cnnmem-gpu-limit=T4", "--jobs=2", ".", ours_alone=False)
    assert done.stderr == ""
    assert done.returncode == 1
    codes = {line.split(": ")[1].split()[0] for line in done.stdout.splitlines()}
    assert codes == {"CNM901", "E999"}
    assert not list(tmp_path.rglob(hostile.WRITES))
