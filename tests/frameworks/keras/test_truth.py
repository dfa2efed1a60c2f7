"""Cases of Keras code give the shapes and weights that Keras itself gives (fixtures/truth/keras_layers.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.frameworks.keras import FRAMEWORK
from flake8_cnnmem.graph import Weight
from tests.frameworks.keras.code import Ran, shapes

TRUTH = Path(__file__).parents[3] / "fixtures" / "truth" / "keras_layers.json"
CASES: list[dict[str, Any]] = json.loads(TRUTH.read_text())["cases"]


def opened(shape: list[Any]) -> list[Any]:
    """Sizes that the input leaves open come out unknown here and None in Keras."""
    return [None if size == "?" else size for size in shape]


def sizes(weight: Weight) -> list[Any]:
    return list(weight.shape) if isinstance(weight.shape, tuple) else []


def answer(ran: Ran, case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"code": case["code"]}
    if "shapes" in case:
        found["shapes"] = [opened(shape) if isinstance(shape, list) else shape for shape in shapes(ran["y"])]
    if "weights" in case:
        weights = FRAMEWORK.weights(ran["m"])
        found["weights"] = sorted([sizes(weight), weight.trainable] for weight in weights)
    if "result" in case:
        found["result"] = repr(ran["r"])
    return found


def title(case: dict[str, Any]) -> str:
    return " ".join(case["code"].split("\n")[2:])


@pytest.mark.parametrize("case", [case for case in CASES if "error" not in case], ids=title)
def test_code_gives_what_keras_gives(case: dict[str, Any]) -> None:
    ran = Ran(case["code"])
    assert ran.failures == []
    assert answer(ran, case) == case
    assert ran.problems == []


@pytest.mark.parametrize("case", [case for case in CASES if "error" in case], ids=title)
def test_what_keras_refuses_is_a_problem(case: dict[str, Any]) -> None:
    ran = Ran(case["code"])
    assert ran.problems or ran.failures
