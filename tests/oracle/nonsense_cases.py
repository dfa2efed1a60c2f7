"""Layer arguments that make no sense, each with the shape of one sample that the layer is given.

nonsense_layers.py asks the frameworks what they say to them, tests/test_nonsense_layers.py what we do.
"""

from __future__ import annotations

IMAGE, SEQUENCE, ROW, STEPS = (3, 16, 16), (3, 16), (8,), (5, 8)

TORCH = [
    *[(f"nn.Conv2d({arguments})", IMAGE) for arguments in (
        "3, 8, -3", "3, 8, 0", "3, 8, 3, stride=0", "3, 8, 3, stride=-1", "3, 8, 3, padding=-1", "3, 8, 3, padding=-9",
        "3, 8, 3, padding=40", "3, 8, 3, dilation=0", "3, 8, 3, dilation=-1", "3, 8, 3, groups=2", "3, 7, 3, groups=3",
        "3, 8, 3, groups=0", "3, 8, 3, groups=-1", "'3', 8, 3", "3, 'eight', 3", "3, 8, '3'", "3, 8, 3, padding='most'",
        "3, 8, 3, stride=2, padding='same'", "3, 8, 17", "3, 10**30, 3", "10**30, 8, 3", "3, 8, 10**30",
        "3, 8, 3, padding=10**30", "0, 8, 3", "3, 0, 3", "-3, 8, 3", "3, -8, 3", "None, 8, 3", "3, None, 3",
        "3, 8, None", "3, 8, 3, stride=None", "3, 8.0, 3", "3.0, 8, 3", "3, 8, 3.0", "3, 8, 2.5", "3, 8, 3, stride=1.5",
        "3, 8, ()", "3, 8, (3,)", "3, 8, (3, 3, 3)", "3, 8, 3, stride=(1, 1, 1)", "3, 8, 3, padding=(1, 1, 1)",
        "3, 8, [3, 3]", "3, 8, (3, -3)", "3, 8, 3, bias='no'", "3, 8, 3, padding_mode='nonsense'", "True, 8, 3",
        "3, True, 3", "3, 8, True", "3, 8", "3, 8, 3, 1, 0, 1, 1, True, 'zeros', None, None, None", "3, 8, 3, kernel=3",
        "3, 8, {}", "3, 8, 3, padding=(9, 9), padding_mode='circular'", "3, 8, 3, padding=17, padding_mode='reflect'",
        "3, 8, float('inf')", "3, 8, float('nan')", "3, 8, 1j", "3, 8, nn.Conv2d", "1, 8, 3",
    )],
    *[(f"nn.Conv1d({arguments})", SEQUENCE) for arguments in (
        "3, 8, -1", "3, 8, 3, stride=0", "3, 8, (3, 3)", "3, 8, 3, groups=2", "3, 8, 99", "3, 8, 3, dilation=9",
    )],
    *[(f"nn.ConvTranspose2d({arguments})", IMAGE) for arguments in (
        "3, 8, -3", "3, 8, 3, stride=0", "3, 8, 3, padding=99", "3, 8, 3, output_padding=5", "3, 8, 3, groups=2",
        "3, 8, 3, stride=2, output_padding=-1", "3, 8, 3, dilation=0", "3, 8, 3, padding='same'", "3, 10**30, 3",
    )],
    *[(f"nn.{name}({arguments})", IMAGE) for name in ("MaxPool2d", "AvgPool2d") for arguments in (
        "-2", "0", "2, stride=0", "2, stride=-1", "2, padding=2", "3, padding=2", "2, padding=-1", "17", "10**30", "'2'",
        "None", "2.0", "2.5", "()", "(2, 2, 2)", "(2,)", "[2, 2]", "2, 2.5", "",
    )],
    *[(f"nn.MaxPool2d({arguments})", IMAGE) for arguments in ("2, dilation=0", "2, dilation=-1", "3, dilation=9")],
    *[(f"nn.{name}({arguments})", IMAGE) for name in ("AdaptiveAvgPool2d", "AdaptiveMaxPool2d") for arguments in (
        "0", "-1", "'1'", "None", "1.5", "()", "(1, 1, 1)", "(1,)", "10**30", "(None, None)",
    )],
    *[(f"nn.Linear({arguments})", ROW) for arguments in (
        "8, -4", "8, 0", "0, 4", "-8, 4", "8, '4'", "'8', 4", "8, None", "None, 4", "8, 4.0", "8.0, 4", "8, 10**30",
        "10**30, 10**30", "10**30, 4", "8, ()", "8, (4,)", "8, (4, 4)", "8", "", "7, 4", "8, True", "8, [4]",
        "8, 4, units=3", "8, 10**18", "8, 2**63", "8, -10**30", "8, float('inf')", "8, 4 / 2", "8, 4, bias=None",
    )],
    *[(f"nn.{layer}", shape) for layer, shape in (
        ("BatchNorm2d(-3)", IMAGE), ("BatchNorm2d(0)", IMAGE), ("BatchNorm2d('3')", IMAGE), ("BatchNorm2d(3.0)", IMAGE),
        ("BatchNorm2d(None)", IMAGE), ("BatchNorm2d(10**30)", IMAGE), ("BatchNorm2d(4)", IMAGE),
        ("BatchNorm2d((3,))", IMAGE), ("GroupNorm(2, 3)", IMAGE), ("GroupNorm(0, 3)", IMAGE),
        ("GroupNorm(-1, 3)", IMAGE), ("GroupNorm(3, 0)", IMAGE), ("GroupNorm(1, 10**30)", IMAGE),
        ("GroupNorm(1.0, 3)", IMAGE), ("GroupNorm('1', 3)", IMAGE), ("LayerNorm(-8)", ROW), ("LayerNorm(())", ROW),
        ("LayerNorm('8')", ROW), ("LayerNorm(8.0)", ROW), ("LayerNorm(None)", ROW), ("LayerNorm((8, 8))", STEPS),
        ("LayerNorm(10**30)", ROW), ("LSTM(8, -4)", STEPS), ("LSTM(8, 0)", STEPS), ("LSTM(8, '4')", STEPS),
        ("LSTM(8, 4, num_layers=0)", STEPS), ("LSTM(8, 4, num_layers=-1)", STEPS), ("LSTM(8, 4, 10**9)", STEPS),
        ("LSTM(8, 10**30)", STEPS), ("LSTM(8, 4.0)", STEPS), ("LSTM(8, 4, proj_size=9)", STEPS),
        ("LSTM(8, 4, num_layers=1.5)", STEPS), ("GRU(-8, 4)", STEPS), ("GRU(8, None)", STEPS),
        ("MultiheadAttention(8, 3)", STEPS), ("MultiheadAttention(8, 0)", STEPS), ("MultiheadAttention(8, -2)", STEPS),
        ("TransformerEncoderLayer(8, 3)", STEPS), ("TransformerEncoderLayer(8, 2, -5)", STEPS),
        ("TransformerEncoderLayer(8, 0)", STEPS), ("PixelShuffle(2)", IMAGE), ("PixelShuffle(0)", IMAGE),
        ("PixelShuffle(-1)", IMAGE), ("PixelShuffle('2')", IMAGE), ("Upsample(scale_factor=0)", IMAGE),
        ("Upsample(scale_factor=-2)", IMAGE), ("Upsample(size=-4)", IMAGE), ("Upsample(size=0)", IMAGE),
        ("Upsample(scale_factor='2')", IMAGE), ("Upsample()", IMAGE), ("Upsample(size=4, scale_factor=2)", IMAGE),
        ("Upsample(scale_factor=2, mode='nonsense')", IMAGE), ("Upsample(scale_factor=10**30)", IMAGE),
        ("Dropout(2)", ROW), ("Dropout(-0.5)", ROW), ("Dropout('0.5')", ROW), ("Dropout(None)", ROW),
        ("ZeroPad2d(-9)", IMAGE), ("ZeroPad2d((1, 1))", IMAGE), ("ZeroPad2d('1')", IMAGE), ("ZeroPad2d(1.5)", IMAGE),
        ("ReflectionPad2d(16)", IMAGE), ("ReflectionPad2d(99)", IMAGE), ("ReplicationPad2d(-8)", IMAGE),
        ("Flatten(5)", ROW), ("Flatten(-5)", ROW), ("Flatten(1, 0)", IMAGE), ("Flatten('1')", IMAGE),
        ("Unflatten(1, (3, 3))", ROW), ("Unflatten(1, (-1, -1))", ROW), ("Unflatten(1, ())", ROW),
        ("Unflatten(1, (0, 8))", ROW), ("Unflatten(4, (2, 4))", ROW), ("Softmax(dim=7)", ROW), ("Softmax(dim='1')", ROW),
        ("PReLU(-1)", IMAGE), ("PReLU(2)", IMAGE), ("PReLU(10**30)", IMAGE), ("PReLU('1')", IMAGE), ("GLU(dim=1)", IMAGE),
        ("Bilinear(8, 8, -1)", ROW), ("Unfold(-3)", IMAGE), ("Unfold(3, stride=0)", IMAGE), ("Unfold(99)", IMAGE),
        ("Unfold(())", IMAGE), ("Fold((4, 4), 3)", IMAGE), ("Embedding(-10, 4)", ()), ("Embedding(10, -4)", ()),
        ("Linear(8, 4, bias=0)", ROW), ("BatchNorm2d(3, affine=None)", IMAGE),
        ("GroupNorm(3, 3, affine=0)", IMAGE), ("Conv2d(3, 8, 3, bias=None)", IMAGE),
        ("InstanceNorm2d(3, affine=1)", IMAGE), ("MultiheadAttention(8, 2, bias=0)", STEPS), ("GRUCell(8, 4, bias=0)", ROW),
        ("ModuleList(3)", ROW), ("Sequential(3)", ROW), ("Sequential(nn.Linear)", ROW), ("ChannelShuffle(2)", IMAGE),
        ("ChannelShuffle(0)", IMAGE), ("LocalResponseNorm(0)", IMAGE), ("LocalResponseNorm(-2)", IMAGE),
        ("FractionalMaxPool2d(-2, output_size=2)", IMAGE), ("FractionalMaxPool2d(2)", IMAGE), ("LPPool2d(2, 0)", IMAGE),
        ("LPPool2d(2, 99)", IMAGE), ("Conv3d(3, 8, 3)", SEQUENCE), ("BatchNorm1d(3)", IMAGE), ("BatchNorm3d(3)", IMAGE),
        ("InstanceNorm2d(-3, affine=True)", IMAGE), ("InstanceNorm2d('3')", IMAGE), ("RMSNorm(-8)", ROW),
    )],
]  # fmt: skip
KERAS_IMAGE, KERAS_SEQUENCE = (16, 16, 3), (16, 3)

