"""Linear, bilinear and embedding layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import Bilinear, Embedding, Linear
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")
HALF: Any = 64.5

SHAPES: dict[str, tuple[Op, tuple[Shape, ...], Shape]] = {
    "of a flat input": (Linear(10, 512), ((N, 512),), (N, 10)),
    "along the last axis": (Linear(64, 768), ((N, 197, 768),), (N, 197, 64)),
    "of a single vector": (Linear(64, 768), ((768,),), (64,)),
    "of whatever width": (Linear(10), ((N, 3, 8),), (N, 3, 10)),
    "of an unknown width": (Linear(10, 512), ((N, U),), (N, 10)),
    "of unknown declared inputs": (Linear(10, U), ((N, 5),), (N, 10)),
    "to unknown features": (Linear(U, 512), ((N, 512),), (N, U)),
    "torch: to no features": (Linear(0, 512), ((N, 512),), (N, 0)),
    "along the batch": (Linear(10, 512), ((5, N),), (5, 10)),
    "bilinear": (Bilinear(20, 30, 40), ((N, 20), (N, 30)), (N, 40)),
    "embedding of a text": (Embedding(10000, 128), ((N, 500),), (N, 500, 128)),
    "embedding of unknown width": (Embedding(10000, U), ((N, 500),), (N, 500, U)),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shapes: tuple[Shape, ...], expected: Shape) -> None:
    assert op.outputs(*shapes) == (expected,)


PROBLEMS: dict[str, tuple[Op, tuple[Shape, ...], str, str, Shape]] = {
    "other features than declared": (
        Linear(120, 400),
        ((N, 256),),
        "takes 400 features, but is given 256",
        "256 features would fit",
        (N, 120),
    ),
    "a map that was to be flattened": (
        Linear(4096, 25088),
        ((N, 512, 7, 7),),
        "takes 25088 features, but is given 7",
        "its input is to be flattened first: 512 x 7 x 7 = 25088",
        (N, 512, 7, 4096),
    ),
    "axes in another order": (
        Linear(10, 64),
        ((N, 64, 5),),
        "takes 64 features, but is given 5",
        "5 features would fit, or the axes in another order: axis 1 has 64",
        (N, 64, 10),
    ),
    "features from a division": (
        Linear(HALF, 10),
        ((N, 10),),
        "takes a whole number as its number of features, but is given 64.5",
        "'//' divides to a whole number",
        (N, U),
    ),
    "negative features": (
        Linear(-5, 10),
        ((N, 10),),
        "takes a number of features of at least 0, but is given -5",
        "",
        (N, U),
    ),
    "a number": (Linear(5, 10), ((),), "takes an input of at least 1 axis, but is given ()", "", (5,)),
    "bilinear, the second input": (
        Bilinear(20, 30, 40),
        ((N, 20), (N, 31)),
        "takes 30 features, but is given 31",
        "31 features would fit",
        (N, 40),
    ),
    "embedding of nothing": (
        Embedding(0, 128),
        ((N, 500),),
        "takes a number of embeddings of at least 1, but is given 0",
        "",
        (N, 500, 128),
    ),
}


@pytest.mark.parametrize(("op", "shapes", "what", "advice", "expected"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(
    mismatch: Callable[..., Mismatch], op: Op, shapes: tuple[Shape, ...], what: str, advice: str, expected: Shape
) -> None:
    found = mismatch(op, *shapes)
    assert (found.problem.code, found.problem.what, found.problem.advice) == ("CNM201", what, advice)
    assert found.recovered is not None
    for size, wanted in zip(found.recovered[0], expected, strict=True):
        assert isinstance(size, Unknown) if isinstance(wanted, Unknown) else size == wanted


WEIGHTS: dict[str, tuple[Op, tuple[Shape, ...], dict[str, Shape]]] = {
    "linear": (Linear(10, 512), (), {"weight": (10, 512), "bias": (10,)}),
    "linear without a bias": (Linear(10, 512, False), (), {"weight": (10, 512)}),
    "linear, by its input": (Linear(10), ((N, 7, 64),), {"weight": (10, 64), "bias": (10,)}),
    "linear, whether it has a bias is unknown": (Linear(10, 5, U), (), {"weight": (10, 5), "bias": (U,)}),
    "bilinear": (Bilinear(20, 30, 40), (), {"weight": (40, 20, 30), "bias": (40,)}),
    "embedding": (Embedding(10000, 128), (), {"weight": (10000, 128)}),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights(op: Op, shapes: tuple[Shape, ...], expected: dict[str, Shape]) -> None:
    assert {name: spec.shape for name, spec in op.weights(*shapes).items()} == expected


def test_weights_before_the_first_call_are_not_known() -> None:
    assert isinstance(Linear(10).weights()["weight"].shape[1], Unknown)
