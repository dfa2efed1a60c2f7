"""The order of a set, which Python does not promise.

Texts hash differently in every run of Python (PYTHONHASHSEED), and objects hash by where they lie in memory: nobody can
say in which order a set gives them. Numbers hash to themselves, so that sets of numbers have the order that they have
here. Each evaluation goes through all sets of texts in one order; who wants to know whether that matters evaluates
again in another one, and compares.

https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value, in_turn

if TYPE_CHECKING:
    from flake8_cnnmem.runtime import Runtime

ORDERS = 3
"""Forwards, backwards, and from the second item on: any two items change places, and each place its item."""


class Order:
    """The order in which an evaluation goes through sets, and where it first went through one."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.cause: Unknown | None = None
        self.longest = 0

    @property
    def others(self) -> range:
        """The orders that tell whether this one matters."""
        return range(1, min(self.longest, ORDERS))


_orders = [Order(0)]
"""The evaluations that are under way, the innermost last."""


@contextmanager
def sets_in_order(number: int) -> Iterator[Order]:
    """For one analysis: sets are gone through in this one of the orders."""
    _orders.append(Order(number))
    try:
        yield _orders[-1]
    finally:
        _orders.pop()


def is_number(item: Value) -> bool:
    """Whether an item hashes to the same in every run: a number, or a tuple of numbers."""
    return isinstance(item, (int, float)) or (type(item) is tuple and all(isinstance(e, (int, float)) for e in item))


def members(run: Runtime, value: set[Value] | frozenset[Value], read: bool = True) -> list[Value]:
    """The items of a set; `read` where their order may matter to who asks."""
    items = list(value)
    run.spend(len(items) // 64)
    if len(items) < 2 or all(map(is_number, items)):
        return items
    texts = [item for item in items if isinstance(item, str)]
    items = [*sorted(texts)] if len(texts) == len(items) else in_turn(items)
    order = _orders[-1]
    if read:
        if order.cause is None:
            order.cause = run.unknown("the order of a set changes from run to run of Python")
        order.longest = max(order.longest, len(items))
    return items[::-1] if order.number == 1 else items[1:] + items[:1] if order.number == 2 else items
