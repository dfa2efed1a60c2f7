"""Which of a training's phases is the largest: that one is told."""

from __future__ import annotations

from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.batches import values_of


def told_by(phase: Phase) -> tuple[int, int, int]:
    """What decides which of a training's phases is told: the size of its step; of steps that no loop is around, and
    that are as large, the last one finds in memory what the others have left."""
    return (*size_of(phase), phase.passes[0].first if phase.loop is None else 0)


def size_of(phase: Phase) -> tuple[int, int]:
    """How many values the largest call of a model in the step is given, and all its calls together, those of models
    beside (a teacher) among them: up to the optimizer's last step, and without those of which nobody knows whether they
    are made."""
    last = max((at for at, event in enumerate(phase.events) if event.kind == "step"), default=len(phase.events))
    calls = [event.call for event in phase.events[:last] if event.call is not None and event.doubt is None]
    return max(map(values_of, phase.learning), default=0), sum(map(values_of, calls))
