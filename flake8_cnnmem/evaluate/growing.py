"""What tells two turns of a training loop apart, and turns that are given more than those before them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.trace import Event, Loop
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.indexing import Index
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

GROWS = "what the model is given grows from turn to turn of a loop: only its first turns were followed"

UNKNOWN_LATER = "what the model is given in later turns of a loop is not known: only its first turns were followed"


def told_apart_by(event: Any) -> Any:
    """Two events that agree in this are the same step of a loop's round."""
    call = event.call
    if event.kind == "fit":
        given = ((each, shape_of(each)) for each in event.options.values())
        shapes = tuple(repr(each if shape is None or shape == () else shape) for each, shape in given)
    else:
        shapes = () if call is None else tuple(shape_of(each) for each in (*call.args, *call.kwargs.values()))
    return event.kind, id(event.subject) if isinstance(event.subject, Instance) else None, shapes


def shape_of(value: Value) -> Any:
    """The shape of a tensor, or those in a tuple or list; None of anything else."""
    return getattr(value, "shape", None) if not isinstance(value, (tuple, list)) else tuple(map(shape_of, value))


def note_growing(run: Interpreter, followed: Loop, rest: Loop) -> None:
    """Tell of each model that the turn behind those that were followed gives it more than any of them, or nobody knows
    how much, where these give it what is known."""
    before = largest_given(run, followed)
    for model, (size, event) in largest_given(run, rest).items():
        known = before[model][0] if model in before else math.inf
        if known < size:
            note_cause(run, event.subject, "growing sizes", GROWS if size < math.inf else UNKNOWN_LATER)


def largest_given(run: Interpreter, loop: Loop) -> dict[int, tuple[float, Event]]:
    """By the id of each model that the turns of a loop call with a gradient: how many values it is given at most in one
    turn, of this loop or one inside of it, and the call; infinity where that is not known."""
    found: dict[int, tuple[float, Event]] = {}
    given: dict[tuple[int, int], float] = {}
    for turn in loop.turns:
        for event in run.trace.events_of(turn):
            if event.call is not None and event.call.grad:
                key = id(event.subject), id(event.turn)
                counted = event.turn is not None and event.turn.loop.counted
                sizes = (values_in(value, counted) for value in (*event.call.args, *event.call.kwargs.values()))
                given[key] = given.get(key, 0) + sum(sizes)
                before = found.get(id(event.subject))
                if before is None or before[0] < given[key]:
                    found[id(event.subject)] = given[key], event
    return found


def values_in(value: Value, counted: bool) -> float:
    """How many values a tensor has, infinity where a size is not known; of anything else 0. In a loop that counts the
    size of a window whose place depends on the turn (`data[at:at + size]`) is not known either, and each is as large:
    0."""
    if not isinstance(value, Tensor):
        return 0
    sizes = [size for size in value.shape if type(size) is int] if isinstance(value.shape, tuple) else []
    if is_known(value):
        return math.prod(sizes)
    return 0 if counted and is_window(value) else math.inf


def is_known(tensor: Tensor) -> bool:
    """Whether all sizes of a tensor are known."""
    return isinstance(tensor.shape, tuple) and all(type(size) is int for size in tensor.shape)


def is_window(tensor: Tensor) -> bool:
    """Whether the size that is not known of a tensor is that of a part cut from one of known sizes."""
    waiting, seen = [tensor], {id(tensor)}
    while waiting:
        at = waiting.pop()
        unknown = [each for each in at.call.inputs if not is_known(each)] if at.call is not None else []
        cut = isinstance(at.call.op, Index) if at.call is not None else is_of_cut_length(at)
        if not unknown and not cut:
            return False
        waiting += [each for each in unknown if id(each) not in seen]
        seen.update(map(id, unknown))
    return True


def is_of_cut_length(data: Tensor) -> bool:
    """Whether the sizes of data that are not known are no numbers that the program has computed itself."""
    sizes = data.shape if isinstance(data.shape, tuple) else (data.shape,)
    return all(type(size) is int or (isinstance(size, Unknown) and size.number != "int") for size in sizes)
