"""Data that `fit` is given, held against the inputs of a model: what Keras 3.15 refuses and takes."""

from __future__ import annotations

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

FIT = """\
import keras
import numpy as np
from keras import layers

model = keras.Sequential([keras.Input({declared}), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.zeros((8, *{given})), np.zeros((8, 1)), verbose=0)
"""

REFUSED = {
    "another number of features": ("(6,)", "(5,)"),
    "another side": ("(8, 3)", "(9, 3)"),
    "an axis too many": ("(6,)", "(6, 2)"),
    "an axis too few": ("(6, 2)", "(6,)"),
    "two axes too many": ("(6,)", "(6, 1, 1)"),
}

TAKEN = {
    "axes in another order, flattened": ("(8, 3)", "(3, 8)"),
    "the same": ("(8, 3)", "(8, 3)"),
    "an open size": ("(None, 3)", "(9, 3)"),
    "an axis of one too many": ("(6,)", "(6, 1)"),
    "an axis of one too few": ("(6, 1)", "(6,)"),
}


def lines_found(declared: str, given: str) -> set[int]:
    text = FIT.replace("{declared}", declared).replace("{given}", given)
    if "None" in declared:
        text = text.replace("layers.Flatten()", "layers.GlobalAveragePooling1D()")
    report = analyse(Source("train.py", text), Settings())
    assert report.reports
    return {finding.line for finding in checks.run(report, Settings(), ["CNM201", "CNM202"])}


@pytest.mark.parametrize("name", REFUSED)
def test_what_keras_refuses_is_found(name: str) -> None:
    """At the fit; where one size alone is another, at the Input that states it."""
    assert lines_found(*REFUSED[name]) == {5 if name.startswith("another") else 7}


@pytest.mark.parametrize("name", TAKEN)
def test_what_keras_takes_is_no_finding(name: str) -> None:
    assert lines_found(*TAKEN[name]) == set()


STATE = """\
import keras
from keras import layers, ops


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = layers.{layer}(20), layers.Dense(3)

    def call(self, x):
        return self.head(self.rnn(x, initial_state={state}))


Net()(ops.ones((4, 6, 8)))
"""


@pytest.mark.parametrize(
    ("layer", "state", "found"),
    [
        pytest.param("GRU", "ops.zeros((1, 20))", False, id="of one sample, spread over the batch"),
        pytest.param("LSTM", "[ops.zeros((1, 20)), ops.zeros((1, 20))]", False, id="two of one sample"),
        pytest.param("GRU", "ops.zeros((4, 12))", True, id="of another width"),
        pytest.param("LSTM", "ops.zeros((4, 20))", True, id="one where there are two"),
        pytest.param("LSTM", "[ops.zeros((4, 20))]", True, id="a list of one where there are two"),
    ],
)
def test_states_that_keras_takes(layer: str, state: str, found: bool) -> None:
    text = STATE.replace("{layer}", layer).replace("{state}", state)
    findings = checks.run(analyse(Source("net.py", text), Settings()), Settings(), ["CNM201"])
    assert bool(findings) is found
    assert all("it may be built so, and stops at its first batch" in each.message for each in findings)


CALLED = """\
import keras
from keras import layers

inner = keras.Input((25, 4))
encoder = keras.Model(inner, layers.Conv1D(3, 3)(inner))
inputs = keras.Input({given})
model = keras.Model(inputs, encoder(inputs))
model.compile("adam", "mse")
"""


@pytest.mark.parametrize(("given", "count"), [((25, 4), 0), ((50, 4), 1), ((None, 4), 0)])
def test_a_functional_model_is_held_to_its_input_where_it_is_called(given: tuple[int | None, int], count: int) -> None:
    """Keras 3 raises `expected shape=(None, 25, 4)`, though the layers behind the input would take other lengths."""
    report = analyse(Source("train.py", CALLED.format(given=given)), Settings())
    assert len(list(checks.run(report, Settings(), ["CNM201"]))) == count


SLICES = """\
import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
data = tf.data.Dataset.from_tensor_slices((np.zeros((16, 4)), np.zeros(({count}, 1))))
model.fit(data.batch(4))
"""


@pytest.mark.parametrize(("count", "lines"), [(16, set()), (14, {7})])
def test_slices_are_of_as_many_samples(count: int, lines: set[int]) -> None:
    """TensorFlow: `ValueError: Dimensions 16 and 14 are not compatible`."""
    report = analyse(Source("train.py", SLICES.format(count=count)), Settings())
    assert {finding.line for finding in checks.run(report, Settings(), ["CNM201"])} == lines


NAMED = """\
import keras
import numpy as np
from keras import layers

left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
model = keras.Model([left, right], layers.Dense(1)(layers.concatenate([left, right])))
model.compile("adam", {loss})
model.fit({{"right": np.zeros((8, {right})), "left": np.zeros((8, 4))}}, np.zeros((8, {target})), verbose=0)
"""

