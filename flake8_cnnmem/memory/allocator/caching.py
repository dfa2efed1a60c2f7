"""PyTorch's caching allocator on the card: from sizes that are asked for and given back to what it reserves.

After c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.12 (DeviceCachingAllocator), for one stream: blocks of 512 bytes
and more from segments that stay the process's own until the card is full. `expandable.py` has the segments that grow.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TypeAlias

from flake8_cnnmem.memory.allocator.settings import MIB, POWERS, AllocatorSettings

SMALLEST = 512
"""All sizes are multiples of this."""
SMALL = MIB
"""The largest request that is taken from the small pool."""
SMALL_SEGMENT = 2 * MIB
MIN_LARGE = 10 * MIB
"""The smallest request that gets a segment of its own."""
LARGE_ROUNDING = 2 * MIB
ENDLESS = 1 << 200

DEFAULTS = AllocatorSettings()


class OutOfMemory(Exception):
    """The card has no room for a request, with every unused segment given back: `size` bytes were missing."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Block:
    """A part of a segment, or the whole of it. `turn` counts the blocks that were made: of free ones of one size the
    oldest is handed out first. (That is what 2.12 does; releases before it take the lowest address.)"""

    __slots__ = ("address", "age", "following", "free", "mapped", "preceding", "size", "small", "turn")

    def __init__(self, address: int, size: int, small: bool, turn: int) -> None:
        self.address = address
        self.size = size
        self.small = small
        self.turn = turn
        self.free = False
        self.mapped = True
        self.age = 0
        self.preceding: Block | None = None
        self.following: Block | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is a segment that is not split."""
        return self.preceding is None and self.following is None


Free: TypeAlias = "tuple[int, int, Block]"
"""A free block by its size and turn."""


class CachingAllocator:
    """One device's allocator. `room` are the bytes that are left of the card for it, None for as many as it wants;
    `card` is what the card has in all, of which a process may allow itself a fraction.

    `allocated` and `reserved` are in use and taken from the card now, `most_allocated` and `most_reserved` the highest
    that they were (`torch.cuda.max_memory_allocated`, `max_memory_reserved`), `retries` how often unused segments were
    given back to make room.
    """

    def __init__(
        self, room: int | None = None, settings: AllocatorSettings = DEFAULTS, card: int | None = None
    ) -> None:
        self.settings = settings
        self.room = ENDLESS if room is None else room
        self.allowed: int | None = None
        if settings.fraction and card is not None:
            self.allowed = int(settings.fraction * card)
            self.room = min(self.room, self.allowed)
        self.max_split = settings.max_split or ENDLESS
        self.small: list[Free] = []
        self.large: list[Free] = []
        self.turns = 0
        self.searches = [0, 0]
        self.allocated = self.reserved = self.most_allocated = self.most_reserved = self.retries = 0
        self.ends = 0
        """Where the next segment lies: addresses are never used again."""

    # What callers do.

    def allocate(self, asked: int) -> Block:
        """A block of at least so many bytes; OutOfMemory where there is no room for one."""
        size = self.rounded(asked)
        small = size <= SMALL
        block = self.taken(size, small)
        if block is None:
            if self.settings.collects and self.allowed is not None:
                self.collect(int(self.settings.collects * self.allowed))
            block = self.new_segment(size, small)
            if block is None and self.settings.max_split and self.give_back_enough(size, small):
                block = self.new_segment(size, small)
            if block is None:
                self.give_back()
                self.retries += 1
                block = self.new_segment(size, small)
            if block is None:
                raise OutOfMemory(size)
        if self.splits(block, size):
            block = self.split(block, size)
        block.free = False
        self.allocated += block.size
        if self.allocated > self.most_allocated:
            self.most_allocated = self.allocated
        return block

    def release(self, block: Block) -> None:
        """A block is not needed any more: merged with its free neighbours it waits for the next request."""
        self.allocated -= block.size
        pool = self.small if block.small else self.large
        for other in (block.preceding, block.following):
            if other is not None and other.free and other.mapped:
                del pool[bisect_left(pool, (other.size, other.turn))]
                self.merge(block, other)
        self.keep(block)

    def empty_cache(self) -> None:
        """torch.cuda.empty_cache()."""
        self.give_back()

    # Blocks.

    def rounded(self, asked: int) -> int:
        """The bytes that a request takes."""
        divisions = 0
        if self.settings.divisions and asked >= SMALLEST:
            power = asked.bit_length() - 1 - (MIB.bit_length() - 1)
            divisions = self.settings.divisions[min(max(power, 0), POWERS - 1)]
        if divisions > 1 and asked > SMALLEST * divisions:
            return next_division(asked, divisions)
        return max(SMALLEST, -(-asked // SMALLEST) * SMALLEST)

    def taken(self, size: int, small: bool) -> Block | None:
        """The smallest free block that is large enough."""
        pool = self.small if small else self.large
        self.searches[small] += 1
        at = bisect_left(pool, (size,))
        if at == len(pool):
            return None
        block = pool[at][2]
        if size < self.max_split:
            if block.size >= self.max_split:
                return None
        elif block.size >= size + self.settings.rounding:
            return None
        del pool[at]
        return block

    def splits(self, block: Block, size: int) -> bool:
        """Whether what a request leaves of a block is a block of its own."""
        rest = block.size - size
        return rest >= SMALLEST if block.small else rest > SMALL and size < self.max_split

    def split(self, block: Block, size: int) -> Block:
        """The front of a block; the rest of it is free."""
        self.turns += 1
        front = Block(block.address, size, block.small, self.turns)
        front.preceding, front.following = block.preceding, block
        if block.preceding is not None:
            block.preceding.following = front
        block.preceding = front
        block.address += size
        block.size -= size
        self.keep(block)
        return front

    def keep(self, block: Block) -> None:
        """Put a block among the free ones."""
        block.free = True
        block.age = self.searches[block.small]
        insort(self.small if block.small else self.large, (block.size, block.turn, block))

    def merge(self, block: Block, other: Block) -> None:
        """A neighbour becomes part of a block."""
        if other is block.preceding:
            block.address = other.address
            block.preceding = other.preceding
            if other.preceding is not None:
                other.preceding.following = block
        else:
            block.following = other.following
            if other.following is not None:
                other.following.preceding = block
        block.size += other.size

    # Segments.

    def new_segment(self, size: int, small: bool) -> Block | None:
        """A block that is a segment of its own; None where the card is full."""
        if small:
            wanted = SMALL_SEGMENT
        elif size < MIN_LARGE:
            wanted = self.settings.large_segment
        else:
            wanted = -(-size // LARGE_ROUNDING) * LARGE_ROUNDING
        if not self.reserve(wanted):
            return None
        self.turns += 1
        block = Block(self.ends, wanted, small, self.turns)
        self.ends += wanted
        return block

    def reserve(self, size: int) -> bool:
        """Take so many bytes from the card."""
        if self.reserved + size > self.room:
            return False
        self.reserved += size
        if self.reserved > self.most_reserved:
            self.most_reserved = self.reserved
        return True

    def give_back(self) -> None:
        """Every segment of which nothing is in use goes back to the card."""
        for pool in (self.small, self.large):
            gone = [free for free in pool if free[2].is_whole]
            if gone:
                pool[:] = [free for free in pool if not free[2].is_whole]
                self.reserved -= sum(free[0] for free in gone)

    def give_back_enough(self, size: int, small: bool) -> bool:
        """With a limit for splitting: the smallest unused block that is large enough goes back to the card, else the
        largest ones until they are as large together."""
        pool = self.small if small else self.large
        wanted = max(size, self.max_split)
        at = bisect_left(pool, (wanted,))
        if at < len(pool):
            self.reserved -= pool.pop(at)[0]
            return True
        gone = 0
        while pool and gone < wanted and pool[-1][0] >= self.max_split:
            gone += pool.pop()[0]
        self.reserved -= gone
        return gone >= wanted

    def collect(self, allowed: int) -> None:
        """Segments go back to the card that were not used for longer than others, when more than so much is
        reserved."""
        if self.reserved <= allowed:
            return
        wanted, gone = self.reserved - allowed, 0
        whole = [free[2] for free in self.large if free[2].is_whole]
        searches = self.searches[False]
        while gone < wanted and whole:
            average = sum(searches - block.age for block in whole) / len(whole)
            old = [block for block in whole if searches - block.age >= average]
            if not old:
                break
            gone += sum(block.size for block in old)
            whole = [block for block in whole if searches - block.age < average]
            turns = {block.turn for block in old}
            self.large = [free for free in self.large if free[1] not in turns]
        self.reserved -= gone


def next_division(size: int, divisions: int) -> int:
    """A size rounded up to the next of so many equal parts between two powers of two."""
    power = 1 << (size.bit_length() - 1)
    if size in (power, 0):
        return size
    part = power >> (divisions.bit_length() - 1)
    return -(-size // part) * part if part else 2 * power
