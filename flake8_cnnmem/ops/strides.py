"""How tensors lie in memory: strides, which reshapes are views, which layout a result gets.

Whether an op copies depends on this alone: a reshape of a permuted tensor makes a new one, and a matrix product
of it keeps that copy for the backward pass. Sizes here are plain numbers (at a probe batch size).
Rules after PyTorch's ATen/TensorUtils.cpp (computeStride), c10/core/MemoryFormat.h (channels last) and
ATen/TensorIterator.cpp (reorder_dimensions). TensorFlow's tensors are always contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Sizes: TypeAlias = tuple[int, ...]
Strides: TypeAlias = tuple[int, ...]


def contiguous(sizes: Sequence[int]) -> Strides:
    """The strides of a tensor whose last axis runs fastest."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        if size > 1:
            step *= size
    return tuple(strides[::-1])


def in_order(sizes: Sequence[int], order: Sequence[int]) -> Strides:
    """The strides of a dense tensor whose axes lie in this order, the slowest first."""
    strides = [1] * len(sizes)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(1, sizes[axis])
    return tuple(strides)


def is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the values lie one after the other in the order of the axes. Axes of one value do not count."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the values fill a block of memory without holes or overlap, in any order of the axes."""
    if is_contiguous(sizes, strides):
        return True
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(sizes, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def is_channels_last(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a map of two or three sides has its channels running fastest (c10's is_channels_last_strides)."""
    rank = len(sizes)
    if rank not in (4, 5) or strides[1] == 0:
        return False
    least = 0
    for axis in (1, *range(rank - 1, 1, -1), 0):
        if sizes[axis] == 0 or strides[axis] < least or (axis == 0 and least == strides[1]):
            return False
        least = strides[axis] * max(1, sizes[axis])
    return True


def channels_last(sizes: Sequence[int]) -> Strides:
    """The strides of a map whose channels (axis 1) run fastest."""
    rank = len(sizes)
    return in_order(sizes, (0, *range(2, rank), 1)) if rank > 2 else contiguous(sizes)


def suggested(sizes: Sequence[int], source: Sequence[int], strides: Sequence[int]) -> Strides:
    """The layout of a result of `sizes` that follows its input's: channels last if that is, else contiguous."""
    if len(sizes) == len(source) and is_channels_last(source, strides):
        return channels_last(sizes)
    return contiguous(sizes)


def suggested_of_maps(sizes: Sequence[int], source: Sequence[int], strides: Sequence[int]) -> Strides:
    """As `suggested`, where maps of one side are read as those of two, of a single row (`unsqueeze(-2)`)."""
    if len(sizes) != 3 or len(source) != 3:
        return suggested(sizes, source, strides)
    rows = (*strides[:2], source[2] * strides[2], strides[2])
    found = suggested((*sizes[:2], 1, sizes[2]), (*source[:2], 1, source[2]), rows)
    return (*found[:2], found[3])


def fits(sizes: Sequence[int], target: Sequence[int]) -> bool:
    """Whether a tensor of `sizes` can be read as one of `target`, by repeating axes of one value."""
    if len(sizes) > len(target):
        return False
    ends = zip(reversed(sizes), reversed(target), strict=False)
    return all(own in (1, wanted) for own, wanted in ends)


def broadcast(sizes: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> Strides:
    """The strides with which a tensor is read as one of `target`: 0 along axes that are repeated."""
    extra = len(target) - len(sizes)
    own = [0 if size == 1 and target[extra + at] != 1 else strides[at] for at, size in enumerate(sizes)]
    return (0,) * extra + tuple(own)


def elementwise(sizes: Sequence[int], operands: Sequence[tuple[Sizes, Strides]]) -> Strides:
    """The layout of the result of arithmetic on each value: that of the operands, the first one deciding."""
    full = [(own, strides) for own, strides in operands if tuple(own) == tuple(sizes)]
    if full and len(full) == len(operands):
        first = full[0][1]
        if all(strides == first for _, strides in full) and is_dense(sizes, first):
            return tuple(first)
    read = [broadcast(own, strides, sizes) for own, strides in operands]
    order = list(range(len(sizes) - 1, -1, -1))
    for start in range(1, len(order)):
        at = start
        for other in range(start - 1, -1, -1):
            swap = _compare(sizes, read, order[other], order[at])
            if swap > 0:
                order[other], order[at] = order[at], order[other]
                at = other
            elif swap < 0:
                break
    return in_order(sizes, order[::-1])


def _compare(sizes: Sequence[int], operands: Sequence[Strides], left: int, right: int) -> int:
    """Whether the axis `left` must lie outside of `right` (1), inside (-1), or either."""
    for strides in operands:
        if strides[left] == 0 or strides[right] == 0:
            continue
        if strides[left] != strides[right]:
            return -1 if strides[left] < strides[right] else 1
        if sizes[left] > sizes[right]:
            return 1
    return 0


def reshape(sizes: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> Strides | None:
    """The strides with which the same memory is a tensor of `target`; None where that needs a copy."""
    if 0 in sizes:
        return contiguous(target)
    if not sizes:
        return (1,) * len(target)
    result = [0] * len(target)
    at = len(target) - 1
    base = strides[-1]
    chunk = view = 1
    for axis in range(len(sizes) - 1, -1, -1):
        chunk *= sizes[axis]
        if axis == 0 or (sizes[axis - 1] != 1 and strides[axis - 1] != chunk * base):
            while at >= 0 and (view < chunk or target[at] == 1):
                result[at] = view * base
                view *= target[at]
                at -= 1
            if view != chunk:
                return None
            if axis > 0:
                base = strides[axis - 1]
                chunk = view = 1
    return tuple(result) if at == -1 else None
