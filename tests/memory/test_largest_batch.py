"""The largest batch that fits is the one that a replay at that batch says fits, and one more does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory import account
from flake8_cnnmem.training import Fact, Training
from tests.memory.evaluated import fixture, training_of

MODELS = {
    "small_cnn.py::SmallCNN()": (3, 32, 32),
    "unet.py::UNet()": (3, 64, 64),
    "text.py::Encoder()": (64, 192),
    "text.py::VisionTransformer()": (3, 64, 64),
    "text.py::LSTMClassifier()": (100, 40),
    "autocast.py::MixedTransformer()": (64, 48),
    "resnet_checkpointed.py::CheckpointedResNet()": (3, 64, 64),
}
BUILT: dict[str, Model] = {}


def built(target: str) -> Model:
    if target not in BUILT:
        BUILT[target] = fixture(target, MODELS[target])
    return BUILT[target]


def at(training: Training, batch: int) -> Training:
    return replace(training, batch_size=Fact(batch, "test"))


@pytest.mark.parametrize("accounting", ["framework", "cs231n"])
@pytest.mark.parametrize("target", MODELS)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    batch=st.sampled_from([1, 2, 7, 32, 128]),
    room=st.integers(1, 4 * 2**30),
    optimizer=st.sampled_from(["sgd", "adam"]),
)
# A batch of one sample lies otherwise in memory than one of several.
@example(batch=1, room=67084288, optimizer="sgd")
@example(batch=32, room=2**21, optimizer="sgd")
def test_one_more_does_not_fit(target: str, accounting: str, batch: int, room: int, optimizer: str) -> None:
    case: dict[str, Any] = {"batch_size": batch, "optimizer": optimizer}
    model, training = built(target), training_of(case)
    estimate = account(model, training, accounting, 0)
    limit = estimate.total - estimate.activations - estimate.input + room
    largest = estimate.largest_batch(limit)
    assert account(model, at(training, largest + 1), accounting, 0).total > limit
    if largest:
        assert account(model, at(training, largest), accounting, 0).total <= limit


@pytest.mark.parametrize("target", MODELS)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(batch=st.sampled_from([1, 7]), other=st.sampled_from([1, 2, 48, 64, 192]), limit=st.integers(2**20, 2**31))
def test_it_does_not_matter_at_which_batch_size_a_step_is_replayed(
    target: str, batch: int, other: int, limit: int
) -> None:
    model, training = built(target), training_of({"batch_size": batch})
    first, second = (account(model, how, "framework", 0) for how in (training, at(training, other)))
    assert first.largest_batch(limit) == second.largest_batch(limit)
