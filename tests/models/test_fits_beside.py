"""What lies beside a model that trains itself: models that were fitted before and that the program still holds.

The bytes are those of Keras 3.15 on TensorFlow: all variables that are alive after the last fit and are neither the
model's nor its optimizer's (`sum(prod(v.shape) * v.dtype.size)`, counters of metrics and iterations left out).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

BLOCK = 256

HEAD = """\
import numpy as np
import keras
from keras import layers

def net(width):
    return keras.Sequential([keras.Input((1000,)), layers.Dense(width), layers.Dense(1)])

x, y = np.zeros((640, 1000)), np.zeros((640, 1))
"""

ONE_AFTER_THE_OTHER = """\
large = net(4000)
large.compile("adam", "mse")
large.fit(x, y, batch_size=64)
small = net(10)
small.compile("adam", "mse")
small.fit(x, y, batch_size=64)
"""

IN_TURNS = """\
large, small = net(4000), net(10)
large.compile("adam", "mse")
small.compile("adam", "mse")
for turn in range(100):
    large.train_on_batch(x[:64], y[:64])
    small.train_on_batch(x[:64], y[:64])
"""

BY_A_TAPE = """\
import tensorflow as tf

def train(model, optimizer):
    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(64):
        step(a, b)

large, small, first, second = net(4000), net(10), keras.optimizers.Adam(), keras.optimizers.SGD()
train(large, first)
train(small, second)
"""

WEIGHTS, MOMENTS = 16_032_004, 32_064_004
SMALL_WEIGHTS, SMALL_MOMENTS = 40_084, 80_164

CASES = {
    "one after the other": (ONE_AFTER_THE_OTHER, {"large": 0, "small": WEIGHTS + MOMENTS}),
    "in turns, in one loop": (IN_TURNS, {"large": SMALL_WEIGHTS + SMALL_MOMENTS, "small": WEIGHTS + MOMENTS}),
    "trained by a tape": (BY_A_TAPE, {"large": SMALL_WEIGHTS, "small": WEIGHTS + MOMENTS}),
    "only made before, not fitted": (
        ONE_AFTER_THE_OTHER.replace("large.fit(x, y, batch_size=64)\n", ""),
        {"small": WEIGHTS},
    ),
    "deleted before": (ONE_AFTER_THE_OTHER.replace("small = net", "del large\nsmall = net"), {"large": 0, "small": 0}),
    "made of the same layers": (
        ONE_AFTER_THE_OTHER.replace("small = net(10)", "small = keras.Model(large.inputs, large.outputs)"),
        {"large": 0, "small": MOMENTS},
    ),
}


def trainings_of(folder: Path, text: str) -> list[ModelReport]:
    path = folder / "train.py"
    path.write_text(text)
    return [report for report in analyse(load(str(path)), Settings()).reports if report.kind == "training"]


@pytest.mark.parametrize(("text", "beside"), CASES.values(), ids=CASES)
def test_what_the_program_still_holds_is_counted(text: str, beside: dict[str, int], tmp_path: Path) -> None:
    reports = trainings_of(tmp_path, HEAD + text)
    assert {report.name for report in reports} == set(beside)
    for report in reports:
        counted = sum(each.bytes for each in report.also_in_memory)
        assert beside[report.name] <= counted <= beside[report.name] + 16 * BLOCK
        assert report.estimate is not None
        assert report.estimate.total >= counted


TOGETHER = """\
large = net(4000)
large.compile("adam", "mse")
large.fit(x, y, batch_size=64)
maker = keras.Sequential([keras.Input((5,)), layers.Dense(1000)])
critic = net(10)
critic.compile("adam", "mse")
critic.trainable = False
both = keras.Sequential([keras.Input((5,)), maker, critic])
both.compile("adam", "mse")
for turn in range(100):
    critic.train_on_batch(x[:64], y[:64])
    both.train_on_batch(np.zeros((64, 5)), y[:64])
"""


def test_models_that_are_trained_together_have_it_beside_them_all(tmp_path: Path) -> None:
    before, together = trainings_of(tmp_path, HEAD + TOGETHER)
    assert (before.name, together.name) == ("large", "critic + both")
    beside = sum(each.bytes for each in together.also_in_memory)
    assert WEIGHTS + MOMENTS <= beside <= WEIGHTS + MOMENTS + 16 * BLOCK
    (alone,) = trainings_of(tmp_path, HEAD + TOGETHER[TOGETHER.index("maker = ") :])
    assert together.estimate is not None
    assert alone.estimate is not None
    assert together.estimate.total == alone.estimate.total + beside
