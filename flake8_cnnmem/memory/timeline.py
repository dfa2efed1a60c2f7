"""What lies in memory over one step: every allocation and release in order, for any batch size.

The order of events does not depend on the batch, only the sizes do: each tensor is an affine function of it,
rounded up to the allocator's block. The peak at one batch size is exact, rounding included; the `envelope`
of affine functions without rounding bounds it from below, and all but the last few bytes of it are there.

`moments` tells the whole step in order, for a picture of it: one `Moment` for each op of the forward pass, for the
loss, for each op of the backward pass and for the optimizer's step, with the bytes that are alive at its highest
point by what they are for. `Estimate.moments()` gives it at the estimate's batch size.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import accumulate, pairwise
from typing import TypeAlias

from flake8_cnnmem.graph import Call
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.call_names import place_of
from flake8_cnnmem.memory.estimate import LARGEST, Line, Live, Moment, within

Mark: TypeAlias = "tuple[int, str, Call | str]"
"""(index of the first event, phase, the op or its name)."""

START: Mark = (0, "start", "")
NOTHING = Line()
CONSTRUCTED = -1
"""The place at which an optimizer's state is made that is there with the optimizer: behind the parameters."""


@dataclass(frozen=True, slots=True)
class Past:
    """What has happened before a step that is replayed: the events of the program from its beginning. The step's own
    events begin with those blocks that are `left` of it."""

    events: array[int]
    blocks: array[int]
    marks: tuple[Mark, ...]
    left: int


def alive(live: Mapping[str, int]) -> Live:
    """Bytes by use, in the form in which they are answered."""
    uses = dict(live)
    stepping = uses.pop("stepping", 0)
    return Live(**{**uses, "temporaries": uses.get("temporaries", 0) + stepping})


