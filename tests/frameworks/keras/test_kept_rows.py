"""Every kind of op that the Keras framework can make has a row of its own that says what TensorFlow keeps of it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from flake8_cnnmem import ops
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.ops import elementwise, operations
from flake8_cnnmem.frameworks.keras.saved_tensors import RULES
from flake8_cnnmem.graph import Call
from tests.frameworks.keras.code import Ran
from tests.frameworks.keras.test_truth import CASES

FUNCTIONS = (
    operations.OPS, operations.RANDOM, operations.IMAGE, operations.BACKEND, *operations.TENSORFLOW.values()
)  # fmt: skip
WITHOUT_A_ROW = {
    "bce_each", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "ctc_loss", "digamma", "erfcinv", "global_norm",
    "image_gradients", "lgamma", "matrix_adjoint", "matrix_eigh", "matrix_expm", "matrix_logm", "matrix_sqrtm", "ndtri",
    "psnr", "sobel", "ssim", "total_variation", "zero_fraction",
}  # fmt: skip
"""Functions for which no gradient's rule is known: a lower bound names them."""


def kinds_of_functions() -> set[str]:
    """The kinds that the stubs of functions name (`keras.ops`, `keras.backend`, `tf`, `tf.nn`, `tf.math`, ...): in the
    decorator, else the function's own name."""
    found: set[str] = set()
    for functions in FUNCTIONS:
        for name, text in functions.stub.texts.items():
            found |= {name} if not text.startswith("@") else set(re.findall(r'^@.*\bkind="(\w+)"', text, re.M))
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
NOT_IN_KERAS = {"cdist", "embedding_bag", "fractional_max_pool", "grouped_matmul", "matmul_into", "max_unpool"}


@pytest.mark.parametrize(
    "kind", sorted(kinds_of_functions() - COMPARED - WITHOUT_A_ROW | set(activations.KINDS.values()))
)
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
