"""`set` and `frozenset`."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, made, payload
from flake8_cnnmem.evaluate.builtins.keys import key, lose
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Value


def hashed(run: Runtime, items: Value) -> set[Value] | Unknown:
    """The items of an iterable as a set. An Unknown item makes the whole set unknown: its size is not known."""
    plain = payload(items)
    if isinstance(plain, (set, frozenset)):
        run.spend(len(plain) // 16)
        return set(plain)
    found = run.items(items)
    if isinstance(found, Unknown):
        return found
    result = set()
    for item in found:
        entry = key(run, item)
        if isinstance(entry, Unknown):
            return entry
        result.add(entry)
    return result


COMBINED = {
    "union": set.union, "intersection": set.intersection, "difference": set.difference,
    "symmetric_difference": set.symmetric_difference,
}  # fmt: skip

TESTED = ("isdisjoint", "issubset", "issuperset")

UPDATES = {
    "update": set.update, "intersection_update": set.intersection_update, "difference_update": set.difference_update,
    "symmetric_difference_update": set.symmetric_difference_update,
}  # fmt: skip


def shared(kind: Any) -> Names:
    """The methods that set and frozenset both have."""
    names = Names()
    names.operators(
        ("__and__", "__or__", "__xor__", "__sub__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
    )
    names["__len__"] = Native("__len__", lambda run, self: len(payload(self)))
    names["__iter__"] = Native("__iter__", lambda run, self: run.iterate(payload(self)))
    names["__repr__"] = host_repr
    names["__format__"] = host_format
    names["__class_getitem__"] = ClassMethod(
        Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
    )

    def combination(word: str, function: Any) -> None:
        @names.method(word)
        def combine(run: Runtime, self: Any, /, *others: Value) -> Value:
            result = set(self)
            for other in others:
                items = hashed(run, other)
                if isinstance(items, Unknown):
                    return items
                result = function(result, items)
                run.check_size(len(result))
            return kind(result)

    def test(word: str) -> None:
        @names.method(word)
        def answer(run: Runtime, self: Any, other: Value, /) -> Value:
            items = hashed(run, other)
            return items if isinstance(items, Unknown) else getattr(self, word)(items)

    for word, function in COMBINED.items():
        combination(word, function)
    for word in TESTED:
        test(word)

    @names.method("copy")
    def copy(run: Runtime, self: Any, /) -> Value:
        run.spend(len(self) // 16)
        return self.copy()

    @names.method("__contains__")
    def contains(run: Runtime, self: Any, item: Value, /) -> Value:
        entry = key(run, item)
        return entry if isinstance(entry, Unknown) else entry in self

    return names


sets = shared(set)


@sets.function("__new__", propagate_unknown=False)
def set_new(run: Runtime, cls: Class, items: Value = (), /, *rest: Value, **kwargs: Value) -> Value:
    """The set; for a subclass an instance that holds an empty set, which `__init__` fills."""
    if cls.host is None:
        return Instance(cls, payload=set(), site=run.here())
    return hashed(run, items)


@sets.method("__init__", propagate_unknown=False)
def set_init(run: Runtime, self: set[Value], items: Value = (), /) -> None:
    """`set(items)`"""
    if isinstance(self, set):
        update_with(run, self, items, set.update)


@sets.method("add", propagate_unknown=False)
def add(run: Runtime, self: set[Value], item: Value, /) -> None:
    """`set.add(item)`; an item that is not known loses the set."""
    entry = key(run, item)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.check_size(len(self) + 1)
    run.changed(self)
    self.add(entry)


@sets.method("discard", propagate_unknown=False)
def discard(run: Runtime, self: set[Value], item: Value, /) -> None:
    """`set.discard(item)`"""
    entry = key(run, item)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.changed(self)
    self.discard(entry)


@sets.method("remove", propagate_unknown=False)
def remove(run: Runtime, self: set[Value], item: Value, /) -> None:
    """`set.remove(item)`. KeyError for one that it does not have."""
    entry = key(run, item)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.changed(self)
    self.remove(entry)


@sets.method("pop")
def pop(run: Runtime, self: set[Value], /) -> Value:
    """`set.pop()`: unknown for more than one item, whose order nobody promises."""
    run.changed(self)
    if len(self) > 1:
        cause = run.unknown("which item a set gives first is not known")
        lose(run, self, cause)
        return cause
    return self.pop()


@sets.method("clear")
def clear(run: Runtime, self: set[Value], /) -> None:
    """`set.clear()`"""
    run.changed(self)
    self.clear()


def update_with(run: Runtime, self: set[Value], other: Value, function: Any) -> None:
    """Change a set by one of the host's methods and the items of another iterable."""
    items = hashed(run, other)
    if isinstance(items, Unknown):
        lose(run, self, items)
        return
    run.check_size(len(self) + len(items))
    run.changed(self)
    function(self, items)


def updater(word: str, function: Any) -> None:
    """A method that changes a set by each of several iterables (`update`, `difference_update`)."""

    @sets.method(word, propagate_unknown=False)
    def change(run: Runtime, self: set[Value], /, *others: Value) -> None:
        for other in others:
            update_with(run, self, other, function)


for _name, _function in UPDATES.items():
    updater(_name, _function)

SET = host_class("set", set, dict(sets))

frozen = shared(frozenset)


@frozen.function("__new__")
def frozenset_new(run: Runtime, cls: Class, items: Value = (), /) -> Value:
    """The frozenset itself, or an instance of a subclass that holds it."""
    found = hashed(run, items)
    return found if isinstance(found, Unknown) else made(run, cls, frozenset(found))


frozen["__hash__"] = Native("__hash__", lambda run, self: run.unknown("a hash changes from run to run"))
FROZENSET = host_class("frozenset", frozenset, dict(frozen))
