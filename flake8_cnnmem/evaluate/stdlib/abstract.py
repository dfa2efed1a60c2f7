"""The abstract base classes of `collections.abc`: what counts as their instance, and the methods they lend."""

from __future__ import annotations

import collections.abc
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.mappings import entries
from flake8_cnnmem.evaluate.builtins.sequences import contains, position
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Raised, Value, is_callable

STRUCTURAL = frozenset((
    "Hashable", "Awaitable", "Coroutine", "AsyncIterable", "AsyncIterator", "AsyncGenerator", "Iterable", "Iterator",
    "Reversible", "Generator", "Sized", "Container", "Collection", "Callable", "Buffer",
))  # fmt: skip
"""Those that any class with the methods counts as a subclass of."""

ABSTRACT: dict[str, Class] = {}


def provides(cls: Class, abstract: Class) -> bool | Unknown:
    """Whether a class counts as a subclass of one of the abstract classes."""
    if cls.derives_from(abstract):
        return True
    real = getattr(collections.abc, abstract.name)
    hosts = [base.host for base in cls.mro if base.host is not None]
    if hosts:
        return any(issubclass(host, real) for host in hosts)
    if abstract.name == "Hashable":
        return True
    if abstract.name in STRUCTURAL and all(cls.find(word) is not MISSING for word in real.__abstractmethods__):
        return True
    cause = cls.any_unknown_base()
    return False if cause is None else cause


def instance_check(run: Runtime, self: Class, value: Value) -> bool | Unknown:
    """`isinstance(value, self)`; a subclass of an abstract class checks nothing but the class itself."""
    if ABSTRACT.get(self.name) is not self:
        return False
    if isinstance(value, Tensor) and self.name in ("Iterable", "Sized", "Container", "Collection"):
        return True
    if is_callable(value) and self.name in ("Callable", "Hashable"):
        return True
    cls = run.type_of(value)
    return cls if isinstance(cls, Unknown) else provides(cls, self)


def subclass_check(run: Runtime, self: Class, cls: Value) -> bool | Unknown:
    """`issubclass(cls, self)` for an abstract class: by inheritance, registration, or the methods that it asks for."""
    if not isinstance(cls, Class):
        raise TypeError("issubclass() arg 1 must be a class")
    return provides(cls, self) if ABSTRACT.get(self.name) is self else False


checks: dict[str, Value] = {
    "__instancecheck__": Native("__instancecheck__", instance_check, propagate_unknown=False),
    "__subclasscheck__": Native("__subclasscheck__", subclass_check, propagate_unknown=False),
    "__class_getitem__": ClassMethod(Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)),
    "register": ClassMethod(Native("register", lambda run, cls, subclass: subclass)),
}

mapping = Names()


def absent(error: Raised, name: str) -> bool:
    """Whether an exception of the program is of this kind."""
    return any(cls.name == name for cls in error.value.cls.mro)


@mapping.function("get", propagate_unknown=False)
def get(run: Runtime, self: Value, key: Value, default: Value = None) -> Value:
    """`Mapping.get`, by `__getitem__`."""
    try:
        return run.index(self, key)
    except Raised as error:
        if absent(error, "KeyError"):
            return default
        raise


@mapping.function("__contains__")
def has_key(run: Runtime, self: Value, key: Value) -> Value:
    """`Mapping.__contains__`, by `__getitem__`."""
    try:
        found = run.index(self, key)
    except Raised as error:
        if absent(error, "KeyError"):
            return False
        raise
    return found if isinstance(found, Unknown) else True


def pairs(run: Runtime, self: Value) -> list[tuple[Value, Value]] | Unknown:
    """Pairs of key and value of a mapping, by `__iter__` and `__getitem__`."""
    words = run.items(self)
    return words if isinstance(words, Unknown) else [(word, run.index(self, word)) for word in words]


@mapping.function("keys")
def keys(run: Runtime, self: Value) -> Value:
    """`Mapping.keys()`"""
    return run.items(self)


@mapping.function("items")
def items(run: Runtime, self: Value) -> Value:
    """`Mapping.items()`"""
    return pairs(run, self)


