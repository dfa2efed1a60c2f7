"""Models: graphs, names, freezing, building, what `compile` and `fit` leave behind."""

from __future__ import annotations

import pytest

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.frameworks.keras import FRAMEWORK
from flake8_cnnmem.graph import Tensor, calls_behind
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.keras.code import Ran, shapes

HEAD = "import keras\nfrom keras import layers\n"

FUNCTIONAL = f"""{HEAD}
i = keras.Input((16, 16, 3))
h = layers.Conv2D(4, 3, name="first")(i)
h = layers.BatchNormalization()(h)
m = keras.Model(i, layers.Dense(2)(layers.GlobalAveragePooling2D()(h)))
"""


def trained(ran: Ran, name: str) -> list[str]:
    return [weight.name for weight in FRAMEWORK.weights(ran[name]) if weight.trainable]


def test_a_functional_model_answers_with_its_own_tensors() -> None:
    ran = Ran(FUNCTIONAL)
    outputs = FRAMEWORK.call_root(ran.run, ran["m"], [])
    assert isinstance(outputs, Tensor)
    assert outputs.shape == (BATCH, 2)
    assert outputs is ran["m"].native.model.graph.outputs


def test_a_functional_model_is_run_anew_on_an_input_of_another_size() -> None:
    ran = Ran(FUNCTIONAL)
    other = Tensor((BATCH, 32, 32, 3), framework="keras")
    before = len(ran.log)
    result = FRAMEWORK.call_root(ran.run, ran["m"], [other])
    assert isinstance(result, Tensor)
    assert result.shape == (BATCH, 2)
    assert [call.function for call in ran.log[before:]] == [
        "Conv2D", "BatchNormalization", "GlobalAveragePooling2D", "Dense",
    ]  # fmt: skip


def test_weights_come_once_trainable_ones_first() -> None:
    ran = Ran(FUNCTIONAL)
    names = [weight.name for weight in FRAMEWORK.weights(ran["m"])]
    assert names == ["kernel", "bias", "gamma", "beta", "kernel", "bias", "moving_mean", "moving_variance"]


def test_layers_are_named_and_numbered_as_keras_names_them() -> None:
    ran = Ran(FUNCTIONAL)
    assert [name for name, _ in FRAMEWORK.children(ran["m"])] == [
        "input_layer", "first", "batch_normalization", "global_average_pooling2d", "dense",
    ]  # fmt: skip
    assert "first" in FRAMEWORK.paths(ran["m"]).values()


def test_layers_inside_a_nested_model_have_its_name_in_front() -> None:
    ran = Ran(f"{FUNCTIONAL}\nn = keras.Sequential([keras.Input((16, 16, 3)), m], name='outer')\n")
    assert "functional.first" in FRAMEWORK.paths(ran["n"]).values()


def test_a_nested_model_is_one_invocation_with_its_layers_inside() -> None:
    ran = Ran(f"{FUNCTIONAL}\ny = m(keras.Input((16, 16, 3)))\n")
    within = [invocation.layer.cls.name for invocation in ran["y"].call.within.ancestry()]
    assert within == ["Dense", "Functional"]


def test_a_shared_layer_counts_once_and_is_called_twice() -> None:
    ran = Ran(
        f"{HEAD}a, b = keras.Input((4,)), keras.Input((4,))\nd = layers.Dense(3)\n"
        "m = keras.Model([a, b], layers.add([d(a), d(b)]))\n"
    )
    assert len(FRAMEWORK.weights(ran["m"])) == 2
    assert [call.function for call in ran.log] == ["Dense", "Dense", "Add"]


FREEZING = {
    "a layer": ("m.layers[1].trainable = False", ["gamma", "beta", "kernel", "bias"]),
    "the whole model": ("m.trainable = False", []),
    "all but the last layer": ("for layer in m.layers[:-1]:\n    layer.trainable = False", ["kernel", "bias"]),
    "a layer set free inside a frozen model stays frozen": ("m.trainable = False\nm.layers[-1].trainable = True", []),
    "frozen, then set free again": ("m.trainable = False\nm.trainable = True", None),
    "after compile, before a step": ("m.compile('sgd', 'mse')\nm.trainable = False", []),
    "after compile, in Keras 2": (
        "from keras.layers.core import Dense\nm.compile('sgd', 'mse')\nm.trainable = False",
        None,
    ),
    "compiled again it does": ("m.compile('sgd')\nm.trainable = False\nm.compile('sgd')", []),
}


@pytest.mark.parametrize(("code", "expected"), FREEZING.values(), ids=FREEZING)
def test_freezing(code: str, expected: list[str] | None) -> None:
    ran = Ran(f"{FUNCTIONAL}\n{code}\n")
    everything = ["kernel", "bias", "gamma", "beta", "kernel", "bias"]
    assert trained(ran, "m") == (everything if expected is None else expected)


