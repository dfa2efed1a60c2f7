"""Our own mistakes are told from the program's errors; what is cut short is never exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Raised

OURS: dict[str, Callable[..., Any]] = {
    "an Unknown is added to": lambda run: 1 + Unknown("nobody knows"),  # type: ignore[operator]
    "an Unknown is asked for its truth": lambda run: bool(Unknown("nobody knows")),
    "the batch is taken for a number": lambda run: BATCH % 2,  # type: ignore[operator]
    "an attribute is missing": lambda run: run.no_such_attribute,
    "a name is missing": lambda run: no_such_name,  # type: ignore[name-defined]  # noqa: F821
}

THEIRS: dict[str, Callable[..., Any]] = {
    "a list is no number": lambda run: int([]),  # type: ignore[call-overload]
    "a text is no number": lambda run: int("x"),
    "a key is missing": lambda run: {"y": 1}["x"],
    "an index is out of range": lambda run: [][3],
    "a number is divided by nothing": lambda run: 1 // 0,
    "an argument is missing": lambda run, x: x,
}


@pytest.mark.parametrize("function", OURS.values(), ids=OURS)
def test_a_mistake_of_ours_is_a_cause_and_fatal_with_the_strict_switch(function: Callable[..., Any]) -> None:
    native = Native("native", function)
    found = Interpreter().call(native)
    assert isinstance(found, Unknown)
    assert found.reason.startswith("an internal error of flake8-cnnmem")
    with pytest.raises((TypeError, AttributeError, NameError)):
        Interpreter(strict=True).call(native)


@pytest.mark.parametrize("function", THEIRS.values(), ids=THEIRS)
@pytest.mark.parametrize("strict", [False, True])
def test_an_error_of_the_program_is_raised_in_it(function: Callable[..., Any], strict: bool) -> None:
    with pytest.raises(Raised):
        Interpreter(strict=strict).call(Native("native", function))


CUT_SHORT = {
    "a list of layers": "layers = []\nfor i in range(10**9):\n    layers.append(nn.Linear(8, 8))\n"
    "net = nn.Sequential(nn.Linear(8, 8), *layers)\nnet(torch.zeros(1, 8))",
    "a Keras model": "net = keras.Sequential([keras.Input((8,))])\nfor i in range(10**9):\n"
    "    net.add(keras.layers.Dense(8))",
    "a module whose construction raises": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = nn.Linear(8, 8)\n        raise ValueError\n"
    "    def forward(self, x):\n        return self.fc(x)\nnet = Net()\nnet(torch.zeros(1, 8))",
    "a Keras model whose construction raises": "net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8),\n"
    "    keras.layers.Dropout(2), keras.layers.Dense(8)])",
}


@pytest.mark.parametrize("program", CUT_SHORT.values(), ids=CUT_SHORT)
def test_what_was_being_filled_when_the_budget_ended_is_not_exact(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flake8_cnnmem.evaluate.interpreter.STATEMENT_STEPS", 20_000)
    text = f"import torch\nfrom torch import nn\nimport keras\n{program}\n"
    assert all(model.status != "exact" for model in analyse(Source("net.py", text), Settings()).reports)
