"""The version of Keras that a project asks for: whose defaults hold, and how a report names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.versions import named
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from tests.conftest import not_followed

GRU = """
import keras
from keras import layers
m = keras.Sequential([keras.Input((10, 4)), layers.GRU(16{options})])
"""
ONE, TWO = 1008, 1056
"""Parameters with one vector of biases (keras 2.2.4, tensorflow 1.15) and with two."""

PINS: dict[str, tuple[str, str, int, str]] = {
    "nothing": ("setup.cfg", "", TWO, ""),
    "keras 2.2": ("requirements.txt", "numpy\nKeras==2.2.4\n", ONE, "keras 2.2.4 (requirements.txt:2)"),
    "a range below": ("requirements.txt", "keras>=2,<2.4\n", ONE, ""),
    "a compatible release": ("requirements.txt", "keras~=2.2.0\n", ONE, ""),
    "a compatible release of 2": ("requirements.txt", "keras~=2.2\n", TWO, ""),
    "a range above": ("requirements.txt", "keras>=2.2\n", TWO, ""),
    "keras beside tensorflow 2": ("requirements.txt", "keras==2.3.1\ntensorflow==2.2.0\n", ONE,
                                  "keras 2.3.1 (requirements.txt:1)"),
    "tensorflow 1": ("requirements.txt", "tensorflow-gpu==1.15.0\n", ONE, "tensorflow-gpu 1.15.0 (requirements.txt:1)"),
    "setup.py": ("setup.py", "from setuptools import setup\nsetup(install_requires=['keras==2.3.1'])\n", ONE,
                 "keras 2.3.1 (setup.py)"),
    "pyproject": ("pyproject.toml",
                  "[project]\ndependencies = ['keras==3.1.0']\n", TWO, "keras 3.1.0 (pyproject.toml)"),
    "poetry": ("pyproject.toml", "[tool.poetry.dependencies]\ntensorflow = '1.14.0'\n", ONE,
               "tensorflow 1.14.0 (pyproject.toml)"),
    "conda": ("environment.yml", "dependencies:\n  - keras=2.2.4=0\n", ONE, "keras 2.2.4 (environment.yml)"),
    "a lock file": ("uv.lock", "[[package]]\nname = 'tensorflow'\nversion = '2.15.0'\n", TWO,
                    "tensorflow 2.15.0 (uv.lock)"),
}  # fmt: skip


def report_of(folder: Path, code: str) -> ModelReport:
    path = folder / "model.py"
    path.write_text(code)
    return analyse(load(str(path)), Settings()).reports[-1]


@pytest.mark.parametrize(("name", "text", "parameters", "version"), PINS.values(), ids=PINS)
def test_a_project_says_whose_defaults_hold(
    name: str, text: str, parameters: int, version: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    report = report_of(tmp_path, GRU.replace("{options}", ""))
    assert (report.parameters, report.version) == (parameters, version)


@pytest.mark.parametrize(
    ("imported", "parameters"),
    [
        ("import keras\nfrom keras.layers import GRU", ONE),
        ("from tensorflow import keras\nfrom tensorflow.keras.layers import GRU", TWO),
        ("from tensorflow import keras\nimport tensorflow as tf\nGRU = tf.compat.v1.keras.layers.GRU", ONE),
    ],
)
def test_a_default_is_that_of_the_package_that_a_layer_comes_from(
    imported: str, parameters: int, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("keras==2.3.1\ntensorflow==2.2.0\n")
    code = f"{imported}\nm = keras.Sequential([keras.layers.Input((10, 4)), GRU(16)])\n"
    assert report_of(tmp_path, code).parameters == parameters


OWN = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

class Scaled(layers.Layer):
    def __init__(self):
        super().__init__()
        {made}
    def call(self, x):
        {called}

i = keras.Input((6,))
m = keras.Model(i, Scaled()(i))
"""
IN_CALL = "self.w = self.add_weight(name='w', shape=(int(x.shape[-1]), 3))"
OF_2: dict[str, tuple[str, str, int, str]] = {
    "a variable": ("self.v = tf.Variable(tf.ones((6,)))", "return x * self.v", 6, "upper-bound"),
    "variables in a list": ("self.v = [tf.Variable(tf.ones((6,)))] * 1", "return x * self.v[0]", 6, "upper-bound"),
    "variables of a tf.Module": ("self.v = tf.Module(); self.v.w = tf.Variable(tf.ones((6, 2)))",
                                 "return x @ self.v.w", 12, "upper-bound"),
    "a weight made in call": ("pass", f"{IN_CALL}; return x @ self.w", 18, "unresolved"),
}  # fmt: skip
"""Parameters by tf_keras 2.21, and the status where the project asks for no version."""


