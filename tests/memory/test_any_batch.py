"""Graphs that were followed with a number for the batch, told for any batch size."""

from __future__ import annotations

import pytest

from flake8_cnnmem.dims import BATCH, Batch, Shape
from flake8_cnnmem.memory.actions import reshaped


@pytest.mark.parametrize(
    ("given", "old", "batch", "wanted"),
    [
        pytest.param((8, BATCH, 64), (8, 64, 16), 16, (8, Batch(4), 16), id="heads beside the batch"),
        pytest.param((Batch(4), 8, 16), (16, 4, 8, 16), 16, (BATCH, 4, 8, 16), id="heads out of the batch"),
        pytest.param((16, BATCH, 64), (16, 64, 16), 16, (16, Batch(4), 16), id="as many positions as samples"),
        pytest.param((8, BATCH, 4, 8), (32, 32), 4, (Batch(8), 32), id="positions and batch in one"),
        pytest.param((Batch(8), 32), (8, 4, 32), 4, (8, BATCH, 32), id="and apart"),
        pytest.param((Batch(4), 8, 8), (4, 4, 8, 8), 4, (BATCH, 4, 8, 8), id="as many heads as samples"),
        pytest.param((BATCH, 6), (2, 6), 4, None, id="no axis for it"),
        pytest.param((8, 64), (64, 8), 8, None, id="no batch"),
    ],
)
def test_a_reshape_keeps_the_batch(given: Shape, old: Shape, batch: int, wanted: Shape | None) -> None:
    assert reshaped(given, old, batch) == wanted
