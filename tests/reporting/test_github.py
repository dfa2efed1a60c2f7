"""Annotations, as GitHub's runner reads them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from flake8_cnnmem.finding import Finding, one_line
from flake8_cnnmem.reporting import FINDINGS, github
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from tests.reporting.hostile import NAMES, report_named

Make = Callable[..., ModelReport]


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A command, its properties and its message, as the runner takes a line apart."""
    found = re.fullmatch(r"::([a-z-]+) (.*?)::(.*)", line)
    assert found is not None, line
    properties = dict(part.split("=", 1) for part in found[2].split(","))
    return found[1], {name: plain(value) for name, value in properties.items()}, plain(found[3])


def plain(text: str) -> str:
    for code, letter in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def test_a_model_that_does_not_fit(make_report: Make) -> None:
    assert github.render([make_report()], Settings()) == (
        "::error file=vgg.py,line=12,col=9,title=CNM101::VGG16: training needs 12.04 GiB at batch 64 (train.py:41), "
        "over the 12.00 GiB limit (activations 10.0 GiB, parameters 512 MiB, gradients 512 MiB, "
        "optimizer state 1.0 GiB, input 37 MiB; adam, float32); fits up to "
        "batch 63"
    )


@pytest.mark.parametrize(
    ("code", "command"), [("CNM101", "error"), ("CNM203", "warning"), ("CNM301", "notice")], ids=lambda word: word
)
def test_each_level_has_its_command(code: str, command: str) -> None:
    [line] = FINDINGS["github"]([Finding("a.py", 1, 1, code, "said")]).splitlines()
    assert read(line) == (command, {"file": "a.py", "line": "1", "col": "1", "title": code}, "said")


def test_nothing_found_is_nothing_printed(make_report: Make) -> None:
    assert github.render([make_report(limit=None, fits=None)], Settings()) == ""


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_are_data(name: str, make_report: Make) -> None:
    text = github.render([report_named(name, make_report)], Settings())
    assert "\r" not in text
    [line] = text.split("\n")
    command, properties, message = read(line)
    assert command == "error"
    assert set(properties) == {"file", "line", "col", "title"}
    assert properties["file"] == one_line(f"models/{name}.py".replace("\\", "/"))
    assert message.startswith(f"{one_line(name)}: training needs at least 12.04 GiB")
