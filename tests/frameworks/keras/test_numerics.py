"""Functions whose results have shapes that their arguments tell. Shapes as Keras 3.15.1 and TensorFlow 2.21 gave them
for x of (4, 8, 12) and square of (4, 8, 8), the batch written as None here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frameworks.keras.code import Ran, shapes

HEAD = """
import tensorflow as tf
import keras
from keras import ops
x = keras.Input((8, 12))
square = keras.Input((8, 8))
"""

EXPRESSIONS: dict[str, Any] = {
    "ops.cumsum(ops.ones((2, 8)))": [[16]],
    "ops.cumsum(x)": [[None]],
    "ops.cumprod(x, axis=1)": [[None, 8, 12]],
    "ops.argsort(x)": [[None, 8, 12]],
    "ops.argsort(x, axis=None)": [[None]],
    "ops.sort(x, axis=None)": [[None]],
    "ops.trace(x)": [[12]],
    "ops.trace(x, axis1=1, axis2=2)": [[None]],
    "ops.trace(x, 0, -2, -1)": [[None]],
    "ops.take(x, [0, 1])": [[2]],
    "ops.take(x, [[0, 1]])": [[1, 2]],
    "ops.take(x, 3)": [[]],
    "ops.take(x, [0, 1], axis=-1)": [[None, 8, 2]],
    "ops.take_along_axis(x, ops.zeros((5,), 'int32'))": [[5]],
    "ops.take_along_axis(x, ops.zeros((1, 3, 12), 'int32'), axis=1)": [[None, 3, 12]],
    "ops.take_along_axis(x, ops.zeros((1, 7, 1), 'int32'), axis=1)": [[None, 7, 12]],
    "ops.fft2((x, x))": [[None, 8, 12], [None, 8, 12]],
    "ops.rfft(x)": [[None, 8, 7], [None, 8, 7]],
    "ops.irfft(ops.rfft(x, 16), 16)": [[None, 8, 16]],
    "ops.irfft(ops.rfft(x))": [[None, 8, 12]],
    "ops.diff(x, axis=1)": [[None, 7, 12]],
    "ops.quantile(x, [0.1, 0.5, 0.9], axis=1)": [[3, None, 12]],
    "ops.quantile(x, 0.5, axis=1)": [[None, 12]],
    "ops.svd(x, full_matrices=False)": [[None, 8, 8], [None, 8], [None, 8, 12]],
    "ops.svd(x)": [[None, 8, 8], [None, 8], [None, 12, 12]],
    "ops.qr(x)": [[None, 8, 8], [None, 8, 12]],
    "ops.eigh(square)": [[None, 8], [None, 8, 8]],
    "ops.solve(square, x)": [[None, 8, 12]],
    "ops.inv(square)": [[None, 8, 8]],
    "ops.det(square)": [[None]],
    "ops.append(x, x, axis=-1)": [[None, 8, 24]],
    "ops.cross(x[..., :3], x[..., 3:6])": [[None, 8, 3]],
    "ops.searchsorted(ops.arange(10), x[:, 0, 0])": [[None]],
    "ops.segment_sum(ops.ones((6, 5)), ops.array([0, 0, 1, 1, 2, 2]), num_segments=4)": [[4, 5]],
    "ops.map(lambda row: row * 2, x)": [[None, 8, 12]],
    "ops.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * 2), (0, x))[1]": [[None, 8, 12]],
    "ops.fori_loop(0, 3, lambda k, a: a + 1, x)": [[None, 8, 12]],
    "ops.switch(1, [lambda a: a[:, 0], lambda a: a[:, 1]], x)": [[None, 12]],
    "ops.diag(ops.ones((5,)))": [[5, 5]],
    "ops.kron(ops.ones((2, 3)), ops.ones((4, 5)))": [[8, 15]],
    "ops.linspace(x, x + 1, 3, axis=1)": [[None, 3, 8, 12]],
    "ops.linspace(0.0, x[:, 0], 5)": [[5, None, 12]],
    "ops.linspace(x, 1.0, 4, axis=-1)": [[None, 8, 12, 4]],
    "ops.glu(x)": [[None, 8, 6]],
    "ops.rot90(x, axes=(1, 2))": [[None, 12, 8]],
    "ops.array_split(x, 3, axis=1)": [[None, 3, 12], [None, 3, 12], [None, 2, 12]],
    "ops.hsplit(x, [2, 5])": [[None, 2, 12], [None, 3, 12], [None, 3, 12]],
    "ops.dsplit(x, 4)": [[None, 8, 3], [None, 8, 3], [None, 8, 3], [None, 8, 3]],
    "ops.diagonal(x, axis1=1, axis2=2)": [[None, 8]],
    "ops.stft(x, 6, 3, 8)": [[None, 8, 5, 5], [None, 8, 5, 5]],
    "ops.stft(x, 6, 3, 8, center=False)": [[None, 8, 2, 5], [None, 8, 2, 5]],
    "ops.extract_sequences(x, 5, 2)": [[None, 8, 4, 5]],
    "ops.multi_hot(x[:, 0], 9)": [[None, 9]],
    "ops.multi_hot(x, 9)": [[None, 12, 9]],
    "ops.nanquantile(x, [0.1, 0.9], axis=1)": [[2, None, 12]],
    "ops.hanning(7)": [[7]],
    "keras.layers.RandomCrop(4, 5)(keras.Input((None, None, 3)))": [[None, 4, 5, 3]],
    "keras.layers.CenterCrop(4, 5)(keras.Input((9, None, 3)))": [[None, 4, 5, 3]],
    "tf.linspace(tf.zeros((4, 8)), tf.ones((4, 8)), 3, axis=1)": [[4, 3, 8]],
    "keras.random.categorical(x[:, 0], 5)": [[None, 5]],
    "tf.dtypes.cast(x, tf.float32)": [[None, 8, 12]],
    "tf.sequence_mask(x[:, 0, 0], 9)": [[None, 9]],
    "tf.math.log_softmax(x)": [[None, 8, 12]],
    "tf.math.unsorted_segment_sum(tf.ones((6, 5)), tf.constant([0, 0, 1, 1, 2, 2]), 4)": [[4, 5]],
    "tf.linalg.svd(x)": [[None, 8], [None, 8, 8], [None, 12, 8]],
    "tf.linalg.normalize(x, axis=-1)": [[None, 8, 12], [None, 8, 1]],
    "tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * 2.0), [0, x])[1]": [[None, 8, 12]],
    "tf.image.sobel_edges(x[..., None])": [[None, 8, 12, 1, 2]],
    "tf.image.ssim(x[..., None], x[..., None], 1.0)": [[None]],
    "tf.nn.l2_loss(x)": [[]],
    "tf.nn.conv1d_transpose(x, tf.ones((3, 7, 12)), tf.stack([tf.shape(x)[0], 16, 7]), 2)": [[None, 16, 7]],
    "tf.random.categorical(x[:, 0], 6)": [[None, 6]],
    "tf.case([(tf.reduce_sum(x) > 0, lambda: x[:, 0])], default=lambda: x[:, 1])": [[None, 12]],
    "tf.debugging.check_numerics(x, 'bad')": [[None, 8, 12]],
    "tf.clip_by_global_norm([x, square], 1.0)": [[None, 8, 12], [None, 8, 8], []],
    "tf.math.count_nonzero(x, axis=1)": [[None, 12]],
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_function_has_the_shape_that_the_framework_gives_it(expression: str) -> None:
    ran = Ran(f"{HEAD}y = {expression}\n")
    assert (shapes(ran["y"]), ran.problems) == (EXPRESSIONS[expression], [])


ARRAYS = {
    "written and stacked": (
        """
