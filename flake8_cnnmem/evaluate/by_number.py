"""Loops that count and whose turns are given what depends on their number: images as large as the epoch says.

One turn that stands for the later ones is run on trial, its number not known. Where a model is given something there
whose size nobody knows, though the turns before gave it what is known, the trial is taken back, and the turns that are
left are gone through with their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.arrangement import ARRANGEMENTS
from flake8_cnnmem.evaluate.drawn_ahead import TURN_STEPS
from flake8_cnnmem.evaluate.growing import gives_otherwise
from flake8_cnnmem.evaluate.loop_turns import Loop
from flake8_cnnmem.evaluate.training_state import PERHAPS_FILLED
from flake8_cnnmem.evaluate.turns import COUNTED, FINITE, MOST_PASSED, is_plain, turns_of
from flake8_cnnmem.values import Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_BY_NUMBER = 64
"""Turns that are gone through with their numbers; of more only a few."""

FEW_BY_NUMBER = 4
"""So many of them, the last one among them."""


class OnTrial:
    """What was noted before a turn that stands for later ones, to which the notes are taken back."""

    __slots__ = ("filled", "lengths", "noted", "perhaps", "run")

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.lengths = [len(notes) for notes in self.notes()]
        self.noted = {key: len(each.noted) for key, each in run.data(ARRANGEMENTS).items()}
        self.perhaps = set(run.trace.perhaps_held)
        self.filled = dict(run.data(PERHAPS_FILLED))

    def notes(self) -> list[list[Any]]:
        """The lists that notes are put into."""
        trace = self.run.trace
        return [trace.events, trace.calls, trace.root_calls, trace.unfollowed, trace.problems]

    def take_back(self) -> None:
        """Let go of what was noted since then."""
        run = self.run
        for notes, length in zip(self.notes(), self.lengths, strict=True):
            del notes[length:]
        for key, each in run.data(ARRANGEMENTS).items():
            del each.noted[self.noted.get(key, 0) :]
        for statement in run.trace.perhaps_held.keys() - self.perhaps:
            del run.trace.perhaps_held[statement]
        filled = run.data(PERHAPS_FILLED)
        filled.clear()
        filled.update(self.filled)


def depends(run: Interpreter, followed: Loop, rest: Loop) -> bool:
    """Whether what models are given in the turn behind those that were followed depends on its number."""
    return run.trace.repeating == 1 and gives_otherwise(run, followed, rest)


def numbers_left(item: Value, items: Iterator[Value]) -> Sequence[Value] | None:
    """The numbers from this one on that a loop over a range, or over a list of numbers, still has; None of any other
    loop."""
    left = turns_of(items) if isinstance(items, FINITE) else None
    if left is None:
        return None
    reduced: Any = items.__reduce__()
    counted = reduced[1][0]
    if isinstance(items, COUNTED):
        step = counted.step if isinstance(counted, range) else 1
        return range(item, item + step * (left + 1), step) if type(item) is int else None
    if len(reduced) < 3 or not is_plain(item) or left > MOST_PASSED or not all(map(is_plain, counted)):
        return None
    return [item, *counted[reduced[2] :]]


def with_numbers(left: Sequence[Value], spent: int) -> list[Value]:
    """The items of the turns that are gone through, where one takes so many steps: all of those that are left, or a few
    of them."""
    if len(left) <= MOST_BY_NUMBER and spent * len(left) <= TURN_STEPS:
        return list(left)
    if spent * FEW_BY_NUMBER > TURN_STEPS:
        return []
    return [left[len(left) * at // FEW_BY_NUMBER - 1] for at in range(1, FEW_BY_NUMBER + 1)]