@pytest.mark.parametrize(("made", "called", "parameters", "otherwise"), OF_2.values(), ids=OF_2)
def test_what_a_layer_of_keras_2_tracks(
    made: str, called: str, parameters: int, otherwise: str, tmp_path: Path
) -> None:
    code = OWN.replace("{made}", made).replace("{called}", called)
    assert report_of(tmp_path, code).status == otherwise
    (tmp_path / "requirements.txt").write_text("tensorflow==2.10.0\n")
    report = report_of(tmp_path, code)
    assert (report.status, report.parameters) == ("exact", parameters)


HELD: dict[str, tuple[str, str, int]] = {
    "a list in a list": ("self.d = []; self.d.append([]); self.d[0].append(layers.Dense(3))", "self.d[0][0](x)", 21),
    "a list in a dict": ("self.d = {}; self.d['a'] = []; self.d['a'].append(layers.Dense(3))", "self.d['a'][0](x)", 21),
    "a list that is filled later": ("d = []; self.d = d; d.append(layers.Dense(3))", "self.d[0](x)", 21),
    "a part of a list": ("self.d = [1, 2]; self.d[1:] = [layers.Dense(3)]", "self.d[1](x)", 21),
    "a set": ("self.d = {layers.Dense(3)}", "list(self.d)[0](x)", 0),
    "a defaultdict": ("self.d = collections.defaultdict(list, a=[layers.Dense(3)])", "self.d['a'][0](x)", 0),
    "a list of a class of its own": ("self.d = type('Own', (list,), {})([layers.Dense(3)])", "self.d[0](x)", 0),
}
"""Parameters by tf_keras 2.21."""


@pytest.mark.parametrize(("made", "called", "parameters"), HELD.values(), ids=HELD)
def test_what_keras_2_sees_of_what_an_attribute_holds(made: str, called: str, parameters: int, tmp_path: Path) -> None:
    code = "import collections\n" + OWN.replace("{made}", made).replace("{called}", f"return {called}")
    (tmp_path / "requirements.txt").write_text("tensorflow==2.10.0\n")
    (tmp_path / "model.py").write_text(code)
    (report,) = analyse(load(str(tmp_path / "model.py")), Settings(), "m").reports
    assert (report.status, report.parameters) == ("exact", parameters)


@pytest.mark.parametrize(("implementation", "parameters"), [(1, 2793), (2, 23961)])
def test_a_local_layer_that_is_a_masked_matrix(implementation: int, parameters: int, tmp_path: Path) -> None:
    made = f"layers.LocallyConnected2D(3, 3, implementation={implementation})"
    code = f"import keras\nfrom keras import layers\nm = keras.Sequential([keras.layers.Input((9, 9, 2)), {made}])\n"
    (tmp_path / "requirements.txt").write_text("keras==2.10.0\n")
    assert report_of(tmp_path, code).parameters == parameters


