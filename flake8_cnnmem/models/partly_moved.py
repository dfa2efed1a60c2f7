"""Models of which a training uses a part on the host: what lies there takes no room on the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence.phases import Phase
from flake8_cnnmem.frameworks.changed_weights import CROSSED
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.models.steps import on_the_device
from flake8_cnnmem.unknown import Unknown


def partly_moved(run: Interpreter, weights: Iterable[Weight], phase: Phase) -> Iterator[Unknown]:
    """Why the figure of a phase may be off: it computes with parameters that the program has moved to the device, and
    with others that it has not, and hands results from one to the other. Where all that the others compute is on the
    host, it can only need less."""
    if not run.data(CROSSED):
        # Layers may be made on the device, which is not followed.
        return
    calls = [call for each in phase.passes for call, _ in each.calls]
    used = {id(weight) for call in calls for weight in call.weights}
    trained = [weight for weight in weights if id(weight) in used and not weight.buffer]
    left = {id(weight) for weight in trained if not weight.moved_at(phase.stepped)}
    if 0 < len(left) < len(trained):
        first = next(weight for weight in trained if id(weight) in left)
        place = (first.site.path, first.site.line) if first.site is not None else ("", 0)
        there = on_the_device(calls)
        apart = not any(call.number in there for call in calls if left.intersection(map(id, call.weights)))
        yield Unknown("a part of the model is not moved to the device: it was counted there", *place, upper=apart)
