"""Whole Keras programs as tutorials and notebooks write them: status, batch, input, optimizer and parameters of each
training, the parameters counted by Keras 3.15 (tensorflow_addons' and keras_tuner's models with Keras' own layers)."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
x, y = np.zeros((96, 16, 16, 3)), np.zeros((96, 4))
"""
BLOCKS = """
def net(sizes):
    inputs = outputs = keras.Input((16, 16, 3))
    for number, width in {}:
        outputs = layers.Conv2D(width, 3, padding="same")(outputs)
        if width == 16:
            outputs = layers.Dropout(0.5)(outputs)
        outputs = layers.MaxPooling2D()(outputs)
    return keras.Model(inputs, layers.Dense(4)(layers.Flatten()(outputs)))

model = net([4, 8, 16])
model.compile("adam", "mse")
model.fit(x, y, batch_size=24)
"""
OWN_STEP = """
class Own(keras.Model):
    def {}(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = {}
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.compiled_metrics.update_state(y, y_pred)
        return {{metric.name: metric.result() for metric in self.metrics}}

inputs = keras.Input((16, 16, 3))
hidden = layers.Conv2D(8, 3, activation="relu")(inputs)
model = Own(inputs, layers.Dense(4, activation="softmax")(layers.Flatten()(hidden)))
model.compile("adam", "categorical_crossentropy")
model.fit(x, y, batch_size=24)
"""
WITH_ADDONS = """
import tensorflow_addons as tfa
inputs = keras.Input((16, 16, 3))
h = tfa.layers.InstanceNormalization()(layers.Conv2D(8, 3, use_bias=False)(inputs))
h = tfa.layers.GroupNormalization(groups=4)(layers.Activation(tfa.activations.mish)(h))
model = keras.Model(inputs, layers.Dense(4)(layers.Flatten()(h)))
model.compile(tfa.optimizers.{}, tfa.losses.SigmoidFocalCrossEntropy(), metrics=[tfa.metrics.F1Score(4)])
model.fit(x, y, batch_size=24)
"""
SEARCH = """
import keras_tuner as kt

def build(hp):
    model = keras.Sequential([layers.Flatten(input_shape=(16, 16, 3))])
    for number in range(hp.Int("depth", 1, 2)):
        model.add(layers.Dense(hp.Int(f"width {{number}}", min_value=8, max_value=32, step=8), hp.Choice("act", ["relu", "tanh"])))
    model.add(layers.Dense(4))
    model.compile(keras.optimizers.Adam(hp.Choice("rate", [1e-2, 1e-3])), "mse")
    return model

tuner = kt.RandomSearch(build, objective="val_loss", max_trials=5)
{}
"""  # noqa: E501

Facts = tuple[str, int, tuple[int, ...], str, int]

