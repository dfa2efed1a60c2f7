"""Containers that a loop over a loader fills, and tensors that it joins more to. One batch stands for all while the
loop runs, so that a list has an item for each of the few batches that were drawn; when the loop has ended, those of the
others are put in."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size, add
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.joins import is_learned
from flake8_cnnmem.evaluate.loop_turns import Loop, Turn
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Tensor, lies_on_device
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import axis_of
from flake8_cnnmem.ops.merge import Concatenate
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Stream, Value

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
    """The batches of the loader that a loop goes through, of a data set its samples; None where they are not known."""
    loader = loader_of(run, loop)
    samples = samples_of(loop.sources[-1]) if loader is None and loop.sources else None
    if samples is not None:
        return Batches(samples - loop.most[0], 1, 1) if samples > loop.most[0] else None
    if loader is None or not isinstance(loader.native, dict):
        return None
    size, count = loader.native.get("batch_size"), length_of(run, loader)
    samples = length_of(run, loader.native.get("dataset"))
    if type(size) is not int or size < 1 or not count or samples is None:
        return None
    last = min(size, samples - size * (count - 1))
    taken, most = loop.most
    if most is not None and most < count - taken:
        return Batches(most, size, size)
    return Batches(count - taken, size, last) if count > taken else None


def is_told(run: Interpreter, added: Sequence[Value]) -> bool:
    """Whether what was put into a list are numbers, texts and data, or tuples of them: no result of a model."""
    inside = [each for item in added for each in (item if isinstance(item, (tuple, list)) else (item,))]
    return all(isinstance(each, (int, float, str, Unknown)) or is_plain_result(run, each) for each in inside)


def samples_of(items: Any) -> int | None:
    """How many samples the data set has that an iterator goes through, numbered or as it is; None where that is not
    known, and of anything else."""
    if isinstance(items, enumerate):
        return samples_of(items.__reduce__()[1][0])
    return items.samples if isinstance(items, Stream) else None


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


def count_turns(loop: Loop, batches: Batches | None, count: int | None) -> None:
    """Note how many turns a loop makes that are alike: all of them, or those before a last batch that is smaller."""
    if batches is not None:
        loop.less = batches.last != batches.size
        count = batches.count - loop.less
    loop.count = count


def fill_up(run: Interpreter, loop: Loop, turn: Turn, turns: int, variables: dict[str, Value]) -> None:
    """A loop over a loader has ended, after so many turns that were followed: the containers that the last `turn` has
    put something into, and the tensors that it has joined more to, get what the turns put in that were not."""
    earlier = {key for each in loop.turns if each is not turn for key in each.filled}
    for key, (gathered, before) in turn.filled.items():
        if len(loop.turns) > 1 and key not in earlier:
            if is_from_outside(loop, gathered, variables):
                note_left(run, loop, islice(items_of(gathered), before, None), turns)
            # Else made in this turn, as every turn makes another one.
            continue
        if len(gathered) > before and isinstance(gathered, (list, deque)):
            more = list(islice(gathered, before, None))
            fill_up_from(run, loop, gathered, more, turns)
            samples = samples_of(loop.sources[-1]) if loop.sources else None
            if samples is not None and samples > turns and len(gathered) == before + len(more) and is_told(run, more):
                # What stands for others is no tensor: a label, a name of a file.
                leave_open(run, gathered, run.unknown("what a loop over a data set gathers is not known"))
        elif len(gathered) > before and isinstance(gathered, dict):
            fill_up_keys(run, loop, gathered, list(gathered)[before:], turns)
    left_by_some(run, loop, turn, turns)
    for word, tensor, axis, added in appended(run, loop, turn, variables):
        if is_result(tensor):
            variables[word] = with_rest(run, loop, tensor, axis, added, turns)


FEW_VALUES = 1024
"""Results with no more values than these are not looked for."""


def is_some_size(value: Value) -> bool:
    """Whether a value is a tensor of some size that lies on the device."""
    if not isinstance(value, Tensor) or isinstance(value.shape, Unknown):
        return False
    size = dims.at_batch(dims.product(value.shape), 1)
    if not isinstance(size, int) or size <= FEW_VALUES:
        return False
    return lies_on_device(value)


def gathered_by(run: Interpreter, turn: Turn | None) -> list[tuple[list[Value], list[Value]]]:
    """The lists that a turn has put results into, each with these, whose items are known."""
    filled = turn.filled.values() if turn is not None else ()
    lists = [(held, held[before:]) for held, before in filled if type(held) is list and id(held) not in run.havocked]
    return [(held, added) for held, added in lists if added and all(is_plain_result(run, item) for item in added)]


def is_plain_result(run: Interpreter, item: Value) -> bool:
    """Whether a value is a result that no weight is learned through, or several of them."""
    if isinstance(item, (tuple, list)):
        return bool(item) and all(is_plain_result(run, each) for each in item)
    if is_result(item):
        return True
    return isinstance(item, Tensor) and isinstance(item.shape, tuple) and not is_learned(run, item)


def fill_up_counted(run: Interpreter, gathered: Sequence[tuple[list[Value], list[Value]]], turns: int) -> None:
    """A loop over numbers has ended of which so many `turns` were not followed: its lists get what each of them puts
    in, as the last one did. One that stood for them was a branch that may not be taken, and has left the length
    open."""
    for held, added in gathered:
        if turns * len(added) <= MOST_ITEMS and run.havocked.pop(id(held), None) is not None:
            run.changed(held)
            held.extend(another(item) for _ in range(turns) for item in added)


def fill_up_keys(run: Interpreter, loop: Loop, gathered: dict[Value, Value], new: Sequence[Value], turns: int) -> None:
    """The same of what a turn has put into a dict under a number that counts."""
    added = [gathered[key] for key in new]
    if len(new) == 1 and type(new[0]) is int:
        inside = list(added)
        fill_up_from(run, loop, inside, added, turns)
        gathered.update(enumerate(inside[1:], new[0] + 1))
    elif turns > 1 and all(map(is_result, added)) and goes_on(run, loop, turns):
        run.havoc(gathered, run.unknown("what a loop over data puts into a dict is not known"))
        if any(map(is_some_size, added)):
            note_cause(run, None, "gathered by name", BY_NAME)


BY_NAME = "how much a loop over data has put into a dict is not known: only its first turns were followed"
BY_SOME = "what some turns of a loop over data put into a list is not counted: only its first turns were followed"


def goes_on(run: Interpreter, loop: Loop, turns: int) -> bool:
    """Whether a loop over a loader has more turns than those, so many, that were followed, or may have."""
    batches = batches_of(run, loop)
    return loader_of(run, loop) is not None and (batches is None or batches.count > turns)


def left_by_some(run: Interpreter, loop: Loop, last: Turn, turns: int) -> None:
    """Note that a list still holds results of turns before the `last` one, which has put none there: those that were
    not followed may, every so often."""
    filled = {key for key, (gathered, before) in last.filled.items() if len(gathered) > before}
    for turn in loop.turns:
        for key, (gathered, before) in turn.filled.items():
            if turn is not last and key not in filled and isinstance(gathered, list):
                note_left(run, loop, islice(gathered, before, None), turns)


def note_left(run: Interpreter, loop: Loop, left: Iterable[Value], turns: int) -> None:
    """Note results that some of the turns which were followed have left, so many `turns`, where more come."""
    results = list(left)
    if results and all(map(is_result, results)) and any(map(is_some_size, results)) and goes_on(run, loop, turns):
        note_cause(run, None, "gathered by some turns", BY_SOME)


def is_from_outside(loop: Loop, container: Value, variables: Mapping[str, Value]) -> bool:
    """Whether a variable that the loop itself does not set leads to a container: it was there before."""
    words = [word for word, value in variables.items() if value is container]
    if not words or not isinstance(loop.site, StatementSite):
        return False
    nodes = (node for node in ast.walk(loop.site.statement) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}.isdisjoint(words)


def items_of(container: Collection[Value]) -> Iterable[Value]:
    """What lies in a container, the keys of a dict left out."""
    return container.values() if isinstance(container, dict) else container


def with_rest(run: Interpreter, loop: Loop, tensor: Tensor, axis: int, added: int, turns: int) -> Tensor:
    """A tensor that every turn joins so much to, as it is when the loop has ended."""
    batches = batches_of(run, loop)
    sizes: list[Size] = list(cast("Shape", tensor.shape))
    if batches is None:
        sizes[axis] = run.unknown("how many batches a data loader gives is not known")
    elif batches.last != batches.size and added % batches.size:
        sizes[axis] = run.unknown("how many of its rows the last batch gives is not known")
    elif batches.count > turns:
        less = added // batches.size * (batches.size - batches.last)
        sizes[axis] = add(sizes[axis], added * (batches.count - turns) - less)
    return replace(tensor, shape=tuple(sizes))


def appended(
    run: Interpreter, loop: Loop, turn: Turn, variables: Mapping[str, Value]
) -> Iterator[tuple[str, Tensor, int, int]]:
    """The variables whose tensors a turn has joined more to, each with the axis and how much."""
    for word in joined_names(run, loop):
        tensor = variables.get(word)
        call = tensor.call if isinstance(tensor, Tensor) else None
        if (
            call is None
            or not isinstance(tensor, Tensor)
            or not isinstance(call.op, Concatenate)
            or call.number <= turn.first
        ):
            continue
        before = [each for each in call.inputs if (each.call.number if each.call else each.born) <= turn.first]
        if len(before) == 1 and isinstance(tensor.shape, tuple) and isinstance(before[0].shape, tuple):
            axis = axis_of(call.op.axis, len(tensor.shape))
            if isinstance(axis, Unknown):
                continue
            known = 0 if before[0].shape == (0,) else before[0].shape[axis]
            now = tensor.shape[axis]
            if type(now) is int and type(known) is int:
                yield word, tensor, axis, now - known


def joined_names(run: Interpreter, loop: Loop) -> Iterable[str]:
    """The variables that a statement of a loop joins something to: `all = torch.cat([all, one])`."""
    if not isinstance(loop.site, StatementSite):
        return ()
    known: dict[int, set[str]] = run.data(JOINED)
    statement = loop.site.statement
    if id(statement) not in known:
        known[id(statement)] = {
            target.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Assign) and (target := node.targets[0]) and isinstance(target, ast.Name)
            and any(target.id in names_joined(call) for call in ast.walk(node.value) if isinstance(call, ast.Call))
        }  # fmt: skip
    return known[id(statement)]


def names_joined(call: ast.Call) -> set[str]:
    """The variables in a list or tuple that a call is given."""
    lists = (each for each in call.args if isinstance(each, (ast.List, ast.Tuple)))
    return {each.id for held in lists for each in held.elts if isinstance(each, ast.Name)}


JOINED = "variables that statements of loops join something to"


def fill_up_from(
    run: Interpreter, loop: Loop, gathered: list[Value] | deque[Value], added: Sequence[Value], turns: int
) -> None:
    """Put in what each of the turns that were not followed `added`, as far as these are results through which no
    gradient goes back."""
    batches = batches_of(run, loop)
    plain = all(is_result(item) or is_plain_result(run, item) for item in added)
    if not plain or (batches is None and loader_of(run, loop) is None):
        return
    many = batches is not None and (batches.count - turns) * len(added) > MOST_ITEMS
    if many and loop.sources and samples_of(loop.sources[-1]) is not None:
        return
    if batches is None or many:
        cause = run.unknown("how many batches a data loader gives is not known")
        gathered.extend(of_samples(item, None, cause) for item in added)
        return
    cause = run.unknown("how many of its rows the last batch gives is not known")
    for at in range(turns, batches.count):
        rest = batches.last if at == batches.count - 1 else batches.size
        for item in map(another, added):
            gathered.append(item if rest == batches.size else of_samples(item, (batches.size, rest), cause))


def leave_open(run: Interpreter, gathered: list[Value] | deque[Value], cause: Unknown) -> None:
    """A list was made of the sample that stands for all of a data set: how many pass its tests is not known, nor that
    none does."""
    some = [gathered[-1]] if gathered else []
    gathered.clear()
    run.havoc(gathered, cause)
    if some:
        run.note_sample(gathered, some)


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
