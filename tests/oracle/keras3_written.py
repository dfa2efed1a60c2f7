"""Written cases of Keras code for `measure_keras.py`, in the form of `keras_cases.py`: Keras 3's."""

from __future__ import annotations

HEAD_3 = "import keras\nfrom keras import layers, ops\n"

KERAS_3 = [
    HEAD_3 + text
    for text in (
        # functional models
        """
i = keras.Input((32, 32, 3))
h = layers.Conv2D(8, 3, padding="same")(i)
h = layers.BatchNormalization()(h)
a = layers.Activation("relu", name="act")(h)
b = layers.Conv2D(8, 1)(a)
h = layers.add([a, b])
h = layers.MaxPooling2D()(h)
o = layers.Dense(10)(layers.Flatten()(h))
m = keras.Model(i, o)
y = m.output
r = [layer.name for layer in m.layers], m.input_shape, m.output_shape, m.get_layer("act").output.shape, len(m.weights), m.count_params()
""",
        """
i = keras.Input((20,))
h = layers.Embedding(50, 8)(i) + layers.Embedding(20, 8)(ops.arange(20))
m = keras.Model(i, layers.Dense(3)(abs(h)))
y = m.output
r = [type(layer).__name__ for layer in m.layers], m.count_params()
""",
        """
p, q = keras.Input((8,), name="p"), keras.Input((4,), name="q")
shared = layers.Dense(4)
t = layers.Dense(4)(q)
both = [shared(p), layers.Dense(4)(p), t]
o1, o2 = layers.Concatenate()(both), layers.Average()(both)
m = keras.Model([p, q], [o1, o2], name="two")
y = m([keras.Input((8,)), keras.Input((4,))])
r = m.name, [layer.name for layer in m.layers], m.input_shape, m.output_shape, len(m.inputs), len(m.outputs)
""",
        """
base = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(4, 3, name="c1"), layers.MaxPooling2D(name="p1")], name="base")
left, right = keras.Input((16, 16, 3)), keras.Input((16, 16, 3))
d = layers.Subtract()([base(left), base(right)])
m = keras.Model([left, right], layers.Dense(1)(layers.Flatten()(d)))
y = m.outputs
r = [layer.name for layer in m.layers], base.get_layer("p1").output.shape, base.layers[0].name, len(base.layers), m.count_params()
""",
        """
i = keras.Input((10,))
h = layers.Dense(5)(i)
e = keras.Model(i, h)
m = keras.Model(e.input, layers.Dense(3)(e.layers[-1].output))
y = m(keras.Input((10,)))
r = [layer.name for layer in m.layers], e.layers[-1].output.shape, m.layers[1] is e.layers[1]
""",
        """
i = keras.Input((6, 6, 2))
d = keras.Model({"image": i}, {"out": layers.Conv2D(3, 2)(i), "mean": layers.GlobalAveragePooling2D()(i)})
m = d
y = d({"image": keras.Input((6, 6, 2))})
r = sorted(d.output_shape.items()) if isinstance(d.output_shape, dict) else d.output_shape
""",
        """
i = keras.Input((4,))
h = i * 2 + 1
h = h - layers.Dense(4)(h)
h = -h / 3
y = [h, h[:, :2], h[:, None], h @ ops.ones((4, 5)), h ** 2, 1 - h, h > 0]
""",
        # sequential models
        """
m = keras.Sequential()
m.add(keras.Input((28, 28, 1)))
for filters in (8, 16):
    m.add(layers.Conv2D(filters, 3, activation="relu"))
    m.add(layers.MaxPooling2D((2, 2)))
m.add(layers.Flatten())
m.add(layers.Dense(10, activation="softmax"))
y = m.outputs
r = m.input_shape, m.output_shape, [layer.output.shape for layer in m.layers], [layer.name for layer in m.layers], m.count_params(), m.built
""",
        """
m = keras.Sequential([layers.Dense(4), layers.Dense(2)])
before = m.built
m.build((None, 7))
r = before, m.built, [tuple(w.shape) for w in m.weights], m.layers[0].name
""",
        """
m = keras.Sequential([layers.Input((7,)), layers.Dense(4), layers.Dropout(0.5), layers.Dense(2)])
last = m.pop()
m.add(layers.Dense(3))
r = m.output_shape, [layer.name for layer in m.layers], len(m.weights), last.units
""",
        """
m = keras.Sequential([layers.Dense(3, input_shape=(5,)), layers.Dense(2)])
r = m.input_shape, m.output_shape, len(m.layers)
""",
        """
inner = keras.Sequential([keras.Input((4,)), layers.Dense(8)])
m = keras.Sequential([inner, layers.Dense(2)])
r = m.input_shape, m.output_shape, [layer.name for layer in m.layers], m.count_params()
""",
        # classes of the user's own
        """
class Block(layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv2D(filters, 3, padding="same")
        self.norms = [layers.BatchNormalization() for _ in range(2)]
        self.table = {"d": layers.Dense(filters)}

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), name="scale")
        self.bias = self.add_weight(shape=(input_shape[-1],), name="offset", trainable=False)
        self.built = True

    def call(self, x, training=None):
        x = x * self.scale + self.bias
        x = self.norms[0](self.conv(x), training=training)
        return self.table["d"](self.norms[1](x))

i = keras.Input((8, 8, 3))
m = Block(4)
y = m(i)
r = m.name, m.count_params(), len(m.trainable_weights), len(m.non_trainable_weights)
""",
        """
class Net(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.body = keras.Sequential([layers.Conv2D(4, 3), layers.ReLU()])
        self.head = layers.Dense(classes)

    def call(self, x):
        x = self.body(x)
        x = ops.mean(x, axis=(1, 2))
        return self.head(x)

m = Net(7)
y = m(keras.Input((12, 12, 3)))
r = m.count_params(), [layer.name for layer in m.layers], m.name
""",
        """
class Patches(layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def call(self, images):
        shape = ops.shape(images)
        rows, columns = images.shape[1] // self.size, images.shape[2] // self.size
        patches = ops.reshape(images, (shape[0], rows, self.size, columns, self.size, images.shape[3]))
        patches = ops.transpose(patches, (0, 1, 3, 2, 4, 5))
        return ops.reshape(patches, (shape[0], rows * columns, self.size * self.size * images.shape[3]))

y = Patches(4)(keras.Input((16, 12, 3)))
""",
        """
class Scale(layers.Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[0][-1], input_shape[1][-1]), initializer="ones")

    def call(self, inputs):
        a, b = inputs
        return ops.matmul(a, self.gamma) * b

m = Scale()
y = m([keras.Input((5, 4)), keras.Input((5, 6))])
r = tuple(m.gamma.shape), m.get_weights()[0].shape
""",
        """
class Two(layers.Layer):
    def __init__(self):
        super().__init__()
        self.d = layers.Dense(4)

    def build(self, query_shape, value_shape):
        self.d.build(value_shape)
        self.w = self.add_weight(shape=(query_shape[-1], 3))
        self.built = True

    def call(self, query, value=None):
        return ops.matmul(query, self.w), self.d(value)

m = Two()
y = m(keras.Input((5,)), value=keras.Input((6,)))
""",
        """
def block(filters):
    def apply(x):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        return layers.LeakyReLU(negative_slope=0.2)(layers.BatchNormalization()(x))
    return apply

i = keras.Input((None, None, 3))
h = block(8)(i)
h = layers.UpSampling2D()(layers.MaxPooling2D()(h))
h = layers.concatenate([h, i])
y = layers.Conv2D(2, 1)(h)
m = keras.Model(i, y)
r = y.shape, m.input_shape, h.shape
""",
        """
i = keras.Input((8, 8, 4))
h = layers.Lambda(lambda x: x[:, ::2, ::2, :2] * 0.5)(i)
g = layers.Lambda(lambda t: ops.concatenate([t[0], t[1]], axis=-1))([h, h])
y = [h, g, layers.Lambda(lambda x, k: x * k, arguments={"k": 3})(h)]
""",
        # layers read back and changed
        """
d = layers.Dense(4)
c = layers.Conv2D(3, (3, 5), strides=2, padding="SAME")
r = d.built, d.units, c.kernel_size, c.strides, c.padding, c.filters, c.dilation_rate, c.data_format, c.groups, c.use_bias
""",
        """
m = layers.Conv2D(3, (3, 5))
y = m(keras.Input((9, 9, 2)))
r = tuple(m.kernel.shape), tuple(m.bias.shape), [w.name for w in m.weights], m.get_weights()[0].shape, m.input.shape, m.output.shape
""",
        """
i = keras.Input((8,))
m = keras.Model(i, layers.Dense(2)(layers.BatchNormalization()(layers.Dense(4)(i))))
m.layers[1].trainable = False
r = [len(m.trainable_weights), len(m.non_trainable_weights), m.layers[1].trainable, m.trainable]
""",
        """
i = keras.Input((8,))
m = keras.Model(i, layers.Dense(2)(layers.Dense(4)(i)))
m.trainable = False
m.layers[-1].trainable = True
r = [layer.trainable for layer in m.layers], len(m.trainable_weights)
""",
        """
i = keras.Input((8,))
n = keras.Model(i, layers.Dense(2, name="a")(layers.Dense(4, name="b")(i)))
m = keras.models.clone_model(n)
r = [layer.name for layer in m.layers[1:]], m.count_params(), m.layers[1] is n.layers[1], m.output_shape
""",
        """
d = layers.Dense(4, activation="relu", name="same")
m = layers.Dense.from_config(d.get_config())
y = m(keras.Input((3,)))
r = m.name, m.units
""",
        """
from keras import backend as K
x = keras.Input((4, 6, 3))
r = (K.image_data_format(), K.backend() in ("tensorflow", "torch", "jax"), K.is_keras_tensor(x),
     K.epsilon(), K.floatx(), x.shape, x.shape[-1], len(x.shape), x.ndim, x.dtype, x.shape[1:3], tuple(x.shape)[1:])
""",
        """
x = keras.Input((4, 6), batch_size=3)
r = x.shape, x.shape[0] * 2
z = layers.Dense(2)(x)
""",
        """
p = keras.Input(batch_shape=(None, 5, 2), name="here")
q = keras.layers.InputLayer(shape=(4,)).output
y = [layers.Flatten()(p), q]
r = p.name, layers.Embedding(10, 3)(keras.Input((7,), dtype="int32")).shape
""",
        """
x = keras.Input((6, 4))
y = [ops.reshape(x, (-1, 24)), ops.transpose(x, (0, 2, 1)), ops.expand_dims(x, 1), ops.squeeze(x[:, :1], 1),
     ops.concatenate([x, x], 1), ops.stack([x, x], 1), ops.split(x, 2, axis=1), ops.split(x, [1, 3], axis=1),
     ops.mean(x, -1), ops.max(x, (1, 2), keepdims=True), ops.sum(x), ops.matmul(x, ops.transpose(x, (0, 2, 1))),
     ops.einsum("bij,bkj->bik", x, x), ops.tile(x, (1, 2, 1)), ops.repeat(x, 3, axis=1), ops.softmax(x), ops.relu(x),
     ops.pad(x, ((0, 0), (1, 2), (0, 3))), ops.where(x > 0, x, 0.0), ops.clip(x, 0, 1), ops.cast(x, "int32"),
     ops.one_hot(ops.argmax(x, -1), 4), ops.take(x, [0, 2], axis=1), ops.flip(x, 1), ops.moveaxis(x, 1, 2),
     ops.swapaxes(x, 1, 2), ops.cumsum(x, 1), ops.argmax(x, 1), ops.top_k(x, 2)[0], ops.sqrt(ops.square(x)),
     ops.maximum(x, 0), ops.add(x, x[:, :1]), ops.ravel(x), ops.tensordot(x, ops.ones((4, 7)), 1)]
""",
        """
x = keras.Input((8, 8, 3))
y = [ops.conv(x, ops.ones((3, 3, 3, 5)), 2, "same"), ops.depthwise_conv(x, ops.ones((3, 3, 3, 2)), 1),
     ops.max_pool(x, 2), ops.average_pool(x, 3, 1, "same"), ops.image.resize(x, (4, 5)),
     ops.conv_transpose(x, ops.ones((2, 2, 6, 3)), 2, "same"), ops.nn.relu6(x), ops.numpy.abs(x)]
""",
        """
i = keras.Input((224, 224, 3))
h = layers.ZeroPadding2D(((3, 3), (3, 3)))(i)
h = layers.Conv2D(64, 7, strides=2, name="conv1")(h)
h = layers.MaxPooling2D(3, strides=2, padding="same")(h)
for stage, filters in enumerate((64, 128)):
    for unit in range(2):
        s = h if h.shape[-1] == filters else layers.Conv2D(filters, 1, name=f"s{stage}_{unit}")(h)
        h = layers.Conv2D(filters, 3, padding="same", name="c%d_%d" % (stage, unit))(h)
        h = layers.Add(name="a{}_{}".format(stage, unit))([h, s])
m = keras.Model(i, layers.GlobalAveragePooling2D()(h), name="net")
y = m.output
r = [layer.name for layer in m.layers]
""",
        """
m = keras.Sequential([keras.Input((20,), dtype="int32"), layers.Embedding(100, 8), layers.Bidirectional(layers.LSTM(6, return_sequences=True)),
    layers.Conv1D(4, 3, padding="causal"), layers.GlobalMaxPooling1D(), layers.Dense(1)])
r = [layer.output.shape for layer in m.layers], m.count_params(), m.layers[1].forward_layer.name, m.layers[1].name
""",
        """
x = keras.Input((8, 8, 3))
y = [ops.image.extract_patches(x, 4), ops.image.extract_patches(x, (2, 3), strides=2, padding="same"),
     ops.image.crop_images(x, top_cropping=1, left_cropping=2, target_height=4, target_width=5),
     ops.image.rgb_to_grayscale(x), ops.outer(ops.ones(3), ops.ones(4)), ops.triu(x), ops.hstack([x, x]),
     ops.vstack([ops.ones((2, 3)), ops.ones((1, 3))]), ops.round(x), ops.logsumexp(x, -1), ops.average(x, 1),
     ops.zeros((3, 4)), ops.ones_like(x), ops.arange(5), ops.eye(4), ops.linspace(0, 1, 6), ops.cumsum(x, 1)]
""",
        """
class Mixer(layers.Layer):
    def __init__(self, tokens, channels):
        super().__init__()
        self.one = keras.Sequential([layers.Dense(tokens, activation="gelu"), layers.Dense(6), layers.Dropout(0.1)])
        self.two = layers.Dense(channels)
        self.norm = layers.LayerNormalization(epsilon=1e-6)

    def call(self, x):
        h = ops.transpose(self.norm(x), axes=(0, 2, 1))
        h = ops.transpose(self.one(h), axes=(0, 2, 1))
        return x + self.two(h)

m = Mixer(5, 4)
y = m(keras.Input((6, 4)))
r = m.count_params()
""",
        """
inner = keras.Model(i := keras.Input((8, 8, 3)), layers.Conv2D(4, 3)(i), name="inner")
m = keras.Sequential([inner, layers.Flatten(), layers.Dense(2)])
inner.trainable = False
r = m.output_shape, len(m.trainable_weights), [layer.name for layer in m.layers], m.layers[0].layers[1].name
""",
        # what Keras refuses
        "y = layers.Dense(3)(keras.Input(()))\n",
        "d = layers.Dense(3)\nd(keras.Input((4,)))\ny = d(keras.Input((5,)))\n",
        "c = layers.Conv2D(3, 3)\nc(keras.Input((8, 8, 4)))\ny = c(keras.Input((8, 8, 5)))\n",
        "y = layers.Conv2D(3, 3)(keras.Input((8, 8)))\n",
        "y = layers.LSTM(3)(layers.LSTM(3)(keras.Input((8, 2))))\n",
        "y = layers.Add()([keras.Input((8, 2)), keras.Input((8, 3))])\n",
        "y = layers.Conv2D(3, 5)(keras.Input((4, 4, 1)))\n",
        "m = keras.Sequential([keras.Input((8,)), layers.Dense(3), layers.Reshape((2, 2))])\ny = m.outputs\n",
        "y = layers.Conv2D(3, 3, paddding='same')(keras.Input((8, 8, 1)))\n",
        "y = layers.Dense()(keras.Input((8,)))\n",
        # variables by themselves
        """
class V(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 4))
        self.n = keras.Variable(ops.zeros((3,)), trainable=False)
        self.g = keras.Variable(initializer="ones", shape=(2, 2))
        self.e = layers.Dense(self.w.shape[1] + self.w.ndim + len(self.n.shape))

    def call(self, x):
        return self.e(ops.matmul(x, self.w))

m = V()
y = m(keras.Input((5,)))
""",
        """
i = keras.Input((7,), dtype="int32")
h = layers.Embedding(20, 6)(i)
m = keras.Model(i, layers.Dense(3)(ops.one_hot(ops.argmax(h, axis=-1), 6)))
""",
        """
i = keras.Input((6, 4))
h = layers.Dense(5)(i)
m = keras.Model(i, layers.Dense(3)(ops.concatenate([ops.zeros_like(h), ops.ones_like(layers.Dense(7)(h))], axis=-1)))
""",
        """
made = [layers.StringLookup(vocabulary=list("abc"), mask_token=None), layers.TextVectorization(vocabulary=["x", "y"]),
    layers.StringLookup(vocabulary=["", "[UNK]", "q"], mask_token=""), layers.StringLookup(),
    layers.IntegerLookup(vocabulary=[1, 2, 3], num_oov_indices=2, mask_token=0),
    layers.StringLookup(vocabulary=["q", "r"], mask_token="", output_mode="one_hot"),
    layers.TextVectorization(output_mode="multi_hot", vocabulary=["x", "y"])]
made[3].set_vocabulary(["k", "l"])
r = [(len(each.get_vocabulary()), each.vocabulary_size(), len(each.get_vocabulary(include_special_tokens=False)),
    [str(token) for token in each.get_vocabulary()]) for each in made]
""",
    )
]
