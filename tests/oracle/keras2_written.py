"""Written cases of Keras 2 code (tf_keras) for `measure_keras.py`, in the form of `keras_cases.py`."""

from __future__ import annotations

HEAD_2 = "import tf_keras as keras\nfrom tf_keras import layers, backend as K\nimport tensorflow as tf\n"

KERAS_2 = [
    HEAD_2 + text
    for text in (
        """
x = keras.Input((9, 8, 3))
m = layers.LocallyConnected2D(4, (3, 2), strides=2)
y = m(x)
""",
        """
m = layers.LocallyConnected1D(4, 3)
y = m(keras.Input((9, 3)))
""",
        """
x = keras.Input((8, 8, 4))
y = [tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), tf.image.resize_with_crop_or_pad(x, 5, 6),
     tf.nn.crelu(x), tf.linalg.band_part(x, 1, 1), tf.math.scalar_mul(2.0, x), tf.image.grayscale_to_rgb(x[..., :1])]
""",
        """
x = keras.Input((None, None, 3))
h = layers.Conv2D(4, 3, padding="same")(x)
shape = tf.shape(h)
up = tf.image.resize(h, (shape[1] * 2, shape[2] * 2))
y = [up, tf.concat([up, up], -1), layers.GlobalAveragePooling2D()(h), tf.reshape(h, (shape[0], -1, 4)), h[:, 1:, :, :2]]
r = K.int_shape(h), up.shape[-1]
""",
        """
class Stop(layers.Wrapper):
    def build(self, input_shape=None):
        super().build(input_shape)

    def call(self, inputs):
        return self.layer(inputs)

m = Stop(layers.Dense(4))
y = m(keras.Input((3,)))
r = m.count_params()
""",
        """
x = keras.Input((6, 4))
y = [K.mean(x, axis=-1), K.sum(x, axis=[1, 2], keepdims=True), K.max(x, axis=1), K.concatenate([x, x], axis=1),
     K.reshape(x, (-1, 8, 3)), K.permute_dimensions(x, (0, 2, 1)), K.expand_dims(x, 1), K.squeeze(x[:, :1], 1),
     K.batch_dot(x, K.permute_dimensions(x, (0, 2, 1))), K.dot(x, K.ones((4, 7))), K.l2_normalize(x, -1), K.relu(x),
     K.softmax(x), K.sigmoid(x), K.repeat_elements(x, 2, 1), K.tile(x, (1, 2, 1)), K.stack([x, x], 1),
     K.abs(x), K.clip(x, 0, 1), K.square(x), K.cast(x, "int32"), K.argmax(x), K.reverse(x, 1), K.batch_dot(x, x, axes=[1, 1]),
     K.batch_dot(x, x, axes=2), K.temporal_padding(x, (1, 2))]
""",
        """
x = keras.Input((6, 4, 3))
y = [K.resize_images(x, 2, 3, "channels_last"), K.spatial_2d_padding(x, ((1, 1), (2, 2))), K.pool2d(x, (2, 2), (2, 2)),
     K.conv2d(x, K.ones((3, 3, 3, 5)), padding="same"), K.depthwise_conv2d(x, K.ones((3, 3, 3, 2))),
     K.bias_add(x, K.ones((3,))), K.mean(x, axis=[1, 2]), K.max(K.max(x, 1), 1)]
r = K.int_shape(x), K.ndim(x), K.image_data_format(), K.is_keras_tensor(x), x.shape.as_list(), x.get_shape().as_list(), x.shape.rank
""",
        """
x = keras.Input((6, 4))
y = [tf.reduce_mean(x, axis=-1), tf.reduce_sum(x, [1, 2], keepdims=True), tf.concat([x, x], axis=1), tf.reshape(x, [-1, 24]),
     tf.reshape(x, (tf.shape(x)[0], 8, 3)), tf.transpose(x, [0, 2, 1]), tf.expand_dims(x, 1), tf.squeeze(x[:, :1], axis=1),
     tf.matmul(x, x, transpose_b=True), tf.nn.relu(x), tf.nn.softmax(x), tf.split(x, 2, axis=1), tf.split(x, [1, 5], axis=1),
     tf.stack([x, x], axis=1), tf.unstack(x, axis=1), tf.tile(x, [1, 2, 1]), tf.pad(x, [[0, 0], [1, 2], [0, 0]]), tf.cast(x, tf.int32),
     tf.math.reduce_max(x, axis=1), tf.nn.l2_normalize(x, -1), tf.where(x > 0, x, tf.zeros_like(x)), tf.gather(x, [0, 2], axis=1),
     tf.one_hot(tf.argmax(x, -1), 5), tf.einsum("bij,bkj->bik", x, x), tf.repeat(x, 3, axis=1), tf.reverse(x, [1]), tf.identity(x),
     tf.maximum(x, 0.0), tf.add_n([x, x]), tf.sqrt(x), tf.pow(x, 2), tf.nn.dropout(x, 0.5), tf.clip_by_value(x, 0.0, 1.0),
     tf.slice(x, [0, 1, 0], [-1, 2, 4]), tf.math.top_k(x, 2)[0], tf.tensordot(x, tf.ones((4, 7)), axes=[[2], [0]]),
     tf.nn.moments(x, axes=[1]), tf.broadcast_to(x[:, :1], tf.shape(x)), tf.norm(x, axis=-1), tf.roll(x, 1, axis=1)]
""",
        """
x = keras.Input((8, 8, 4))
y = [tf.image.resize(x, (4, 6)), tf.image.resize(x, [16, 16], method="nearest"), tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(x, 2),
     tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME"),
     tf.nn.conv2d(x, tf.ones((3, 3, 4, 5)), strides=[1, 2, 2, 1], padding="SAME"), tf.nn.depthwise_conv2d(x, tf.ones((3, 3, 4, 2)), [1, 1, 1, 1], "VALID"),
     tf.nn.bias_add(x, tf.ones((4,))), tf.image.flip_left_right(x), tf.nn.relu6(x), tf.nn.swish(x),
     tf.image.crop_to_bounding_box(x, 1, 2, 4, 5)]
""",
        """
x = keras.Input((8, 8, 4))
b, h, w, c = x.shape
r = h, w, c, x.shape[1] * 2, x.shape.as_list()[1:], int(x.shape[-1]), list(x.shape[1:]), x.shape.ndims
y = layers.Lambda(lambda t: tf.reshape(t, (-1, h * w, c)))(x)
""",
        """
class Old(layers.Layer):
    def __init__(self, units, **kwargs):
        self.units = units
        super(Old, self).__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(int(input_shape[-1]), self.units), initializer="uniform", trainable=True)
        self.beta = self.add_weight("beta", shape=[self.units])
        super(Old, self).build(input_shape)

    def call(self, x, mask=None):
        return K.dot(x, self.kernel) + self.beta

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)

m = Old(5)
y = m(keras.Input((3,)))
r = m.compute_output_shape((None, 3)), m.name
""",
        """
class V(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(4, activation=tf.nn.relu)
        self.v = tf.Variable(tf.zeros((4, 2)), name="v")

    def call(self, x, training=False):
        return tf.matmul(self.a(x), self.v)

m = V()
m.build((None, 6))
r = sorted(tuple(w.shape) for w in m.weights), m.count_params()
""",
        """
i = layers.Input(shape=(16, 16, 3))
h = layers.Conv2D(8, (3, 3), padding="same", activation=tf.nn.leaky_relu)(i)
h = h + tf.reduce_mean(h, axis=[1, 2], keepdims=True)
h = tf.concat([h, i], -1)
m = keras.Model(inputs=i, outputs=layers.Conv2DTranspose(2, 2, strides=2)(h))
y = m(keras.Input((16, 16, 3)))
r = m.output_shape, m.count_params()
""",
        """
d = keras.Sequential([layers.InputLayer((5,)), layers.Dense(3), layers.Dense(2)])
m = keras.Model(d.inputs, d.layers[-2].output)
y = m.output
r = d.layers[-1].output_shape, d.layers[0].input_shape, m.layers[-1].count_params()
""",
        """
m = keras.Sequential([layers.Dense(4, input_dim=8), layers.BatchNormalization(), layers.LeakyReLU(alpha=0.2), layers.AveragePooling1D()
    if False else layers.Dense(1)])
r = m.output_shape, m.count_params()
""",
        """
x = keras.Input((10, 10, 3))
s = tf.shape(x)
y = [tf.reshape(x, [s[0], s[1] * s[2], 3]), tf.reshape(x, tf.stack([s[0], 300])), tf.reshape(x, tf.concat([s[:1], [300]], 0)),
     tf.zeros((s[0], 4)), tf.fill([s[0], 2], 1.0), tf.image.resize(x, s[1:3] * 2), tf.ones_like(x), tf.range(10)]
""",
        """
a, b = keras.Input((4, 4, 2)), keras.Input((4, 4, 2))
y = [layers.multiply([a, b]), layers.average([a, b]), layers.maximum([a, b]), layers.dot([a, b], axes=(3, 3)), layers.subtract([a, b])]
r = K.get_uid("x"), keras.utils.get_source_inputs(y[0])[0] is a if hasattr(keras.utils, "get_source_inputs") else True
""",
        # values picked and put by their places
        """
x, i = keras.Input((7, 4)), keras.Input((2, 1), dtype="int32")
h = layers.Dense(5)(x)
y = [tf.gather_nd(h, [[0], [2]]), tf.gather_nd(h, i, batch_dims=1), tf.gather(h, i[..., 0], axis=1, batch_dims=1),
     tf.tensor_scatter_nd_update(h, [[0]], tf.zeros((1, 7, 5))), tf.one_hot(tf.argmax(h, -1), 6), tf.zeros_like(h),
     tf.linalg.diag_part(tf.matmul(h, h, transpose_b=True)), tf.linalg.diag(h), tf.linalg.trace(tf.matmul(h, h, transpose_b=True))]
""",
        """
x = keras.Input((8, 8, 3))
h = layers.Conv2D(4, 3, padding="same")(x)
p, places = tf.nn.max_pool_with_argmax(h, 2, 2, "SAME")
s = tf.shape(p)
u = tf.scatter_nd(tf.cast(tf.reshape(places, [-1, 1]), tf.int64), tf.reshape(p, [-1]), tf.cast([s[0] * 8 * 8 * 4], tf.int64))
y = [p, places, tf.reshape(u, [-1, 8, 8, 4]), tf.image.central_crop(h, 0.5), tf.image.central_crop(h, 0.4),
     tf.image.crop_and_resize(h, tf.zeros((3, 4)), [0, 0, 0], (5, 6))]
""",
        # what a function makes of a symbolic tensor's shape alone is a part of the model
        """
i = keras.Input((7,), dtype="int32")
h = layers.Embedding(20, 6)(i)
m = keras.Model(i, layers.Dense(3)(tf.one_hot(tf.argmax(h, -1), 6)))
""",
        """
i = keras.Input((6, 4))
h = layers.Dense(5)(i)
m = keras.Model(i, layers.Dense(3)(tf.zeros_like(layers.Dense(7)(h))))
""",
        # functions over a tensor's items
        """
x = keras.Input((7, 4))
f = lambda x: [
    tf.map_fn(lambda r: tf.reduce_sum(r, axis=0), x), tf.map_fn(lambda r: r[:3] * 2.0, x),
    tf.scan(lambda a, b: a + b, tf.transpose(x, [1, 0, 2])), tf.foldl(lambda a, b: a + b, tf.transpose(x, [1, 0, 2]))]
y = layers.Lambda(f)(x)
""",
        # spectra
        """
x = keras.Input((1000,))
f = lambda x: [
    tf.signal.frame(x, 100, 30), tf.signal.frame(x, 100, 30, pad_end=True), tf.abs(tf.signal.stft(x, 100, 40)),
    tf.signal.stft(x, 100, 40, fft_length=256, pad_end=True), tf.signal.rfft(x), tf.signal.rfft(x, [512]),
    tf.signal.irfft(tf.signal.rfft(x)), tf.signal.dct(x), tf.signal.inverse_stft(tf.signal.stft(x, 100, 40), 100, 40)]
y = [*layers.Lambda(f)(x), tf.signal.linear_to_mel_weight_matrix(40, 65), tf.signal.hann_window(12)]
""",
        # variables by themselves
        """
class V(layers.Layer):
    def build(self, shape):
        self.w = tf.Variable(tf.zeros([shape[-1], 4]), trainable=True)
        self.n = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.f = tf.Variable([1.0, 2.0], trainable=False)
        self.e = layers.Dense(self.w.shape[1] + self.w.shape.rank + self.w.get_shape().as_list()[0])

    def call(self, x):
        return self.e(tf.matmul(x, self.w))

m = V()
y = m(keras.Input((5,)))
""",
        # all samples are compared with each other
        """
class D(layers.Layer):
    def build(self, s):
        self.W = self.add_weight(shape=(5, s[1], 3), name="k")

    def call(self, x):
        a = K.reshape(K.dot(x, K.reshape(K.permute_dimensions(self.W, (1, 0, 2)), (-1, 15))), (-1, 5, 3))
        d = K.expand_dims(a, 3) - K.expand_dims(K.permute_dimensions(a, [1, 2, 0]), 0)
        return K.concatenate([x, K.sum(K.exp(-K.sum(K.abs(d), axis=2)), axis=2)], 1)

m = D()
y = m(keras.Input((12,)))
""",
    )
]
