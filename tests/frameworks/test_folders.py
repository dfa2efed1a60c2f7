"""A framework is a folder: what is shared names none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import flake8_cnnmem
from flake8_cnnmem import frameworks
from flake8_cnnmem.frameworks import versions

ROOT = Path(flake8_cnnmem.__file__).parent
OWN = ("frameworks/torch/", "frameworks/keras/", "frameworks/numpy/", "packages/")
SHARED = [path for path in sorted(ROOT.rglob("*.py")) if not path.relative_to(ROOT).as_posix().startswith(OWN)]
WORDS = ("torch", "keras", "tensorflow", "jax")

EXCEPTIONS = {
    "frameworks/__init__.py": "the one line that a framework takes outside of its folder",
    "source.py": "whether a file can hold a model is asked before anything of a framework is loaded",
    "graph.py": "a tensor is PyTorch's where nothing else is said",
    "values.py": "as in graph.py",
    "evaluate/interpreter.py": "as in graph.py",
    "checks/cnm102.py": "what the message tells to write",
    "memory/framework.py": "the tables of optimizers, by the rules that they go with",
    "memory/device.py": "the terms of each backend",
}


def named(path: Path) -> Iterator[str]:
    """The frameworks' names in a file's code: in its strings, without docstrings, and in what it imports."""
    tree = ast.parse(path.read_text())
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield from (word for word in WORDS if word in node.value.lower())
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("flake8_cnnmem.frameworks"):
            parts = (*node.module.split("."), *(alias.name for alias in node.names))
            yield from (word for word in WORDS if word in parts)


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_shared_names_no_framework(path: Path) -> None:
    excepted = path.relative_to(ROOT).as_posix() in EXCEPTIONS
    assert bool(set(named(path))) == excepted


@pytest.mark.parametrize("name", frameworks.FRAMEWORKS)
def test_a_folder_declares_a_framework_of_its_name(name: str) -> None:
    declared = frameworks.named(name)
    assert declared.name == name
    assert declared.rules().framework == name


def test_versions_are_the_frameworks_own() -> None:
    assert versions.named("torch").startswith("torch 2.")
    assert versions.named("keras").startswith("keras 3.")
    assert versions.named("no such framework") == "no such framework"
