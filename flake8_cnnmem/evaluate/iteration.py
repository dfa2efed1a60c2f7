"""Iteration: over plain containers, tensors, and what user-defined classes make of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, MappingView
from typing import TYPE_CHECKING, cast

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.budget import LENGTH, YIELDS, Exhausted
from flake8_cnnmem.evaluate.builtins.reflection import Directory
from flake8_cnnmem.evaluate.turns import is_of_a_stream, unsaid_of
from flake8_cnnmem.evaluate.unordered import members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, ONE_FOR_ALL, Bound, Class, Instance, Namespace, Raised, Stream, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


OF_ANY_SIZE = frozenset((list, tuple, range, Instance, Tensor, Unknown, zip, enumerate))
"""What most loops go through, and what may change its size meanwhile."""


def size_of(value: Value) -> int:
    """How many items a dict, a view of one or a set has, which must stay so many while they are gone through; -1 of
    anything else."""
    if type(value) in OF_ANY_SIZE:
        return -1
    return len(value) if isinstance(value, (dict, set, MappingView)) else -1


def iterate(run: Interpreter, value: Value) -> Iterator[Value] | Unknown:
    """An iterator over a value's items as Python makes one, or why there is none. TypeError for what is not
    iterable."""
    if isinstance(value, Unknown):
        return value if value.items is None else iter([value.loose()] * min(value.items, LENGTH))
    if run.havocked and id(value) in run.havocked:
        cause: Unknown = run.havocked[id(value)][1]
        return cause
    if isinstance(value, (list, tuple)):
        run.read_whole(value)
        run.spend(len(value) // 64)
        # By place: a list that changes meanwhile gives what stands there by then.
        return list.__iter__(value) if isinstance(value, list) else iter(list(value))
    if isinstance(value, Tensor):
        items = frameworks.of(value).iterate(run, value)
        return items if isinstance(items, Unknown) else iter(items)
    if isinstance(value, Instance):
        return iterate_instance(run, value)
    if isinstance(value, Class):
        return iterate_class(run, value)
    if isinstance(value, Batch):
        return run.unknown("a loop over the batch size is not followed")
    if isinstance(value, (dict, deque)):
        run.read_whole(value)
        run.spend(len(value) // 64)
        return iter(list(value))
    if isinstance(value, (set, frozenset)):
        return iter(members(run, value))
    if isinstance(value, Namespace):
        return run.unknown(f"{value.name} is not followed")
    if isinstance(value, Directory):
        listed = value.listed()
        return run.unknown(listed.reason) if isinstance(listed, Unknown) else iter(listed)
    try:
        # What is no iterable is the program's TypeError.
        found: Iterator[Value] = iter(cast("Iterable[Value]", value))
        return found
    except TypeError:
        raise run.error("TypeError", f"{run.type_name(value)} is not iterable") from None


def iterate_instance(run: Interpreter, value: Instance) -> Iterator[Value] | Unknown:
    """An iterator over an instance: `__iter__`, or `__getitem__` with 0, 1, ...; of a loader its batches."""
    if isinstance(value.native, dict) and "batch_size" in value.native:
        run.note("iterate", value)
    method = value.cls.find("__iter__")
    if method is not MISSING:
        result = run.invoke(Bound(method, value), (), {})
        if result is not value and isinstance(result, Instance):
            return iterate(run, result) if result.cls.find("__next__") is MISSING else draw(run, result)
        return draw(run, value) if result is value else iterate(run, result)
    if value.cls.find("__getitem__") is not MISSING and value.payload is None:
        if any(ONE_FOR_ALL in cls.facts for cls in value.cls.mro):
            return samples_of(run, value)
        return count_up(run, value)
    if value.payload is not None:
        return iterate(run, value.payload)
    unknown_base = value.cls.any_unknown_base()
    if unknown_base is not None:
        return unknown_base
    raise run.error("TypeError", f"'{value.cls.name}' object is not iterable")


def samples_of(run: Interpreter, data: Instance) -> Stream:
    """The samples of a data set: one stands for all, but who puts all of a few into a container finds each."""
    method = data.cls.find("__len__")
    length = run.attempt(Bound(method, data)) if method is not MISSING else None
    count = length if type(length) is int else None
    again = run.drawn_again(count)
    samples = Stream(lambda: run.index(data, again.drawn if again.passes_on() else 0), again)
    samples.samples = count
    samples.unsaid = run.unknown("how many samples of a data set are taken is not known")

    def rest(drawn: int) -> list[Value]:
        if count is None or count > FEW:
            return []
        found: list[Value] = []
        before = run.budget.steps
        for at in range(drawn, count):
            found.append(run.index(data, at))
            if at == drawn and (before - run.budget.steps) * count > MOST_STEPS:
                return []
        samples.unsaid = None
        return found

    samples.rest = rest
    return samples


FEW, MOST_STEPS = 1000, 100_000
"""As many samples of a data set are looked at one by one where the program puts all of them into a container, if that
takes no more steps."""


def iterate_class(run: Interpreter, cls: Class) -> Iterator[Value] | Unknown:
    """An iterator over a class: its metaclass's, an enum's members."""
    metaclass = cls.facts.get("metaclass")
    method = metaclass.find("__iter__") if isinstance(metaclass, Class) else MISSING
    if method is not MISSING:
        return iterate(run, run.invoke(Bound(method, cls), (), {}))
    unknown_base = cls.any_unknown_base()
    return unknown_base if unknown_base is not None else run.unknown(f"the class {cls.name} is iterated over")


def draw(run: Interpreter, iterator: Instance) -> Iterator[Value]:
    """The values of a user-defined iterator, up to the bound on generators."""
    for _ in range(YIELDS):
        depth = run.budget.depth
        try:
            yield run.call(run.get(iterator, "__next__"))
        except Raised as raised:
            if any(cls.name == "StopIteration" for cls in raised.value.cls.mro):
                run.budget.depth = depth
                return
            raise
    raise Exhausted("an iterator runs for too long to be followed")


def count_up(run: Interpreter, value: Instance) -> Iterator[Value]:
    """The old protocol: `value[0]`, `value[1]`, ... until IndexError. `len` is not asked by it; behind as many items as
    it says, those that nobody knows or that are data end the loop as well: where an index is too large for data of
    which no size is known, nothing says so."""
    method = value.cls.find("__len__")
    length = run.invoke(Bound(method, value), (), {}) if method is not MISSING else None
    if isinstance(length, Unknown):
        yield length
        return
    for at in range(YIELDS):
        depth = run.budget.depth
        try:
            item = run.index(value, at)
            if isinstance(length, int) and at >= min(length, LENGTH) and isinstance(item, (Tensor, Unknown)):
                return
            yield item
        except Raised as raised:
            if any(cls.name == "IndexError" for cls in raised.value.cls.mro):
                run.budget.depth = depth
                return
            raise


def items(run: Interpreter, value: Value) -> list[Value] | Unknown:
    """All items of a value as a list, or why they are not known. How many there are may be what is not known, which is
    a number: what is made of the items is none. Where one stands for many of unknown number, the list that it is in is
    one of unknown items itself."""
    found = run.iterate(value)
    if isinstance(found, Unknown):
        return found.loose()
    result: list[Value] = []
    budget = run.budget
    for item in found:
        budget.steps -= 1
        if budget.steps < 0:
            run.spend(0)
        result.append(item)
        if len(result) > LENGTH:
            raise Exhausted("a container grows too large to be followed")
    if type(found) is Stream:
        result += found.rest(len(result))
        if found.unsaid is not None:
            run.havoc(result, found.unsaid)
    elif is_of_a_stream(found) or unsaid_of(found) is not None:
        run.havoc(result, run.unknown("how many samples of a data set are taken is not known"))
    return result


def make_set(run: Interpreter, items: Iterable[Value] | Unknown) -> Value:
    """A set of these items, or the first of them that cannot be a key."""
    if isinstance(items, Unknown):
        return items
    keys = [run.key(item) for item in items]
    cause = next((key for key in keys if isinstance(key, Unknown)), None)
    return set(keys) if cause is None else cause


def mapping(run: Interpreter, value: Value) -> dict[Value, Value] | Unknown:
    """What `**value` spreads."""
    if isinstance(value, Unknown):
        return value
    if run.havocked and id(value) in run.havocked:
        return run.havocked[id(value)][1]
    plain = value.payload if isinstance(value, Instance) else value
    if isinstance(plain, dict):
        run.read_whole(plain)
        return plain
    keys = run.find(value, "keys")
    if keys is MISSING:
        raise run.error("TypeError", "argument after ** must be a mapping")
    names = run.items(run.call(keys))
    return names if isinstance(names, Unknown) else {name: run.index(value, name) for name in names}
