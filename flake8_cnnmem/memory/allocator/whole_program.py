"""A whole program in one loop, for an allocator that is left as PyTorch has it: what `caching` does event by event, in
a third of the time. Nearly all cards are asked about with such a one, and a largest batch takes some five runs."""

from __future__ import annotations

from bisect import bisect_left, insort

from flake8_cnnmem.memory.allocator.caching import (
    DEFAULTS,
    ENDLESS,
    LARGE_ROUNDING,
    MIN_LARGE,
    SMALL,
    SMALL_SEGMENT,
    SMALLEST,
)
from flake8_cnnmem.memory.allocator.program import Program

TURNS = 32
"""Bits of a free block's key below its size: the block's number."""

NUMBER = (1 << TURNS) - 1


def run_whole(program: Program, batch: int, room: int | None) -> tuple[int, int] | None:
    """The most bytes that the program has allocated and reserved at a batch size, with so many bytes of a card (None:
    as many as it wants); None where these do not do."""
    sizes = [-(-line.at(batch) // SMALLEST) * SMALLEST for line in program.lots]
    left = ENDLESS if room is None else room
    small: list[int] = []
    large: list[int] = []
    # By the place of a request its block, 0 where there is none.
    held = [0] * len(program.requests)
    # Blocks are numbered from 1 on, as they are made. Of each its size, its neighbours in the segment (0 where there is
    # none), and its key, which is 0 while it is in use: keys order the free blocks of a pool, the smallest first, of
    # those of one size the oldest.
    size_of, before, after, keys = [0], [0], [0], [0]
    number = allocated = reserved = most_allocated = most_reserved = 0
    for at, request in enumerate(program.requests):
        if request < 0:
            block = held[-1 - request]
            if not block:
                continue
            size = size_of[block]
            allocated -= size
            # What is handed out of the small pool is as large as what was asked for.
            pool = small if size <= SMALL else large
            other = before[block]
            if other and keys[other]:
                del pool[bisect_left(pool, keys[other])]
                size += size_of[other]
                before[block] = other = before[other]
                if other:
                    after[other] = block
            other = after[block]
            if other and keys[other]:
                del pool[bisect_left(pool, keys[other])]
                size += size_of[other]
                after[block] = other = after[other]
                if other:
                    before[other] = block
            size_of[block] = size
            keys[block] = key = size << TURNS | block
            insort(pool, key)
            continue
        size = sizes[request]
        if not size:
            # What takes nothing at this batch size is not asked for.
            continue
        pool = small if size <= SMALL else large
        place = bisect_left(pool, size << TURNS)
        if place < len(pool):
            block = pool.pop(place) & NUMBER
        else:
            wanted = segment(size)
            if reserved + wanted > left:
                for each in (small, large):
                    gone = whole_segments(each, before, after)
                    reserved -= sum(key >> TURNS for key in gone)
                    each[:] = [key for key in each if key not in gone]
                if reserved + wanted > left:
                    return None
            reserved += wanted
            if reserved > most_reserved:
                most_reserved = reserved
            number = block = number + 1
            size_of.append(wanted)
            before.append(0)
            after.append(0)
            keys.append(0)
        rest = size_of[block] - size
        if rest > SMALL or (rest and pool is small):
            number += 1
            other = before[block]
            size_of.append(size)
            before.append(other)
            after.append(block)
            keys.append(0)
            before[block] = number
            if other:
                after[other] = number
            size_of[block] = rest
            keys[block] = key = rest << TURNS | block
            insort(pool, key)
            block = number
        else:
            keys[block] = 0
            size = size_of[block]
        held[at] = block
        allocated += size
        if allocated > most_allocated:
            most_allocated = allocated
    return most_allocated, most_reserved


def segment(size: int) -> int:
    """The bytes of the segment that is made for a request."""
    if size <= SMALL:
        return SMALL_SEGMENT
    return DEFAULTS.large_segment if size < MIN_LARGE else -(-size // LARGE_ROUNDING) * LARGE_ROUNDING


def whole_segments(pool: list[int], before: list[int], after: list[int]) -> frozenset[int]:
    """The keys of the free blocks that have no neighbours: segments of which nothing is in use."""
    return frozenset(key for key in pool if not before[key & NUMBER] and not after[key & NUMBER])
