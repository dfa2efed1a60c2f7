"""What an accounting answers: bytes by term at a batch size, and the largest batch that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Line:
    """Bytes as an affine function of the batch size: `fixed + each * batch`."""

    fixed: int = 0
    each: int = 0

    def at(self, batch: int) -> int:
        return self.fixed + self.each * batch

    def __add__(self, other: Line) -> Line:
        return Line(self.fixed + other.fixed, self.each + other.each)


class Peaks(Protocol):
    """A replayed step, which can say its peak at any batch size."""

    def largest_batch(self, limit: int) -> int:
        """The largest batch size whose peak is within `limit` bytes; 0 when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes of one training step by term. `total` is the figure that is held against the limit.

    `peaks` are the affine functions whose maximum, plus `overhead`, is the total at any batch size.
    `saved` and `tensor_peak` are None under cs231n accounting; `moment` says where in the step the peak
    is ("the optimizer's step", "backward of layer3.5.conv2"), or is empty.
    """

    accounting: str
    batch_size: int
    parameters: int
    gradients: int
    optimizer: int
    activations: int
    input: int
    overhead: int
    total: int
    peaks: tuple[Line, ...]
    saved: int | None = None
    tensor_peak: int | None = None
    moment: str = ""
    overhead_parts: tuple[tuple[str, int], ...] = ()
    left_out: tuple[Unknown, ...] = ()
    """Why something has no known size and is not counted: the total is then a lower bound."""
    timeline: Peaks | None = None
    """The replay, where there is one: it knows what rounding adds to `peaks`."""

    def largest_batch(self, limit: int) -> int:
        """The largest batch size whose total is within `limit` bytes; 0 when not even one sample fits.
        Where the memory does not depend on the batch, the largest number a batch may be: 2**31 - 1."""
        room = limit - self.overhead
        if self.timeline is not None:
            return self.timeline.largest_batch(room)
        largest = 2**31 - 1
        for line in self.peaks:
            if line.each > 0:
                largest = min(largest, (room - line.fixed) // line.each)
            elif line.fixed > room:
                return 0
        return max(largest, 0)
