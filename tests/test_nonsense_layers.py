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
from flake8_cnnmem.reporting import as_json, table
from flake8_cnnmem.settings.options import Settings
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


@pytest.mark.parametrize(
    ("framework", "layer", "shape"),
    [
        ("torch", "nn.Linear(8, 4, bias=unheard.x)", (8,)),
        ("torch", "nn.Conv2d(3, 8, 3, bias=unheard.x)", (3, 16, 16)),
        ("torch", "nn.BatchNorm2d(3, affine=unheard.x)", (3, 16, 16)),
        ("torch", "nn.GroupNorm(3, 3, affine=unheard.x)", (3, 16, 16)),
        ("torch", "nn.LayerNorm(8, elementwise_affine=unheard.x)", (8,)),
        ("torch", "nn.LSTM(8, 4, bias=unheard.x)", (5, 8)),
        ("torch", "nn.LSTM(8, 4, bidirectional=unheard.x)", (5, 8)),
        ("torch", "nn.MultiheadAttention(8, 2, bias=unheard.x)", (5, 8)),
        ("keras", "layers.Dense(4, use_bias=unheard.x)", (8,)),
        ("keras", "layers.Conv2D(8, 3, use_bias=unheard.x)", (16, 16, 3)),
        ("keras", "layers.LSTM(4, use_bias=unheard.x)", (5, 8)),
        ("keras", "layers.BatchNormalization(scale=unheard.x)", (16, 16, 3)),
    ],
)
def test_weights_that_may_or_may_not_be_there_are_no_exact_figure(
    framework: str, layer: str, shape: tuple[int, ...]
) -> None:
    report = analyse(Source("net.py", "import unheard\n" + written(framework, layer, shape)), Settings())
    assert [model.status for model in report.reports if model.status == "exact"] == []
    assert report.reports
