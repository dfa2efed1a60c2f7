"""The order of a set, which Python does not promise.

Texts hash differently in every run of Python (PYTHONHASHSEED), and objects hash by where they lie in memory: nobody can
say in which order a set gives them. Numbers hash to themselves, so that sets of numbers have the order that they have
here. Each evaluation goes through all sets of texts in one order; who wants to know whether that matters evaluates
again in another one, and compares.

https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.unread_order import unread
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value, in_turn

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame
    from flake8_cnnmem.runtime import Runtime

ORDERS = 3
"""Forwards, backwards, and from the second item on: any two items change places, and each place its item."""


class Order:
    """The order in which an evaluation goes through sets, and where it first went through one."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.cause: Unknown | None = None
        self.longest = 0
        self.in_messages: set[ast.AST] = set()
        """The functions in which an order is read for the messages of exceptions alone."""
        self.raised: list[Value] = []
        """The exceptions that these have raised."""

    def note(self, run: Any, items: int) -> None:
        """The order of so many items is read."""
        if self.cause is None:
            self.cause = run.unknown("the order of a set changes from run to run of Python")
        self.longest = max(self.longest, items)

    def is_unread(self, run: Any) -> bool:
        """Whether the statement that runs reads no order of the texts in its sets, as far as it is known by now."""
        if self.longest >= ORDERS or run.frame is None:
            return False
        found = unread(run.frame, run.site)
        if found is not None and found.in_messages:
            self.in_messages.add(run.frame.function.site.statement)
        return found is not None

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


def note_raised(frame: Frame, exception: Value) -> None:
    """An exception is raised in a frame: its message may have the order of a set."""
    order = _orders[-1]
    site = frame.function.site if order.in_messages and frame.function is not None else None
    if isinstance(site, StatementSite) and site.statement in order.in_messages:
        order.raised.append(exception)


def note_caught(frame: Frame, exception: Value) -> None:
    """An exception is given a name: its message may be read."""
    order = _orders[-1]
    if any(each is exception for each in order.raised):
        order.note(frame.run, ORDERS)


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
    if read and not (len(texts) == len(items) and order.is_unread(run)):
        order.note(run, len(items))
    return items[::-1] if order.number == 1 else items[1:] + items[:1] if order.number == 2 else items
