"""Keras 1's layers and functions, by what they were documented to do, and idioms of code written for it."""

from __future__ import annotations

import pytest

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.keras import FRAMEWORK
from tests.frameworks.keras.code import Ran, shapes

HEAD = "from keras.layers import *\nfrom keras.models import *\nfrom keras import backend as K\n"

LAYERS = {
    "Convolution2D with rows and columns": ("Convolution2D(8, 3, 5)", (9, 9, 2), [7, 5, 8], 8 * 2 * 15 + 8),
    "border mode and subsample": (
        "Convolution2D(8, 3, 3, border_mode='same', subsample=(2, 2))", (9, 9, 2), [5, 5, 8], 8 * 2 * 9 + 8,
    ),
    "by name": ("Convolution2D(nb_filter=4, nb_row=2, nb_col=3)", (9, 9, 2), [8, 7, 4], 4 * 2 * 6 + 4),
    "without bias": ("Convolution2D(8, 1, 1, bias=False, init='he_normal')", (9, 9, 2), [9, 9, 8], 16),
    "channels first": ("Convolution2D(8, 3, 3, dim_ordering='th')", (2, 9, 9), [8, 7, 7], 8 * 2 * 9 + 8),
    "the old order under today's name": (
        "Conv2D(8, 3, 5, border_mode='same', subsample=(2, 2))", (9, 9, 2), [5, 5, 8], 8 * 2 * 15 + 8,
    ),
    "today's order under today's name": ("Conv2D(8, 3, 2)", (9, 9, 2), [4, 4, 8], 8 * 2 * 9 + 8),
    "three sides under today's name": ("Conv3D(4, 3, 2, 1)", (5, 5, 5, 2), [3, 4, 5, 4], 4 * 2 * 6 + 4),
    "three sides by name": (
        "Convolution3D(4, kernel_dim1=3, kernel_dim2=2, kernel_dim3=1)", (5, 5, 5, 2), [3, 4, 5, 4], 4 * 2 * 6 + 4,
    ),
    "Deconv2D": (
        "Deconv2D(4, 3, 3, (None, 18, 18, 4), subsample=(2, 2), border_mode='same')", (9, 9, 2), [18, 18, 4], 76,
    ),
    "an Embedding with dropout": ("Embedding(5, 3, dropout=0.2)", (4,), [4, 3], 15),
    "a pool of sides that are no whole numbers": ("AveragePooling2D((9 / 2, 9 / 2))", (9, 9, 2), [2, 2, 2], 0),
    "a local convolution in the old order": (
        "LocallyConnected2D(4, 3, 3, bias=False)", (5, 5, 2), [3, 3, 4], 9 * 18 * 4,
    ),
    "today's meaning under the old name": ("Convolution2D(8, 3, padding='same')", (9, 9, 2), [9, 9, 8], 152),
    "Convolution1D": ("Convolution1D(nb_filter=4, filter_length=3, border_mode='same')", (9, 2), [9, 4], 28),
    "AtrousConvolution2D": ("AtrousConvolution2D(4, 3, 3, atrous_rate=(2, 2))", (9, 9, 2), [5, 5, 4], 76),
    "Deconvolution2D": (
        "Deconvolution2D(4, 2, 2, output_shape=(None, 18, 18, 4), subsample=(2, 2))", (9, 9, 2), [18, 18, 4], 36,
    ),
    "MaxPooling2D": ("MaxPooling2D((3, 3), strides=(2, 2), border_mode='same')", (9, 9, 2), [5, 5, 2], 0),
    "MaxPooling1D": ("MaxPooling1D(pool_length=3, stride=1)", (9, 2), [7, 2], 0),
    "Dense": ("Dense(output_dim=7, init='uniform', W_regularizer=None)", (5,), [7], 42),
    "Dropout": ("Dropout(p=0.5)", (5,), [5], 0),
    "BatchNormalization": ("BatchNormalization(mode=2, axis=1, gamma_init='one')", (5,), [5], 20),
    "GaussianNoise": ("GaussianNoise(sigma=0.1)", (5,), [5], 0),
    "LSTM": ("LSTM(output_dim=3, inner_activation='hard_sigmoid', dropout_W=0.1)", (4, 2), [3], 72),
    "Highway": ("Highway(activation='relu')", (5,), [5], 60),
    "MaxoutDense": ("MaxoutDense(3, nb_feature=2)", (5,), [3], 36),
    "ZeroPadding2D with four sides": ("ZeroPadding2D((1, 2, 3, 4))", (9, 9, 2), [12, 16, 2], 0),
    "LeakyReLU": ("LeakyReLU(alpha=0.1)", (5,), [5], 0),
    "ParametricReLU": ("PReLU(init='zero')", (5,), [5], 5),
    "CuDNNLSTM": ("CuDNNLSTM(3, return_sequences=True)", (4, 2), [4, 3], 84),
    "CuDNNGRU": ("CuDNNGRU(3)", (4, 2), [3], 63),
}  # fmt: skip


