"""Training scripts as people write them: each fact as a reader finds it, parameters and memory as the framework says.

fixtures/truth/scripts.json is confirmed by tests/oracle/measure_scripts.py, together.json by measure_together.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.torch.reference import REFERENCE
from flake8_cnnmem.memory import framework
from flake8_cnnmem.results import ModelReport, Part
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SCRIPTS = json.loads((FIXTURES / "truth" / "scripts.json").read_text())["scripts"]
TOGETHER = json.loads((FIXTURES / "truth" / "together.json").read_text())["scripts"]

PEAK_TOLERANCE = 0.01
"""What the replay may be off: a loss of the code's own (two heads, a sum over the batch) is not replayed as such."""


Reported = Callable[[dict[str, Any]], ModelReport]


@pytest.fixture(scope="session")
def reported(zoo: Callable[[str], Path]) -> Reported:
    """Gives the one model of a script (several that are trained together are one finding), from the script's folder."""
    known: dict[str, ModelReport] = {}

    def report_of(truth: dict[str, Any]) -> ModelReport:
        script = truth["script"]
        if script not in known:
            path = FIXTURES / "scripts" / script
            folders = [str(path.parent), *(str(zoo(package)) for package in truth.get("needs", ()))]
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(path.parent)
                (known[script],) = analyse(
                    load(path.name), Settings(search_path=tuple(folders), devices=truth.get("devices"))
                ).reports
        return known[script]

    return report_of


def models_of(report: ModelReport) -> list[ModelReport | Part]:
    return list(report.parts) or [report]


@pytest.mark.parametrize("truth", SCRIPTS, ids=lambda truth: truth["script"])
def test_the_facts_are_those_that_a_reader_finds(truth: dict[str, Any], reported: Reported) -> None:
    report = reported(truth)
    training, wanted = report.training, truth["optimizer"]
    assert training.batch_size.value == truth["batch_size"]
    assert training.input_shape is not None
    assert list(training.input_shape.value) == truth["input_shape"]
    assert training.dtype.value == truth["dtype"]
    momentum = wanted["name"] == "sgd" and wanted.get("options", {}).get("momentum")
    assert training.optimizer.value.name == ("momentum" if momentum else wanted["name"])
    options = dict(training.optimizer.value.options)
    assert {word: options.get(word) for word in wanted.get("options", {})} == wanted.get("options", {})


@pytest.mark.parametrize("truth", SCRIPTS, ids=lambda truth: truth["script"])
def test_every_fact_that_the_code_states_names_its_line(truth: dict[str, Any], reported: Reported) -> None:
    training = reported(truth).training
    assert training.input_shape is not None
    sources = [training.batch_size.source, training.optimizer.source, training.input_shape.source]
    sources += [training.dtype.source] if truth["dtype"] != "float32" else []
    assert [source for source in sources if not re.search(r"\.py:\d+$", source)] == []


@pytest.mark.parametrize("truth", SCRIPTS, ids=lambda truth: truth["script"])
def test_the_models_are_those_that_are_trained(truth: dict[str, Any], reported: Reported) -> None:
    report = reported(truth)
    assert report.status == "exact", report.causes
    found = {(each.line, each.parameters, each.trainable) for each in models_of(report) if each.trainable}
    trained = [each for each in truth["models"] if each["trainable"]]
    assert found == {(each["line"], each["parameters"], each["trainable"]) for each in trained}
    # A model that the step only looks at is told as being in memory beside it, or as a part that trains nothing.
    beside = {(row.line, row.bytes // 4) for row in report.also_in_memory if row.what.endswith("weights")}
    beside |= {(each.line, each.parameters) for each in models_of(report) if each.parameters and not each.trainable}
    for each in truth["models"]:
        if not each["trainable"]:
            assert any(line == each["line"] and values >= each["parameters"] for line, values in beside)
    assert report.line in {each["line"] for each in truth["models"]}


MEASURED = [truth for truth in SCRIPTS if len(truth["models"]) == 1 and "peak_bytes" in truth["models"][0]]


@pytest.mark.parametrize("truth", MEASURED, ids=lambda truth: truth["script"])
def test_the_peak_is_the_frameworks_own(truth: dict[str, Any], reported: Reported) -> None:
    report = reported(truth)
    assert report.model is not None
    # The figures were measured on the CPU build, whose dropout masks are larger.
    estimate = framework.estimate(report.model, report.training, 0, REFERENCE)
    # They are of the model's step: what the script holds beside (a copy of its best weights) is not in them.
    beside = sum(each.bytes for each in report.also_in_memory)
    assert estimate.tensor_peak is not None
    assert estimate.tensor_peak - beside == pytest.approx(truth["models"][0]["peak_bytes"], rel=PEAK_TOLERANCE)


@pytest.mark.parametrize("truth", TOGETHER, ids=lambda truth: truth["script"])
def test_models_that_are_trained_together_need_what_their_loop_needs(truth: dict[str, Any], reported: Reported) -> None:
    facts = next(each for each in SCRIPTS if each["script"] == truth["script"])
    report = reported(facts)
    assert report.estimate is not None
    assert report.parameters == sum(each["parameters"] for each in facts["models"] if each["trainable"])
    assert report.estimate.tensor_peak == pytest.approx(truth["peak_bytes"], rel=0.001)
