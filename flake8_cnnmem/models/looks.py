"""What a program asks of a model that trains itself beside its training (`evaluate`, `predict`): one forward pass of a
batch, of which nothing is kept for a backward pass."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.frameworks.framework import Look
from flake8_cnnmem.graph import Call, Model, Resident
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.training import Optimizer


def largest_look(root: Root, model: Model, batch: int) -> Look | None:
    """The call that takes the most samples at once of a model whose training is known, if those are more than the
    training takes; told beside the last of a model's trainings."""
    framework = frameworks.of_layer(root.value)
    if framework is None or root.value is None or root.fit is None or root.parts or model.causes or model.goes_back:
        return None
    fits = framework.fits(root.value)
    if not fits or fits[-1].site != root.fit.site:
        return None
    found = max(framework.looks(root.value), key=lambda each: (each.batch_size, each.with_loss), default=None)
    return found if found is not None and found.batch_size > batch else None


def looked_at(model: Model, look: Look, optimizer: Optimizer) -> Model:
    """A model as such a call runs it: nothing of it asks for a gradient, and the state of the optimizer that trained it
    lies beside it."""
    state = Resident("optimizer state", optimizer=optimizer, updated=tuple(model.asking(model.weights)))
    return replace(
        model,
        calls=tuple(map(in_evaluation, model.calls)),
        trained=frozenset(),
        beside=(*model.beside, state),
        goes_back=not look.with_loss,
    )


def in_evaluation(call: Call) -> Call:
    """A call as it is while nothing trains: nothing is dropped, and running statistics are used."""
    op = call.op
    if is_dataclass(op) and any(each.name == "training" for each in fields(op)):
        return replace(call, op=replace(op, training=False))  # type: ignore[call-arg, unused-ignore]
    return call
