"""What a sum over some axes of a tensor takes beside its result on an NVIDIA GPU.

A sum whose rows are too many for the threads of one block is split over several blocks, which leave their parts in
memory: twice the summed tensor in float32 where a Linear layer's gradient is summed over a thousand rows for its bias.
How it is split depends on the card. After setReduceConfig of aten/src/ATen/native/cuda/Reduce.cuh; every figure of
fixtures/truth/reductions.json comes out to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import TypeAlias

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.ops.base import axes_of
from flake8_cnnmem.unknown import Unknown

THREADS = 512
"""The most that a block of a reduction has."""
WARP = 32
VECTOR = 4
"""Values that a thread loads at once."""
LEAST, MOST = 16, 256
"""Values that a thread is to have for a split over blocks, and from how many on there is one."""
ADDRESSED = 2**31 - 1
"""Bytes that a kernel addresses with 32 bits; a larger tensor is reduced in parts."""

Axis: TypeAlias = "tuple[int, int, int]"
"""Its size, the stride in the result (0 where it is summed), and in what is summed."""


@dataclass(frozen=True, slots=True)
class Buffer(Line):
    """The bytes of a reduction's buffer: no affine function of the batch size, so that `fixed` and `each` are 0.

    `order` are the axes from the outermost in memory to the innermost, without the repeated ones, whose stride is 0;
    `pitch` how far each of them reaches beyond the next one, as a fraction: (1, 1) where there are no holes.
    `value` and `accumulator` are the bytes of one value of the tensor, and of one that is being summed up. `part`: 0
    for the buffer itself, 1 for its semaphores, which are a block of their own; None for both.
    """

    shape: tuple[dims.Size, ...] = ()
    axes: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()
    pitch: tuple[tuple[int, int], ...] = ()
    value: int = 4
    accumulator: int = 4
    chip: Chip = field(default=ASSUMED)
    part: int | None = None

    def at(self, batch: int) -> int:
        known = [dims.at_batch(size, batch) for size in self.shape]
        sizes = tuple(size for size in known if isinstance(size, int))
        strides = [0] * len(sizes)
        each = 1
        for axis, (more, less) in zip(reversed(self.order), reversed(self.pitch), strict=True):
            each = each * more // less
            strides[axis] = each
            each *= sizes[axis]
        found = buffer_bytes(sizes, tuple(strides), self.axes, self.value, self.accumulator, self.chip)
        return sum(found) if self.part is None else found[self.part]


@dataclass(frozen=True, slots=True)
class Excess(Line):
    """The bytes by which a block exceeds another one, that is there when the first is gone; none where it does not."""

    of: Line = field(default_factory=Line)
    over: Line = field(default_factory=Line)

    def at(self, batch: int) -> int:
        return max(0, self.of.at(batch) - self.over.at(batch))


def buffer_of(
    shape: Shape | Unknown,
    strides: Sequence[int] | None,
    axes: Sequence[int],
    value: int,
    chip: Chip,
    accumulator: int = 4,
) -> Line:
    """The buffer of a sum over some axes of a tensor; none where its layout or a size is not known."""
    if isinstance(shape, Unknown) or strides is None or any(isinstance(size, Unknown) for size in shape):
        return Line()
    lying = sorted((axis for axis in range(len(shape)) if strides[axis]), key=lambda axis: -strides[axis])
    pitch = tuple(_pitch(shape, strides, *pair) for pair in zip(lying, [*lying[1:], None], strict=False))
    return Buffer(0, 0, tuple(shape), frozenset(axes), tuple(lying), pitch, value, max(accumulator, value), chip)


def _pitch(shape: Shape, strides: Sequence[int], axis: int, inner: int | None) -> tuple[int, int]:
    """How far an axis reaches beyond the next one in memory. One of as many values as the batch counts as dense."""
    if inner is None:
        return strides[axis], 1
    size = shape[inner]
    if not isinstance(size, int) or shape[axis] == 1 or not size or strides[axis] < strides[inner] * size:
        return 1, 1
    return strides[axis], strides[inner] * size


def blocks_of(line: Line) -> tuple[Line, ...]:
    """The blocks of memory that a reduction asks for: its buffer, then the semaphores."""
    return tuple(replace(line, part=part) for part in (0, 1)) if isinstance(line, Buffer) else (line,)


def axes_reduced(op: Op, rank: int) -> tuple[int, ...] | None:
    """The axes over which an op reduces an input of so many; None where they are not known, or not there."""
    own = getattr(op, "axes", None)
    if own in (None, ()):
        return tuple(range(rank))
    try:
        found = axes_of(own, rank)
    except Mismatch:
        return None
    return None if isinstance(found, Unknown) else found


def summed_axes(shape: Sequence[int], to: Sequence[int]) -> list[int]:
    """The axes over which a gradient is summed for an operand that was repeated to its shape (at::sum_to)."""
    ahead = len(shape) - len(to)
    return [axis for axis, size in enumerate(shape) if axis < ahead or (to[axis - ahead] == 1 and size != 1)]


@lru_cache(maxsize=4096)
def buffer_bytes(
    sizes: tuple[int, ...], strides: tuple[int, ...], axes: frozenset[int], value: int, accumulator: int, chip: Chip
) -> tuple[int, int]:
    """Bytes of the buffer, and of its semaphores."""
    sizes = _addressed(sizes, strides, value)
    outputs = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    inputs = math.prod(size for axis, size in enumerate(sizes) if axis in axes)
    if not outputs or not inputs:
        return 0, 0
    lying = _coalesced(sizes, strides, axes)
    summed = sum(not stride for _, stride, _ in lying)
    along = not lying or summed == len(lying) or (summed > 0 and lying[0][2] < lying[summed][2])
    width, height = (inputs, outputs) if along else (outputs, inputs)
    vector = 1
    fastest = 1 if not lying else lying[0 if along else summed][2]
    if fastest == 1 and along and width > 128 and len(lying) == 1:
        width //= VECTOR
    elif fastest == 1 and not along:
        vector = _vector(lying, summed)
        width //= vector
    block_x, block_y = _block(width, height, THREADS // vector)
    step = block_x if along else 1
    ahead = 1 if along else block_x
    # Across warps, if each thread then still has enough to do.
    split = -(-inputs // step) >= min(block_y * LEAST, MOST)
    step, ahead = (step * block_y, ahead) if split else (step, ahead * block_y)
    grid = -(-(outputs // vector) // ahead)
    wanted = chip.multiprocessors * (chip.threads // (block_x * block_y))
    each = -(-inputs // step)
    if not split or each < MOST or grid > wanted:
        return 0, 0
    blocks = max(min(-(-wanted // grid), -(-each // LEAST)), -(-each // MOST))
    if blocks == 1:
        return 0, 0
    # A block leaves one part for each of its columns, also where there are fewer outputs.
    parts = outputs * blocks * (1 if along else block_x * vector)
    return accumulator * parts, 4 * grid


def _addressed(sizes: tuple[int, ...], strides: tuple[int, ...], value: int) -> tuple[int, ...]:
    """The sizes of a part that a kernel can address: the axis that reaches farthest is halved until it is one."""
    while sizes:
        reach = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
        if sum(reach) * value < ADDRESSED:
            break
        at = reach.index(max(reach))
        sizes = (*sizes[:at], -(-sizes[at] // 2), *sizes[at + 1 :])
    return sizes


def _coalesced(sizes: Sequence[int], strides: Sequence[int], axes: frozenset[int]) -> list[Axis]:
    """The axes as TensorIterator sorts and merges them: the summed ones first, the fastest ones first among equals."""
    dense = layout.contiguous(tuple(1 if axis in axes else size for axis, size in enumerate(sizes)))
    found = [(size, 0 if axis in axes else dense[axis], strides[axis]) for axis, size in enumerate(sizes) if size != 1]
    lying = found[::-1]
    for last in range(1, len(lying)):
        at = last
        for before in range(last - 1, -1, -1):
            order = _compared(lying[before], lying[at])
            if order > 0:
                lying[before], lying[at] = lying[at], lying[before]
                at = before
            elif order:
                break
    merged: list[Axis] = []
    for size, result, stride in lying:
        own = merged[-1] if merged else (0, 0, 0)
        if own[0] and (own[0] * own[1], own[0] * own[2]) == (result, stride):
            merged[-1] = (own[0] * size, own[1], own[2])
        else:
            merged.append((size, result, stride))
    return merged


def _compared(before: Axis, after: Axis) -> int:
    """1 where the second axis belongs before the first, -1 where not, 0 where neither is said: a repeated axis."""
    if bool(before[1]) != bool(after[1]):
        return 1 if before[1] else -1
    for one, other in zip(before[1:], after[1:], strict=True):
        if one and other and one != other:
            return 1 if one > other else -1
    return 0


def _vector(lying: Sequence[Axis], summed: int) -> int:
    """How many neighbouring outputs a thread sums at once."""
    vector = VECTOR
    for number in (lying[summed][0], *(stride for at, (_, _, stride) in enumerate(lying) if at != summed)):
        while number % vector:
            vector //= 2
    return vector


def _block(width: int, height: int, most: int) -> tuple[int, int]:
    """The threads of a block along both axes."""
    x, y = _power(width, most), _power(height, most)
    block_x = min(x, WARP)
    block_y = min(y, most // block_x)
    return min(x, most // block_y), block_y


def _power(number: int, most: int) -> int:
    """The last power of two."""
    return 1 << (number.bit_length() - 1) if 0 < number < most else max(1, min(number, most))
