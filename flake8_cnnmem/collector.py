"""Python's garbage collector, held back while a file is worked on: 40% of the time would go into looking for garbage
among syntax trees and graphs that are all still needed."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

YOUNG = 100_000
"""Objects made before the collector looks at them: some 20 MB."""


def seldom_collected(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with the collector's threshold raised while it runs. The host's own setting comes back after it."""

    @functools.wraps(function)
    def collected_seldom(*args: P.args, **kwargs: P.kwargs) -> R:
        before = gc.get_threshold()
        if not 0 < before[0] < YOUNG:
            # Switched off, or raised by the host itself.
            return function(*args, **kwargs)
        gc.set_threshold(YOUNG, *before[1:])
        try:
            return function(*args, **kwargs)
        finally:
            gc.set_threshold(*before)

    return collected_seldom