@pytest.mark.parametrize(("head", "alone"), [("", 0), ("from keras.layers.core import Dense\n", 2)])
def test_a_discriminator_that_is_frozen_for_the_combined_model_trains_alone_in_keras_2(head: str, alone: int) -> None:
    """Measured: Adam's state of `d` after its own first step, in Keras 3.15.1 and in tf-keras 2.21."""
    ran = Ran(
        f"{HEAD}{head}d = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\nd.compile('adam', 'mse')\n"
        "g = keras.Sequential([keras.Input((2,)), layers.Dense(8)])\nz = keras.Input((2,))\n"
        "d.trainable = False\nc = keras.Model(z, d(g(z)))\nc.compile('adam', 'mse')\n"
    )
    assert len(trained(ran, "c")) == 2
    assert len(trained(ran, "d")) == alone


def test_a_layer_made_with_trainable_false_has_no_trainable_weights() -> None:
    ran = Ran(f"{HEAD}m = keras.Sequential([keras.Input((4,)), layers.Dense(3, trainable=False), layers.Dense(1)])\n")
    assert len(trained(ran, "m")) == 2


def test_a_model_called_with_training_false_runs_its_norms_and_dropouts_in_inference_mode() -> None:
    ran = Ran(
        f"{HEAD}b = keras.Sequential([keras.Input((4,)), layers.BatchNormalization(), layers.Dropout(0.5)])\n"
        "y = b(keras.Input((4,)), training=False)\nz = b(keras.Input((4,)))\n"
    )
    assert [call.op.training for call in ran.log] == [True, True, False, False, True, True]  # type: ignore[attr-defined]


def test_a_subclassed_model_is_told_that_it_trains() -> None:
    ran = Ran(
        f"{HEAD}class Net(keras.Model):\n    def call(self, x, training=None):\n        self.seen = training\n"
        "        return x\nn = Net()\ny = n(keras.Input((3,)))\nseen = n.seen\n"
    )
    assert ran["seen"] is True


def test_compile_and_fit_are_kept_with_their_place() -> None:
    ran = Ran(
        f"{FUNCTIONAL}\nm.compile(optimizer=keras.optimizers.Adam(1e-3, amsgrad=True), loss='mse')\n"
        "m.fit(x=1, y=2, batch_size=64, epochs=3)\n"
    )
    state = ran["m"].native.model
    optimizer = state.compiled[0].given["optimizer"]
    assert optimizer.cls.name == "Adam"
    assert optimizer.attributes["amsgrad"] is True
    assert optimizer.attributes["beta_2"] == 0.999
    assert state.compiled[0].given["loss"] == "mse"
    assert state.fitted[0].batch_size == 64
    assert state.fitted[0].site.line == 10


def test_a_model_without_an_input_is_built_by_what_it_is_fitted_on() -> None:
    ran = Ran(
        f"{HEAD}(x, y), _ = keras.datasets.mnist.load_data()\n"
        "m = keras.Sequential([layers.Flatten(), layers.Dense(10)])\nm.compile('adam', 'mse')\nm.fit(x, y)\n"
    )
    assert shapes(FRAMEWORK.call_root(ran.run, ran["m"], [])) == [[None, 10]]
    assert ran["m"].native.model.fitted[0].data.shape == (60000, 28, 28)


def test_a_layer_nobody_calls_has_no_weights() -> None:
    ran = Ran(
        f"{HEAD}class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = layers.Dense(2)\n        self.unused = layers.Dense(2)\n"
        "    def call(self, x):\n        return self.a(x)\nn = Net()\ny = n(keras.Input((3,)))\n"
    )
    assert [name for name, _ in FRAMEWORK.children(ran["n"])] == ["dense", "dense_1"]
    assert len(FRAMEWORK.weights(ran["n"])) == 2


def test_a_subclass_that_never_calls_super_still_has_its_layers() -> None:
    ran = Ran(
        f"{HEAD}class Bad(layers.Layer):\n    def __init__(self):\n        self.d = layers.Dense(2)\n"
        "    def call(self, x):\n        return self.d(x)\nb = Bad()\ny = b(keras.Input((3,)))\n"
    )
    assert len(FRAMEWORK.weights(ran["b"])) == 2
    assert shapes(ran["y"]) == [[None, 2]]


def test_a_layer_that_gives_back_its_input_still_makes_a_tensor_of_its_own() -> None:
    ran = Ran(
        f"{HEAD}class Same(layers.Layer):\n    def call(self, x):\n        return x\n"
        "i = keras.Input((3,))\ny = Same()(i)\nm = keras.Model(i, y)\n"
    )
    assert ran["y"] is not ran["i"]
    assert ran["y"].call.op.view
    assert [name for name, _ in FRAMEWORK.children(ran["m"])] == ["input_layer", "same"]


