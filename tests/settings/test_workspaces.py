"""Where the code of a project lies, by its build files: the folders that setuptools 80, poetry 2, hatch 1, pdm 2,
maturin 1 and uv 0.9 document."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.settings.workspaces import beside, own_folders
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import DISK

DECLARED = {
    "setuptools where": ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = ['lib']\n"),
    "setuptools package-dir": ("pyproject.toml", "[tool.setuptools]\npackage-dir = {'' = 'lib'}\n"),
    "setup.cfg": ("setup.cfg", "[options]\npackage_dir =\n    = lib\npackages = find:\n"),
    "setup.py": ("setup.py", "from setuptools import setup\nsetup(name='a', package_dir={'': 'lib'})\n"),
    "poetry": ("pyproject.toml", "[tool.poetry]\npackages = [{include = 'a', from = 'lib'}]\n"),
    "hatch": ("pyproject.toml", "[tool.hatch.build.targets.wheel]\npackages = ['lib/a']\n"),
    "pdm": ("pyproject.toml", "[tool.pdm.build]\npackage-dir = 'lib'\n"),
    "maturin": ("pyproject.toml", "[tool.maturin]\npython-source = 'lib'\n"),
}


def written(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def relative(folders: list[str], root: Path) -> list[str]:
    return [os.path.relpath(each, root) for each in folders]


@pytest.mark.parametrize(("name", "text"), DECLARED.values(), ids=DECLARED)
def test_folders_that_build_files_name(name: str, text: str, tmp_path: Path) -> None:
    written(tmp_path, {name: text})
    assert relative(own_folders(str(tmp_path), DISK), tmp_path) == [".", "src", "lib"]


@pytest.mark.parametrize("path", ["'/etc'", "'../../../../../../far'", "3", "''"])
def test_no_folder_far_outside(path: str, tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": f"[tool.pdm.build]\npackage-dir = {path}\n"})
    assert relative(own_folders(str(tmp_path), DISK), tmp_path) == [".", "src"]


PART = {"pyproject.toml": "[project]\nname = 'net'\n", "src/net/__init__.py": "WIDTH = 24\n"}
PROGRAM = """\
from torch import nn
from net import WIDTH
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(WIDTH, 1)
    def forward(self, x):
        return self.fc(x)
"""
UV = "[tool.uv.workspace]\nmembers = ['parts/*', 'apps/*']\n"
LAYOUTS: dict[str, tuple[str, dict[str, str]]] = {
    "a workspace of uv": ("parts/net", {"pyproject.toml": UV}),
    "a folder of packages": ("packages/net", {}),
    "a project in a project": ("net-lib", {}),
    "a path of uv": ("deep/down/there", {"pyproject.toml": "[tool.uv.sources]\nnet = {path = 'deep/down/there'}\n"}),
    "a path of poetry": (
        "deep/down/there",
        {"pyproject.toml": "[tool.poetry.dependencies]\nnet = {path = './deep/down/there', develop = true}\n"},
    ),
    "an editable requirement": ("deep/down/there", {"requirements.txt": "torch\n-e ./deep/down/there\n"}),
}


@pytest.mark.parametrize(("folder", "texts"), LAYOUTS.values(), ids=LAYOUTS)
def test_packages_beside_each_other(
    folder: str, texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {**texts, **{f"{folder}/{name}": text for name, text in PART.items()}, "apps/a/run.py": PROGRAM})
    monkeypatch.chdir(tmp_path)
    (report,) = analyse(Source("apps/a/run.py", PROGRAM), Settings()).reports
    assert report.parameters == 25


def test_a_member_knows_the_others_of_its_workspace(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": UV, "apps/a/pyproject.toml": "[project]\nname = 'a'\n"})
    written(tmp_path, {f"parts/net/{name}": text for name, text in PART.items()})
    found = relative(beside(str(tmp_path / "apps" / "a"), DISK), tmp_path)
    assert found == ["parts/net/src", "parts/net"]
    (tmp_path / "apps" / "a" / ".git").mkdir()
    assert beside(str(tmp_path / "apps" / "a"), DISK) == []


def test_what_lies_beside_comes_after_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {f"packages/net/{name}": text for name, text in PART.items()})
    (tmp_path / ".venv/lib/python3.11/site-packages/net").mkdir(parents=True)
    (tmp_path / ".venv/lib/python3.11/site-packages/net/__init__.py").write_text("WIDTH = 9\n")
    (tmp_path / ".venv/pyvenv.cfg").write_text("")
    monkeypatch.chdir(tmp_path)
    (report,) = analyse(Source("run.py", PROGRAM), Settings()).reports
    assert report.parameters == 10
