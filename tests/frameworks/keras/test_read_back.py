"""Trainings of models that were written and read back, of batches of several sizes, of steps around the usual one.

Batches, optimizers and parameters as Keras 3.15 has them on TensorFlow; what cannot be known is a bound with its cause.
"""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import keras
import numpy as np
import tensorflow as tf
from keras import layers
x, y = np.zeros((96, 16)), np.zeros((96, 4))
m = keras.Sequential([keras.Input((16,)), layers.Dense(8), layers.Dense(4)])
m.compile("adam", "mse")
"""
SEVERAL = "batches of several sizes"
OTHERS = "the train_step of Own runs the usual one on other tensors"
STEP = """
class Own(keras.Model):
    def train_step(self, data):
        x, y = data
        return super().train_step({})
inputs = keras.Input((16,))
m = Own(inputs, layers.Dense(4)(inputs))
m.compile("sgd", "mse")
m.fit(x, y, batch_size=24)
"""

PROGRAMS: dict[str, tuple[str, tuple[str, int, str, int | None, str]]] = {
    "a checkpoint of the whole model": (
        """
m.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)])
n = keras.models.load_model("best.keras")
n.layers[0].trainable = False
n.compile("sgd", "mse")
n.fit(x, y, batch_size=12)
""",
        ("exact", 12, "sgd", 172, ""),
    ),
    "a model that was changed after it was saved": (
        "m.save('m.keras')\nm.add(layers.Dense(4))\nn = keras.models.load_model('m.keras')\nn.fit(x, y, batch_size=12)",
        ("lower-bound", 12, "adam", None, "the model was changed after it was saved"),
    ),
    "a model that was saved perhaps": (
        """
if open("unknown").read():
    m.save("m.keras")
n = keras.models.load_model("m.keras")
n.fit(x, y, batch_size=12)
""",
        ("lower-bound", 12, "adam", None, "what a file holds is not known"),
    ),
    "a layer of which nobody knows how it is made anew": (
        """
class Scaled(layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.scale = self.add_weight(shape=(width,))
    def call(self, x):
        return x * self.scale
m.add(Scaled(4))
m.compile("adam", "mse")
m.save("m.keras")
n = keras.models.load_model("m.keras")
n.fit(x, y, batch_size=12)
""",
        ("lower-bound", 12, "momentum", None, "what a Scaled was constructed with is not kept"),
    ),
    "a text that went through a file": (
        """
open("m.json", "w").write(m.to_json())
n = keras.models.model_from_json(open("m.json").read())
n.compile(keras.optimizers.Adam(), "mse")
n.fit(x, y, batch_size=12)
""",
        ("lower-bound", 12, "momentum", None, "what model_from_json gives is not followed"),
    ),
    "a generator of growing batches": (
        "def drawn():\n    for n in (4, 32, 8):\n        yield x[:n], y[:n]\nm.fit(drawn())",
        ("exact", 32, "adam", 172, ""),
    ),
    "a generator of which a late batch is large": (
        "def drawn():\n    for n in (4, 4, 4, 4, 60):\n        yield x[:n], y[:n]\nm.fit(drawn())",
        ("exact", 60, "adam", 172, ""),
    ),
    "a generator without end": (
        """
def drawn():
    while True:
        yield x[:4], y[:4]
        yield x[:9], y[:9]
m.fit(drawn(), steps_per_epoch=2)
""",
        ("lower-bound", 9, "adam", 172, SEVERAL),
    ),
    "a function that leaves samples of a batch out": (
        """
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(40)
m.fit(data.map(lambda a, b: (a[:25], b[:25])))
""",
        ("exact", 25, "adam", 172, ""),
    ),
    "a function that adds samples to a batch": (
        """
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(12)
m.fit(data.map(lambda a, b: (tf.concat([a, a], 0), tf.concat([b, b], 0))))
""",
        ("exact", 24, "adam", 172, ""),
    ),
    "fewer samples than a batch": (
        "m.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96).batch(128).prefetch(1))",
        ("exact", 96, "adam", 172, ""),
    ),
    "fewer samples that are filtered": (
        "m.fit(tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda a, b: b[0] > 0).batch(128))",
        ("upper-bound", 96, "adam", 172, "how many elements are left"),
    ),
    "fewer samples than a whole batch": (
        "m.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(128, drop_remainder=True))",
        ("upper-bound", 128, "adam", 172, "gives no batch of 128"),
    ),
    "a step of every fourth batch": (
        """
optimizer = keras.optimizers.SGD()
for step, (a, b) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).batch(12)):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((m(a) - b) ** 2)
    gradients = tape.gradient(loss, m.trainable_variables)
    if (step + 1) % 4 == 0:
        optimizer.apply_gradients(zip(gradients, m.trainable_variables))
