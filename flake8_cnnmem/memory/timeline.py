"""What lies in memory over one step: every allocation and release in order, for any batch size.

The order of events does not depend on the batch, only the sizes do: each tensor is an affine function of it,
rounded up to the allocator's block. The peak at one batch size is exact, rounding included; the `envelope`
of affine functions without rounding bounds it from below, and all but the last few bytes of it are there.

`moments` tells the whole step in order, for a picture of it: one `Moment` for each op of the forward pass, for the
loss, for each op of the backward pass and for the optimizer's step, with the bytes that are alive at its highest
point by what they are for. `Estimate.moments()` gives it at the estimate's batch size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flake8_cnnmem.graph import Site
from flake8_cnnmem.memory.estimate import Line, Live, Moment

Mark: TypeAlias = "tuple[int, str, str, Site | None]"
"""(index of the first event, phase, name of the op, where it is called)."""

START: Mark = (0, "start", "", None)


def alive(live: Mapping[str, int]) -> Live:
    """Bytes by use, in the form in which they are answered."""
    uses = dict(live)
    stepping = uses.pop("stepping", 0)
    return Live(**{**uses, "temporaries": uses.get("temporaries", 0) + stepping})


@dataclass(slots=True)
class Timeline:
    """`block` is the allocation granularity in bytes. Events are appended while a step is replayed."""

    block: int
    lines: list[Line] = field(default_factory=list)
    """The distinct sizes."""
    events: list[tuple[int, int, str]] = field(default_factory=list)
    """(which size, +1 or -1, what it is for: a field of `Live`, or "stepping", the temporaries of the optimizer)."""
    marks: list[Mark] = field(default_factory=list)
    _numbers: dict[Line, int] = field(default_factory=dict)

    def number(self, line: Line) -> int:
        """The number by which events name a size."""
        known = self._numbers.get(line)
        if known is None:
            known = self._numbers[line] = len(self.lines)
            self.lines.append(line)
        return known

    def change(self, line: Line, sign: int, use: str) -> None:
        if line.fixed or line.each:
            self.events.append((self.number(line), sign, use))

    def mark(self, phase: str, name: str = "", site: Site | None = None) -> None:
        """From here on the step is at the op `name`, called at `site`."""
        self.marks.append((len(self.events), phase, name, site))

    def put_first(self, lines: Iterable[Line], use: str) -> None:
        """What turns out to have been there from the beginning."""
        first = [(self.number(line), 1, use) for line in lines if line.fixed or line.each]
        self.events[:0] = first
        self.marks[:] = [(at + len(first), phase, name, site) for at, phase, name, site in self.marks]

    def sizes(self, batch: int) -> list[int]:
        """Every distinct size in bytes, rounded up to the block."""
        block = self.block
        return [-(-line.at(batch) // block) * block for line in self.lines]

    def peak(self, batch: int) -> int:
        """The highest sum of live tensors, in bytes."""
        sizes = self.sizes(batch)
        live = highest = 0
        for number, sign, _ in self.events:
            if sign > 0:
                live += sizes[number]
                if live > highest:
                    highest = live
            else:
                live -= sizes[number]
        return highest

    def at_peak(self, batch: int) -> tuple[dict[str, int], Moment]:
        """The bytes of each use at the first moment of the peak, and that moment."""
        sizes = self.sizes(batch)
        total, highest, where = 0, -1, 0
        for at, (number, sign, _) in enumerate(self.events):
            total += sign * sizes[number]
            if total > highest:
                highest, where = total, at
        live: dict[str, int] = {}
        for number, sign, use in self.events[: where + 1]:
            live[use] = live.get(use, 0) + sign * sizes[number]
        last = START
        for mark in self.marks:
            if mark[0] <= where:
                last = mark
        _, phase, name, site = last
        return live, Moment(phase, name, site, alive(live))

    def moments(self, batch: int) -> tuple[Moment, ...]:
        """The step in order, each op at the highest point of its turn; bytes at this batch size."""
        sizes = self.sizes(batch)
        found: list[Moment] = []
        live: dict[str, int] = {}
        total = 0
        marks = [START, *self.marks]
        ends = [mark[0] for mark in marks[1:]] + [len(self.events)]
        for (begin, phase, name, site), end in zip(marks, ends, strict=True):
            highest, top = total, dict(live)
            for at in range(begin, end):
                number, sign, use = self.events[at]
                total += sign * sizes[number]
                live[use] = live.get(use, 0) + sign * sizes[number]
                rising = sign > 0 and (at + 1 == end or self.events[at + 1][1] < 0)
                if rising and total >= highest:
                    highest, top = total, dict(live)
            found.append(Moment(phase, name, site, alive(top)))
        return tuple(found)

    def envelope(self) -> tuple[Line, ...]:
        """The affine functions whose maximum is the peak without rounding, from the flattest to the steepest."""
        fixed = each = 0
        rising = False
        tops: set[Line] = set()
        for number, sign, _ in self.events:
            if sign < 0 and rising:
                tops.add(Line(fixed, each))
            rising = sign > 0
            fixed += sign * self.lines[number].fixed
            each += sign * self.lines[number].each
        if rising:
            tops.add(Line(fixed, each))
        return upper_envelope(tops)

    def slack(self) -> int:
        """More than rounding can ever add: a block for every tensor that is alive at once."""
        live = most = 0
        for _, sign, _ in self.events:
            live += sign
            most = max(most, live)
        return most * self.block

    def largest_batch(self, limit: int, most: int = 2**31 - 1) -> int:
        """The largest batch size whose peak is within `limit` bytes, rounding included; 0 when not even 1 fits.

        The peak grows with the batch, so that halving the interval between what the envelope allows with and
        without the most that rounding can add finds it in a few steps.
        """
        lines, slack = self.envelope(), self.slack()

        def within(room: int) -> int:
            largest = most
            for line in lines:
                if line.each > 0:
                    largest = min(largest, (room - line.fixed) // line.each)
                elif line.fixed > room:
                    return 0
            return max(largest, 0)

        low, high = within(limit - slack), within(limit)
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
