"""A framework is a folder: what is shared names none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import flake8_cnnmem
from flake8_cnnmem import frameworks
from flake8_cnnmem.frameworks import versions
from flake8_cnnmem.supported import FRAMEWORKS

ROOT = Path(flake8_cnnmem.__file__).parent
OWN = (*(f"frameworks/{name}/" for name in FRAMEWORKS), "packages/")
SHARED = [path for path in sorted(ROOT.rglob("*.py")) if not path.relative_to(ROOT).as_posix().startswith(OWN)]
WORDS = {package for each in FRAMEWORKS.values() if each.markers for package in each.packages}
"""What nobody names who is shared; of numpy, which has no models, the interpreter and the readers of files know."""

ONE_LINE = "supported.py"
"""The file with the one line that a framework takes outside of its folder."""


def named(path: Path) -> Iterator[str]:
    """The frameworks' names in a file's code: in its strings, without docstrings, in its names, and in what it
    imports."""
    tree = ast.parse(path.read_text())
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.arg, ast.keyword)):
            yield node.arg or ""
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_shared_names_no_framework(path: Path) -> None:
    found = {word for text in named(path) for word in WORDS if word in text.lower()}
    assert bool(found) == (path.relative_to(ROOT).as_posix() == ONE_LINE)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_folder_declares_a_framework_of_its_name(name: str) -> None:
    declared = frameworks.named(name)
    assert declared.name == name
    assert declared.rules().framework == name


def test_versions_are_the_frameworks_own() -> None:
    assert versions.named("torch").startswith("torch 2.")
    assert versions.named("keras").startswith("keras 3.")
    assert versions.named("no such framework") == "no such framework"
