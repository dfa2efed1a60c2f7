"""What is not known of a model's figures, and makes bounds of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.graph import Resident
from flake8_cnnmem.unknown import Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.graph import Model, Weight
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.models import Root
    from flake8_cnnmem.training import Training


def causes_of(root: Root, model: Model, training: Training, estimate: Estimate) -> tuple[Unknown, ...]:
    """Why the figures are no exact ones; empty where they are."""
    every = (
        *model.causes, *estimate.left_out, *unsaid(root, training), *lost_batch(model, training),
        *other_batch(model, training), *copied_anew(model, training, estimate),
        *between_steps(root, training, estimate),
    )  # fmt: skip
    return tuple(dict.fromkeys(every))


def status_of(causes: Sequence[Unknown]) -> str:
    if not causes:
        return "exact"
    return "upper-bound" if all(each.upper for each in causes) else "lower-bound"


def unsaid(root: Root, training: Training) -> Iterator[Unknown]:
    """What a program says of its training where nobody could follow it: a default stands in its place, which may be
    anything but what the program does."""
    yield from root.beyond
    if not root.is_training:
        return
    site = root.trained_at or root.site
    for name, fact in (("batch size", training.batch_size), ("optimizer", training.optimizer)):
        if fact.source == "default":
            cause = f"the training's {name} is not known: {fact.value}, the default, was counted"
            yield Unknown(cause, site.path, site.line)


def other_batch(model: Model, training: Training) -> Iterator[Unknown]:
    """What was decided at another batch size than a device has: its share where several divide the batch."""
    if not model.same_at(training.batch_size.value):
        site = model.site
        yield Unknown("it depends on the batch size", *((site.path, site.line) if site is not None else ("", 0)))


def copied_anew(model: Model, training: Training, estimate: Estimate) -> Iterator[Unknown]:
    """Copies of weights that every turn makes anew while the last ones are there: the moment of copying is none of the
    step's, and may need more than all of them."""
    from flake8_cnnmem.memory import bytes_beside

    if not any(each.remade for each in model.beside) or estimate.accounting != "framework":
        return
    sizes = dict(zip((id(each) for each in model.beside), bytes_beside(model, training.dtype.value), strict=True))
    own = own_weights(model)
    step = Resident("gradients and state", weights=own, optimizer=training.optimizer.value, updated=own)
    lying = estimate.parameters + sum(bytes_beside(replace(model, beside=(step,)), training.dtype.value))
    lying += sum(sizes[id(each)] for each in model.beside if each.tensors or each.optimizer is not None)
    anew: dict[str, int] = {}
    for each in model.beside:
        # Of what lies in a list each item is a copy.
        path = each.what.partition("]")[0] if "[" in each.what else each.what.partition(":")[0]
        anew[path] = anew.get(path, 0) + (sizes[id(each)] // each.copies if each.remade else 0)
        if each.remade and lying + anew[path] > estimate.total - estimate.overhead:
            where = (each.site.path, each.site.line) if each.site is not None else ("", 0)
            yield Unknown(f"what is in memory while {path.partition('[')[0]} is copied anew", *where)
            return


def between_steps(root: Root, training: Training, estimate: Estimate) -> Iterator[Unknown]:
    """What a program computes between its steps, and needs more for than is told."""
    if root.phases and estimate.accounting == "framework" and training.devices == 1:
        cause = root.more_between(estimate.total - staying(root, estimate))
        if cause is not None:
            yield cause


def staying(root: Root, estimate: Estimate) -> int:
    """Bytes of gradients that lie there between the steps as well: nothing clears them behind the last optimizer's
    step."""
    events = root.phases[0].events
    steps = [event.number for event in events if event.kind == "step"]
    cleared = any(event.kind == "zero_grad" and steps and event.number >= steps[-1] for event in events)
    return 0 if cleared else estimate.gradients


def own_weights(model: Model) -> tuple[Weight, ...]:
    """The weights that have gradients."""
    return tuple(weight for weight in model.weights if weight.trainable and not weight.buffer)


def lost_batch(model: Model, training: Training) -> Iterator[Unknown]:
    """Calls of `squeeze()` that take a batch of one away as well: the batch is followed as a size that is open."""
    from flake8_cnnmem.dims import Batch
    from flake8_cnnmem.ops import Squeeze

    for call in model.calls if training.batch_size.value == 1 else ():
        shape = call.inputs[0].shape if call.inputs else None
        if isinstance(call.op, Squeeze) and call.op.axes is None and isinstance(shape, tuple) and Batch(1) in shape:
            where = (call.site.path, call.site.line) if call.site is not None else ("", 0)
            yield Unknown("squeeze() takes a batch of one away as well", *where)
