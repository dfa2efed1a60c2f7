"""Python's garbage collector, held back while a file is worked on: 40% of the time would go into looking for garbage
among syntax trees and graphs that are all still needed. What a file has left is cleared away before the next one."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

YOUNG = 100_000
"""Objects made before the collector looks at them: some 20 MB."""

LITTER = 10
"""Looks of the collector at young objects after which everything is looked through, before the next file. It takes a
tenth of a second, and the looks stand for more than a second of work. Modules, functions and frames refer to each
other, and by itself Python would look at those that have grown old after 100 looks."""

looks = 0
"""Looks at young objects since everything was looked through."""


def seldom_collected(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with the collector's threshold raised while it runs. The host's own setting comes back after it."""

    @functools.wraps(function)
    def collected_seldom(*args: P.args, **kwargs: P.kwargs) -> R:
        global looks
        before = gc.get_threshold()
        if not 0 < before[0] < YOUNG:
            # Switched off, or raised by the host itself.
            return function(*args, **kwargs)
        if looks >= LITTER:
            looks = 0
            gc.collect()
        earlier = looks_so_far()
        gc.set_threshold(YOUNG, *before[1:])
        try:
            return function(*args, **kwargs)
        finally:
            gc.set_threshold(*before)
            looks += looks_so_far() - earlier

    return collected_seldom


def looks_so_far() -> int:
    """How often the collector has looked at young objects in this process, older ones included or not."""
    return sum(generation["collections"] for generation in gc.get_stats())
