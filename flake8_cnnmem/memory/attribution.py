"""Which ops the bytes that wait for the backward pass are kept for."""

from __future__ import annotations

from collections.abc import Callable, Collection

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.tape import Entry


def kept_by(
    tape: list[Entry], fixed: Collection[int], batch: int, name: Callable[[Call], str]
) -> tuple[tuple[str, int], ...]:
    """The bytes that autograd keeps after the forward pass by op, in order; each storage with the first op that holds
    it, those in `fixed` (weights and inputs, by id) with none. A checkpointed stretch stands by its first op."""
    counted = set(fixed)
    found: dict[str, int] = {}
    for entry in tape:
        label = name(entry.label)
        for storage in entry.saved:
            if id(storage) not in counted:
                counted.add(id(storage))
                found[label] = found.get(label, 0) + storage.line.at(batch)
    return tuple((label, size) for label, size in found.items() if size)
