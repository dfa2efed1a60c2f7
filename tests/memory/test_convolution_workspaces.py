"""What cuDNN's workspaces add, against whole cards that others have measured (fixtures/truth/workspaces.json)."""

from __future__ import annotations

import statistics
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Call, Model, Tensor, Weight
from flake8_cnnmem.memory import account
from flake8_cnnmem.memory.convolution_workspaces import Workspaces, workspaces
from flake8_cnnmem.ops.convolution import Convolution, DepthwiseConvolution
from flake8_cnnmem.training import Fact
from tests.memory.evaluated import fixture, named, training_of, truth

MIB = 2**20
TRUTH = truth("workspaces")
NETS: list[dict[str, Any]] = [dict(zip(TRUTH["keys"], row, strict=True)) for row in TRUTH["nets"]]
SMALL = fixture("small_cnn.py::SmallCNN()", (3, 32, 32))


def model_of(*ops: Convolution | DepthwiseConvolution, channels: int = 3, side: int = 32) -> Model:
    """Convolutions one after the other."""
    shape: Shape = (Batch(1), channels, side, side)
    tensor, calls = Tensor(shape, "float"), []
    for number, op in enumerate(ops, 1):
        weight = Weight(op.weights(shape)["weight"].shape, "float")
        call = Call(op, (tensor,), (weight,), number)
        (shape,) = op.outputs(shape)
        tensor = Tensor(shape, "float", call)
        call.outputs = (tensor,)
        calls.append(call)
    return replace(SMALL, calls=tuple(calls))


def of(net: dict[str, Any]) -> Workspaces:
    widths = net["channels"]
    ops = [Convolution(width, (3, 3), before, padding=1) for before, width in pairwise(widths)]
    model = model_of(*ops, channels=widths[0], side=net["side"])
    return workspaces(model, "float32", net["batch_size"], net["allocated"] * MIB)


def test_whole_cards_are_as_measured_with_what_is_usual() -> None:
    known = [(TRUTH["outside"] + net["reserved"], of(net), net["card"]) for net in NETS]
    before = sorted(abs(there - card) / card for there, _, card in known)
    after = sorted(abs(there + found.usual / MIB - card) / card for there, found, card in known)
    ninetieth = len(known) * 9 // 10
    assert statistics.median(before) > 0.12
    assert before[ninetieth] > 0.25
    assert statistics.median(after) < 0.05
    assert after[ninetieth] < 0.18


def test_nineteen_of_twenty_cards_are_within_the_most() -> None:
    within = [net["card"] <= TRUTH["outside"] + net["reserved"] + of(net).most / MIB for net in NETS]
    assert sum(within) >= 0.93 * len(within)


@pytest.mark.parametrize(
    ("target", "batch", "off"),
    [
        ("torchvision/models/vgg.py::vgg16()", 64, 0.02),
        ("torchvision/models/resnet.py::resnet50()", 64, 0.03),
        ("torchvision/models/mobilenetv2.py::mobilenet_v2()", 64, 0.02),
    ],
)
def test_a_known_network_on_the_same_card(target: str, batch: int, off: float) -> None:
    card = next(card for each, _, size, card in TRUTH["zoo"] if (each, size) == (target, batch))
    training = training_of({"batch_size": batch, "optimizer": "adam", "dtype": "float32"})
    found = account(named(target, (3, 224, 224)), training, "framework", 0, "A100-40GB")
    assert found.reserved is not None
    assert TRUTH["outside"] + (found.reserved + found.convolutions_usual) / MIB == pytest.approx(card, rel=off)
    assert card <= TRUTH["outside"] + (found.reserved + found.convolutions) / MIB + 50


@pytest.mark.parametrize(
    ("op", "some"),
    [
        pytest.param(Convolution(64, (3, 3), 64), True, id="windows that overlap"),
        pytest.param(Convolution(64, (2, 2), 64, stride=2, transposed=True), False, id="an upsampling one by twos"),
        pytest.param(Convolution(64, (1, 1), 64), False, id="single places"),
        pytest.param(Convolution(64, (2, 2), 64, stride=2), False, id="patches"),
        pytest.param(Convolution(64, (3, 3), 64, groups=2), False, id="groups"),
        pytest.param(DepthwiseConvolution((3, 3)), False, id="single channels"),
    ],
)
def test_what_needs_a_workspace(op: Convolution | DepthwiseConvolution, some: bool) -> None:
    found = workspaces(model_of(op, channels=64), "float32", 8, 2**30)
    assert bool(found.usual) is some
    assert found.most > found.usual


def test_images_need_none() -> None:
    assert not workspaces(model_of(Convolution(64, (3, 3), 3)), "float32", 8, 2**30).usual


@pytest.mark.parametrize("case", truth("device")["convolutions"], ids=lambda case: case["what"])
def test_in_half_precision_what_was_measured_is_within_the_most(case: dict[str, Any]) -> None:
    found = workspaces(SMALL, case["dtype"], 16, 10**9)
    assert found.most >= case["ratio"] * 10**9
    assert not found.usual


def test_they_are_told_and_not_counted() -> None:
    training = replace(training_of({"batch_size": 64}), dtype=Fact("float32", "test"))
    on_card = account(SMALL, training, "framework", 0, "T4")
    assert on_card.tensor_peak is not None
    assert on_card.convolutions > on_card.convolutions_usual > 0
    assert on_card.total == on_card.tensor_peak + on_card.overhead
    assert account(SMALL, training, "framework", 0).convolutions == 0
