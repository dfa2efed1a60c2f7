"""Branches on tests that are not known: both sides run, and what they disagree on is Unknown.

A journal notes every container before it is first changed, so that one side can be undone before the other
runs. Containers are the variables of frames, attributes of instances, lists, dicts and sets.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.joins import join
from flake8_cnnmem.evaluate.lengths import assumed
from flake8_cnnmem.evaluate.signals import BREAK, CONTINUE, UNDONE, Returned
from flake8_cnnmem.evaluate.snapshots import restore, snapshot
from flake8_cnnmem.evaluate.training_state import PERHAPS_FILLED, holds_weights
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

Journal = dict[int, tuple[Value, Any]]


RETURN, RAISED = "return", "raised"
"""The ways out of a function; those out of a loop or round are its signals."""


class Side:
    """What one side of a branch did."""

    __slots__ = ("born", "numbered", "raised", "signal", "states")

    def __init__(self) -> None:
        self.signal: Value = None
        self.raised: Raised | None = None
        self.states: Journal = {}
        """Each container the side changed, with its state at the side's end."""
        self.born: set[int] = set()
        """Those of them that the side itself made: nobody else knows them."""
        self.numbered = 0


def take(run: Interpreter, cause: Unknown, frame: Frame, code: Code) -> Side:
    """Run one side under a journal of its own, note what it did, and undo it."""
    outer, run.journal = run.journal, {}
    outer_births, run.births = run.births, {}
    depth, invocation = run.budget.depth, run.invocation
    started, logged = run.numbered, len(run.log) if run.log is not None else 0
    settled = len(run.settled)
    side = Side()
    ended = False
    run.trace.doubts.append(cause)
    turn = run.trace.turn
    try:
        side.signal = code(frame)
        ended = True
    except Raised as raised:
        side.raised = raised
        run.budget.depth, run.invocation = depth, invocation
        ended = True
    finally:
        run.trace.doubts.pop()
        run.trace.leave(turn, run.numbered)
        journal = run.journal
        births, run.journal, run.births = run.births, outer, outer_births
        # Where the budget ends all branches around this one are left as well: none of them asks what it did. What it
        # has made is seen in the trace all the same (the optimizer of a step), and is as it was made.
        side.born = born_with(births, journal)
        if ended:
            side.states = {key: (container, snapshot(container)) for key, (container, _) in journal.items()}
            if outer_births is not None:
                outer_births.update(births)
            if outer is not None:
                for key, noted in journal.items():
                    outer.setdefault(key, noted)
        for key, (container, before) in journal.items():
            if ended or key not in side.born:
                restore(container, before)
        # What an import has defined meanwhile stays, also where the module's variables were noted before.
        for variables, word, value in run.settled[settled:]:
            variables.setdefault(word, value)
        if outer is None:
            run.settled.clear()
        run.frame = frame
    run.spend(len(journal) + len(births))
    side.numbered = run.numbered - started
    for call in run.log[logged:] if run.log is not None else ():
        call.doubtful = True
    return side


def born_with(births: Mapping[int, Value], journal: Journal) -> set[int]:
    """The objects that were made since a journal began, and the containers in them that were empty when first changed:
    by id. An object that is made on one side is whole there, whether that side is taken or not."""
    found = {key for key in births if key in journal}
    waiting: list[Any] = [births[key] for key in found]
    while waiting:
        value = waiting.pop()
        inside = value.attributes if isinstance(value, Instance) else value
        for item in list(inside.values() if isinstance(inside, dict) else inside):
            if isinstance(item, Weight):
                found.add(id(item))
            elif isinstance(item, (dict, list, set, deque)) and id(item) in journal and id(item) not in found:
                before = journal[id(item)][1]
                if not before:
                    found.add(id(item))
                    waiting.append(item)
    return found


def branch(run: Interpreter, cause: Unknown, frame: Frame, body: Code, orelse: Code, likely: bool = False) -> Value:
    """`if cause: body else: orelse`. Gives the signal that ends the block, as a statement does. Of two tensors alike
    that of the cheaper side goes on, or that of the body where it is `likely` that it runs."""
    run.spend(1)
    events = len(run.trace.events)
    with assumed(run, cause, True):
        first = take(run, cause, frame, body)
    if first.signal is UNDONE:
        return UNDONE
    try:
        with assumed(run, cause, False):
            second = take(run, cause, frame, orelse)
    except Leaving:
        # The budget ends here: what the first side has made is as it was made (see `take`).
        for key in first.born & first.states.keys():
            restore(*first.states[key])
        raise
    left = None if run.trace.doubts else frame.left
    if left is not None:
        frame.left = None
    signal = joined(run, cause, frame, first, second, likely, events == len(run.trace.events))
    if left is not None:
        part(run, frame, left, RETURN)
    return signal


