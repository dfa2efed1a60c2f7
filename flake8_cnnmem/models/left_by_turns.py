"""What a turn of a training loop leaves in memory for the next one beside the results of ops: gradients that the
program keeps, copies of weights that it makes anew, the state of optimizers that take turns."""

from __future__ import annotations

from collections.abc import Iterator

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.loop_turns import Loop, Retained
from flake8_cnnmem.evaluate.trace import Trace
from flake8_cnnmem.evidence import Pass, Phase
from flake8_cnnmem.graph import Site, Tensor, Weight, lies_on_device
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance


def left_by_turns(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Why more lies in memory in a turn of a phase than is counted."""
    yield from kept_perhaps(trace, phase)
    yield from gradients_held(trace, phase)
    anew = made_anew(trace, phase)
    if anew is not None:
        yield Unknown(MADE_ANEW, *place(anew.site), upper=True)
    else:
        yield from optimizers_in_turn(phase)
    yield from optimizers_waiting(trace, phase)
    yield from data_gathered(phase)


def kept_perhaps(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """A copy of a model that the program holds in later turns where a test that is not known says so."""
    statement = phase.loop.statement if phase.loop is not None else None
    known = trace.perhaps_held.get(statement)
    if known is not None:
        path, cause = known
        yield Unknown(f"whether {path} is in memory beside the step is not known", cause.path, cause.line)


def loose_weights(phase: Phase) -> Iterator[tuple[str, Weight, bool]]:
    """The weights that the program holds in its first step or in its second by names that lead to no model, each with
    its path, and whether the step before it has made it anew."""
    if phase.held is None:
        return
    first = {id(tensor) for _, tensor in phase.held.tensors}
    second = phase.loop.held_again if phase.loop is not None else None
    for path, tensor in (second or phase.held).tensors:
        if isinstance(tensor, Weight):
            yield path, tensor, id(tensor) not in first


def asked_for(trace: Trace, loop: Loop) -> dict[int, tuple[Tensor, Site | None]]:
    """By the ids of the gradients that the turns of a loop ask for (`torch.autograd.grad`): what they are of, and
    where."""
    found: dict[int, tuple[Tensor, Site | None]] = {}
    for event in (event for turn in loop.turns for event in trace.events_of(turn) if event.kind == "gradient"):
        pairs = event.options.get("given", ())
        found.update((id(result), (of, event.site)) for of, result in (pairs if isinstance(pairs, tuple) else ()))
    return found


def gradients_held(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Gradients of weights that were asked for (`torch.autograd.grad`) and that a name still leads to when the next
    ones are computed: those are counted, and of the older ones what is known to lie on the device. Where a backward
    pass follows in the same step, it needs more, and finds the new ones in their place."""
    again = phase.loop.held_again if phase.loop is not None else None
    if phase.loop is None or again is None or any(event.kind == "backward" for event in phase.events):
        return
    given = {key: site for key, (of, site) in asked_for(trace, phase.loop).items() if isinstance(of, Weight)}
    for path, tensor in again.tensors:
        if id(tensor) in given and not lies_on_device(tensor):
            what = f"{path.partition('[')[0]} holds the last step's gradients while the next are computed"
            yield Unknown(what, *place(given[id(tensor)]))
            return


MADE_ANEW = "an optimizer is made anew in every step: its state was counted from the beginning"


def made_anew(trace: Trace, phase: Phase) -> Instance | None:
    """An optimizer that the step itself makes, for weights that another one from the same place has updated: it keeps
    nothing while the step goes back."""
    first, last = phase.passes[0].first, phase.passes[-1].last
    for optimizer in phase.optimizers:
        made = optimizer.native.get("made") if isinstance(optimizer.native, dict) else None
        if not isinstance(made, int) or not first < made <= last:
            continue
        weights = set(map(id, frameworks.updated_by(optimizer) or ()))
        for event in trace.events:
            other = event.subject
            if event.kind == "step" and other is not optimizer and isinstance(other, Instance):
                if other.site == optimizer.site and not weights.isdisjoint(event.trainable):
                    return optimizer
    return None


def optimizers_in_turn(phase: Phase) -> Iterator[Unknown]:
    """Several optimizers that update the same weights in different turns: what each of them keeps is not counted."""
    stepping: dict[int, tuple[int, frozenset[int]]] = {}
    for optimizer in phase.optimizers:
        weights = frozenset(map(id, frameworks.updated_by(optimizer) or ()))
        for other, shared in stepping.values():
            if shared & weights and not step_together(phase, other, id(optimizer)):
                what = "several optimizers update the same weights in different turns"
                yield Unknown(what, *place(optimizer.site))
                return
        stepping[id(optimizer)] = id(optimizer), weights


def optimizers_waiting(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Optimizers that lie in one container with those that step and were seen to step nowhere: their turn is still to
    come, and what they keep is not counted."""
    held = phase.held.optimizers if phase.held is not None else []
    stepping = {id(optimizer) for optimizer in phase.optimizers}
    seen = {id(event.subject) for event in trace.events if event.kind == "step"}
    containers = {path.partition("[")[0] for path, optimizer in held if "[" in path and id(optimizer) in stepping}
    for path, optimizer in held:
        steps = optimizer.cls.find("step") is not MISSING
        if steps and path.partition("[")[0] in containers and id(optimizer) not in seen:
            weights = frozenset(map(id, frameworks.updated_by(optimizer) or ()))
            if weights & phase.reached:
                yield Unknown(f"{path} is not seen to step: what it keeps is not counted", *place(optimizer.site))
                return


def data_gathered(phase: Phase) -> Iterator[Unknown]:
    """Containers on the device that every turn puts data into which its step does not read (a replay memory): they go
    on to fill beyond the turns that are counted."""
    before, last = phase.passes[-2:] if len(phase.passes) > 1 else (None, phase.passes[-1])
    read = {id(tensor) for each in phase.passes[-2:] for call, _ in each.calls for tensor in call.inputs}
    gathered = [
        kept
        for kept in last.kept
        if kept.inside and not kept.replaced and kept.site is not None and kept.tensor.call is None
    ]
    if before is None:
        # A turn that stands for others: what is put into a container that earlier turns have put something into.
        held = phase.held.tensors if phase.held is not None and phase.loop is not None and phase.loop.repeated else ()
        found = next((kept for kept in gathered if any(lies_in(path, each, kept, last) for path, each in held)), None)
        if found is not None:
            yield Unknown(f"how much {found.what} holds in the end is not known", *place(found.site))
        return
    # What the turn before has put there, or an earlier one: a list may be made anew in every turn.
    lasting = {kept.what for kept in gathered if kept.tensor.born < before.last}
    for kept in gathered:
        if kept.what in lasting and id(kept.tensor) not in read:
            yield Unknown(f"how much {kept.what} holds in the end is not known", *place(kept.site))
            return


def lies_in(path: str, tensor: Tensor, kept: Retained, turn: Pass) -> bool:
    """Whether a tensor lies where a turn has put another one, since before it."""
    return path.startswith(f"{kept.what}[") and tensor.moved and tensor.born < turn.first


def step_together(phase: Phase, one: int, other: int) -> bool:
    """Whether two optimizers step in the same turn."""
    turns = [{id(event.turn) for event in phase.events if event.kind == "step" and id(event.subject) == each}
             for each in (one, other)]  # fmt: skip
    return bool(turns[0] & turns[1])


def place(site: Site | None) -> tuple[str, int]:
    """Path and line; ("", 0) where that is not known."""
    return (site.path, site.line) if site is not None else ("", 0)
