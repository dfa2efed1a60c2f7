"""The items that a program makes for a tf.data pipeline: values as tensors, and what a generator gives."""

from __future__ import annotations

from flake8_cnnmem.dims import same
from flake8_cnnmem.frameworks.keras.batches import FEW_STEPS, MOST_BATCHES
from flake8_cnnmem.frameworks.keras.pipeline_elements import DEPTH, NOT_KNOWN
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

SEVERAL_SIZES = Unknown("the samples of a data set have several sizes")


def plain_dtype(tensor: Tensor) -> str:
    """The dtype of a tensor, float32 as the model's float."""
    return "float" if tensor.dtype == "float32" else tensor.dtype


def whole(run: Runtime, value: Value) -> Value:
    """A value as a tensor."""
    if isinstance(value, Tensor):
        return Tensor(value.shape, plain_dtype(value), framework="keras")
    if isinstance(value, bool):
        return Tensor((), "bool", framework="keras")
    if isinstance(value, int):
        return Tensor((), "int32", framework="keras")
    if isinstance(value, float):
        return Tensor((), "float", framework="keras")
    if isinstance(value, str):
        return Tensor((), "string", framework="keras")
    if isinstance(value, list) and value:
        first = whole(run, value[0])
        if isinstance(first, Tensor) and isinstance(first.shape, tuple):
            return Tensor((len(value), *first.shape), first.dtype, framework="keras")
    return value if isinstance(value, Unknown) else run.unknown("the items of a data set are not known")


def first_of(run: Runtime, generator: Value, *args: Value) -> Value:
    """The first thing that a generator gives; the sides in which the next few differ from it are not known."""
    items = run.iterate(run.call(generator, *args))
    if isinstance(items, Unknown):
        return items
    first = next(items, NOT_KNOWN)
    following = Native("following", lambda run: next(items, NOT_KNOWN), propagate_unknown=False)
    for _ in range(MOST_BATCHES):
        other = run.within(FEW_STEPS, following)
        if isinstance(other, Unknown):
            break
        first = alike_in(whole_of(run, first), whole_of(run, other))
    return first


def whole_of(run: Runtime, item: Value, depth: int = DEPTH) -> Value:
    """What a generator gives, its numbers and lists as tensors."""
    if depth and isinstance(item, tuple):
        return tuple(whole_of(run, each, depth - 1) for each in item)
    if depth and isinstance(item, dict):
        return {key: whole_of(run, each, depth - 1) for key, each in item.items()}
    return whole(run, item)


def alike_in(first: Value, other: Value, depth: int = DEPTH) -> Value:
    """Nested tensors without the sizes that differ from those of other ones."""
    if isinstance(first, Tensor) and isinstance(other, Tensor):
        if not isinstance(first.shape, tuple) or not isinstance(other.shape, tuple) or first.shape == other.shape:
            return first
        if len(first.shape) != len(other.shape):
            return Tensor(SEVERAL_SIZES, first.dtype, framework="keras")
        pairs = zip(first.shape, other.shape, strict=True)
        shape = tuple(SEVERAL_SIZES if same(mine, its) is False else mine for mine, its in pairs)
        return Tensor(shape, first.dtype, framework="keras")
    if depth and isinstance(first, dict) and isinstance(other, dict):
        return {key: alike_in(item, other.get(key), depth - 1) for key, item in first.items()}
    if depth and isinstance(first, tuple) and isinstance(other, tuple) and len(first) == len(other):
        return tuple(alike_in(mine, its, depth - 1) for mine, its in zip(first, other, strict=True))
    return first
