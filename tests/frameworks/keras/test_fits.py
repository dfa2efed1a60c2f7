"""What each fit trains, at the moment of the call: held against Keras itself (fixtures/truth/keras_fits.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import frameworks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.dims import product
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.frameworks.keras.framework import FRAMEWORK
from flake8_cnnmem.frameworks.keras.version import version as version_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance
from tests.frameworks.keras.code import Ran

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
SCRIPTS = json.loads((FIXTURES / "truth" / "keras_fits.json").read_text())["scripts"]


def fits_of(run: Interpreter) -> list[tuple[Instance, Fit]]:
    """The fits of a program in the order in which it makes them: the n-th event of a model is its n-th fit."""
    found: list[tuple[Instance, Fit]] = []
    seen: dict[int, int] = {}
    for event in run.trace.events:
        if event.kind == "fit" and isinstance(event.subject, Instance):
            at = seen.get(id(event.subject), 0)
            seen[id(event.subject)] = at + 1
            found.append((event.subject, FRAMEWORK.fits(event.subject)[at]))
    return found


def shapes(value: Any) -> Any:
    if isinstance(value, Tensor):
        return list(value.shape) if isinstance(value.shape, tuple) else None
    if isinstance(value, dict):
        return {word: shapes(item) for word, item in value.items()}
    return [shapes(item) for item in value] if isinstance(value, (tuple, list)) else None


def inputs_of(fit: Fit) -> Any:
    return shapes(fit.batch[0] if isinstance(fit.batch, tuple) else fit.batch)


def told(model: Instance, fit: Fit) -> dict[str, Any]:
    held = [weight for weight in FRAMEWORK.weights(model) if fit.weights is None or id(weight) in fit.weights]
    sizes = {id(weight): product(weight.shape) for weight in held if isinstance(weight.shape, tuple)}
    named = FRAMEWORK.optimizer_of(fit.optimizer)
    assert fit.trainable is not None
    assert fit.site is not None
    return {
        "line": fit.site.line,
        "parameters": sum(size for size in sizes.values() if isinstance(size, int)),
        "trained": sum(sizes[key] for key in fit.trainable),
        "optimizers": ["sgd" if named is not None and named.name == "momentum" else named.name if named else None],
        "inputs": inputs_of(fit),
    }


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_fit_is_what_keras_does(script: str) -> None:
    path = FIXTURES / "fits" / script
    run = Interpreter([str(path.parent)], strict=True)
    module = Module("__main__", load(str(path)), lazy=False)
    module.variables["__name__"] = "__main__"
    run.importer.adopt(module)
    run.run_module(module)
    assert not run.failures
    found: list[dict[str, Any]] = []
    for model, fit in fits_of(run):
        assert fit.doubts == ()
        with FRAMEWORK.as_fitted(run, model, fit):
            record = told(model, fit)
        found.extend([] if record in found else [record])
    assert found == SCRIPTS[script]


HEAD = """
import keras, sys
from keras import layers
import tensorflow as tf
(x, y), _ = keras.datasets.cifar10.load_data()
m = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(4, 3), layers.GlobalAveragePooling2D(), layers.Dense(10)])
unknown = open("none").read()
"""


def last(code: str) -> Fit:
    return fits_of(Ran(HEAD + code).run)[-1][1]


OF_2 = "from keras.layers.core import Dense\n"
"""A module that Keras 3 does not have."""


@pytest.mark.parametrize(("head", "trained"), [("", [2, 2, 4, 2]), (OF_2, [4, 2, 2, 2])])
def test_what_is_set_after_compile_counts_in_keras_3_until_the_first_step(head: str, trained: list[int]) -> None:
    """Measured in TensorFlow 2.21 with Keras 3.15.1 and with tf-keras 2.21: state of the optimizer after each fit."""
    steps = (
        "m.compile('adam', 'mse')\nm.layers[0].trainable = False\nm.fit(x, y)\n",
        "m.compile('adam', 'mse')\nm.fit(x, y)\n",
        "m.compile('adam', 'mse')\nm.layers[0].trainable = True\nm.fit(x, y)\n",
        "m.layers[0].trainable = False\nm.compile('adam', 'mse')\nm.fit(x, y)\n",
        "m.layers[0].trainable = True\nm.fit(x, y)\n",
    )
    found = [fit for _, fit in fits_of(Ran(HEAD + head + "".join(steps)).run)]
    assert [len(fit.trainable or ()) for fit in (*found[:3], found[4])] == trained


TURNS = """
g, d = keras.Sequential([keras.Input((4,)), layers.Dense(6)]), keras.Sequential([keras.Input((6,)), layers.Dense(1)])
z = keras.Input((4,))
g.trainable = False
critic = keras.Model(z, d(g(z)))
critic.compile('adam', 'mse')
g.trainable, d.trainable = True, False
both = keras.Model(z, d(g(z)))
both.compile('adam', 'mse')
critic.train_on_batch(tf.zeros((8, 4)), tf.zeros((8, 1)))
"""


CALLBACK = """
class Own(keras.callbacks.Callback):
    def HOOK:
        if WHEN:
            self.model.layers[0].trainable = False
            AND
