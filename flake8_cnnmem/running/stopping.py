"""An analysis that nobody waits for any more: an editor has sent another text meanwhile.

Who may change his mind runs it within `stopped_by(wanted)`; the interpreter asks `go_on()` at its statements and ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(BaseException):
    """The analysis was given up. No Exception: nothing on its way may take it for an error of the analysed code."""


_wanted: list[Callable[[], bool]] = []
"""Of the analyses that are under way: whether each is to stop."""


@contextmanager
def stopped_by(wanted: Callable[[], bool]) -> Iterator[None]:
    """What runs inside raises Stopped soon after `wanted()` has become true."""
    _wanted.append(wanted)
    try:
        yield
    finally:
        _wanted.remove(wanted)


def go_on() -> None:
    """Raises Stopped where the analysis that is under way is no longer wanted."""
    if _wanted and _wanted[-1]():
        raise Stopped
