"""What a program changes, for who has to put it back, and containers whose items are not known any more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate import joins
from flake8_cnnmem.evaluate.native_state import about_to_change
from flake8_cnnmem.evaluate.snapshots import snapshot
from flake8_cnnmem.evaluate.trace import Filled
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

CONTAINERS = (list, dict, deque)
"""What tensors are gathered in."""


def note_registry(run: Interpreter, container: dict[Value, Value] | list[Value]) -> None:
    """A dict, or an empty list, that is made while a module is imported may be filled by other modules."""
    if run.importing is not None:
        run.registries[id(container)] = (container, run.importing)
        if not container:
            run.made_empty.add(id(container))


def read_whole(run: Interpreter, container: Value) -> None:
    """All of a container is about to be read: what other modules put into it when they are imported has to be there."""
    if run.made_empty and id(container) in run.made_empty:
        run.importer.complete(container)


def changed(run: Interpreter, container: Value) -> None:
    """A container or instance is about to change: what a branch or loop must put back is kept."""
    journal, turn = run.journal, run.trace.turn
    if run.lengths:
        run.lengths.pop(id(container), None)
    if turn is not None and run.invocation is None:
        if type(container) in CONTAINERS and not is_full(container):
            run.fills(id(container))
        if isinstance(container, CONTAINERS):
            turn.filled.setdefault(id(container), (container, len(container)))
    elif turn is not None and isinstance(container, CONTAINERS):
        run.trace.stored = run.numbered
    if type(container) is Instance:
        if container.site is None:
            about_to_change(container)
    elif type(container) is deque and container.maxlen is not None and not is_full(container):
        run.trace.limited.add(id(container))
    if journal is not None and id(container) not in journal:
        run.spend(len(container) // 16 if isinstance(container, Sized) else 0)
        journal[id(container)] = (container, snapshot(container))


def is_full(container: Value) -> bool:
    """Whether a container lets go of an item for each that is put into it."""
    return isinstance(container, deque) and len(container) == container.maxlen


def fills(run: Interpreter, what: Filled) -> None:
    """Something is put into a container, or an attribute of an object is set."""
    if run.trace.turn is None:
        return
    if run.invocation is None:
        run.trace.fills(what, run.numbered, run.site)
    else:
        run.trace.stored = run.numbered


def note_sample(run: Interpreter, container: Value, items: Sequence[Value]) -> None:
    """These were, perhaps, put into a container of unknown items."""
    held, before = run.samples.get(id(container), (None, MISSING))
    known = [before] if held is container else []
    if known or items:
        common = joins.one_of(run, [*known, *items], run.havocked[id(container)][1])
        run.samples[id(container)] = (container, common)


def sample(run: Interpreter, container: Value) -> Value:
    """What stands for the items of a container of which it is not known how many it has, a number that is not known
    among them; or MISSING."""
    held, found = run.samples.get(id(container), (None, MISSING)) if run.samples else (None, MISSING)
    if held is not container or found is MISSING or id(container) not in run.havocked:
        return MISSING
    inside = container.values() if isinstance(container, dict) else container
    certain: list[Value] = list(inside) if isinstance(inside, Iterable) else []
    common = joins.one_of(run, [found, *certain], run.havocked[id(container)][1])
    return MISSING if isinstance(common, Unknown) and not common.number else common