m.compile('adam', 'mse')
m.fit(x, y, epochs=4, callbacks=[Own()])
then = len(m.trainable_variables)
"""
HOOKS = {
    "before all": ("on_train_begin(self, logs=None)", "True", "pass", 2, 2, 0),
    "before the first epoch": ("on_epoch_begin(self, epoch, logs=None)", "epoch == 0", "pass", 2, 2, 0),
    "before the first batch": ("on_train_batch_begin(self, batch, logs=None)", "batch == 0", "pass", 2, 2, 0),
    "before a later epoch": ("on_epoch_begin(self, epoch, logs=None)", "epoch == 2", "pass", 4, 2, 0),
    "after an epoch": ("on_epoch_end(self, epoch, logs=None)", "epoch == 1", "pass", 4, 2, 0),
    "never": ("on_epoch_end(self, epoch, logs=None)", "epoch == 9", "pass", 4, 4, 0),
    "with compile": ("on_epoch_begin(self, epoch, logs=None)", "epoch == 2", "self.model.compile('sgd')", 4, 2, 1),
}


@pytest.mark.parametrize("head", ["", OF_2], ids=["Keras 3", "Keras 2"])
@pytest.mark.parametrize(("hook", "when", "also", "trained", "then", "doubts"), HOOKS.values(), ids=HOOKS)
def test_what_callbacks_set_counts_until_the_first_batch(
    head: str, hook: str, when: str, also: str, trained: int, then: int, doubts: int
) -> None:
    """Measured in TensorFlow 2.21 with Keras 3.15.1 and tf-keras 2.21: which kernels move; `compile` ends in a
    TypeError in both."""
    code = CALLBACK.replace("HOOK", hook).replace("WHEN", when).replace("AND", also)
    ran = Ran(HEAD + head + code)
    fit = fits_of(ran.run)[-1][1]
    assert (len(fit.trainable or ()), ran["then"], len(fit.doubts)) == (trained, then, doubts)


LEGACY = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"


@pytest.mark.parametrize(("head", "widths"), [("", [(4, 6)]), (OF_2, [(6, 1)]), (LEGACY, [(6, 1)])])
def test_parts_frozen_for_another_model_train_as_the_version_has_it(head: str, widths: list[tuple[int, int]]) -> None:
    """The critic was compiled to train `d`; by the flags at its first step it trains `g`."""
    ran = Ran(HEAD + head + TURNS)
    model, told = fits_of(ran.run)[-1]
    kernels = {id(each): each.shape for each in FRAMEWORK.weights(model) if each.shape in ((4, 6), (6, 1))}
    assert sorted(map(str, kernels.values())) == ["(4, 6)", "(6, 1)"]
    assert ([shape for each, shape in kernels.items() if each in (told.trainable or ())], told.doubts) == (widths, ())


DOUBTS = {
    "which compile is in force": (
        "if unknown:\n    m.compile('sgd', 'mse')\nelse:\n    m.compile('adam', 'mse')\nm.fit(x, y)\n"
    ),
    "whether it is frozen": "if unknown:\n    m.layers[0].trainable = False\nm.compile('sgd', 'mse')\nm.fit(x, y)\n",
    "what an optimizer that is not found keeps": (
        "import tensorflow_addons as tfa\nm.compile(tfa.optimizers.NovoGrad(), 'mse')\nm.fit(x, y)\n"
    ),
    "what an optimizer of one's own keeps": (
        "class Own(keras.optimizers.Optimizer):\n    pass\nm.compile(Own(0.1), 'mse')\nm.fit(x, y)\n"
    ),
    "what a teacher that was loaded is": (
        "class Taught(keras.Model):\n"
        "    def __init__(self, student, teacher):\n"
        "        super().__init__()\n        self.student, self.teacher = student, teacher\n"
        "    def call(self, x):\n        return self.student(x)\n"
        "    def train_step(self, data):\n        x, y = data\n        wanted = self.teacher(x)\n"
        "        with tf.GradientTape() as tape:\n            loss = tf.reduce_mean(self.student(x) ** 2)\n"
        "        v = self.student.trainable_variables\n"
        "        self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))\n        return {}\n"
        "t = Taught(m, keras.models.load_model('teacher.keras'))\nt.compile('adam')\nt.fit(x, y)\n"
    ),
    "what XLA makes of it": "m.compile('sgd', 'mse', jit_compile=True)\nm.fit(x, y)\n",
}


@pytest.mark.parametrize("code", DOUBTS.values(), ids=DOUBTS)
def test_what_is_not_known_of_a_fit_is_said(code: str) -> None:
    fit = last(code)
    assert len(fit.doubts) == 1
    assert all(isinstance(doubt, Unknown) for doubt in fit.doubts)


KNOWN = {
    "one's own optimizer made from one of Keras'": (
        "class Own(keras.optimizers.Adam):\n    pass\nm.compile(Own(0.1), 'mse')\n"
    ),
    "a loss of a package that is not found": (
        "import tensorflow_addons as tfa\nm.compile('adam', tfa.losses.TripletSemiHardLoss())\n"
    ),
    "callbacks of a package that is not found": "import wandb.keras\nm.compile('adam', 'mse')\n",
}


@pytest.mark.parametrize("code", KNOWN.values(), ids=KNOWN)
def test_what_does_not_shape_a_step_raises_no_doubt(code: str) -> None:
    assert last(f"{code}m.fit(x, y, callbacks=[unknown.callback])\n").doubts == ()


def test_a_weight_that_may_be_frozen_is_not_counted_among_those_that_train() -> None:
    fit = last(DOUBTS["whether it is frozen"])
    assert fit.trainable is not None
    assert len(fit.trainable) == 2


SHARES = {
    "devices that are listed": ("devices=['/gpu:0', '/gpu:1', '/gpu:2']", "96", 3, 96),
    "batches made larger by their number": ("devices=['/gpu:0', '/gpu:1']", "48 * s.num_replicas_in_sync", 2, 96),
    "batches made larger by a number not known": ("", "48 * s.num_replicas_in_sync", 1, 48),
    "a number not known": ("", "48", 1, 48),
}


@pytest.mark.parametrize(("devices", "size", "replicas", "batch"), SHARES.values(), ids=SHARES)
def test_one_devices_share_of_a_batch(devices: str, size: str, replicas: int, batch: int) -> None:
    fit = last(
        f"s = tf.distribute.MirroredStrategy({devices})\nwith s.scope():\n    m.compile('sgd', 'mse')\n"
        f"m.fit(x, y, batch_size={size})\n"
    )
    assert (fit.replicas, fit.batch_size) == (replicas, batch)


GIVEN = {
    "arrays without a batch size": ("m.fit(x, y)", [32, 32, 32, 3]),
    "arrays by the steps of an epoch": ("m.fit(x, y, steps_per_epoch=1000)", [50, 32, 32, 3]),
    "arrays whole": ("m.train_on_batch(x[:70], y[:70])", [70, 32, 32, 3]),
    "an image generator": (
        "m.fit(keras.preprocessing.image.ImageDataGenerator().flow(x, y, batch_size=72))",
        [72, 32, 32, 3],
    ),
    "a pipeline of a ragged kind": (
        "m.fit(tf.data.Dataset.from_tensor_slices((x, y)).ragged_batch(9).prefetch(1))",
        [9, 32, 32, 3],
    ),
    "a fold that is not known": ("m.fit(x[unknown.fold], y[unknown.fold], batch_size=8)", None),
}


@pytest.mark.parametrize(("call", "inputs"), GIVEN.values(), ids=GIVEN)
def test_one_batch_as_a_step_gets_it(call: str, inputs: list[int] | None) -> None:
    assert inputs_of(last(f"m.compile('sgd', 'mse')\n{call}\n")) == inputs


PIPELINES = {
    "texts of a folder": ("keras.utils.text_dataset_from_directory('d', batch_size=12)", [[12], [12]]),
    "both parts of them": (
        "keras.utils.text_dataset_from_directory('d', label_mode='binary', subset='both')[1]", [[32], [32, 1]],
    ),
    "recordings": (
        "keras.utils.audio_dataset_from_directory('d', output_sequence_length=900, label_mode=None)", [32, 900, None],
    ),
    "windows": ("keras.utils.timeseries_dataset_from_array(x, y, 5)", [[128, 5, 32, 32, 3], [128, 1]]),
    "windows one by one": (
        "keras.utils.timeseries_dataset_from_array(x, None, 5, batch_size=None).batch(3)", [3, 5, 32, 32, 3],
    ),
    "a part of arrays": ("keras.utils.split_dataset((x, y), 0.8)[0].batch(7)", [[7, 32, 32, 3], [7, 1]]),
    "a part of batches": (
        "keras.utils.split_dataset(keras.utils.text_dataset_from_directory('d'), 0.8)[1]", [[32], [32]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pipeline", "element"), PIPELINES.values(), ids=PIPELINES)
def test_what_a_pipeline_of_kerass_own_gives(pipeline: str, element: Any) -> None:
    assert known(shapes(Ran(f"{HEAD}e = next(iter({pipeline}))\n")["e"])) == element


def known(sizes: Any) -> Any:
    return [known(each) for each in sizes] if isinstance(sizes, list) else None if isinstance(sizes, Unknown) else sizes


ROWS = {
    "texts": ("Tokenizer(num_words=300)", "texts_to_matrix(['a b', 'c'])", [2, 300]),
    "rows of numbers": ("Tokenizer(nb_words=90)", "sequences_to_matrix(x, mode='count')", [50000, 90]),
    "of words that nobody counts": ("Tokenizer()", "texts_to_matrix(['a'])", [1, None]),
}


@pytest.mark.parametrize(("made", "call", "shape"), ROWS.values(), ids=ROWS)
def test_a_tokenizers_rows_are_as_wide_as_it_has_words(made: str, call: str, shape: list[int | None]) -> None:
    ran = Ran(f"{HEAD}t = keras.preprocessing.text.{made}\nt.fit_on_texts(['a b'])\nr = t.{call}\n")
    assert known(shapes(ran["r"])) == shape


def test_a_model_that_is_fitted_on_several_arrays_has_them_all_for_inputs() -> None:
    ran = Ran(
        f"{HEAD}class Both(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.out = layers.Dense(2)\n    def call(self, given):\n"
        "        return self.out(layers.concatenate([layers.Flatten()(each) for each in given]))\n"
        "b = Both()\nb.compile('sgd', 'mse')\nb.fit([x, x[:, :4]], y)\n"
    )
    inputs = FRAMEWORK.own_inputs(ran["b"])
    assert inputs is not None
    assert [shapes(each)[1:] for each in inputs] == [[32, 32, 3], [4, 32, 3]]
    assert FRAMEWORK.call_root(ran.run, ran["b"], inputs) is FRAMEWORK.call_root(ran.run, ran["b"], ())


TRAININGS = {
    "changed_later.py": [(325, 325), (912, 692), (563, 563), (663, 263), (129, 101), (129, 38)],
    "own_steps.py": [(7850, 7850), (40630, 40630), (1616, 1616), (1119, 1119)],
    "shared_parts.py": [(12730, 12730), (19090, 19090), (8657, 8657)],
}
"""Of each training in order: values, and those that train."""


@pytest.mark.parametrize("script", TRAININGS)
def test_each_fit_is_a_training_of_its_own(script: str) -> None:
    found = analyse(load(str(FIXTURES / "fits" / script)), Settings()).reports
    assert [(each.parameters, each.trainable) for each in found if each.kind == "training"] == TRAININGS[script]


STEPS = {
    "a quotient": ("len(unknown) // 16", 16),
    "rounded up": ("int(numpy.ceil(float(len(unknown)) / float(16)))", 16),
    "at least one": ("max(1, int(len(unknown) * 0.8) // 16)", 16),
    "divided twice": ("len(unknown) / 16 / 4", None),
    "not divided": ("len(unknown)", None),
}


@pytest.mark.parametrize(("steps", "size"), STEPS.values(), ids=STEPS)
def test_the_steps_of_an_epoch_tell_the_batch_of_a_generator_that_is_not_followed(steps: str, size: int | None) -> None:
    code = (
        "import numpy\ndef batches():\n    while True:\n        yield unknown.x, unknown.y\n"
        f"m.compile('sgd', 'mse')\nm.fit(batches(), steps_per_epoch={steps})\n"
    )
    assert last(code).batch_size == size


def test_a_fit_in_a_loop_of_unknown_length_is_kept() -> None:
    code = (
        "for fold in unknown.split():\n"
        "    k = keras.Sequential([keras.Input((8,)), layers.Dense(3)])\n"
        "    k.compile('adam', 'mse')\n    k.fit(fold, batch_size=44)\n"
    )
    model, fit = fits_of(Ran(HEAD + code).run)[-1]
    assert fit.batch_size == 44
    assert len(FRAMEWORK.weights(model)) == 2


def test_a_batch_that_takes_too_long_to_make_does_not_end_the_program() -> None:
    ran = Ran(
        f"{HEAD}def slow():\n    while True:\n        n = 0\n        for i in range(10**6):\n            n += i\n"
        "        yield n\nm.compile('sgd', 'mse')\nm.fit(slow(), steps_per_epoch=3)\nafter = 1\n"
    )
    assert ran["after"] == 1
    assert isinstance(fits_of(ran.run)[-1][1].batch, Unknown)


def test_on_the_torch_backend_a_model_is_a_module_too() -> None:
    ran = Ran(
        "import os\nos.environ['KERAS_BACKEND'] = 'torch'\nimport torch, keras\nfrom keras import layers\n"
        "m = keras.Sequential([keras.Input((8,)), layers.Dense(3)])\nm.to('cuda').train()\n"
        "o = torch.optim.AdamW(m.parameters())\n"
    )
    named = FRAMEWORK.optimizer_of(ran["o"])
    updated = FRAMEWORK.updated_by(ran["o"])
    assert named is not None
    assert named.name == "adamw"
    assert updated is not None
    assert len(updated) == 2


def test_elsewhere_a_model_has_no_parameters() -> None:
    ran = Ran("import keras\nm = keras.Sequential([keras.layers.Dense(3)])\np = m.parameters()\n")
    assert any("has no attribute 'parameters'" in reason for _, cause in ran.run.raised for reason in [cause.reason])
    assert frameworks.of_layer(ran["m"]) is FRAMEWORK


def test_a_step_that_runs_more_than_a_model_is_said_to() -> None:
    run = Interpreter([], strict=True)
    module = Module("__main__", load(str(FIXTURES / "fits" / "distiller.py")), lazy=False)
    run.run_module(module)
    student, teacher = module.variables["student"], module.variables["teacher"]
    assert isinstance(student, Instance)
    assert isinstance(teacher, Instance)
    [doubt] = FRAMEWORK.doubts(run, student)
    assert doubt.reason == "the train_step of Distiller runs more than this"
    assert FRAMEWORK.doubts(run, teacher) == ()


SHARED = """
d = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
g = keras.Sequential([keras.Input((4,)), layers.Dense(6)])
z, adam = keras.Input((4,)), keras.optimizers.Adam()
d.compile(adam, 'mse')
d.trainable = FLAG
both = keras.Model(z, d(g(z)))
both.compile(adam, 'mse')
d.train_on_batch(tf.zeros((8, 6)), tf.zeros((8, 1)))
d.trainable = False
both.train_on_batch(tf.zeros((8, 4)), tf.zeros((8, 1)))
"""


@pytest.mark.parametrize(("flag", "version"), [("False", ""), ("True", "keras 2 (Keras 3 does not take the code)")])
def test_an_optimizer_of_two_models_is_for_the_variables_of_the_first(flag: str, version: str) -> None:
    """Measured: Keras 3.15.1 raises ValueError where the discriminator trained before, and else goes on."""
    run = Ran(HEAD + SHARED.replace("FLAG", flag)).run
    assert version_of(run) == version


ANOTHER = {
    "another activation": ("m.layers[0].activation = keras.activations.gelu", "'gelu'", ""),
    "a call of its own": (
        "old = m.layers[0].call\nm.layers[0].call = lambda x, training=None: keras.ops.gelu(old(x))",
        "'gelu'",
        "",
    ),
    "what comes after the fit": ("", "None", "m.layers[0].activation = keras.activations.gelu\n"),
}


@pytest.mark.parametrize(("change", "activation", "later"), ANOTHER.values(), ids=ANOTHER)
def test_a_layer_that_computes_something_else_since_it_was_called(change: str, activation: str, later: str) -> None:
    """A model calls its layers as they are when it is fitted (`Function._run_through_graph`)."""
    model = (
        "import keras\nimport numpy as np\n"
        "m = keras.Sequential([keras.Input((10,)), keras.layers.Dense(2000, ACT), keras.layers.Dense(5)])\n"
    )
    fit = "m.compile('sgd', 'mse')\nm.fit(np.zeros((64, 10)), np.zeros((64, 5)))\n"
    changed = model.replace("ACT", "None") + f"{change}\n" + fit + later
    totals = []
    for code in (changed, model.replace("ACT", activation) + fit):
        (report,) = analyse(Source("net.py", code), Settings()).reports
        assert report.estimate is not None
        totals.append(report.estimate.total)
    assert totals[0] == totals[1]


def test_a_step_builds_the_parts_that_no_call_has_built() -> None:
    """Values of both parts, one of which states its input: (4 * 3 + 3) + (3 * 2 + 2)."""
    code = """
