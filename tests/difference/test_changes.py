"""What accounts for a difference: each fact with its share, layers with their places, and shares that add up."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.difference.changes import ModelChange, entry_of
from flake8_cnnmem.reporting.difference import Difference, as_markdown, table
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.units import GIB, MIB

NET = """\
import torch
from torch import nn

# cnnmem: batch-size=16 optimizer=sgd
net = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
)
net(torch.zeros(1, 3, 64, 64))
"""

SETTINGS = Settings(gpu_limit=Limit(GIB))


def report(text: str, settings: Settings = SETTINGS) -> ModelReport:
    [model] = analyse(Source("net.py", text), settings).reports
    return model


def entry(old: str, new: str) -> ModelChange:
    found = entry_of(report(NET), report(NET.replace(old, new)), SETTINGS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        pytest.param("size=16", "size=8", [("batch size", "16", "8")], id="batch size"),
        pytest.param("=sgd", "=adam", [("optimizer", "sgd", "adam")], id="optimizer"),
        pytest.param("=sgd", "=sgd dtype=float64", [("dtype", "float32", "float64")], id="dtype"),
        pytest.param("64, 64))", "96, 96))", [("input", "3x64x64", "3x96x96")], id="input"),
        pytest.param("=sgd", "=sgd gpu-limit=2GiB", [("limit", str(GIB), str(2 * GIB))], id="limit"),
        pytest.param("(3, 32, 3,", "(3, 32, 5,", [("layers", "", "")], id="a layer"),
        pytest.param("nn.ReLU(), nn.A", "nn.ReLU(), nn.ReLU(), nn.A", [("layers", "", "")], id="one more layer"),
        pytest.param(
            "size=16 optimizer=sgd", "size=32 optimizer=adam",
            [("batch size", "16", "32"), ("optimizer", "sgd", "adam")], id="two facts",
        ),
        pytest.param(
            "net(torch", "net[0].requires_grad_(False)\nnet(torch", [("trainable parameters", "19,392", "18,496")],
            id="frozen layers",
        ),
    ],
)  # fmt: skip
def test_a_change_is_named_and_its_shares_add_up(old: str, new: str, what: list[tuple[str, str, str]]) -> None:
    found = entry(old, new)
    assert [(change.what, change.before, change.after) for change in found.changes] == what
    assert sum(change.bytes or 0 for change in found.changes) == found.bytes
    if what[0][0] not in ("limit",):
        assert all(change.bytes is not None for change in found.changes)


def test_layers_have_their_places_and_the_heaviest_comes_first() -> None:
    found = entry("nn.Conv2d(32, 64,", "nn.Conv2d(32, 128,")
    [change] = found.changes
    assert [(each.name, each.place) for each in change.layers] == [
        ("2", "net.py:6"), ("4", "net.py:6"), ("3", "net.py:6"),
    ]  # fmt: skip
    assert (change.layers[0].parameters, change.layers[0].activations) == (18_496, 64 * 64 * 64)


def test_nothing_is_said_of_a_model_that_only_moved() -> None:
    assert entry_of(report(NET), report("\n\n" + NET.replace("net", "network")), SETTINGS) is None


def test_a_model_that_lost_its_input_is_told_with_the_cause() -> None:
    found = entry("torch.zeros(1, 3, 64, 64)", "unknown()")
    assert found.changes[-1].what == "what is known"
    assert (found.changes[-1].before, found.changes[-1].after) == ("exact", found.report.status)
    text = table(Difference("a", "b", (found,)))
    assert text.startswith("1 model changed, between a and b\n")


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        (Settings(), "no limit"),
        (SETTINGS, "fits 1.0 GiB"),
        (Settings(gpu_limit=Limit(10 * MIB)), "over the 10 MiB limit"),
    ],
)
def test_the_verdict_is_the_newer_sides(limit: Settings, verdict: str) -> None:
    found = entry_of(report(NET, limit), report(NET.replace("size=16", "size=32"), limit), limit)
    assert found is not None
    difference = Difference("a", "", (found,))
    [row] = [line for line in table(difference).splitlines() if line.startswith("net ")]
    assert row.endswith(verdict)
    assert f" {verdict} |" in as_markdown(difference)


def test_a_model_that_fits_again_is_told_so() -> None:
    limit = Settings(gpu_limit=Limit(60 * MIB))
    large = NET.replace("size=16", "size=64")
    found = entry_of(report(large, limit), report(NET.replace("size=16", "size=8"), limit), limit)
    assert found is not None
    assert "fits 60 MiB, again" in table(Difference("a", "", (found,)))