items = tf.TensorArray(tf.float32, size=8)
for step in range(8):
    items = items.write(step, x[:, step])
y = tf.transpose(items.stack(), [1, 0, 2])
""",
        [[None, 8, 12]],
    ),
    "unstacked and read": ("y = tf.TensorArray(tf.float32, size=3).unstack(tf.ones((3, 5))).read(1)", [[5]]),
    "one item stands for as many as the size says": (
        """
items = tf.TensorArray(tf.float32, size=6)
_, items = tf.while_loop(lambda k, a: k < 6, lambda k, a: (k + 1, a.write(k, x[:, 0])), [tf.constant(0), items])
y = items.stack()
""",
        [[6, None, 12]],
    ),
    "how many were written to one that grows is not known": (
        """
items = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
items = items.write(tf.cast(tf.reduce_sum(x), tf.int32), x[:, 0])
y = items.stack()
""",
        [["?", None, 12]],
    ),
}


@pytest.mark.parametrize(("code", "expected"), ARRAYS.values(), ids=ARRAYS)
def test_an_array_of_tensors(code: str, expected: Any) -> None:
    assert shapes(Ran(f"{HEAD}{code}\n")["y"]) == expected


NUMBERS = [
    "tf.maximum(1e-5, 1.0)", "tf.sqrt(2.0)", "tf.math.log(10.0)", "tf.cast(3, tf.float32)", "tf.reduce_max([1.0, 2.0])",
    "tf.pow(2.0, 2)", "tf.where(True, 1.0, 2.0)", "tf.multiply(2, 3)", "ops.cast(3, 'int32')", "ops.maximum(1.0, 2.0)",
    "ops.max([1, 2])", "keras.backend.exp(1.0)",
]  # fmt: skip


@pytest.mark.parametrize("expression", NUMBERS)
def test_what_functions_make_of_numbers_is_a_tensor(expression: str) -> None:
    ran = Ran(f"{HEAD}kind = {expression}.dtype\nr = {expression}\n")
    assert ran.failures == []
    assert shapes(ran["r"]) == [[]]


SIZES = {
    "int(tf.math.ceil(7 / 2))": 4,
    "keras.layers.Dense(int(tf.cast(tf.sqrt(16.0), tf.int32)))(x).shape[-1]": 4,
    "tf.reshape(x, (-1, tf.maximum(2, 4), 24)).shape[-1]": 24,
    "tf.zeros((tf.maximum(1, 2), 3)).shape[0]": 2,
    "len(range(tf.reduce_prod([2, 3])))": 6,
    "3 if tf.maximum(1, 2) > 1 else 4": 3,
}


@pytest.mark.parametrize(("expression", "expected"), SIZES.items(), ids=SIZES)
def test_a_size_may_be_such_a_tensor(expression: str, expected: int) -> None:
    ran = Ran(f"{HEAD}r = {expression}\n")
    assert ran.failures == []
    assert ran["r"] == expected


def test_the_dict_of_a_class_of_layers_is_its_own() -> None:
    ran = Ran("""
import keras
class Task(keras.Model):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.told = "note" in cls.__dict__
class Named(Task):
    note = 1
class Plain(Named):
    pass
r = [Named.told, Plain.told]
""")
    assert ran.failures == []
    assert ran["r"] == [True, False]
