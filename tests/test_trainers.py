"""Programs whose loop somebody else runs, or whose models are wrapped: what one device needs, as PyTorch itself says.

fixtures/truth/trainers.json is measured by tests/oracle/measure_trainers.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from tests.conftest import by_hand

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
FOLDER = FIXTURES / "programs" / "trainers"
PROGRAMS = json.loads((FIXTURES / "truth" / "trainers.json").read_text())["programs"]

ROUNDING = 0.001
"""What tensors are rounded up to is not asked for, and small tensors of the frameworks' own are left out."""

Reported = Callable[[dict[str, Any]], list[ModelReport]]


@pytest.fixture
def reported(zoo: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Reported:
    def reports_of(truth: dict[str, Any]) -> list[ModelReport]:
        folders = [str(FOLDER), *(str(zoo(package)) for package in truth.get("needs", ()))]
        monkeypatch.chdir(FOLDER)
        return list(analyse(load(truth["program"]), Settings(search_path=tuple(folders))).reports)

    return reports_of


LONG = {"bert_checkpointed.py", "bert_from_config.py", "unet2d.py"}
"""Programs on transformers and diffusers, of whose kind lora.py runs each time."""


@pytest.mark.parametrize(
    "truth",
    [pytest.param(truth, id=truth["program"], marks=by_hand if truth["program"] in LONG else ()) for truth in PROGRAMS],
)
def test_facts_and_bytes_are_those_of_the_step(truth: dict[str, Any], reported: Reported) -> None:
    # Both of one analysis: those of a large library take seconds.
    reports = reported(truth)
    assert_facts(reports, truth)
    assert_needs(max(reports, key=lambda each: each.trainable or 0), truth)


def assert_facts(reports: list[ModelReport], truth: dict[str, Any]) -> None:
    assert [report.trainable for report in reports] == truth.get("trainings", [truth["trainable"]])
    for report in reports:
        training = report.training
        assert (report.kind, training.batch_size.value, training.optimizer.value.name, training.dtype.value) == (
            "training",
            truth["batch_size"],
            truth["optimizer"],
            truth["dtype"],
        )


def assert_needs(report: ModelReport, truth: dict[str, Any]) -> None:
    assert report.estimate is not None
    assert report.status == truth.get("status", "exact"), report.causes
    total, peak = report.estimate.total, truth["peak_bytes"]
    within = truth.get("within", ROUNDING)
    if report.status == "lower-bound":
        assert 0.9 * peak < total <= (1 + within) * peak
    else:
        assert total == pytest.approx(peak, rel=within)


def test_what_is_compiled_is_never_called_exact(reported: Reported) -> None:
    (report,) = reported({"program": "compiled.py"})
    assert report.bound == "at most "
    assert [cause.reason for cause in report.causes] == [
        "torch.compile fuses operations: eager figures are an upper estimate"
    ]