KERAS = [
    *[(f"layers.Conv2D({arguments})", KERAS_IMAGE) for arguments in (
        "8, -3", "8, 0", "8, 3, strides=0", "8, 3, strides=-1", "8, 3, padding='most'", "8, 3, padding=1",
        "8, 3, padding='causal'", "8, 3, dilation_rate=0", "8, 3, dilation_rate=-1", "8, 3, strides=2, dilation_rate=2",
        "8, 3, groups=2", "7, 3, groups=3", "8, 3, groups=0", "8, 3, groups=-1", "'8', 3", "8, '3'", "-8, 3", "0, 3",
        "10**30, 3", "8, 10**30", "None, 3", "8, None", "8.0, 3", "8.5, 3", "8, 3.0", "8, 2.5", "8, ()", "8, (3,)",
        "8, (3, 3, 3)", "8, (3, -3)", "8, [3, 3]", "8, 3, strides=(1, 1, 1)", "8, 3, strides=None", "8, 17", "8", "",
        "8, 3, data_format='nonsense'", "8, 3, activation='nonsense'", "8, 3, kernel=3", "8, {}", "8, 1j", "True, 3",
        "8, True", "8, float('nan')", "8, 3, input_shape=(-1, 4)", "(8, 8), 3",
    )],
    *[(f"layers.Conv1D({arguments})", KERAS_SEQUENCE) for arguments in (
        "8, -1", "8, 3, strides=0", "8, (3, 3)", "8, 3, groups=2", "8, 99", "8, 3, dilation_rate=9",
    )],
    *[(f"layers.Conv2DTranspose({arguments})", KERAS_IMAGE) for arguments in (
        "8, -3", "8, 3, strides=0", "8, 3, output_padding=5", "8, 3, strides=2, output_padding=-1", "10**30, 3", "-8, 3",
        "8, 3, dilation_rate=0",
    )],
    *[(f"layers.{name}({arguments})", KERAS_IMAGE) for name in ("DepthwiseConv2D", "SeparableConv2D") for arguments in (
        "-3", "3, depth_multiplier=0", "3, -1", "3, 0", "3, 3, depth_multiplier=-1", "'3'", "",
    )],
    *[(f"layers.{name}({arguments})", KERAS_IMAGE) for name in ("MaxPooling2D", "AveragePooling2D") for arguments in (
        "-2", "0", "2, strides=0", "2, strides=-1", "2, padding='most'", "17", "10**30", "'2'", "None", "2.0", "2.5",
        "()", "(2, 2, 2)", "(2,)", "[2, 2]", "2, 2.5", "17, padding='same'",
    )],
    *[(f"layers.Dense({arguments})", ROW) for arguments in (
        "-4", "0", "'4'", "None", "4.0", "4.5", "10**30", "()", "(4,)", "(4, 4)", "", "True", "[4]", "4, units=3",
        "4, input_dim=3", "10**18", "2**63", "-10**30", "float('inf')", "4 / 2", "4, use_bias=None", "4, 'nonsense'", "8 % 8",
    )],
    *[(f"layers.{layer}", shape) for layer, shape in (
        ("BatchNormalization(axis=9)", KERAS_IMAGE), ("BatchNormalization(axis='3')", KERAS_IMAGE),
        ("BatchNormalization(axis=None)", KERAS_IMAGE), ("BatchNormalization(axis=(1, 2))", KERAS_IMAGE),
        ("GroupNormalization(2)", KERAS_IMAGE), ("GroupNormalization(0)", KERAS_IMAGE),
        ("GroupNormalization(-1)", KERAS_IMAGE), ("GroupNormalization(-5)", KERAS_IMAGE),
        ("LayerNormalization(axis=9)", ROW), ("LayerNormalization(axis='1')", ROW), ("LSTM(-4)", STEPS),
        ("LSTM(0)", STEPS), ("LSTM('4')", STEPS), ("LSTM(4.0)", STEPS), ("LSTM(10**30)", STEPS), ("LSTM(None)", STEPS),
        ("GRU(-8)", STEPS), ("GRU(())", STEPS), ("SimpleRNN(-1)", STEPS), ("LSTM(4, use_bias=None)", STEPS), ("GRU(4, reset_after=0)", STEPS), ("BatchNormalization(scale=0)", KERAS_IMAGE),
        ("LayerNormalization(center=None)", ROW), ("Conv2D(8, 3, use_bias=0)", KERAS_IMAGE), ("Dense(4, use_bias=0)", ROW),
        ("LSTM(4)", ROW),
        ("Bidirectional(layers.LSTM(-4))", STEPS), ("Bidirectional(3)", STEPS), ("TimeDistributed(3)", STEPS),
        ("TimeDistributed(layers.Dense(-1))", STEPS), ("Embedding(-10, 4)", ROW), ("Embedding(10, -4)", ROW),
        ("Embedding(10**30, 4)", ROW), ("Embedding('10', 4)", ROW), ("Embedding(10, None)", ROW),
        ("Dropout(2)", ROW), ("Dropout(-0.5)", ROW), ("Dropout('0.5')", ROW), ("Dropout(None)", ROW),
        ("SpatialDropout2D(1.5)", KERAS_IMAGE), ("ZeroPadding2D(-9)", KERAS_IMAGE), ("ZeroPadding2D('1')", KERAS_IMAGE),
        ("ZeroPadding2D(1.5)", KERAS_IMAGE), ("ZeroPadding2D((1, 1, 1))", KERAS_IMAGE), ("ZeroPadding2D(10**30)", KERAS_IMAGE),
        ("Cropping2D(8)", KERAS_IMAGE), ("Cropping2D(99)", KERAS_IMAGE), ("Cropping2D(-1)", KERAS_IMAGE),
        ("UpSampling2D(0)", KERAS_IMAGE), ("UpSampling2D(-2)", KERAS_IMAGE), ("UpSampling2D('2')", KERAS_IMAGE),
        ("UpSampling2D(10**30)", KERAS_IMAGE), ("UpSampling2D(2, interpolation='nonsense')", KERAS_IMAGE),
        ("UpSampling2D(1.5)", KERAS_IMAGE), ("Reshape((3, 3))", ROW), ("Reshape((-1, -1))", ROW), ("Reshape(())", ROW),
        ("Reshape((-1, 3))", ROW), ("Reshape((0, 8))", ROW), ("Reshape((-8, -1))", ROW), ("Reshape('8')", ROW),
        ("Reshape((8.0,))", ROW), ("Reshape((-4, -2))", ROW), ("Permute((1, 1))", STEPS), ("Permute((0, 1))", STEPS),
        ("Permute((1,))", STEPS), ("Permute((3, 4))", STEPS), ("Permute(2)", STEPS), ("RepeatVector(0)", ROW),
        ("RepeatVector(-1)", ROW), ("RepeatVector('2')", ROW), ("RepeatVector(1.5)", ROW), ("RepeatVector(10**30)", ROW),
        ("Flatten()", ()), ("Flatten(data_format='x')", ROW), ("PReLU(shared_axes=(9,))", KERAS_IMAGE),
        ("PReLU(shared_axes='1')", KERAS_IMAGE), ("Softmax(axis=7)", ROW), ("Activation('nonsense')", ROW),
        ("Activation(3)", ROW), ("Activation(None)", ROW), ("Conv3D(8, 3)", KERAS_IMAGE), ("Conv2D(8, 3)", ROW),
        ("GlobalAveragePooling2D()", ROW), ("Lambda(3)", ROW), ("Rescaling('x')", ROW), ("Normalization(axis=9)", ROW),
        ("Discretization()", ROW), ("CategoryEncoding(num_tokens=-1)", ROW), ("UnitNormalization(axis=9)", ROW),
        ("EinsumDense('ab,bc->ad', -4)", ROW), ("EinsumDense('ab,bc->ac', -4)", ROW), ("EinsumDense('', 4)", ROW),
        ("Resizing(-4, 4)", KERAS_IMAGE), ("Resizing(0, 4)", KERAS_IMAGE), ("Resizing('4', 4)", KERAS_IMAGE),
        ("CenterCrop(99, 99)", KERAS_IMAGE), ("CenterCrop(-1, 4)", KERAS_IMAGE), ("RandomCrop(-1, 4)", KERAS_IMAGE),
        ("ConvLSTM2D(-8, 3)", (4, 16, 16, 3)), ("ConvLSTM2D(8, -3)", (4, 16, 16, 3)), ("ConvLSTM2D(8, 17)", (4, 16, 16, 3)),
        ("Maximum()", ROW), ("Concatenate(axis=9)", ROW), ("Dot(axes=5)", ROW), ("MultiHeadAttention(0, 4)", STEPS),
    )],
]  # fmt: skip