@pytest.mark.parametrize(("layer", "shape", "output", "parameters"), LAYERS.values(), ids=LAYERS)
def test_an_old_layer(layer: str, shape: tuple[int, ...], output: list[int], parameters: int) -> None:
    ran = Ran(f"{HEAD}m = {layer}\ny = m(Input(shape={shape}))\n")
    assert ran.failures == []
    assert ran.problems == []
    assert shapes(ran["y"]) == [[None, *output]]
    counts = [dims.product(weight.shape) for weight in FRAMEWORK.weights(ran["m"])]  # type: ignore[arg-type]
    assert sum(count for count in counts if isinstance(count, int)) == parameters


CODE = {
    "merge by mode": ("a = Input((4, 4, 3))\ny = merge([a, a], mode='concat', concat_axis=3)", [4, 4, 6]),
    "merge by sum": ("a = Input((4,))\ny = merge([a, a], mode='sum')", [4]),
    "merge by a function": (
        "a = Input((4,))\ny = merge([a, a], mode=lambda t: t[0] - t[1], output_shape=lambda s: s[0])", [4],
    ),
    "a part of a shape": ("a = Input((4, 6))\nh, w = a.shape[1:].as_list()\ny = Dense(h * w)(a)", [4, 24]),
    "private names of shapes": ("a = Input((4, 6))\ny = Dense(a._shape_val[1] + a._shape_as_list()[2])(a)", [4, 10]),
    "numpy by a star import": ("y = Dense(int(np.sqrt(16)))(Input((3,)))", [4]),
    "a class of optimizers in small letters": (
        ("from keras import optimizers\ny = Dense(2)(Input((3,)))\no = optimizers.rmsprop(lr=0.1)\n"
        "assert type(o) is optimizers.RMSprop"), [2],
    ),
    "Model(input=, output=)": ("a = Input((4,))\nm = Model(input=a, output=Dense(2)(a))\ny = m.output", [2]),
    "channels first by K": (
        ("K.set_image_dim_ordering('th')\na = Input((3, 8, 8))\n"
        "axis = 1 if K.image_dim_ordering() == 'th' else -1\ny = Convolution2D(5, 3, 3)(a)\ns = y.shape[axis]"),
        [5, 6, 6],
    ),
    "input_dim on the first layer": ("m = Sequential()\nm.add(Dense(3, input_dim=7))\ny = m.output", [3]),
    "batch_input_shape": ("m = Sequential()\nm.add(LSTM(3, batch_input_shape=(8, 5, 2)))\ny = m.output", [3]),
    "input_length": ("m = Sequential()\nm.add(Embedding(9, 4, input_length=6))\ny = m.output", [6, 4]),
    "a size read with .value": ("a = Input((4, 6))\ny = Dense(a.shape[-1].value * 2)(a)", [4, 12]),
    "a size read with _keras_shape": ("a = Input((4, 6))\ny = Reshape((a._keras_shape[1] * 6,))(a)", [24]),
    "a layer with its weights listed by hand": (
        ("class L(Layer):\n    def build(self, s):\n        self.g = K.variable(K.ones((s[-1],)))\n"
        "        self.trainable_weights = [self.g]\n        super().build(s)\n    def call(self, x, mask=None):\n"
        "        return x * self.g\n    def get_output_shape_for(self, s):\n        return s\n"
        "y = L()(Input((4,)))"), [4],
    ),
    "a padding layer of one's own": (
        ("class Pad(Layer):\n    def __init__(self, p, **kw):\n        self.p = p\n        super().__init__(**kw)\n"
        "    def call(self, x):\n        return K.spatial_2d_padding(x, ((self.p, self.p), (0, 1)))\n"
        "y = Pad(2)(Input((4, 4, 1)))"), [8, 5, 1],
    ),
    "the input shape of an application, with its top": (
        ("from keras.applications.imagenet_utils import _obtain_input_shape\n"
        "s = _obtain_input_shape(None, default_size=224, min_size=48, data_format=K.image_data_format(), "
        "require_flatten=True)\ny = Input(shape=s)"),
        [224, 224, 3],
    ),
    "the input shape of an application, as stated": (
        ("from keras_applications.imagenet_utils import _obtain_input_shape\n"
        "y = Input(shape=_obtain_input_shape((64, 64, 1), 224, 48, 'channels_last', include_top=True))"),
        [64, 64, 1],
    ),
    "a Merge in front of a Sequential": (
        ("left, right = Sequential(), Sequential()\nleft.add(Dense(3, input_dim=5))\nright.add(Dense(4, input_dim=6))\n"
        "m = Sequential()\nm.add(Merge([left, right], mode='concat'))\nm.add(Dense(2))\n"
        "y = [m.output, m([Input((5,)), Input((6,))])][1]\nassert m.count_params() == 18 + 28 + 16"),
        [2],
    ),
    "a model cut short by its outputs": (
        ("a = Input((4,))\nm = Model(a, Dense(2)(Dense(3)(a)))\nm.outputs = [m.layers[-2].output]\n"
        "y = m(Input((4,)))"),
        [3],
    ),
    "slices in a Lambda": (
        ("a = Input((4, 4, 8))\nparts = [Lambda(lambda z, c=c: z[:, :, :, c * 4:(c + 1) * 4])(a) for c in range(2)]\n"
        "y = concatenate(parts)"), [4, 4, 8],
    ),
    "TensorFlow through the backend": ("y = Lambda(lambda x: K.tf.nn.relu(x))(Input((4,)))", [4]),
    "a number of filters that is a float": ("y = Conv2D(64 / 2, 3)(Input((8, 8, 3)))", [6, 6, 32]),
    "a number of units that is a float": ("y = Dense(64 / 2)(Input((8,)))", [32]),
    "no TPUs": (
        """import tensorflow as tf
n = len(tf.config.experimental.list_logical_devices('TPU'))
y = Dense(2 + n)(Input((8,)))""", [2],
    ),
    "where a tensor comes from": ("y = Dense(3)(Input((4,)))\ny = Dense(y._keras_history[0].units)(y)", [3]),
    "where a tensor comes from, by name": (
        """y = Dense(3)(Input((4,)))
layer, node, index = y._keras_history
y = Dense(y._keras_history.operation.units + y._keras_history.layer.units + index)(y)""", [6],
    ),
    "a list of tensors in a sum": (
        """import tensorflow as tf
i = Input((4,))
a = Dense(3)(i)
y = tf.reduce_sum([a, Dense(3)(a)], axis=0)
y = Dense(Model(i, y).count_params())(y)""", [15 + 12],
    ),
    "a policy that is set": ("d = Dense(3)\nd.dtype_policy = 'float32'\ny = d(Input((4,)))", [3]),
    "a Lambda with an output shape that cannot be followed": (
        "import unheard\ny = Lambda(lambda x: unheard.f(x), output_shape=(3, 2))(Input((4,)))", [3, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "output"), CODE.values(), ids=CODE)
def test_an_old_idiom(code: str, output: list[int]) -> None:
    ran = Ran(f"{HEAD}{code}\n")
    assert ran.failures == []
    assert ran.problems == []
    assert shapes(ran["y"]) == [[None, *output]]
