"""What tells two turns of a training loop apart, and turns that are given more than those before them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.loop_turns import Loop, Turn
from flake8_cnnmem.evaluate.trace import Event
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.ops.indexing import Index
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

GROWS = "what the model is given grows from turn to turn of a loop: only its first turns were followed"

GROWS_BESIDE = "what is computed beside the model grows from turn to turn of a loop: only its first turns were followed"

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
        elif len(followed.turns) > 1 and not all(map(is_known, tensors_given(event))):
            # A size that grew from one to the next, and is not known of a later one.
            sizes = [largest_given(run, followed, at) for at in (0, -1)]
            if all(model in each for each in sizes) and sizes[0][model][0] < sizes[1][model][0]:
                note_cause(run, event.subject, "growing sizes", UNKNOWN_LATER)


def gives_otherwise(run: Interpreter, followed: Loop, rest: Loop) -> bool:
    """Whether the turn behind those that were followed gives a model more than each of them, or something of which
    nobody knows what it is or how large, where these give it what is known."""
    before, later = largest_given(run, followed), largest_given(run, rest)
    grows = any(before[model][0] < size for model, (size, _) in later.items() if model in before)
    return grows or not given_unknown(run, rest) <= given_unknown(run, followed)


def given_unknown(run: Interpreter, loop: Loop) -> set[tuple[int, int]]:
    """The places of arguments that are not known, each with the id of the model that the turns of a loop call on it,
    with a gradient."""
    return {
        (id(event.subject), at)
        for turn in loop.turns
        for event in run.trace.events_of(turn)
        if event.call is not None and event.call.grad
        for at, value in enumerate(event.call.args)
        if isinstance(value, Unknown)
    }


def note_growing_ops(run: Interpreter, followed: Loop, rest: Loop) -> None:
    """Tell that an op outside of any layer gives more in the turn behind those that were followed than in each of them:
    of a queue of earlier results that is not full yet."""
    before = values_made(run, followed)
    later = values_made(run, rest) if before else {}
    if any(before.get(where, values) < values for where, values in later.items()):
        note_cause(run, None, "growing results", GROWS_BESIDE)


def values_made(run: Interpreter, loop: Loop) -> dict[tuple[str, Site | None], float]:
    """How many values an op of the turns of a loop gives at most, as far as known: by kind and place, of those outside
    of any layer that run for certain and that a gradient goes through."""
    made: dict[tuple[str, Site | None], float] = {}
    for turn in loop.turns:
        for call, doubt in run.trace.calls[slice(*turn.calls)]:
            if doubt is None and call.grad and all(each.layer is None for each in call.ancestry()):
                values = sum(values_in(one, True) for one in call.outputs if is_known(one))
                where = call.op.kind, call.site
                made[where] = max(made.get(where, 0), values)
    return made


def tensors_given(event: Event) -> list[Tensor]:
    """The tensors that a model is called on, those in containers left out."""
    call = event.call
    given = (*call.args, *call.kwargs.values()) if call is not None else ()
    return [value for value in given if isinstance(value, Tensor)]


def largest_given(run: Interpreter, loop: Loop, at: int | None = None) -> dict[int, tuple[float, Event]]:
    """By the id of each model that the turns of a loop call with a gradient: how many values it is given at most in one
    turn, of this loop or one inside of it, and the call; infinity where that is not known. With `at` of one turn."""
    found: dict[int, tuple[float, Event]] = {}
    given: dict[tuple[int, int], float] = {}
    for turn in loop.turns if at is None else [loop.turns[at]]:
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


def note_gathered(run: Interpreter, turn: Turn) -> None:
    """Note that a loop whose turns go backward, but make no step, keeps results: its last turn finds those of all in
    memory, and was not followed."""
    kinds = {event.kind for event in run.trace.events_of(turn)}
    if "backward" in kinds and "step" not in kinds:
        note_cause(run, None, "growing results", GROWS_BESIDE)


def values_in(value: Value, counted: bool) -> float:
    """How many values a tensor has, infinity where a size is not known; of anything else 0. In a loop that counts the
    size of a window whose place depends on the turn (`data[at:at + size]`) is not known either, and each is as large:
    0."""
    if not isinstance(value, Tensor):
        return 0
    if isinstance(value.shape, tuple) and all(type(size) is int or most_of(size) for size in value.shape):
        return math.prod(size if type(size) is int else most_of(size) for size in value.shape)
    return 0 if counted and is_window(value) else math.inf


def most_of(size: Value) -> float:
    """The most that a size may be which lies between two others; 0 where that is not known."""
    span = size.span if isinstance(size, Unknown) else None
    return span[1] if span is not None else 0


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
