"""Where a report goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.reporting.output import CannotWrite, deliver


def test_a_file_gets_the_text_in_utf_8_with_one_end_of_line(tmp_path: Path) -> None:
    deliver("größer ×", str(tmp_path / "out.md"))
    assert (tmp_path / "out.md").read_bytes() == "größer ×\n".encode()


def test_letters_that_no_encoding_has_are_escaped(tmp_path: Path) -> None:
    deliver("a\udc80", str(tmp_path / "out.md"))
    assert (tmp_path / "out.md").read_text() == "a\\udc80\n"


def test_without_a_file_it_is_printed_and_nothing_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    deliver("text")
    deliver("")
    assert capsys.readouterr().out == "text\n"


@pytest.mark.parametrize("name", ["missing/out.md", "."], ids=["a folder that is not there", "a folder"])
def test_a_file_that_cannot_be_written_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="cannot be written: "):
        deliver("text", str(tmp_path / name))
