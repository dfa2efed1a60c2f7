"""`value[key]`, read, stored and deleted."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate import lengths
from flake8_cnnmem.evaluate.alternatives import among, held_by
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.builtins.concrete import concrete
from flake8_cnnmem.evaluate.loop_turns import Turn
from flake8_cnnmem.evaluate.operators import payload
from flake8_cnnmem.frameworks.distances import distance
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import so_many
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

LONGEST_TABLE = 1024
"""Numbers of a list or dict that are looked through for the largest."""

WIDEST_ROW = 8
"""Numbers in a row of such a table."""


def subscript(run: Interpreter, value: Value, key: Any) -> Value:
    """`value[key]`. A key that Python refuses is the program's TypeError."""
    run.spend(1)
    kind = type(value)
    if type(value) is Unknown:
        return part_of(run, value, key) if value.sides is None else side_of(value, key)
    if run.havocked and id(value) in run.havocked:
        if type(key) is slice and type(value) is list:
            found = lengths.sliced(run, value, key)
            if found is not MISSING:
                return found
        item = run.sample(value)
        if item is MISSING:
            return part_of(run, run.havocked[id(value)][1], key)
        if not isinstance(key, slice):
            return item
        length = distance(run, key)
        return [item] * length if length else so_many(run, item, run.havocked[id(value)][1])
    if isinstance(value, Tensor):
        return frameworks.of(value).index(run, value, key)
    if isinstance(value, dict):
        return item_of(run, value, key)
    if isinstance(value, (list, tuple, str, bytes, range, deque)):
        run.read_whole(value)
        key = key if type(key) is int else as_place(run, key)
        unknown = unknown_in_key(key)
        if unknown is not None:
            if isinstance(key, Unknown) and key.number == "int":
                return run.one_of(value, unknown)
            # In a turn that stands for others it is the place of another one.
            counts = isinstance(value, (list, tuple)) and type(key) is Unknown and run.trace.repeating > 0
            if isinstance(key, slice):
                return among(unknown, (value,))
            return one_of_these(one_number(value, unknown) if counts else unknown, value)
        if type(key) is int and run.trace.turn is not None and run.invocation is None and is_table(value):
            looked_up(run.trace.turn, enumerate(value), key)
        if isinstance(key, Instance):
            key = payload(key) if payload(key) is not key else run.call(run.get(key, "__index__"))
        if isinstance(key, slice):
            key = slice(payload(key.start), payload(key.stop), payload(key.step))
            run.spend(len(value) // 64 if not isinstance(value, range) else 0)
        return value[key]
    if type(value) is Instance:
        method = value.cls.find("__getitem__")
        if method is not MISSING:
            found = run.invoke(Bound(method, value), (key,), {})
            if isinstance(found, Unknown) and isinstance(method, Native) and unknown_in_key(key) is not None:
                return among(found, (value,) if isinstance(key, slice) else held_by(value))
            return found
        unknown_base = value.cls.any_unknown_base()
        if unknown_base is not None:
            return unknown_base
        if value.payload is not None:
            return subscript(run, value.payload, key)
        raise run.error("TypeError", f"'{value.cls.name}' object is not subscriptable")
    if type(value) is Class:
        return class_item(run, value, key)
    if value is None or kind in (int, float, bool):
        raise run.error("TypeError", f"'{kind.__name__}' object is not subscriptable")
    method = run.find(value, "__getitem__")
    return run.call(method, key) if method is not MISSING else run.unknown("a subscript is not followed")


def one_of_these(found: Value, items: Iterable[Any]) -> Value:
    """What is known of an item at a place that is not known, with the objects that it may be."""
    return among(found, items) if isinstance(found, Unknown) and not found.number else found


def one_number(items: Collection[Value], cause: Unknown) -> Value:
    """One of several whole numbers, where it is not known which: the least and the most that it may be; of rows of them
    a row of such. `cause` for what holds anything else."""
    if not 0 < len(items) <= LONGEST_TABLE:
        return cause
    rows = [item for item in items if isinstance(item, tuple) and 0 < len(item) <= WIDEST_ROW]
    if len(rows) == len(items) and len({len(row) for row in rows}) == 1:
        return tuple(one_number(column, cause.loose()) for column in zip(*rows, strict=True))
    numbers = [item for item in items if type(item) is int]
    if len(numbers) < len(items):
        return cause
    least, most = min(numbers), max(numbers)
    return cause.drawn("int", least, most, True)


def is_table(value: Value) -> bool:
    """Whether a sequence may be a table of sizes: a list, or a tuple of rows; a tuple of numbers is a shape."""
    return type(value) is list or (type(value) is tuple and bool(value) and type(value[0]) is tuple)


def looked_up(turn: Turn, rows: Iterable[tuple[Value, Value]], at: int) -> None:
    """A turn of a loop has read what a table says at a number (`sizes[epoch]`): a later one finds the most."""
    sizes: dict[int, int] = {}
    for key, row in islice(rows, LONGEST_TABLE):
        numbers = row if isinstance(row, tuple) else (row,)
        wide = len(numbers) > WIDEST_ROW
        if wide or type(key) is not int or any(type(number) is not int for number in numbers):
            return
        sizes[key] = math.prod(numbers)
    later = {key: size for key, size in sizes.items() if key > at}
    if at in sizes and later and 0 < sizes[at] < max(later.values()):
        turn.looked_up(at, max(later, key=later.__getitem__))


def part_of(run: Interpreter, value: Unknown, key: Value) -> Value:
    """A part of what is not known. `files[start : start + 16]` has sixteen items, as all batches but the last one, and
    a column of so many rows has as many."""
    if isinstance(key, slice):
        found = lengths.sliced(run, value, key)
        return value.part(distance(run, key)) if found is MISSING else found
    if value.items is not None and (isinstance(key, str) or (isinstance(key, list) and key)):
        return value.part(value.items)
    return value.loose()


def side_of(shape: Unknown, key: Value) -> Value:
    """`image.shape[:2]`, `image.shape[0]` of a picture whose channels are not known."""
    sides: Any = dims.read(shape.sides or ())
    if isinstance(key, slice) and (key.start or 0, key.stop, key.step or 1) == (0, 2, 1):
        return sides
    return sides[key] if type(key) is int and key in (0, 1) else shape.loose()


def class_item(run: Interpreter, cls: Class, key: Value) -> Value:
    """`Generic[T]`, `list[int]` are the class itself; an Enum's members are looked up by name."""
    method = cls.find("__class_getitem__")
    if method is not MISSING:
        return run.invoke(run.get(cls, "__class_getitem__"), (key,), {})
    metaclass = cls.facts.get("metaclass")
    if isinstance(metaclass, Class) and metaclass.find("__getitem__") is not MISSING:
        return run.invoke(Bound(metaclass.find("__getitem__"), cls), (key,), {})
    return cls


def as_place(run: Interpreter, key: Value) -> Value:
    """A place in a sequence, or a slice of places, where tensors of one known whole number stand for that number, as
    their `__index__` gives it."""
    if isinstance(key, slice):
        parts = (key.start, key.stop, key.step)
        return slice(*(as_place(run, part) for part in parts)) if any(isinstance(p, Tensor) for p in parts) else key
    if not isinstance(key, Tensor) or not key.dtype.startswith(("int", "uint")):
        return key
    found = concrete(run, key)
    return found if type(found) is int else key


def unknown_in_key(key: Value) -> Unknown | None:
    """Why a key is not known: it is an unknown, or counts with the batch."""
    if isinstance(key, Unknown):
        return key
    if isinstance(key, Batch):
        return Unknown("an index depends on the batch size")
    if isinstance(key, Tensor):
        return Unknown("an index depends on the values of a tensor")
    if isinstance(key, slice):
        parts = (unknown_in_key(part) for part in (key.start, key.stop, key.step))
        return next((part for part in parts if part is not None), None)
    return None


def item_of(run: Interpreter, value: dict[Value, Value], key: Value) -> Value:
    """The value of a dict's key; one of all values where the key is not known. KeyError for one that it does
    not have."""
    word = run.key(key)
    if isinstance(word, Unknown):
        if word.number:
            return run.one_of(list(value.values()), word)
        if run.trace.repeating:
            return one_of_these(one_number(value.values(), word), value.values())
        # What a vocabulary says of a word is a number, whichever it is.
        run.spend(len(value) // 16)
        numbers = value and all(type(number) is int for number in value.values())
        return word.as_number("int") if numbers else one_of_these(word, value.values())
    found = value.get(word, MISSING)
    if found is not MISSING:
        if type(word) is int and run.trace.turn is not None and run.invocation is None:
            looked_up(run.trace.turn, value.items(), word)
        if type(found) in (dict, list):
            # What is registered by two keys: `R["model"]["resnet"]`.
            run.read_whole(value)
        return found
    if isinstance(word, str) and id(value) in run.registries and run.importer.registered(value, word):
        return value[word]
    run.read_whole(value)
    if word in value:
        return value[word]
    if isinstance(word, str) and id(value) in run.registries and run.importer.registered_in_package(value, word):
        return value[word]
    if not isinstance(value, OrderedDict) and type(value) is not dict:
        return run.call(run.get(value, "__getitem__"), word)
    raise KeyError(word)


def store_item(run: Interpreter, container: Value, key: Any, value: Value) -> Value:
    """`container[key] = value`; gives what a tensor's name holds afterwards. A key is refused as in `subscript`."""
    run.spend(1)
    if isinstance(container, Tensor):
        return frameworks.of(container).set_index(run, container, key, value)
    if isinstance(container, Unknown):
        run.trace.put_away[id(value)] = value
        return container
    if isinstance(container, Instance):
        method = container.cls.find("__setitem__")
        if method is not MISSING:
            run.invoke(Bound(method, container), (key, value), {})
            return container
        if container.payload is None:
            if container.cls.any_unknown_base() is None:
                raise run.error("TypeError", f"'{container.cls.name}' object does not support item assignment")
            return container
        container = container.payload
    if isinstance(container, dict):
        word = run.key(key)
        run.changed(container)
        if isinstance(word, Unknown):
            run.havoc(container, word)
            run.note_sample(container, [value])
        else:
            run.check_size(len(container))
            run.left_behind(container.get(word))
            container[word] = value
    elif isinstance(container, (list, deque)):
        run.changed(container)
        key = as_place(run, key)
        unknown = unknown_in_key(key)
        if unknown is not None:
            run.havoc(container, unknown)
        elif isinstance(key, slice):
            if isinstance(container, deque):
                raise run.error("TypeError", "sequence index must be integer, not 'slice'")
            items = run.items(value)
            if isinstance(items, Unknown):
                run.havoc(container, items)
            else:
                container[key] = items
        else:
            run.left_behind(container[key])
            # A list that tells what is its own looks at all that it holds.
            run.spend(0 if type(container) in (list, deque) else len(container) // 4)
            container[key] = value
    elif isinstance(container, bytearray):
        if unknown_in_key(key) is not None or isinstance(value, Unknown):
            raise Exhausted("what is written into a bytearray is not known")
        run.changed(container)
        container[key] = payload(value)
    else:
        raise run.error("TypeError", "object does not support item assignment")
    return container


def remove_item(run: Interpreter, container: Value, key: Any) -> None:
    """`del container[key]`."""
    if isinstance(container, Unknown):
        return
    if isinstance(container, Instance):
        method = container.cls.find("__delitem__")
        if method is not MISSING:
            run.invoke(Bound(method, container), (key,), {})
            return
        container = payload(container)
    if isinstance(container, (list, dict, deque, bytearray)):
        run.changed(container)
        key = as_place(run, key)
        unknown = unknown_in_key(key)
        if unknown is not None:
            run.havoc(container, unknown)
        else:
            run.left_behind(container.get(key) if isinstance(container, dict) else container[key])
            del container[key]
