"""Keras models that begin or end in the midst of another: what made their inputs is no part of them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

CODE = """\
import keras
a = keras.Input((8,), name="a")
b = keras.Input((4,), name="b")
h = keras.layers.Dense(6, name="first")(a)
out = keras.layers.Dense(1, name="second")(h)
"""


@pytest.mark.parametrize(
    ("model", "layers", "parameters"),
    [
        ("keras.Model(a, out)", {"first", "second"}, 61),
        ("keras.Model(h, out)", {"second"}, 7),
        ("keras.Model([a, b], out)", {"first", "second"}, 61),
        ("keras.Model([a, h], out)", {"second"}, 7),
        ("keras.Model({'a': a, 'h': h}, [out, h])", {"second"}, 7),
        ("keras.Model(a, h)", {"first"}, 54),
        ("keras.Model(a, [a, out])", {"first", "second"}, 61),
    ],
)
def test_a_model_is_what_lies_between_its_inputs_and_outputs(model: str, layers: set[str], parameters: int) -> None:
    # As `keras.Model(...).summary()` counts them.
    [report] = analyse(Source("cut.py", f"{CODE}m = {model}\nm.compile('adam', 'mse')\n"), Settings()).reports
    assert report.status == "exact"
    assert {row.name for row in report.rows if row.type == "Dense"} == layers
    assert report.parameters == parameters