def test_open_sizes_are_named_in_their_cause() -> None:
    ran = Ran(f"{HEAD}x = keras.Input((None, 224, 3))\ny = layers.Conv2D(2, 3)(x)\ns = y.shape\n")
    (_, height, width, channels) = ran["y"].shape
    assert isinstance(height, Unknown)
    assert height.reason == "the input's height is not stated"
    assert (width, channels) == (222, 2)
    assert tuple(ran["s"]) == (None, None, 222, 2)


def test_a_size_that_was_not_followed_is_not_shown_as_none() -> None:
    ran = Ran(f"{HEAD}import unheard\ny = layers.Dense(unheard.width)(keras.Input((3,)))\ns = y.shape[-1]\n")
    assert isinstance(ran["s"], Unknown)


def test_an_unknown_layer_in_the_middle_leaves_the_rest_of_the_model_a_lower_bound() -> None:
    ran = Ran(
        f"{HEAD}from elsewhere import Block\ni = keras.Input((8,))\nh = layers.Dense(4)(i)\nh = Block()(h)\n"
        "m = keras.Model(i, layers.Dense(3)(h))\n"
    )
    assert ran.failures == []
    assert isinstance(FRAMEWORK.call_root(ran.run, ran["m"], []), (Tensor, Unknown))


def test_a_graph_of_a_thousand_layers_is_traced_without_recursion() -> None:
    ran = Ran(
        f"{HEAD}i = h = keras.Input((4,))\nfor _ in range(1500):\n    h = layers.Dense(4)(h)\nm = keras.Model(i, h)\n"
    )
    assert len(FRAMEWORK.children(ran["m"])) == 1501


def test_a_recomputed_function_is_a_checkpoint() -> None:
    ran = Ran(
        f"{HEAD}import tensorflow as tf\nd = layers.Dense(3)\n"
        "y = tf.recompute_grad(lambda t: d(t))(keras.Input((4,)))\n"
    )
    assert any(invocation.checkpoint for invocation in ran["y"].call.within.ancestry())


def test_a_layer_reads_back_what_its_input_spec_says() -> None:
    ran = Ran(
        f"{HEAD}from keras.layers import InputSpec\nclass Scale(layers.Layer):\n"
        "    def build(self, input_shape):\n        self.input_spec = [InputSpec(shape=input_shape)]\n"
        "        self.gamma = self.add_weight(shape=(input_shape[-1],))\n"
        "    def call(self, x):\n        return x * self.gamma[:self.input_spec[0].shape[-1]]\n"
        "y = Scale()(keras.Input((8, 8, 5)))\n"
    )
    assert shapes(ran["y"]) == [[None, 8, 8, 5]]


def test_what_a_model_predicts_has_as_many_samples_as_its_inputs() -> None:
    ran = Ran(
        f"{HEAD}import numpy as np\na, b = keras.Input((3,)), keras.Input((4,))\n"
        "m = keras.Model([a, b], layers.Dense(2)(layers.Concatenate()([a, b])))\n"
        "y = m.predict([np.zeros((7, 3)), np.zeros((7, 4))])\n"
    )
    assert shapes(ran["y"]) == [[7, 2]]


def test_what_nobody_follows_of_a_model_is_there_all_the_same() -> None:
    ran = Ran(f"{FUNCTIONAL}\nbefore = m.optimizer\nnames = m.metrics_names\nown = hasattr(m, 'none_of_these')\n")
    assert ran["before"] is None
    assert isinstance(ran["names"], Unknown)
    assert ran["own"] is False


LOW_RANK = {
    "Dense": ("layers.Dense(6)", "keras.Input((8,))", {"lora_kernel_a": (8, 2), "lora_kernel_b": (2, 6)}),
    "Conv2D": (
        "layers.Conv2D(6, 3)",
        "keras.Input((9, 9, 4))",
        {"lora_kernel_a": (3, 3, 4, 2), "lora_kernel_b": (2, 6)},
    ),
    "Conv1D": ("layers.Conv1D(6, 5)", "keras.Input((9, 4))", {"lora_kernel_a": (5, 4, 2), "lora_kernel_b": (2, 6)}),
    "Embedding": (
        "layers.Embedding(30, 6)",
        "keras.Input((9,))",
        {"lora_embeddings_a": (30, 2), "lora_embeddings_b": (2, 6)},
    ),
    "EinsumDense": (
        "layers.EinsumDense('abc,cde->abde', output_shape=(None, 5, 6), bias_axes='e')",
        "keras.Input((9, 4))",
        {"lora_kernel_a": (4, 5, 2), "lora_kernel_b": (2, 6)},
    ),
}
"""As keras 3.15 makes them."""


