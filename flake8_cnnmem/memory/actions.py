"""What a training loop does in one step, in the graph's terms, and the same for any batch size.

Code that was followed gives the graph for the batch size that it states; `for_any_batch` works the shapes out again
with the batch as a size of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flake8_cnnmem import dims
from flake8_cnnmem.dims import BATCH, Shape
from flake8_cnnmem.graph import Call, Mismatch, Tensor, Weight, calls_behind
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a step does: "backward" from `loss`, a "step" of `optimizer` on `weights`, or "zero_grad" of
    `weights` (ids)."""

    kind: str
    loss: Tensor | None = None
    optimizer: Optimizer | None = None
    weights: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """A whole step. `inputs` are the leaves of its graph that have the batch in front: what the loader gives."""

    actions: tuple[Action, ...]
    inputs: tuple[Tensor, ...]


def followed(actions: Sequence[Action], weights: frozenset[int]) -> bool:
    """Whether the actions tell a whole step: it goes back from losses of known shapes, each call once, and every
    optimizer steps on gradients that came from them.

    A call that two backward passes go through (a graph that is retained) is not replayed.
    """
    seen: set[int] = set()
    reached: set[int] = set()
    for action in actions:
        if action.kind == "step" and not action.weights & reached:
            return False
        if action.kind != "backward":
            continue
        if action.loss is None or not all(known(call) for call in calls_behind([action.loss])):
            return False
        through = calls_with_gradient(action.loss, weights)
        if not through or seen & through.keys():
            return False
        seen.update(through)
        reached.update(id(read) for call in through.values() for read in (*call.inputs, *call.weights))
    return bool(seen) and any(action.kind == "step" for action in actions)


def known(call: Call) -> bool:
    """Whether every shape of a call is known, and its sizes can be right."""
    return call.problem is None and all(
        not isinstance(tensor.shape, Unknown) and dims.known(tensor.shape)
        for tensor in (*call.inputs, *call.outputs, *call.weights)
    )


def calls_with_gradient(loss: Tensor, weights: frozenset[int]) -> dict[int, Call]:
    """The calls that a gradient goes through on its way from the loss to weights that train, by number."""
    order = calls_behind([loss])
    carrying = set(weights)
    for call in order:
        reads = (*call.inputs, *call.weights)
        if call.grad and call.op.kind != "detach" and any(id(t) in carrying or t.requires_grad for t in reads):
            carrying.update(id(tensor) for tensor in call.outputs)
    by_output = {id(tensor): call for call in order for tensor in call.outputs}
    found: dict[int, Call] = {}
    waiting = [id(loss)]
    while waiting:
        made_by = by_output.get(waiting.pop())
        if made_by is None or made_by.number in found or made_by.op.kind == "detach":
            continue
        if any(id(tensor) in carrying for tensor in made_by.outputs):
            found[made_by.number] = made_by
            waiting += [id(tensor) for tensor in (*made_by.inputs, *made_by.weights)]
    return found


def for_any_batch(actions: Sequence[Action], batch: int) -> Step:
    """The actions over a copy of the graph whose leaves have the batch in front where they had `batch`."""
    losses = [action.loss for action in actions if action.loss is not None]
    copies: dict[int, Tensor] = {}
    leaves: list[Tensor] = []

    def copy_of(tensor: Tensor) -> Tensor:
        if isinstance(tensor, Weight) and tensor.call is None:
            return tensor
        found = copies.get(id(tensor))
        if found is None:
            found = copies[id(tensor)] = replace(tensor, shape=lifted(tensor, batch), call=None)
            leaves.append(found)
        return found

    for call in calls_behind(losses):
        inputs = tuple(copy_of(tensor) for tensor in call.inputs)
        copied = replace(call, inputs=inputs, weights=tuple(copy_of(tensor) for tensor in call.weights))
        shapes = shapes_of(copied, call, batch)
        outputs = []
        for tensor, shape in zip(call.outputs, shapes, strict=True):
            made = replace(tensor, shape=shape, call=copied)
            outputs.append(made)
            copies[id(tensor)] = made
        copied.outputs = tuple(outputs)
    moved = [
        replace(action, loss=copies.get(id(action.loss), action.loss)) if action.loss is not None else action
        for action in actions
    ]
    given = [leaf for leaf in leaves if not isinstance(leaf.shape, Unknown) and BATCH in leaf.shape[:1]]
    return Step(tuple(moved), tuple(given))


def lifted(tensor: Tensor, batch: int) -> Shape | Unknown:
    """A leaf's shape with the batch in front, if it is as long there."""
    shape = tensor.shape
    if isinstance(shape, Unknown) or tensor.data is not None or not shape or shape[0] != batch:
        return shape
    return (BATCH, *shape[1:])


def shapes_of(copied: Call, call: Call, batch: int) -> list[Shape | Unknown]:
    """The output shapes of a call over copies: what its op says, where that agrees at `batch` with what it was."""
    given = [tensor.shape for tensor in copied.inputs]
    if all(
        mine is theirs or mine == theirs for mine, theirs in zip(given, [t.shape for t in call.inputs], strict=True)
    ):
        return [tensor.shape for tensor in call.outputs]
    try:
        said: Sequence[Shape | Unknown] = call.op.outputs(*given)  # type: ignore[arg-type]
    except Mismatch:
        said = ()
    if len(said) == len(call.outputs) and all(
        agrees(new, tensor.shape, batch) for new, tensor in zip(said, call.outputs, strict=True)
    ):
        return list(said)
    return [lifted(replace(tensor, data=None), batch) for tensor in call.outputs]


def agrees(new: Shape | Unknown, old: Shape | Unknown, batch: int) -> bool:
    if isinstance(new, Unknown) or isinstance(old, Unknown) or len(new) != len(old):
        return False
    return all(dims.at_batch(size, batch) == known for size, known in zip(new, old, strict=True))
