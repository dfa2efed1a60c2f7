"""MultiHeadAttention over some of the axes: the shapes that Keras 3.15 gives when it runs (batch of 2)."""

from __future__ import annotations

import pytest

from tests.frameworks.keras.code import Ran, shapes

HEAD = """\
import keras
from keras import layers

query, rows, columns = keras.Input((6, 4, 10)), keras.Input((7, 4, 12)), keras.Input((6, 5, 12))
both = keras.Input((7, 5, 12))
"""

FOUND = {
    "layers.MultiHeadAttention(3, 5, value_dim=7, output_shape=9, attention_axes=(1,))(query, rows)": [[6, 4, 9]],
    "layers.MultiHeadAttention(2, 4, attention_axes=(1,))(query, rows, return_attention_scores=True)": [
        [6, 4, 10],
        [4, 2, 6, 7],
    ],
    "layers.MultiHeadAttention(2, 4, attention_axes=(-2,))(query, columns, return_attention_scores=True)": [
        [6, 4, 10],
        [6, 2, 4, 5],
    ],
    "layers.MultiHeadAttention(2, 4, attention_axes=2)(query, columns)": [[6, 4, 10]],
    "layers.MultiHeadAttention(2, 4, attention_axes=(1, 2))(query, both, return_attention_scores=True)": [
        [6, 4, 10],
        [2, 6, 4, 7, 5],
    ],
}


@pytest.mark.parametrize("code", FOUND)
def test_the_axes_that_are_attended_over_may_differ(code: str) -> None:
    ran = Ran(f"{HEAD}y = {code}\n")
    assert shapes(ran["y"]) == [[None, *sizes] for sizes in FOUND[code]]
    assert ran.problems == []


def test_the_axes_that_stay_free_must_be_alike() -> None:
    assert len(Ran(f"{HEAD}y = layers.MultiHeadAttention(2, 4, attention_axes=(1,))(query, columns)\n").problems) == 1
