"""Every stub has the signature of the layer or function that it stands for (fixtures/truth/keras_signatures.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem.frameworks.keras import config_objects
from flake8_cnnmem.frameworks.keras.layers import registry
from flake8_cnnmem.frameworks.keras.ops import operations, tensorflow_areas
from flake8_cnnmem.frameworks.keras.ops.tables import Table
from flake8_cnnmem.frameworks.keras.stubs import Stub
from flake8_cnnmem.values import Class

TRUTH = Path(__file__).parents[3] / "fixtures" / "truth" / "keras_signatures.json"
SIGNATURES: dict[str, list[list[str]]] = json.loads(TRUTH.read_text())["signatures"]

EASIER = {
    # Keras 2 had these defaults
    "AveragePooling1D": {"pool_size": "2"},
    "AveragePooling2D": {"pool_size": "(2, 2)"},
    "AveragePooling3D": {"pool_size": "(2, 2, 2)"},
}
"""Defaults that only an older Keras has."""

STUBS = {"keras.ops": operations.OPS, "keras.random": operations.RANDOM}
TABLES: dict[str, Table] = {
    **{f"tf.{part}" if part else "tf": table for part, table in tensorflow_areas.TABLES.items()},
}

LAYERS = sorted(name for name in SIGNATURES if name.startswith("keras.layers."))
OPTIMIZERS = sorted(name for name in SIGNATURES if name.startswith("keras.optimizers."))
FUNCTIONS = sorted(name for name in SIGNATURES if name not in LAYERS and name not in OPTIMIZERS)


def stub_of(name: str) -> Stub | None:
    cls = registry.find(name)
    if not isinstance(cls, Class):
        return None
    return next((base.facts["stub"] for base in cls.mro if "stub" in base.facts), None)


def stated(stub: Stub) -> list[list[str]]:
    """[name] or [name, default] for each parameter of a stub."""
    first = len(stub.names) - len(stub.defaults)
    return [
        [name, repr(stub.defaults[place - first])] if place >= first else [name]
        for place, name in enumerate(stub.names)
    ]


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_stub_has_keras_own_signature(name: str) -> None:
    word = name.rpartition(".")[2]
    if word == "InputLayer":
        return
    stub = stub_of(word)
    assert stub is not None, "no stub"
    easier = EASIER.get(stub.name, {})
    expected = [
        [parameter[0], easier[parameter[0]]] if parameter[0] in easier else parameter for parameter in SIGNATURES[name]
    ]
    assert stated(stub) == expected


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_keeps_keras_own_arguments(name: str) -> None:
    names, defaults = config_objects.parsed(config_objects.OPTIMIZERS[name.rpartition(".")[2]])
    expected = SIGNATURES[name]
    assert list(names) == [parameter[0] for parameter in expected]
    for parameter in expected:
        if len(parameter) > 1 and parameter[0] not in ("name", "learning_rate"):
            assert repr(defaults[parameter[0]]) == parameter[1], parameter[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_the_parameters_of_the_real_one_in_their_order(name: str) -> None:
    module, _, word = name.rpartition(".")
    if module in STUBS:
        own = [
            [each, *([repr(parameter.default)] if parameter.default is not parameter.empty else [])]
            for each, parameter in STUBS[module].stub.signature(word).parameters.items()
            if parameter.kind is not parameter.VAR_POSITIONAL
        ]
        assert own[: len(SIGNATURES[name])] == SIGNATURES[name]
        return
    signature = TABLES[module].entries[word][0]
    assert isinstance(signature, str)
    words = [part.partition(">")[0] for part in signature.split() if not part.startswith("*")]
    expected = [parameter[0] for parameter in SIGNATURES[name]]
    # what comes behind are the words of older versions
    assert words[: len(expected)] == expected
