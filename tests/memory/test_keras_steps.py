"""Steps of keras.applications under `fit` on TensorFlow, held against TensorFlow's own allocation trace."""

from __future__ import annotations

import statistics
from functools import cache
from typing import Any

import pytest

from flake8_cnnmem.memory import framework
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.source import load
from tests.memory.evaluated import graph, training_of, truth
from tests.test_zoo import zoo

CASES = truth("keras_tensorflow")["models"]

SAVED = 0.005
PEAK = 0.01
WORST = 0.1
"""The executor runs independent ops in any order: peaks differ by 1-4% from run to run (the truth file's own words),
and by more where a gradient is larger than everything after it (VGG16's first dense layer, ConvNeXt's)."""


def name_of(case: dict[str, Any]) -> str:
    return str(case["target"].rpartition("::")[2])


@cache
def estimate_of(place: int) -> Estimate:
    case = CASES[place]
    path, _, expression = case["target"].partition("::")
    model = graph(load(str(zoo("keras") / path)), expression, tuple(case["input_shape"]))
    return framework.estimate(model, training_of(case), 0)


@pytest.mark.parametrize("place", range(len(CASES)), ids=[name_of(case) for case in CASES])
def test_a_step_is_replayed(place: int) -> None:
    case, estimate = CASES[place], estimate_of(place)
    assert estimate.saved == pytest.approx(case["saved_bytes"], rel=SAVED)
    assert estimate.tensor_peak == pytest.approx(case["peak_bytes"], rel=WORST)


def test_the_median_peak_is_close() -> None:
    errors = []
    for place, case in enumerate(CASES):
        peak = estimate_of(place).tensor_peak
        assert peak is not None
        errors.append(abs(peak - case["peak_bytes"]) / case["peak_bytes"])
    assert statistics.median(errors) < PEAK
