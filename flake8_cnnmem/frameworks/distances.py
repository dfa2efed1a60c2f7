"""How far apart two places are that are not known: `data[i : i + 64]` is 64 items long wherever `i` is.

Scripts that train on one long text draw the places at random, as far from its end as the slice is long.
"""

from __future__ import annotations

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

MOVED = "places moved by a number"


def note_moved(run: Runtime, result: Value, start: Tensor, by: int) -> None:
    """Note that `result` is `by` after `start`, both single whole numbers that are not known."""
    if isinstance(result, Tensor):
        base, before = origin(run, start)
        # The result is kept with what is noted, so that no other tensor gets its id.
        run.data(MOVED)[id(result)] = (result, base, before + by)


RANGES = "ranges whose end is not known"


def note_range(run: Runtime, made: Tensor, length: Unknown, step: Value) -> None:
    """Note that a tensor holds the numbers up to an end that is not known, each `step` more than the one before."""
    if type(step) is int and step > 0:
        run.data(RANGES)[id(made)] = (made, length.every(step))


def number_of_range(run: Runtime, tensor: Tensor) -> Unknown | None:
    """Any number of such a range, as `range` itself gives it."""
    _, number = run.data(RANGES).get(id(tensor), (None, None))
    return number if isinstance(number, Unknown) else None


def origin(run: Runtime, place: Tensor) -> tuple[Tensor, int]:
    """The scalar that a position was counted from, and how far it has moved since."""
    _, base, by = run.data(MOVED).get(id(place), (place, place, 0))
    return base, by


def distance(run: Runtime, part: slice) -> int | None:
    """How many items lie between the ends of a slice that were computed from the same number; None where that is not
    known."""
    if part.step not in (None, 1):
        return None
    if isinstance(part.start, Unknown) and isinstance(part.stop, Unknown):
        length = part.start.distance(part.stop)
        return length if length is None or length >= 0 else None
    if not isinstance(part.start, Tensor) or not isinstance(part.stop, Tensor):
        return None
    (base, before), (other, after) = origin(run, part.start), origin(run, part.stop)
    return after - before if base is other and after >= before else None
