"""What tests of a count of the program's own have found in the turns of a loop that were followed."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class CountedRest:
    """What a test of a count of the program's own (`step % 100 == 0`) has found in the turns that were followed."""

    first: int
    """The count when it was asked first."""
    last: int
    divisor: int
    asked: int = 0
    moves: bool = False
    """Whether it was asked for another count, or for the number of a turn."""
    whole: bool = False
    """Whether a count was without rest."""
    number: int = 0
    """The number of the last op before it was asked last."""

    @property
    def is_open(self) -> bool:
        """Whether a later count may be the first without rest."""
        return self.moves and not self.whole

    def within(self, turns: int | None) -> bool:
        """Whether it is within so many turns, as fast as it was counted so far."""
        if turns is None or self.asked < 2:
            return True
        each = (self.last - self.first) / (self.asked - 1)
        return (self.first + each * (turns - 1)) // self.divisor != self.last // self.divisor
