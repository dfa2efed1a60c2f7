"""Padding, cropping, resizing and blocks. The figures marked torch are those of PyTorch 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import ChannelShuffle, Crop, Fold, Pad, PixelShuffle, Resize, Restrided, Unfold, Windows
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")
CUT = object()
"""Stands for a size that is not known."""

SHAPES: dict[str, tuple[Op, Shape, Any]] = {
    "pad sides": (Pad(((0, 0), (0, 0), (1, 2), (3, 3))), (N, 3, 8, 8), (N, 3, 11, 14)),
    "pad the first axes only": (Pad(((0, 0), (1, 1))), (N, 3, 8, 8), (N, 5, 8, 8)),
    "a negative pad crops": (Pad(((0, 0), (-1, -2))), (N, 8), (N, 5)),
    "pad by an unknown size": (Pad(((0, 0), (U, 1))), (N, 8), (N, U)),
    "pad the batch": (Pad(((0, 1),)), (N, 8), (CUT, 8)),
    "reflect": (Pad(((0, 0), (0, 0), (3, 3), (3, 3)), "reflect"), (N, 3, 8, 8), (N, 3, 14, 14)),
    "crop": (Crop(((0, 0), (1, 2), (3, 3), (0, 0))), (N, 28, 28, 3), (N, 25, 22, 3)),
    "crop an unknown size": (Crop(((0, 0), (1, 1))), (N, U), (N, U)),
    "double": (Resize(None, (2, 2)), (N, 64, 7, 8), (N, 64, 14, 16)),
    "torch: by 0.3": (Resize(None, (0.3, 0.3)), (N, 1, 10, 11), (N, 1, 3, 3)),
    "torch: by 1.7": (Resize(None, (1.7, 1.7)), (N, 1, 10, 11), (N, 1, 17, 18)),
    "by one factor for all sides": (Resize(None, 2.0), (N, 64, 7, 8), (N, 64, 14, 16)),
    "to a size": (Resize((224, 224), None, "bilinear"), (N, 3, U, 50), (N, 3, 224, 224)),
    "keras: double, channels last": (Resize(None, (2, 3), "nearest", True), (N, 7, 8, 64), (N, 14, 24, 64)),
    "by an unknown factor": (Resize(None, (2, U)), (N, 3, 7, 7), (N, 3, 14, U)),
    "resize one axis": (Resize(None, (2,)), (N, 64, 7), (N, 64, 14)),
    "pixel shuffle": (PixelShuffle(2), (N, 64, 7, 8), (N, 16, 14, 16)),
    "pixel shuffle back": (PixelShuffle(2, inverse=True), (N, 16, 14, 16), (N, 64, 7, 8)),
    "tf: depth to space": (PixelShuffle(2, True), (N, 7, 8, 64), (N, 14, 16, 16)),
    "pixel shuffle by an unknown factor": (PixelShuffle(U), (N, 64, 7, 8), (N, U, U, U)),
    "channel shuffle": (ChannelShuffle(4), (N, 64, 7, 7), (N, 64, 7, 7)),
    "torch: unfold": (Unfold((2, 3), stride=2), (N, 3, 10, 12), (N, 18, 25)),
    "torch: as_strided": (Restrided((N, 3, 4), (12, 2, 1)), (N, 12), (N, 3, 4)),
    "unfold with padding": (Unfold((3, 3), padding=1), (N, 4, 5, 5), (N, 36, 25)),
    "fold": (Fold((10, 12), (2, 3), stride=2), (N, 18, 25), (N, 3, 10, 12)),
    "torch: windows along an axis": (Windows(1, 4, 3), (2, 10), (2, 3, 4)),
    "windows of an unknown size": (Windows(1, 4, 2), (N, U, 5), (N, U, 5, 4)),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shape: Shape, expected: Any) -> None:
    (found,) = op.outputs(shape)
    assert not isinstance(found, Unknown)
    assert len(found) == len(expected)
    for size, wanted in zip(found, expected, strict=True):
        assert isinstance(size, Unknown) if wanted is CUT else size == wanted


PROBLEMS: dict[str, tuple[Op, Shape, str, str]] = {
    "pad more axes than there are": (Pad(((1, 1),) * 3), (N, 8), "CNM201", "pads 3 axes, but is given (N, 8)"),
    "pad by a fraction": (
        Pad(((0, 0), (1.5, 1))),  # type: ignore[arg-type]
        (N, 8),
        "CNM201",
        "takes a whole number as its padding, but is given 1.5",
    ),
    "reflect as much as there is": (
        Pad(((0, 0), (8, 0)), "reflect"),
        (N, 8),
        "CNM201",
        "reflects 8 values, but is given (N, 8)",
    ),
    "crop everything": (Crop(((0, 0), (4, 4))), (N, 8), "CNM202", "crops away all of axis 1 of (N, 8)"),
    "shrink to nothing": (Resize(None, (0.1, 0.1)), (N, 3, 5, 20), "CNM202", "leaves nothing of its 5x20 map"),
    "resize a flat input": (
        Resize(None, (2, 2)),
        (N, 400),
        "CNM201",
        "takes an input of 4 axes (N, C, H, W), but is given (N, 400)",
    ),
    "resize to a fraction": (
        Resize((4.0, 4.0)),  # type: ignore[arg-type]
        (N, 3, 8, 8),
        "CNM201",
        "takes a whole number as its size, but is given 4.0",
    ),
    "channels that do not make pixels": (
        PixelShuffle(2),
        (N, 30, 7, 7),
        "CNM201",
        "has 4 pixels for each channel, which do not divide its 30 channels",
    ),
    "rows that do not make blocks": (
        PixelShuffle(2, inverse=True),
        (N, 3, 7, 8),
        "CNM201",
        "has 2 pixels a side, which do not divide its 7 rows or columns",
    ),
    "channels that do not make groups": (
        ChannelShuffle(4),
        (N, 30, 7, 7),
        "CNM201",
        "has 4 groups, which do not divide its 30 channels",
    ),
    "unfold by a window larger than the map": (
        Unfold((5, 5)),
        (N, 3, 4, 4),
        "CNM202",
        "leaves nothing of its 4x4 map: its 5x5 window needs a side of at least 5",
    ),
    "fold another number of blocks": (
        Fold((10, 12), (2, 3), stride=2),
        (N, 18, 30),
        "CNM201",
        "takes 25 blocks, but is given 30",
    ),
    "windows longer than the axis": (
        Windows(1, 9, 1),
        (N, 8),
        "CNM202",
        "takes windows of 9, but axis 1 of (N, 8) is shorter",
    ),
}


@pytest.mark.parametrize(("op", "shape", "code", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, code: str, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == (code, what)


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        (Pad(()), "pad"),
        (Pad((), "reflect"), "reflection_pad"),
        (Pad((), "replicate"), "replication_pad"),
        (Resize((1,), None, "bilinear"), "upsample_bilinear"),
        (Resize((1,), None, "nearest-exact"), "upsample_nearest_exact"),
    ],
)
def test_kind(op: Op, kind: str) -> None:
    assert op.kind == kind


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3))
def test_pixel_shuffle_there_and_back_is_the_same(channels: int, rows: int, columns: int, factor: int) -> None:
    shape = (N, channels * factor * factor, rows, columns)
    assert PixelShuffle(factor, inverse=True).outputs(*PixelShuffle(factor).outputs(shape)) == (shape,)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=2))
def test_cropping_undoes_padding(pads: list[tuple[int, int]]) -> None:
    shape = (N, 3, 8, 9)
    full = ((0, 0), (0, 0), *pads)
    assert Crop(full).outputs(*Pad(full).outputs(shape)) == (shape,)


def test_a_window_of_a_single_number() -> None:
    """As torch.tensor(2.0).unfold(0, 1, 1): one value, its stride 1."""
    assert Windows(0, 1, 1).outputs(()) == ((1,),)
    assert Windows(0, 1, 1).view_strides((), (), (1,)) == (1,)
