"""The leaves of a step's graph: what its ops read that none of them has made, weights aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown


def leaves_of(calls: Sequence[Call]) -> Iterator[Tensor]:
    """What the calls read that none of them has made, weights aside."""
    made: set[int] = set()
    for call in calls:
        for tensor in call.inputs:
            if id(tensor) not in made and not isinstance(tensor, Weight):
                yield tensor
        made.update(map(id, call.outputs))


def storage_of(tensor: Tensor) -> Tensor:
    """The tensor in whose storage one lies that the code has computed of data alone: itself, unless it was read off
    another one by views, none of which had to copy."""
    if tensor.view_of is not None:
        return storage_of(tensor.view_of)
    chain = [(tensor, sizes_of(tensor))]
    while (whole := viewed_by(chain[-1][0])) is not None:
        chain.append((whole, sizes_of(whole)))
    found, before = chain.pop()
    strides = None if before is None else layout.contiguous(before)
    for view, sizes in reversed(chain):
        if view.call is None or before is None or strides is None or sizes is None:
            return tensor
        strides = view.call.op.view_strides(before, strides, sizes)
        if strides is None:
            found, strides = view, layout.contiguous(sizes)
        before = sizes
    return found


def memory_of(tensor: Tensor) -> Tensor:
    """The tensor in whose memory one lies: as `storage_of`, and what was written in place is what it was before."""
    while True:
        tensor = storage_of(tensor)
        call = tensor.call
        if call is None or not call.inputs or not call.op.in_place or len(call.outputs) > 1:
            return tensor
        tensor = call.inputs[0]


def viewed_by(tensor: Tensor) -> Tensor | None:
    """What a tensor is a view of; None where it is the result of no view, or a copy of one on another device."""
    call = tensor.call
    if call is None or len(call.inputs) != 1 or getattr(call.op, "view", False) is not True:
        return None
    outputs = call.outputs
    made = tensor is outputs[0] if len(outputs) == 1 else id(tensor) in ids_of(call)
    return call.inputs[0] if made else None


@lru_cache(maxsize=16)
def ids_of(call: Call) -> frozenset[int]:
    """The outputs of a call, by id: one that gives the rows of a data set has many."""
    return frozenset(map(id, call.outputs))


def sizes_of(tensor: Tensor) -> tuple[int, ...] | None:
    """The sizes of a tensor, where all of them are numbers."""
    if isinstance(tensor.shape, Unknown):
        return None
    sizes = tuple(size for size in tensor.shape if isinstance(size, int))
    return sizes if len(sizes) == len(tensor.shape) else None
