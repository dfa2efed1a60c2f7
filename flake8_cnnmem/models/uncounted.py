"""Why a training may need something else than is counted of its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.loop_turns import Loop, around, is_single
from flake8_cnnmem.evaluate.trace import Trace
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.passes import passed
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.memory.optimizers import TEXTBOOK, lookup, slots
from flake8_cnnmem.models.changed_later import changed_later
from flake8_cnnmem.models.held_tensors import graphs_beside, graphs_of_some_turns, unsized_beside
from flake8_cnnmem.models.left_by_turns import left_by_turns
from flake8_cnnmem.models.partly_moved import partly_moved
from flake8_cnnmem.models.refused_steps import refused_steps
from flake8_cnnmem.models.unknown_models import beside_models
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def uncounted(run: Interpreter, weights: Sequence[Weight], phase: Phase) -> Iterator[Unknown]:
    """The causes for a phase that trains `weights`; each says whether it can only need less."""
    yield from gathered(phase)
    yield from shrinking(phase)
    yield from only_at_first(run.trace, phase)
    yield from fewer_gathered(phase)
    yield from graphs_beside(run.trace, phase)
    yield from graphs_of_some_turns(run.trace, phase)
    yield from unsized_beside(run.trace, phase)
    yield from left_by_turns(run.trace, phase)
    yield from changed_later(run, weights, phase)
    yield from partly_moved(run, weights, phase)
    yield from beside_models(phase)
    yield from files_beside(weights, phase)
    yield from held_by_unknown(phase)
    yield from refused_optimizers(run, phase)
    yield from put_in_by_hand(phase)
    yield from refused_steps(run, phase)


def put_in_by_hand(phase: Phase) -> Iterator[Unknown]:
    """Why a step may hold more gradients than its parameters': no backward pass leaves any, they are asked for twice or
    are computed with, and what the optimizer then reads is not followed."""
    for each in phase.passes:
        asked = [event for event in each.events if event.kind == "gradient"]
        kinds = {event.kind for event in each.events}
        own = all(event.options.get("by_hand") for event in each.events if event.kind == "step")
        if not asked or "step" not in kinds or "backward" in kinds or own:
            # The ops of a step that the program writes out are followed.
            continue
        computed = any(call.number > asked[-1].number for call, _ in each.calls)
        if computed or len(asked) > 1:
            site = asked[0].site
            place = (site.path, site.line) if site is not None else ("", 0)
            yield Unknown("what is made of gradients that are put in by hand is not followed", *place)
            return


def held_by_unknown(phase: Phase) -> Iterator[Unknown]:
    """Why a step may update other weights than those of the models that it calls: what its optimizer was made for is
    not known, nor which gradients are cleared for it."""
    for optimizer in phase.optimizers:
        groups = optimizer.attributes.get("param_groups")
        each = [group.get("params") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
        held = [value for one in each for value in (one if isinstance(one, (list, tuple)) else (one,))]
        cause = next((value for value in (groups, *held) if isinstance(value, Unknown)), None)
        if cause is not None:
            what = f"which parameters the optimizer was made for is not known: {cause.reason}"
            yield Unknown(what, cause.path, cause.line)


def refused_optimizers(run: Interpreter, phase: Phase) -> Iterator[Unknown]:
    """Why a step is never made: the framework refuses what its optimizer is constructed with."""
    for optimizer in phase.optimizers:
        if id(optimizer) in run.trace.refused:
            yield run.trace.refused[id(optimizer)][1]


def gathered(phase: Phase) -> Iterator[Unknown]:
    """Why more may lie beside a phase than is known: its loop or one around it keeps models of its turns, and is not
    followed to its end."""
    outer = around(phase.loop.outer if phase.loop is not None else None)
    for loop in (*([phase.loop] if phase.loop is not None else ()), *(turn.loop for turn in outer)):
        if loop.gathers:
            site = loop.site
            place = (site.path, site.line) if site is not None else ("", 0)
            yield Unknown("how many models a loop keeps is not known", *place)


def fewer_gathered(phase: Phase) -> Iterator[Unknown]:
    """Why less may be in memory than is counted: a loop that runs once steps for what a number of turns have gathered,
    and has too few turns for a second step like the first."""
    loop = phase.loop
    if loop is not None and loop.length is not None and phase.micro_steps > 1 and is_single(loop.outer):
        if loop.length < 2 * phase.micro_steps and loop.length != phase.micro_steps and loop.site is not None:
            yield Unknown("whether a second step gathers as much", loop.site.path, loop.site.line, upper=True)


def shrinking(phase: Phase) -> Iterator[Unknown]:
    """Why more may be in memory than in the turn of a loop that is told, though that is given the most: a later one
    finds the optimizer's state, or gradients."""
    site = phase.loop.site if phase.loop is not None else None
    if site is not None and (phase.shrinks or phase.extended):
        what = "are given less" if phase.shrinks else "may do as much"
        yield Unknown(f"what later turns of the loop, which {what}, find in memory", site.path, site.line)


def only_at_first(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Why less may be in memory than is counted: the very first turn of a loop does what no other one does (a penalty),
    and its optimizer keeps nothing yet."""
    loop = phase.loop
    if loop is None or len(loop.turns) < 2 or loop.repeated or not is_single(loop.outer) or recurs(loop):
        return
    first, *others = (passed(trace, [turn]).signature for turn in loop.turns)
    stepping = [event.subject for event in trace.events_of(loop.turns[0]) if event.kind == "step"]
    before = {id(event.subject) for event in trace.events[: loop.turns[0].events[0]] if event.kind == "step"}
    new = [optimizer for optimizer in stepping if id(optimizer) not in before and keeps_something(optimizer)]
    if new and all(first > other for other in others):
        what = "what the first step does alone needs less than in later ones, as the optimizer keeps nothing yet"
        yield Unknown(what, *((loop.site.path, loop.site.line) if loop.site is not None else ("", 0)), upper=True)


def recurs(loop: Loop) -> bool:
    """Whether what is done in a loop's first turn by a count may be done in a later one again."""
    turn = loop.turns[0]
    later = [count + divisor for count, divisor, _ in turn.counts] + [limit for _, limit in turn.limits]
    return bool(later) and (loop.length is None or min(later) < loop.length)


def keeps_something(optimizer: Value) -> bool:
    """Whether an optimizer has a state for its parameters, as far as its name says."""
    found = frameworks.optimizer_of(optimizer)
    return found is not None and (found.own is not None or slots(*lookup(found, TEXTBOOK)) > 0)


def files_beside(weights: Sequence[Weight], phase: Phase) -> Iterator[Unknown]:
    """Why more lies beside a phase than is known: a name leads to all that a file holds, whose tensors were not left on
    the host, where the code says what goes to the device."""
    if phase.held is not None and any(weight.moved_at(phase.stepped) for weight in weights):
        for path, file in phase.held.loaded[:1]:
            yield Unknown(f"what {path} holds of a file is in memory beside the step", file.path, file.line)
