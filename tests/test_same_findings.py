"""The same findings, byte for byte: whatever the number of workers, the order of the files, and the way they come."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., "CompletedProcess[str]"]

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

PATCHING = """\
import torch
from torch import nn

nn.Conv2d.forward = lambda self, x: x
nn.Module.mine = torch.nn.Linear = nn.Identity
"""

OPTIONS = ("--cnnmem-gpu-limit=64MiB", "--select=CNM1,CNM2,CNM3,CNM9")


@pytest.fixture
def tree(tmp_path: Path) -> list[str]:
    """Models of both frameworks, some wrong, with files among them that change the frameworks."""
    paths = sorted([*(FIXTURES / "bugs").glob("*_wrong.py"), *(FIXTURES / "checks").glob("*.py")])[::9]
    for number, path in enumerate(paths):
        shutil.copy(path, tmp_path)
        if number % 4 == 0:
            (tmp_path / f"{path.stem}_patching.py").write_text(PATCHING)
    return sorted(path.name for path in tmp_path.glob("*.py"))


def lines(*runs: CompletedProcess[str]) -> list[str]:
    assert all(done.stderr == "" for done in runs)
    return sorted(line for done in runs for line in done.stdout.replace("./", "").splitlines(keepends=True))


@pytest.fixture
def package(tmp_path: Path, zoo: Callable[[str], Path]) -> list[str]:
    """Files of one package that import each other: torchvision's older networks."""
    unneeded = shutil.ignore_patterns("*.so", "*.pyc")
    shutil.copytree(zoo("torchvision") / "torchvision", tmp_path / "torchvision", ignore=unneeded)
    return [f"torchvision/models/{name}.py" for name in ("alexnet", "squeezenet", "vgg")]


def test_every_way_gives_the_same_findings(run_flake8: Run, start_flake8: Run, tree: list[str], tmp_path: Path) -> None:
    same_every_way(run_flake8, start_flake8, tree, ["."], tmp_path, tree[:3])


def test_every_way_gives_the_same_findings_in_a_package(
    run_flake8: Run, start_flake8: Run, package: list[str], tmp_path: Path
) -> None:
    same_every_way(run_flake8, start_flake8, package, package, tmp_path, package[:1])


def same_every_way(
    run_flake8: Run, start_flake8: Run, files: list[str], whole: list[str], folder: Path, single: list[str]
) -> None:
    """Analyse files as a whole with one worker and with four, in another order, alone, and from stdin."""
    one = run_flake8(*OPTIONS, *whole, ours_alone=False)
    four = start_flake8(*OPTIONS, "--jobs=4", *whole, ours_alone=False)
    assert one.stdout == four.stdout
    shuffled = random.Random(0).sample(files, len(files))
    expected = lines(one)
    assert len(expected) > len(files) // 3
    assert lines(run_flake8(*OPTIONS, *shuffled, ours_alone=False)) == expected
    for name in single:
        own = [line for line in expected if line.startswith(f"{name}:")]
        text = (folder / name).read_text(encoding="utf-8")
        assert lines(run_flake8(*OPTIONS, name, ours_alone=False)) == own
        assert lines(start_flake8(*OPTIONS, f"--stdin-display-name={name}", "-", stdin=text, ours_alone=False)) == own