BY_NAME = {
    "the same": ("'mse'", 6, 1, 0),
    "another size under its name": ("'mse'", 5, 1, 1),
    "a second label for one logit": ("'binary_crossentropy'", 6, 2, 1),
}


@pytest.mark.parametrize(("loss", "right", "target", "count"), BY_NAME.values(), ids=BY_NAME)
def test_data_are_held_against_the_inputs_of_their_names(loss: str, right: int, target: int, count: int) -> None:
    """Keras 3.15: `Input 1 with name 'right' of layer 'functional' is incompatible with the layer`, and `Arguments
    target and output must have the same shape`."""
    text = NAMED.format(loss=loss, right=right, target=target)
    report = analyse(Source("train.py", text), Settings())
    assert len({(each.line, each.code) for each in checks.run(report, Settings(), ["CNM201"])}) == count


OWN_CALL = """\
import keras
import numpy as np
from keras import layers, ops


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide, self.head = layers.Dense(8), layers.Dense(3)

    def call(self, x):
        return self.head(ops.concatenate([self.wide(x), x], axis={axis}))


model = Net()
model.compile("adam", {loss!r})
model.fit(np.zeros((16, 8)), np.zeros((16, {target})), batch_size=4, verbose=0)
"""

OF_CLASS = {
    "one value for each class": ("categorical_crossentropy", 3, -1, 0),
    "class numbers": ("sparse_categorical_crossentropy", 1, -1, 0),
    "class numbers for rows of probabilities": ("categorical_crossentropy", 1, -1, 1),
    "another number of classes": ("categorical_crossentropy", 4, -1, 1),
    "samples joined behind samples": ("sparse_categorical_crossentropy", 1, 0, 1),
}


@pytest.mark.parametrize(("loss", "target", "axis", "count"), OF_CLASS.values(), ids=OF_CLASS)
def test_targets_are_held_against_what_a_model_of_its_own_class_gives(
    loss: str, target: int, axis: int, count: int
) -> None:
    """Keras 3.15: `Arguments target and output must have the same shape` (up until the last dimension)."""
    report = analyse(Source("train.py", OWN_CALL.format(loss=loss, target=target, axis=axis)), Settings())
    assert len({each.line for each in checks.run(report, Settings(), ["CNM201"])}) == count


SEVERAL = """\
import keras
import numpy as np
from keras import layers

x = keras.Input((4,))
model = keras.Model(x, [layers.Dense(1)(x), layers.Dense(2)(x), layers.Dense(3)(x)])
model.compile("adam", ["mse", "mse", "mse"])
model.fit(np.zeros((8, 4)), [{targets}], verbose=0)
"""


@pytest.mark.parametrize(("widths", "lines"), [((1, 2, 3), set()), ((1, 2), {8})])
def test_each_output_has_its_target(widths: tuple[int, ...], lines: set[int]) -> None:
    """Keras 3.15: `y_true and y_pred have different structures`."""
    targets = ", ".join(f"np.zeros((8, {width}))" for width in widths)
    report = analyse(Source("train.py", SEVERAL.format(targets=targets)), Settings())
    assert {each.line for each in checks.run(report, Settings(), ["CNM201"])} == lines


STATED = """\
import keras
import numpy as np
from keras import layers

inputs = keras.Input((8, 4), batch_size=16)
model = keras.Model(inputs, layers.Dense(1)(layers.Flatten()(inputs)))
model.compile("adam", "mse")
model.fit(np.zeros((64, 8, 4)), np.zeros((64, 1)){words})
"""


@pytest.mark.parametrize(("words", "batch"), [(", batch_size=32", 32), ("", 32), (", batch_size=8", 8)])
def test_the_batch_of_a_fit_counts_before_that_of_an_input(words: str, batch: int) -> None:
    """Keras 3.15 runs each of these with the batch of the fit, and tf_keras 2.21 does."""
    (report,) = analyse(Source("train.py", STATED.replace("{words}", words)), Settings()).reports
    assert report.training.batch_size.value == batch


OPEN = """\
import keras
import numpy as np
from keras import layers

inputs = keras.Input((None, 6))
model = keras.Model(inputs, layers.TimeDistributed(layers.Dense(3, activation="softmax"))(inputs))
model.compile("sgd", "categorical_crossentropy")
model.fit(np.zeros((20, 5, 6)), np.zeros((20, 5, {classes})), batch_size=4)
"""


@pytest.mark.parametrize(("classes", "found"), [(3, False), (4, True)])
def test_targets_of_steps_whose_number_is_open(classes: int, found: bool) -> None:
    text = OPEN.replace("{classes}", str(classes))
    findings = checks.run(analyse(Source("train.py", text), Settings()), Settings(), ["CNM201"])
    assert bool(findings) is found
