"""Steps of Keras 3 on PyTorch, held against what PyTorch keeps and makes (fixtures/truth/keras_torch_steps.json)."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from flake8_cnnmem.frameworks.keras import on_torch
from flake8_cnnmem.memory import framework
from flake8_cnnmem.memory.estimate import Estimate
from tests.memory.evaluated import named, training_of, truth

TRUTH = truth("keras_torch_steps")
SAVED = 0.001
PEAK, MEDIAN = 0.03, 0.01
KNOWN = {
    "between(layers.PReLU())": "keeps its negated slopes, too",
    "between(layers.Activation('sparsemax'))": "sorts",
    "between(layers.UnitNormalization())": "keeps sums of squares more than once",
    "between(layers.SpatialDropout2D(0.3))": "draws bools",
}
"""Layers whose kept tensors are further off than SAVED, and why."""


@cache
def estimate_of(key: str, place: int) -> Estimate:
    case = TRUTH[key][place]
    model = replace(named(case["target"], tuple(case["input_shape"])), backend="torch")
    return framework.estimate(model, training_of(case), 0, on_torch.REFERENCE)


def cases(*keys: str) -> list[Any]:
    return [pytest.param(key, place, id=name_of(case)) for key in keys for place, case in enumerate(TRUTH.get(key, []))]


def name_of(case: dict[str, Any]) -> str:
    options = " ".join(f"{name}={value}" for name, value in case.get("options", {}).items())
    return f"{case['target'].rpartition('::')[2]} {case['optimizer']} {options} {case['batch_size']}"


@pytest.mark.parametrize(("key", "place"), cases("applications", "models"))
def test_a_model_keeps_what_pytorch_keeps(key: str, place: int) -> None:
    assert estimate_of(key, place).saved == pytest.approx(TRUTH[key][place]["saved_bytes"], rel=SAVED)


@pytest.mark.parametrize(("key", "place"), cases("applications", "models"))
def test_a_model_has_pytorchs_peak(key: str, place: int) -> None:
    assert estimate_of(key, place).tensor_peak == pytest.approx(TRUTH[key][place]["peak_bytes"], rel=PEAK)


@pytest.mark.parametrize(("key", "place"), cases("layers"))
def test_a_layer_keeps_what_pytorch_keeps(key: str, place: int) -> None:
    case = TRUTH[key][place]
    within = estimate_of(key, place).saved == pytest.approx(case["saved_bytes"], rel=SAVED)
    assert within == (case["target"].rpartition("::")[2] not in KNOWN)


@pytest.mark.parametrize(("key", "place"), cases("optimizers"))
def test_an_optimizer_holds_and_makes_what_keras_does(key: str, place: int) -> None:
    case, estimate = TRUTH[key][place], estimate_of(key, place)
    start = estimate.moments()[0].live
    assert start.parameters + start.optimizer == pytest.approx(case["persistent_bytes"], abs=8 * 512)
    assert estimate.tensor_peak == pytest.approx(case["peak_bytes"], rel=PEAK)


def test_the_median_peak_is_close() -> None:
    errors = []
    for place, case in enumerate(TRUTH["applications"]):
        peak = estimate_of("applications", place).tensor_peak
        assert peak is not None
        errors.append(abs(peak - case["peak_bytes"]) / case["peak_bytes"])
    assert len(errors) >= 8
    assert statistics.median(errors) < MEDIAN
