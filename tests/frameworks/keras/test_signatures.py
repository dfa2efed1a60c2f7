"""Every stub has the signature of the layer or function that it stands for (fixtures/truth/keras_signatures.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flake8_cnnmem.frameworks.keras import config_objects
from flake8_cnnmem.frameworks.keras.layers import registry
from flake8_cnnmem.frameworks.keras.ops import operations
from flake8_cnnmem.frameworks.keras.stubs import LayerStub
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

STUBS = {
    "keras.ops": operations.OPS,
    "keras.random": operations.RANDOM,
    "keras.backend": operations.BACKEND,
    **{f"tf.{area}" if area else "tf": functions for area, functions in operations.TENSORFLOW.items()},
}
LAYERS = sorted(name for name in SIGNATURES if name.startswith("keras.layers."))
OPTIMIZERS = sorted(name for name in SIGNATURES if name.startswith("keras.optimizers."))
FUNCTIONS = sorted(name for name in SIGNATURES if name not in LAYERS and name not in OPTIMIZERS)


def stub_of(name: str) -> LayerStub | None:
    cls = registry.find(name)
    if not isinstance(cls, Class):
        return None
    return next((base.facts["stub"] for base in cls.mro if "stub" in base.facts), None)


def stated(stub: LayerStub) -> list[list[str]]:
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
def test_a_function_has_the_signature_of_the_real_one(name: str) -> None:
    """What comes behind the real parameters are the words of older versions. A default that is the same by another
    word (`"channels_last"` for None) is the computation's; what has one in some version has one here."""
    module, _, word = name.rpartition(".")
    own = [
        parameter
        for parameter in STUBS[module].signature(word).parameters.values()
        if parameter.kind is not parameter.VAR_POSITIONAL
    ]
    expected = SIGNATURES[name]
    assert [parameter.name for parameter in own[: len(expected)]] == [parameter[0] for parameter in expected]
    for parameter, (_, *default) in zip(own, expected, strict=False):
        stated = [] if parameter.default is parameter.empty else [repr(parameter.default)]
        if module in ("keras.ops", "keras.random"):
            assert stated == default, parameter.name
        elif default and not default[0].startswith("<") and default[0] != "None":
            assert stated == [re.sub(r"^tf\.(\w+)$", r"'\1'", default[0])], parameter.name
