"""Room for deep calls: an evaluator that calls itself goes up and down some hundred Python frames all the time."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SLOTS = 140_000
"""Of 8 bytes: a little over 1 MiB, which makes CPython take a chunk of 2 MiB. What is not touched takes no memory."""


def with_room_below(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called with room on CPython's own stack for all frames below it.

    From 3.11 on CPython lays the frames of Python functions into chunks of 16 KiB, and gives a chunk back to the system
    as soon as the first frame in it returns (`_PyThreadState_PushFrame` and `_PyThreadState_PopFrame` in
    Python/pystate.c). Calls that go back and forth over the end of a chunk cost a system call and page faults each:
    a fifth of an evaluation's time. A frame that asks for just over half of a large chunk leaves the rest to the
    frames below it.
    """

    @functools.wraps(function)
    def roomy(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    if sys.implementation.name == "cpython" and sys.version_info >= (3, 11):
        roomy.__code__ = roomy.__code__.replace(co_stacksize=SLOTS)
    return roomy
