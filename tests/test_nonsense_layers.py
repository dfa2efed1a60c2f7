"""Layer arguments that make no sense: a finding or a cause, never a traceback, never an absurd number.

fixtures/truth/nonsense_layers.json holds what the frameworks themselves say: the parameters of the layer where they
build and call it, else nothing. tests/oracle/nonsense_layers.py asks them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.report import as_json, table
from flake8_cnnmem.settings import Settings
from flake8_cnnmem.source import Source
from tests.oracle.nonsense_cases import ROWS, TAKEN_AS_MEANT, written

TRUTH = Path(__file__).resolve().parent.parent / "fixtures" / "truth" / "nonsense_layers.json"

ABSURD = 10**13
"""Parameters that no model has."""


@pytest.mark.parametrize(("framework", "layer", "shape"), ROWS, ids=[f"{row[0]}-{row[1]}-{row[2]}" for row in ROWS])
def test_a_layer_that_makes_no_sense_has_a_finding_or_a_cause(
    framework: str, layer: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    accepted = json.loads(TRUTH.read_text())[framework][f"{layer} on {shape}"]
    report = analyse(Source("net.py", written(framework, layer, shape)), Settings())
    assert report.failure is None
    found = checks.run(report, Settings(), {check.code for check in checks.every()})
    table.render(report.reports, Settings())
    as_json.render(report.reports)
    for model in report.reports:
        assert (model.parameters or 0) < ABSURD
        if model.status == "exact" and not model.problems:
            assert (accepted is None) is (layer in TAKEN_AS_MEANT)
            assert accepted is None or model.parameters == accepted
        else:
            assert model.causes or found
    # What the framework builds is a model for us as well, where it has weights.
    assert report.reports or not accepted
