"""Where imports are looked up beside the project: its environments, and what their `.pth` files add."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.environments import mapped, search_folders
from flake8_cnnmem.files import Files
from flake8_cnnmem.settings import Settings
from flake8_cnnmem.source import load

PACKAGES = "lib/python3.11/site-packages"


class Told(Files):
    """The disk, and variables of the environment that a test says."""

    def __init__(self, **variables: str) -> None:
        self.variables = variables

    def variable(self, name: str) -> str | None:
        return self.variables.get(name)


def made(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)


ORDERS: dict[str, tuple[dict[str, str], list[str]]] = {
    "beside the project": ({}, [f".venv/{PACKAGES}"]),
    "activated": ({"VIRTUAL_ENV": "{root}/far"}, [f".venv/{PACKAGES}", f"far/{PACKAGES}"]),
    "of conda": ({"CONDA_PREFIX": "{root}/far"}, [f".venv/{PACKAGES}", f"far/{PACKAGES}"]),
    "told to uv": ({"UV_PROJECT_ENVIRONMENT": "far"}, [f".venv/{PACKAGES}", f"far/{PACKAGES}"]),
    "that is not there": ({"VIRTUAL_ENV": "{root}/gone"}, [f".venv/{PACKAGES}"]),
}


@pytest.mark.parametrize(("variables", "expected"), ORDERS.values(), ids=ORDERS)
def test_an_environment(variables: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    made(tmp_path, f".venv/{PACKAGES}", f"far/{PACKAGES}", "src")
    files = Told(**{name: value.format(root=tmp_path) for name, value in variables.items()})
    found = search_folders([str(tmp_path), str(tmp_path / "src")], str(tmp_path), files)
    own = [os.path.relpath(folder, tmp_path) for folder in found if folder.startswith(str(tmp_path))]
    assert own == [".", "src", *expected]
    assert found[len(own) :] == [
        os.path.abspath(each) for each in dict.fromkeys(sys.path) if each and os.path.isdir(each)
    ]


def test_a_hooks_own_environment_is_not_the_projects(tmp_path: Path) -> None:
    made(tmp_path, f".venv/{PACKAGES}")
    assert search_folders([], str(tmp_path), Told(VIRTUAL_ENV=sys.prefix)) == search_folders([], str(tmp_path), Told())


LINES = {
    "a folder": "{root}/work\n",
    "a folder beside": "../../../../work\n",
    "what is run is passed over": "# a comment\nimport os; os.system('x')\n\n{root}/work\n",
    "a finder": "import __editable___net_1_0_finder; __editable___net_1_0_finder.install()\n",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_packages_that_are_worked_on(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, f".venv/{PACKAGES}", "work/net_sizes")
    packages = tmp_path / ".venv" / PACKAGES
    (packages / "net.pth").write_text(line.format(root=tmp_path), encoding="utf-8")
    (packages / "__editable___net_1_0_finder.py").write_text(
        f"import sys\nMAPPING: dict[str, str] = {{'net_sizes': {str(tmp_path / 'work' / 'net_sizes')!r}}}\n"
        "raise SystemExit\n",
        encoding="utf-8",
    )
    (tmp_path / "work" / "net_sizes" / "__init__.py").write_text("WIDTH = 3\n", encoding="utf-8")
    (tmp_path / "net.py").write_text(
        "from torch import nn\nfrom net_sizes import WIDTH\nnet = nn.Linear(1, WIDTH)\nmodel = nn.Sequential(net)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    (model,) = analyse(load("net.py"), Settings()).reports
    assert model.parameters == 6


@pytest.mark.parametrize(
    "source",
    ["", "MAPPING = 3", "MAPPING = {1: 2, 'a': 3}", "MAPPING = {'a': '/b'}", "MAPPING = {" * 500, "MAPPING = {f(): 1}"],
)
def test_a_finder_that_says_nothing(source: str) -> None:
    assert list(mapped(source)) == []


def test_a_package_within_another(tmp_path: Path) -> None:
    path = tmp_path / "src" / "outer" / "inner"
    assert list(mapped(f"MAPPING = {{'outer.inner': {str(path)!r}}}\n")) == [str(tmp_path / "src")]
