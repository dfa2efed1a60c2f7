"""`cnnmem explain`: every check has a page, its parts, and an example that says what the page says it says."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.checks import Check
from flake8_cnnmem.reporting import pages
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

each_check = pytest.mark.parametrize("check", checks.every(), ids=lambda check: check.code)


def example(check: Check) -> tuple[str, str]:
    """The code of the page's example, and the line that it is said to give."""
    code, said = re.split(r"\n\nIt says.*:\n\n", pages.parts(check)["Example"])
    return textwrap.dedent(code) + "\n", " ".join(said.split())


@each_check
def test_every_page_has_all_parts_in_order(check: Check) -> None:
    assert tuple(pages.parts(check)) == pages.PARTS
    assert all(pages.parts(check).values())


@each_check
def test_the_example_gives_the_message_that_the_page_shows(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = example(check)
    Path("example.py").write_text(code)
    found = checks.run(analyse(load("example.py"), Settings()), Settings(), {check.code})
    assert [f"{each.path}:{each.line}:{each.column}: {each.code} {each.message}" for each in found] == [said]


@each_check
def test_the_way_to_silence_names_the_code(check: Check) -> None:
    assert f"`# noqa: {check.code}`" in pages.parts(check)["How to silence it"]


def test_a_page_begins_with_the_code_and_what_it_says() -> None:
    first, _, rest = pages.page("cnm101").partition("\n")
    assert first == "# CNM101: The estimated training memory exceeds the configured GPU limit"
    assert rest.startswith("\nDefault: on.\n\n## What it means\n")


def test_an_unknown_code_names_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(pages.NoSuchCode) as error:
        pages.page("CNM103")
    assert str(error.value).startswith("'CNM103' is no code of a check: use CNM101, CNM102, CNM201, ")
    assert "did you mean CNM" in str(error.value)
