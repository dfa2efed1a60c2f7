"""Pooling. The figures marked torch and keras are those of PyTorch 2.13 and Keras 3.15 on TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import AdaptivePool, FractionalMaxPool, GlobalPool, MaxUnpool, Pool
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

HALF: Any = (2.0, 2.0)

Find = Callable[..., Mismatch]


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(Pool("max", (2, 2)), (N, 64, 25, 24), (N, 64, 12, 12), id="the stride is the kernel's"),
        pytest.param(Pool("max", (3, 3), 2, 1), (N, 64, 112, 112), (N, 64, 56, 56), id="the stem of a ResNet"),
        pytest.param(Pool("average", (3, 3), 2, 1), (N, 8, 7, 8), (N, 8, 4, 4), id="torch: average with padding"),
        pytest.param(
            Pool("max", (3, 3), 2, ceil_mode=True), (N, 64, 112, 112), (N, 64, 56, 56), id="torch: ceil, GoogLeNet"
        ),
        pytest.param(
            Pool("max", (3, 3), 2, ceil_mode=True), (N, 1, 2, 2), (N, 1, 1, 1), id="torch: ceil, window over map"
        ),
        pytest.param(
            Pool("max", (2, 2), 2, 1, ceil_mode=True),
            (N, 1, 3, 3),
            (N, 1, 2, 2),
            id="torch: ceil, no start in the padding",
        ),
        pytest.param(
            Pool("max", (3, 3), 4, 1, ceil_mode=True), (N, 1, 8, 9), (N, 1, 3, 3), id="torch: ceil, start inside"
        ),
        pytest.param(
            Pool("max", (1, 1), 3, ceil_mode=True), (N, 1, 5, 6), (N, 1, 2, 2), id="torch: ceil, start behind the end"
        ),
        pytest.param(Pool("max", (3, 3), 1, 1, 2), (N, 8, 7, 8), (N, 8, 5, 6), id="torch: dilated"),
        pytest.param(
            Pool("max", (3, 3), 2, "same", channels_last=True), (N, 7, 8, 3), (N, 4, 4, 3), id="keras: same rounds up"
        ),
        pytest.param(
            Pool("max", (2,), channels_last=True, padding="valid"), (N, 9, 3), (N, 4, 3), id="keras: one axis"
        ),
        pytest.param(Pool("average", (2, 2, 2)), (N, 3, 8, 8, 8), (N, 3, 4, 4, 4), id="volumes"),
        pytest.param(Pool("max", (2, 2)), (64, 8, 8), (64, 4, 4), id="torch: unbatched"),
        pytest.param(
            Pool("max", (2, 2), 2, ceil_mode=U), (N, 3, 8, 9), (N, 3, 4, U), id="unknown rounding, where it matters"
        ),
        pytest.param(Pool("max", (U, U)), (N, 3, 8, 9), (N, 3, U, U), id="an unknown kernel"),
        pytest.param(AdaptivePool("average", (1, 1)), (N, 512, 7, 7), (N, 512, 1, 1), id="adaptive to 1x1"),
        pytest.param(AdaptivePool("average", (None, 7)), (N, 8, 5, 5), (N, 8, 5, 7), id="adaptive, one side kept"),
        pytest.param(AdaptivePool("max", (U, 7)), (N, 8, 5, U), (N, 8, U, 7), id="adaptive, an unknown side"),
        pytest.param(AdaptivePool("average", (2,), True), (N, 9, 3), (N, 2, 3), id="adaptive, channels last"),
        pytest.param(
            GlobalPool("average", 2, channels_last=True), (N, 7, 7, 512), (N, 512), id="global, channels last"
        ),
        pytest.param(GlobalPool("max", 1), (N, 64, U), (N, 64), id="global, channels first"),
        pytest.param(GlobalPool("max", 2, True), (N, 64, 5, 5), (N, 64, 1, 1), id="global, axes kept"),
        pytest.param(FractionalMaxPool((2, 2), (3, 4)), (N, 8, 9, 9), (N, 8, 3, 4), id="fractional, to a size"),
        pytest.param(
            FractionalMaxPool((2, 2), None, (0.5, 0.7)), (N, 8, 9, 9), (N, 8, 4, 6), id="torch: fractional, by a ratio"
        ),
        pytest.param(MaxUnpool((2, 2)), (N, 8, 4, 4), (N, 8, 8, 8), id="torch: un-pooling doubles"),
        pytest.param(MaxUnpool((3, 3), 2, 1), (N, 8, 4, 4), (N, 8, 7, 7), id="un-pooling with padding"),
        pytest.param(MaxUnpool((2, 2), size=(N, 8, 9, 9)), (N, 8, 4, 4), (N, 8, 9, 9), id="un-pooling to a full shape"),
    ],
)
def test_shape(op: Op, given: Shape, expected: Shape) -> None:
    assert op.outputs(given) == (expected,)


@pytest.mark.parametrize(
    "op",
    [Pool("max", (2, 2), indices=True), AdaptivePool("max", (4, 4), indices=True)],
    ids=["sliding", "adaptive"],
)
def test_indices_have_the_shape_of_the_values(op: Op) -> None:
    assert op.outputs((N, 3, 8, 8)) == ((N, 3, 4, 4), (N, 3, 4, 4))


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        (Pool("max", (2,)), "max_pool"),
        (Pool("average", (2,)), "average_pool"),
        (AdaptivePool("max", (2,)), "adaptive_max_pool"),
        (AdaptivePool("average", (2,)), "adaptive_average_pool"),
        (GlobalPool("max", 2), "global_max_pool"),
        (GlobalPool("average", 2), "global_average_pool"),
    ],
)
def test_kind(op: Op, kind: str) -> None:
    assert op.kind == kind


@pytest.mark.parametrize(
    ("op", "given", "code", "what"),
    [
        pytest.param(
            Pool("max", (2, 2)),
            (N, 64, 1, 1),
            "CNM202",
            "leaves nothing of its 1x1 map: its 2x2 window needs a side of at least 2",
            id="a map pooled away",
        ),
        pytest.param(
            Pool("max", (4, 4), 2, ceil_mode=True),
            (N, 64, 2, 2),
            "CNM202",
            "leaves nothing of its 2x2 map: its 4x4 window needs a side of at least 3",
            id="a map pooled away, rounding up",
        ),
        pytest.param(
            Pool("max", (3, 3), 2, 2),
            (N, 64, 8, 8),
            "CNM201",
            "takes a padding of at most 1, half its window of 3, but is given 2",
            id="torch: too much padding",
        ),
        pytest.param(
            Pool("average", (2, 2, 2), 1, 1),
            (N, 3, 1, 4, 4),
            "CNM202",
            "takes a map of at least 2x2x2, but is given 1x4x4",
            id="torch: volumes smaller than the window",
        ),
        pytest.param(
            Pool("max", HALF),
            (N, 3, 8, 8),
            "CNM201",
            "takes a whole number as its kernel size, but is given 2.0",
            id="a kernel from a division",
        ),
        pytest.param(
            Pool("max", (2, 2)),
            (N, 400),
            "CNM201",
            "takes an input of 4 axes (N, C, H, W), but is given (N, 400)",
            id="a flat input",
        ),
        pytest.param(
            AdaptivePool("max", (-1, 2)),
            (N, 3, 8, 8),
            "CNM201",
            "takes an output size of at least 0, but is given -1",
            id="a negative size",
        ),
        pytest.param(
            FractionalMaxPool((3, 3), (4, 4)),
            (N, 3, 5, 9),
            "CNM202",
            "takes a map of at least 6, but is given 5x9",
            id="fractional, too small a map",
        ),
        pytest.param(
            FractionalMaxPool((2, 2), None, (0.1, 0.5)),
            (N, 3, 5, 9),
            "CNM202",
            "leaves nothing of its 5x9 map",
            id="fractional, too small a ratio",
        ),
    ],
)
def test_wrong_sizes(mismatch: Find, op: Op, given: Shape, code: str, what: str) -> None:
    problem = mismatch(op, given).problem
    assert (problem.code, problem.what) == (code, what)


def test_what_shrank_goes_on_as_unknown(mismatch: Find) -> None:
    recovered = mismatch(Pool("max", (2, 2)), (N, 64, 1, 6)).recovered
    assert recovered is not None
    assert recovered[0][:2] == (N, 64)
    assert isinstance(recovered[0][2], Unknown)
    assert recovered[0][3] == 3


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(Pool("max", (2, 2)), (N, 32, 25, 25), ((2, 1), (3, 1)), id="an odd map, halved"),
        pytest.param(Pool("max", (2, 2)), (N, 32, 24, 24), (), id="an even map, halved"),
        pytest.param(Pool("max", (3, 3), 2), (N, 32, 28, 28), ((2, 1), (3, 1)), id="3x3 with stride 2 on an even map"),
        pytest.param(Pool("max", (2, 2), ceil_mode=True), (N, 32, 25, 25), (), id="rounding up drops nothing"),
        pytest.param(Pool("max", (2, 2), padding="same"), (N, 32, 25, 25), (), id="same drops nothing"),
        pytest.param(Pool("max", (2, 2), channels_last=True), (N, 25, 24, 3), ((1, 1),), id="channels last"),
    ],
)
def test_rows_that_a_stride_drops(op: Pool, given: Shape, expected: tuple[tuple[int, int], ...]) -> None:
    assert op.dropped(given) == expected
