"""Every stub has the signature of the layer or function that it stands for (fixtures/truth/torch_signatures.json)."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.frameworks.torch import FRAMEWORK, optim, registry
from flake8_cnnmem.frameworks.torch.arguments import OTHER_NAMES
from flake8_cnnmem.frameworks.torch.nn import layer
from flake8_cnnmem.values import Native

TRUTH = json.loads((Path(__file__).parents[3] / "fixtures" / "truth" / "torch_signatures.json").read_text())

NOT_OURS = {"Container", "LinearCrossEntropyLoss", "RNNBase", "RNNCellBase"}
"""Bases that nobody calls, and what torch itself marks as a prototype."""

FREE = {"RNN", "LSTM", "GRU", "NLLLoss2d"}
"""torch declares these as (*args, **kwargs) and takes them apart itself."""

OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def shown(default: Any) -> str:
    return default.name if isinstance(default, Native) else repr(default)


def stated(signature: inspect.Signature) -> list[list[str]]:
    return [
        [name, *([] if parameter.default is parameter.empty else [shown(parameter.default)])]
        for name, parameter in signature.parameters.items()
        if parameter.kind not in OPEN
    ]


@pytest.mark.parametrize("name", sorted(set(TRUTH["layers"]) - NOT_OURS - FREE))
def test_a_layer_has_torchs_own_signature(name: str) -> None:
    if name not in layer.STUBS:
        assert name in layer.LAYERS
        return
    assert stated(layer.STUBS[name]()) == TRUTH["layers"][name]


@pytest.mark.parametrize("name", sorted(set(TRUTH["functional"]) & set(registry.FUNCTIONAL)))
def test_a_function_of_torch_nn_functional_has_its_own_signature(name: str) -> None:
    expected = TRUTH["functional"][name]
    own = stated(registry.signature(f"functional.{name}") or inspect.Signature())
    assert [each[0] for each in own] == [each[0] for each in expected]
    differing = [(a, b) for a, b in zip(own, expected, strict=True) if len(a) != len(b) or not same_default(a, b)]
    assert not differing


def same_default(own: list[str], expected: list[str]) -> bool:
    """Defaults are equal as values: 1 and 1.0 are the same."""
    if len(own) == 1 or own[1] == expected[1]:
        return True
    try:
        return float(own[1]) == float(expected[1])
    except ValueError:
        return False


@pytest.mark.parametrize("name", sorted(optim.OPTIONS))
def test_an_optimizer_keeps_torchs_own_options(name: str) -> None:
    expected = TRUTH["optimizers"][name]
    assert expected[0][0] == "params"
    assert [[word, repr(value)] for word, value in optim.OPTIONS[name].items()] == expected[1:]


def acceptable(signature: inspect.Signature, names: list[str]) -> str | None:
    """Why a call by these positional parameters' names would not be taken; None where it would."""
    parameters = signature.parameters
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return None
    own = [name for name, parameter in parameters.items() if parameter.kind not in OPEN]
    positional = [
        name for name in own if parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY
    ]  # fmt: skip
    plain = [name for name in names if not name.startswith("*")]
    if len(plain) > len(positional):
        return f"takes {len(positional)} positional arguments, not {len(plain)}"
    return None


@pytest.mark.parametrize(
    ("place", "name"),
    [("torch", name) for name in sorted(TRUTH["functions"])] + [("tensor", name) for name in sorted(TRUTH["methods"])],
    ids=lambda value: value,
)
def test_a_function_of_torch_takes_what_each_overload_takes(place: str, name: str) -> None:
    signature = registry.signature(f"{place}.{name}")
    if signature is None:
        return
    overloads = TRUTH["functions" if place == "torch" else "methods"][name]
    if len(overloads) == 1 and not any(word.startswith("*") for word in overloads[0]):
        own = [
            word
            for word, parameter in signature.parameters.items()
            if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        if not any(parameter.kind in OPEN for parameter in signature.parameters.values()):
            expected = [word if word in own else OTHER_NAMES.get(word, word) for word in overloads[0]]
            assert own[: len(expected)] == expected
            assert all(
                signature.parameters[word].default is not inspect.Parameter.empty for word in own[len(expected) :]
            )
        return
    for overload in overloads:
        assert acceptable(signature, overload) is None


def test_the_framework_names_itself() -> None:
    assert (FRAMEWORK.name, FRAMEWORK.alignment, FRAMEWORK.channels_last) == ("torch", 512, False)