""",
        ("lower-bound", 12, "sgd", 172, "4 forward passes"),
    ),
    "a state at a time": (
        """
optimizer = keras.optimizers.SGD()
for episode in range(30):
    state = tf.convert_to_tensor(np.random.rand(16))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(m(tf.expand_dims(state, 0)))
    gradients = tape.gradient(loss, m.trainable_variables)
    optimizer.apply_gradients(zip(gradients, m.trainable_variables))
""",
        ("lower-bound", 1, "sgd", 172, "what the loss keeps"),
    ),
    "a sequence of growing batches": (
        """
class Parts(keras.utils.PyDataset):
    def __len__(self):
        return 3
    def __getitem__(self, index):
        return x[:8 * (index + 1)], y[:8 * (index + 1)]
m.fit(Parts())
""",
        ("exact", 24, "adam", 172, ""),
    ),
    "a generator whose last batch is smaller": (
        "def drawn():\n    for n in (32, 32, 8):\n        yield x[:n], y[:n]\nm.fit(drawn())",
        ("exact", 32, "adam", 172, ""),
    ),
    "one pipeline after another": (
        """
data = tf.data.Dataset.from_tensor_slices((x, y))
m.fit(data.batch(8).concatenate(data.batch(24)))
""",
        ("exact", 24, "adam", 172, ""),
    ),
    "a stack from its edited configuration": (
        """
described = m.get_config()
described["layers"][-1]["config"]["units"] = 6
n = keras.Sequential.from_config(described)
n.compile("sgd", "mse")
n.fit(x, np.zeros((96, 6)), batch_size=12)
""",
        ("exact", 12, "sgd", 190, ""),
    ),
    "a stack from its configuration, built for another input than it is given": (
        """
described = m.get_config()
described["layers"][0]["config"]["batch_shape"] = (None, 20)
n = keras.Sequential.from_config(described)
n.compile("sgd", "mse")
n.fit(np.zeros((96, 20)), y, batch_size=12)
""",
        ("unresolved", 12, "sgd", None, "takes 16 features, but is given 20"),
    ),
    "a step on generated samples beside the fit's": (
        """
made = keras.Sequential([keras.Input((3,)), layers.Dense(16)])
class Own(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def train_step(self, data):
        x, y = data
        n = tf.shape(x)[0]
        x, y = tf.concat([x, made(tf.random.normal((n, 3)))], 0), tf.concat([y, y], 0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.inner(x) - y) ** 2)
        weights = self.inner.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {}
own = Own(m)
own.compile("sgd")
own.fit(x, y, batch_size=24)
""",
        ("lower-bound", 48, "sgd", 172, ""),
    ),
    "the usual step on twice the batch": (
        STEP.format("(tf.concat([x, x], 0), tf.concat([y, y], 0))"),
        ("lower-bound", 24, "sgd", 68, OTHERS),
    ),
    "the usual step on inputs of the same sizes": (STEP.format("(x + 1.0, y)"), ("exact", 24, "sgd", 68, "")),
}


@pytest.mark.parametrize(("code", "expected"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_the_last_training(code: str, expected: tuple[str, int, str, int | None, str]) -> None:
    found = [each for each in analyse(Source("train.py", HEAD + code), Settings()).reports if each.kind == "training"]
    how, told = found[-1].training, found[-1]
    assert (told.status, how.batch_size.value, how.optimizer.value.name, told.parameters) == expected[:4]
    assert expected[4] in " ".join(cause.reason for cause in told.causes)


NESTED = """
inner = keras.Sequential([keras.Input((16,)), layers.Dense(8)])
inputs = keras.Input((16,))
m = keras.Model(inputs, layers.Dense(4)(inner(inputs)))
inner.add(layers.Dense({}))
m.compile("adam", "mse")
m.fit(x, y)
"""


@pytest.mark.parametrize(("width", "status"), [(8, "exact"), (50, "unresolved")])
def test_a_layer_that_is_added_within_a_model_is_run(width: int, status: str) -> None:
    """Keras calls the nested model anew: with a layer of another width its step ends in a ValueError."""
    report = analyse(Source("train.py", HEAD + NESTED.format(width)), Settings()).reports[-1]
    assert report.status == status
    assert report.status == "exact" or "takes 8 features, but is given 50" in report.causes[0].reason
