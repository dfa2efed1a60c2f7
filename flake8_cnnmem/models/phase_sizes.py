"""Which of a training's phases is the largest: that one is told."""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.batches import values_of
from flake8_cnnmem.models.residents import cleared_by, clears
from flake8_cnnmem.unknown import Unknown


def told_by(phase: Phase) -> tuple[int, ...]:
    """What decides which of a training's phases is told: the size of its step, then what the models make of it (a
    generator that grows from phase to phase is given as much in each), then how many weights it updates (of the last
    layer the first epoch throws the gradients away), then what they are given behind its last step (an evaluation every
    so many steps); of steps that no loop is around, and that are as large, the last one finds in
    memory what the others have left."""
    last = last_step(phase)
    behind = sum(values_of(event.call) for event in phase.events[last:] if event.call is not None)
    return (
        *size_of(phase),
        made_in(phase),
        len(updated_in(phase)),
        behind,
        phase.passes[0].first if phase.loop is None else 0,
    )


DIGITS = 3
"""To so many digits it is told what a step makes: a number that is printed every so many steps decides nothing."""


def made_in(phase: Phase) -> int:
    """How many values the ops of a step that a gradient goes through give, about, as far as that is known."""
    calls = (call for call, doubt in phase.passes[-1].calls if doubt is None and call.grad)
    sizes = (dims.product(each.shape) for call in calls for each in call.outputs if not isinstance(each.shape, Unknown))
    made = sum(size for size in sizes if isinstance(size, int))
    return round(made, DIGITS - len(str(made)))


def updated_in(phase: Phase) -> set[int]:
    """The weights, by id, that the last turn of a phase updates with a gradient: none of which that was set to None
    before the step."""
    there: set[int] = set()
    updated: set[int] = set()
    for event in phase.events:
        if event.kind == "backward":
            there |= event.trainable
        elif clears(event):
            there -= cleared_by(event)
        elif event.kind == "step":
            updated |= event.trainable & there
    return updated


def last_step(phase: Phase) -> int:
    """The place of the last optimizer's step among a phase's events; behind all where there is none."""
    return max((at for at, event in enumerate(phase.events) if event.kind == "step"), default=len(phase.events))


def size_of(phase: Phase) -> tuple[int, int]:
    """How many values the largest call of a model in the step is given, and all its calls together, those of models
    beside (a teacher) among them: up to the optimizer's last step, and without those of which nobody knows whether they
    are made."""
    calls = [event.call for event in phase.events[: last_step(phase)] if event.call is not None and event.doubt is None]
    return max(map(values_of, phase.learning), default=0), sum(map(values_of, calls))
