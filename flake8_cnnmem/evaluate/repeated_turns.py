"""The turns of a loop that a library runs on the program's behalf (`Trainer.fit`, an engine)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.loop_turns import Loop, Turn
from flake8_cnnmem.evaluate.results_in_layers import mark_results
from flake8_cnnmem.evaluate.training_state import mark_held
from flake8_cnnmem.graph import Site

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_NUMBERED = 8
"""Turns of such a loop that are gone through because a test of their number answers otherwise."""


class RepeatedTurns:
    """`with run.repeated():` what happens inside is a turn of a loop that a native runs for the program. Entered again,
    it is another turn of the same loop."""

    __slots__ = ("loop", "number", "run", "site", "turn")

    def __init__(self, run: Interpreter, site: Site | None) -> None:
        self.run = run
        self.site = site
        self.loop: Loop | None = None
        self.number: int | None = None

    def __enter__(self) -> None:
        trace = self.run.trace
        if self.loop is None:
            self.loop = trace.enter(self.site, self.run.numbered)
        self.turn: Turn = trace.begin(self.loop, self.run.numbered)
        self.turn.number = self.number

    def __exit__(self, *exception: object) -> None:
        if exception[0] is None:
            mark_held(self.run, self.turn)
            mark_results(self.run, self.turn)
        self.run.trace.end(self.turn, self.run.numbered)

    def numbers(self, first: int, most: int | None, also: Sequence[int] = ()) -> Iterator[int]:
        """The numbers of the turns to enter, in their order: the first, those in `also`, and those for which a test of
        a turn's number, or of what was computed from it, answers otherwise."""
        waiting, entered = {first, *also}, set[int]()
        while waiting and len(entered) < MOST_NUMBERED + len(also):
            self.number = min(waiting)
            entered.add(self.number)
            yield self.number
            found = {number for number in waiting | self.later() if number > self.number}
            waiting = {number for number in found if most is None or number < first + most}

    def later(self) -> set[int]:
        """The numbers for which tests of the last turn's number answer otherwise."""
        number = self.turn.number
        if number is None:
            return set()
        found: set[int] = set()
        for count, first in self.turn.limits:
            if form := self.turn.form_of(count):
                times, more = form
                found.add(-((more - first) // times))
        for count, divisor, rest in self.turn.counts:
            if self.turn.form_of(count) is not None:
                found.add(number + ((rest - count) % divisor or 1))
        return found
