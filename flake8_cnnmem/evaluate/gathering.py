"""Lists that a loop over a loader fills. One batch stands for all while the loop runs, so that the list has an item for
each of the few batches that were drawn; when the loop has ended, those of the others are put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.trace import Loop, Turn
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_ITEMS = 4096
"""What is put into one list."""


@dataclass(frozen=True, slots=True)
class Batches:
    """How many batches of `size` samples a loader gives; the last one has `last`."""

    count: int
    size: int
    last: int


def batches_of(run: Interpreter, loop: Loop) -> Batches | None:
    """The batches of the loader that a loop goes through; None where they are not known."""
    loader = loader_of(run, loop)
    if loader is None or not isinstance(loader.native, dict):
        return None
    size, count = loader.native.get("batch_size"), length_of(run, loader)
    samples = length_of(run, loader.native.get("dataset"))
    if type(size) is not int or size < 1 or not count or samples is None:
        return None
    return Batches(count, size, min(size, samples - size * (count - 1)))


def loader_of(run: Interpreter, loop: Loop) -> Instance | None:
    """The loader that a loop goes through, where it is certain which one began it."""
    begun = [event.subject for event in run.trace.events[max(0, loop.started - 2) : loop.started]
             if event.kind == "iterate" and event.turn is loop.outer]  # fmt: skip
    return begun[-1] if len(begun) == 1 and isinstance(begun[-1], Instance) else None


def length_of(run: Interpreter, value: Value) -> int | None:
    """`len(value)`, where it has one that is known."""
    method = run.find(value, "__len__") if isinstance(value, Instance) else MISSING
    length = run.attempt(method) if method is not MISSING else None
    return length if type(length) is int else None


def fill_up(run: Interpreter, loop: Loop, turn: Turn, turns: int) -> None:
    """A loop over a loader has ended, after so many turns that were followed: the lists that the last `turn` has put
    something into get what the turns put in that were not."""
    for gathered, before in turn.lengths.values():
        if len(gathered) > before:
            fill_up_from(run, loop, gathered, gathered[before:], turns)


def fill_up_from(run: Interpreter, loop: Loop, gathered: list[Value], added: Sequence[Value], turns: int) -> None:
    """Put in what each of the turns that were not followed `added`, as far as these are results through which no
    gradient goes back."""
    if not all(map(is_result, added)) or loader_of(run, loop) is None:
        return
    batches = batches_of(run, loop)
    if batches is None or (batches.count - turns) * len(added) > MOST_ITEMS:
        cause = run.unknown("how many batches a data loader gives is not known")
        gathered += [of_samples(item, None, cause) for item in added]
        return
    cause = run.unknown("how many of its rows the last batch gives is not known")
    for at in range(turns, batches.count):
        rest = batches.last if at == batches.count - 1 else batches.size
        gathered += [item if rest == batches.size else of_samples(item, (batches.size, rest), cause)
                     for item in map(another, added)]  # fmt: skip


def is_result(item: Value) -> bool:
    """Whether a value is a tensor through which no gradient flows, of one axis or more, or a tuple or list of nothing
    else."""
    if isinstance(item, (tuple, list)):
        if type(item) not in (tuple, list):
            return False
        return bool(item) and all(map(is_result, item))
    if type(item) is not Tensor or isinstance(item.shape, Unknown) or not item.shape:
        return False
    return item.call is None or not item.call.grad or item.call.op.cuts_gradient


def another(item: Any) -> Any:
    """One like it, from another turn."""
    if type(item) in (tuple, list):
        return type(item)(map(another, item))
    return replace(item)


def of_samples(item: Any, sizes: tuple[int, int] | None, cause: Unknown) -> Any:
    """The same of another number of samples: where the first axis has the first of the `sizes`, of the second."""
    if type(item) in (tuple, list):
        return type(item)(of_samples(each, sizes, cause) for each in item)
    rows = sizes[1] if sizes is not None and item.shape[0] == sizes[0] else cause
    return replace(item, shape=(rows, *item.shape[1:]))
