"""Trainings whose model nobody could follow: what their loop says of batch, optimizer and precision is known all the
same, and why the model is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.frameworks.framework import TO_COMPILE_WITH, UNKNOWN_FITS, UNKNOWN_STEPS
from flake8_cnnmem.graph import Tensor, calls_behind
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown

NAME = "model"


def of_unknown_models(run: Interpreter, phases: Sequence[Phase]) -> Iterator[Root]:
    """One for each loop with its optimizers, in their order. `phases` are those in which no model was seen to train."""
    seen: set[tuple[object, ...]] = set()
    for phase in phases:
        site = phase.loop.site if phase.loop is not None else phase.events[0].site
        where = (site.path, site.line) if site is not None else None
        key = (where, *(id(optimizer) for optimizer in phase.optimizers))
        if site is None or key in seen or not phase.optimizers or not steps_on_unknown(phase):
            continue
        seen.add(key)
        target = f"{run.trace.path}::{NAME}"
        yield Root(NAME, target, None, site, site, run, causes=(cause_of(phase),), phases=[phase])


def of_unknown_steps(run: Interpreter) -> Iterator[Root]:
    """The first step after a backward pass of which neither model nor optimizer is known; where there is an optimizer
    for models that are fitted, the first fit of what is not known."""
    fits = run.data(UNKNOWN_FITS).values() if run.data(TO_COMPILE_WITH) else ()
    for cause, site in [*run.data(UNKNOWN_STEPS).values(), *fits][:1]:
        if site is not None:
            yield Root(NAME, f"{run.trace.path}::{NAME}", None, site, site, run, causes=(cause,), steps=True)


def steps_on_unknown(phase: Phase) -> bool:
    """Whether the step goes back, and updates weights of which none is known."""
    goes_back = any(event.kind == "backward" for event in phase.events)
    return goes_back and not any(frameworks.updated_by(optimizer) for optimizer in phase.optimizers)


def cause_of(phase: Phase) -> Unknown:
    """Why the loss, and with it the model, is not known."""
    for event in phase.events:
        loss = event.subject if event.kind == "backward" else None
        if isinstance(loss, Unknown):
            return loss
        read = [tensor for call in calls_behind([loss]) for tensor in call.inputs] if isinstance(loss, Tensor) else []
        for tensor in read:
            if isinstance(tensor.shape, Unknown):
                return tensor.shape
    return Unknown("which model is trained is not known")