@mapping.function("values")
def values(run: Runtime, self: Value) -> Value:
    """`Mapping.values()`"""
    found = pairs(run, self)
    return found if isinstance(found, Unknown) else [item for _, item in found]


mutable_mapping = Names()


@mutable_mapping.function("update", propagate_unknown=False)
def update(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`MutableMapping.update`, by `__setitem__`."""
    found = entries(run, args[0]) if args else []
    if isinstance(found, Unknown):
        return found
    for word, item in (*found, *kwargs.items()):
        run.call(run.get(self, "__setitem__"), word, item)
    return None


@mutable_mapping.function("setdefault", propagate_unknown=False)
def setdefault(run: Runtime, self: Value, key: Value, default: Value = None) -> Value:
    """`MutableMapping.setdefault`"""
    if has_key(run, self, key) is not True:
        run.call(run.get(self, "__setitem__"), key, default)
    return run.index(self, key)


@mutable_mapping.function("pop", propagate_unknown=False)
def pop(run: Runtime, self: Value, key: Value, default: Value = MISSING) -> Value:
    """`MutableMapping.pop`. KeyError without a default."""
    if default is not MISSING and has_key(run, self, key) is False:
        return default
    found = run.index(self, key)
    run.call(run.get(self, "__delitem__"), key)
    return found


sequence = Names()


@sequence.function("__contains__", propagate_unknown=False)
def has_item(run: Runtime, self: Value, item: Value) -> Value:
    """`Sequence.__contains__`"""
    found = run.items(self)
    return found if isinstance(found, Unknown) else contains(run, found, item)


@sequence.function("__iter__")
def iterate(run: Runtime, self: Value) -> Value:
    """By index, as long as `len` says."""
    method = self.cls.find("__len__") if isinstance(self, Instance) else MISSING
    length = run.call(method, self) if method is not MISSING else None
    if not isinstance(length, int):
        return length if isinstance(length, Unknown) else run.unknown("the length of a sequence is not known")
    run.check_size(length)
    return (run.index(self, at) for at in range(length))


@sequence.function("__reversed__")
def backwards(run: Runtime, self: Value) -> Value:
    """`Sequence.__reversed__`"""
    found = run.items(self)
    return found if isinstance(found, Unknown) else reversed(found)


@sequence.function("index", propagate_unknown=False)
def index(run: Runtime, self: Value, value: Value) -> Value:
    """`Sequence.index(value)`. ValueError where it is not there."""
    found = run.items(self)
    at = found if isinstance(found, Unknown) else position(run, found, value)
    if at == -1:
        raise ValueError("the item is not in the sequence")
    return at


mutable_sequence = Names()


@mutable_sequence.function("append", propagate_unknown=False)
def append(run: Runtime, self: Value, value: Value) -> None:
    """`MutableSequence.append`, by `insert`."""
    run.call(run.get(self, "insert"), run.call(run.get(self, "__len__")), value)


@mutable_sequence.function("extend", propagate_unknown=False)
def extend(run: Runtime, self: Value, values: Value) -> Value:
    """`MutableSequence.extend`, by `append`."""
    found = run.items(values)
    for item in found if isinstance(found, list) else [found]:
        run.call(run.get(self, "append"), item)
    return None


@mutable_sequence.function("__iadd__", propagate_unknown=False)
def extend_in_place(run: Runtime, self: Value, values: Value) -> Value:
    """`MutableSequence.__iadd__`"""
    extend(run, self, values)
    return self


LENT: dict[str, dict[str, Value]] = {
    "Mapping": dict(mapping), "MutableMapping": dict(mutable_mapping), "Sequence": dict(sequence),
    "MutableSequence": dict(mutable_sequence),
}  # fmt: skip


def enter(real: Any) -> Class:
    """The Class for one of Python's own abstract classes, after those it derives from."""
    name = real.__name__
    if name not in ABSTRACT:
        bases = tuple(enter(base) for base in real.__bases__ if base.__module__ == "collections.abc")
        ABSTRACT[name] = Class(name, bases or (OBJECT,), {**checks, **LENT.get(name, {})}, module="collections.abc")
    return ABSTRACT[name]


for _name in collections.abc.__all__:
    if isinstance(getattr(collections.abc, _name), type):
        enter(getattr(collections.abc, _name))
