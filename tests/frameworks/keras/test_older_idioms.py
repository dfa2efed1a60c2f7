"""Idioms of Keras 2 and TensorFlow 1 that newer versions read otherwise, or do not have."""

from __future__ import annotations

from pathlib import Path

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

ROUTING = """\
from keras import backend as K
from keras.layers import Dense, Flatten, Input, Lambda
from keras.models import Model


def routed(votes):
    weights = K.softmax(K.sum(votes, -1))
    result = K.batch_dot(weights, votes, [2, 2])
    return K.batch_dot(result, votes, [2, 3])


given = Input((10, 100, 16))
model = Model(given, Dense(1)(Flatten()(Lambda(routed)(given))))
model.compile("adam", "mse")
"""

ITERATOR = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers

data = tf.data.Dataset.from_tensor_slices((np.zeros((100, 10)), np.zeros((100, 1)))).repeat().batch(20)
rows, targets = data.make_one_shot_iterator().get_next()
given = Input(tensor=rows)
model = Model(given, layers.Dense(1)(layers.Dense(4)(given)))
model.compile("adam", "mse", target_tensors=[targets])
model.fit(epochs=3, steps_per_epoch=5)
"""


def report(text: str, tmp_path: Path) -> FileReport:
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    source = load(str(path))
    assert source is not None
    return analyse(source, Settings())


def test_batch_dot_of_other_numbers_of_axes_is_no_mismatch(tmp_path: Path) -> None:
    """Capsules: Keras 2.2.4 gives (N, 10, 16) and (N, 10, 100), Keras from 2.3 on (N, 10, 10, 16) first."""
    found = report(ROUTING, tmp_path)
    assert not list(checks.run(found, Settings(), ["CNM201", "CNM202"]))
    (model,) = found.reports
    assert [cause.reason for cause in model.causes][:1] == [
        "what batch_dot of 3 and 4 axes gives depends on the version of Keras"
    ]


def test_an_iterator_of_tensorflow_1_gives_the_batch(tmp_path: Path) -> None:
    (model,) = report(ITERATOR, tmp_path).reports
    assert (model.kind, model.parameters) == ("training", 49)
    assert not [cause for cause in model.causes if "raises" in cause.reason]
