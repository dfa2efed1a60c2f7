"""Several processes give what one gives, in the same order, and one that dies costs its file alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from flake8_cnnmem import cli
from flake8_cnnmem.cli.workers import in_order

MODEL = "from torch import nn\n\nnet = nn.Sequential(nn.Conv2d(3, {0}, 3), nn.ReLU(), nn.Conv2d({1}, 8, 3))\n"


def test_the_output_is_the_same_with_any_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for at in range(6):
        Path(f"net{at}.py").write_text(MODEL.format(8 + at, 8 + at % 4))
    Path("broken.py").write_text("import torch\nnet = (\n")
    said = []
    for number in ("1", "2", "3"):
        assert cli.main(["check", "-j", number, "--no-cache"]) == 1
        said.append(capfd.readouterr())
    assert said[0] == said[1] == said[2]
    assert [line.partition(":")[0] for line in said[0].out.splitlines()] == ["net4.py", "net5.py"]
    assert "broken.py" in said[0].err


def dies_of_two(path: str) -> str:
    if path == "2":
        os._exit(9)
    print(f"about {path}", file=sys.stderr)
    return path


def test_a_process_that_dies_costs_its_file_alone() -> None:
    done = list(in_order(dies_of_two, ["0", "1", "2", "3", "4"], 2))
    assert [each.result for each in done] == ["0", "1", None, "3", "4"]
    assert [each.told for each in done] == ["about 0\n", "about 1\n", "", "about 3\n", "about 4\n"]


@pytest.mark.parametrize("number", ["0", "-1", "two", "1000"])
def test_a_number_of_processes_is_a_number(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["check", f"--jobs={number}"])
    assert "is not a number of processes" in capsys.readouterr().err
