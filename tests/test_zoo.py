"""The published zoos, read as source: parameters, layer volumes and memory as the frameworks themselves measured them.

The figures are in fixtures/truth. The sources are the packages' wheels at pinned versions, unpacked and never
imported: `.ci/run` fetches them, and a test run without it does so itself, into the cache folder. Of timm's models,
which take longest, those are read each time that have every kind of layer between them; the rest by hand.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.torch.reference import REFERENCE
from flake8_cnnmem.memory import framework
from flake8_cnnmem.ops import ScaledDotProduct
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Optimizer
from tests.conftest import by_hand, not_followed
from tests.memory.evaluated import saved_and_inputs

ROOT = Path(__file__).resolve().parent.parent
TRUTH = ROOT / "fixtures" / "truth"
Zoo = Callable[[str], Path]

COUNTED = ("Conv", "Linear", "Dense")
"""Layers whose output volumes are compared: names of others differ between tools, these do not."""

PEAK_TOLERANCE = 0.03
"""The worst that the replay may be off. Dropout masks account for most of it: the figures were measured on the CPU
build, whose masks take 4 bytes a value instead of CUDA's 1."""


def truth_of(name: str) -> list[dict[str, Any]]:
    models: list[dict[str, Any]] = json.loads((TRUTH / f"{name}.json").read_text())["models"]
    return models


def cases(name: str, targets: Container[str] | None = None) -> list[Any]:
    """A case for each model of a zoo; where targets are given, the others are left to the hand."""
    return [
        pytest.param(
            case,
            id=case["target"].rpartition("/")[2],
            marks=() if targets is None or case["target"] in targets else by_hand,
        )
        for case in truth_of(name)
    ]


def with_every_kind_of_layer(models: Sequence[dict[str, Any]]) -> set[str]:
    """Few and small models that between them have every kind of layer that the others have: their targets."""
    kinds = {case["target"]: {kind for _, kind, *_ in case["layers"]} for case in models}
    sizes = {case["target"]: len(case["layers"]) for case in models}
    chosen: set[str] = set()
    missing = set().union(*kinds.values())
    while missing:
        best = max(kinds, key=lambda target: (len(kinds[target] & missing) / sizes[target], target))
        chosen.add(best)
        missing -= kinds[best]
    return chosen


def report_of(case: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModelReport:
    monkeypatch.chdir(folder)
    path, _, expression = case["target"].partition("::")
    shape = case.get("input_shape")
    settings = Settings.of(
        {
            "input_shape": tuple(shape) if shape else None,
            "batch_size": case.get("batch_size", 32),
            "optimizer": Optimizer(case.get("optimizer", "adam")),
        }
    )
    (report,) = analyse(load(path), settings, expression).reports
    return report


def volumes(rows: Iterator[tuple[str, Sequence[Any]]]) -> Counter[int]:
    """How often each output size occurs among convolutions and dense layers."""
    return Counter(
        math.prod(size for size in shape if size is not None)
        for kind, shape in rows
        if any(word in kind for word in COUNTED) and "Norm" not in kind
    )


def assert_as_measured(report: ModelReport, case: dict[str, Any]) -> None:
    assert report.parameters == case["parameters"], report.causes
    measured = ((row[1], row[2]) for row in case["layers"] if not any(isinstance(size, list) for size in row[2]))
    assert volumes((row.type, row.output_shape) for row in report.rows) == volumes(measured)
    # A model that leaves the sides of its input open has no known activations; everything else is exact.
    stated = None not in (case.get("input_shape") or ())
    assert report.status == ("exact" if stated and not report.causes else "lower-bound"), report.causes
    assert not stated or set(not_followed(report)) <= IN_PART


IN_PART = {"what addcmul keeps for its backward pass is not known"}
"""Causes of zoo models: what PyTorch holds for a repeated factor depends on who else reads the gradient."""

REPLAYED = 0.005
"""The worst that the replay of a whole network may be off, by the rules of the build that it was measured on."""


def assert_replayed(report: ModelReport, case: dict[str, Any]) -> None:
    """Saved tensors to the byte and the peak closely, by the rules of the build that the figures were measured on."""
    assert report.model is not None
    estimate = framework.estimate(report.model, report.training, 0, REFERENCE)
    assert saved_and_inputs(estimate, report.model) == case["saved_bytes"]
    assert estimate.tensor_peak == pytest.approx(case["peak_bytes"], rel=REPLAYED)


@pytest.mark.parametrize("case", cases("torchvision"))
def test_torchvision_model(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, zoo: Zoo) -> None:
    report = report_of(case, zoo("torchvision"), monkeypatch)
    assert_as_measured(report, case)
    assert_replayed(report, case)
    assert report.estimate is not None
    assert report.model is not None
    # On CUDA attention has kernels of its own, which keep more (fixtures/truth/cuda_live.json).
    if not any(isinstance(call.op, ScaledDotProduct) for call in report.model.calls):
        assert report.estimate.tensor_peak == pytest.approx(case["peak_bytes"], rel=PEAK_TOLERANCE)


@pytest.mark.parametrize("case", cases("keras"))
def test_keras_application(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, zoo: Zoo) -> None:
    assert_as_measured(report_of(case, zoo("keras"), monkeypatch), case)


@pytest.mark.parametrize("case", cases("timm", with_every_kind_of_layer(truth_of("timm"))))
def test_timm_architecture(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, zoo: Zoo) -> None:
    report = report_of(case, zoo("timm"), monkeypatch)
    assert_as_measured(report, case)
    if "saved_bytes" in case:
        assert_replayed(report, case)


def test_a_zoo_model_is_edited_in_a_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zoo: Zoo) -> None:
    """The figures are torchvision's own, with the head replaced: 2048 x 10 + 10 for 2048 x 1000 + 1000."""
    monkeypatch.chdir(zoo("torchvision"))
    script = tmp_path / "train.py"
    script.write_text(
        "import torch.nn as nn\n"
        "from torchvision import models\n"
        "model = models.resnet50(weights='DEFAULT')\n"
        "model.fc = nn.Linear(model.fc.in_features, 10)\n"
        "backbone = nn.Sequential(*list(models.resnet18().children())[:-1])\n"
    )
    first, second = analyse(load(str(script)), Settings.of({"input_shape": (3, 224, 224)})).reports
    assert first.parameters == 25_557_032 - 2_049_000 + 20_490
    assert second.parameters == 11_689_512 - 513_000
    assert (first.status, second.status) == ("exact", "exact")


def test_timm_builds_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zoo: Zoo) -> None:
    monkeypatch.chdir(zoo("timm"))
    script = tmp_path / "train.py"
    script.write_text("import timm\nmodel = timm.create_model('resnet50', num_classes=10)\n")
    (report,) = analyse(load(str(script)), Settings.of({"input_shape": (3, 224, 224)})).reports
    assert (report.parameters, report.status) == (25_557_032 - 2_049_000 + 20_490, "exact")


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(
        "import torch.nn as nn\nimport some_zoo_nobody_has\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.body = some_zoo_nobody_has.resnet50()\n        self.head = nn.Linear(8, 2)\n"
        "    def forward(self, x):\n        return self.head(self.body(x))\n"
    )
    (report,) = analyse(load(str(script)), Settings()).reports
    assert report.status != "exact"
    assert any("some_zoo_nobody_has" in cause.reason for cause in report.causes)