@pytest.mark.parametrize(("layer", "given", "added"), LOW_RANK.values(), ids=LOW_RANK)
def test_low_rank_matrices_train_in_place_of_the_layers_own(
    layer: str, given: str, added: dict[str, tuple[int, ...]]
) -> None:
    ran = Ran(
        f"{HEAD}x = {given}\na = {layer}\nbefore = a(x)\na.enable_lora(2)\nafter = a(x)\nm = keras.Model(x, after)\n"
        f"b = {layer.removesuffix(')')}, lora_rank=2)\nbuilt = b(x)\n"
    )
    assert shapes(ran["after"]) == shapes(ran["before"]) == shapes(ran["built"])
    for layer_made in (ran["a"], ran["b"]):
        weights = {weight.name: weight for weight in layer_made.native.weights}
        assert {name: weights[name].shape for name in added} == added
    trained = {weight.name for weight in FRAMEWORK.weights(ran["m"]) if weight.trainable}
    assert trained == {*added, *(["bias"] if "bias" in weights else [])}


def test_a_model_whose_layer_was_adapted_after_it_was_called_is_run_anew() -> None:
    ran = Ran(f"{HEAD}m = keras.Sequential([keras.Input((8,)), layers.Dense(6)])\nm.layers[0].enable_lora(2)\n")
    output = FRAMEWORK.call_root(ran.run, ran["m"], [])
    assert isinstance(output, Tensor)
    assert [call.function for call in calls_behind([output])] == ["matmul", "scale", "add", "matmul", "add"]


def test_a_model_that_was_quantized_has_weights_of_unknown_size() -> None:
    ran = Ran(f"{HEAD}m = keras.Sequential([keras.Input((8,)), layers.Dense(6), layers.ReLU()])\nm.quantize('int8')\n")
    shapes_made = [weight.shape for weight in FRAMEWORK.weights(ran["m"])]
    assert shapes_made
    assert all("quantize" in str(shape) for shape in shapes_made)


OWN_MERGE = """
from keras.layers.merge import _Merge
class Mean(_Merge):
    def _merge_function(self, inputs):
        return (inputs[0] + inputs[1]) * 0.5
y = Mean()([keras.Input((4, 4)), keras.Input((4, 4))])
"""


def test_a_merge_of_ones_own() -> None:
    assert shapes(Ran(HEAD + OWN_MERGE)["y"]) == [[None, 4, 4]]


def test_low_rank_is_enabled_once_and_only_on_what_is_built() -> None:
    ran = Ran(f"{HEAD}a = layers.Dense(3)\na.enable_lora(2)\n")
    assert any("isn't yet built" in cause.reason for _, cause in ran.run.raised)


def test_a_kernel_that_the_code_computes_trains_what_it_is_computed_of() -> None:
    ran = Ran(
        f"{HEAD}import tensorflow as tf\nclass Standardised(layers.Conv2D):\n    def call(self, x):\n"
        "        return tf.nn.conv2d(x, self.kernel - tf.reduce_mean(self.kernel), 1, 'SAME')\n"
        "y = Standardised(4, 3, padding='same')(keras.Input((8, 8, 3)))\n"
    )
    [call] = [call for call in calls_behind([ran["y"]]) if call.weights]
    assert call.weights[0].shape == (3, 3, 3, 4)
    assert call.weights[0].call is not None


OPTIMIZERS = {
    "Adam(use_ema=True, gradient_accumulation_steps=4)": (
        "adam",
        {"use_ema": True, "gradient_accumulation_steps": 4},
    ),
    "SGD(momentum=0.9, clipnorm=1.0)": ("momentum", {"momentum": 0.9, "clipnorm": 1.0}),
    "AdamW()": ("adamw", {"weight_decay": 0.004}),
    "LossScaleOptimizer(keras.optimizers.RMSprop(centered=True))": ("rmsprop", {"centered": True, "loss_scale": True}),
}


@pytest.mark.parametrize(("made", "named"), OPTIMIZERS.items())
def test_an_optimizer_tells_what_it_keeps(made: str, named: tuple[str, dict[str, object]]) -> None:
    optimizer = FRAMEWORK.optimizer_of(Ran(f"{HEAD}o = keras.optimizers.{made}\n")["o"])
    assert optimizer is not None
    assert (optimizer.name, dict(optimizer.options)) == named


@pytest.mark.parametrize("given", ["(None, 9, 9, 2)", "input_shape=(None, 9, 9, 2)"])
def test_what_a_model_is_built_for_is_its_input(given: str) -> None:
    code = f"""
import keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Conv2D(3, 2)

    def call(self, x):
        return self.inner(x)

net = Net()
net.build({given})
"""
    ran = Ran(code)
    ((shapes_of, _),) = ran.run.data("stated inputs").values()
    assert shapes_of == [(9, 9, 2)]
