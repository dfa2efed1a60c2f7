"""What a program asks of the allocator in its first steps, from one replayed step.

A replayed step is in the steady state: parameters, the optimizer's state and the gradients of the step before lie in
memory when it begins. The first step of a program finds the parameters alone, and what it reserves is what all later
ones are cut from. So the program is written out from its beginning: parameters; a batch, the ops, the state when the
optimizer first steps; then the step again, which lets go of the gradients that the first one has left. After two or
three steps nothing new is reserved.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from sys import maxsize
from typing import TypeAlias

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.timeline import CONSTRUCTED, Mark, Timeline

STEPS = 3

ON_THE_WAY_BACK = frozenset({"backward", "recompute"})
"""The phases that autograd's own thread runs."""

Change: TypeAlias = "tuple[int, int, int]"
"""The place of an event, the event, the number of its block."""


@dataclass(frozen=True, slots=True)
class Program:
    """Requests in order, for any batch size: the number of a lot where a block is asked for, and minus one minus the
    place of that request where it is given back. `lots` are sizes, the last one that of a `workspace`."""

    lots: tuple[Line, ...]
    requests: Sequence[int]

    @property
    def workspaces(self) -> int:
        """Bytes of all workspaces: they stay."""
        return self.requests.count(len(self.lots) - 1) * self.lots[-1].fixed


def program_of(timeline: Timeline, workspace: int, steps: int = STEPS) -> Program:
    """The program whose step this is. `workspace` are the bytes that a thread asks for with its first product."""
    return _Writer(timeline, [*(line for line, _ in timeline.lots), Line(workspace)]).written(steps)


def changes(events: Sequence[int], blocks: Sequence[int], first: int = 0) -> list[Change]:
    """The events without those by which only the use of a block changes. `first` is the place of the first one."""
    found: list[Change] = []
    for at, (event, block) in enumerate(zip(events, blocks, strict=True), first):
        if event > 0 and found and found[-1][0] == at - 1 and found[-1][1] < 0 and found[-1][2] == block:
            found.pop()
        else:
            found.append((at, event, block))
    return found


def first_products(marks: Sequence[Mark], ahead: int, run: Sequence[Change]) -> Iterator[int]:
    """The places in front of which workspaces are asked for: behind the result of the first product of each thread. On
    the way ahead the casts of operands come before it, on the way back the gradient of the first operand is it."""
    seen: set[bool] = set()
    for (index, phase, op), (end, *_) in pairwise([*marks, (maxsize - ahead, "", "")]):
        thread = phase in ON_THE_WAY_BACK
        if thread in seen or isinstance(op, str) or not (op.op.multiplies_back if thread else op.op.multiplies):
            continue
        if op.op.product == "steps":
            # A fused kernel of attention multiplies by itself: without one its products stand here as such.
            continue
        seen.add(thread)
        at, until = bisect_left(run, (index + ahead,)), bisect_left(run, (end + ahead,))
        asked = [place + 1 for place, event, _ in run[at:until] if event > 0]
        yield (asked[0 if thread else -1]) if asked else index + ahead


def first_update(marks: Sequence[Mark], ahead: int) -> int | None:
    """The place in front of which an optimizer makes its state."""
    return next((index + ahead for index, phase, _ in marks if phase == "optimizer"), None)


