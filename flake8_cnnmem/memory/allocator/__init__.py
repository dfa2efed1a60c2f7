"""PyTorch's caching allocator on the card, replayed: from the tensors of a step to what is allocated and reserved."""

from __future__ import annotations

from flake8_cnnmem.memory.allocator.caching import DEFAULTS, CachingAllocator
from flake8_cnnmem.memory.allocator.settings import AllocatorSettings


def allocator_for(
    room: int | None = None, settings: AllocatorSettings = DEFAULTS, card: int | None = None
) -> CachingAllocator:
    """An allocator with so many bytes of a card; `card` is what that has in all."""
    if settings.expandable:
        from flake8_cnnmem.memory.allocator.expandable import ExpandableAllocator

        return ExpandableAllocator(room, settings, card)
    return CachingAllocator(room, settings, card)
