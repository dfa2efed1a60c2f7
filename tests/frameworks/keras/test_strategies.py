"""A strategy of TensorFlow's or Keras' gives each device its share of a batch: which that is, and what is not known."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """
import keras
import tensorflow as tf
def net():
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(10)])
    model.compile("sgd", "mse")
    return model
x, y = tf.zeros((960, 16)), tf.zeros((960, 10))
"""
FIT = "with s.scope():\n    model = net()\nmodel.fit(x, y, batch_size={})\n"
FOUR = "s = tf.distribute.MirroredStrategy(['GPU:0', 'GPU:1', 'GPU:2', 'GPU:3'])\n"
NOT_SAID = "how many devices share {} is not said (cnnmem-devices): one was counted"
SUMS = "what {} adds the gradients of {} devices up in"


def reported(program: str, devices: int | None) -> ModelReport:
    (report,) = analyse(Source("train.py", HEAD + program), Settings(devices=devices)).reports
    return report


SHARES = {
    "one for each device, of nobody knows how many": (
        "s = tf.distribute.MirroredStrategy()\n" + FIT.format("48 * s.num_replicas_in_sync"),
        None, 48, NOT_SAID.format("MirroredStrategy"),
    ),
    "the whole, where nobody says how many share it": (
        "s = tf.distribute.MultiWorkerMirroredStrategy()\n" + FIT.format(48),
        None, 48, NOT_SAID.format("MultiWorkerMirroredStrategy"),
    ),
    "one for each of those that an option counts": (
        "s = tf.distribute.MirroredStrategy()\n" + FIT.format("48 * s.num_replicas_in_sync"),
        4, 48, SUMS.format("MirroredStrategy", 4),
    ),
    "one device, as an option says": ("s = tf.distribute.MirroredStrategy()\n" + FIT.format(48), 1, 48, None),
    "of devices that are listed": (FOUR + FIT.format(96), None, 24, SUMS.format("MirroredStrategy", 4)),
    "a strategy of one device": ("s = tf.distribute.OneDeviceStrategy('GPU:0')\n" + FIT.format(48), None, 48, None),
    "of Keras' own distribution": (
        "keras.distribution.set_distribution(keras.distribution.DataParallel())\nnet().fit(x, y, batch_size=48)\n",
        None, 48, NOT_SAID.format("DataParallel"),
    ),
    "of a model that is divided itself": (
        "keras.distribution.set_distribution(keras.distribution.ModelParallel())\nnet().fit(x, y, batch_size=48)\n",
        None, 48, "how ModelParallel divides a model among devices is not followed: counted for one",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("program", "devices", "batch", "cause"), SHARES.values(), ids=SHARES)
def test_the_share_of_one_device(program: str, devices: int | None, batch: int, cause: str | None) -> None:
    report = reported(program, devices)
    assert report.training is not None
    assert report.training.batch_size.value == batch
    assert [each.reason for each in report.causes] == ([cause] if cause else [])


def test_a_device_of_four_needs_what_one_with_a_quarter_of_the_batch_needs() -> None:
    four, alone = (
        reported(FOUR + FIT.format(96), None),
        reported("s = tf.distribute.get_strategy()\n" + FIT.format(24), None),
    )
    assert four.estimate is not None
    assert alone.estimate is not None
    assert four.estimate.total == alone.estimate.total


COMPILED = {
    "a function": ("@tf.function(jit_compile=True)\n", True),
    "a function, in older words": ("@tf.function(experimental_compile=True)\n", True),
    "what can be": ("tf.config.optimizer.set_jit('autoclustering')\n@tf.function\n", True),
    "a function as a graph": ("@tf.function(reduce_retracing=True)\n", False),
    "nothing": ("tf.config.optimizer.set_jit(False)\n@tf.function\n", False),
}


@pytest.mark.parametrize(("decorated", "compiled"), COMPILED.values(), ids=COMPILED)
def test_what_xla_compiles_is_not_counted_as_it_will_be(decorated: str, compiled: bool) -> None:
    report = reported(
        "model, optimizer = net(), keras.optimizers.SGD()\n" + decorated + "def step(images, labels):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean((model(images, training=True) - labels) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
        "for images, labels in tf.data.Dataset.from_tensor_slices((x, y)).batch(48):\n    step(images, labels)\n",
        None,
    )
    assert [each.reason.startswith("XLA compiles") for each in report.causes] == [True] * compiled
