"""What lies in memory over one step: every allocation and release in order, for any batch size.

The order of events does not depend on the batch, only the sizes do: each tensor is an affine function of it,
rounded up to the allocator's block. The peak at one batch size is exact, rounding included; the `envelope`
of affine functions without rounding bounds it from below, and all but the last few bytes of it are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from flake8_cnnmem.memory.estimate import Line


@dataclass(slots=True)
class Timeline:
    """`block` is the allocation granularity in bytes. Events are appended while a step is replayed."""

    block: int
    lines: list[Line] = field(default_factory=list)
    """The distinct sizes."""
    events: list[tuple[int, int, str]] = field(default_factory=list)
    """(which size, +1 or -1, what it is for: "parameters", "activations", ...)."""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """(index of the first event, where in the step)."""
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

    def mark(self, label: str) -> None:
        """From here on the step is at `label`."""
        self.labels.append((len(self.events), label))

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

    def at_peak(self, batch: int) -> tuple[dict[str, int], str]:
        """The bytes of each use at the first moment of the peak, and where in the step that is."""
        sizes = self.sizes(batch)
        live: dict[str, int] = {}
        total, highest, where = 0, -1, 0
        for at, (number, sign, _) in enumerate(self.events):
            total += sign * sizes[number]
            if total > highest:
                highest, where = total, at
        for number, sign, use in self.events[: where + 1]:
            live[use] = live.get(use, 0) + sign * sizes[number]
        label = ""
        for first, name in self.labels:
            if first <= where:
                label = name
        return live, label

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
