"""Where names are found, in all the places where versions of Keras have put them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.frameworks.keras import find_module, source_name
from flake8_cnnmem.frameworks.keras.layers import registry
from flake8_cnnmem.values import MISSING, Namespace
from tests.frameworks.keras.code import Ran, shapes

ONE_CONV = [
    "from keras.layers import Conv2D",
    "from keras.layers.convolutional import Conv2D",
    "from keras.src.layers.convolutional.conv2d import Conv2D",
    "from tensorflow.keras.layers import Conv2D",
    "from tensorflow.python.keras.layers import Conv2D",
    "from tensorflow.python.keras.layers.convolutional import Conv2D",
    "from tf_keras.layers import Conv2D",
    "from tensorflow.compat.v1.keras.layers import Conv2D",
    "from keras.api._v2.keras.layers import Conv2D",
    "from keras.layers import *",
    "import keras\nConv2D = keras.layers.Conv2D",
    "import tensorflow as tf\nConv2D = tf.keras.layers.Conv2D",
    "import tensorflow.keras.layers as kl\nConv2D = kl.Conv2D",
    "from tensorflow.keras import layers as L\nConv2D = L.Conv2D",
    "import tensorflow.compat.v1 as tf\nConv2D = tf.keras.layers.Conv2D",
    "from tensorflow import keras\nConv2D = keras.layers.Conv2D",
]


@pytest.mark.parametrize("code", ONE_CONV)
def test_every_way_of_importing_gives_the_same_class(code: str) -> None:
    assert Ran(f"{code}\nfound = Conv2D\n")["found"] is registry.find("Conv2D")


OLD_PLACES = [
    ("keras.engine.topology", "Layer"),
    ("keras.engine.topology", "get_source_inputs"),
    ("keras.engine.training", "Model"),
    ("keras.engine.base_layer", "Layer"),
    ("keras.engine", "InputSpec"),
    ("keras.engine.input_layer", "Input"),
    ("keras.layers.advanced_activations", "LeakyReLU"),
    ("keras.layers.normalization", "BatchNormalization"),
    ("keras.layers.merge", "concatenate"),
    ("keras.layers.core", "Lambda"),
    ("keras.layers.recurrent", "LSTM"),
    ("keras.layers.wrappers", "TimeDistributed"),
    ("keras.legacy.layers", "AtrousConvolution2D"),
    ("keras.legacy", "interfaces"),
    ("keras.utils.conv_utils", "normalize_tuple"),
    ("keras.utils.layer_utils", "convert_all_kernels_in_model"),
    ("keras.utils.data_utils", "get_file"),
    ("keras.utils.np_utils", "to_categorical"),
    ("keras.utils.vis_utils", "plot_model"),
    ("keras.preprocessing.image", "ImageDataGenerator"),
    ("keras.preprocessing.sequence", "pad_sequences"),
    ("keras.callbacks", "ModelCheckpoint"),
    ("keras.initializers", "he_normal"),
    ("keras.regularizers", "l2"),
    ("keras.constraints", "maxnorm"),
    ("keras.optimizers", "Adam"),
    ("keras.optimizers.legacy", "SGD"),
    ("keras.optimizers.schedules", "CosineDecay"),
    ("keras.objectives", "mse"),
    ("keras.datasets", "mnist"),
    ("keras.src.backend", "standardize_data_format"),
    ("keras.src.ops.operation_utils", "get_source_inputs"),
    ("keras.src.utils.file_utils", "get_file"),
    ("keras.src.api_export", "keras_export"),
    ("keras.src.models", "Functional"),
    ("keras", "KerasTensor"),
    ("keras.mixed_precision", "set_global_policy"),
    ("tensorflow.keras.mixed_precision.experimental", "Policy"),
    ("tensorflow.keras.layers.experimental.preprocessing", "RandomFlip"),
    ("tensorflow.python.keras.utils", "conv_utils"),
    ("tensorflow.data", "Dataset"),
    ("tensorflow.nn", "relu"),
    ("tensorflow.compat.v1.nn", "max_pool2d"),
    ("tensorflow.python.ops.nn_ops", "relu6"),
    ("tensorflow.train", "AdamOptimizer"),
    ("keras.applications.imagenet_utils", "_obtain_input_shape"),
    ("keras_applications.imagenet_utils", "correct_pad"),
]


@pytest.mark.parametrize(("module", "name"), OLD_PLACES)
def test_names_are_found_where_some_version_has_them(module: str, name: str) -> None:
    found = find_module(module)
    assert isinstance(found, Namespace)
    assert found.lookup(name) is not MISSING


@pytest.mark.parametrize(
    "module",
    ["keras.applications", "keras.applications.vgg16", "keras.src.applications", "keras.nonsense",
     "keras.src.applications.imagenet_utils", "tensorflow.keras.applications", "keras.layers.nonsense"],
)  # fmt: skip
def test_what_is_not_ours_is_left_to_its_source(module: str) -> None:
    assert find_module(module) is None


def test_tensorflows_applications_lie_in_the_package_keras() -> None:
    assert source_name("tensorflow.keras.applications.vgg16") == "keras.applications.vgg16"
    assert source_name("keras.applications") is None


def test_an_unknown_name_is_missing_not_wrong() -> None:
    module = find_module("keras.layers")
    assert module is not None
    assert module.lookup("NoSuchLayer") is MISSING


def test_a_namespace_knows_its_inner_modules_by_attribute() -> None:
    ran = Ran("import tensorflow as tf\nx = tf.keras.layers.Input((4,))\ny = tf.keras.backend.int_shape(x)\n")
    assert tuple(ran["y"]) == (None, 4)


DATA = {
    "mnist": [[60000, 28, 28], [60000], [10000, 28, 28], [10000]],
    "cifar10": [[50000, 32, 32, 3], [50000, 1], [10000, 32, 32, 3], [10000, 1]],
    "imdb": [[25000], [25000], [25000], [25000]],
}


@pytest.mark.parametrize(("name", "expected"), DATA.items())
def test_data_sets_have_their_shapes(name: str, expected: list[list[int]]) -> None:
    ran = Ran(f"from keras.datasets import {name}\ny = {name}.load_data()\n")
    assert shapes(ran["y"]) == expected


def test_generators_keep_their_image_and_batch_size() -> None:
    ran = Ran(
        "from keras.preprocessing.image import ImageDataGenerator\n"
        "g = ImageDataGenerator(rescale=1.0 / 255).flow_from_directory('x', target_size=(150, 120), batch_size=20)\n"
        "b, t = g.batch_size, g.image_shape\n"
    )
    assert ran["b"] == 20
    assert ran["t"] == (150, 120, 3)
    assert ran["g"].native["batch_shape"] == (None, 150, 120, 3)


def test_a_pipeline_keeps_its_batch_size() -> None:
    ran = Ran(
        "import tensorflow as tf\n(x, y), _ = tf.keras.datasets.cifar10.load_data()\n"
        "d = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(48).prefetch(tf.data.AUTOTUNE)\n"
    )
    assert ran["d"].native["batch_size"] == 48
    assert ran["d"].native["batch_shape"] == (None, 32, 32, 3)


def test_a_strategy_is_one_device() -> None:
    ran = Ran(
        "import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\nb = 64 * s.num_replicas_in_sync\n"
        "with s.scope():\n    m = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])\n"
    )
    assert ran["b"] == 64
    assert ran.failures == []


def test_the_global_policy_is_kept() -> None:
    ran = Ran("from tensorflow.keras import mixed_precision\nmixed_precision.set_global_policy('mixed_float16')\n")
    assert ran.run.data("keras")["policy"] == "mixed_float16"


def test_a_layer_kept_in_float32_under_a_mixed_policy_gives_float32() -> None:
    ran = Ran(
        "import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
        "y = keras.layers.Activation('softmax', dtype='float32')(keras.Input((3,)))\n"
    )
    assert ran["y"].dtype == "float32"
