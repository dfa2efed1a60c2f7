"""Activations, dropout and gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import GLU, Dropout, Elementwise, PRelu
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

SHAPES: dict[str, tuple[Op, Shape, Shape]] = {
    "an activation": (Elementwise("relu", True), (N, 64, 7, 7), (N, 64, 7, 7)),
    "of unknown sizes": (Elementwise("exp"), (N, U), (N, U)),
    "dropout": (Dropout(0.5), (N, 512), (N, 512)),
    "a slope for each channel": (PRelu(64), (N, 64, 7, 7), (N, 64, 7, 7)),
    "one slope": (PRelu(), (N, 64), (N, 64)),
    "a gate halves the last axis": (GLU(), (N, 64), (N, 32)),
    "a gate halves channels": (GLU(1), (N, 64, 7), (N, 32, 7)),
    "a gate of an unknown size": (GLU(), (N, U), (N, U)),
    "a gate along an unknown axis": (GLU(U), (N, 64), (U, U)),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shape: Shape, expected: Shape) -> None:
    assert op.outputs(shape) == (expected,)


WEIGHTS: dict[str, tuple[Op, tuple[Shape, ...], dict[str, Shape]]] = {
    "torch: one slope": (PRelu(), (), {"weight": (1,)}),
    "torch: a slope for each channel": (PRelu(64), (), {"weight": (64,)}),
    "keras: a slope for each value": (PRelu(None), ((N, 7, 8, 3),), {"weight": (7, 8, 3)}),
    "keras: a slope for each channel": (PRelu(None, (1, 2)), ((N, 7, 8, 3),), {"weight": (1, 1, 3)}),
    "an activation has none": (Elementwise("relu"), ((N, 3),), {}),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights(op: Op, shapes: tuple[Shape, ...], expected: dict[str, Shape]) -> None:
    assert {name: spec.shape for name, spec in op.weights(*shapes).items()} == expected


@pytest.mark.parametrize(
    ("op", "shape", "what"),
    [
        pytest.param(PRelu(64), (N, 32, 7, 7), "takes 64 channels, but is given 32", id="slopes for other channels"),
        pytest.param(GLU(), (N, 7), "halves axis 1, which has 7 values", id="a gate of an odd size"),
        pytest.param(GLU(2), (N, 8), "works on axis 2, but its input has 2 axes", id="a gate along no axis"),
    ],
)
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == ("CNM201", what)


def test_kind_and_place_are_as_given() -> None:
    op = Elementwise("silu", True)
    assert (op.kind, op.in_place, op.view) == ("silu", True, False)
    assert Dropout(0.1, "alpha_dropout").kind == "alpha_dropout"
    assert Elementwise("detach").view
