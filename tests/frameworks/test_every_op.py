"""Every op that a framework can make, wherever it is written down, has a rule that says what training holds of it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import flake8_cnnmem
from flake8_cnnmem.frameworks.keras.saved_tensors import RULES as KERAS
from flake8_cnnmem.frameworks.rules import New, OpRule, Rules, Saved
from flake8_cnnmem.frameworks.torch.saved_tensors import RULES as TORCH
from flake8_cnnmem.graph import Op
from flake8_cnnmem.memory import attention
from flake8_cnnmem.ops import AdaptivePool, GlobalPool, Pool, Recurrent, RecurrentCell, Resize
from flake8_cnnmem.ops.base import Plain
from flake8_cnnmem.ops.resample import PAD_KINDS


def ops_below(cls: type[Plain]) -> Iterator[type[Plain]]:
    for each in cls.__subclasses__():
        yield each
        yield from ops_below(each)


def every_op() -> dict[str, type[Plain]]:
    """Every class of ops in the package, by its full name."""
    for found in pkgutil.walk_packages(flake8_cnnmem.__path__, "flake8_cnnmem."):
        if found.name.startswith(("flake8_cnnmem.ops", "flake8_cnnmem.frameworks", "flake8_cnnmem.evaluate.joins")):
            importlib.import_module(found.name)
    return {f"{each.__module__.removeprefix('flake8_cnnmem.')}.{each.__qualname__}": each for each in ops_below(Plain)}


OPS = every_op()
FIXED = {name: kind for name, cls in sorted(OPS.items()) if isinstance(kind := getattr(cls, "kind", None), str)}
"""Those of one kind, and the kind."""

WITHOUT = {
    "frameworks.keras.layers.core.Given": "what a function does that could not be followed is not known",
    "frameworks.keras.layers.normalization.BatchRenorm": "what the corrections of its steps keep is not measured",
    "frameworks.keras.stubs.Undecided": "a layer whose arguments are not known",
}
"""Ops that no framework has a rule for, on purpose: what is made of them is a lower bound."""


def names_in(folder: str) -> set[str]:
    """Every name that the code of a framework's folder uses, its stubs among them."""
    found: set[str] = set()
    for path in (Path(flake8_cnnmem.__file__).parent / "frameworks" / folder).rglob("*.py*"):
        if path.suffix in (".py", ".pyi"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Name, ast.Attribute, ast.alias)):
                    found.add(getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "name", ""))
    return found


def made_by(folder: str) -> list[str]:
    """Those of the ops that a framework's folder makes, and those that the interpreter makes for all of them."""
    own, used = f"frameworks.{folder}.", names_in(folder)
    shared = [name for name in FIXED if name.startswith("ops.") and name.rpartition(".")[2] in used]
    return [*shared, *(name for name in FIXED if name.startswith((own, "evaluate.")) and name not in WITHOUT)]


@pytest.mark.parametrize("name", made_by("torch"))
def test_pytorch_has_a_rule(name: str) -> None:
    assert TORCH.knows(FIXED[name])


@pytest.mark.parametrize("name", made_by("keras"))
def test_keras_has_a_rule(name: str) -> None:
    assert KERAS.knows(FIXED[name])


def test_every_op_is_made_somewhere() -> None:
    made = {*made_by("torch"), *made_by("keras"), *made_by("flax"), *WITHOUT}
    bases = {each.__name__ for cls in OPS.values() for each in cls.__mro__[1:]}
    assert {name for name in FIXED if name.rpartition(".")[2] not in bases} <= made


@pytest.mark.parametrize("name", WITHOUT)
def test_what_is_not_known_has_none(name: str) -> None:
    kind = FIXED[name]
    assert not KERAS.knows(kind)
    assert not TORCH.knows(kind)


MADE: list[Op] = [
    *(Pool(mode, (2, 2)) for mode in ("max", "average")),
    *(AdaptivePool(mode, (2, 2)) for mode in ("max", "average")),
    *(GlobalPool(mode, 2) for mode in ("max", "average")),
    *(Recurrent(cell, 4) for cell in ("rnn", "gru", "lstm")),
    *(Resize((4, 4), mode=mode) for mode in ("nearest", "bilinear", "bicubic", "area")),
]
FOR_TORCH: list[Op] = [
    Pool("lp", (2, 2)),
    *(RecurrentCell(cell, 4) for cell in ("rnn", "gru", "lstm")),
    *(Resize((4, 4), mode=mode) for mode in ("nearest-exact", "linear", "trilinear")),
]


@pytest.mark.parametrize("kind", [*(op.kind for op in (*MADE, *FOR_TORCH)), *PAD_KINDS.values()])
def test_pytorch_has_a_rule_for_each_kind_that_fields_make(kind: str) -> None:
    assert TORCH.knows(kind)


@pytest.mark.parametrize("kind", [*(op.kind for op in MADE), *PAD_KINDS.values()])
def test_keras_has_a_rule_for_each_kind_that_fields_make(kind: str) -> None:
    assert KERAS.knows(kind)


QUANTITIES = {
    "channels", "instances", "mask", "rows", "sample", "queries", "probabilities", "dense", "groups", "padded", "steps",
    "states", "zeros", "gates", "workspace", "handed", "inner", "joined", "direction", "dealt", "slices",
    "pivots", "zero", "alphas", "differences", "first rows", "second rows", "one", "table",
}  # fmt: skip
"""What ops answer for (`quantity`), and one value, which every plan knows."""


def quantities_of(row: OpRule) -> Iterator[str]:
    for part in (*row.keeps, *(row.in_place or ()), *row.forward, *row.backward):
        what = part.what if isinstance(part, Saved) else part
        if isinstance(what, New):
            yield what.of


@pytest.mark.parametrize("rules", [TORCH, KERAS], ids=["torch", "keras"])
def test_rules_speak_of_quantities_that_ops_have(rules: Rules) -> None:
    named = {name for row in rules.rows.values() for name in quantities_of(row)}
    assert {name for name in named - QUANTITIES - attention.QUANTITIES.keys() if name[0] not in "xy"} == set()
