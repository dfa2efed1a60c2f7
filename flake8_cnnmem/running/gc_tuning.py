"""Python's garbage collector, held back while a file is worked on: 40% of the time would go into looking for garbage
among syntax trees and graphs that are all still needed. What a file has left is cleared away before the next one."""

from __future__ import annotations

import atexit
import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

YOUNG = 100_000
"""Objects made before the collector looks at them: some 20 MB."""

YOUNGEST, YOUNGER, ALL = range(3)
"""The collector's generations."""

put_away = False
"""Whether the host has put objects away for good: they must stay there."""

grown_old = False
"""Whether objects of the last file are among those that the collector looks at last."""


def seldom_collected(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with the collector's threshold raised while it runs. The host's own setting comes back after it."""
    return held_back(function, clear_away)


def held_back(function: Callable[P, R], before_it: Callable[[], object] = lambda: None) -> Callable[P, R]:
    """The same for what goes on with what the last file has left (a report that is printed): nothing is cleared away
    before, but by `before_it`."""

    @functools.wraps(function)
    def collected_seldom(*args: P.args, **kwargs: P.kwargs) -> R:
        global grown_old
        before = gc.get_threshold()
        if not 0 < before[0] < YOUNG:
            # Switched off, or raised by the host itself.
            return function(*args, **kwargs)
        # Modules, functions and frames refer to each other, so that nothing of the last file has gone by itself.
        before_it()
        looks = looks_at_older()
        with passing_over_what_is_there():
            gc.set_threshold(YOUNG, *before[1:])
            try:
                return function(*args, **kwargs)
            finally:
                gc.set_threshold(*before)
                grown_old = looks_at_older() > looks or (grown_old and before_it is not clear_away)

    return collected_seldom


def clear_away() -> None:
    """Clear away what the last file has left, where this process holds the collector back."""
    global grown_old
    gc.collect(ALL if grown_old else YOUNGER)
    grown_old = False


def looks_at_older() -> int:
    """How often the collector has looked at more than the youngest objects; those that it leaves grow older."""
    return sum(generation["collections"] for generation in gc.get_stats()[YOUNGER:])


@contextmanager
def passing_over_what_is_there() -> Iterator[None]:
    """The collector looks at new objects alone: a look at all modules and syntax trees takes half a second."""
    global put_away
    # To count them takes as long as there are objects.
    put_away = put_away or gc.get_freeze_count() > 0
    if put_away:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@functools.cache
def not_looked_through_at_exit() -> None:
    """The process that ends gives back all of its memory at once. To look through syntax trees and graphs for garbage
    before that takes as long as to clear them away: 0.3 s after a single ResNet."""
    atexit.register(gc.freeze)
