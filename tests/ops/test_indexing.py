"""Indexing and splitting. The figures marked torch are those of PyTorch 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op, Tensor
from flake8_cnnmem.ops import Chunk, Index, Split, Unbind
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")
CUT = object()
"""Stands for a size that is not known."""

ALL = slice(None)
FOUR = (4, 5, 6, 7)
TWO = Tensor((2,), "int64")

INDICES: dict[str, tuple[tuple[Any, ...], Shape, Any]] = {
    "one sample": ((0,), (N, 3, 8), (3, 8)),
    "the last step of a sequence": ((ALL, -1), (N, 10, 64), (N, 64)),
    "the class token": ((ALL, 0, ALL), (N, 197, 768), (N, 768)),
    "a range of channels": ((ALL, slice(2, 5)), (N, 8, 7, 7), (N, 3, 7, 7)),
    "a range that ends early": ((slice(2, 99),), (5, 3), (3, 3)),
    "every other row": ((ALL, ALL, slice(None, None, 2)), (N, 3, 9), (N, 3, 5)),
    "all but the last": ((slice(None, -1),), (5,), (4,)),
    "a new axis": ((ALL, None), (N, 8), (N, 1, 8)),
    "two new axes at the end": ((ALL, ALL, None, None), (N, 8), (N, 8, 1, 1)),
    "an ellipsis": ((Ellipsis, 0), (N, 3, 8), (N, 3)),
    "an ellipsis that stands for nothing": ((Ellipsis, 0, 0), (3, 8), ()),
    "a new axis behind an ellipsis": ((Ellipsis, None), (N, 8), (N, 8, 1)),
    "nothing": ((), (N, 8), (N, 8)),
    "the whole batch": ((ALL,), (N, 8), (N, 8)),
    "a part of the batch": ((slice(0, 4),), (N, 8), (CUT, 8)),
    "the first sample kept as an axis": ((slice(0, 1),), (N, 8), (1, 8)),
    "the first half of two batches": ((slice(None, N),), (Batch(2), 8), (N, 8)),
    "the second half of two batches": ((slice(N, None),), (Batch(2), 8), (N, 8)),
    "every other sample of two batches": ((slice(None, None, 2),), (Batch(2), 8), (N, 8)),
    "all but one of the batch": ((slice(1, None),), (N, 8), (CUT, 8)),
    "an unknown end": ((ALL, slice(0, U)), (N, 8), (N, U)),
    "a range of an unknown size": ((ALL, slice(0, 4)), (N, U), (N, U)),
    "an unknown item": ((ALL, U), (N, 8), U),
    "torch: a whole number as a tensor": ((Tensor((), "int64"),), (N, 8), (8,)),
    "torch: a tensor": ((TWO,), FOUR, (2, 5, 6, 7)),
    "torch: tensors side by side": ((ALL, TWO, TWO), FOUR, (4, 2, 7)),
    "torch: tensors apart": ((TWO, ALL, TWO), FOUR, (2, 5, 7)),
    "torch: a number and a tensor": ((0, ALL, TWO), (4, 5, 6), (5, 2)),
    "tensors that broadcast": ((Tensor((3, 1), "int64"), TWO), FOUR, (3, 2, 6, 7)),
    "a list": ((ALL, [0, 2, 1]), (N, 8), (N, 3)),
    "a mask": ((Tensor((4, 5), "bool"),), FOUR, (CUT, 6, 7)),
    "a list of truth values": (([True, False, True, True],), FOUR, (3, 5, 6, 7)),
    "a tensor of unknown rank": ((Tensor(U, "int64"),), FOUR, U),
}


@pytest.mark.parametrize(("items", "shape", "expected"), INDICES.values(), ids=INDICES.keys())
def test_index(items: tuple[Any, ...], shape: Shape, expected: Any) -> None:
    (found,) = Index(items).outputs(shape)
    if isinstance(expected, Unknown):
        assert found == expected
        return
    assert not isinstance(found, Unknown)
    assert len(found) == len(expected)
    for size, wanted in zip(found, expected, strict=True):
        assert isinstance(size, Unknown) if wanted is CUT else size == wanted


class Probe:
    """Has as many axes as are asked for, and tells how long a slice of each is, as numpy does."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __getitem__(self, items: tuple[Any, ...]) -> tuple[int, ...]:
        kept = [
            len(range(size)[item]) for size, item in zip(self.shape, items, strict=False) if isinstance(item, slice)
        ]
        return (*kept, *self.shape[len(items) :])


bounds = st.one_of(st.none(), st.integers(-9, 9))
slices = st.builds(slice, bounds, bounds, st.one_of(st.none(), st.integers(1, 3)))


