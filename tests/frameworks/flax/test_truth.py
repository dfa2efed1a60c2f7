"""Models of Flax as people start from them: their parameters and shapes are those that Flax itself has.

Measured by tests/oracle/measure_flax.py (fixtures/truth/flax.json). What a step keeps is XLA's to decide, and what is
counted a lower bound.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.dims import at_batch
from flake8_cnnmem.frameworks.flax.framework import inside
from flake8_cnnmem.frameworks.flax.nnx.module import is_module
from flake8_cnnmem.frameworks.flax.optimizers import OWN, STATES
from flake8_cnnmem.graph import Model, Weight
from flake8_cnnmem.memory import account
from flake8_cnnmem.memory.optimizers import slots
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.memory.evaluated import training_of

ROOT = Path(__file__).parents[3]
TRUTH = json.loads((ROOT / "fixtures" / "truth" / "flax.json").read_text())


@cache
def reports(file: str) -> dict[str, ModelReport]:
    path = ROOT / "fixtures" / "models" / "flax" / file
    return {each.name: each for each in analyse(Source(str(path), path.read_text()), Settings()).reports}


def weights_by_path(model: Model, buffers: bool) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for path, layer in inside(model.root):
        held = layer.attributes if is_module(layer) else layer.native.weights
        for name, weight in held.items():
            if isinstance(weight, Weight) and weight.buffer == buffers:
                assert isinstance(weight.shape, tuple)
                found["/".join([*filter(None, path.split(".")), name])] = list(weight.shape)
    return found


@pytest.mark.parametrize("case", TRUTH["models"])
def test_parameters_and_shapes(case: str) -> None:
    file, name = case.split("::")
    report, truth = reports(file)[name], TRUTH["models"][case]
    model = report.model
    assert model is not None
    assert weights_by_path(model, False) == truth["parameters"]
    assert weights_by_path(model, True) == truth["statistics"]
    shapes = [[at_batch(size, 1) for size in tensor.shape] for tensor in model.outputs]  # type: ignore[union-attr]
    assert shapes == truth["outputs"]


@pytest.mark.parametrize("file", sorted({case.split("::")[0] for case in TRUTH["models"]}))
def test_memory_is_a_lower_bound_and_nothing_is_wrong(file: str) -> None:
    measured = {case.split("::")[1] for case in TRUTH["models"] if case.startswith(f"{file}::")}
    assert set(reports(file)) == measured
    for report in reports(file).values():
        assert report.status == "lower-bound"
        assert [cause.reason.split(" ")[0] for cause in report.causes] == ["XLA"]
        assert not report.problems


@pytest.mark.parametrize("case", TRUTH["steps"], ids=lambda case: case["name"])
def test_a_step_takes_no_less_than_is_counted(case: dict[str, Any]) -> None:
    """What XLA plans for a step is more than what is certain, and not by an order of magnitude."""
    model = reports(case["file"])[case["name"]].model
    assert model is not None
    training = training_of({"batch_size": case["batch"], "optimizer": "adam"})
    counted = account(model, training, "framework", 0).total
    assert 0.15 * case["bytes"] < counted < case["bytes"]


@pytest.mark.parametrize("case", TRUTH["optimizers"], ids=lambda case: f"{case['name']} {case['options']}")
def test_what_optimizers_keep(case: dict[str, Any]) -> None:
    assert slots(STATES[OWN[case["name"]]], case["options"]) == case["whole"]
