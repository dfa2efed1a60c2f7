"""Losses as functions and objects: the shapes that Keras gives."""

from __future__ import annotations

import pytest

from tests.frameworks.keras.code import Ran, shapes

HEAD = """
import keras
import keras.backend as K
import tensorflow as tf
from keras import losses, ops
x, y = keras.Input((28, 28, 1)), keras.Input((28, 28, 1))
logits, one_hot = keras.Input((7, 10)), keras.Input((7, 10))
labels = keras.Input((7,), dtype="int32")


class Own(losses.Loss):
    def call(self, y_true, y_pred):
        return ops.sum(ops.abs(y_true - y_pred), axis=-1)

"""

LOSSES = {
    "losses.binary_crossentropy(x, y)": [None, 28, 28],
    "losses.BinaryCrossentropy()(x, y)": [],
    "losses.BinaryCrossentropy(from_logits=True, reduction='none')(x, y)": [None, 28, 28],
    "losses.mse(x, y)": [None, 28, 28],
    "losses.MeanSquaredError(reduction=None)(x, y)": [None, 28, 28],
    "losses.mean_absolute_error(x, y)": [None, 28, 28],
    "losses.Huber()(x, y)": [],
    "losses.KLDivergence()(one_hot, logits)": [],
    "losses.kl_divergence(one_hot, logits)": [None, 7],
    "losses.categorical_crossentropy(one_hot, logits)": [None, 7],
    "losses.CategoricalCrossentropy(reduction='sum')(one_hot, logits)": [],
    "losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)": [None, 7],
    "losses.SparseCategoricalCrossentropy(reduction='none')(labels, logits)": [None, 7],
    "losses.get('mse')(x, y)": [None, 28, 28],
    "Own()(x, y)": [],
    "Own(reduction='none')(x, y)": [None, 28, 28],
    "K.binary_crossentropy(x, y)": [None, 28, 28, 1],
    "K.binary_crossentropy(x, y, from_logits=True)": [None, 28, 28, 1],
    "K.categorical_crossentropy(one_hot, logits)": [None, 7],
    "K.sparse_categorical_crossentropy(labels, logits)": [None, 7],
    "ops.binary_crossentropy(x, y)": [None, 28, 28, 1],
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)": [None, 28, 28, 1],
    "tf.nn.softmax_cross_entropy_with_logits(labels=one_hot, logits=logits)": [None, 7],
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)": [None, 7],
}


@pytest.mark.parametrize(("expression", "shape"), LOSSES.items())
def test_a_loss_has_the_shape_that_keras_gives_it(expression: str, shape: list[int | None]) -> None:
    ran = Ran(f"{HEAD}loss = {expression}\n")
    assert shapes(ran["loss"]) == [shape]
    assert ran.problems == []