@given(st.lists(st.integers(3, 6), min_size=1, max_size=4), st.data())
def test_numbers_and_slices_index_as_in_python(sizes: list[int], data: st.DataObject) -> None:
    item = st.one_of(slices, st.integers(-3, 2))
    items = tuple(data.draw(st.lists(item, max_size=len(sizes))))
    assert Index(items).outputs(tuple(sizes)) == (Probe(tuple(sizes))[items],)


@pytest.mark.parametrize(
    ("items", "view"),
    [
        pytest.param((0, ALL, None, Ellipsis), True, id="numbers and slices"),
        pytest.param((Tensor((), "int64"),), True, id="a whole number as a tensor"),
        pytest.param((TWO,), False, id="a tensor"),
        pytest.param((ALL, [0, 1]), False, id="a list"),
        pytest.param((Tensor((4,), "bool"),), False, id="a mask"),
    ],
)
def test_only_basic_indices_are_views(items: tuple[Any, ...], view: bool) -> None:
    op = Index(items)
    assert (op.view, op.kind) == (view, "view" if view else "copy")


SPLITS: dict[str, tuple[Op, Shape, Any]] = {
    "torch: split, the last part smaller": (Split(3), (7, 2), ((3, 2), (3, 2), (1, 2))),
    "split into given sizes": (Split((2, 3), 1), (N, 5, 7), ((N, 2, 7), (N, 3, 7))),
    "split along a negative axis": (Split(4, -1), (N, 8), ((N, 4), (N, 4))),
    "split two batches": (Split(N), (Batch(2), 5), ((N, 5), (N, 5))),
    "split an unknown size into given sizes": (Split((2, 3), 1), (N, U), ((N, 2), (N, 3))),
    "split an unknown size": (Split(2, 1), (N, U), ()),
    "split the batch": (Split(2), (N, 5), ()),
    "split by an unknown size": (Split(U), (6, 5), ()),
    "split into too many parts": (Split(1), (10**6, 5), ()),
    "torch: chunk, the last part smaller": (Chunk(3), (7, 2), ((3, 2), (3, 2), (1, 2))),
    "torch: chunk into fewer parts": (Chunk(4), (5, 2), ((2, 2), (2, 2), (1, 2))),
    "chunk channels": (Chunk(2, 1), (N, 64, 7, 7), ((N, 32, 7, 7), (N, 32, 7, 7))),
    "chunk two batches": (Chunk(2), (Batch(2), 5), ((N, 5), (N, 5))),
    "chunk an unknown size": (Chunk(2, 1), (N, U), ((N, U), (N, U))),
    "chunk into an unknown number": (Chunk(U), (6, 5), ()),
    "unbind": (Unbind(), (3, N, 5), ((N, 5),) * 3),
    "unbind the last axis": (Unbind(-1), (N, 2), ((N,), (N,))),
    "unbind the batch": (Unbind(), (N, 5), ()),
    "unbind an unknown size": (Unbind(1), (N, U), ()),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SPLITS.values(), ids=SPLITS.keys())
def test_split(op: Split | Chunk | Unbind, shape: Shape, expected: Any) -> None:
    assert op.outputs(shape) == expected
    assert op.view
    number = op.count(shape)
    assert number == len(expected) if expected else isinstance(number, Unknown)


PROBLEMS: dict[str, tuple[Op, Shape, str]] = {
    "a position outside": (Index((5,)), (3, 4), "takes position 5 of axis 0, but is given (3, 4)"),
    "more items than axes": (Index((0, 0, 0)), (3, 4), "indexes 3 axes, but is given (3, 4)"),
    "a step of 0": (Index((slice(None, None, 0),)), (3, 4), "takes a slice with a step of 0"),
    "parts that do not add up": (
        Split((2, 2), 1),
        (N, 5),
        "splits axis 1 into parts of 4 together, but is given (N, 5)",
    ),
    "tf: parts that are not equal": (
        Chunk(2, 1, exact=True),
        (N, 5),
        "splits axis 1 into 2 equal parts, but is given (N, 5)",
    ),
    "no chunks": (Chunk(0), (5,), "takes a number of chunks of at least 1, but is given 0"),
    "an axis that is not there": (Unbind(2), (5,), "works on axis 2, but its input has 1 axis"),
}


@pytest.mark.parametrize(("op", "shape", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == ("CNM201", what)


def test_wrong_parts_go_on_as_declared(mismatch: Callable[..., Mismatch]) -> None:
    assert mismatch(Split((2, 2), 1), (N, 5)).recovered == ((N, 2), (N, 2))
