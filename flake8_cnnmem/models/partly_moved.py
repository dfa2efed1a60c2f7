"""Models of which a training uses a part on the host: what lies there takes no room on the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence.phases import Phase
from flake8_cnnmem.frameworks.changed_weights import CROSSED
from flake8_cnnmem.graph import Call, Weight, moved_at
from flake8_cnnmem.models.steps import on_the_device
from flake8_cnnmem.unknown import Unknown


def partly_moved(run: Interpreter, weights: Iterable[Weight], phase: Phase) -> Iterator[Unknown]:
    """Why the figure of a phase may be off: it computes with parameters that the program has moved to the device, and
    with others that it has not, and hands results from one to the other. Where all that the others compute is on the
    host, it can only need less."""
    calls = [call for each in phase.passes for call, _ in each.calls]
    used = {id(weight) for call in calls for weight in call.weights}
    trained = [weight for weight in weights if id(weight) in used and not weight.buffer]
    left = {id(weight) for weight in trained if not weight.moved_at(phase.stepped)}
    if trained and len(left) == len(trained) and moved_beside(calls, left):
        site = trained[0].site
        where = (site.path, site.line) if site is not None else ("", 0)
        yield Unknown("the model that is trained is not moved to the device: it was counted there", *where, upper=True)
    # Layers may be made on the device, which is not followed.
    if run.data(CROSSED) and 0 < len(left) < len(trained):
        first = next(weight for weight in trained if id(weight) in left)
        place = (first.site.path, first.site.line) if first.site is not None else ("", 0)
        there = on_the_device(calls)
        apart = not any(call.number in there for call in calls if left.intersection(map(id, call.weights)))
        yield Unknown("a part of the model is not moved to the device: it was counted there", *place, upper=apart)


def moved_beside(calls: Sequence[Call], trained: set[int]) -> bool:
    """Whether a step computes on the device with weights of other models (a teacher) that the program has moved there,
    and with the `trained` ones (ids) on nothing that lies there."""
    there = on_the_device(calls)
    reading = [call.number for call in calls if not trained.isdisjoint(map(id, call.weights))]
    return there.isdisjoint(reading) and any(
        moved_at(weight, call.number) and id(weight) not in trained for call in calls for weight in call.weights
    )
