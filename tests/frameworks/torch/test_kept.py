"""Every kind of op that the torch framework can make has a row that says what is kept of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flake8_cnnmem
from flake8_cnnmem import ops
from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.frameworks.torch import registry
from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Raised

ROOT = Path(flake8_cnnmem.__file__).parent
SOURCES = sorted((ROOT / "frameworks" / "torch").rglob("*.py"))

MAKERS = ("Elementwise", "Broadcast", "Reduce", "Loss", "Swapped", "Written")
"""Ops whose kind is their first argument."""

IMAGE, ROWS, PLACES = (BATCH, 4, 8, 8), (BATCH, 8), (BATCH, 4, 8, 8)
ARGUMENTS: list[tuple[Any, ...]] = [
    (Tensor(IMAGE),),
    (Tensor(IMAGE), Tensor(IMAGE)),
    (Tensor(IMAGE), 1),
    (Tensor(IMAGE), 2.5),
    (Tensor(IMAGE), 1, 1),
    (Tensor(IMAGE), 1, Tensor(PLACES, "int64")),
    (Tensor(IMAGE), 1, Tensor(PLACES, "int64"), Tensor(IMAGE)),
    (Tensor(IMAGE), Tensor(IMAGE), Tensor(IMAGE)),
    (Tensor(IMAGE), (1, 1)),
    (Tensor(IMAGE), (1, 1, 1, 1)),
    (Tensor(ROWS), Tensor((BATCH,), "int64")),
    ([Tensor(IMAGE), Tensor(IMAGE)], 1),
    ("bchw,bdhw->bcd", Tensor(IMAGE), Tensor(IMAGE)),
]


def kinds_made(function: Any) -> Iterator[str]:
    """The kinds of the ops that a function makes of ordinary arguments."""
    for arguments in ARGUMENTS:
        run = Interpreter([], strict=False)
        run.log = []
        try:
            run.call(function, *arguments)
        except (Raised, Exhausted):
            continue
        yield from (call.op.kind for call in run.log)


@pytest.mark.parametrize("dotted", sorted(registry.DEFINED))
def test_a_functions_ops_have_rows(dotted: str) -> None:
    place, _, name = dotted.partition(".")
    kinds = set(kinds_made(registry.PLACES[place][name]))
    assert {kind for kind in kinds if not RULES.knows(kind)} == set()


def test_functions_make_ops_of_most_kinds() -> None:
    kinds = {kind for native in registry.PLACES["functional"].values() for kind in kinds_made(native)}
    assert len(kinds) > 50


def kinds_named() -> Iterator[tuple[str, str]]:
    """Kinds as they are written in the framework's source: an op's first argument, or a class's `kind`."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value, f"{path.name}:{node.lineno}"
            if isinstance(node, ast.ClassDef):
                for each in node.body:
                    if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
                        if any(isinstance(target, ast.Name) and target.id == "kind" for target in each.targets):
                            yield each.value.value, f"{path.name}:{node.lineno}"  # type: ignore[misc]


def test_kinds_that_the_source_names_have_rows() -> None:
    assert {kind: place for kind, place in kinds_named() if not RULES.knows(kind)} == {}


def test_ops_of_a_fixed_kind_have_rows() -> None:
    classes = [value for value in vars(ops).values() if isinstance(value, type)]
    fixed = {cls.__name__: getattr(cls, "kind", None) for cls in classes}
    assert {name: kind for name, kind in fixed.items() if isinstance(kind, str) and not RULES.knows(kind)} == {}
