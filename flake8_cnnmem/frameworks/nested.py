"""Nested lists of numbers, as code writes tables: how much there is to look at before anybody does."""

from __future__ import annotations

from typing import Any

MOST = 2**18
"""Values of nested lists that are gone through. A list that holds itself, or twice the same list that holds twice the
same list, has no end of them."""


def countable(value: Any) -> int | None:
    """How many items nested lists, tuples and ranges hold, inner lists among them; None where they are too many."""
    count = 0
    waiting = [value]
    while waiting:
        items = waiting.pop()
        count += len(items)
        if count > MOST:
            return None
        if not isinstance(items, range):
            waiting += [item for item in items if isinstance(item, (list, tuple, range))]
    return count
