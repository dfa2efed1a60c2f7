"""Random cases for `check_ops.py`: each op beside the Keras layer or function that it stands for.

Layers are called on symbolic inputs, for which Keras traces its backend (TensorFlow) and so gives the
backend's own shapes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

from flake8_cnnmem import ops

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def shapes_of(result: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of a tensor or of nested sequences of them."""
    if hasattr(result, "shape"):
        return (tuple(result.shape),)
    return tuple(shape for part in result for shape in shapes_of(part))


def keras_cases(rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """One random case of each kind."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras
    from keras import layers

    pick = rng.choice

    def some(low: int, high: int, number: int) -> tuple[int, ...]:
        return tuple(rng.randint(low, high) for _ in range(number))

    def torch_layout(name: str, shape: tuple[int, ...], rank: int, transposed: bool = False) -> tuple[int, ...]:
        """A kernel of Keras, (*kernel, in, out), in torch's layout."""
        if name != "kernel" or len(shape) < 2:
            return shape
        if len(shape) == 2:
            return shape[::-1]
        return (shape[-1], shape[-2], *shape[:-2])

    def layer(
        op: Any, make: Callable[[], Any], *shapes: tuple[int, ...], weighed: bool = True, batched: bool = True
    ) -> tuple[Any, ...]:
        made: list[Any] = []

        def call() -> tuple[tuple[int, ...], ...]:
            made[:] = [make()]
            inputs = [keras.KerasTensor(shape) for shape in shapes]
            return shapes_of(made[0](inputs if len(inputs) > 1 else inputs[0]))

        def weights() -> list[tuple[int, ...]]:
            return [torch_layout(w.name, tuple(w.shape), 0) for w in made[0].weights]

        return op, shapes, call, weights if weighed else None, batched

    rank = rng.randint(1, 3)
    last = rng.random() < 0.7
    batch, groups = rng.randint(2, 4), pick([1, 1, 1, 2])
    channels, filters = groups * rng.randint(1, 4), groups * rng.randint(1, 4)
    if rng.random() < 0.1:
        channels += 1
    kernel = some(1, 4, rank)
    stride, dilation = (some(1, 3, rank), (1,) * rank) if rng.random() < 0.6 else ((1,) * rank, some(1, 3, rank))
    sides = some(1, 12, rank)
    shape = (batch, *sides, channels) if last else (batch, channels, *sides)
    order = "channels_last" if last else "channels_first"
    padding = pick(["same", "valid", "causal"] if rank == 1 and last else ["same", "valid"])
    bias = rng.random() < 0.5
    conv = {1: layers.Conv1D, 2: layers.Conv2D, 3: layers.Conv3D}[rank]
    yield layer(
        ops.Convolution(filters, kernel, None, stride, padding, dilation, groups, bias, channels_last=last),
        lambda: conv(filters, kernel, stride, padding, order, dilation, groups, use_bias=bias),
        shape,
    )
    transposed = {1: layers.Conv1DTranspose, 2: layers.Conv2DTranspose, 3: layers.Conv3DTranspose}[rank]
    named = pick(["same", "valid"])
    extra = None if rng.random() < 0.6 else some(0, 2, rank)
    size = tuple(max(a, b) for a, b in zip(kernel, stride, strict=True)) if rng.random() < 0.5 else kernel
    yield layer(
        ops.Convolution(
            filters,
            size,
            None,
            stride,
            named,
            dilation,
            1,
            bias,
            transposed=True,
            output_padding=extra,
            channels_last=last,
        ),
        lambda: transposed(
            filters, size, stride, named, data_format=order, dilation_rate=dilation, use_bias=bias, output_padding=extra
        ),
        shape,
        weighed=False,
    )
    if rank < 3:
        depthwise = {1: layers.DepthwiseConv1D, 2: layers.DepthwiseConv2D}[rank]
        multiplier = rng.randint(1, 3)
        step = rng.randint(1, 3)
        yield layer(
            ops.DepthwiseConvolution(kernel, multiplier, None, step, named, 1, bias, last),
            lambda: depthwise(kernel, step, named, multiplier, order, use_bias=bias),
            shape,
            weighed=False,
        )

    max_pool = {1: layers.MaxPooling1D, 2: layers.MaxPooling2D, 3: layers.MaxPooling3D}[rank]
    yield layer(
        ops.Pool("max", kernel, stride, named, channels_last=last),
        lambda: max_pool(kernel, stride, named, order),
        shape,
    )
    average_pool = {1: layers.AveragePooling1D, 2: layers.AveragePooling2D, 3: layers.AveragePooling3D}[rank]
    yield layer(
        ops.Pool("average", kernel, None, named, channels_last=last),
        lambda: average_pool(kernel, None, named, order),
        shape,
    )
    keep = rng.random() < 0.5
    whole = {1: layers.GlobalMaxPooling1D, 2: layers.GlobalAveragePooling2D, 3: layers.GlobalMaxPooling3D}[rank]
    yield layer(ops.GlobalPool("max", rank, keep, last), lambda: whole(data_format=order, keepdims=keep), shape)

    free = some(1, 6, rng.randint(2, 4))
    yield layer(ops.Linear(5, None, bias), lambda: layers.Dense(5, use_bias=bias), free)
    axis = rng.randint(1, len(free) - 1) - pick([0, len(free)])
    scale, center = rng.random() < 0.7, rng.random() < 0.7
    yield layer(
        ops.BatchNorm(None, axis, scale, center, counted=False),
        lambda: layers.BatchNormalization(axis=axis, scale=scale, center=center),
        free,
    )
    axes = tuple(sorted({rng.randint(1, len(free) - 1) for _ in range(2)}))
    yield layer(
        ops.LayerNorm(None, axes, scale, center),
        lambda: layers.LayerNormalization(axis=list(axes), scale=scale, center=center),
        free,
    )
    count = rng.randint(1, 4)
    yield layer(ops.GroupNorm(count, None, axis), lambda: layers.GroupNormalization(count, axis=axis), free)
    shared = axes if rng.random() < 0.5 else None
    yield layer(ops.PRelu(None, shared), lambda: layers.PReLU(shared_axes=shared), free)

    pads = tuple(some(0, 2, 2) for _ in range(2))
    picture = (batch, rng.randint(1, 6), rng.randint(1, 6), 3)
    full = ((0, 0), *pads, (0, 0))
    yield layer(ops.Pad(full), lambda: layers.ZeroPadding2D(pads, data_format="channels_last"), picture)
    yield layer(ops.Crop(full), lambda: layers.Cropping2D(pads, data_format="channels_last"), picture)
    times = some(1, 3, 2)
    yield layer(
        ops.Resize(None, times, "nearest", True),
        lambda: layers.UpSampling2D(times, data_format="channels_last"),
        picture,
    )
    target = [1] * rng.randint(1, 3)
    for size_ in free[1:]:
        target[rng.randrange(len(target))] *= size_
    if rng.random() < 0.5:
        target[rng.randrange(len(target))] = -1
    if rng.random() < 0.2:
        target[-1] = 7
    yield layer(ops.Reshape((free[0], *target)), lambda: layers.Reshape(target), free, batched=False)
    yield layer(ops.Flatten(), layers.Flatten, free)

    other = tuple(pick([n, n, 1]) if rng.random() < 0.95 else 5 for n in free[1:])
    second = (free[0], *other)
    yield layer(ops.Broadcast("add"), layers.Add, free, second)
    yield layer(ops.Average(), layers.Average, free, second)
    joined = list(free)
    joined[axis] = rng.randint(1, 4)
    if rng.random() < 0.15:
        joined[1] += 1
    yield layer(ops.Concatenate(axis), lambda: layers.Concatenate(axis=axis), free, tuple(joined))
    left, right = some(1, 4, rng.randint(2, 3)), some(1, 4, rng.randint(2, 3))
    right = (left[0], *right[1:])
    a, b = rng.randint(1, len(left) - 1), rng.randint(1, len(right) - 1)
    if rng.random() < 0.9:
        right = (*right[:b], left[a], *right[b + 1 :])
    yield layer(ops.Dot((a, b)), lambda: layers.Dot((a, b)), left, right)

    cell, cls = pick([("rnn", layers.SimpleRNN), ("lstm", layers.LSTM), ("gru", layers.GRU)])
    sequences, state = rng.random() < 0.5, rng.random() < 0.5
    steps = some(1, 4, 3)
    after = cell == "gru" and rng.random() < 0.5
    options = {"reset_after": after} if cell == "gru" else {}
    yield layer(
        ops.Recurrent(
            cell, 4, two_biases=after, return_sequences=sequences, return_state=state, stacked=False, bias=bias
        ),
        lambda: cls(4, return_sequences=sequences, return_state=state, use_bias=bias, **options),
        steps,
        weighed=False,
    )
    frames = (2, 3, rng.randint(3, 7), rng.randint(3, 7), 2)
    yield layer(
        ops.ConvRecurrent(3, kernel[:1] * 2, padding=named, return_sequences=sequences, return_state=state),
        lambda: layers.ConvLSTM2D(
            3,
            kernel[:1] * 2,
            padding=named,
            return_sequences=sequences,
            return_state=state,
            data_format="channels_last",
        ),
        frames,
        weighed=False,
    )
