"""What a program computes on the device between its steps, beside any model: a data set that is shuffled or scaled as a
whole. Whether that needs more than the step that is told."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.evaluate.loop_turns import around
from flake8_cnnmem.evaluate.trace import Trace
from flake8_cnnmem.evidence import Phase, evaluations_in_steps
from flake8_cnnmem.graph import Call, Tensor, moved_at
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.leaves import memory_of
from flake8_cnnmem.models.root import weights_in
from flake8_cnnmem.unknown import Unknown

MOST_CALLS = 20_000
"""Ops of a program beyond which it is not looked at."""

LEAST_SHARE = 0.01
"""Of the step's bytes: an op that gives less decides nothing."""


def needs_more(trace: Trace, phases: Sequence[Phase], total: float) -> Unknown | None:
    """Why a program needs more than the `total` bytes of its step: what surely lies on the device when a certain op
    between its steps has run is more than that already."""
    if not phases or len(trace.calls) > MOST_CALLS:
        return None
    least = LEAST_SHARE * total
    large = [call for call in between(trace, phases) if sum(map(bytes_written, call.outputs)) >= least]
    if not large:
        return None
    there = on_the_device(trace)
    held = {key: life for key, life in lifetimes(trace, phases).items() if key in there}
    sizes = {key: bytes_of(tensor) for key, (tensor, _, _) in held.items()}
    for call in large:
        if sum(sizes.get(id(memory_of(result)), 0) for result in call.outputs) < least:
            continue
        alive = sum(sizes[key] for key, (_, made, last) in held.items() if made <= call.number <= last)
        if alive > total:
            place = (call.site.path, call.site.line) if call.site is not None else ("", 0)
            return Unknown("what is computed between the steps needs more than they do", *place)
    return None


def between(trace: Trace, phases: Sequence[Phase]) -> Iterator[Call]:
    """The ops outside of any layer and of the loops that train, which are run for certain; in these loops what is
    computed of the results that an evaluation has gathered."""
    spans = [*map(span_of, phases), *steps_of_others(trace)]
    looked = evaluations_in_steps(trace, phases)
    kept = {id(each.tensor) for phase in looked for one in phase.passes for each in one.kept}
    rests = {id(turn.loop.open) for event in trace.events for turn in around(event.turn) if turn.loop.follows}
    for call, doubt in trace.calls:
        if any(each.layer is not None for each in call.ancestry()):
            continue
        if not kept.isdisjoint(map(id, call.inputs)):
            kept.update(map(id, call.outputs))
            yield call
        elif (doubt is None or id(doubt) in rests) and not any(first < call.number <= last for first, last in spans):
            yield call


def steps_of_others(trace: Trace) -> Iterator[tuple[int, int]]:
    """As `span_of`, of every loop of the program that repeats a step: each is told by itself."""
    loops = {id(event.turn.loop): event.turn.loop for event in trace.events if event.kind == "step" and event.turn}
    for loop in loops.values():
        if loop.turns:
            yield loop.began, loop.turns[-1].last


def span_of(phase: Phase) -> tuple[int, int]:
    """The numbers of the last op before a phase, and of its last."""
    if phase.loop is not None and phase.loop.turns:
        return phase.loop.began, phase.loop.turns[-1].last
    return phase.passes[0].first, phase.passes[-1].last


def on_the_device(trace: Trace) -> set[int]:
    """The storages, by id, that lie on the device for certain: what was moved there, and what was computed of it."""
    found: set[int] = set()
    for call, _ in trace.calls:
        for tensor in (*call.inputs, *call.weights):
            if moved_at(tensor, call.number):
                found.add(id(memory_of(tensor)))
        if any(id(memory_of(tensor)) in found for tensor in (*call.inputs, *call.weights)):
            found.update(id(memory_of(tensor)) for tensor in call.outputs)
    return found


def lifetimes(trace: Trace, phases: Sequence[Phase]) -> dict[int, tuple[Tensor, int, int]]:
    """By id the storages of the tensors that ops read and make, and of the parameters of the models, each with the
    number of the op that has made it and the last for which a name or an op surely holds it."""
    found: dict[int, tuple[Tensor, int, int]] = {}

    def lives(tensor: Tensor, until: int) -> None:
        whole = memory_of(tensor)
        made = whole.call.number if whole.call is not None else whole.born
        before = found.get(id(whole), (whole, made, 0))[2]
        found[id(whole)] = whole, made, max(before, until, tensor.held)

    for call, _ in trace.calls:
        for tensor in (*call.inputs, *call.outputs):
            lives(tensor, call.number)
    for phase in phases:
        if phase.held is not None:
            for _, tensor in phase.held.tensors:
                lives(tensor, phase.passes[0].first)
            for _, layer in phase.held.layers:
                made = trace.layers.get(id(layer))
                for weight in weights_in(layer):
                    began = made.began if made is not None else weight.born
                    found[id(weight)] = weight, began, phase.passes[-1].last
    return found


def bytes_written(result: Tensor) -> float:
    """How large the tensor is in whose storage a result lies."""
    return bytes_of(memory_of(result))


def bytes_of(tensor: Tensor) -> float:
    """How large a tensor is; 0 where its sizes are not known."""
    size = dims.product(tensor.shape) if not isinstance(tensor.shape, Unknown) else None
    return size * size_of(tensor.dtype) if type(size) is int and math.isfinite(size) else 0
