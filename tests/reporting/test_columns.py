"""Cells in columns."""

from __future__ import annotations

import pytest

from flake8_cnnmem.reporting.columns import in_columns, in_markdown

CELLS: list[list[str | None]] = [["conv1", "12.5 MiB"], ["fc", None], [" x ", "3"]]


@pytest.mark.parametrize(
    ("align", "headers", "lines"),
    [
        pytest.param("lr", (), ["conv1  12.5 MiB", "fc", "x             3"], id="numbers end below each other"),
        pytest.param("", (), ["conv1  12.5 MiB", "fc", "x      3"], id="on the left unless told otherwise"),
        pytest.param(
            "lr",
            ("layer", "keeps"),
            ["layer       keeps", "-------  --------", "conv1    12.5 MiB", "fc", "x               3"],
            id="a header stands as its column does",
        ),
        pytest.param(
            "l",
            ("a long header",),
            ["a long header", "---------------  --------", "conv1            12.5 MiB", "fc", "x                3"],
            id="a column without a header",
        ),
    ],
)
def test_a_table_for_a_terminal(align: str, headers: tuple[str, ...], lines: list[str]) -> None:
    assert in_columns(CELLS, align, headers).split("\n") == lines


def test_a_table_in_markdown() -> None:
    assert in_markdown(CELLS, "lr", ("layer", "keeps")).split("\n") == [
        "| layer   |    keeps |",
        "|:--------|---------:|",
        "| conv1   | 12.5 MiB |",
        "| fc      |          |",
        "| x       |        3 |",
    ]


def test_no_rows() -> None:
    assert in_columns([]) == ""
    assert in_columns([], "l", ("layer",)).split("\n") == ["layer", "-------"]
