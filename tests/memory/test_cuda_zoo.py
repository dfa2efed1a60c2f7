"""Live, allocated and reserved memory of torchvision's classifiers and of optimizers, as PyTorch's own CUDA code has
them: a sample of fixtures/truth/cuda_zoo.json; `python tests/score_cuda_zoo.py` prints all of it."""

from __future__ import annotations

import statistics
from functools import cache
from typing import Any

import pytest

from tests import score_cuda_zoo
from tests.score_cuda_zoo import AIMS, FIGURES, STEPS, Score, name_of

QUICK = ("alexnet()", "mnasnet0_5()", "resnet18()", "squeezenet1_1()", "vgg11()", "vit_b_32()")
"""Models that are built in no time."""
LOOSE = 0.05
"""How far off reserved memory may be: one block that is cut from another cached one moves whole segments."""

SAMPLE: list[dict[str, Any]] = [step for step in STEPS if step["target"].endswith(QUICK)]


@cache
def scored(at: int) -> Score:
    return score_cuda_zoo.score(SAMPLE[at])


@pytest.mark.parametrize("at", range(len(SAMPLE)), ids=lambda at: name_of(SAMPLE[at]))
def test_a_step_is_within_the_aims(at: int) -> None:
    found = scored(at)
    assert abs(found.live) <= AIMS["live"][1]
    assert abs(found.allocated) <= AIMS["allocated"][1]
    assert abs(found.reserved) <= LOOSE


@pytest.mark.parametrize("figure", FIGURES)
def test_most_are_closer(figure: str) -> None:
    assert statistics.median(abs(getattr(scored(at), figure)) for at in range(len(SAMPLE))) <= AIMS[figure][0]


def test_what_is_made_with_an_optimizer_is_reserved_where_it_is_made() -> None:
    adagrad = [at for at, step in enumerate(SAMPLE) if step["optimizer"] == "adagrad"]
    assert len(adagrad) > 1
    assert [scored(at).reserved for at in adagrad] == [0] * len(adagrad)
