"""One device's share of a replayed step: what DDP copies, what ZeRO and FSDP divide, what is offloaded.

A step is replayed as one device would run it alone; here its events are changed. That keeps everything which is asked
of a replay (the peak at any batch size, its moment, the largest batch) the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flake8_cnnmem import dims
from flake8_cnnmem.arrangement import TERMS, Arrangement
from flake8_cnnmem.graph import Model, Weight
from flake8_cnnmem.memory.dtypes import is_floating, resolve, size_of
from flake8_cnnmem.memory.estimate import Estimate, Line
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.memory.timeline import Mark, Timeline
from flake8_cnnmem.training import Training

MASTER = 4
"""Bytes of a value in the copies that an optimizer updates in the place of parameters in half precision."""


def share(estimate: Estimate, model: Model, training: Training) -> Estimate:
    """An estimate for one of the devices that a model's arrangement speaks of."""
    if model.arrangement is None or not isinstance(estimate.peaks, Replayed):
        return estimate
    replayed = shared(estimate.peaks, model.arrangement, model, training.dtype.value)
    return replayed.estimate(training, estimate.overhead)


def shared(replayed: Replayed, arrangement: Arrangement, model: Model, dtype: str) -> Replayed:
    """The step as one of the devices makes it, with the `dtype` of the training."""
    devices = arrangement.devices or 1
    if arrangement.optional and devices == 1:
        return replayed

    def again(batch: int) -> Replayed:
        return shared(replayed.again(batch), arrangement, model, dtype)

    timeline = rearranged(replayed.timeline, arrangement, devices, model, dtype)
    return replace(replayed, timeline=timeline, again=again)


def rearranged(timeline: Timeline, arrangement: Arrangement, devices: int, model: Model, dtype: str) -> Timeline:
    """The events of a step as one of so many devices has them."""
    return Rearranged(timeline, arrangement, devices, model, dtype).run()


