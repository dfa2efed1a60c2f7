"""Whether a turn of a training loop was followed as a whole: what its losses come from, and what a gradient reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.memory.actions import StepRun
from flake8_cnnmem.unknown import Unknown


def followed(turn: StepRun, weights: frozenset[int]) -> bool:
    """Whether a turn tells a whole step: it goes back from losses of known shapes, each call once unless its graph is
    retained, and every optimizer steps on gradients that came from them. `weights` (ids) ask for a gradient."""
    seen: set[int] = set()
    reached: set[int] = set()
    asked: set[int] = set()
    for action in turn.actions:
        if action.kind == "step" and not action.weights & (reached | asked if action.by_hand else reached):
            return False
        if action.kind == "gradient":
            asked.update(id(tensor) for tensor, _ in action.given)
        if action.kind not in ("backward", "gradient"):
            continue
        if action.loss is None:
            return False
        through: dict[int, Call] = {}
        for end, _ in action.ends:
            if not all(map(known, behind(turn.calls, end))):
                return False
            through |= calls_with_gradient(turn.calls, end, weights)
        if seen & through.keys() or not (through or action.kind == "gradient"):
            return False
        if not (action.retain or action.made):
            seen.update(through)
        if action.kind == "backward":
            read = [tensor for call in through.values() for tensor in (*call.inputs, *call.weights)]
            reached.update(id(tensor.trained_as or tensor) for tensor in read)
    return bool(reached or asked) and any(action.kind == "step" for action in turn.actions)


def known(call: Call) -> bool:
    """Whether every shape of a call is known, and its sizes can be right."""
    return call.problem is None and all(
        not isinstance(tensor.shape, Unknown) and dims.known(tensor.shape)
        for tensor in (*call.inputs, *call.outputs, *call.weights)
    )


def behind(calls: Sequence[Call], result: Tensor) -> Iterator[Call]:
    """Those of the calls that a result depends on, the last one first."""
    wanted = {id(result)}
    for call in reversed(calls):
        if any(id(tensor) in wanted for tensor in call.outputs):
            wanted.update(id(tensor) for tensor in (*call.inputs, *call.weights))
            yield call


def calls_with_gradient(calls: Sequence[Call], loss: Tensor, weights: frozenset[int]) -> dict[int, Call]:
    """The calls that a gradient goes through on its way from the loss to weights that train, by number."""
    carrying = set(weights)
    for call in calls:
        reads = (*call.inputs, *call.weights)
        if call.grad and not call.op.cuts_gradient and any(id(t) in carrying or t.requires_grad for t in reads):
            carrying.update(id(tensor) for tensor in call.outputs)
    by_output = {id(tensor): call for call in calls for tensor in call.outputs}
    found: dict[int, Call] = {}
    waiting = [id(loss)]
    while waiting:
        made_by = by_output.get(waiting.pop())
        if made_by is None or made_by.number in found or made_by.op.cuts_gradient:
            continue
        if any(id(tensor) in carrying for tensor in made_by.outputs):
            found[made_by.number] = made_by
            waiting += [id(tensor) for tensor in (*made_by.inputs, *made_by.weights)]
    return found
