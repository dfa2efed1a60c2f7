"""Calls of models that no loop of their own is around and that belong to no training's step: the test set in one piece,
behind the steps of an epoch or behind all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.trace import Event, Trace, Turn, around
from flake8_cnnmem.evidence.passes import Pass
from flake8_cnnmem.evidence.phases import Phase

LEARNING = ("step", "backward", "gradient", "fit")


def calls_between(trace: Trace, phases: Sequence[Phase]) -> list[Phase]:
    """Such calls, each with the ops of the same stretch: from the loop that has ended before it to the next one. Of a
    call that is made again the last that was followed."""
    counted = {id(event) for phase in phases for each in phase.passes for event in each.events}
    stepping = {id(phase.loop) for phase in phases if phase.loop is not None}
    learning = {id(turn.loop) for event in trace.events if event.kind in LEARNING for turn in around(event.turn)}
    found: dict[object, Phase] = {}
    for event in trace.events if stepping else ():
        turns = list(around(event.turn))
        if (
            event.kind == "call"
            and event.doubt is None
            and id(event) not in counted
            and stepping.isdisjoint(id(turn.loop) for turn in turns)
            and (not turns or id(turns[0].loop) in learning)
        ):
            found[event.site] = stretch_around(trace, event)
    return list(found.values())


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
