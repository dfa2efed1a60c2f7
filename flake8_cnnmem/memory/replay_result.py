"""A replayed step: what it answers at the batch size of its training, and at any other."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.graph import Call
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.attribution import Keeping, kept_by
from flake8_cnnmem.memory.estimate import Estimate, Line, Moment
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown

NONE = Line()

MOST = 1 << 20
"""No batch is larger whose samples are all compared with each other."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A step as it was replayed at the batch size `batch`. `saved` is what autograd keeps after the forward pass, in
    bytes, an input among it only if an op keeps it, and `kept` the same without the inputs.

    The order of events is the same at every batch size but one: axes of one value count in no layout, so that an op
    may read a single sample as it lies where it copies a batch. `again` replays the step at another batch size.
    """

    timeline: Timeline
    batch: int
    saved: int
    kept: Keeping
    left_out: tuple[Unknown, ...]
    again: Callable[[int], Replayed]
    growth: Line = NONE
    """What a turn of the training loop leaves in memory beyond what the one before it has left."""
    turns: int = 0
    """The turns that the timeline counts where each leaves more; 0 where that is not so."""
    keepers: tuple[Line, ...] = ()
    """What each of the step's keepers holds of the run before the last, with the graph behind it."""
    curved: bool = False
    """Whether something in it grows with a power of the batch size, so that other batch sizes are replayed."""

    def largest_batch(self, limit: int) -> int:
        """The largest batch size whose peak is within `limit` bytes; 0 when there is none."""
        if self.curved:
            return self.largest_by_trial(limit)
        several = self if self.batch > 1 else self.again(2)
        largest = several.timeline.largest_batch(limit)
        if largest > 1:
            return largest
        single = self if self.batch == 1 else self.again(1)
        return int(single.timeline.peak(1) <= limit)

    def largest_by_trial(self, limit: int) -> int:
        """The same by bisection: a larger batch never needs less."""
        low, high = 0, 1
        while high < MOST and self.again(high).timeline.peak(high) <= limit:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.again(middle).timeline.peak(middle) <= limit else (low, middle)
        return low

    def moments(self, batch: int) -> tuple[Moment, ...]:
        """The step in order."""
        return self.timeline.moments(batch)

    def kept_by(self) -> tuple[tuple[str, int], ...]:
        """`kept` at the batch size that was replayed, by the name of the op."""
        return kept_by(self.kept, self.batch, self.timeline.names)

    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        """The same by the call, one for each storage."""
        return tuple((call, line.at(self.batch)) for call, line in self.kept)

    def estimate(self, training: Training, overhead: int) -> Estimate:
        """The figures at the training's batch size, which is the one that was replayed."""
        batch, timeline = training.batch_size.value, self.timeline
        live, peak_at = timeline.at_peak(batch)
        peak = sum(live.values())
        return Estimate(
            accounting="framework",
            batch_size=batch,
            parameters=live.get("parameters", 0),
            gradients=live.get("gradients", 0),
            optimizer=live.get("optimizer", 0) + live.get("stepping", 0),
            activations=live.get("kept", 0) + live.get("temporaries", 0),
            input=live.get("input", 0),
            overhead=overhead,
            total=peak + overhead,
            saved=self.saved,
            tensor_peak=peak,
            peak_at=peak_at,
            growth=max(0, self.growth.at(batch)),
            turns=self.turns,
            keepers=tuple(line.at(batch) for line in self.keepers),
            left_out=self.left_out,
            peaks=self,
        )
