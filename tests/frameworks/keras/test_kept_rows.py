"""Every kind of op that the Keras framework can make has a row of its own that says what TensorFlow keeps of it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from flake8_cnnmem import ops
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.ops import backend, elementwise, operations, tensorflow
from flake8_cnnmem.frameworks.keras.ops.tables import Table
from flake8_cnnmem.frameworks.keras.saved_tensors import RULES
from flake8_cnnmem.graph import Call
from tests.frameworks.keras.code import Ran
from tests.frameworks.keras.test_truth import CASES

MODULES = (operations, backend, tensorflow)


def kinds_of_functions() -> set[str]:
    """The kinds that the tables of functions name (`keras.ops`, `keras.backend`, `tf`, `tf.nn`, `tf.math`, ...)."""
    found: set[str] = set()
    for module in MODULES:
        for table in vars(module).values():
            if isinstance(table, Table):
                found |= {
                    str(entry[2]["kind"]) for entry in table.entries.values() if len(entry) > 2 and "kind" in entry[2]
                }
    return found | set(elementwise.WITH_NUMBER.values()) - elementwise.COMPARISONS


def kinds_of_ops() -> set[str]:
    """The kinds that ops have whatever they are given."""
    classes = [value for value in vars(ops).values() if inspect.isclass(value)]
    return {kind for each in classes if isinstance(kind := vars(each).get("kind"), str)}


COMPARED = elementwise.COMPARISONS
"""Kinds of functions that become "compare"."""
ELSEWHERE = {
    "lambda", "unknown", "map_fn", "scan", "fold_items", "inverse_stft", "crop_and_resize",
}  # fmt: skip
"""What nobody can know, or nobody has measured: a lower bound names it."""
NOT_IN_KERAS = {"cdist", "embedding_bag", "fractional_max_pool", "matmul_into", "max_unpool"}


@pytest.mark.parametrize("kind", sorted(kinds_of_functions() - COMPARED | set(activations.KINDS.values())))
def test_every_function_has_a_row(kind: str) -> None:
    assert RULES.knows(kind)


@pytest.mark.parametrize("kind", sorted(kinds_of_ops() - NOT_IN_KERAS))
def test_every_op_has_a_row(kind: str) -> None:
    assert RULES.knows(kind)


def test_every_op_of_the_cases_has_a_row() -> None:
    """The cases against which layers and functions are held make calls of every layer."""
    calls: list[Call] = [call for case in CASES for call in Ran(case["code"]).log]
    kinds: dict[str, Any] = {call.op.kind: call.function for call in calls}
    assert {kind: name for kind, name in kinds.items() if not RULES.knows(kind)} == {
        kind: name for kind, name in kinds.items() if kind in ELSEWHERE
    }
    assert len(kinds) > 70
