"""Allocated and reserved memory of whole steps, and the largest batch on a card, as PyTorch's own CUDA code has them.

fixtures/truth/cuda.json is measured by tests/oracle/cuda_steps.py; `python tests/score_cuda.py` prints all of it.
"""

from __future__ import annotations

import statistics
from functools import cache
from typing import Any

import pytest

from tests import score_cuda
from tests.score_cuda import LARGEST, STEPS, Score, name_of

QUICK = ("resnet18()", "vgg16()", "mobilenet_v2()")
"""Of a zoo the models that are built in no time."""

ALLOCATED, RESERVED = 0.007, 0.035
"""The worst that is seen: one tensor more or less in half precision moves what is cut from cached blocks."""
SEGMENT = 2 * 1024 * 1024
"""A small one, of which tiny nets have but a few."""


def is_quick(row: dict[str, Any]) -> bool:
    target = row["case"]["target"]
    return bool(target.startswith("fixtures/") or target.endswith(QUICK))


ROWS = [row for row in STEPS if is_quick(row)]
BATCHES = [row for row in LARGEST if is_quick(row) and row["card"] == "T4"]


@cache
def scored(at: int) -> Score:
    return score_cuda.score(ROWS[at])


@pytest.mark.parametrize("at", range(len(ROWS)), ids=lambda at: name_of(ROWS[at]))
def test_a_step_allocates_and_reserves_what_pytorch_does(at: int) -> None:
    assert abs(scored(at).allocated) <= ALLOCATED
    assert abs(scored(at).reserved) <= max(RESERVED, SEGMENT / ROWS[at]["reserved"])


def test_most_are_right_to_the_segment() -> None:
    assert statistics.median(abs(scored(at).allocated) for at in range(len(ROWS))) <= 0.0001
    assert statistics.median(abs(scored(at).reserved) for at in range(len(ROWS))) == 0


@pytest.mark.parametrize("row", BATCHES, ids=name_of)
def test_the_largest_batch_is_pytorchs_own(row: dict[str, Any]) -> None:
    assert score_cuda.largest(row) == row["largest_batch"]
