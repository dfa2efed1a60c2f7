"""What a sum over some axes takes beside its result, held against what PyTorch's CUDA code asked for on four cards."""

from __future__ import annotations

import pytest

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.reductions import axes_reduced, buffer_of, summed_axes
from flake8_cnnmem.ops import AdaptivePool
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown
from tests.memory.evaluated import truth

CARDS = truth("reductions")["cards"]
CAPABILITIES = {"a100": 80, "t4": 75, "rtx4090": 89, "h100": 90}
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


@pytest.mark.parametrize("card", CARDS)
def test_a_sum_takes_what_pytorch_asks_for_on_this_card(card: str) -> None:
    data = CARDS[card]
    chip = Chip(CAPABILITIES[card], data["multiprocessors"])
    assert chip.threads == data["threads_per_multiprocessor"]
    wrong = [
        (shape, axes, dtype, asked)
        for shape, axes, dtype, asked in data["cases"]
        if buffer_of(tuple(shape), layout.contiguous(tuple(shape)), axes, BYTES[dtype], chip).at(1) != asked
    ]
    assert wrong == []


def test_it_is_that_of_the_batch_that_it_is_asked_for() -> None:
    line = buffer_of((BATCH, 197, 768), (197 * 768, 768, 1), [0, 1], 4, ASSUMED)
    alone = buffer_of((8, 197, 768), (197 * 768, 768, 1), [0, 1], 4, ASSUMED)
    assert line.at(1) == 0
    assert line.at(8) == alone.at(1) == alone.at(8) > 0


def test_a_repeated_axis_is_summed_like_any_other() -> None:
    line = buffer_of((BATCH, 4096, 768), (0, 768, 1), [0, 1], 4, ASSUMED)
    assert line.at(8) > 0


@pytest.mark.parametrize(
    ("shape", "to", "axes"),
    [((8, 4, 6), (6,), [0, 1]), ((8, 4, 6), (4, 1), [0, 2]), ((8, 1, 6), (1, 6), [0]), ((3, 4), (3, 4), [])],
)
def test_a_gradient_is_summed_over_what_was_repeated(
    shape: tuple[int, ...], to: tuple[int, ...], axes: list[int]
) -> None:
    assert summed_axes(shape, to) == axes


def test_what_is_not_known_has_no_buffer() -> None:
    assert buffer_of((BATCH, Unknown("its width")), None, [0], 4, ASSUMED) == Line()


def test_axes_that_are_not_there_are_not_reduced() -> None:
    pool = AdaptivePool("average", (1, 1))
    assert axes_reduced(pool, 4) == (2, 3)
    assert axes_reduced(pool, 1) is None
