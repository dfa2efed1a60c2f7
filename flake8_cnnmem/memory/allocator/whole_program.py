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
"""Bits of a free block's key below its size: the turn in which it was made."""


class PoolBlock:
    """A block. `key` is 0 while it is in use; it orders the free ones of a pool, the smallest first, of those of one
    size the oldest."""

    __slots__ = ("after", "before", "key", "size", "turn")

    def __init__(self, size: int, turn: int, before: PoolBlock | None, after: PoolBlock | None) -> None:
        self.size = size
        self.turn = turn
        self.before = before
        self.after = after
        self.key = 0


def run_whole(program: Program, batch: int, room: int | None) -> tuple[int, int] | None:
    """The most bytes that the program has allocated and reserved at a batch size, with so many bytes of a card (None:
    as many as it wants); None where these do not do."""
    sizes = [-(-line.at(batch) // SMALLEST) * SMALLEST for line in program.lots]
    left = ENDLESS if room is None else room
    small: list[int] = []
    large: list[int] = []
    free: dict[int, PoolBlock] = {}
    held: dict[int, PoolBlock] = {}
    turn = allocated = reserved = most_allocated = most_reserved = 0
    for at, request in enumerate(program.requests):
        if request < 0:
            given = held.pop(-1 - request, None)
            if given is None:
                continue
            size = given.size
            allocated -= size
            # What is handed out of the small pool is as large as what was asked for.
            pool = small if size <= SMALL else large
            other = given.before
            if other is not None and other.key:
                del pool[bisect_left(pool, other.key)], free[other.key]
                size += other.size
                given.before = before = other.before
                if before is not None:
                    before.after = given
            other = given.after
            if other is not None and other.key:
                del pool[bisect_left(pool, other.key)], free[other.key]
                size += other.size
                given.after = after = other.after
                if after is not None:
                    after.before = given
            given.size = size
            given.key = key = size << TURNS | given.turn
            insort(pool, key)
            free[key] = given
            continue
        size = sizes[request]
        if not size:
            # What takes nothing at this batch size is not asked for.
            continue
        pool = small if size <= SMALL else large
        place = bisect_left(pool, size << TURNS)
        if place < len(pool):
            block = free.pop(pool.pop(place))
        else:
            wanted = segment(size)
            if reserved + wanted > left:
                reserved -= given_back(small, free) + given_back(large, free)
                if reserved + wanted > left:
                    return None
            reserved += wanted
            if reserved > most_reserved:
                most_reserved = reserved
            turn += 1
            block = PoolBlock(wanted, turn, None, None)
        rest = block.size - size
        if rest > SMALL or (rest and pool is small):
            turn += 1
            before = block.before
            block.before = front = PoolBlock(size, turn, before, block)
            if before is not None:
                before.after = front
            block.size = rest
            block.key = key = rest << TURNS | block.turn
            insort(pool, key)
            free[key] = block
            block = front
        else:
            block.key = 0
        held[at] = block
        allocated += block.size
        if allocated > most_allocated:
            most_allocated = allocated
    return most_allocated, most_reserved


def segment(size: int) -> int:
    """The bytes of the segment that is made for a request."""
    if size <= SMALL:
        return SMALL_SEGMENT
    return DEFAULTS.large_segment if size < MIN_LARGE else -(-size // LARGE_ROUNDING) * LARGE_ROUNDING


def given_back(pool: list[int], free: dict[int, PoolBlock]) -> int:
    """Segments of which nothing is in use leave the pool: their bytes."""
    gone = [key for key in pool if free[key].before is None and free[key].after is None]
    if gone:
        leaving = frozenset(gone)
        pool[:] = [key for key in pool if key not in leaving]
    return sum(free.pop(key).size for key in gone)
