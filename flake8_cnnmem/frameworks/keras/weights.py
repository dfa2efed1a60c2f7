"""Keras' own names and layouts of an op's weights: `kernel` as (*sides, channels, filters), `gamma`, `moving_mean`, ...

Read from `build` in keras/src/layers: base_conv.py, base_conv_transpose.py, base_depthwise_conv.py, dense.py,
batch_normalization.py, lstm.py, gru.py, simple_rnn.py, conv_lstm.py, embedding.py, prelu.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.dims import Shape, Size, floor_divide, multiply
from flake8_cnnmem.graph import Op, WeightSpec
from flake8_cnnmem.ops import Convolution, ConvRecurrent, DepthwiseConvolution, Embedding, Linear, PRelu, Recurrent
from flake8_cnnmem.ops.base import add_if
from flake8_cnnmem.unknown import Unknown

GATES = {"rnn": 1, "gru": 3, "lstm": 4}

NAMES = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}
"""Of every normalisation."""
ABSENT = frozenset({"num_batches_tracked"})
"""What Keras does not have."""


def keras_weights(op: Op, *shapes: Shape) -> dict[str, WeightSpec]:
    """An op's weights by Keras' names, in Keras' layouts and order. Raises Mismatch where the op does."""
    rule = RULES.get(type(op))
    return named(op, shapes) if rule is None else rule(op, shapes)


def named(op: Op, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """An op's weights under Keras' names."""
    specs = op.weights(*shapes)
    return {NAMES.get(name, name): spec for name, spec in specs.items() if name not in ABSENT}


def convolution(op: Convolution, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "kernel" (kernel, in, out) and "bias" (out,)."""
    specs = op.weights(*shapes)
    first, second, *kernel = specs["weight"].shape
    # torch has (filters, channels, *kernel), or (channels, filters, *kernel) transposed; Keras has both
    # reversed behind the kernel: (*kernel, channels, filters) and (*kernel, filters, channels)
    return with_bias(specs, "kernel", (*kernel, second, first))


def depthwise(op: DepthwiseConvolution, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "kernel" (kernel, in, multiplier) and "bias" (in * multiplier,)."""
    specs = op.weights(*shapes)
    filters, _, *kernel = specs["weight"].shape
    return with_bias(specs, "kernel", (*kernel, divided(filters, op.multiplier), op.multiplier))


def linear(op: Linear, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "kernel" (in, out) and "bias" (out,)."""
    specs = op.weights(*shapes)
    features, inputs = specs["weight"].shape
    return with_bias(specs, "kernel", (inputs, features))


def embedding(op: Embedding, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "embeddings" (rows, width)."""
    return {"embeddings": next(iter(op.weights(*shapes).values()))}


def prelu(op: PRelu, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "alpha": the input's shape without the batch, 1 along shared axes."""
    return {"alpha": next(iter(op.weights(*shapes).values()))}


def recurrent(op: Recurrent, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "kernel" (in, gates * units), "recurrent_kernel" (units, gates * units), "bias"."""
    gates = multiply(GATES[op.cell], op.hidden)
    inputs: Size = shapes[0][-1] if shapes and shapes[0] else Unknown("the input's features are not known")
    specs = {"kernel": WeightSpec((inputs, gates)), "recurrent_kernel": WeightSpec((op.hidden, gates))}
    # Keras has two bias vectors for a GRU with reset_after, and for both layers made for cuDNN
    two: Shape = (2, gates) if op.cell == "gru" else (multiply(2, gates),)
    doubled = op.two_biases
    add_if(specs, op.bias, "bias", (doubled,) if isinstance(doubled, Unknown) else two if doubled else (gates,))
    return specs


def conv_recurrent(op: ConvRecurrent, shapes: tuple[Shape, ...]) -> dict[str, WeightSpec]:
    """ "kernel" (kernel, in, 4 * filters), "recurrent_kernel" (kernel, filters, 4 * filters), "bias" (4 * filters,)."""
    gates = multiply(GATES["lstm"], op.filters)
    inputs: Size = Unknown("the input's channels are not known")
    if shapes and len(shapes[0]) > 2:
        inputs = shapes[0][-1 if op.channels_last else 2]
    specs = {
        "kernel": WeightSpec((*op.kernel, inputs, gates)),
        "recurrent_kernel": WeightSpec((*op.kernel, op.filters, gates)),
    }
    add_if(specs, op.bias, "bias", (gates,))
    return specs


def with_bias(specs: Any, name: str, shape: Shape) -> dict[str, WeightSpec]:
    """A weight, and the bias where the op has one."""
    found = {name: WeightSpec(shape)}
    if "bias" in specs:
        found["bias"] = specs["bias"]
    return found


def divided(size: Size, by: Size) -> Size:
    """A quotient, rounded down; unknown where it is divided by zero."""
    try:
        return floor_divide(size, by)
    except ZeroDivisionError:
        return Unknown("a size is divided by zero")


RULES: dict[type[Any], Callable[[Any, tuple[Shape, ...]], dict[str, WeightSpec]]] = {
    Convolution: convolution,
    DepthwiseConvolution: depthwise,
    Linear: linear,
    Embedding: embedding,
    PRelu: prelu,
    Recurrent: recurrent,
    ConvRecurrent: conv_recurrent,
}
