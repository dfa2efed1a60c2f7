"""Calls of models that no loop of their own is around and that belong to no training's step: the test set in one piece,
behind the steps of an epoch, behind all of them, or behind every hundredth step in the loop that makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.loop_turns import Turn, around
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.evidence.passes import Pass
from flake8_cnnmem.evidence.phases import Phase

LEARNING = ("step", "backward", "gradient", "fit")


def calls_between(trace: Trace, phases: Sequence[Phase]) -> list[Phase]:
    """Such calls, each with the ops of the same stretch: from the loop that has ended before it to the next one. Of a
    call that is made again the last that was followed."""
    counted = {id(event) for phase in phases for each in phase.passes for event in each.events}
    told = {id(event) for phase in phases for event in phase.events if event.doubt is None}
    stepping = {id(phase.loop) for phase in phases if phase.loop is not None}
    learning = {id(turn.loop) for event in trace.events if event.kind in LEARNING for turn in around(event.turn)}
    found: dict[object, Phase] = {}
    for event in trace.events if stepping else ():
        turns = list(around(event.turn))
        if event.kind != "call" or (turns and id(turns[0].loop) not in learning):
            continue
        if stepping.isdisjoint(id(turn.loop) for turn in turns):
            if event.doubt is None and id(event) not in counted:
                found[event.site] = stretch_around(trace, event)
        elif id(turns[0].loop) in stepping and not learns_from(event) and id(event) not in told:
            # As often as a count or a test says, behind a step of the same turn.
            found[event.site] = stretch_behind(trace, event, turns[0])
    return list(found.values())


def learns_from(event: Event) -> bool:
    """Whether a call of a model keeps what a backward pass needs."""
    return event.call is not None and event.call.grad


def stretch_behind(trace: Trace, event: Event, turn: Turn) -> Phase:
    """A call in a turn that learns, with what runs around it between the turn's learning and other loops."""
    first, last = turn.first, turn.last
    for other in trace.events_of(turn):
        if other is not event and (other.kind in LEARNING or learns_from(other) or other.turn is not turn):
            if other.number <= event.number:
                first = max(first, other.number)
            else:
                last = min(last, other.number)
    # What it is if the test that the call stands behind says so.
    calls = [
        (call, None if doubt is event.doubt else doubt)
        for call, doubt in trace.calls_of(turn)
        if first < call.number <= last
    ]
    return Phase([Pass([event], calls, [(0, first)], last)], turn.loop)


def stretch_around(trace: Trace, event: Event) -> Phase:
    """A call, with what runs before and after it in the same turn up to the next loops."""
    turn = event.turn
    first, last = (turn.first, turn.last) if turn is not None else (0, trace.calls[-1][0].number)
    for inner in turns_below(trace, turn):
        if inner.last <= event.number:
            first = max(first, inner.last)
        elif inner.first >= event.number:
            last = min(last, inner.first)
    calls = [each for each in trace.calls if first < each[0].number <= last]
    return Phase([Pass([event], calls, [(0, first)], last)], turn.loop if turn is not None else None)


def turns_below(trace: Trace, turn: Turn | None) -> Iterator[Turn]:
    """The turns of loops that begin in a turn, or outside of any."""
    for event in trace.events if turn is None else trace.events_of(turn):
        yield from (each for each in around(event.turn) if each.loop.outer is turn and each is not turn)
