"""Where the batch is in shapes that the code states in numbers."""

from __future__ import annotations

import pytest

from flake8_cnnmem.dims import Batch, Shape, at_batch
from flake8_cnnmem.memory.reshapes import with_batch
from flake8_cnnmem.unknown import Unknown

N = Batch(1)

SHAPES: dict[str, tuple[Shape, Shape, Shape | None]] = {
    "heads beside the batch, time first": ((48, N, 256), (48, 160, 32), (48, Batch(8), 32)),
    "heads apart again": ((Batch(8), 48, 32), (20, 8, 48, 32), (N, 8, 48, 32)),
    "all rows": ((48, N, 8, 32), (960, 256), (Batch(48), 256)),
    "rows of each step again": ((Batch(48), 256), (48, 20, 256), (48, N, 256)),
    "everything in one line": ((N, 3, 4), (240,), (Batch(12),)),
    "axes of one": ((N, 1, 5), (1, 20, 5, 1), (1, N, 5, 1)),
    "two views of each sample": ((Batch(2), 7), (2, 20, 7), (2, N, 7)),
    "steps outside of the batch": ((Batch(40), 7), (40, 20, 7), (40, N, 7)),
    "no multiple of it": ((N, 6), (8, 15), None),
    "another number of values": ((N, 6), (20, 7), None),
}


@pytest.mark.parametrize(("given", "target", "expected"), SHAPES.values(), ids=SHAPES)
def test_the_first_axis_that_can_have_the_batch_has_it(given: Shape, target: Shape, expected: Shape | None) -> None:
    old = tuple(at_batch(size, 20) for size in given)
    assert with_batch(given, old, target, 20) == expected


def test_a_batch_of_one_is_anywhere() -> None:
    assert with_batch((N, 6), (1, 6), (2, 3), 1) is None


def test_what_is_not_known_is_not_told() -> None:
    assert with_batch(Unknown("a file"), (20, 6), (120,), 20) is None


@pytest.mark.parametrize(
    ("given", "target", "batch", "expected"),
    [
        pytest.param((8, N, 64), (8, 64, 16), 16, (8, Batch(4), 16), id="heads beside the batch"),
        pytest.param((Batch(4), 8, 16), (16, 4, 8, 16), 16, (N, 4, 8, 16), id="heads out of the batch"),
        pytest.param((16, N, 64), (16, 64, 16), 16, (16, Batch(4), 16), id="as many positions as samples"),
        pytest.param((8, N, 4, 8), (32, 32), 4, (Batch(8), 32), id="positions and batch in one"),
        pytest.param((Batch(8), 32), (8, 4, 32), 4, (8, N, 32), id="and apart"),
        pytest.param((Batch(4), 8, 8), (4, 4, 8, 8), 4, (N, 4, 8, 8), id="as many heads as samples"),
        pytest.param((N, 6), (2, 6), 4, None, id="no axis for it"),
    ],
)
def test_an_axis_as_long_as_the_batch_comes_first(
    given: Shape, target: Shape, batch: int, expected: Shape | None
) -> None:
    old = tuple(at_batch(size, batch) for size in given)
    assert with_batch(given, old, target, batch) == expected