PROGRAMS: dict[str, tuple[str, list[Facts]]] = {
    "a builder that compares the widths of a numbered list": (
        BLOCKS.format("enumerate(sizes)"),
        [("exact", 24, (16, 16, 3), "adam", 1836)],
    ),
    "a builder that compares the widths of zipped lists": (
        BLOCKS.format("zip(range(3), sizes)"),
        [("exact", 24, (16, 16, 3), "adam", 1836)],
    ),
    "a builder that compares the values of a dict": (
        BLOCKS.format("dict(enumerate(sizes)).items()"),
        [("exact", 24, (16, 16, 3), "adam", 1836)],
    ),
    "layers that are as wide as there is a GPU": (
        """
wide = 64 if tf.config.list_physical_devices("GPU") else 8
gpus = tf.config.experimental.list_physical_devices("GPU")
if gpus:
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
print("GPUs:", len(gpus))
model = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(wide, 3), layers.Flatten(), layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(x, y, batch_size=24)
""",
        [("exact", 24, (16, 16, 3), "sgd", 51972)],
    ),
    "states of a recurrent layer's own making": (
        """
class Characters(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = layers.Embedding(50, 8), layers.Dense(50)
        self.gru = layers.GRU(16, return_sequences=True, return_state=True)

    def call(self, inputs):
        h = self.embedding(inputs)
        h, _ = self.gru(h, initial_state=self.gru.get_initial_state(tf.shape(h)[0]))
        return self.out(h)

ids = tf.data.Dataset.from_tensor_slices((np.zeros((64, 20), "int32"), np.zeros((64, 20), "int32"))).batch(16)
model = Characters()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ids)
""",
        [("lower-bound", 16, (20,), "adam", 2498)],
    ),
    "a pair of sequences from a data set": (
        """
class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.words, self.out = layers.Embedding(10, 8), layers.Dense(10)

    def call(self, inputs):
        context, x = inputs
        return self.out(self.words(x) + tf.reduce_mean(self.words(context), axis=1, keepdims=True))

a, b = np.zeros((640, 64), "int64"), np.zeros((640, 33), "int64")
pairs = tf.data.Dataset.from_tensor_slices((a, b)).batch(20).map(lambda p, e: ((p, e[:, :-1]), e[:, 1:]))
model = Pair()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(pairs)
""",
        [("exact", 20, (64,), "adam", 170)],
    ),
    "three pictures for a step of its own": (
        """
a, p, n = keras.Input((8,)), keras.Input((8,)), keras.Input((8,))
encode = layers.Dense(5)
near = keras.Model([a, p, n], [encode(a) - encode(p), encode(a) - encode(n)])

class Apart(keras.Model):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def call(self, inputs):
        return self.net(inputs)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            near, far = self.net(data)
            loss = tf.reduce_mean(near**2) - tf.reduce_mean(far**2)
        grads = tape.gradient(loss, self.net.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_weights))
        return {"loss": loss}

three = tuple(tf.data.Dataset.from_tensor_slices(np.zeros((64, 8), "float32")) for _ in range(3))
model = Apart(near)
model.compile("sgd")
model.fit(tf.data.Dataset.zip(three).batch(16))
""",
        [("exact", 16, (8,), "sgd", 45)],
    ),
    "features by name from a data set": (
        """
class Ratings(keras.Model):
    def __init__(self):
        super().__init__()
        self.user, self.film, self.out = layers.Embedding(943, 32), layers.Embedding(1682, 32), layers.Dense(1)

    def call(self, features):
        return self.out(tf.concat([self.user(features["user"]), self.film(features["film"])], axis=1))

ids = np.zeros(1000, "int32")
rows = tf.data.Dataset.from_tensor_slices(({"user": ids, "film": ids}, np.zeros(1000, "float32"))).batch(50)
model = Ratings()
model.compile(keras.optimizers.Adagrad(0.1), "mse")
model.fit(rows)
""",
        [("lower-bound", 50, (), "adagrad", 84065)],
    ),
    "a picture and numbers from a sequence": (
        """
class Both(keras.Model):
    def __init__(self):
        super().__init__()
        self.c, self.f, self.d = layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(3)

    def call(self, inputs, training=False):
        picture, numbers = inputs
        return self.d(tf.concat([self.f(self.c(picture)), numbers], -1))

class Batches(keras.utils.Sequence):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return (np.zeros((12, 32, 32, 3)), np.zeros((12, 5))), np.zeros((12, 3))

model = Both()
model.compile("adam", "mse")
model.fit(Batches())
""",
        [("exact", 12, (32, 32, 3), "adam", 21842)],
    ),
    "spectrograms of recordings whose one channel is dropped": (
        """
waves = keras.utils.audio_dataset_from_directory("data", batch_size=64, output_sequence_length=16000)
waves = waves.map(lambda wave, label: (tf.squeeze(wave, axis=-1), label))
pictures = waves.map(lambda w, l: (tf.abs(tf.signal.stft(w, frame_length=255, frame_step=128))[..., tf.newaxis], l))
for picture, _ in pictures.take(1):
    break
model = keras.Sequential([layers.Input(picture.shape[1:]), layers.Resizing(32, 32), layers.Flatten(), layers.Dense(8)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(pictures)
""",
        [("exact", 64, (124, 129, 1), "adam", 8200)],
    ),
    "classes that a generator is told": (
        """
flow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory(
    "data", target_size=(16, 16), batch_size=20, classes=["ant", "bee", "cat", "dog", "elk"]
)
model = keras.Sequential([layers.Flatten(input_shape=flow.image_shape), layers.Dense(len(flow.class_indices))])
model.add(layers.Dense(flow.num_classes))
model.compile("rmsprop", "categorical_crossentropy")
model.fit(flow)
""",
        [("exact", 20, (16, 16, 3), "rmsprop", 3875)],
    ),
    "AdamW of tensorflow_addons": (
        WITH_ADDONS.format("AdamW(1e-4, learning_rate=1e-3)"),
        [("exact", 24, (16, 16, 3), "adamw", 6524)],
    ),
    "LAMB of tensorflow_addons": (WITH_ADDONS.format("LAMB(1e-3)"), [("exact", 24, (16, 16, 3), "lamb", 6524)]),
    "LAMB that leaves biases out of the decay": (
        WITH_ADDONS.format("LAMB(1e-3, exclude_from_weight_decay=['bias'])"),
        [("exact", 24, (16, 16, 3), "lamb", 6524)],
    ),
    "an optimizer of tensorflow_addons that Keras has not": (
        WITH_ADDONS.format("NovoGrad(1e-3)"),
        [("lower-bound", 24, (16, 16, 3), "unknown", 6524)],
    ),
    "a search of hyperparameters": (
        SEARCH.format("tuner.search(x, y, batch_size=24)"),
        [("lower-bound", 24, (16, 16, 3), "adam", 25796)],
    ),
    "what a search has found is built and fitted": (
        SEARCH.format(
            "model = tuner.hypermodel.build(tuner.get_best_hyperparameters()[0])\nmodel.fit(x, y, batch_size=24)"
        ),
        [("lower-bound", 24, (16, 16, 3), "adam", 25796)],
    ),
    "a loss of the code's own that asks a teacher": (
        """
def net(width):
    return keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(width, 3), layers.Flatten(), layers.Dense(4)])

class Distiller(keras.Model):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = net(2), net(64)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return tf.reduce_mean((y_pred - self.teacher(x)) ** 2)

    def call(self, x):
        return self.student(x)

model = Distiller()
model.compile("adam", "mse")
model.fit(x, y, batch_size=24)
""",
        [("exact", 24, (16, 16, 3), "adam", 1628 + 51972)],
    ),
}


