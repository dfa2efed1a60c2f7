"""Keras on other backends than TensorFlow: where the code says so, and what follows from it."""

from __future__ import annotations

import textwrap

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.keras.saved_tensors import JAX_CAUSE
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Optimizer

MODEL = """
import keras
from keras import layers

model = keras.Sequential([
    keras.Input((32, 32, 3)), layers.Conv2D(16, 3, activation="relu"), layers.BatchNormalization(),
    layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10),
])
"""


def report(before: str = "", after: str = "") -> ModelReport:
    code = textwrap.dedent(before) + MODEL + textwrap.dedent(after)
    (found,) = analyse(Source("model.py", code), Settings.of({"optimizer": Optimizer("adam")})).reports
    return found


@pytest.mark.parametrize(
    ("before", "after", "backend"),
    [
        pytest.param("", "", "tensorflow", id="nothing is said"),
        pytest.param('import os\nos.environ["KERAS_BACKEND"] = "torch"\n', "", "torch", id="the environment"),
        pytest.param(
            'import os\nos.environ.setdefault("KERAS_BACKEND", "jax")\n', "", "jax", id="the environment's default"
        ),
        pytest.param('import os\nos.environ.update(KERAS_BACKEND="torch")\n', "", "torch", id="an update"),
        pytest.param("", '\nkeras.config.set_backend("torch")\n', "torch", id="set_backend"),
        pytest.param(
            'import os\nos.environ["KERAS_BACKEND"] = "torch"\ndel os.environ["KERAS_BACKEND"]\n',
            "",
            "tensorflow",
            id="taken back",
        ),
        pytest.param(
            'import os, sys\nos.environ["KERAS_BACKEND"] = sys.argv[1]\n', "", "tensorflow", id="what cannot be read"
        ),
    ],
)
def test_the_backend_is_what_the_code_says(before: str, after: str, backend: str) -> None:
    model = report(before, after).model
    assert model is not None
    assert model.backend == backend


def test_code_can_ask_for_it() -> None:
    code = 'import os\nos.environ["KERAS_BACKEND"] = "torch"\n'
    asked = 'width = 64 if keras.backend.backend() == "torch" else 8\nhead = keras.layers.Dense(width)\n'
    assert report(code, asked).status == "exact"


def test_on_jax_the_estimate_is_a_lower_bound() -> None:
    bound, whole = report('import os\nos.environ["KERAS_BACKEND"] = "jax"\n'), report()
    assert bound.status == "lower-bound"
    assert JAX_CAUSE in bound.causes
    assert bound.estimate is not None
    assert whole.estimate is not None
    assert whole.estimate.parameters == bound.estimate.parameters
    assert bound.estimate.total < whole.estimate.total


def test_on_torch_a_convolution_keeps_a_copy_of_what_it_is_given() -> None:
    torch, tensorflow = report('import os\nos.environ["KERAS_BACKEND"] = "torch"\n'), report()
    assert torch.status == "exact"
    assert torch.estimate is not None
    assert tensorflow.estimate is not None
    assert torch.estimate.saved is not None
    assert tensorflow.estimate.saved is not None
    assert torch.estimate.saved > tensorflow.estimate.saved


LOOP = """
import tensorflow as tf

optimizer = keras.optimizers.Adam()
loss = keras.losses.CategoricalCrossentropy()
{decorator}
def step(x, y):
    with tf.GradientTape() as tape:
        value = loss(y, model(x, training=True))
    gradients = tape.gradient(value, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


step(tf.zeros((8, 32, 32, 3)), tf.zeros((8, 10)))
"""


@pytest.mark.parametrize(
    ("after", "backend"),
    [
        pytest.param(LOOP.format(decorator=""), "tensorflow, eager", id="a loop of its own"),
        pytest.param(LOOP.format(decorator="@tf.function"), "tensorflow", id="a tf.function"),
        pytest.param('model.compile("adam")\n' + LOOP.format(decorator=""), "tensorflow", id="a compiled model"),
        pytest.param(
            'model.compile("adam", run_eagerly=True)\n' + LOOP.format(decorator=""),
            "tensorflow, eager",
            id="run_eagerly",
        ),
    ],
)
def test_a_tape_without_a_graph_is_eager(after: str, backend: str) -> None:
    model = report("", after).model
    assert model is not None
    assert model.backend == backend


def test_on_pytorch_patches_are_a_convolution_with_a_matrix_that_is_made_at_each_call() -> None:
    """keras/src/ops/image.py: its convolution has no weights of the model."""
    code = """
        import os
        os.environ["KERAS_BACKEND"] = "torch"
        import keras
        inputs = keras.Input((36, 36, 3))
        patches = keras.ops.image.extract_patches(inputs, size=6)
        model = keras.Model(inputs, keras.layers.Dense(8)(keras.ops.reshape(patches, (-1, 36, 108))))
        """
    (found,) = analyse(Source("model.py", textwrap.dedent(code)), Settings.of({})).reports
    assert found.parameters == 108 * 8 + 8
    assert found.estimate is not None
