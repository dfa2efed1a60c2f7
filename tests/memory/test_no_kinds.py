"""Memory knows no op by the name of its kind: it asks the op's record, or the framework's row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import flake8_cnnmem.memory

FILES = sorted(Path(flake8_cnnmem.memory.__path__[0]).rglob("*.py"))


def compared(tree: ast.Module) -> list[int]:
    """The lines in which the kind of an op is compared with something."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and side.attr == "kind" and ast.unparse(side.value).endswith("op")
    ]


def test_a_comparison_is_found() -> None:
    assert compared(ast.parse("if call.op.kind == 'linear':\n    pass\nelif op.kind in KINDS:\n    pass")) == [1, 3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_kind_is_compared(file: Path) -> None:
    assert compared(ast.parse(file.read_text())) == []
