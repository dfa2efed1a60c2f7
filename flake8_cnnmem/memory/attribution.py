"""Which ops the bytes that wait for the backward pass are kept for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.call_names import name_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.tape import Entry

Keeping: TypeAlias = "Sequence[tuple[Call, Line]]"
"""What is kept, each storage with the first op that holds it."""


def keeping(tape: Sequence[Entry], fixed: Collection[int]) -> Keeping:
    """What autograd keeps after the forward pass, in the order of the calls; those storages in `fixed` (weights and
    inputs, by id) are nobody's. A checkpointed stretch stands by its first op."""
    counted = set(fixed)
    found: list[tuple[Call, Line]] = []
    for entry in tape:
        for storage in entry.saved:
            if id(storage) not in counted:
                counted.add(id(storage))
                found.append((entry.label, storage.line))
    return found


def kept_by(kept: Keeping, batch: int, names: Mapping[int, str]) -> tuple[tuple[str, int], ...]:
    """The bytes by op, in order."""
    found: dict[str, int] = {}
    for call, line in kept:
        label = name_of(call, names)
        found[label] = found.get(label, 0) + line.at(batch)
    return tuple((label, size) for label, size in found.items() if size)
