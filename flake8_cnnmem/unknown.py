"""What could not be decided, and why. The lowest room: everything may carry an Unknown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from flake8_cnnmem.lines import in_words


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
    something: bool = field(default=False, compare=False)
    """Whether it cannot be None: a length, a number, the result of arithmetic."""
    divisor: int | None = field(default=None, compare=False)
    """What it was divided by, where it is a number that was divided once: how many steps an epoch of so many samples
    has tells how many a step takes."""

    instead: object = field(default=None, compare=False, repr=False)
    """What it is if it is not None, where a branch that may not be taken gives None: for who cannot be given None."""

    def divided(self, by: float) -> Unknown:
        """What dividing it gives."""
        once = self.divisor is None and by >= 1 and by == int(by)
        return replace(self, something=True, divisor=int(by) if once else 0)

    def as_something(self) -> Unknown:
        """The same where it is certain not to be None."""
        return self if self.something else replace(self, something=True)

    def __bool__(self) -> bool:
        raise TypeError("an Unknown has no truth value: ask Run.truth")

    def at(self, path: str) -> str:
        """The cause as one phrase, with its line, and its file where that is not the one at `path`."""
        if not self.line:
            return self.reason
        place = in_words(self.line) if self.path in ("", path) else f"{self.path}:{self.line}"
        return f"{self.reason} ({place})"


class Leaving(Exception):
    """What carries an evaluation on at another place: an exception of the interpreted program, the end of the budget,
    a generator that has given enough. Nobody's mistake."""


STRICT = "CNNMEM_STRICT"
"""Environment variable: an internal error is let out, to be seen in our own tests, instead of becoming a cause."""


def internal_error(error: BaseException) -> Unknown:
    """What users hear of an error that is ours: on code that odd, there is no answer."""
    return Unknown(f"an internal error of flake8-cnnmem, please report it: {type(error).__name__}: {error!s:.160}")
