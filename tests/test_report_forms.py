"""`cnnmem report` in all its forms, from code to text, names as nobody would choose them included."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flake8_cnnmem import checks, cli
from flake8_cnnmem.reporting import FORMATS, progress

Run = Callable[..., "CompletedProcess[str]"]

EVIL = "</script><script>alert(1)</script>"

MODEL = f"""\
from collections import OrderedDict

from torch import nn


# cnnmem: input-shape=3,32,32 batch-size=64
net = nn.Sequential(OrderedDict([({EVIL!r}, nn.Conv2d(3, 8, 3)), ("a|b`c", nn.ReLU())]))
"""

FILE = 'it\'s "so" `quoted`, <b>: 100%.py'


@pytest.fixture
def model_file(tmp_path: Path) -> str:
    (tmp_path / FILE).write_text(MODEL)
    return FILE


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_is_written_to_its_file(form: str, run_cnnmem: Run, model_file: str, tmp_path: Path) -> None:
    done = run_cnnmem("report", model_file, "--gpu-limit=1MiB", "--format", form, "-o", "out")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert text.endswith("\n")
    if form in ("table", "json"):
        assert EVIL in text
    if form in ("markdown", "html"):
        assert "<script>alert" not in text
    if form == "sarif":
        [result] = json.loads(text)["runs"][0]["results"]
        assert "%22so%22" in result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    if form == "github":
        assert text.startswith('::error file=it\'s "so" `quoted`%2C <b>%3A 100%25.py,line=7,')
        assert text.count("\n") == 1


def test_an_output_that_cannot_be_written_is_one_line(run_cnnmem: Run, model_file: str) -> None:
    done = run_cnnmem("report", model_file, "-o", "missing/out.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cnnmem: error: missing/out.txt: cannot be written: No such file or directory\n"


def test_without_its_extra_the_page_says_which_to_install(
    run_cnnmem: Run, model_file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    done = run_cnnmem("report", model_file, "--format=html", "-o", "out.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "cnnmem: error: --format html needs plotly, which is not installed: pip install 'flake8-cnnmem[html]'\n"
    )
    assert not (tmp_path / "out.html").exists()


def test_a_page_is_not_thrown_at_a_terminal(run_cnnmem: Run, model_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    done = run_cnnmem("report", model_file, "--format=html")
    assert done.returncode == 2
    assert done.stderr == "cnnmem: error: --format html is a page for a browser: name its file with -o FILE\n"


@pytest.mark.parametrize("form", ["json", "sarif", "html", "markdown"])
def test_a_document_of_no_models_is_a_document(form: str, run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    done = run_cnnmem("report", "empty.py", "--format", form, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "cnnmem: empty.py: no model found\n")
    assert (tmp_path / "out").read_text()


@pytest.mark.parametrize("code", [check.code for check in checks.every()])
def test_every_code_is_explained(code: str, run_cnnmem: Run) -> None:
    done = run_cnnmem("explain", code.lower())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"# {code}: ")
    assert done.stdout.count("\n## ") == 4


def test_an_unknown_code_is_one_line(run_cnnmem: Run) -> None:
    done = run_cnnmem("explain", "E501")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cnnmem: error: 'E501' is no code of a check: use CNM101, ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_report_over_a_folder_tells_how_far_it_is(
    model_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text("import torch\ndef (:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert cli.main(["report", ".", "--gpu-limit=1MiB"]) == 1
    lines = terminal.getvalue().split("\r\x1b[K")
    assert "1/2 broken.py" in lines
    assert f"2/2 {FILE}" in "".join(lines)
    [told] = [line for line in lines if "broken.py:2" in line]
    assert told.startswith("cnnmem: broken.py:2"), "a warning does not begin behind the line of progress"
    assert lines[-1] == ""
