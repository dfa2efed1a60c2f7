"""Flax's names and layouts of an op's parameters, and its arguments as ops take them.

Read from flax/linen/{linear,normalization}.py and flax/nnx/nn of 0.12: `kernel` as (*sides, channels / groups,
filters), `scale` and `bias` of norms, `mean` and `var` of what a batch norm averages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flake8_cnnmem.dims import Shape, multiply, subtract
from flake8_cnnmem.frameworks.flax.arrays import plain
from flake8_cnnmem.graph import Op, Tensor, WeightSpec
from flake8_cnnmem.ops import Convolution, Embedding, Linear, PRelu
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

NAMES = {"weight": "scale", "bias": "bias", "running_mean": "mean", "running_var": "var"}
"""Of every normalization."""


def parameters_of(op: Op, *shapes: Shape) -> dict[str, WeightSpec]:
    """An op's parameters by Flax's names, in Flax's layouts. Raises Mismatch where the op does."""
    specs = dict(op.weights(*shapes))
    if isinstance(op, Convolution):
        first, second, *kernel = specs["weight"].shape
        # Ours are (filters, channels, *kernel), or (channels, filters, *kernel) transposed.
        pair = (first, second) if op.transposed else (second, first)
        return with_bias(specs, "kernel", (*kernel, *pair))
    if isinstance(op, Linear):
        features, inputs = specs["weight"].shape
        return with_bias(specs, "kernel", (inputs, features))
    if isinstance(op, Embedding):
        return {"embedding": specs["weight"]}
    if isinstance(op, PRelu):
        return {"negative_slope": WeightSpec(())}
    return {NAMES.get(name, name): spec for name, spec in specs.items()}


def with_bias(specs: dict[str, WeightSpec], name: str, shape: Shape) -> dict[str, WeightSpec]:
    """A weight under Flax's name, and the bias where the op has one."""
    return {name: WeightSpec(shape)} | ({"bias": specs["bias"]} if "bias" in specs else {})


def declared(op: Op, kernel: Tensor) -> Op:
    """The op with the input size that its kernel was made for: a parameter takes no other."""
    shape = kernel.shape
    if isinstance(shape, Unknown) or len(shape) < 2:
        return op
    if isinstance(op, Convolution) and op.channels is None and isinstance(op.groups, int):
        size = shape[-2]
        if isinstance(size, int):
            return replace(op, channels=size if op.transposed else size * op.groups)
    if isinstance(op, Linear) and op.inputs is None and isinstance(shape[0], int):
        return replace(op, inputs=shape[0])
    return op


def per_axis(value: Value, rank: int) -> Any:
    """A stride or dilation for each axis: one for all, several, or None for 1."""
    given = plain(value)
    if given is None:
        return (1,) * rank
    return tuple(map(plain, given)) if isinstance(given, (list, tuple)) else (given,) * rank


def kernel_of(value: Value) -> tuple[Any, ...] | Unknown:
    """A kernel's sides: a single number is that of one axis."""
    given = plain(value)
    if isinstance(given, Unknown):
        return given
    return tuple(map(plain, given)) if isinstance(given, (list, tuple)) else (given,)


def padding_of(value: Value, rank: int) -> Any:
    """Padding as windows take it. What wraps around or reflects keeps the sizes that "SAME" keeps."""
    given = plain(value)
    if isinstance(given, str):
        word = given.lower()
        return "same" if word in ("circular", "reflect", "same_lower") else word
    if isinstance(given, (list, tuple)):
        pairs = [plain(each) for each in given]
        if len(pairs) == 1:
            pairs *= rank
        return tuple((each, each) if not isinstance(each, (list, tuple)) else tuple(map(plain, each)) for each in pairs)
    return ((given, given),) * rank


def transposed_padding(value: Value, kernel: tuple[Any, ...], dilation: tuple[Any, ...]) -> Any:
    """The padding of a transposed convolution: Flax states what is put around the spread input, ops what is cut off
    the result."""
    padding = padding_of(value, len(kernel))
    if isinstance(padding, (str, Unknown)):
        return padding
    reach = [multiply(gap, subtract(side, 1)) for side, gap in zip(kernel, dilation, strict=True)]
    return tuple(
        (subtract(size, before), subtract(size, after)) for size, (before, after) in zip(reach, padding, strict=True)
    )
