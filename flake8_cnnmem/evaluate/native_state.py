"""The state of natives: one process has one `torch.nn.Conv2d` for all the files that it analyses.

A program may change them (`nn.Conv2d.forward = mine`, `setattr(nn.Module, ...)`, an attribute of a native object). What
it changes is noted before, and put back when its analysis ends, so that no file says anything about another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flake8_cnnmem.evaluate.snapshots import restore, snapshot
from flake8_cnnmem.values import Instance, Value

_analyses: list[dict[int, tuple[Value, Any]]] = []
"""For each analysis that is under way, the innermost last: the state of what it has changed, by id."""


@contextmanager
def natives_put_back() -> Iterator[None]:
    """For one analysis: whatever it changes about natives is undone at its end, also where it ends with an error."""
    _analyses.append({})
    try:
        yield
    finally:
        for container, before in _analyses.pop().values():
            restore(container, before)


def about_to_change(container: Value) -> None:
    """A dict, list, set or Instance that natives own is about to be changed by the program."""
    if _analyses and id(container) not in _analyses[-1]:
        _analyses[-1][id(container)] = (container, snapshot(container))


def note_set_around(instance: Instance, name: Value) -> None:
    """An attribute was put into an object's own dict, past the `__setattr__` of its class. What a framework keeps of
    the object (`Instance.native`) may have a set for the names of such."""
    names = getattr(instance.native, "set_around", None)
    if names is not None:
        names.add(name)


def natives_changed() -> bool:
    """Whether the program under analysis has changed anything about natives so far."""
    return bool(_analyses and _analyses[-1])