def trainings(code: str) -> list[ModelReport]:
    reports = analyse(Source("train.py", HEAD + code), Settings()).reports
    return [report for report in reports if report.kind == "training"]


@pytest.mark.parametrize(("code", "expected"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_what_a_program_trains(code: str, expected: list[Facts]) -> None:
    found = []
    for report in trainings(code):
        how = report.training
        shape = how.input_shape.value if how.input_shape is not None else None
        found.append((report.status, how.drawn.value, shape, how.optimizer.value.name, report.parameters))
    assert found == expected


@pytest.mark.parametrize(
    "loss",
    ["self.compute_loss(x, y, y_pred)", "self.compute_loss(y=y, y_pred=y_pred)", "self.compiled_loss(y, y_pred)"],
)
def test_a_step_with_the_compiled_loss_needs_what_the_usual_one_needs(loss: str) -> None:
    (own,) = trainings(OWN_STEP.format("train_step", loss))
    (usual,) = trainings(OWN_STEP.format("another_step", loss))
    assert (own.status, usual.status) == ("exact", "exact")
    assert own.estimate is not None
    assert usual.estimate is not None
    assert own.estimate.total == usual.estimate.total


def test_the_largest_item_of_a_tensor_is_not_known() -> None:
    code = """
picture = tf.image.decode_image(tf.io.read_file("a.png"))
side = max(tf.cast(tf.shape(picture)[:-1], tf.float32))
model = keras.Sequential([keras.Input((16, 16, 3)), layers.Flatten(), layers.Dense(4 if side > 9 else 5)])
model.compile("sgd", "mse")
model.fit(x, y, batch_size=24)
"""
    (report,) = trainings(code)
    assert report.status != "exact"
    assert not any("AttributeError" in cause.reason for cause in report.causes)