@dataclass(slots=True)
class _Writer:
    """A program on its way. `where` has the request of each block that is held."""

    timeline: Timeline
    lots: list[Line]
    requests: list[int] = field(default_factory=list)
    where: dict[int, int] = field(default_factory=dict)

    def written(self, steps: int) -> Program:
        timeline = self.timeline
        ahead, past, lots = timeline.ahead, timeline.past, timeline.lots
        begin = timeline.marks[0][0] + ahead if timeline.marks else len(timeline.events)
        begin = max(begin, ahead + (past.left if past is not None else 0))
        start = changes(timeline.events[ahead:begin], timeline.blocks[ahead:begin], ahead)
        body = changes(timeline.events[begin:], timeline.blocks[begin:], begin)
        gone = {block for _, event, block in (*start, *body) if event < 0}
        if past is not None:
            drawn, start = start[past.left :], start[: past.left]
            first = changes(past.events, past.blocks)
            self.play(first, self.insertions(past.marks, 0, first, self.behind_parameters(first)))
        else:
            drawn = [change for change in start if lots[abs(change[1])][1] == "input"]
            inputs = {block for _, _, block in drawn}
            start = [change for change in start if change[2] not in inputs]
            self.play(change for change in start if change[2] not in gone)
            due = self.insertions(timeline.marks, ahead, body)
            early = bisect_left(due, (ahead,))
            self.play((), due[:early])
            self.play(drawn)
            self.play(body, due[early:])
        run = (*drawn, *body)
        given = {block: event for _, event, block in start if event > 0}
        carried = [block for _, event, block in run if event < 0 and block in given]
        # What is no gradient of a parameter is taken over in the order in which it was made.
        places = {block: at for at, block in enumerate(given) if lots[given[block]][1] != "gradients"}
        carried.sort(key=lambda block: places.get(block, len(given)))
        if past is None:
            self.hand_over(carried, given, run)
        for _ in range(1, 1 if timeline.single else steps):
            self.play(drawn)
            if past is None:
                self.clear(start, body)
            self.play(body)
            self.hand_over(carried, given, run)
        # As plain numbers: they stay until a model's figures are no longer asked for.
        return Program(tuple(self.lots), array("i", self.requests))

    # Writing.

    def come(self, lot: int, block: int = 0) -> None:
        if block:
            self.where[block] = len(self.requests)
        self.requests.append(lot)

    def go(self, block: int) -> None:
        """What is not there (a gradient in the first step) does not go."""
        at = self.where.pop(block, None)
        if at is not None:
            self.requests.append(-1 - at)

    def play(self, run: Iterable[Change], insertions: Sequence[tuple[int, Sequence[int]]] = ()) -> None:
        """Write a run of events; what is inserted comes in front of an event, and stays."""
        due = list(insertions)
        for at, event, block in run:
            while due and due[0][0] <= at:
                for lot in due.pop(0)[1]:
                    self.come(lot)
            if event > 0:
                self.come(event, block)
            else:
                self.go(block)
        for _, lots in due:
            for lot in lots:
                self.come(lot)

    def behind_parameters(self, run: Sequence[Change]) -> int:
        """The place of the first event of a program that makes no parameter."""
        return next((at for at, event, _ in run if self.timeline.lots[abs(event)][1] != "parameters"), 0)

    def insertions(
        self, marks: Sequence[Mark], ahead: int, run: Sequence[Change], constructed: int = -1
    ) -> list[tuple[int, Sequence[int]]]:
        """What the first step asks for beside its events: workspaces and the optimizer's state. What is made with an
        optimizer comes in front of the event at `constructed`."""
        workspace = len(self.lots) - 1
        found: list[tuple[int, Sequence[int]]] = []
        if self.lots[workspace].fixed:
            found += ((place, [workspace]) for place in first_products(marks, ahead, run))
        update = first_update(marks, ahead)
        left = self.timeline.ahead
        for number, place in self.timeline.states:
            # What was put first last lies first.
            made = constructed if place == CONSTRUCTED else place + ahead
            found.append((made, self.timeline.events[left - number : left]))
            left -= number
        found.append((ahead if update is None else update, self.timeline.events[:left]))
        return sorted(found, key=lambda each: each[0])

    # From one step to the next.

    def hand_over(self, carried: Sequence[int], given: dict[int, int], run: Sequence[Change]) -> None:
        """A step has ended: what it finds in memory when it begins is now what it has left. A program that was not
        followed from one step to the next lets go of the rest but for the gradients."""
        lots = self.timeline.lots
        ends: dict[tuple[Line, bool], list[int]] = {}
        for _, event, block in run:
            if event > 0 and block in self.where:
                ends.setdefault(kind_of(lots[event]), []).append(block)
        for block in carried:
            alike = ends.get(kind_of(lots[given[block]]))
            if alike:
                # A backward pass comes to the parameters in reverse.
                found = alike.pop() if lots[given[block]][1] == "gradients" else alike.pop(0)
                self.where[block] = self.where.pop(found)
        for (_, gradients), blocks in ends.items():
            for block in blocks:
                if self.timeline.past is not None:
                    del self.where[block]
                elif not gradients:
                    self.go(block)

    def clear(self, start: Sequence[Change], body: Sequence[Change]) -> None:
        """Gradients that the step does not let go of itself go when the next one begins, in the parameters' order."""
        lots = self.timeline.lots
        left: dict[Line, list[int]] = {}
        for _, event, block in body:
            if event > 0 and block in self.where:
                left.setdefault(lots[event][0], []).append(block)
        for _, event, _ in start:
            line, use = lots[event]
            if use == "parameters" and left.get(line):
                self.go(left[line].pop())
        for blocks in left.values():
            for block in blocks:
                self.go(block)


def kind_of(lot: tuple[Line, str]) -> tuple[Line, bool]:
    """What tells blocks apart that may follow each other in one place: their size, and whether they are gradients."""
    return lot[0], lot[1] == "gradients"
