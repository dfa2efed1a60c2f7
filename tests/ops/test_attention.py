"""Scaled dot product attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch
from flake8_cnnmem.ops import ScaledDotProduct
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

attend = ScaledDotProduct()
grouped = ScaledDotProduct(grouped=True)

SHAPES: dict[str, tuple[ScaledDotProduct, tuple[Shape, Shape, Shape], Shape]] = {
    "self attention": (attend, ((N, 12, 197, 64),) * 3, (N, 12, 197, 64)),
    "another length and width": (attend, ((N, 4, 5, 8), (N, 4, 6, 8), (N, 4, 6, 9)), (N, 4, 5, 9)),
    "without heads": (attend, ((N, 5, 8), (N, 6, 8), (N, 6, 8)), (N, 5, 8)),
    "heads shared by several": (grouped, ((N, 8, 5, 16), (N, 2, 6, 16), (N, 2, 6, 16)), (N, 8, 5, 16)),
    "unknown lengths": (attend, ((N, 4, U, 8), (N, 4, 6, 8), (N, 4, U, 8)), (N, 4, U, 8)),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: ScaledDotProduct, shapes: tuple[Shape, ...], expected: Shape) -> None:
    assert op.outputs(*shapes) == (expected,)


PROBLEMS: dict[str, tuple[ScaledDotProduct, tuple[Shape, Shape, Shape], str]] = {
    "queries and keys of other widths": (
        attend,
        ((N, 5, 8), (N, 6, 9), (N, 6, 8)),
        "attends over (N, 5, 8), (N, 6, 9) and (N, 6, 8): q and k have 8 and 9",
    ),
    "keys and values of other lengths": (
        attend,
        ((N, 5, 8), (N, 6, 8), (N, 7, 8)),
        "attends over (N, 5, 8), (N, 6, 8) and (N, 7, 8): k and v have 6 and 7",
    ),
    "other heads": (
        attend,
        ((N, 8, 5, 8), (N, 2, 5, 8), (N, 2, 5, 8)),
        "attends over (N, 8) and (N, 2) and (N, 2): 8 and 2 are not equal",
    ),
    "heads that cannot be shared": (
        grouped,
        ((N, 8, 5, 8), (N, 3, 5, 8), (N, 3, 5, 8)),
        "shares 3 heads of k among 8 of q",
    ),
    "a vector": (attend, ((8,), (8,), (8,)), "takes an input of at least 2 axes, but is given (8,)"),
}


@pytest.mark.parametrize(("op", "shapes", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: ScaledDotProduct, shapes: tuple[Shape, ...], what: str) -> None:
    assert mismatch(op, *shapes).problem.what == what
