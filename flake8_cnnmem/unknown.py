"""What could not be decided, and why. The lowest room: everything may carry an Unknown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be decided, with the first cause.

    An Unknown absorbs whatever touches it (an operation with one gives that same Unknown), so the
    cause that reaches the user is the first one. `path` and `line` (1-based) say where it arose;
    they are empty and 0 when no source line is to blame.
    """

    reason: str
    path: str = ""
    line: int = 0

    def __bool__(self) -> bool:
        raise TypeError("an Unknown has no truth value: ask Run.truth")
