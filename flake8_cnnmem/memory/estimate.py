"""What an accounting answers: bytes by term at a batch size, and the largest batch that fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from flake8_cnnmem.graph import Call, Site
from flake8_cnnmem.lazy_dataclass import dataclass
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

    def times(self, count: int) -> Line:
        return Line(self.fixed * count, self.each * count)

    def __sub__(self, other: Line) -> Line:
        return Line(self.fixed - other.fixed, self.each - other.each)


@dataclass(frozen=True, slots=True)
class Live:
    """Bytes that are alive at one time, by what they are for.

    `parameters` with buffers; `optimizer` is the state alone; `gradients` those of the parameters; `kept` what the
    backward pass will read; `temporaries` everything else: results that some later op still reads, gradients of
    activations, what an op or the optimizer's step needs for a moment; `input` the batch.
    """

    parameters: int = 0
    optimizer: int = 0
    gradients: int = 0
    kept: int = 0
    temporaries: int = 0
    input: int = 0

    @property
    def total(self) -> int:
        return self.parameters + self.optimizer + self.gradients + self.kept + self.temporaries + self.input


PHASES = {
    "start": "at the start of the step",
    "forward": "in the forward pass",
    "loss": "in the loss",
    "backward": "in the backward pass",
    "recompute": "in the backward pass, computing a checkpoint again",
    "optimizer": "in the optimizer's step",
    "evaluation": "in an evaluation",
}
"""The phases of a step, as a sentence says them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One op's turn in a step, in one of the `PHASES`.

    `name` is the layer's path ("layer1.0.conv1"), with a function's name behind it where no layer of the framework
    runs ("layer1.0.relu"); empty where the phase says it all. `site` is where
    the code constructs the layer, or calls the function, if that is known.
    `live` are the bytes at the op's highest point.
    """

    phase: str
    name: str
    site: Site | None
    live: Live

    def __str__(self) -> str:
        """`in the backward pass, at layer1.0.conv1`."""
        return PHASES[self.phase] + (f", at {self.name}" if self.name else "")


class Peaks(Protocol):
    """What an accounting knows beyond its figures: the peak at any batch size, and how it came to it."""

    def largest_batch(self, limit: int) -> int:
        """The largest batch size whose peak is within `limit` bytes; 0 when there is none."""
        ...

    def moments(self, batch: int) -> tuple[Moment, ...]:
        """The step in order; empty where nothing was replayed."""
        ...

    def kept_by(self) -> tuple[tuple[str, int], ...]:
        """The bytes that autograd keeps after the forward pass, without the inputs, by the name of the op that keeps
        them, as `Moment` names ops; in call order."""
        ...

    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        """The same by the call, as the backend runs it, that keeps them first."""
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes of one training step by term. `total` is the figure that is held against the limit.

    `saved` and `tensor_peak` are None under cs231n accounting. `activations` are all that is neither a
    parameter's nor the input's: `Live.kept` and `Live.temporaries`, but for the temporaries of the optimizer's step,
    which are among `optimizer`. `peak_at` is the first of the step's moments that reaches the peak.
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
    saved: int | None = None
    tensor_peak: int | None = None
    peak_at: Moment | None = None
    overhead_parts: tuple[tuple[str, int], ...] = ()
    """What a GPU that is known by its name takes, by term; the terms are `device.LABELS`. They are in `overhead`."""
    overhead_share: int = 0
    """Thousandths of the tensors' peak, rounded up, that are part of `overhead` at every batch size."""
    overhead_replayed: int = 0
    """Bytes of `overhead` that depend on the batch, and that `peaks` therefore counts itself."""
    allocated: int | None = None
    reserved: int | None = None
    """What `torch.cuda.max_memory_allocated` and `max_memory_reserved` would say on the card that is the limit."""
    convolutions: int = 0
    convolutions_usual: int = 0
    """Bytes that cuDNN's workspaces may take beside the total, at most and usually, as far as public figures show; 0
    where there are none, or no card is named."""
    growth: int = 0
    """Bytes that every further turn of the loop leaves in memory."""
    turns: int = 0
    """The turns at whose end memory is highest, as each leaves more; 0 where nothing grows or their number is not
    known."""
    keepers: tuple[int, ...] = ()
    """Bytes that each of the step's keepers (containers, variables) holds of a turn with the graph behind them."""
    left_out: tuple[Unknown, ...] = ()
    """Why something has no known size and is not counted: the total is then a lower bound."""
    peaks: Peaks | None = None

    @property
    def moment(self) -> str:
        """Where in the step the peak is: "in the backward pass, at layer1.0.conv1"; empty if that is not known."""
        return "" if self.peak_at is None else str(self.peak_at)

    def moments(self) -> tuple[Moment, ...]:
        """The step in order, one moment for each op forward and back; empty where nothing was replayed."""
        return () if self.peaks is None else self.peaks.moments(self.batch_size)

    @property
    def kept_by(self) -> tuple[tuple[str, int], ...]:
        """`saved` without the inputs, by the name of the op that keeps it; empty where nothing was replayed."""
        return () if self.peaks is None else self.peaks.kept_by()

    @property
    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        """The same by the call, as the backend runs it, that keeps it first."""
        return () if self.peaks is None else self.peaks.kept_by_call()

    def largest_batch(self, limit: int) -> int:
        """The largest batch size whose total is within `limit` bytes; 0 when not even one sample fits.
        Where the memory does not depend on the batch, the largest number a batch may be: 2**31 - 1."""
        shared = -(-(self.tensor_peak or 0) * self.overhead_share // 1000) + self.overhead_replayed
        room = (limit - self.overhead + shared) * 1000 // (1000 + self.overhead_share)
        return LARGEST if self.peaks is None else self.peaks.largest_batch(room)


LARGEST = 2**31 - 1
"""What no limit holds back."""


def within(lines: Iterable[Line], room: int, most: int = LARGEST) -> int:
    """The largest batch size, up to `most`, at which none of the lines is above so many bytes; 0 when there is none."""
    largest = most
    for line in lines:
        if line.each > 0:
            largest = min(largest, (room - line.fixed) // line.each)
        elif line.fixed > room:
            return 0
    return max(largest, 0)