class Rearranged:
    """The events of a step on their way to those of one device.

    What is divided keeps its events, with smaller sizes. What comes beside the step comes and goes with its phases:
    buckets and replicas with the backward pass, a gathered unit with forward and backward pass.
    """

    def __init__(self, timeline: Timeline, arrangement: Arrangement, devices: int, model: Model, dtype: str) -> None:
        self.timeline = timeline
        self.arrangement = arrangement
        self.devices = devices
        self.dtype = dtype
        self.owned = [weight for weight in model.weights if not weight.buffer]
        self.buffers = [weight for weight in model.weights if weight.buffer]
        trained = [each for each in model.asking(self.owned) if is_floating(resolve(each.dtype, dtype))]
        self.gradients = lines_of(trained, dtype)
        self.divided = frozenset(TERMS[: arrangement.divides]) if devices > 1 else frozenset()
        self.slices = by_rows(self.owned, devices, dtype) if arrangement.units else {}
        self.master = master_lines(trained, dtype) if arrangement.master else []
        smallest = min((size_of(resolve(weight.dtype, dtype)) for weight in trained), default=MASTER)
        self.widened = MASTER // smallest if self.master else 1
        self.made = Timeline(timeline.block, timeline.names)
        self.aside: list[tuple[int, int]] = []
        """Gradients on their way into the buckets that are their place: lots and blocks."""
        self.going: list[tuple[int, int, str]] = []
        """What came with the forward or backward pass, and goes when the optimizer steps: lots, blocks and uses."""
        self.blocks: dict[int, int] = {}
        """By their numbers in the step of one device."""
        self.backward = False
        """Whether the step has gone backward before."""

    def own_share(self, line: Line, use: str) -> Line:
        """What a device has of a lot. An optimizer's temporaries are those of its share."""
        use = "optimizer" if use == "stepping" else use
        widened = self.widened if use == "optimizer" and line.fixed > MASTER else 1
        if use in self.arrangement.elsewhere:
            return Line()
        if use not in self.divided or line.fixed <= MASTER:
            return Line(line.fixed * widened, line.each)
        part = self.slices.get(line.fixed, -(-line.fixed // self.devices))
        return Line(part * widened, line.each)

    def gathered(self) -> Line:
        """The largest unit that is gathered while its parameters are used."""
        if "parameters" not in self.divided:
            return Line()
        by_id = {id(weight): bytes_of(weight, self.dtype) for weight in self.owned}
        return Line(max((sum(by_id.get(key, 0) for key in unit) for unit in self.arrangement.units), default=0))

    def run(self) -> Timeline:
        timeline, made = self.timeline, self.made
        numbers = [made.lot(self.own_share(line, use), use) for line, use in timeline.lots]
        views = self.arrangement.buckets == "views"
        phases = Phases(timeline)
        for at, event in enumerate(timeline.events):
            for mark in phases.at(at):
                self.begins(mark[1])
                made.marks.append((len(made.events), mark[1], mark[2]))
            number = numbers[abs(event)]
            if not number:
                continue
            if views and timeline.lots[abs(event)][1] == "gradients":
                # What the last step has left lies in the buckets already.
                if event > 0 and self.backward:
                    self.aside.append((number, made.come(number)))
                continue
            block = timeline.blocks[at]
            if event < 0:
                made.go(number, self.blocks[block])
            elif at and timeline.blocks[at - 1] == block:
                made.come(number, self.blocks[block])
            else:
                self.blocks[block] = made.come(number)
        for line, use in self.throughout():
            made.put_first([line], use)
        return made

    def begins(self, phase: str) -> None:
        """A phase of the step, or another op of it, begins."""
        while self.aside:
            self.made.go(*self.aside.pop())
        coming = {use for _, _, use in self.going}
        if phase == "forward" and "parameters" not in coming:
            self.comes(self.gathered(), "parameters")
        if phase == "backward" and "temporaries" not in coming:
            self.backward = True
            replicas = self.gradients if self.arrangement.buckets == "replica" and self.devices > 1 else []
            for line in (Line(self.arrangement.bucket), self.gathered(), *replicas):
                self.comes(line, "temporaries")
        if phase == "optimizer":
            while self.going:
                lot, block, _ = self.going.pop()
                self.made.go(lot, block)

    def comes(self, line: Line, use: str) -> None:
        lot = self.made.lot(line, use)
        self.going.append((lot, self.made.come(lot), use))

    def throughout(self) -> Iterator[tuple[Line, str]]:
        """What is there all the time."""
        if self.arrangement.buckets in ("copies", "views"):
            yield from ((line, "gradients") for line in self.gradients)
        if "optimizer" not in self.arrangement.elsewhere:
            share = self.devices if "optimizer" in self.divided else 1
            yield from ((Line(-(-line.fixed // share)), "optimizer") for line in self.master)
        if "parameters" in self.divided:
            # Every device has all buffers.
            for line in lines_of(self.buffers, self.dtype):
                yield Line(line.fixed - -(-line.fixed // self.devices)), "parameters"


class Phases:
    """The marks of a timeline by the event that they stand before."""

    def __init__(self, timeline: Timeline) -> None:
        self.ahead = timeline.ahead
        self.waiting = timeline.marks[::-1]

    def at(self, event: int) -> Iterator[Mark]:
        while self.waiting and self.waiting[-1][0] + self.ahead <= event:
            yield self.waiting.pop()


def bytes_of(weight: Weight, dtype: str) -> int:
    """A weight's bytes, in the dtype that it has in training; 0 where its size is not known."""
    total = dims.product(weight.shape) if isinstance(weight.shape, tuple) else 0
    return total * size_of(resolve(weight.dtype, dtype)) if isinstance(total, int) else 0


def lines_of(weights: Sequence[Weight], dtype: str) -> list[Line]:
    """One line of an account for each weight, in bytes."""
    return [Line(bytes_of(weight, dtype)) for weight in weights]


def master_lines(trained: Sequence[Weight], dtype: str) -> list[Line]:
    """Float32 copies of what trains in half precision; ZeRO keeps one of its own share of float32 parameters, too."""
    return [Line(bytes_of(weight, dtype) * MASTER // size_of(resolve(weight.dtype, dtype))) for weight in trained]


def by_rows(weights: Sequence[Weight], devices: int, dtype: str) -> dict[int, int]:
    """Bytes of a parameter by those of the largest slice that a device gets of its first axis."""
    found: dict[int, int] = {}
    for weight in weights:
        shape = weight.shape
        if isinstance(shape, tuple) and shape and isinstance(shape[0], int) and shape[0]:
            whole = bytes_of(weight, dtype)
            part = whole // shape[0] * -(-shape[0] // devices)
            found[whole] = max(part, found.get(whole, 0))
    return found
