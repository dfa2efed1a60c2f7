"""Bounds on processor time that hold on slower and on loaded machines: the seconds of a fixed piece of work are the
unit."""

from __future__ import annotations

import time

ROUNDS = 400_000
REFERENCE = 0.07
"""Seconds of processor time that the fixed work takes on the machine that the bounds were set on, when it is idle."""


def slowness() -> float:
    """How many times as long as on that machine plain Python takes here and now; 1 where it is faster."""
    began = time.process_time()
    held: dict[int, list[int]] = {}
    for number in range(ROUNDS):
        held.setdefault(number % 1024, [number]).append(number)
        if len(held[number % 1024]) > 64:
            held[number % 1024] = []
    return max(1.0, (time.process_time() - began) / REFERENCE)


def beyond(seconds: float, bound: float) -> bool:
    """Whether so much processor time is more than the bound, on a machine of this pace."""
    return seconds > bound and seconds > bound * slowness()