def joined(
    run: Interpreter, cause: Unknown, frame: Frame, first: Side, second: Side, likely: bool, plain: bool
) -> Value:
    """What both sides of a branch leave, and the signal that ends the block. `plain`: no training is seen in them."""
    if first.raised is not None and second.raised is not None:
        commit(run, second)
        raise second.raised
    if first.raised is not None or second.raised is not None:
        raised, other = (first, second) if first.raised is not None else (second, first)
        signal = settle(run, frame, other)
        if plain and raised.raised is not None and run.invocation is None:
            may_raise(run, frame, raised.raised.value, cause)
        return signal
    if first.signal is None and second.signal is None:
        merge(run, first, second, cause, likely)
        return None
    if isinstance(first.signal, Returned) and isinstance(second.signal, Returned):
        merge(run, first, second, cause, likely)
        return Returned(join(run, first.signal.value, second.signal.value, cause))
    ended, other = (first, second) if first.signal is not None else (second, first)
    if isinstance(other.signal, Returned):
        ended, other = other, ended
    plain = plain and run.invocation is None
    if isinstance(ended.signal, Returned):
        frame.pending.append((ended.signal.value, cause, run.numbered))
        return go_on(run, frame, ended, other, cause) if plain else settle(run, frame, other)
    if ended.signal is other.signal:
        merge(run, first, second, cause, likely)
        return ended.signal
    # One side leaves the round or the loop: the loop goes on as the other side says, and the variables
    # as they stood here are joined with those at its end.
    before = frame.variables.copy()
    variables = ended.states.get(id(frame.variables))
    if ended.signal is BREAK or ended.signal is CONTINUE:
        frame.breaks.append((variables[1] if variables is not None else before, cause, run.numbered))
    return go_on(run, frame, ended, other, cause) if plain else settle(run, frame, other)


def go_on(run: Interpreter, frame: Frame, ended: Side, other: Side, cause: Unknown) -> Value:
    """One side leaves the function, the loop or the round, outside of any training: what it has changed by then may be
    so, as what the other one has, with which the code goes on. What the code changes behind it may not be so."""
    own = id(frame.variables)
    variables = other.states.pop(own, None)
    # What the side itself has made goes with it.
    ended.states = {key: state for key, state in ended.states.items() if key != own and key not in ended.born}
    merge(run, ended, other, cause, False)
    if variables is not None:
        run.changed(frame.variables)
        restore(frame.variables, variables[1])
    part(run, frame, cause, RETURN if isinstance(ended.signal, Returned) else ended.signal)
    return other.signal


def may_raise(run: Interpreter, frame: Frame, value: Instance, cause: Unknown) -> None:
    """An exception may have been raised that the program takes: what is behind it may not run, and its handler may."""
    if not run.trace.doubts and any(guard(value) for guard in reversed(run.guards)):
        frame.raises = (value, cause)
        part(run, frame, cause, RAISED)


class Parted:
    """From here on the code may not run: it may have been left before, by a `return`, a `break` or a `continue`."""

    __slots__ = ("births", "cause", "events", "journal", "kind")

    def __init__(self, run: Interpreter, cause: Unknown, kind: Value) -> None:
        self.cause, self.kind = cause, kind
        self.journal, self.births = run.journal, run.births
        self.events = len(run.trace.events)


def part(run: Interpreter, frame: Frame, cause: Unknown, kind: Value) -> None:
    """What changes behind the test that nobody knows is noted, for who comes to where the sides meet. Inside of a
    branch all that changes is noted as it is."""
    if run.trace.doubts and kind == RETURN:
        frame.left = cause
    if frame.parted is None or run.trace.doubts or any(each.kind is kind for each in frame.parted):
        return
    frame.parted.append(Parted(run, cause, kind))
    run.journal, run.births = {}, {}


def meet(run: Interpreter, frame: Frame, before: int, kinds: Iterable[Value] | None = None) -> None:
    """The place to which those ways out lead that are of these kinds, all of them with None: what has changed since is
    as it was, or as it is now. `before`: how many ways out there were where the loop or round began."""
    if not frame.parted or len(frame.parted) <= before:
        return
    left: dict[Value, Unknown] = {}
    while len(frame.parted) > before:
        parted = frame.parted.pop()
        if kinds is not None and parted.kind not in kinds:
            left[parted.kind] = parted.cause
        journal, births = run.journal or {}, run.births or {}
        run.journal, run.births = parted.journal, parted.births
        if parted.births is not None:
            parted.births.update(births)
        if parted.journal is not None:
            for key, noted in journal.items():
                parted.journal.setdefault(key, noted)
        journal.pop(id(frame.variables), None)
        if run.invocation is not None or parted.events != len(run.trace.events):
            continue
        rest = Side()
        rest.born = born_with(births, journal)
        rest.states = {key: (container, snapshot(container)) for key, (container, _) in journal.items()}
        for container, state in journal.values():
            restore(container, state)
        try:
            merge(run, Side(), rest, parted.cause, False)
        except Leaving:
            # The budget has ended: nobody asks any more what was changed since those before.
            if len(frame.parted) > before:
                run.journal, run.births = frame.parted[before].journal, frame.parted[before].births
                del frame.parted[before:]
            raise
    for kind, cause in left.items():
        part(run, frame, cause, kind)


