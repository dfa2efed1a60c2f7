"""Every fixture model against what its own framework says of it: parameters and the output of every layer.

fixtures/truth/fixtures_*.json hold that; tests/oracle/measure_fixtures.py measures it.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import ModelReport, analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact
from tests.conftest import not_followed

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "fixtures" / "models"


def cases(framework: str) -> list[Any]:
    models = json.loads((ROOT / "fixtures" / "truth" / f"fixtures_{framework}.json").read_text())["models"]
    return [pytest.param(model, id=model["target"].removeprefix("fixtures/models/")) for model in models]


TORCH = cases("torch")
KERAS = cases("keras")
FILES = sorted(path.relative_to(MODELS).as_posix() for path in MODELS.glob("*/*.py") if path.parent.name != "flax")
"""Flax's models are bounds (tests/frameworks/flax)."""

UNSTATED = {
    "torch/inception.py": (3, 32, 32),
    "torch/mobilenet.py": (3, 224, 224),
    "torch/resnet.py": (3, 32, 32),
    "torch/small_cnn.py": (3, 50, 50),
    "torch/vgg16.py": (3, 224, 224),
}
"""Files that state no size for one of their models, or several fit, and the option that is given for it."""


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


def report_of(truth: dict[str, Any]) -> ModelReport:
    return report_on(truth["target"], tuple(truth["input_shape"]))


@cache
def report_on(target: str, input_shape: tuple[int, ...]) -> ModelReport:
    path, _, expression = target.partition("::")
    settings = Settings(input_shape=Fact(input_shape, "option"))
    [report] = analyse(load(str(ROOT / path)), settings, expression).reports
    return report


def first(shape: list[Any]) -> tuple[int, ...]:
    """Of several outputs the first, which is what a row shows."""
    return tuple(shape[0] if shape and isinstance(shape[0], list) else shape)


@pytest.mark.parametrize("truth", [*TORCH, *KERAS])
def test_parameters_are_those_that_the_framework_counts(truth: dict[str, Any]) -> None:
    report = report_of(truth)
    assert not_followed(report) == []
    assert (report.parameters, report.trainable) == (truth["parameters"], truth["trainable"])


@pytest.mark.parametrize("truth", TORCH)
def test_torch_leaf_modules_write_what_their_hooks_see_in_the_same_order(truth: dict[str, Any]) -> None:
    # An empty Sequential runs nothing: PyTorch calls its hook, but there is no row for it.
    expected = [(name, cls, first(shape)) for name, cls, shape in truth["layers"] if cls != "Sequential"]
    names = {name for name, _, _ in expected}
    rows = [(row.name, row.type, row.output_shape) for row in report_of(truth).rows if row.name in names]
    assert rows == expected


@pytest.mark.parametrize("truth", KERAS)
def test_keras_layers_write_what_their_summary_prints(truth: dict[str, Any]) -> None:
    expected: Counter[Any] = Counter(
        (cls, first(shape)[1:], n) for _, cls, shape, n in truth["layers"] if cls != "InputLayer"
    )
    rows: Counter[Any] = Counter((row.type, row.output_shape, row.parameters) for row in report_of(truth).rows)
    # A shared layer is one line of a summary, and a row (without parameters of its own) for each further call.
    repeated = {row for row in rows - expected if row[2] == 0 and any(row[:2] == known[:2] for known in expected)}
    assert expected - rows == Counter()
    assert set(rows - expected) == repeated


def counted(truth: dict[str, Any]) -> tuple[int, int]:
    return truth["parameters"], truth["trainable"]


@pytest.mark.parametrize("file", FILES)
def test_a_whole_file_gives_the_models_that_it_builds_and_each_is_exact(file: str) -> None:
    measured = [case.values[0] for case in (*TORCH, *KERAS)]
    own = [truth for truth in measured if truth["target"].startswith(f"fixtures/models/{file}::")]
    built = {counted(truth) for truth in own if not truth.get("variant")}
    option = UNSTATED.get(file)
    settings = Settings(input_shape=Fact(option, "option") if option else None)
    reports = analyse(load(str(MODELS / file)), settings).reports
    assert [reason for report in reports for reason in not_followed(report)] == []
    found = {(report.parameters, report.trainable) for report in reports}
    assert built <= found <= {counted(truth) for truth in own}