import keras, tensorflow as tf
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(3)])
        self.head = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    def compile(self, one, two):
        super().compile()
        self.one, self.two = one, two
    def train_step(self, data):
        (x, _), (y, _) = data
        x = tf.concat([x, y], 0)
        with tf.GradientTape() as tape:
            first = self.head(self.body(x, training=True), training=True)
            second = self.head(self.body(x, training=True), training=True)
            loss = tf.reduce_mean(first * second)
        weights = self.body.trainable_weights + self.head.trainable_weights
        self.one.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {}
def data():
    return tf.data.Dataset.from_tensor_slices((tf.zeros((80, 4)), tf.zeros((80,)))).batch(8)
net = Net()
net.compile(keras.optimizers.Adam(), keras.optimizers.Adam())
net.fit(tf.data.Dataset.zip((data(), data())))
"""
    (found,) = analyse(Source("net.py", code), Settings()).reports
    assert found.parameters == 23


def test_a_step_on_layers_of_its_model_trains_all_of_the_model() -> None:
    """Values of the layers that are called, of the one that holds others, and of the model's own weight: (4 * 6 + 6)
    twice, (6 * 4 + 4) and 6 (94 in Keras 3.15.1)."""
    code = """
import keras, numpy as np, tensorflow as tf
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.two = keras.layers.Dense(6), keras.layers.Dense(6)
        self.back = keras.Sequential([keras.layers.Dense(4)])
        self.token = self.add_weight(shape=(1, 6), initializer="zeros")
    def train_step(self, x):
        with tf.GradientTape() as tape:
            hidden = self.one(x) + tf.tile(self.token, (tf.shape(x)[0], 1))
            again = self.back(hidden * self.two(x))
            loss = tf.reduce_mean((again - x) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
net = Net()
net.compile("adam")
net.fit(np.zeros((80, 4), "float32"), batch_size=8)
"""
    (found,) = analyse(Source("net.py", code), Settings()).reports
    assert (found.parameters, found.trainable) == (94, 94)
