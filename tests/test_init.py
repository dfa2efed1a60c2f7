"""`cnnmem init`: a section that flake8 keeps silent with, and that speaks when a layer grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flake8_cnnmem.cli.init import pattern_of, size
from flake8_cnnmem.settings.options import parse_per_file_limits
from flake8_cnnmem.units import GIB, KIB, MIB

Run = Callable[..., "CompletedProcess[str]"]

CLASSIFIER = """\
import torch
from torch import nn

net = nn.Sequential(
    nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10),
)
net(torch.zeros(1, 3, 64, 64))
"""

TWO = """\
import keras
from keras import layers

small = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(10)])
large = keras.Sequential([keras.Input((96, 96, 3)), layers.Conv2D(64, 3), layers.Flatten(), layers.Dense(10)])
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "classifier.py").write_text(CLASSIFIER)
    (tmp_path / "two.py").write_text(TWO)


def pasted(printed: str) -> str:
    """The section, as somebody takes it out of the terminal."""
    return printed[printed.index("\n[") + 1 :]


CONFIGURATIONS = [("flake8", "setup.cfg"), ("pyproject", "pyproject.toml")]


@pytest.mark.parametrize("given", [[], ["--batch-size=8", "--dtype=float16"]], ids=["as it is", "with options"])
def test_flake8_is_silent_with_the_section_and_speaks_when_a_layer_grows(
    run_flake8: Run, run_cnnmem: Run, tmp_path: Path, given: list[str]
) -> None:
    done = run_cnnmem("init", *given)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nets", "two.py"]
    (tmp_path / "setup.cfg").write_text(pasted(done.stdout))
    silent = run_flake8("--jobs=1")
    assert (silent.stdout, silent.stderr) == ("", "")
    (tmp_path / "nets" / "classifier.py").write_text(CLASSIFIER.replace("128", "256"))
    speaking = run_flake8("--jobs=1")
    assert speaking.stderr == ""
    [line] = speaking.stdout.splitlines()
    assert line.startswith("./nets/classifier.py:4:7: CNM101 net: training needs ")


def test_the_table_for_pyproject_holds_as_well(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(pasted(run_cnnmem("init", "--format=pyproject").stdout))
    assert (run_cnnmem("check").returncode, run_cnnmem("check").stdout) == (0, "")
    (tmp_path / "two.py").write_text(TWO.replace("Conv2D(64", "Conv2D(128"))
    [line] = run_cnnmem("check").stdout.splitlines()
    assert line.startswith("two.py:5:9: CNM101 large: training needs ")


def test_the_smaller_model_of_a_file_is_told_how_to_have_a_limit_of_its_own(run_cnnmem: Run, tmp_path: Path) -> None:
    printed = run_cnnmem("init").stdout
    lines = printed.splitlines()
    at = next(number for number, line in enumerate(lines) if "for a limit of its own" in line)
    directive = lines[at].partition("own: ")[2]
    assert "small, line 4: " in lines[at - 1]
    (tmp_path / "setup.cfg").write_text(pasted(printed))
    (tmp_path / "two.py").write_text(TWO.replace("small =", f"{directive}\nsmall =").replace("Conv2D(8", "Conv2D(16"))
    [line] = run_cnnmem("check", "two.py").stdout.splitlines()
    assert line.startswith("two.py:5:9: CNM101 small: ")


def test_where_the_facts_come_from_is_told(run_cnnmem: Run) -> None:
    printed = run_cnnmem("init", "nets", "--batch-size=16").stdout
    [row] = [line for line in printed.splitlines() if line.startswith("net ")]
    assert "16 (option)" in row
    assert "3x64x64 (nets/classifier.py:8)" in row
    assert "cnnmem-batch-size = 16" in printed
    assert "    # net, line 4: " in printed


def test_a_model_with_a_limit_of_its_own_keeps_it(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("# cnnmem: gpu-limit=1GiB\n\n" + TWO)
    assert "two.py:" not in pasted(run_cnnmem("init").stdout)


def test_without_models_there_is_nothing_to_paste(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run_cnnmem("init", "empty")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "cnnmem: empty: no model found\n")


@pytest.mark.parametrize(
    ("total", "text"), [(1, "1KiB"), (100 * KIB + 1, "101KiB"), (GIB, "1024MiB"), (GIB + 1, "1025MiB")]
)
def test_limits_are_the_next_round_size(total: int, text: str) -> None:
    assert size(total) == text
    assert size(99 * MIB) == f"{99 * KIB}KiB"


@pytest.mark.parametrize(
    "name",
    ["a.py", "a,b.py", "a: b.py", "[x].py", "a*.py", "#a.py", "a\nb.py", "so what?.py", "a b.py", "é.py", "a;b.py"],
)
def test_the_pattern_of_any_file_matches_it(name: str) -> None:
    pattern = pattern_of(f"./nets/{name}")
    limits = parse_per_file_limits(f"{pattern}: 1GiB")
    assert limits is not None
    [limit] = limits
    assert limit.pattern == pattern
    from dataclasses import replace

    from flake8_cnnmem.settings.configuration import patterned

    assert replace(limit, pattern=patterned(pattern, "/project")).matches(f"/project/nets/{name}")
