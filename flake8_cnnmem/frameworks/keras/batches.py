"""One batch of what a model is fitted on, as its step gets it: of arrays, pipelines, sequences, generators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count

from flake8_cnnmem.dims import BATCH, Size
from flake8_cnnmem.frameworks.keras.session import session_of, tensors_in
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Native, Value

BATCH_STEPS = 100_000
"""Steps that making one batch may take: augmentation goes over pixels and boxes one by one."""

MOST_BATCHES = 32
"""Batches behind the first that are looked at for the largest one."""

FEW_STEPS = 2_000
"""Steps that making one of those may take."""

END = object()
"""What stands for a batch where there is no further one."""

FIRST = Native("first", lambda run, data: first_item(run, data), propagate_unknown=False)


def batch_of(run: Runtime, data: Value, targets: Value, batch_size: Value, usual: int | None) -> Value:
    """What a step is given: (inputs, targets), or inputs alone, tensors in them with the batch as their first axis.

    `batch_size` and `usual` are what arrays are cut into; with neither they are one batch as they are.
    """
    if is_source(data):
        drawn = run.within(BATCH_STEPS, FIRST, data)
        # As `unpack_x_y_sample_weight` of keras/src/trainers/data_adapters/data_adapter_utils.py has it.
        return tuple(drawn) if type(drawn) is list and drawn else drawn
    size: Size | None = usual
    if batch_size is not None:
        size = batch_size if type(batch_size) is int and batch_size > 0 else BATCH
    inputs = one_batch(data, size)
    return inputs if targets is None else (inputs, one_batch(targets, size))


def is_source(data: Value) -> bool:
    """Whether data gives batch after batch: no array, and nothing that an array is made of."""
    return isinstance(data, Iterator) or (isinstance(data, Instance) and data.cls.find("__array__") is MISSING)


def first_item(run: Runtime, data: Value) -> Value:
    """The first batch of a sequence, which is asked for it by its number, of a pipeline or of a generator; a later one
    of what the code writes, where that is larger."""
    if isinstance(data, Instance) and data.cls.site is not None and data.cls.find("__getitem__") is not MISSING:
        length = run.attempt(run.get(data, "__len__")) if data.cls.find("__len__") is not MISSING else None
        numbers = iter(range(1, length)) if type(length) is int else count(1)

        def following() -> Value:
            at = next(numbers, None)
            return END if at is None else run.index(data, at)

        return largest(run, run.index(data, 0), following)
    items = run.iterate(data)
    if isinstance(items, Unknown):
        return items
    first = next(items, run.unknown("the data gives no batch"))
    return first if isinstance(data, Instance) else largest(run, first, lambda: next(items, END))


def largest(run: Runtime, first: Value, following: Callable[[], Value]) -> Value:
    """The largest one of the first batches, as many as are made in few steps; and that nobody knows how large later
    ones are where it is not the first of them, and the data goes on. It may have as many samples, and longer ones."""
    chosen, most = first, values_in(first)
    if most is None:
        return first
    draw = Native("following", lambda run: following(), propagate_unknown=False)
    made = run.attempt(draw)
    for _ in range(MOST_BATCHES):
        values = values_in(made)
        if made is END or values is None:
            break
        if values > most:
            chosen, most = made, values
        made = run.within(FEW_STEPS, draw)
    if chosen is not first and made is not END:
        session_of(run).uneven = run.unknown("the data gives batches of several sizes: a later one may be larger")
    return chosen


def values_in(batch: Value) -> int | None:
    """How many values the inputs of a batch have, sides that are not known left out; None where it is not known how
    many samples there are."""
    if samples_in(batch) is None:
        return None
    inputs = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
    shapes = [each.shape for each in tensors_in(inputs) if isinstance(each.shape, tuple)]
    return sum(math.prod(size for size in shape if isinstance(size, int)) for shape in shapes)


def samples_in(batch: Value) -> int | None:
    """How many samples a batch has, or arrays have."""
    first = next(iter(tensors_in(batch)), None)
    count = first.shape[0] if first is not None and isinstance(first.shape, tuple) and first.shape else None
    return count if isinstance(count, int) and count > 0 else None


def one_batch(data: Value, size: Size | None) -> Value:
    """So many samples of an array, or of each of several arrays; all of them where no size is given."""
    if isinstance(data, Tensor) and isinstance(data.shape, tuple) and data.shape:
        lead = data.shape[0] if size is None else size
        return Tensor((lead, *data.shape[1:]), data.dtype, framework="keras")
    if isinstance(data, dict):
        return {word: one_batch(each, size) for word, each in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(one_batch(each, size) for each in data)
    return data


def data_shapes(data: Value) -> Value:
    """The shapes of a batch of training data, None where they are not known."""
    if isinstance(data, Tensor) and isinstance(data.shape, tuple) and len(data.shape) > 1:
        return (None, *data.shape[1:])
    if isinstance(data, Instance) and isinstance(data.native, dict) and data.native.get("batch_shape") is not None:
        return data.native["batch_shape"]
    if is_nested(data):
        return nested_shapes(data)
    return None


def is_nested(data: Value) -> bool:
    """Whether a batch is several tensors."""
    return isinstance(data, (list, tuple, dict)) and len(data) > 0


def nested_shapes(data: Value) -> Value:
    """The shapes of several tensors, nested as they are, tuples as lists; None where one is not known."""
    if isinstance(data, Tensor):
        return (None, *data.shape[1:]) if isinstance(data.shape, tuple) and data.shape else None
    if isinstance(data, dict):
        named = {name: nested_shapes(item) for name, item in data.items()}
        return None if any(shape is None for shape in named.values()) else named
    if isinstance(data, (list, tuple)):
        shapes = [nested_shapes(item) for item in data]
        return None if any(shape is None for shape in shapes) else shapes
    return None
