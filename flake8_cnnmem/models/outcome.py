"""What a call of a model gave: its tensors, and what was not known on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.ops.derivative import NotDerived
from flake8_cnnmem.ops.either import Either
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def tensors_in(value: Value, depth: int = 6) -> Iterator[Tensor]:
    """The tensors in what a model gives: tuples, lists, dicts and objects with tensor attributes."""
    if isinstance(value, Tensor):
        yield value
    elif depth == 0:
        return
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, Instance):
        items = list(tensors_in(value.payload, depth - 1))
        yield from items
        # A dict whose keys are attributes as well has each of them once.
        yield from (each for each in tensors_in(value.attributes, depth - 1) if all(each is not one for one in items))


def unknown_in(value: Value, depth: int = 6) -> Iterator[Unknown]:
    """What is not known of what a model gives, where it may be a tensor: one that nobody follows would leave without a
    word. A number is none."""
    if isinstance(value, Unknown):
        if not value.number:
            yield value
    elif depth == 0:
        return
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from unknown_in(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from unknown_in(item, depth - 1)
    elif isinstance(value, Instance):
        yield from unknown_in(value.payload, depth - 1)
        yield from unknown_in(value.attributes, depth - 1)


def doubts(calls: Sequence[Call]) -> Iterator[Unknown]:
    """What was not known on the way: shapes, and branches whose test is open."""
    for call in calls:
        if isinstance(call.op, (Either, NotDerived)):
            yield call.op.cause
        for tensor in call.outputs:
            if isinstance(tensor.shape, Unknown):
                yield tensor.shape
            else:
                unknown = dims.first_unknown(tensor.shape)
                if unknown is not None:
                    yield unknown
