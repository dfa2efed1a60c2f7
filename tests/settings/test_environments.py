"""Where imports are looked up beside the project: its environments, and what their `.pth` files add."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.environments import mapped, search_folders
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.text.files import Files

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


def letters(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(str(path).encode()).digest()).decode()[:8]


KEPT: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "poetry": (
        {"pyproject.toml": '[tool.poetry]\nname = "Leaf_Net 1"\n'},
        "cache/pypoetry/virtualenvs/leaf-net_1-{root}-py3.11",
        {"XDG_CACHE_HOME": "{home}/cache"},
    ),
    "poetry, told where": (
        {"pyproject.toml": '[project]\nname = "leaf"\n', "poetry.lock": ""},
        "envs/leaf-{root}-py3.12",
        {"POETRY_VIRTUALENVS_PATH": "{home}/envs"},
    ),
    "pipenv": ({"Pipfile": ""}, ".local/share/virtualenvs/project-{pipfile}", {}),
    "pipenv, told where": ({"Pipfile": ""}, "work/project-{pipfile}", {"WORKON_HOME": "{home}/work"}),
    "hatch": (
        {"pyproject.toml": '[project]\nname = "Leaf_Net"\n[tool.hatch.envs.default]\n'},
        ".local/share/hatch/env/virtual/leaf-net/{root}/leaf-net",
        {},
    ),
    "pyenv": ({".python-version": "leaf-3.11\n"}, ".pyenv/versions/leaf-3.11", {}),
    "conda": ({"environment.yml": "name: leaf\ndependencies: []\n"}, "miniconda3/envs/leaf", {}),
    "conda, told where": (
        {"environment.yml": "name: 'leaf'\n"}, "opt/conda/envs/leaf", {"CONDA_EXE": "{home}/opt/conda/bin/conda"}
    ),
}  # fmt: skip
"""By tool: the project's files, where the tool keeps the project's environment below a home folder, and variables."""


@pytest.mark.parametrize("tool", KEPT)
def test_an_environment_that_a_tool_keeps_elsewhere(tool: str, tmp_path: Path) -> None:
    texts, place, variables = KEPT[tool]
    home, root = tmp_path / "home", tmp_path / "project"
    made(tmp_path, "home", "project")
    hashes = {"root": letters(root), "pipfile": letters(root / "Pipfile")}
    made(home, f"{place.format(**hashes)}/{PACKAGES}")
    files = Told(HOME=str(home), **{name: value.format(home=home) for name, value in variables.items()})
    packages = str(home / place.format(**hashes) / PACKAGES)
    assert packages not in search_folders([], str(root), files)
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    assert packages in search_folders([], str(root), files)


@pytest.mark.parametrize("line", ["../../etc", "..", "/etc", ".hidden", ""])
def test_a_python_version_that_is_no_name(line: str, tmp_path: Path) -> None:
    made(tmp_path, f"etc/{PACKAGES}", "home", "project")
    (tmp_path / "project" / ".python-version").write_text(line, encoding="utf-8")
    before = search_folders([], str(tmp_path / "home"), Told(HOME=str(tmp_path / "home")))
    assert search_folders([], str(tmp_path / "project"), Told(HOME=str(tmp_path / "home"))) == before
