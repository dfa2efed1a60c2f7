"""Reshaping and its like. The figures marked torch are those of PyTorch 2.13."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.dims import Batch, Shape, product
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import (
    Expand,
    Flatten,
    Flip,
    Permute,
    Repeat,
    RepeatInterleave,
    Reshape,
    Roll,
    Squeeze,
    Transpose,
    Unflatten,
    Unsqueeze,
)
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")
CUT = object()
"""Stands for a size that depends on the batch in a way that is not known."""

RESHAPES: dict[str, tuple[Shape, tuple[Any, ...], tuple[Any, ...]]] = {
    "the features of a VGG, flattened": ((N, 512, 7, 7), (-1, 25088), (N, 25088)),
    "the batch by name, the rest by -1": ((N, 256, 4, 4), (N, -1), (N, 4096)),
    "the rest by number, the batch by -1": ((N, 256, 4, 4), (-1, 4096), (N, 4096)),
    "axes of size 1 flattened away": ((N, 512, 1, 1), (N, -1), (N, 512)),
    "channels folded into the batch": ((N, 64, 14, 14), (Batch(4), 16, 14, 14), (Batch(4), 16, 14, 14)),
    "frames out of the batch": ((Batch(8), 3, 5, 5), (N, 8, 3, 5, 5), (N, 8, 3, 5, 5)),
    "frames out of the batch by -1": ((Batch(8), 3, 5, 5), (-1, 8, 3, 5, 5), (N, 8, 3, 5, 5)),
    "time first, the batch by -1": ((Batch(8), 10), (8, -1, 10), (8, N, 10)),
    "a group axis": ((N, 12, 5, 5), (N, 3, 4, 5, 5), (N, 3, 4, 5, 5)),
    "the batch folded into channels": ((N, 16, 5, 5), (1, -1, 5, 5), (1, Batch(16), 5, 5)),
    "numbers only": ((6, 4), (3, -1), (3, 8)),
    "one value": ((1, 1), (-1,), (1,)),
    "to no axes at all": ((1, 1), (), ()),
    "an unknown side under -1": ((N, 64, U, U), (N, -1), (N, U)),
    "an unknown side beside -1": ((N, 64, U, U), (N, 64, -1), (N, 64, U)),
    "an unknown target": ((N, 64, 7, 7), (N, U), (N, U)),
    "unknown everywhere": ((U, U), (-1, 400), (U, 400)),
    "a number that stands for the batch, with -1": ((N, 16, 4, 4), (32, -1), (N, 256)),
    "a number that stands for the batch, without -1": ((N, 256), (32, 16, 16), (N, 16, 16)),
    "a batch of 1 that stands for the batch": ((N, 256), (1, 16, 16), (N, 16, 16)),
    "two rows for each sample": ((N, 10), (64, 5), (Batch(2), 5)),
    "samples dealt out to groups": ((N, 3, 8, 8), (4, -1, 3, 8, 8), (4, CUT, 3, 8, 8)),
    "samples dealt out to groups, channels split": ((N, 6, 8, 8), (4, -1, 2, 3, 8, 8), (4, CUT, 2, 3, 8, 8)),
    "samples gathered into groups": ((N, 3, 8, 8), (-1, 4, 3, 8, 8), (CUT, 4, 3, 8, 8)),
    "rows by the batch out of a constant": ((1, 768), (N, -1), (N, CUT)),
}


@pytest.mark.parametrize(("shape", "target", "expected"), RESHAPES.values(), ids=RESHAPES.keys())
def test_reshape(shape: Shape, target: Shape, expected: tuple[Any, ...]) -> None:
    (found,) = Reshape(target).outputs(shape)
    assert len(found) == len(expected)
    for size, wanted in zip(found, expected, strict=True):
        assert isinstance(size, Unknown) if wanted is CUT else size == wanted


WRONG_RESHAPES: dict[str, tuple[Shape, tuple[Any, ...], str, str, Any]] = {
    "LeNet on 28x28 pictures": (
        (N, 16, 4, 4),
        (-1, 400),
        "reshapes (N, 16, 4, 4) to (-1, 400), but each sample has 256 values, not 400",
        "(-1, 256) would fit",
        (N, 400),
    ),
    "a pool forgotten: four samples would be one": (
        (N, 16, 8, 8),
        (-1, 4096),
        "reshapes (N, 16, 8, 8) to (-1, 4096), but each sample has 1024 values, not 4096",
        "(-1, 1024) would fit",
        (N, 4096),
    ),
    "the batch by name": (
        (N, 16, 4, 4),
        (N, 400),
        "reshapes (N, 16, 4, 4) to (N, 400), but each sample has 256 values, not 400",
        "(N, 256) would fit",
        (N, 400),
    ),
    "a map of another size": (
        (N, 100),
        (-1, 4, 7, 7),
        "reshapes (N, 100) to (-1, 4, 7, 7), but each sample has 100 values, not 196",
        "sizes whose product is 100 would fit",
        (N, 4, 7, 7),
    ),
    "a number of rows that no batch gives": (
        (N, 16, 4, 4),
        (1, 400),
        "reshapes (N, 16, 4, 4) to (1, 400), but each sample has 256 values, not 400",
        "(1, 256) would fit",
        (1, 400),
    ),
    "constants": (
        (6, 4),
        (5, 5),
        "reshapes (6, 4) to (5, 5), but it has 24 values, not 25",
        "(5, 24) would fit",
        (5, 5),
    ),
    "constants with -1": (
        (6, 4),
        (-1, 5),
        "reshapes (6, 4) to (-1, 5), but it has 24 values, not 5",
        "(-1, 24) would fit",
        (CUT, 5),
    ),
    "channels that do not divide": (
        (N, 10, 3, 3),
        (N, 4, -1, 3, 3),
        "reshapes (N, 10, 3, 3) to (N, 4, -1, 3, 3), but each sample has 90 values, not 36",
        "sizes whose product is 90 would fit",
        (N, 4, CUT, 3, 3),
    ),
    "two sizes of -1": ((N, 10), (-1, -1), "reshapes to (-1, -1), which has more than one -1", "", None),
    "a negative size": ((N, 10), (-2, 5), "takes a size of at least 0, but is given -2", "", (CUT, 5)),
    "a size from a division": (
        (N, 10),
        (N, 10.0),
        "takes a whole number as its size, but is given 10.0",
        "'//' divides to a whole number",
        (N, 10),
    ),
}


@pytest.mark.parametrize(
    ("shape", "target", "what", "advice", "expected"), WRONG_RESHAPES.values(), ids=WRONG_RESHAPES.keys()
)
def test_wrong_reshape(
    mismatch: Callable[..., Mismatch], shape: Shape, target: Shape, what: str, advice: str, expected: Any
) -> None:
    found = mismatch(Reshape(target), shape)
    assert (found.problem.code, found.problem.what, found.problem.advice) == ("CNM201", what, advice)
    if expected is None:
        assert found.recovered is None
        return
    assert found.recovered is not None
    for size, wanted in zip(found.recovered[0], expected, strict=True):
        assert isinstance(size, Unknown) if wanted is CUT else size == wanted


def test_a_wrong_reshape_gives_the_values_of_a_sample(mismatch: Callable[..., Mismatch]) -> None:
    problem = mismatch(Reshape((-1, 400)), (N, 16, 4, 4)).problem
    assert (problem.given, problem.declared) == (256, 400)


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.data(),
    st.booleans(),
)
def test_reshape_keeps_the_number_of_values(sizes: list[int], data: st.DataObject, batched: bool) -> None:
    """Whatever factors are dealt out to whatever axes, with -1 at any of them."""
    target = [1] * data.draw(st.integers(1, 4))
    for size in sizes:
        target[data.draw(st.integers(0, len(target) - 1))] *= size
    shape: Shape = (N, *sizes) if batched else tuple(sizes)
    aim: list[Any] = [N, *target] if batched else list(target)
    aim[data.draw(st.integers(0, len(aim) - 1))] = -1
    (found,) = Reshape(tuple(aim)).outputs(shape)
    assert product(found) == product(shape)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_reshape_is_refused_where_numbers_of_values_differ(left: list[int], right: list[int]) -> None:
    try:
        Reshape(tuple(right)).outputs(tuple(left))
        fits = True
    except Mismatch:
        fits = False
    assert fits == (math.prod(left) == math.prod(right))


SHAPES: dict[str, tuple[Op, Shape, Any]] = {
    "flatten all but the batch": (Flatten(), (N, 16, 5, 5), (N, 400)),
    "flatten everything": (Flatten(0), (N, 16, 5, 5), (Batch(400),)),
    "flatten axes in the middle": (Flatten(1, -2), (N, 3, 4, 5), (N, 12, 5)),
    "flatten one axis": (Flatten(1, 1), (N, 3, 4), (N, 3, 4)),
    "flatten unknown sides": (Flatten(), (N, 16, U, U), (N, U)),
    "flatten a number": (Flatten(0), (), (1,)),
    "flatten from an unknown axis": (Flatten(U), (N, 3, 4), U),
    "unflatten": (Unflatten(1, (3, 4)), (N, 12, 5), (N, 3, 4, 5)),
    "unflatten with -1": (Unflatten(-1, (2, -1)), (N, 3, 8), (N, 3, 2, 4)),
    "unflatten the batch": (Unflatten(0, (-1, 4)), (Batch(4), 3), (N, 4, 3)),
    "unflatten an unknown size": (Unflatten(1, (3, -1)), (N, U), (N, 3, U)),
    "permute": (Permute((0, 2, 3, 1)), (N, 3, 8, 9), (N, 8, 9, 3)),
    "permute with negative axes": (Permute((0, -1, 1, 2)), (N, 3, 8, 9), (N, 9, 3, 8)),
    "permute by an unknown axis": (Permute((0, U, 1)), (N, 3, 8), (U, U, U)),
    "transpose": (Transpose(1, 2), (N, 49, 768), (N, 768, 49)),
    "transpose from the end": (Transpose(-1, -2), (N, 4, 49, 64), (N, 4, 64, 49)),
    "transpose an unknown axis": (Transpose(U, 1), (N, 4, 5), (U, U, U)),
    "squeeze all": (Squeeze(), (N, 512, 1, 1), (N, 512)),
    "squeeze one": (Squeeze(-1), (N, 512, 1, 1), (N, 512, 1)),
    "squeeze several": (Squeeze((2, 3)), (N, 512, 1, 1), (N, 512)),
    "torch: squeeze what is not 1": (Squeeze(1), (N, 512, 1), (N, 512, 1)),
    "squeeze never drops the batch": (Squeeze(0), (N, 512), (N, 512)),
    "squeeze an unknown size": (Squeeze(), (N, 512, U), U),
    "squeeze beside an unknown size": (Squeeze(1), (N, 1, U), (N, U)),
    "tf: squeeze an unknown size, which must be 1": (Squeeze(2, strict=True), (N, 512, U), (N, 512)),
    "unsqueeze in front": (Unsqueeze(0), (3, 4), (1, 3, 4)),
    "unsqueeze at the end": (Unsqueeze(-1), (N, 4), (N, 4, 1)),
    "expand an axis of 1": (Expand((N, 8, 5)), (N, 1, 5), (N, 8, 5)),
    "expand with -1": (Expand((-1, 8, -1)), (N, 1, 5), (N, 8, 5)),
    "expand a class token to the batch": (Expand((N, -1, -1)), (1, 1, 768), (N, 1, 768)),
    "expand to new axes in front": (Expand((N, 4, 3)), (3,), (N, 4, 3)),
    "expand an unknown size": (Expand((N, 4)), (N, U), (N, 4)),
    "repeat": (Repeat((1, 2, 3)), (N, 4, 5), (N, 8, 15)),
    "repeat to the batch": (Repeat((N, 1)), (1, 5), (N, 5)),
    "repeat with new axes": (Repeat((2, 1, 3)), (4, 5), (2, 4, 15)),
    "repeat an unknown number of times": (Repeat((1, U)), (N, 5), (N, U)),
    "repeat beyond any memory": (Repeat((2**40, 1)), (2**40, 5), CUT),
    "repeat each value": (RepeatInterleave(3, 1), (N, 4, 5), (N, 12, 5)),
    "repeat each value of all": (RepeatInterleave(2), (3, 4), (24,)),
    "roll": (Roll((1, 2)), (N, 7, 7), (N, 7, 7)),
    "flip": (Flip((3,)), (N, 3, 7, 7), (N, 3, 7, 7)),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shape: Shape, expected: Any) -> None:
    (found,) = op.outputs(shape)
    if expected is CUT:
        assert not isinstance(found, Unknown)
        assert isinstance(found[0], Unknown)
    else:
        assert found == expected


PROBLEMS: dict[str, tuple[Op, Shape, str]] = {
    "flatten from an axis that is not there": (
        Flatten(2),
        (N, 3),
        "works on axis 2, but its input has 2 axes",
    ),
    "flatten backwards": (Flatten(2, 1), (N, 3, 4), "flattens from axis 2 to axis 1, which comes before it"),
    "unflatten into other numbers": (
        Unflatten(1, (3, 5)),
        (N, 12),
        "reshapes (12,) to (3, 5), but it has 12 values, not 15",
    ),
    "permute fewer axes": (Permute((0, 2, 1)), (N, 3, 8, 9), "reorders 3 axes, but is given (N, 3, 8, 9)"),
    "permute an axis twice": (Permute((0, 1, 1)), (N, 3, 8), "reorders axes (0, 1, 1), which repeat"),
    "permute an axis that is not there": (
        Permute((0, 1, 3)),
        (N, 3, 8),
        "works on axis 3, but its input has 3 axes",
    ),
    "transpose an axis that is not there": (
        Transpose(0, -3),
        (N, 3),
        "works on axis -3, but its input has 2 axes",
    ),
    "tf: squeeze what is not 1": (
        Squeeze(1, strict=True),
        (N, 5, 1),
        "drops axis 1 of (N, 5, 1), which is 5 and not 1",
    ),
    "unsqueeze too far": (Unsqueeze(4), (N, 3), "works on axis 4, but its input has 3 axes"),
    "expand what is not 1": (
        Expand((N, 4, 5)),
        (N, 3, 5),
        "expands (N, 3, 5) to (N, 4, 5), but axis 1 is 3 and not 1",
    ),
    "expand to fewer axes": (Expand((4,)), (N, 3), "expands to 1 axis, but is given (N, 3)"),
    "expand a new axis by -1": (Expand((-1, N, 3)), (N, 3), "expands to (-1, N, 3), whose -1 is a new axis"),
    "repeat fewer axes": (Repeat((2,)), (N, 3), "repeats 1 axis, but is given (N, 3)"),
}


@pytest.mark.parametrize(("op", "shape", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == ("CNM201", what)


def test_views_share_storage_and_copies_do_not() -> None:
    assert all(op.view and op.kind == "view" for op in (Reshape((-1,)), Flatten(), Permute((0,)), Expand((1,))))
    assert not any(op.view for op in (Repeat((2,)), Roll(0), Flip(0), RepeatInterleave(2)))