@pytest.mark.parametrize(("value", "parameters"), [(True, TWO), (False, ONE)])
def test_what_the_code_says_comes_first(value: bool, parameters: int, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("keras==2.2.4\n")
    assert report_of(tmp_path, GRU.replace("{options}", f", reset_after={value}")).parameters == parameters


def test_what_stands_above_the_project_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("keras==2.2.4\n")
    inner = tmp_path / "project" / "models"
    inner.mkdir(parents=True)
    assert report_of(inner, GRU.replace("{options}", "")).parameters == TWO
    (tmp_path / "setup.cfg").write_text("")
    assert report_of(inner, GRU.replace("{options}", "")).parameters == ONE
    (tmp_path / "project" / "pyproject.toml").write_text("")
    assert report_of(inner, GRU.replace("{options}", "")).parameters == TWO


@pytest.mark.parametrize(
    ("compiled", "older"),
    [
        ("m.compile(keras.optimizers.SGD(lr=0.1), 'mse')", True),
        ("m.compile(keras.optimizers.SGD(learning_rate=0.1), 'mse')", False),
        ("m.compile('sgd', 'mse')\nm.fit_generator(batches(), steps_per_epoch=5)", True),
        ("m.compile('sgd', 'mse')\nm.fit(batches(), steps_per_epoch=5)", False),
    ],
)
def test_trainings_that_keras_3_does_not_take_are_of_keras_2(compiled: str, older: bool, tmp_path: Path) -> None:
    data = "def batches():\n    while True:\n        yield np.zeros((8, 4)), np.zeros((8, 1))\n"
    model = "m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
    report = report_of(tmp_path, f"import keras\nimport numpy as np\n{data}{model}{compiled}\n")
    assert (report.version != "") == older


@pytest.mark.parametrize(
    ("layer", "older"),
    [
        ("layers.AveragePooling1D()", True),
        ("layers.AveragePooling1D(2)", False),
        ("layers.Conv1D(filters=4, kernel_size=2, border_mode='same')", True),
        ("layers.MaxPooling1D()", False),
    ],
)
def test_what_keras_3_does_not_take_is_of_keras_2(layer: str, older: bool, tmp_path: Path) -> None:
    model = f"keras.Sequential([keras.Input((10, 4)), {layer}, layers.Dense(1)])"
    code = f"import keras\nfrom keras import layers\nm = {model}\n"
    report = report_of(tmp_path, code)
    assert report.version == ("keras 2 (Keras 3 does not take the code)" if older else "")
    assert named("keras", report.version).endswith("memory as in keras 3.15") == older


OLD = """
import keras
from keras import backend as K
from keras.layers import *
from keras.models import Model, Sequential
"""
ATTENDING = """
class Attending(Layer):
    def build(self, shape):
        self.w, self.b = K.variable(np.ones((shape[-1], 1))), K.zeros((shape[1], 1))
        self.trainable_weights = [self.w, self.b]
    def call(self, x, mask=None):
        return K.sum(x * K.expand_dims(K.softmax(K.squeeze(K.dot(x, self.w) + self.b, -1)), -1), 1)
i = Input((7, 6))
m = Model(i, Dense(2)(Attending(name="attending")(i)))
"""
PRIVATE = """
class Shifting(Layer):
    def build(self, shape):
        self.a, self.b = K.ones((shape[-1],)), K.zeros(shape[1:])
        self._trainable_weights, self._non_trainable_weights = [self.a], [self.b]
    def call(self, x):
        return x * self.a + self.b
i = Input((6,))
m = Model(i, Dense(2)(Shifting()(i)))
"""
PUT = PRIVATE.replace(
    "self._trainable_weights, self._non_trainable_weights = [self.a], [self.b]",
    "self._trainable_weights.append(self.a)\n        self._non_trainable_weights += [self.b]",
)
FROZEN = """
b = Sequential([Dense(4, input_dim=6), BatchNormalization()])
b.trainable = False
b.layers[0].trainable = True
m = Sequential([b, Dense(3)])
"""
TAKEN_OFF = """
i = Input((6,))
whole = Model(i, Dense(3)(Dense(4)(i)))
whole.layers.pop()
m = Model(whole.input, Dense(2)(whole.layers[-1].output))
"""
STACK_TAKEN_OFF = """
m = Sequential()
m.add(Dense(4, input_dim=6))
m.add(Dense(5))
m.layers.pop()
m.outputs = [m.layers[-1].output]
m.layers[-1].outbound_nodes = []
m.add(Dense(2))
"""
CONV_LSTM = """
m = Sequential()
m.add(ConvLSTM2D(nb_filter=4, nb_row=3, nb_col=3, input_shape=(5, 8, 8, 2), border_mode='same', return_sequences=True))
m.add(ConvLSTM2D(3, 2, 3))
m.add(Flatten())
m.add(Dense(1))
"""
FIRST = """
m = Sequential()
m.add(Highway(input_dim=6))
m.add(MaxoutDense(5, nb_feature=3))
"""
OLDER: dict[str, tuple[str, str, int, int]] = {
    "weights that are said": ("2.2.4", ATTENDING, 27, 27),
    "weights under private names": ("2.2.4", PRIVATE, 26, 20),
    "weights put into private lists": ("2.2.4", PUT, 26, 20),
    "a frozen model with a free layer": ("2.2.4", FROZEN, 59, 15),
    "a model's own list of layers": ("2.2.4", TAKEN_OFF, 38, 38),
    "a stack's own list of layers": ("1.2.2", STACK_TAKEN_OFF, 38, 38),
    "rows and columns": ("1.2.2", CONV_LSTM, 1523, 1523),
    "features of the first layer": ("1.2.2", FIRST, 189, 189),
}
"""Parameters and those that train, by the code of these versions of Keras themselves, on TensorFlow 2.21's v1 names."""


@pytest.mark.parametrize(("version", "code", "parameters", "trainable"), OLDER.values(), ids=OLDER)
def test_older_versions_are_counted_as_they_are(
    version: str, code: str, parameters: int, trainable: int, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"keras=={version}\n")
    (tmp_path / "model.py").write_text(f"import numpy as np\n{OLD}{code}")
    (report,) = analyse(load(str(tmp_path / "model.py")), Settings(), "m").reports
    assert (not_followed(report), report.parameters, report.trainable) == ([], parameters, trainable)


LAYERS = """
import keras, tensorflow as tf
from keras import layers
i = keras.Input((8,))
x = {of_input}
model = keras.Model(i, layers.Dense(3)(layers.Flatten()(x[:, 1:] * 2.0)))
for layer in model.layers[:{count}]:
    layer.trainable = False
"""
FREEZING = {
    "a function of TensorFlow": ("tf.expand_dims(layers.Dense(4)(i), -1)", "", (6, 12), (7, 0)),
    "a function of several parts": (
        "tf.linalg.normalize(layers.Reshape((4, 1))(layers.Dense(4)(i)), axis=-1)[0]",
        "",
        (7, 12),
        (8, 0),
    ),
    "operators of Keras 2": ("layers.Reshape((4, 1))(layers.Dense(4)(i))", "tensorflow==2.13", (6, 12), (7, 0)),
    "operators of Keras 3": ("layers.Reshape((4, 1))(layers.Dense(4)(i))", "", (4, 12), (5, 0)),
}


@pytest.mark.parametrize(("of_input", "asked", "behind", "whole"), FREEZING.values(), ids=FREEZING)
def test_what_is_computed_outside_of_layers_is_a_layer_of_keras_2(
    of_input: str, asked: str, behind: tuple[int, int], whole: tuple[int, int], tmp_path: Path
) -> None:
    """Of so many of the model's layers frozen, so many parameters train. Counted with tf_keras 2.21 and Keras 3.15.1,
    which refuses functions of TensorFlow there."""
    (tmp_path / "requirements.txt").write_text(asked)
    for count, trainable in (behind, whole):
        report = report_of(tmp_path, LAYERS.format(of_input=of_input, count=count))
        assert report.status == "exact"
        assert report.trainable == trainable
