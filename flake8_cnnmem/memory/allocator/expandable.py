"""The allocator with `expandable_segments:True`: one segment for each pool, which grows by pages and is split anywhere.

After CUDACachingAllocator.cpp of PyTorch 2.12 (find_expandable_block, try_allocate_expandable_block, map_block,
unmap_block): addresses are reserved once, memory is put behind them in pages of 2 MiB for small requests and of 20 MiB
for large ones, and whole pages of which nothing is in use are taken away again when the card is full.
"""

from __future__ import annotations

from bisect import bisect_left

from flake8_cnnmem.memory.allocator.caching import (
    DEFAULTS,
    ENDLESS,
    SMALL_SEGMENT,
    SMALLEST,
    Block,
    CachingAllocator,
)
from flake8_cnnmem.memory.allocator.settings import AllocatorSettings


class ExpandableAllocator(CachingAllocator):
    """`CachingAllocator` with expandable segments. A segment has addresses for nine eighths of the card's memory."""

    def __init__(
        self, room: int | None = None, settings: AllocatorSettings = DEFAULTS, card: int | None = None
    ) -> None:
        super().__init__(room, settings, card)
        whole = card or room or ENDLESS
        self.addresses = whole + whole // 8
        self.unmapped: dict[bool, list[Block]] = {True: [], False: []}
        """The blocks of a pool's segments that have no memory behind them."""

    def taken(self, size: int, small: bool) -> Block | None:
        """The smallest free block that is large enough; one that can grow counts as large as it can become."""
        pool = self.small if small else self.large
        self.searches[small] += 1
        at = bisect_left(pool, (size,))
        if at == len(pool):
            return None
        while at + 1 < len(pool) and could_be(pool[at + 1][2]) < could_be(pool[at][2]):
            at += 1
        return pool.pop(at)[2]

    def splits(self, block: Block, size: int) -> bool:
        return block.size - size >= SMALLEST

    def new_segment(self, size: int, small: bool) -> Block | None:
        """A block of this size where the first addresses are free for it, with memory behind all of it."""
        block = self.room_for(size, small)
        if not block.mapped and not self.map(block, min(block.size, size)):
            return None
        while block.size < size:
            after = block.following
            assert after is not None
            if not self.map(after, min(size - block.size, after.size)):
                return None
            block = after
        pool = self.small if small else self.large
        del pool[bisect_left(pool, (block.size, block.turn))]
        return block

    def room_for(self, size: int, small: bool) -> Block:
        """The first block without memory that has room for a request, or the free one before it; in a new segment
        where there is none."""
        for block in sorted(self.unmapped[small], key=lambda block: block.address):
            first = block.preceding if block.preceding is not None and block.preceding.free else block
            found, at = 0, first
            while found < size and at.free:
                found += at.size
                if at.following is None:
                    break
                at = at.following
            if found >= size:
                return first
        page = self.page(small)
        self.turns += 1
        # A segment begins where its pages do, so that addresses alone tell them apart.
        made = Block(-(-self.ends // page) * page, -(-self.addresses // page) * page, small, self.turns)
        self.ends = made.address + made.size
        made.free, made.mapped = True, False
        self.unmapped[small].append(made)
        return made

    def map(self, block: Block, size: int) -> bool:
        """Put memory behind the first bytes of a block, in whole pages."""
        page = self.page(block.small)
        size = -(-size // page) * page
        if not self.reserve(size):
            return False
        pool = self.small if block.small else self.large
        self.unmapped[block.small].remove(block)
        block.mapped = True
        if size < block.size:
            self.turns += 1
            rest = Block(block.address + size, block.size - size, block.small, self.turns)
            rest.free, rest.mapped = True, False
            rest.preceding, rest.following = block, block.following
            if block.following is not None:
                block.following.preceding = rest
            block.following = rest
            block.size = size
            self.unmapped[block.small].append(rest)
        for other in (block.preceding, block.following):
            if other is not None and other.free and other.mapped:
                del pool[bisect_left(pool, (other.size, other.turn))]
                self.merge(block, other)
        self.keep(block)
        return True

    def page(self, small: bool) -> int:
        return SMALL_SEGMENT if small else self.settings.large_segment

    def give_back(self) -> None:
        """Every whole page of which nothing is in use goes back to the card."""
        for small in (True, False):
            for _, _, block in list(self.small if small else self.large):
                self.unmap(block)

    def unmap(self, block: Block) -> None:
        """Take the memory of a free block's whole pages away."""
        page = self.page(block.small)
        first = -(-block.address // page) * page
        last = (block.address + block.size) // page * page
        if first >= last:
            return
        pool = self.small if block.small else self.large
        del pool[bisect_left(pool, (block.size, block.turn))]
        for address, size, before in (
            (block.address, first - block.address, True),
            (last, block.address + block.size - last, False),
        ):
            if size:
                self.turns += 1
                part = Block(address, size, block.small, self.turns)
                part.preceding, part.following = (block.preceding, block) if before else (block, block.following)
                if part.preceding is not None:
                    part.preceding.following = part
                if part.following is not None:
                    part.following.preceding = part
                self.keep(part)
        block.address, block.size, block.mapped = first, last - first, False
        self.reserved -= block.size
        for other in (block.preceding, block.following):
            if other is not None and not other.mapped:
                self.unmapped[block.small].remove(other)
                self.merge(block, other)
        self.unmapped[block.small].append(block)


def could_be(block: Block) -> int:
    """How large a free block can become."""
    after = block.following
    return block.size + (after.size if after is not None and not after.mapped else 0)
