"""`dict`."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special
from flake8_cnnmem.evaluate.builtins.keys import key, lose, lost
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.evaluate.builtins.views import Items, Keys, Values
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Value


def entries(run: Runtime, value: Value) -> list[tuple[Value, Value]] | Unknown:
    """The pairs that `dict(value)` takes: of a mapping, or of an iterable of pairs. Keys are checked."""
    plain = payload(value)
    if isinstance(plain, dict):
        run.read_whole(plain)
        cause = lost(run, plain)
        run.spend(len(plain) // 8)
        return list(plain.items()) if cause is None else cause
    if isinstance(value, Instance) and value.cls.find("keys") is not MISSING:
        names = run.items(run.call(run.get(value, "keys")))
        if isinstance(names, Unknown):
            return names
        found: Any = [(name, run.index(value, name)) for name in names]
    else:
        found = run.items(value)
        if isinstance(found, Unknown):
            return found
    pairs: list[tuple[Value, Value]] = []
    for item in found:
        pair = item if isinstance(item, tuple) else run.items(item)
        if isinstance(pair, Unknown):
            return pair
        if len(pair) != 2:
            raise ValueError(f"dictionary update sequence element has length {len(pair)}; 2 is required")
        word = key(run, pair[0])
        if isinstance(word, Unknown):
            return word
        pairs.append((word, pair[1]))
    return pairs


def fill(run: Runtime, target: dict[Value, Value], args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """`target.update(*args, **kwargs)`."""
    if len(args) > 1:
        raise TypeError(f"dict expected at most 1 argument, got {len(args)}")
    pairs = entries(run, args[0]) if args else []
    if isinstance(pairs, Unknown):
        lose(run, target, pairs)
        return
    run.check_size(len(target) + len(pairs))
    run.changed(target)
    update = kind_of(target).update
    run.let_go(*(dict.get(target, word) for word in (*(word for word, _ in pairs), *kwargs)))
    update(target, pairs)
    update(target, kwargs)


def kind_of(host: dict[Value, Value]) -> type[dict[Value, Value]]:
    """The class whose methods change a host dict: an OrderedDict keeps its order beside the dict, so that those of
    `dict` must not be used on it."""
    return OrderedDict if isinstance(host, OrderedDict) else dict


dicts = Names()
dicts.operators(("__or__", "__eq__", "__ne__"))
dicts["__len__"] = Native("__len__", lambda run, self: len(payload(self)))
dicts["__iter__"] = Native("__iter__", lambda run, self: iter(list(payload(self))))
dicts["__reversed__"] = Native("__reversed__", lambda run, self: reversed(list(payload(self))))
dicts["__repr__"] = host_repr
dicts["__format__"] = host_format
dicts["__class_getitem__"] = ClassMethod(
    Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
)
dicts["keys"] = Native("keys", lambda run, self: Keys(payload(self)))
dicts["values"] = Native("values", lambda run, self: Values(payload(self)))
dicts["items"] = Native("items", lambda run, self: Items(payload(self)))


def maker(kind: Any) -> Native:
    """`__new__` of a mutable mapping: filled for the type itself, empty in an instance of a subclass."""

    def new(run: Runtime, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
        if cls.host is None:
            return Instance(cls, payload=kind(), site=run.here())
        pairs = entries(run, args[0]) if args else []
        if isinstance(pairs, Unknown):
            return pairs
        result = kind()
        fill(run, result, args[:0] if not args else (pairs, *args[1:]), kwargs)
        return result

    return Native("__new__", new, propagate_unknown=False)


def initialiser(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> None:
    """`dict(items, **named)`"""
    inner = payload(self)
    if isinstance(inner, dict):
        fill(run, inner, args, kwargs)


dicts["__new__"] = maker(dict)
dicts["__init__"] = Native("__init__", initialiser, propagate_unknown=False)


@dicts.function("__getitem__")
def get_item(run: Runtime, self: Value, word: Value, /) -> Value:
    """`self[key]`, by `__missing__` where a subclass has it. KeyError else."""
    inner = payload(self)
    if type(inner) is dict or type(inner) is OrderedDict:
        if isinstance(self, Instance):
            missing = special(self, "__missing__")
            if missing is not None and key(run, word) not in inner:
                return run.call(missing, word)
        return run.index(inner, word)
    entry = key(run, word)
    return entry if isinstance(entry, Unknown) else inner[entry]


@dicts.method("__setitem__", propagate_unknown=False)
def set_item(run: Runtime, self: dict[Value, Value], word: Value, item: Value, /) -> None:
    """`self[key] = item`; under a key that is not known all of the dict is lost."""
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.check_size(len(self) + 1)
    run.changed(self)
    run.let_go(dict.get(self, entry))
    self[entry] = item


@dicts.method("__delitem__", propagate_unknown=False)
def delete_item(run: Runtime, self: dict[Value, Value], word: Value, /) -> None:
    """`del self[key]`. KeyError for a key that it does not have."""
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.changed(self)
    run.let_go(dict.get(self, entry))
    del self[entry]


@dicts.method("__contains__")
def contains(run: Runtime, self: dict[Value, Value], word: Value, /) -> Value:
    """`key in self`"""
    return run.operate("in", word, self)


@dicts.method("get", propagate_unknown=False)
def get(run: Runtime, self: dict[Value, Value], word: Value, default: Value = None, /) -> Value:
    """`self.get(key, default)`"""
    entry = key(run, word)
    if isinstance(entry, Unknown):
        found = run.index(self, entry)
        numbers = type(default) is int and isinstance(found, Unknown) and found.number == "int"
        return found if numbers else entry
    found = dict.get(self, entry, MISSING)
    if found is not MISSING:
        return found
    inside = run.operate("in", entry, self)
    if isinstance(inside, Unknown):
        return inside
    return run.index(self, entry) if inside else default


@dicts.method("setdefault", propagate_unknown=False)
def setdefault(run: Runtime, self: dict[Value, Value], word: Value, default: Value = None, /) -> Value:
    """`self.setdefault(key, default)`: the value that is there, or the default, which is kept."""
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return entry
    if entry not in self:
        run.check_size(len(self) + 1)
        run.changed(self)
    return self.setdefault(entry, default)


@dicts.method("pop", propagate_unknown=False)
def pop(run: Runtime, self: dict[Value, Value], word: Value, default: Value = MISSING, /) -> Value:
    """`self.pop(key, default)`. KeyError without a default."""
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return entry
    if entry not in self:
        if default is MISSING:
            raise KeyError(entry)
        return default
    run.changed(self)
    return kind_of(self).pop(self, entry)


@dicts.method("popitem")
def popitem(run: Runtime, self: dict[Value, Value], /) -> Value:
    """`self.popitem()`: the last pair. KeyError where it is empty."""
    run.changed(self)
    return kind_of(self).popitem(self)


@dicts.method("update", propagate_unknown=False)
def update(run: Runtime, self: dict[Value, Value], /, *args: Value, **kwargs: Value) -> None:
    """`self.update(items, **named)`"""
    fill(run, self, args, kwargs)


dicts["update"] = replace(dicts["update"], spread=lambda run, self, cause: lose(run, payload(self), cause))


@dicts.function("__ior__", propagate_unknown=False)
def update_in_place(run: Runtime, self: Value, other: Value, /) -> Value:
    """`self |= other`"""
    fill(run, payload(self), (other,), {})
    return self


@dicts.method("clear")
def clear(run: Runtime, self: dict[Value, Value], /) -> None:
    """`self.clear()`"""
    run.changed(self)
    run.let_go(*dict.values(self))
    self.clear()


@dicts.method("copy")
def copy(run: Runtime, self: dict[Value, Value], /) -> Value:
    """`self.copy()`"""
    run.spend(len(self) // 16)
    return self.copy()


@dicts.class_method("fromkeys", propagate_unknown=False)
def fromkeys(run: Runtime, cls: Class, words: Value, default: Value = None, /) -> Value:
    """`dict.fromkeys(keys, default)`"""
    items = run.items(words)
    if isinstance(items, Unknown):
        return items
    return run.construct(cls, [(word, default) for word in items])


DICT = host_class("dict", dict, dict(dicts))
