"""Ops of several tensors. The figures marked torch and keras are those of PyTorch 2.13 and Keras 3.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import Average, Broadcast, Concatenate, Dot, Einsum, GroupedMatmul, Matmul, Stack
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")
CUT = object()
"""Stands for a size that is not known."""

add = Broadcast("add")

SHAPES: dict[str, tuple[Op, tuple[Shape, ...], Any]] = {
    "add equal maps": (add, ((N, 64, 56, 56), (N, 64, 56, 56)), (N, 64, 56, 56)),
    "add a bias for each channel": (add, ((N, 64, 56, 56), (64, 1, 1)), (N, 64, 56, 56)),
    "add a number": (add, ((N, 64), ()), (N, 64)),
    "add three": (add, ((N, 1, 5), (N, 4, 1), (1, 4, 5)), (N, 4, 5)),
    "add one": (add, ((N, 64),), (N, 64)),
    "scale by an attention of 1x1": (Broadcast("multiply"), ((N, 64, 7, 7), (N, 64, 1, 1)), (N, 64, 7, 7)),
    "the batch against 1": (add, ((N, 5), (1, 5)), (N, 5)),
    "the batch against another number": (add, ((N, 5), (32, 5)), (CUT, 5)),
    "the batch against an unknown size": (add, ((N, 5), (U, 5)), (N, 5)),
    "an unknown size against a number": (add, ((N, U), (N, 5)), (N, 5)),
    "an unknown size against 1": (add, ((N, U), (N, 1)), (N, U)),
    "average": (Average(), ((N, 10), (N, 10)), (N, 10)),
    "concatenate channels": (Concatenate(1), ((N, 64, 7, 7), (N, 32, 7, 7)), (N, 96, 7, 7)),
    "concatenate the last axis": (Concatenate(), ((N, 7, 64), (N, 7, 32), (N, 7, 1)), (N, 7, 97)),
    "concatenate batches": (Concatenate(0), ((N, 5), (N, 5)), (Batch(2), 5)),
    "concatenate the batch and a number": (Concatenate(0), ((N, 5), (1, 5)), (CUT, 5)),
    "concatenate with unknown channels": (Concatenate(1), ((N, 64, 7), (N, U, 7)), (N, U, 7)),
    "a known side beside an unknown one": (Concatenate(1), ((N, 64, U), (N, 64, 7)), (N, 128, 7)),
    "the batch beside a literal batch": (Concatenate(1), ((32, 1), (N, 5)), (N, 6)),
    "concatenate along an unknown axis": (Concatenate(U), ((N, 5), (N, 5)), (U, U)),
    "torch: an empty tensor is passed over": (Concatenate(0), ((0,), (3, 4)), (3, 4)),
    "stack": (Stack(), ((N, 5), (N, 5), (N, 5)), (3, N, 5)),
    "stack at the end": (Stack(-1), ((N, 5), (N, 5)), (N, 5, 2)),
    "matmul": (Matmul(), ((N, 4, 49, 64), (N, 4, 64, 49)), (N, 4, 49, 49)),
    "matmul by a matrix": (Matmul(), ((N, 10, 64), (64, 32)), (N, 10, 32)),
    "groups of rows": (GroupedMatmul(), ((64, 8), (4, 8, 5), (4,)), (64, 5)),
    "groups of columns": (GroupedMatmul(), ((4, 6, 8), (8, 64), (4,)), (6, 64)),
    "groups of what is summed over": (GroupedMatmul(), ((6, 64), (64, 5), (4,)), (4, 6, 5)),
    "no groups": (GroupedMatmul(), ((4, 6, 8), (4, 8, 5)), (4, 6, 5)),
    "matmul by a vector": (Matmul(), ((N, 10, 64), (64,)), (N, 10)),
    "a vector by a matrix": (Matmul(), ((64,), (N, 64, 5)), (N, 5)),
    "two vectors": (Matmul(), ((64,), (64,)), ()),
    "matmul broadcasts": (Matmul(), ((N, 1, 5, 6), (8, 6, 7)), (N, 8, 5, 7)),
    "matmul with unknown inner sizes": (Matmul(), ((N, 5, U), (N, 7, 8)), (N, 5, 8)),
    "torch: attention by einsum": (Einsum("bhid,bhjd->bhij"), ((N, 4, 5, 8), (N, 4, 6, 8)), (N, 4, 5, 6)),
    "torch: einsum with dots": (Einsum("...ij,...jk"), ((2, 1, 3, 4), (5, 4, 6)), (2, 5, 3, 6)),
    "torch: einsum without a result": (Einsum("ba,ac"), ((2, 3), (3, 4)), (2, 4)),
    "torch: einsum of a diagonal": (Einsum("ii->i"), ((3, 3),), (3,)),
    "einsum to a number": (Einsum("ij->"), ((N, 3),), ()),
    "einsum of one, transposed": (Einsum(" n c h w -> n h w c "), ((N, 3, 4, 5),), (N, 4, 5, 3)),
    "einsum with an unknown size": (Einsum("nc,cd->nd"), ((N, U), (5, U)), (N, U)),
    "einsum finds a size in the other tensor": (Einsum("nc,cd->ncd"), ((N, U), (5, 6)), (N, 5, 6)),
    "einsum by an unknown equation": (Einsum(U), ((N, 5),), U),
    "keras: dot of two vectors": (Dot(1), ((N, 20), (N, 20)), (N, 1)),
    "keras: dot of a vector and a matrix": (Dot((1, 2)), ((N, 20), (N, 30, 20)), (N, 30)),
    "keras: dot of two matrices": (Dot((2, 1)), ((N, 5, 6), (N, 6, 7)), (N, 5, 7)),
    "keras: dot along the last axes": (Dot(-1), ((N, 5, 6), (N, 7, 6)), (N, 5, 7)),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shapes: tuple[Shape, ...], expected: Any) -> None:
    (found,) = op.outputs(*shapes)
    if isinstance(expected, Unknown):
        assert found == expected
        return
    assert not isinstance(found, Unknown)
    assert len(found) == len(expected)
    for size, wanted in zip(found, expected, strict=True):
        assert isinstance(size, Unknown) if wanted is CUT else size == wanted


PROBLEMS: dict[str, tuple[Op, tuple[Shape, ...], str]] = {
    "add maps of other sides": (
        add,
        ((N, 64, 56, 56), (N, 64, 28, 28)),
        "adds (N, 64, 56, 56) and (N, 64, 28, 28): 56 and 28 are not equal",
    ),
    "multiply other channels": (
        Broadcast("multiply"),
        ((N, 64, 7, 7), (N, 32, 1, 1)),
        "multiplies (N, 64, 7, 7) and (N, 32, 1, 1): 64 and 32 are not equal",
    ),
    "a batch and two batches": (add, ((N, 5), (Batch(2), 5)), "adds (N, 5) and (2N, 5): N and 2N are not equal"),
    "average of three": (
        Average(),
        ((N, 5), (N, 1), (N, 6)),
        "averages (N, 5) and (N, 1) and (N, 6): 5 and 6 are not equal",
    ),
    "in place into a smaller tensor": (
        Broadcast("add", in_place=True),
        ((5, 1), (5, 6)),
        "adds in place (5, 1) and (5, 6), which is larger",
    ),
    "a U-Net's skip of an odd size": (
        Concatenate(1),
        ((N, 64, 44, 44), (N, 64, 45, 45)),
        "joins (N, 64, 44, 44) and (N, 64, 45, 45): axis 2 is 44 and 45",
    ),
    "concatenate another rank": (
        Concatenate(1),
        ((N, 64, 1, 1), (N, 64)),
        "joins (N, 64, 1, 1) and (N, 64), which differ in their number of axes",
    ),
    "concatenate along an axis that is not there": (
        Concatenate(2),
        ((N, 64), (N, 64)),
        "works on axis 2, but its input has 2 axes",
    ),
    "stack unequal shapes": (Stack(), ((N, 5), (N, 6)), "stacks (N, 5) and (N, 6): axis 1 is 5 and 6"),
    "matmul of sizes that do not meet": (
        Matmul(),
        ((N, 5, 6), (7, 8)),
        "multiplies (N, 5, 6) by (7, 8): 6 columns meet 7 rows",
    ),
    "matmul of unequal batches": (
        Matmul(),
        ((4, 5, 6), (3, 6, 7)),
        "multiplies matrices in (4,) and (3,): 4 and 3 are not equal",
    ),
    "einsum of unequal sizes": (
        Einsum("ij,jk->ik"),
        ((2, 3), (4, 5)),
        "sums (2, 3) and (4, 5) by 'ij,jk->ik': j is 3 and 4",
    ),
    "einsum of another rank": (Einsum("ij,jk->ik"), ((2, 3, 4), (4, 5)), "matches (2, 3, 4) against 'ij'"),
    "einsum of another number": (Einsum("ij,jk"), ((2, 3),), "has an equation of 2 tensors, but is given 1"),
    "einsum to a letter from nowhere": (Einsum("ij->ik"), ((2, 3),), "has 'k' only in the result of 'ij->ik'"),
    "keras: dot of unequal sizes": (
        Dot(1),
        ((N, 20), (N, 30)),
        "multiplies (N, 20) and (N, 30) along axes 1 and 1: 20 and 30 are not equal",
    ),
}


@pytest.mark.parametrize(("op", "shapes", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shapes: tuple[Shape, ...], what: str) -> None:
    problem = mismatch(op, *shapes).problem
    assert (problem.code, problem.what) == ("CNM201", what)


def test_sizes_in_conflict_go_on_as_unknown(mismatch: Callable[..., Mismatch]) -> None:
    recovered = mismatch(Concatenate(1), (N, 64, 44, 7), (N, 64, 45, 7)).recovered
    assert recovered is not None
    assert recovered[0][:2] == (N, 128)
    assert isinstance(recovered[0][2], Unknown)
    assert recovered[0][3] == 7


def test_both_sizes_are_given(mismatch: Callable[..., Mismatch]) -> None:
    problem = mismatch(add, (N, 64), (N, 32)).problem
    assert (problem.given, problem.declared) == (32, 64)


sizes = st.sampled_from([1, 1, 2, 3])


@given(st.lists(sizes, max_size=4), st.lists(sizes, max_size=4))
def test_broadcasting_is_that_of_numpy(left: list[int], right: list[int]) -> None:
    """Each axis from the end: equal, or one of them is 1 or missing."""
    rank = max(len(left), len(right))
    first, second = [1] * (rank - len(left)) + left, [1] * (rank - len(right)) + right
    fits = all(a == b or 1 in (a, b) for a, b in zip(first, second, strict=True))
    try:
        found: Any = add.outputs(tuple(left), tuple(right))[0]
    except Mismatch:
        found = None
    assert found == (tuple(max(a, b) for a, b in zip(first, second, strict=True)) if fits else None)
