"""Idioms of tf.keras code as people write it: layers and models of their own, sizes read back, sub-models."""

from __future__ import annotations

import pytest

from tests.frameworks.keras.code import Ran, shapes

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers, backend as K\n"

CODE = {
    "cells of one's own above each other, one with states of its own making": (
        """
class Memory(layers.Layer):
    def __init__(self, units, places):
        super().__init__()
        self.units, self.places, self.state_size, self.output_size = units, places, [units, places], units
        self.reads, self.writes = layers.Dense(units), layers.Dense(places)

    def get_initial_state(self, batch_size=None):
        return [tf.zeros((batch_size, self.units)), tf.zeros((batch_size, self.places))]

    def call(self, inputs, states):
        hidden, memory = states
        output = tf.tanh(self.reads(tf.concat([inputs, hidden, memory], -1)))
        return output, [output, tf.tanh(self.writes(output))]

y = [
    layers.RNN([Memory(7, 3), layers.GRUCell(4), Memory(5, 2)])(keras.Input((6, 9))),
    layers.RNN(Memory(7, 3), return_sequences=True, return_state=True)(keras.Input((6, 9))),
    layers.RNN(Memory(7, 3), return_sequences=True)(keras.Input((None, 9))),
]
""",
        [[None, 5], [None, 6, 7], [None, 7], [None, 3], [None, "?", 7]],
    ),
    "a cell of two sequences with states that are matrices": (
        """
class Nested(layers.Layer):
    def __init__(self):
        super().__init__()
        self.state_size = [tf.TensorShape([8]), tf.TensorShape([4, 3])]
        self.output_size = self.state_size

    def build(self, shapes):
        (_, first), (_, rows, columns) = shapes
        self.a = self.add_weight(shape=(first, 8))
        self.b = self.add_weight(shape=(rows, columns, 4, 3))

    def call(self, inputs, states):
        one, two = tf.nest.flatten(inputs)
        before, matrix = states
        first, second = tf.matmul(one, self.a) + before, tf.einsum("bij,ijkl->bkl", two, self.b) + matrix
        return (first, second), (first, second)

y = layers.RNN(Nested())((keras.Input((10, 32)), keras.Input((10, 64, 32))))
""",
        [[None, 8], [None, 4, 3]],
    ),
    "categories that are crossed, and values in stated ranges": (
        """
one, two = keras.Input((1,), dtype="int32"), keras.Input((1,), dtype="int32")
y = [
    layers.HashedCrossing(10, output_mode="one_hot")((one, two)),
    layers.Discretization(bin_boundaries=[1, 2, 3], output_mode="one_hot")(keras.Input((1,))),
]
""",
        [[None, 10], [None, 4]],
    ),
    "a model called on two arguments": (
        """
class Encoder(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.embedding = layers.Embedding(100, 8)
        self.gru = layers.GRU(units, return_sequences=True, return_state=True)

    def call(self, x, hidden):
        output, state = self.gru(self.embedding(x), initial_state=hidden)
        return output, state

y = Encoder(6)(keras.Input((5,), dtype="int32"), tf.zeros((4, 6)))
""",
        [[None, 5, 6], [None, 6]],
    ),
    "attention heads split and joined with the batch read back": (
        """
class Heads(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.depth, self.width = heads, width // heads, width
        self.q, self.k, self.out = layers.Dense(width), layers.Dense(width), layers.Dense(width)

    def split(self, x, batch):
        return tf.transpose(tf.reshape(x, (batch, -1, self.heads, self.depth)), perm=[0, 2, 1, 3])

    def call(self, x):
        batch = tf.shape(x)[0]
        q, k = self.split(self.q(x), batch), self.split(self.k(x), batch)
        scores = tf.matmul(q, k, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
        joined = tf.transpose(tf.matmul(tf.nn.softmax(scores), k), perm=[0, 2, 1, 3])
        return self.out(tf.reshape(joined, (batch, -1, self.width))), scores

y = Heads(12, 3)(keras.Input((7, 12)))
""",
        [[None, 7, 12], [None, 3, 7, 7]],
    ),
    "patches": (
        """
class Patches(layers.Layer):
    def call(self, images):
        patches = tf.image.extract_patches(
            images=images, sizes=[1, 4, 4, 1], strides=[1, 4, 4, 1], rates=[1, 1, 1, 1], padding="VALID"
        )
        return tf.reshape(patches, [tf.shape(images)[0], -1, patches.shape[-1]])

y = Patches()(keras.Input((16, 12, 3)))
""",
        [[None, 12, 48]],
    ),
    "windows": (
        """
x = keras.Input((8, 8, 6))
_, height, width, channels = x.shape
y = tf.reshape(x, (-1, height // 4, 4, width // 4, 4, channels))
y = tf.transpose(y, (0, 1, 3, 2, 4, 5))
y = tf.reshape(y, (-1, height // 4 * (width // 4), 16, channels))
""",
        [[None, 4, 16, 6]],
    ),
    "a table of codes looked up by their distance": (
        """
class Quantizer(layers.Layer):
    def __init__(self, count, width):
        super().__init__()
        self.width, self.count = width, count
        self.table = tf.Variable(tf.random_uniform_initializer()(shape=(width, count)), trainable=True)

    def call(self, x):
        flat = tf.reshape(x, [-1, self.width])
        distances = tf.reduce_sum(flat ** 2, axis=1, keepdims=True) - 2 * tf.matmul(flat, self.table)
        codes = tf.one_hot(tf.argmin(distances, axis=1), self.count)
        found = tf.reshape(tf.matmul(codes, self.table, transpose_b=True), tf.shape(x))
        return x + tf.stop_gradient(found - x)

y = Quantizer(32, 6)(keras.Input((5, 5, 6)))
""",
        [[None, 5, 5, 6]],
    ),
    "noise drawn for the batch": (
        """
mean, spread = keras.Input((3,)), keras.Input((3,))
y = layers.Lambda(lambda t: t[0] + K.exp(t[1] / 2) * K.random_normal(shape=(K.shape(t[0])[0], K.int_shape(t[0])[1])))(
    [mean, spread]
)
""",
        [[None, 3]],
    ),
    "channels shuffled": (
        """
x = keras.Input((6, 6, 8))
height, width, channels = x.shape.as_list()[1:]
y = layers.Reshape((height, width, 2, channels // 2))(x)
y = layers.Permute((1, 2, 4, 3))(y)
y = layers.Reshape((height, width, channels))(y)
""",
        [[None, 6, 6, 8]],
    ),
    "a map resized to another one's sides": (
        """
small, large = keras.Input((7, 9, 4)), keras.Input((14, 18, 2))
size = K.int_shape(large)[1:3]
y = [layers.Lambda(lambda t: tf.image.resize(t, size))(small), tf.image.resize(small, tf.shape(large)[1:3])]
""",
        [[None, 14, 18, 4], [None, 14, 18, 4]],
    ),
    "the inside of a trained model as features": (
        """
i = keras.Input((16, 16, 3))
a = layers.Conv2D(4, 3, activation="relu", name="a")(i)
b = layers.Conv2D(6, 3, strides=2, name="b")(a)
base = keras.Model(i, layers.GlobalAveragePooling2D()(b))
inside = keras.Model(inputs=base.input, outputs=[base.get_layer(name).output for name in ("a", "b")])
inside.trainable = False
y = inside(keras.Input((16, 16, 3)))
""",
        [[None, 14, 14, 4], [None, 6, 6, 6]],
    ),
    "a model made inside a class by calling its own call": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.c = layers.Conv2D(3, 3)

    def call(self, x):
        return self.c(x)

    def functional(self):
        x = keras.Input((8, 8, 1))
        return keras.Model(inputs=[x], outputs=self.call(x))

y = Net().functional().output
""",
        [[None, 6, 6, 3]],
    ),
    "a residual wrapper around other layers": (
        """
class Residual(layers.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, x):
        return layers.add([x, self.inner(x)])

y = Residual(keras.Sequential([layers.Dense(9), layers.Dense(4)]))(keras.Input((4,)))
""",
        [[None, 4]],
    ),
    "a convolution whose kernel is standardised": (
        """
class WSConv2D(layers.Conv2D):
    def call(self, inputs):
        mean = tf.reduce_mean(self.kernel, axis=[0, 1, 2], keepdims=True)
        kernel = (self.kernel - mean) / (tf.math.reduce_std(self.kernel) + 1e-5)
        y = tf.nn.conv2d(inputs, kernel, self.strides, self.padding.upper())
        return tf.nn.bias_add(y, self.bias)

y = WSConv2D(5, 3, strides=2, padding="same")(keras.Input((9, 9, 2)))
""",
        [[None, 5, 5, 5]],
    ),
    "an activation that is a layer, and one that is a function of one's own": (
        """
x = keras.Input((4,))
y = [layers.Dense(3, activation=layers.LeakyReLU(0.2))(x), layers.Dense(3, activation=lambda t: t * tf.sigmoid(t))(x)]
""",
        [[None, 3], [None, 3]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CODE.values(), ids=CODE)
def test_an_idiom(code: str, expected: list[list[int | None]]) -> None:
    ran = Ran(HEAD + code)
    assert ran.failures == []
    assert ran.problems == []
    assert shapes(ran["y"]) == expected
