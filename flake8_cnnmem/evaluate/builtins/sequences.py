"""`list`, `tuple`, `range`, `slice`, `collections.deque`."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from types import GeneratorType
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins.classes import OBJECT, host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, host_property, made, payload
from flake8_cnnmem.evaluate.builtins.keys import lose
from flake8_cnnmem.evaluate.builtins.numbers import to_index, to_int
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.evaluate.builtins.ordering import in_order
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Value

MOVED = 256
"""Items that move up or down within a list for one step of the budget."""

COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


def position(run: Runtime, items: Any, wanted: Value, start: int = 0, stop: int | None = None) -> int | Unknown:
    """Where the item first stands, or -1; Unknown where an earlier item may be it."""
    for at in range(*slice(start, stop).indices(len(items))):
        run.spend(1)
        answer = (items[at] is wanted and not isinstance(wanted, Unknown)) or run.equal(items[at], wanted)
        if answer is not False:
            return answer if isinstance(answer, Unknown) else at
    return -1


def contains(run: Runtime, items: Any, wanted: Value) -> bool | Unknown:
    """`wanted in items`. An Unknown item leaves it open only if no other item is the one."""
    cause: Unknown | None = None
    for item in items:
        run.spend(1)
        answer = (item is wanted and not isinstance(wanted, Unknown)) or run.equal(item, wanted)
        if answer is True:
            return True
        if isinstance(answer, Unknown) and cause is None:
            cause = answer
    return False if cause is None else cause


def sequence(operators: tuple[str, ...]) -> Names:
    """What lists, tuples, ranges and deques have in common."""
    names = Names()
    names.operators((*COMPARISONS, *operators))
    names["__len__"] = Native("__len__", lambda run, self: len(payload(self)))
    names["__iter__"] = Native("__iter__", lambda run, self: run.iterate(payload(self)))
    names["__getitem__"] = Native("__getitem__", lambda run, self, key: run.index(payload(self), key))
    names["__repr__"] = host_repr
    names["__format__"] = host_format
    names["__class_getitem__"] = ClassMethod(
        Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
    )

    @names.method("__contains__", propagate_unknown=False)
    def has(run: Runtime, self: Any, item: Value) -> Value:
        return contains(run, self, item)

    @names.method("__reversed__", propagate_unknown=False)
    def backwards(run: Runtime, self: Any) -> Value:
        return reversed(self)

    @names.method("index", propagate_unknown=False)
    def index(run: Runtime, self: Any, item: Value, start: int = 0, stop: int | None = None) -> Value:
        at = position(run, self, item, start, stop)
        if at == -1:
            raise ValueError("the item is not in the sequence")
        return at.as_number("int") if isinstance(at, Unknown) else at

    @names.method("count", propagate_unknown=False)
    def count(run: Runtime, self: Any, item: Value) -> Value:
        total = 0
        for other in self:
            run.spend(1)
            answer = other is item or run.equal(other, item)
            if isinstance(answer, Unknown):
                return answer.as_number("int")
            total += answer
        return total

    return names


def gained(run: Runtime, self: Any, items: Value) -> Sequence[Value]:
    """What a list or deque is about to get; where that is not known nothing, and the list's own items are lost."""
    found = run.items(items)
    if isinstance(found, Unknown):
        lose(run, self, found)
        return ()
    run.check_size(len(self) + len(found))
    run.changed(self)
    return found


