"""Known data sets: their sizes, and how many classes their labels tell apart (keras.io/api/datasets)."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.frameworks.keras.code import Ran, shapes

HEAD = "import keras\nimport numpy as np\nfrom keras.datasets import mnist, cifar10, cifar100, imdb, reuters\n"
LOAD = "(x, y), (u, v) = {}.load_data()\n"

KNOWN = {
    "the largest label": ("cifar10", "np.amax(y) + 1", 10),
    "the largest label, by a method": ("cifar100", "int(y.max() + 1)", 100),
    "the smallest label": ("mnist", "np.min(y)", 0),
    "different labels": ("mnist", "len(np.unique(y))", 10),
    "different labels and how often": ("mnist", "np.unique(y, return_counts=True)[1].shape[0]", 10),
    "labels counted": ("mnist", "np.bincount(y.ravel()).shape[0]", 10),
    "one column each": ("cifar10", "keras.utils.to_categorical(y).shape[1]", 10),
    "of the test part": ("cifar10", "keras.utils.to_categorical(v).shape[1]", 10),
    "of another dtype and shape": ("cifar10", "len(np.unique(y.astype('int64').reshape(-1)))", 10),
    "of most samples": ("cifar10", "y[5000:].max()", 9),
    "of one column": ("cifar10", "np.max(y[:, 0])", 9),
    "two opinions": ("imdb", "len(np.unique(y))", 2),
    "topics": ("reuters", "np.max(y) + 1", 46),
    "back from one column each": ("mnist", "len(np.unique(np.argmax(keras.utils.to_categorical(y), 1)))", 10),
    "pictures as they come": ("cifar10", "x.shape[1:]", (32, 32, 3)),
    "pictures with channels first": ("cifar10", "x.shape[1:]", (3, 32, 32), "channels_first"),
    "a size that is asked for": ("reuters", "keras.utils.to_categorical(y, 50).shape[1]", 50),
}


@pytest.mark.parametrize("row", KNOWN.values(), ids=KNOWN)
def test_what_labels_tell(row: tuple[Any, ...]) -> None:
    name, expression, expected, *order = row
    asked = f"keras.backend.set_image_data_format({order[0]!r})\n" if order else ""
    ran = Ran(f"{HEAD}{asked}{LOAD.format(name)}r = {expression}\n")
    assert ran.failures == []
    assert ran["r"] == expected


OPEN = {
    "of a few samples": ("mnist", "len(np.unique(y[:20]))", ""),
    "of those of some classes": ("mnist", "len(np.unique(y[y < 5]))", ""),
    "of samples that are chosen": ("mnist", "np.max(y[np.random.permutation(100)])", ""),
    "of what was computed from them": ("mnist", "np.max(y * 2)", ""),
    "of one column each, without some rows": (
        "mnist",
        "len(np.unique(np.argmax(keras.utils.to_categorical(y)[:20], 1)))",
        "",
    ),
    "of one column each, written over": (
        "mnist",
        "len(np.unique(np.argmax(h, 1)))",
        "h = keras.utils.to_categorical(y)\nh[:100] = 1\n",
    ),
    "of one column each, along the samples": (
        "mnist",
        "len(np.unique(np.argmax(keras.utils.to_categorical(y), 0)))",
        "",
    ),
    "of what was written over them": ("mnist", "np.max(y)", "y[:100] = 11\n"),
    "of images": ("mnist", "np.max(x)", ""),
    "of the few samples of a small part": ("reuters", "np.max(v)", ""),
}


@pytest.mark.parametrize(("name", "expression", "before"), OPEN.values(), ids=OPEN)
def test_what_labels_do_not_tell(name: str, expression: str, before: str) -> None:
    found = Ran(f"{HEAD}{LOAD.format(name)}{before}r = {expression}\n")["r"]
    assert not isinstance(found, (int, float)) or isinstance(found, Unknown)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        ("keras.datasets.boston_housing.load_data()[0][0].shape", (404, 13)),
        ("keras.datasets.boston_housing.load_data(test_split=0.5)[0][0].shape", (253, 13)),
        ("reuters.load_data(num_words=100, test_split=0.1)[0][0].shape", (10105,)),
        ("reuters.load_data(test_split=0.1)[1][1].shape", (1123,)),
    ],
)
def test_parts_of_another_size(call: str, shape: tuple[int, ...]) -> None:
    assert tuple(Ran(f"{HEAD}r = {call}\n")["r"]) == shape


def test_how_many_reviews_are_short_is_not_known() -> None:
    ran = Ran(f"{HEAD}r = imdb.load_data(maxlen=100)[0][0].shape[0]\n")
    assert isinstance(ran["r"], Unknown)


def test_the_classes_of_a_folder_are_those_that_are_stated() -> None:
    ran = Ran(
        "import keras\n"
        "stated = dict(image_size=(8, 8), label_mode='categorical', class_names=['x', 'y'])\n"
        "a = keras.utils.image_dataset_from_directory('d', **stated)\n"
        "known = len(a.class_names)\n"
        "unknown = len(keras.utils.text_dataset_from_directory('d').class_names)\n"
        "for images, targets in a.prefetch(2):\n    pass\n"
    )
    assert (ran["known"], ran["targets"].shape[1], type(ran["unknown"])) == (2, 2, Unknown)


def test_a_normalization_has_its_statistics_once_it_is_adapted() -> None:
    """Measured in Keras 3.15.1: None before, then as many axes as the data, with sizes where they are kept."""
    ran = Ran(
        "import keras, numpy as np, tensorflow as tf\nfrom keras import layers\n"
        "n, rows = layers.Normalization(), layers.Normalization(axis=None)\nbefore = n.mean\n"
        "n.adapt(tf.data.Dataset.from_tensor_slices(np.zeros((20, 8, 8, 3))).batch(4))\n"
        "rows.adapt(np.zeros((20, 3)))\n"
        "after, scaled = n.mean, n.variance**0.5\n"
    )
    assert ran["before"] is None
    assert (ran["after"].shape, ran["scaled"].shape, ran["rows"].attributes["mean"].shape) == (
        (1, 1, 1, 3),
        (1, 1, 1, 3),
        (1, 1),
    )


SAMPLES = {
    "gamma([3], alpha=[0.25])": (3, 1),
    "gamma([3], 1.0)": (3,),
    "gamma([3, 2], alpha=[[0.2], [0.3]], beta=[1.0, 2.0, 3.0])": (3, 2, 2, 3),
    "poisson([3], [1.0, 2.0])": (3, 2),
    "stateless_gamma([3, 2], (1, 2), alpha=[1.0, 2.0])": (3, 2),
}
"""Measured in TensorFlow 2.21."""


@pytest.mark.parametrize("call", SAMPLES)
def test_random_numbers_are_drawn_for_each_distribution(call: str) -> None:
    assert Ran(f"import tensorflow as tf\nx = tf.random.{call}\n")["x"].shape == SAMPLES[call]


CATALOGUE = """\
import tensorflow as tf
import tensorflow_datasets as tfds


