"""What sorting takes beside its results on an NVIDIA GPU.

Rows of up to 4,096 values are sorted where they lie, by a row of places. Longer ones go through cub's radix sort, whose
buffers are larger than what they sort: one row at a time, a few rows as one with their numbers beside the places, many
rows side by side. What does not lie along the axis is copied first, and so are the results. After sort_cuda_kernel and
launch_stable_sort_kernel of aten/src/ATen/native/cuda (Sort.cpp, SortStable.cu); cub's own buffers as CUDA 13 asked for
them, on chips of four capabilities.
"""

from __future__ import annotations

import math
from dataclasses import field

from flake8_cnnmem import dims
from flake8_cnnmem.graph import Call
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.storages import Form, Memory
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.ops.base import axes_of
from flake8_cnnmem.ops.reduce import Reduce, Sort, TopK
from flake8_cnnmem.unknown import Unknown

SHORT = 4096
"""So many values of a row are sorted where they lie (should_use_small_sort)."""
LONG, MANY = 1_000_000, 128
"""Rows of so many values are sorted one after the other; so many rows side by side."""
PLACE = 8
"""Bytes of a place."""
DIGITS, COUNT, STEP = 256, 8, 4
"""A pass of a radix sort goes by eight bits; bytes of a count, and of the state of a tile for each digit."""
BLOCKS, SCANNED = 5, 11_264
"""Times that a sort of narrow keys fills the card, and values that its scan goes through at once."""
TILES = {
    7: {4: 2816, 8: 2816},
    8: {4: 3072, 8: 3840},
    9: {1: 3456, 2: 5632, 4: 5376, 8: 4608},
}
"""Values of one block of cub's sort in a single sweep, by the chip's major capability and the bytes of a key; those of
later chips are taken for those of 9.0. Keys that are not there are sorted in three sweeps."""


@dataclass(frozen=True, slots=True)
class Buffer(Line):
    """The bytes of one of the buffers of a sort of a tensor of this shape along `axis` (None: of all its values): no
    affine function of the batch size, so that `fixed` and `each` are 0. `key` are the bytes of a value."""

    shape: tuple[dims.Size, ...] = ()
    axis: int | None = None
    key: int = 4
    chip: Chip = field(default=ASSUMED)
    number: int = 0

    def at(self, batch: int) -> int:
        sizes = [dims.at_batch(size, batch) for size in self.shape]
        known = [size for size in sizes if isinstance(size, int)]
        total = math.prod(known)
        row = total if self.axis is None else known[self.axis]
        found = buffers(total, row, self.key, self.chip)
        return found[self.number] if self.number < len(found) else 0


MOST = 4
"""Buffers of a sort."""


def buffers(total: int, row: int, key: int, chip: Chip) -> tuple[int, ...]:
    """Those of so many values in rows, in their order."""
    if not total or not row:
        return ()
    if row <= SHORT:
        return (PLACE * row,)
    rows = total // row
    if rows == 1 or row >= LONG:
        return PLACE * row, sweeps(row, key, chip)
    if rows < MANY:
        return PLACE * total, PLACE * total, key * total, sweeps(total, key, chip)
    return PLACE * total, padded(key * total) + padded(PLACE * total) + DIGITS - 1


def padded(size: int) -> int:
    return -(-size // DIGITS) * DIGITS


def sweeps(values: int, key: int, chip: Chip) -> int:
    """What cub::DeviceRadixSort::SortPairs asks for: room for keys and places, and counts."""
    tile = TILES[min(max(chip.major, 7), 9)].get(key)
    second = padded(key * values) + padded(PLACE * values) if tile is None or key > 1 else 0
    if tile is None:
        blocks = chip.multiprocessors * (chip.threads // (512 // key)) * BLOCKS
        return second + STEP * (blocks * DIGITS + SCANNED) + DIGITS - 1
    return second + key * DIGITS * COUNT + -(-values // tile) * DIGITS * STEP + 2 * DIGITS - 1


def sorted_by(memory: Memory, call: Call, form: Form) -> list[int]:
    """The lots that are there while an op sorts what lies in this form: copies that lie along the axis, and buffers."""
    if memory.chip is None or isinstance(form.shape, Unknown) or any(isinstance(size, Unknown) for size in form.shape):
        return []
    op, shape = call.op, form.shape
    axis: int | None = None
    along = op.axis if isinstance(op, Sort | TopK) else op.axes if isinstance(op, Reduce) else None
    if along is not None and shape:
        found = axes_of(along, len(shape))
        if isinstance(found, Unknown) or len(found) != 1:
            return []
        axis = found[0]
    lots: list[int] = []
    each = size_of(form.dtype)
    if isinstance(op, TopK):
        # What is chosen is sorted, into results of its own.
        shape = call.outputs[0].shape if isinstance(call.outputs[0].shape, tuple) else ()
        chosen = shape[axis] if shape and axis is not None else None
        if not isinstance(chosen, int) or chosen <= SHORT:
            return []
        lots = [memory.lot(dims.product(shape), PLACE), memory.lot(dims.product(shape), each)]
    elif axis is not None and form.sizes is not None and form.sizes and form.sizes[axis] > SHORT:
        lots = copies(memory, form, axis, each)
    made = [Buffer(0, 0, tuple(shape), axis, each, memory.chip, number) for number in range(MOST)]
    used = [line for line in made if line.at(memory.probe)]
    return [*lots, *(memory.timeline.lot(line, "temporaries") for line in used)]


def copies(memory: Memory, form: Form, axis: int, each: int) -> list[int]:
    """The lots of a copy along an axis, and of results that lie like it."""
    sizes, strides = form.sizes, form.strides
    if sizes is None or strides is None:
        return []
    dense = layout.is_dense(sizes, strides)
    if dense and strides[axis] == 1:
        return []
    lots = [memory.lot(form.values, each)]
    if math.prod(sizes) != sizes[axis] and (strides[axis] != 1 if dense else axis != len(sizes) - 1):
        lots += [memory.lot(form.values, each), memory.lot(form.values, PLACE)]
    return lots