ROWS = [("torch", *row) for row in TORCH] + [("keras", *row) for row in KERAS]

TAKEN_AS_MEANT = {
    "nn.Conv2d(3, 8, (3,))",
    "nn.Conv2d(3, True, 3)",
    "nn.Linear(8, True)",
    "layers.Conv2D(8.0, 3)",
    "layers.Conv2D(8, 3, activation='nonsense')",
    "layers.Dense(4.0)",
    "layers.Dense(4 / 2)",
    "layers.Dense(4, 'nonsense')",
    "layers.Dropout(None)",
    "layers.UpSampling2D(1.5)",
    "layers.PReLU(shared_axes=(9,))",
    "layers.PReLU(shared_axes='1')",
    "layers.Softmax(axis=7)",
    "layers.Activation('nonsense')",
    "layers.Rescaling('x')",
    "layers.Discretization()",
    "layers.CategoryEncoding(num_tokens=-1)",
    "layers.UnitNormalization(axis=9)",
    "layers.CenterCrop(-1, 4)",
    "layers.RandomCrop(-1, 4)",
}
"""Layers that the frameworks refuse, or one version of them does (a whole float as a number of units), and that we take
as they are meant. What is wrong with them (a rate, a word, an axis that nothing counts) changes no parameter."""


def written(framework: str, layer: str, shape: tuple[int, ...]) -> str:
    """A small model of this one layer, called on one sample of this shape."""
    if framework == "torch":
        return (
            "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
            f"        super().__init__()\n        self.layer = {layer}\n\n    def forward(self, x):\n"
            f"        return self.layer(x)\n\n\nnet = Net()\nnet(torch.zeros({(1, *shape)}))\n"
        )
    return f"import keras\nfrom keras import layers\n\nnet = keras.Sequential([keras.Input({shape}), {layer}])\n"
