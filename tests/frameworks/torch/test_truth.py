"""Hundreds of cases of PyTorch code give the shapes, dtypes and parameters that PyTorch itself gives
(fixtures/truth/torch_layers.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.frameworks.torch.nn.modules.module import owned
from flake8_cnnmem.graph import Weight
from tests.frameworks.torch.code import Ran, declared, shapes

TRUTH = Path(__file__).parents[3] / "fixtures" / "truth" / "torch_layers.json"
CASES: list[dict[str, Any]] = json.loads(TRUTH.read_text())["cases"]


def weights_in(ran: Ran, store: str) -> list[tuple[str, Weight]]:
    return [(name, weight) for name, weight in owned(ran.run, ran["m"], store) if isinstance(weight, Weight)]


def title(case: dict[str, Any]) -> str:
    if "class Net(" in case["code"]:
        return "; ".join(case["code"].split("x = torch.randn(2, 3, 9, 9)\n")[1].split("\n"))
    lines = case["code"].split("\n")[5:]
    return "; ".join(line for line in lines if line != "y = m(x)")


@pytest.mark.parametrize("case", [case for case in CASES if "error" not in case], ids=title)
def test_code_gives_what_torch_gives(case: dict[str, Any]) -> None:
    ran = Ran(case["code"])
    assert ran.failures == []
    found = shapes(ran["y"])
    assert found == case["y"] or rounded(found) == rounded(case["y"])
    assert ran.problems == []
    if "parameters" in case:
        parameters = weights_in(ran, "_parameters")
        assert declared(parameters) == [entry[:2] for entry in case["parameters"]]
        assert [weight.trainable for _, weight in parameters] == [entry[2] for entry in case["parameters"]]
        assert sorted(declared(weights_in(ran, "_buffers"))) == sorted(case["buffers"])


def rounded(value: Any) -> Any:
    """Numbers to six digits: torch computes in float32."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value


@pytest.mark.parametrize("case", [case for case in CASES if "error" in case], ids=title)
def test_what_torch_refuses_is_a_problem(case: dict[str, Any]) -> None:
    ran = Ran(case["code"])
    assert ran.problems or ran.failures