def cropped(image, label):
    return tf.image.random_crop(tf.image.resize(image, [40, 40]), [32, 32, 3])


data, info = tfds.load("cycle_gan/horse2zebra", with_info=True, as_supervised=True)
first, second = data["trainA"].map(cropped).batch(2), data["trainB"].map(cropped).batch(2)
for x, y in tf.data.Dataset.zip((first, second)):
    pass
"""


def test_a_data_set_that_is_not_known_has_the_splits_that_it_is_asked_for() -> None:
    """tensorflow_datasets' catalogue: trainA, trainB, testA and testB, pictures of open sizes."""
    ran = Ran(CATALOGUE)
    assert ran.failures == []
    assert shapes([ran["x"], ran["y"]]) == [[2, 32, 32, 3]] * 2


LEARNT = {
    "StringLookup(), ['red', 'green', 'blue', 'red', '[UNK]', '']": ["[UNK]", "red", "green", "blue", ""],
    "StringLookup(mask_token='', num_oov_indices=2), [['red', 'green'], ['blue', 'red']]": [
        *["", "[UNK]", "[UNK]"], *["red", "green", "blue"],
    ],
    "StringLookup(max_tokens=3), ['red', 'green', 'blue', 'red', 'amber']": ["[UNK]", "red", "green"],
    "StringLookup(output_mode='one_hot', mask_token='x'), ['red', 'x']": ["[UNK]", "red"],
    "IntegerLookup(), [3, 5, 5, 9, -1, 0]": [-1, 5, 9, 3, 0],
    "IntegerLookup(mask_token=0), np.array([[3], [5], [0]])": [0, -1, 5, 3],
    "TextVectorization(max_tokens=6), ['the cat sat on the mat']": ["", "[UNK]", "the", "sat", "on", "mat"],
    "TextVectorization(output_mode='multi_hot'), np.array(['a b a', 'c'])": ["[UNK]", "a", "c", "b"],
    "TextVectorization(standardize=None), ['A a, b']": ["", "[UNK]", "b", "a,", "A"],
    "TextVectorization(standardize='lower'), ['A a, b']": ["", "[UNK]", "b", "a,", "a"],
    "TextVectorization(split='character'), ['ab c']": ["", "[UNK]", "c", "b", "a", " "],
    'TextVectorization(), ["don\'t stop-it  a_b\\tx\\ny"]': ["", "[UNK]", "y", "x", "stopit", "dont", "ab"],
}  # fmt: skip
"""What `get_vocabulary` gives after `adapt`, measured in Keras 3.15.1 (TensorFlow 2.21)."""


@pytest.mark.parametrize("case", LEARNT)
def test_a_vocabulary_is_learnt_of_data_that_the_code_writes(case: str) -> None:
    layer, data = case.split("), ", 1)
    ran = Ran(f"{HEAD}layer = keras.layers.{layer})\nlayer.adapt({data})\nr = layer.get_vocabulary()\n")
    assert ran["r"] == LEARNT[case]


@pytest.mark.parametrize(
    "data", ["keras.utils.text_dataset_from_directory('d')", "['caf\\u00e9 noir']", "open('f').read()"]
)
def test_a_vocabulary_of_other_data_is_not_known(data: str) -> None:
    ran = Ran(f"{HEAD}layer = keras.layers.TextVectorization()\nlayer.adapt({data})\nr = layer.vocabulary_size()\n")
    assert isinstance(ran["r"], Unknown)


def test_the_classes_of_a_table_of_pictures_are_those_that_are_stated() -> None:
    ran = Ran(
        "import pandas as pd\nfrom keras.preprocessing.image import ImageDataGenerator\n"
        "data = ImageDataGenerator().flow_from_dataframe(pd.read_csv('t.csv'), 'd', classes=['a', 'b', 'c'])\n"
        "r = len(data.class_indices)\n"
    )
    assert ran["r"] == 3
