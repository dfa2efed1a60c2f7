"""Steps of models with several outputs, and steps that the code writes itself around several passes.

Peaks are TensorFlow's own (tests/oracle/tensorflow_trace.py, TensorFlow 2.21 and Keras 3.15 on the CPU, three runs
each).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from tests.conftest import not_followed

TOWERS = """
import keras, numpy as np
from keras import layers
i = keras.Input((512,))
a = layers.Dense(10, name="a")(layers.Dense(1000, "relu")(i))
b = layers.Dense(10, name="b")(layers.Dense(3000, "relu")(i))
m = keras.Model(i, [a, b])
m.compile("adam", {losses})
m.fit(np.zeros((640, 512)), [np.zeros((640, 10))] * 2, batch_size=64)
"""

HEADS = """
import keras, numpy as np
from keras import layers
i = keras.Input((256, 256, 3))
x = layers.Conv2D(16, 3, padding="same", activation="relu")(i)
outs = []
for n in range(3):
    y = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    outs.append(layers.Conv2D(1, 1, activation="sigmoid", name=f"o{n}")(y))
m = keras.Model(i, outs)
m.compile("sgd", "binary_crossentropy")
m.fit(np.zeros((80, 256, 256, 3)), [np.zeros((80, 256, 256, 1))] * 3, batch_size=8)
"""

PEAKS = {
    "a loss of each of two towers": (TOWERS.replace("{losses}", "['mse', 'mse']"), 42198784, 43677952, 0.1),
    "the same by name": (TOWERS.replace("{losses}", "{'a': 'mse', 'b': 'mse'}"), 42198784, 43677952, 0.1),
    "no loss of the second, whose state is there all the same": (
        TOWERS.replace("{losses}", "['mse', None]"), 29340416, 31388416, 0.02,
    ),
    "one loss for three heads": (HEADS, 249594880, 249594880, 0.01),
}  # fmt: skip
"""Code, the least and the highest peak, and how far the estimate may be below: the CPU runs branches beside each other.
Of the three heads it is what a GPU's order gives (tests/oracle/tensorflow_executor.py): a CPU has 230 to 263 MB."""


def only(path: Path, code: str) -> ModelReport:
    path.write_text(code)
    (report,) = analyse(load(str(path)), Settings()).reports
    return report


@pytest.mark.parametrize(("code", "least", "most", "below"), PEAKS.values(), ids=PEAKS)
def test_every_output_has_its_loss(code: str, least: int, most: int, below: float, tmp_path: Path) -> None:
    estimate = only(tmp_path / "model.py", code).estimate
    assert estimate is not None
    assert estimate.tensor_peak is not None
    assert least * (1 - below) <= estimate.tensor_peak <= most * 1.01


OWN_STEP = """
import tensorflow as tf
import keras
from keras import layers, ops
i = keras.Input((32, 32, 3))
net = keras.Model(i, layers.Conv2D(3, 3, padding="same")(layers.Conv2D(8, 3, padding="same")(i)))
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = net
    def call(self, x):
        return self.net(x)
    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = {loss}
        found = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(found, self.trainable_variables))
        return {"loss": loss}
own = Own()
own.compile(optimizer="adam")
own.fit(tf.zeros((64, 32, 32, 3)), batch_size=16)
"""

LOSSES = {
    "one pass and a small loss": ("ops.mean(ops.mean(self(x), axis=(1, 2)))", []),
    # TensorFlow's own graph needs 1,648,384 bytes in the order of a GPU's kernels (tests/oracle/tensorflow_executor.py)
    "two passes": ("ops.mean(self(self(x)))", []),
    "a loss of many tensors": (
        "ops.mean(ops.exp(ops.sin(self(x)) * ops.cos(x)))",
        ["what the loss keeps beside what the model gives"],
    ),
}


@pytest.mark.parametrize(("loss", "causes"), LOSSES.values(), ids=LOSSES)
def test_a_step_of_more_than_one_pass_is_a_bound(loss: str, causes: list[str], tmp_path: Path) -> None:
    report = only(tmp_path / "model.py", OWN_STEP.replace("{loss}", loss))
    # What a convolution has read goes before or after its input's gradient is made.
    assert report.status == "lower-bound"
    assert not_followed(report) == causes
