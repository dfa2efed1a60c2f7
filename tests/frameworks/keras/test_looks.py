"""What `evaluate`, `predict` and a validation need where that is more than the training does.

Measured with Keras 3.15.1 on TensorFlow 2.21 (tests/oracle/tensorflow_trace.py around the test and predict functions,
graph mode without XLA): the sum of what is alive at the highest moment, all variables included.
"""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import EvaluationReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """
import keras, numpy as np
from keras import layers
i = keras.Input((48, 48, 3))
x, y = np.zeros((600, 48, 48, 3), "float32"), np.zeros((600,))
"""
CLASSIFIER = """
t = layers.BatchNormalization()(layers.Conv2D(32, 3, padding="same", activation="relu")(i))
t = layers.MaxPooling2D()(layers.Conv2D(32, 3, padding="same", activation="relu")(t))
t = layers.GlobalAveragePooling2D()(layers.Conv2D(64, 3, padding="same")(layers.Dropout(0.3)(t)))
model = keras.Model(i, layers.Dense(10, activation="softmax")(t))
model.compile("adam", "sparse_categorical_crossentropy")
"""
SEGMENTER = """
s = layers.Conv2D(16, 3, padding="same", activation="relu")(i)
t = layers.UpSampling2D()(layers.Conv2D(32, 3, padding="same", activation="relu")(layers.MaxPooling2D()(s)))
model = keras.Model(i, layers.Conv2D(5, 1, activation="softmax")(layers.Concatenate()([t, s])))
model.compile("adam", "sparse_categorical_crossentropy")
y = np.zeros((600, 48, 48))
"""


def looked(code: str) -> EvaluationReport | None:
    source = Source("program.py", HEAD + code)
    (report,) = [each for each in analyse(source, Settings()).reports if each.name == "model"]
    assert report.status == "exact"
    return report.evaluation


MEASURED = {
    "evaluate": (CLASSIFIER + "model.fit(x, y, batch_size=8)\nmodel.evaluate(x, y, batch_size=200)\n", 200, 118.34e6),
    "evaluate maps": (SEGMENTER + "model.fit(x, y, batch_size=4)\nmodel.evaluate(x, y, 100)\n", 100, 94.43e6),
    "predict": (SEGMENTER + "model.fit(x, y, batch_size=4)\nmodel.predict(x, batch_size=100)\n", 100, 88.50e6),
}


@pytest.mark.parametrize(("code", "batch", "total"), MEASURED.values(), ids=MEASURED)
def test_an_evaluation_has_a_figure_of_its_own(code: str, batch: int, total: float) -> None:
    found = looked(code)
    assert found is not None
    assert found.batch_size == batch
    assert found.total == pytest.approx(total, rel=0.05)
    assert found.total > 3 * found.training_total


FIT = CLASSIFIER + "model.fit(x, y, batch_size=64)\n"
CALLS = {
    "of as many samples as it trains on": (FIT + "model.evaluate(x, y, 64)\n", None),
    "by default": (FIT + "model.predict(x)\n", None),
    "of no more than there are": (FIT + "model.predict(x[:300], batch_size=1000)\n", 300),
    "all at once": (FIT + "model.predict_on_batch(x)\n", 600),
    "tested at once": (FIT + "model.test_on_batch(x[:500], y[:500])\n", 500),
    "of other sizes": (
        "i = keras.Input((None, None, 3))\n" + FIT + "model.predict_on_batch(np.zeros((600, 24, 24, 3)))\n",
        None,
    ),
    "a validation": (
        CLASSIFIER + "model.fit(x, y, batch_size=8, validation_data=(x, y), validation_batch_size=400)\n",
        400,
    ),
    "a validation by default": (CLASSIFIER + "model.fit(x, y, batch_size=8, validation_data=(x, y))\n", None),
    "before the training": (CLASSIFIER + "model.predict(x, batch_size=600)\nmodel.fit(x, y, batch_size=8)\n", None),
}


@pytest.mark.parametrize(("code", "batch"), CALLS.values(), ids=CALLS)
def test_which_call_is_told(code: str, batch: int | None) -> None:
    found = looked(code)
    assert (found.batch_size if found is not None else None) == batch
