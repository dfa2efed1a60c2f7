"""Every layer class by name, for `keras.layers`."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.inputs import INPUT, INPUT_LAYER
from flake8_cnnmem.frameworks.keras.layers import (
    activation,
    attention,
    bidirectional,
    cells,
    conv_lstm,
    convolutional,
    core,
    keras1,
    lookups,
    low_rank,
    merging,
    normalization,
    pooling,
    preprocessing,
    regularization,
    reshaping,
    rnn,
    spectrograms,
    wrapping,
)
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tracking import LAYER
from flake8_cnnmem.values import MISSING, Value

FILES = (
    activation, attention, bidirectional, cells, conv_lstm, convolutional, core, keras1, lookups, low_rank, merging,
    normalization, pooling, preprocessing, regularization, reshaping, rnn, spectrograms, wrapping,
)  # fmt: skip
"""Importing them has filled `LAYERS`."""

MEMBERS: dict[str, Value] = {
    **LAYERS,
    **merging.FUNCTIONS,
    "Layer": LAYER,
    "Input": INPUT,
    "InputLayer": INPUT_LAYER,
    "Merge": keras1.MERGE_LAYER,
    "_Merge": keras1.OWN_MERGE,
    "AbstractRNNCell": LAYER,
}


def find(name: str) -> Value:
    """A member of `keras.layers`."""
    return MEMBERS.get(name, MISSING)