def mutable() -> Names:
    """What lists and deques have in common."""
    names = sequence(("__add__", "__mul__"))

    @names.method("append", propagate_unknown=False)
    def append(run: Runtime, self: Any, item: Value, /) -> None:
        run.check_size(len(self) + 1)
        run.changed(self)
        if isinstance(self, deque) and len(self) == self.maxlen:
            run.let_go(*islice(self, 1))
        self.append(item)

    @names.method("extend", propagate_unknown=False)
    def extend(run: Runtime, self: Any, items: Value, /) -> None:
        if isinstance(items, GeneratorType):
            # It is drawn item by item, and sees those before: `y.extend(layer(y[-1]) for layer in layers)`.
            for item in items:
                run.spend(1)
                append(run, self, item)
            return
        if type(self) is not list or not run.lengthened(self, items):
            self.extend(gained(run, self, items))

    @names.function("__iadd__", propagate_unknown=False)
    def extend_in_place(run: Runtime, self: Any, items: Value, /) -> Value:
        inside = payload(self)
        if type(inside) is list and type(items) is list:
            extend(run, inside, items)
            return self
        found = items if isinstance(items, GeneratorType) else run.items(items)
        if type(inside) is list or isinstance(found, (Unknown, GeneratorType)):
            extend(run, inside, found)
            return self
        # A list that tells the two apart.
        run.check_size(len(inside) + len(found))
        run.spend(len(inside) // 4)
        run.changed(inside)
        inside += found
        return self

    @names.method("insert", propagate_unknown=False)
    def insert(run: Runtime, self: Any, at: Value, item: Value, /) -> None:
        run.check_size(len(self) + 1)
        run.spend(len(self) // MOVED)
        run.changed(self)
        place = to_int(run, at)
        if isinstance(place, int):
            self.insert(place, item)
        else:
            widen(self, place, len(self) + 1)

    @names.method("remove", propagate_unknown=False)
    def remove(run: Runtime, self: Any, item: Value, /) -> None:
        at = position(run, self, item)
        if at == -1:
            raise ValueError("the item is not in the list")
        run.changed(self)
        if isinstance(at, Unknown):
            widen(self, at, len(self) - 1)
        else:
            del self[at]

    @names.method("clear")
    def clear(run: Runtime, self: Any, /) -> None:
        run.changed(self)
        run.let_go(*self)
        self.clear()

    @names.method("copy")
    def copy(run: Runtime, self: Any, /) -> Value:
        run.spend(len(self) // 16)
        return self.copy()

    @names.method("reverse")
    def reverse(run: Runtime, self: Any, /) -> None:
        run.spend(len(self) // 16)
        run.changed(self)
        self.reverse()

    @names.method("__setitem__", propagate_unknown=False)
    def set_item(run: Runtime, self: Any, key: Value, item: Value, /) -> None:
        run.changed(self)
        if isinstance(key, (Unknown, Batch)):
            widen(self, key, len(self))
        elif isinstance(key, slice):
            items = run.items(item)
            if isinstance(items, Unknown):
                lose(run, self, items)
            else:
                run.check_size(len(self) + len(items))
                self[key] = items
        else:
            run.let_go(self[payload(key)])
            self[payload(key)] = item

    @names.method("__delitem__", propagate_unknown=False)
    def delete_item(run: Runtime, self: Any, key: Value, /) -> None:
        run.spend(len(self) // MOVED)
        run.changed(self)
        if isinstance(key, (Unknown, Batch)):
            widen(self, key, len(self) - 1)
        else:
            run.let_go(self[payload(key)])
            del self[payload(key)]

    return names


def widen(items: Any, cause: Unknown | Batch, length: int) -> None:
    """The length is known, but no longer which item stands where."""
    unknown = cause if isinstance(cause, Unknown) else Unknown("the batch size has no value here")
    items.clear()
    items.extend([unknown] * max(length, 0))


lists = mutable()


@lists.method("pop", propagate_unknown=False)
def pop(run: Runtime, self: list[Value], at: Value = -1, /) -> Value:
    """`list.pop(at)`. IndexError for a place that it does not have."""
    run.changed(self)
    place = to_int(run, at)
    if isinstance(place, int):
        run.spend(0 if place == -1 else len(self) // MOVED)
        return self.pop(place)
    widen(self, place, len(self) - 1)
    return place


@lists.method("sort", propagate_unknown=False)
def sort(run: Runtime, self: list[Value], /, *, key: Value = None, reverse: Value = False) -> None:
    """`list.sort(key, reverse)`; where the order is not known, neither is what stands at a place, but where one item
    stands at all of them."""
    ordered = in_order(run, list(self), key, reverse)
    run.changed(self)
    if isinstance(ordered, Unknown) and all(item is self[0] for item in self):
        return
    if isinstance(ordered, Unknown):
        widen(self, ordered, len(self))
    else:
        self[:] = ordered


def collected(run: Runtime, cls: Class, kind: Any, items: Value) -> Value:
    """A container of this kind made of the items of an iterable."""
    found = run.items(items)
    if isinstance(found, Unknown):
        return found
    run.check_size(len(found))
    return made(run, cls, kind(found))


@lists.function("__new__", propagate_unknown=False)
def list_new(run: Runtime, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
    """The list; for a subclass an instance that holds an empty list, which `__init__` fills."""
    if cls.host is None:
        return Instance(cls, payload=[], site=run.here())
    if len(args) > 1 or kwargs:
        raise TypeError(f"list expected at most 1 argument, got {len(args) + len(kwargs)}")
    return collected(run, cls, list, args[0] if args else ())


@lists.function("__init__", propagate_unknown=False)
def list_init(run: Runtime, self: Value, items: Value = (), /) -> None:
    """`list(items)`"""
    inner = payload(self)
    if not isinstance(inner, list):
        return
    found = run.items(items)
    run.changed(inner)
    inner.clear()
    if isinstance(found, Unknown):
        lose(run, inner, found)
    else:
        inner.extend(found)


LIST = host_class("list", list, dict(lists))

tuples = sequence(("__add__", "__mul__"))


@tuples.function("__new__", propagate_unknown=False)
def tuple_new(run: Runtime, cls: Class, items: Value = (), /) -> Value:
    """The tuple itself, or an instance of a subclass that holds it."""
    return collected(run, cls, tuple, items)


tuples["__hash__"] = Native("__hash__", lambda run, self: run.unknown("a hash changes from run to run"))
TUPLE = host_class("tuple", tuple, dict(tuples))

ranges = sequence(())


@ranges.function("__new__", propagate_unknown=False)
def range_new(run: Runtime, cls: Class, /, *args: Value) -> Value:
    """`range(stop)`, `range(start, stop, step)` of whole numbers."""
    if any(type(arg) is float for arg in args):
        raise TypeError("'float' object cannot be interpreted as an integer")
    bounds: list[Any] = [to_index(run, arg) for arg in args]
    for bound in bounds:
        if isinstance(bound, Unknown):
            # Numbers of its own: where a batch begins is not where the last one ends.
            stride = bounds[2] if len(bounds) == 3 and type(bounds[2]) is int else 1
            return bound.every(stride)
        if isinstance(bound, Batch):
            return run.unknown("the batch size has no value to count up to")
    return range(*bounds)


for _name in ("start", "stop", "step"):
    ranges[_name] = host_property(_name)
RANGE = host_class("range", range, dict(ranges))

slices = Names()


@slices.function("__new__", propagate_unknown=False)
def slice_new(run: Runtime, cls: Class, /, *args: Value) -> Value:
    """`slice(stop)`, `slice(start, stop, step)`"""
    return slice(*args)


@slices.function("indices")
def indices(run: Runtime, self: slice, length: int, /) -> Value:
    """`slice.indices(length)`: start, stop and step for a sequence of so many."""
    for part in (self.start, self.stop, self.step, length):
        if isinstance(part, (Unknown, Batch)):
            return part if isinstance(part, Unknown) else run.unknown("the batch size has no value here")
    return self.indices(length)


for _name in ("start", "stop", "step"):
    slices[_name] = host_property(_name)
slices["__repr__"] = host_repr
SLICE = host_class("slice", slice, dict(slices))

deques = mutable()


@deques.function("__new__", propagate_unknown=False)
def deque_new(run: Runtime, cls: Class, iterable: Value = (), maxlen: Value = None) -> Value:
    """`deque(items, maxlen)`"""
    limit = None if maxlen is None else to_int(run, maxlen)
    if isinstance(limit, (Unknown, Batch)):
        return limit if isinstance(limit, Unknown) else run.unknown("the batch size has no value here")
    return collected(run, cls, lambda found: deque(found, limit), iterable)


deques["__init__"] = Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False)
deques["maxlen"] = host_property("maxlen")


@deques.method("appendleft", propagate_unknown=False)
def appendleft(run: Runtime, self: deque[Value], item: Value, /) -> None:
    """`deque.appendleft(item)`"""
    run.check_size(len(self) + 1)
    run.changed(self)
    self.appendleft(item)


@deques.method("extendleft", propagate_unknown=False)
def extendleft(run: Runtime, self: deque[Value], items: Value, /) -> None:
    """`deque.extendleft(items)`: the last one comes to stand first."""
    self.extendleft(gained(run, self, items))


@deques.method("pop")
def deque_pop(run: Runtime, self: deque[Value], /) -> Value:
    """`deque.pop()`. IndexError where it is empty."""
    run.changed(self)
    return self.pop()


@deques.method("popleft")
def popleft(run: Runtime, self: deque[Value], /) -> Value:
    """`deque.popleft()`. IndexError where it is empty."""
    run.changed(self)
    return self.popleft()


@deques.method("rotate", propagate_unknown=False)
def rotate(run: Runtime, self: deque[Value], steps: Value = 1, /) -> None:
    """`deque.rotate(steps)`"""
    run.changed(self)
    amount = to_int(run, steps)
    if isinstance(amount, int):
        self.rotate(amount)
    else:
        widen(self, amount, len(self))


DEQUE = host_class("deque", deque, dict(deques), OBJECT, module="collections")