@dataclass(slots=True)
class Timeline:
    """`block` is the allocation granularity in bytes. Events are appended while a step is replayed.

    An event is one number: that of a lot when it comes, and minus that when it goes. A lot is a size with what it is
    for: a field of `Live`, or "stepping", the temporaries of the optimizer. Lot 0 takes no room, and is no event.
    `blocks` has beside each event the number of the block that comes or goes; one whose use changes goes and comes at
    once, and keeps its number.
    """

    block: int
    names: Mapping[int, str] = field(default_factory=dict)
    """Module path by the layer instance's id."""
    lots: list[tuple[Line, str]] = field(default_factory=lambda: [(Line(), "")])
    events: array[int] = field(default_factory=lambda: array("i"))
    """As plain numbers, as are `blocks`: they stay until a model's figures are no longer asked for."""
    blocks: array[int] = field(default_factory=lambda: array("i"))
    marks: list[Mark] = field(default_factory=list)
    """Their indices leave out the `ahead` events that were put first."""
    ahead: int = 0
    past: Past | None = None
    states: list[tuple[int, int]] = field(default_factory=list)
    """Of each optimizer, in the order in which their state was put first: how many events that are, and the place of
    the event before which it first steps, or `CONSTRUCTED`."""
    single: bool = False
    """Whether the program makes no other step."""
    _numbers: dict[tuple[Line, str], int] = field(default_factory=dict)
    _last: int = 0
    """The number of the last block."""

    def lot(self, line: Line, use: str) -> int:
        """The number of a lot."""
        key = (line, use)
        known = self._numbers.get(key)
        if known is None:
            known = 0
            if line != NOTHING:
                known = len(self.lots)
                self.lots.append((line, use))
            self._numbers[key] = known
        return known

    def come(self, lot: int, block: int = 0) -> int:
        """A block of this lot comes; the one of this number again, if it is given. Gives its number."""
        if lot:
            if not block:
                self._last = block = self._last + 1
            self.events.append(lot)
            self.blocks.append(block)
        return block

    def go(self, lot: int, block: int) -> None:
        """The block of this number goes."""
        if lot:
            self.events.append(-lot)
            self.blocks.append(block)

    def mark(self, phase: str, op: Call | str = "") -> None:
        """From here on the step is at this op."""
        self.marks.append((len(self.events) - self.ahead, phase, op))

    def put_first(self, lines: Iterable[Line], use: str, made: int | None = None) -> None:
        """What turns out to have been there from the beginning; an optimizer's state with the place at which it is
        `made`, where that is known."""
        first = [lot for lot in (self.lot(line, use) for line in lines) if lot]
        self.events[:0] = array("i", first)
        self.blocks[:0] = array("i", range(self._last + 1, self._last + len(first) + 1))
        self._last += len(first)
        self.ahead += len(first)
        if made is not None:
            self.states.append((len(first), made))

    def left(self) -> Line:
        """What is alive at the end, without rounding."""
        total = Line()
        for event, times in Counter(self.events).items():
            line = self.lots[abs(event)][0]
            sign = times if event > 0 else -times
            total += Line(sign * line.fixed, sign * line.each)
        return total

    def copy(self) -> Timeline:
        """What has happened so far, by itself."""
        return replace(
            self,
            events=self.events[:],
            blocks=self.blocks[:],
            marks=list(self.marks),
            lots=list(self.lots),
            states=list(self.states),
        )

    def restart(self) -> Line:
        """What has happened so far is past: what it has left alive is there at the start. Gives that, without
        rounding."""
        left = self.left()
        before = self.events[:], self.blocks[:], tuple(self.marks)
        alive: dict[int, int] = {}
        replaced = Counter[int]()
        for lot, block in zip(self.events, self.blocks, strict=True):
            if lot > 0:
                alive[block] = lot
            elif alive.pop(block, None) is None:
                # It was there before the first event, and so is what has come in its place.
                replaced[-lot] += 1
        for block, lot in list(alive.items()):
            if replaced[lot]:
                replaced[lot] -= 1
                del alive[block]
        self.blocks = array("i", sorted(alive))
        self.events = array("i", [alive[block] for block in self.blocks])
        self.past = Past(*before, len(alive))
        self.marks.clear()
        self.ahead = 0
        return left

    def changes(self, batch: int) -> list[int]:
        """The bytes that each event adds, rounded up to the block: by the event's number, also where it is negative."""
        block = self.block
        sizes = [-(-line.at(batch) // block) * block for line, _ in self.lots]
        return sizes + [-size for size in sizes[:0:-1]]

    def levels(self, batch: int) -> Iterator[int]:
        """The sum of live tensors after each event, in bytes."""
        return accumulate(map(self.changes(batch).__getitem__, self.events))

    def peak(self, batch: int) -> int:
        """The highest sum of live tensors, in bytes."""
        return max(self.levels(batch), default=0)

    def at_peak(self, batch: int) -> tuple[dict[str, int], Moment]:
        """The bytes of each use at the first moment of the peak, and that moment."""
        levels = list(self.levels(batch)) or [0]
        where = levels.index(max(levels))
        changes = self.changes(batch)
        live: dict[str, int] = {}
        for event, times in Counter(self.events[: where + 1]).items():
            use = self.lots[abs(event)][1]
            live[use] = live.get(use, 0) + times * changes[event]
        at = bisect_right(self.marks, where - self.ahead, key=lambda mark: mark[0])
        return live, self.moment(self.marks[at - 1] if at else START, alive(live))

    def moment(self, mark: Mark, live: Live) -> Moment:
        _, phase, op = mark
        if isinstance(op, str):
            return Moment(phase, op, None, live)
        if phase == "forward" and op.function == "loss" and op.within is None:
            return Moment("loss", "", None, live)
        return Moment(phase, *place_of(op, self.names), live)

    def moments(self, batch: int) -> tuple[Moment, ...]:
        """The step in order, each op at the highest point of its turn; bytes at this batch size."""
        changes = self.changes(batch)
        found: list[Moment] = []
        live: dict[str, int] = {}
        total = 0
        marks = [START, *self.marks]
        begins = [mark[0] + self.ahead for mark in self.marks]
        for mark, begin, end in zip(marks, [0, *begins], [*begins, len(self.events)], strict=True):
            highest, top = total, dict(live)
            for at in range(begin, end):
                event = self.events[at]
                use = self.lots[abs(event)][1]
                total += changes[event]
                live[use] = live.get(use, 0) + changes[event]
                rising = event > 0 and (at + 1 == end or self.events[at + 1] < 0)
                if rising and total >= highest:
                    highest, top = total, dict(live)
            found.append(self.moment(mark, alive(top)))
        return tuple(found)

    def envelope(self) -> tuple[Line, ...]:
        """The affine functions whose maximum is the peak without rounding, from the flattest to the steepest."""
        lines = [line for line, _ in self.lots]
        fixed = [line.fixed for line in lines] + [-line.fixed for line in lines[:0:-1]]
        each = [line.each for line in lines] + [-line.each for line in lines[:0:-1]]
        levels = zip(
            accumulate(map(fixed.__getitem__, self.events)),
            accumulate(map(each.__getitem__, self.events)),
            strict=True,
        )
        # The sum can only be highest where something has come and then something goes.
        turns = pairwise((*self.events, -1))
        tops = {level for level, (event, after) in zip(levels, turns, strict=True) if event > 0 > after}
        return upper_envelope(Line(*top) for top in tops)

    def slack(self) -> int:
        """More than rounding can ever add: a block for every tensor that is alive at once."""
        return max(accumulate(1 if event > 0 else -1 for event in self.events), default=0) * self.block

    def largest_batch(self, limit: int, most: int = LARGEST) -> int:
        """The largest batch size whose peak is within `limit` bytes, rounding included; 0 when not even 1 fits.

        The peak grows with the batch, so that halving the interval between what the envelope allows with and
        without the most that rounding can add finds it in a few steps.
        """
        lines, slack = self.envelope(), self.slack()
        high = within(lines, limit, most)
        # What is no affine function of the batch is in no envelope.
        affine = all(type(line) is Line for line, _ in self.lots)
        low = within(lines, limit - slack, most) if affine else 0
        while low < high:
            middle = (low + high + 1) // 2
            if self.peak(middle) <= limit:
                low = middle
            else:
                high = middle - 1
        return low


def upper_envelope(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Those lines that are the highest at some batch size of at least 1."""
    kept: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.each, line.fixed)):
        if kept and kept[-1].each == line.each:
            kept.pop()
        # The line in the middle is never highest when its neighbours meet above it.
        while len(kept) >= 2 and _above(kept[-2], line, kept[-1]):
            kept.pop()
        kept.append(line)
    while len(kept) >= 2 and kept[0].at(1) <= kept[1].at(1):
        kept.pop(0)
    return tuple(kept)


def _above(low: Line, high: Line, middle: Line) -> bool:
    """Whether two lines meet on or above the one whose slope lies between theirs."""
    left = (low.fixed - high.fixed) * (middle.each - low.each)
    return left <= (low.fixed - middle.fixed) * (high.each - low.each)