def settle(run: Interpreter, frame: Frame, side: Side) -> Value:
    """Keep what one side of a branch did, and give how it left."""
    commit(run, side)
    return side.signal


def commit(run: Interpreter, side: Side) -> None:
    """Put the containers into the state in which one side left them."""
    for container, state in side.states.values():
        run.changed(container)
        restore(container, state)


def merge(run: Interpreter, first: Side, second: Side, cause: Unknown, likely: bool) -> None:
    """Bring every container that either side changed into a state that both agree on."""
    swap = None if likely else first.numbered > second.numbered
    for key in {**first.states, **second.states}:
        container = (first.states.get(key) or second.states[key])[0]
        run.changed(container)
        maker = first if key in first.born else second if key in second.born else None
        if maker is not None:
            restore(container, maker.states[key][1])
            continue
        before = snapshot(container)
        left = first.states[key][1] if key in first.states else before
        right = second.states[key][1] if key in second.states else before
        restore(container, merged(run, container, left, right, cause, swap))


def merged(run: Interpreter, container: Value, left: Any, right: Any, cause: Unknown, swap: bool | None) -> Any:
    """The state of a container after either of two sides: what differs is `cause`. With `swap` the right side is taken
    first; None where the left one is the likely one."""
    if isinstance(container, Instance):
        attributes = joined_dict(run, left[0], right[0], cause, swap)
        payload = container.payload
        if isinstance(payload, (list, dict, set, deque)):
            payload = merged(run, payload, left[1], right[1], cause, swap)
        return attributes, payload, *left[2:]
    if isinstance(container, Tensor):
        of_values = (left[0] if left[0] == right[0] else cause.loose()), (left[1] if left[:2] == right[:2] else None)
        if not isinstance(container, Weight):
            return of_values
        if left[2] is right[2]:
            return *of_values, left[2], right[3] if left[3] is None else left[3]
        return *of_values, True, dataclasses.replace(cause.loose(), upper=True)
    if isinstance(left, dict):
        note_perhaps_filled(run, container, (now for key, now in {**left, **right}.items()
                                             if key not in left or key not in right), cause)  # fmt: skip
        return joined_dict(run, left, right, cause, swap)
    if isinstance(left, (list, deque)):
        if len(left) == len(right):
            return [join(run, a, b, cause, swap) for a, b in zip(left, right, strict=True)]
        longer = left if len(left) > len(right) else right
        note_perhaps_filled(run, container, islice(longer, min(len(left), len(right)), None), cause)
        run.havoc(container, cause)
        either = {id(item): item for item in (*left, *right)}
        run.note_sample(container, list(either.values()))
        return left if len(left) < len(right) else right
    if left != right:
        run.havoc(container, cause)
    return left


def note_perhaps_filled(run: Interpreter, container: Value, items: Iterable[Value], cause: Unknown) -> None:
    """Note a container that has items on one side alone, where copies of models or of their weights are among them."""
    if run.trace.turn is not None and not run.trace.settled and any(map(holds_weights, items)):
        run.data(PERHAPS_FILLED)[id(container)] = (container, cause)


def joined_dict(run: Interpreter, left: Any, right: Any, cause: Unknown, swap: bool | None) -> dict[Value, Value]:
    """A dict with the keys of both sides; a key that one lacks, or that differs, is `cause`."""
    result: dict[Value, Value] = OrderedDict() if isinstance(left, OrderedDict) else {}
    for key in {**left, **right}:
        a, b = left.get(key, MISSING), right.get(key, MISSING)
        result[key] = cause if a is MISSING or b is MISSING else join(run, a, b, cause, swap)
    return result


def either(run: Interpreter, cause: Unknown, frame: Frame, body: Code, orelse: Code) -> Value:
    """`body if cause else orelse`."""

    def returning(code: Code) -> Code:
        return lambda frame: Returned(code(frame))

    signal = branch(run, cause, frame, returning(body), returning(orelse))
    return signal.value if isinstance(signal, Returned) else cause


def aside(run: Interpreter, code: Code, frame: Frame, cause: Unknown) -> Value:
    """A value that may not be evaluated at all (`unknown or code`): what it changes is not known afterwards."""
    side = take(run, cause, frame, lambda frame: Returned(code(frame)))
    if not isinstance(side.signal, Returned):
        return Unknown("one side raises")
    merge(run, side, Side(), cause, False)
    return side.signal.value
