"""Random cases of Keras code for `measure_keras.py`: each is a few lines that name what they make.

`y` is a tensor or nested tensors (their shapes are compared), `m` a layer or model (its weights are
compared), `r` any plain value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

HEAD = "import keras\nfrom keras import layers, ops\n"


def case(rng: random.Random, shape: tuple[int | None, ...], layer: str, dtype: str = "") -> str:
    more = f", dtype={dtype!r}" if dtype else ""
    return f"{HEAD}x = keras.Input({shape!r}{more})\nm = {layer}\ny = m(x)\n"


def sides(rng: random.Random, rank: int, low: int = 5, high: int = 14) -> tuple[int, ...]:
    return tuple(rng.randint(low, high) for _ in range(rank))


def one_or_each(rng: random.Random, rank: int, low: int, high: int) -> int | tuple[int, ...]:
    if rank == 1 or rng.random() < 0.5:
        return rng.randint(low, high)
    return tuple(rng.randint(low, high) for _ in range(rank))


def convolutions(rng: random.Random) -> Iterator[str]:
    for rank in (1, 2, 3):
        for kind in ("Conv{}D", "Conv{}DTranspose", "SeparableConv{}D", "DepthwiseConv{}D"):
            if rank == 3 and kind in ("SeparableConv{}D", "DepthwiseConv{}D"):
                continue
            channels = rng.choice((2, 3, 4, 6))
            filters = rng.choice((2, 4, 6, 12))
            words = [f"kernel_size={one_or_each(rng, rank, 1, 4)}"]
            transposed, depthwise = "Transpose" in kind, "Depthwise" in kind
            padding = rng.choice(["valid", "same", "SAME"] + (["causal"] if kind == "Conv{}D" and rank == 1 else []))
            words.append(f"padding={padding!r}")
            if rng.random() < 0.6:
                strides = rng.randint(1, 3)
                words.append(f"strides={strides}")
            elif rng.random() < 0.5:
                words.append(f"dilation_rate={rng.randint(1, 3)}")
            if kind == "Conv{}D" and rng.random() < 0.3:
                words.append(f"groups={rng.choice((1, 2, 3))}")
            if depthwise or "Separable" in kind:
                words.append(f"depth_multiplier={rng.randint(1, 3)}")
            if rng.random() < 0.4:
                words.append(f"use_bias={rng.choice((True, False))}")
            if rng.random() < 0.4:
                words.append(f"activation={rng.choice(('relu', 'elu', 'swish', 'softmax', 'linear'))!r}")
            shape = sides(rng, rank, 1 if rng.random() < 0.2 else 5)
            first = [] if depthwise else [str(filters)]
            full: tuple[int, ...] = (*shape, channels)
            if rng.random() < 0.2 and not transposed and padding != "causal":
                words.append("data_format='channels_first'")
                full = (channels, *shape)
            yield case(rng, full, f"layers.{kind.format(rank)}({', '.join(first + words)})")


def pools(rng: random.Random) -> Iterator[str]:
    for rank in (1, 2, 3):
        for kind in ("MaxPooling", "AveragePooling"):
            words = [f"pool_size={one_or_each(rng, rank, 1, 4)}", f"padding={rng.choice(('valid', 'same'))!r}"]
            if rng.random() < 0.5:
                words.append(f"strides={one_or_each(rng, rank, 1, 3)}")
            yield case(rng, (*sides(rng, rank, 2, 12), 3), f"layers.{kind}{rank}D({', '.join(words)})")
        for kind in ("GlobalMaxPooling", "GlobalAveragePooling"):
            words = [f"keepdims={rng.choice((True, False))}"]
            if rng.random() < 0.3:
                words.append("data_format='channels_first'")
            yield case(rng, (*sides(rng, rank), 3), f"layers.{kind}{rank}D({', '.join(words)})")
        for kind in ("AdaptiveAveragePooling", "AdaptiveMaxPooling"):
            yield case(rng, (*sides(rng, rank), 3), f"layers.{kind}{rank}D({one_or_each(rng, rank, 1, 4)})")


def normalisations(rng: random.Random) -> Iterator[str]:
    rank = rng.randint(1, 4)
    shape = sides(rng, rank, 2, 6)
    flags = f"center={rng.choice((True, False))}, scale={rng.choice((True, False))}"
    axis = rng.choice([-1, *range(1, rank + 1)])
    yield case(rng, shape, f"layers.BatchNormalization(axis={axis}, {flags})")
    yield case(rng, shape, f"layers.LayerNormalization(axis={axis}, {flags})")
    if rank > 1:
        axes = sorted(rng.sample(range(1, rank + 1), 2))
        yield case(rng, shape, f"layers.LayerNormalization(axis={axes})")
        yield case(rng, shape, f"layers.UnitNormalization(axis={axis})")
        yield case(rng, shape, f"layers.GroupNormalization(groups={rng.choice((1, 2, 3, -1))}, axis={axis}, {flags})")
        yield case(rng, shape, f"layers.Normalization(axis={axis})")
    yield case(rng, shape, f"layers.RMSNormalization(axis={axis})")
    yield case(rng, shape, "layers.Normalization(mean=0.5, variance=2.0)")
    yield case(rng, (8, 8, 3), "layers.SpectralNormalization(layers.Conv2D(4, 3))")
    yield case(rng, (6,), "layers.SpectralNormalization(layers.Dense(5))")


def activations(rng: random.Random) -> Iterator[str]:
    shape = sides(rng, rng.randint(1, 3), 2, 6)
    for layer in (
        "Activation('relu')", "Activation('gelu')", "Activation(ops.tanh)", "ELU()", "LeakyReLU(0.1)", "PReLU()",
        "ReLU(6.0)", "ReLU(negative_slope=0.1)", "Softmax()", "Activation(keras.activations.silu)",
    ):  # fmt: skip
        if rng.random() < 0.4:
            yield case(rng, shape, f"layers.{layer}")
    yield case(rng, (6, 5, 4), f"layers.PReLU(shared_axes={rng.choice(([1, 2], [1], [2, 3]))})")
    for layer in (
        "Dropout(0.5)", "SpatialDropout2D(0.2)", "GaussianNoise(0.1)", "GaussianDropout(0.3)", "AlphaDropout(0.1)",
        "ActivityRegularization(0.1)", "Identity()", "Masking()",
    ):  # fmt: skip
        if rng.random() < 0.3:
            yield case(rng, (5, 4, 3), f"layers.{layer}")


def reshapings(rng: random.Random) -> Iterator[str]:
    yield case(rng, sides(rng, rng.randint(0, 4), 1, 5), "layers.Flatten()")
    a, b, c = sides(rng, 3, 1, 6)
    target = rng.choice([(a * b, c), (-1, c), (a, -1), (c, b, a), (-1,), (a, b, c, 1), (b, -1, a), (7, -1)])
    yield case(rng, (a, b, c), f"layers.Reshape({target})")
    order = rng.sample([1, 2, 3], 3)
    yield case(rng, (a, b, c), f"layers.Permute({tuple(order)})")
    yield case(rng, (a,), f"layers.RepeatVector({b})")
    yield case(rng, (9, c), f"layers.Cropping1D({rng.choice((1, (1, 2), 4))})")
    yield case(rng, (9, 8, c), f"layers.Cropping2D({rng.choice((1, (1, 2), ((1, 0), (2, 3)), ((4, 4), (5, 5))))})")
    yield case(rng, (9, 8, 7, c), f"layers.Cropping3D({rng.choice((1, (1, 2, 1), ((1, 0), (2, 3), (0, 1))))})")
    yield case(rng, (9, c), f"layers.ZeroPadding1D({rng.choice((1, (1, 2)))})")
    yield case(rng, (9, 8, c), f"layers.ZeroPadding2D({rng.choice((1, (1, 2), ((1, 0), (2, 3))))})")
    yield case(rng, (c, 9, 8), "layers.ZeroPadding2D((2, 1), data_format='channels_first')")
    yield case(rng, (4, 3, 5, c), f"layers.ZeroPadding3D({rng.choice((1, (1, 2, 0)))})")
    yield case(rng, (a, c), f"layers.UpSampling1D({rng.randint(1, 3)})")
    mode = rng.choice(("nearest", "bilinear"))
    yield case(rng, (a, b, c), f"layers.UpSampling2D({one_or_each(rng, 2, 1, 3)}, interpolation={mode!r})")
    yield case(rng, (a, b, c, 2), f"layers.UpSampling3D({one_or_each(rng, 3, 1, 3)})")


def merges(rng: random.Random) -> Iterator[str]:
    a, b = sides(rng, 2, 2, 5)
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        other = rng.choice([(a, b), (a, b), (1, b), (b,), (a, b + 1)])
        yield f"{HEAD}p, q = keras.Input({(a, b)}), keras.Input({other})\ny = layers.{name}()([p, q])\n"
    axis = rng.choice((-1, 1, 2))
    other = rng.choice([(a, b), (a + 1, b), (a, b + 2)])
    yield f"{HEAD}p, q = keras.Input({(a, b)}), keras.Input({other})\ny = layers.Concatenate(axis={axis})([p, q])\n"
    yield f"{HEAD}p, q = keras.Input({(a, b)}), keras.Input({(a, b)})\ny = layers.concatenate([p, q, p], axis={axis})\n"
    axes = rng.choice(("1", "2", "(1, 2)", "-1", "(2, 1)"))
    other = rng.choice([(a, b), (b, a)])
    yield f"{HEAD}p, q = keras.Input({(a, b)}), keras.Input({other})\ny = layers.Dot(axes={axes})([p, q])\n"
    yield f"{HEAD}p, q = keras.Input({(a,)}), keras.Input({(a,)})\ny = layers.dot([p, q], axes=1, normalize=True)\n"


def dense(rng: random.Random) -> Iterator[str]:
    shape = sides(rng, rng.randint(1, 3), 1, 6)
    yield case(rng, shape, f"layers.Dense({rng.randint(1, 9)}, use_bias={rng.choice((True, False))})")
    rows, width = sides(rng, 2, 2, 9)
    yield case(rng, (rng.randint(1, 5),), f"layers.Embedding({rows}, {width})", "int32")
    a, b, c = sides(rng, 3, 2, 6)
    for equation, output, bias, inputs in (
        ("ab,bc->ac", f"{c}", "'c'", (b,)),
        ("abc,cd->abd", f"({a}, {c + 1})", "None", (a, c)),
        ("...x,xy->...y", f"{c}", "'y'", (a, b)),
        ("abc,cde->abde", f"({a}, {b}, {a})", "'de'", (a, c)),
        ("abc,cd->adb", f"({c}, {a})", "'d'", (a, b)),
    ):
        yield case(rng, inputs, f"layers.EinsumDense({equation!r}, output_shape={output}, bias_axes={bias})")


def recurrent(rng: random.Random) -> Iterator[str]:
    steps, width, units = sides(rng, 3, 2, 7)
    flags = f"return_sequences={rng.choice((True, False))}, use_bias={rng.choice((True, False))}"
    for name in ("SimpleRNN", "LSTM", "GRU"):
        more = ", return_state=True" if rng.random() < 0.3 else ""
        extra = ", reset_after=False" if name == "GRU" and rng.random() < 0.4 else ""
        yield case(rng, (steps, width), f"layers.{name}({units}, {flags}{more}{extra})")
        mode = rng.choice(("'concat'", "'sum'", "'mul'", "'ave'", "None"))
        yield case(
            rng, (steps, width), f"layers.Bidirectional(layers.{name}({units}, {flags}{more}), merge_mode={mode})"
        )
        yield case(rng, (steps, width), f"layers.RNN(layers.{name}Cell({units}), {flags.split(', ')[0]}{more})")
    yield case(
        rng, (steps, width), f"layers.RNN([layers.LSTMCell({units}), layers.GRUCell({width})], return_sequences=True)"
    )
    shape = (rng.randint(2, 4), *sides(rng, 2, 5, 8), 3)
    padding = rng.choice(("same", "valid"))
    yield case(rng, shape, f"layers.ConvLSTM2D({units}, 3, padding={padding!r}, {flags})")
    yield case(rng, shape[:2] + shape[3:], f"layers.ConvLSTM1D({units}, 2, {flags})")
    yield case(rng, (2, 5, 6, 4, 2), f"layers.ConvLSTM3D({units}, (2, 3, 1), {flags}, return_state=True)")
    yield case(rng, shape, f"layers.TimeDistributed(layers.Conv2D({units}, 3))")
    yield case(rng, (steps, width), f"layers.TimeDistributed(layers.Dense({units}))")


def attention(rng: random.Random) -> Iterator[str]:
    length, width, other, heads, key = sides(rng, 5, 2, 6)
    words = [f"num_heads={heads}", f"key_dim={key}"]
    if rng.random() < 0.5:
        words.append(f"value_dim={other}")
    if rng.random() < 0.4:
        words.append(f"output_shape={rng.choice((str(width + 1), f'({width}, {other})'))}")
    if rng.random() < 0.3:
        words.append("use_bias=False")
    if rng.random() < 0.3:
        words.append("use_gate=True")
    head = f"{HEAD}x, z = keras.Input({(length, width)}), keras.Input({(length + 1, other)})\n"
    yield f"{head}m = layers.MultiHeadAttention({', '.join(words)})\ny = m(x, x)\n"
    plain = [word for word in words if "value_dim" not in word or "use_gate=True" not in words]
    yield f"{head}m = layers.MultiHeadAttention({', '.join(plain)})\ny = m(x, z, value_mask=None)\n"
    over = f"layers.MultiHeadAttention({heads}, {key}, attention_axes=(1, 2))"
    yield f"{HEAD}x = keras.Input((4, 5, {width}))\nm = {over}\ny = m(x, x)\n"
    groups = rng.choice((1, 2))
    yield f"{head}m = layers.GroupQueryAttention({key}, {groups * 2}, {groups})\ny = m(x, x)\n"
    yield f"{head}m = layers.Attention(use_scale=True)\nz2 = layers.Dense({width})(z)\ny = m([x, z2])\n"
    yield f"{head}m = layers.AdditiveAttention()\nz2 = layers.Dense({width})(z)\ny = m([x, z2])\n"


def images(rng: random.Random) -> Iterator[str]:
    a, b = sides(rng, 2, 6, 12)
    yield case(rng, (a, b, 3), "layers.Rescaling(1 / 255)")
    yield case(rng, (a, b, 3), f"layers.Resizing({b}, {a + 1})")
    yield case(rng, (a, b, 3), f"layers.CenterCrop({rng.randint(3, 8)}, 5)")
    yield case(rng, (a, b, 3), "layers.RandomCrop(4, 5)")
    for layer in ("RandomFlip('horizontal')", "RandomRotation(0.1)", "RandomZoom(0.2)", "RandomTranslation(0.1, 0.1)",
                  "RandomContrast(0.2)", "RandomBrightness(0.2)"):  # fmt: skip
        if rng.random() < 0.3:
            yield case(rng, (a, b, 3), f"layers.{layer}")
    yield case(rng, (4000,), "layers.MelSpectrogram(num_mel_bins=40, sequence_stride=100)")
    mode = rng.choice(("log", "real", "stft"))
    words = f"mode={mode!r}, frame_length=100, window=None, expand_dims={rng.choice((True, False))}"
    yield case(rng, (800, 2), f"layers.STFTSpectrogram({words})")


GENERATORS = (
    convolutions, pools, normalisations, activations, reshapings, merges, dense, recurrent, attention, images,
)  # fmt: skip


def random_cases(seed: int, rounds: int) -> list[str]:
    """Distinct cases, the same for the same seed."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    for _ in range(rounds):
        for generate in GENERATORS:
            for text in generate(rng):
                found[text] = None
    return list(found)
