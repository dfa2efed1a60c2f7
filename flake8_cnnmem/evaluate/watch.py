"""What an evaluation notes for the search for models: which layers were built where, and what was called."""

from __future__ import annotations

from dataclasses import dataclass, field

from flake8_cnnmem.graph import Site
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@dataclass(slots=True)
class Made:
    """A layer that the code constructed: `site` is the outermost call in the analysed file that gave it, `last` is
    the number of the last layer that was made while it was constructed."""

    instance: Instance
    number: int
    site: Site | None
    entered: Site | None = None
    """The innermost call in the analysed file during which it was made, perhaps in a function of another file."""
    last: int = 0


@dataclass(slots=True)
class RootCall:
    """A call of a layer from outside any layer, as the code makes it."""

    instance: Instance
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    site: Site | None
    grad: bool
    autocast: str | None = None


@dataclass(slots=True)
class Event:
    """One thing that training code does. Events are kept in the order in which the code does them.

    `kind` is "iterate" (over a loader), "call" (of a layer from outside any layer), "backward" (from a loss), "step"
    (of an optimizer) or "zero_grad" (of an optimizer or a layer). `number` is that of the last op before it.
    """

    kind: str
    subject: Value
    site: Site | None
    number: int
    call: RootCall | None = None


MOST_EVENTS = 20_000
"""What is kept of a program that trains for long: its first steps say what the later ones do."""


@dataclass(slots=True)
class Watch:
    """What an evaluation does that tells which models a file defines."""

    path: str = ""
    entered: Site | None = None
    """The call in the analysed file that is running."""
    layers: dict[int, Made] = field(default_factory=dict)
    cut_short: dict[int, tuple[Instance, Unknown]] = field(default_factory=dict)
    """Objects that were being filled or made when the budget ended or the code raised, by id, with the cause."""
    calls: list[RootCall] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    """Functions and classes, by id, that other functions called, and functions that the module calls as they stand:
    without arguments, so that what they give is what anybody gets."""
