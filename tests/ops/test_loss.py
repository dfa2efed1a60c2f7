"""Losses. The figure marked torch is that of PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

SHAPES: dict[str, tuple[Loss, tuple[Shape, ...], Any]] = {
    "a mean": (Loss("cross_entropy"), ((N, 10), (N,)), ()),
    "a sum": (Loss("mse", "sum"), ((N, 10), (N, 10)), ()),
    "one for each sample": (Loss("cross_entropy", "none"), ((N, 10), (N,)), (N,)),
    "torch: one for each pixel": (Loss("cross_entropy", "none"), ((N, 21, 8, 9), (N, 8, 9)), (N, 8, 9)),
    "one for each value": (Loss("mse", "none"), ((N, 10), (N, 10)), (N, 10)),
    "one for each row": (Loss("triplet_margin", "none"), ((N, 128), (N, 128), (N, 128)), (N,)),
    "one for each sequence": (Loss("ctc", "none"), ((50, N, 30), (N, 20)), (N,)),
    "an unknown reduction": (Loss("mse", U), ((N, 10), (N, 10)), U),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Loss, shapes: tuple[Shape, ...], expected: Any) -> None:
    assert op.outputs(*shapes) == (expected,)
