"""Reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import Reduce, Sort, TopK
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

SHAPES: dict[str, tuple[Op, Shape, tuple[Any, ...]]] = {
    "mean over the sides": (Reduce("mean", (2, 3)), (N, 512, 7, 7), ((N, 512),)),
    "mean over the sides, kept": (Reduce("mean", (-2, -1), True), (N, 512, 7, 7), ((N, 512, 1, 1),)),
    "sum of all": (Reduce("sum"), (N, 5), ((),)),
    "sum of all, axes kept": (Reduce("sum", None, True), (N, 5), ((1, 1),)),
    "no axes are all axes": (Reduce("sum", ()), (N, 5), ((),)),
    "torch: max over an axis, and where": (Reduce("max", 1, False, 2), (N, 5, 6), ((N, 6), (N, 6))),
    "argmax": (Reduce("argmax", -1), (N, 10), ((N,),)),
    "a running sum": (Reduce("cumsum", 1), (N, 10), ((N, 10),)),
    "over an unknown size": (Reduce("mean", 1), (N, U, 5), ((N, 5),)),
    "over an unknown axis": (Reduce("mean", U), (N, 4, 5), ((U, U),)),
    "over one known and one unknown axis": (Reduce("mean", (1, U)), (N, 4, 5), ((U,),)),
    "whether axes are kept is unknown": (Reduce("mean", 1, U), (N, 4), (U,)),
    "torch: of a tensor without axes": (Reduce("sum", 0), (), ((),)),
    "the largest five": (TopK(5), (N, 1000), ((N, 5), (N, 5))),
    "the largest of an unknown size": (TopK(5, 1), (N, U), ((N, 5), (N, 5))),
    "an unknown number of the largest": (TopK(U), (N, 10), ((N, U), (N, U))),
    "sorted, and where from": (Sort(1), (N, 10), ((N, 10), (N, 10))),
    "tf: sorted": (Sort(1, 1), (N, 10), ((N, 10),)),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shape: Shape, expected: tuple[Any, ...]) -> None:
    assert op.outputs(shape) == expected


@pytest.mark.parametrize(
    ("op", "shape", "what"),
    [
        pytest.param(Reduce("mean", 3), (N, 5), "works on axis 3, but its input has 2 axes", id="an axis too many"),
        pytest.param(Reduce("cumsum", 3), (N, 5), "works on axis 3, but its input has 2 axes", id="running along none"),
        pytest.param(
            Reduce("mean", (0, -2)), (N, 5), "reduces axes (0, -2) of (N, 5), which repeat", id="an axis twice"
        ),
        pytest.param(TopK(11), (N, 10), "takes the 11 largest of 10 in (N, 10)", id="more than there are"),
        pytest.param(Sort(2), (N, 10), "works on axis 2, but its input has 2 axes", id="sorted along no axis"),
    ],
)
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == ("CNM201", what)
