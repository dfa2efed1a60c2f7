"""`dict` and its kin of `collections`: OrderedDict, defaultdict, Counter; and the views of a dict."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special
from flake8_cnnmem.evaluate.builtins.keys import key, lose, lost
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.evaluate.builtins.sets import hashed
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Property, Run, Value


class DefaultDict(dict[Any, Any]):
    """`collections.defaultdict` of the interpreted program: `factory` is one of its values."""

    __slots__ = ("factory",)

    factory: Value


class Keys(KeysView[Any]):
    """The views are looked at as they are at the start of a loop: a dict may change while it is looped over."""

    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._mapping))

    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self._mapping))


class Values(ValuesView[Any]):
    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._mapping.values()))

    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self._mapping.values()))


class Items(ItemsView[Any, Any]):
    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._mapping.items()))

    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self._mapping.items()))


def view(kind: Any) -> dict[str, Value]:
    names = Names()
    names["__len__"] = Native("__len__", lambda run, self: len(self))
    names["__iter__"] = Native("__iter__", lambda run, self: iter(self))
    names["__reversed__"] = Native("__reversed__", lambda run, self: reversed(self))
    names["mapping"] = Property(Native("mapping", lambda run, self: self._mapping))
    if kind is not Values:
        names.operators(("__and__", "__or__", "__sub__", "__xor__", "__eq__", "__ne__"))
        for word in ("isdisjoint",):
            names[word] = Native(word, lambda run, self, other: view_test(run, self, other))
    return dict(names)


def view_test(run: Run, self: Any, other: Value) -> Value:
    items = hashed(run, other)
    return items if isinstance(items, Unknown) else set(self).isdisjoint(items)


KEYS = host_class("dict_keys", Keys, view(Keys), also=(type({}.keys()), type(OrderedDict().keys())))
VALUES = host_class("dict_values", Values, view(Values), also=(type({}.values()), type(OrderedDict().values())))
ITEMS = host_class("dict_items", Items, view(Items), also=(type({}.items()), type(OrderedDict().items())))


def entries(run: Run, value: Value) -> list[tuple[Value, Value]] | Unknown:
    """The pairs that `dict(value)` takes: of a mapping, or of an iterable of pairs. Keys are checked."""
    plain = payload(value)
    if isinstance(plain, dict):
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


def fill(run: Run, target: dict[Value, Value], args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """`target.update(*args, **kwargs)`."""
    if len(args) > 1:
        raise TypeError(f"dict expected at most 1 argument, got {len(args)}")
    pairs = entries(run, args[0]) if args else []
    if isinstance(pairs, Unknown):
        lose(run, target, pairs)
        return
    run.check_size(len(target) + len(pairs))
    run.changed(target)
    # A host OrderedDict keeps its order beside the dict, so that dict's own methods must not be used on it.
    update = OrderedDict.update if isinstance(target, OrderedDict) else dict.update
    update(target, pairs)
    update(target, kwargs)


dicts = Names()
dicts.operators(("__or__", "__eq__", "__ne__"))
dicts["__len__"] = Native("__len__", lambda run, self: len(payload(self)))
dicts["__iter__"] = Native("__iter__", lambda run, self: iter(list(payload(self))))
dicts["__reversed__"] = Native("__reversed__", lambda run, self: reversed(list(payload(self))))
dicts["__repr__"] = host_repr
dicts["__format__"] = host_format
dicts["__class_getitem__"] = ClassMethod(Native("__class_getitem__", lambda run, cls, item: cls, absorb=False))
dicts["keys"] = Native("keys", lambda run, self: Keys(payload(self)))
dicts["values"] = Native("values", lambda run, self: Values(payload(self)))
dicts["items"] = Native("items", lambda run, self: Items(payload(self)))


def maker(kind: Any) -> Native:
    """`__new__` of a mutable mapping: filled for the type itself, empty in an instance of a subclass."""

    def new(run: Run, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
        if cls.host is None:
            return Instance(cls, payload=kind(), site=run.here())
        pairs = entries(run, args[0]) if args else []
        if isinstance(pairs, Unknown):
            return pairs
        result = kind()
        fill(run, result, args[:0] if not args else (pairs, *args[1:]), kwargs)
        return result

    return Native("__new__", new, absorb=False)


def initialiser(run: Run, self: Value, /, *args: Value, **kwargs: Value) -> None:
    inner = payload(self)
    if isinstance(inner, dict):
        fill(run, inner, args, kwargs)


dicts["__new__"] = maker(dict)
dicts["__init__"] = Native("__init__", initialiser, absorb=False)


@dicts.function("__getitem__")
def get_item(run: Run, self: Value, word: Value, /) -> Value:
    inner = payload(self)
    if type(inner) is dict or type(inner) is OrderedDict:
        if isinstance(self, Instance):
            missing = special(self, "__missing__")
            if missing is not None and key(run, word) not in inner:
                return run.call(missing, word)
        return run.index(inner, word)
    entry = key(run, word)
    return entry if isinstance(entry, Unknown) else inner[entry]


@dicts.method("__setitem__", absorb=False)
def set_item(run: Run, self: dict[Value, Value], word: Value, item: Value, /) -> None:
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.check_size(len(self) + 1)
    run.changed(self)
    self[entry] = item


@dicts.method("__delitem__", absorb=False)
def delete_item(run: Run, self: dict[Value, Value], word: Value, /) -> None:
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return
    run.changed(self)
    del self[entry]


@dicts.method("__contains__")
def contains(run: Run, self: dict[Value, Value], word: Value, /) -> Value:
    return run.operate("in", word, self)


@dicts.method("get", absorb=False)
def get(run: Run, self: dict[Value, Value], word: Value, default: Value = None, /) -> Value:
    entry = key(run, word)
    if isinstance(entry, Unknown):
        return entry
    found = dict.get(self, entry, MISSING)
    if found is not MISSING:
        return found
    inside = run.operate("in", entry, self)
    if isinstance(inside, Unknown):
        return inside
    return run.index(self, entry) if inside else default


@dicts.method("setdefault", absorb=False)
def setdefault(run: Run, self: dict[Value, Value], word: Value, default: Value = None, /) -> Value:
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return entry
    if entry not in self:
        run.check_size(len(self) + 1)
        run.changed(self)
        self[entry] = default
    return self[entry]


@dicts.method("pop", absorb=False)
def pop(run: Run, self: dict[Value, Value], word: Value, default: Value = MISSING, /) -> Value:
    entry = key(run, word)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
        return entry
    if entry not in self:
        if default is MISSING:
            raise KeyError(entry)
        return default
    run.changed(self)
    return dict.pop(self, entry)


@dicts.method("popitem")
def popitem(run: Run, self: dict[Value, Value], /) -> Value:
    run.changed(self)
    return dict.popitem(self)


@dicts.method("update", absorb=False)
def update(run: Run, self: dict[Value, Value], /, *args: Value, **kwargs: Value) -> None:
    fill(run, self, args, kwargs)


@dicts.function("__ior__", absorb=False)
def update_in_place(run: Run, self: Value, other: Value, /) -> Value:
    fill(run, payload(self), (other,), {})
    return self


@dicts.method("clear")
def clear(run: Run, self: dict[Value, Value], /) -> None:
    run.changed(self)
    self.clear()


@dicts.method("copy")
def copy(run: Run, self: dict[Value, Value], /) -> Value:
    run.spend(len(self) // 16)
    return self.copy()


@dicts.class_method("fromkeys", absorb=False)
def fromkeys(run: Run, cls: Class, words: Value, default: Value = None, /) -> Value:
    items = run.items(words)
    if isinstance(items, Unknown):
        return items
    return run.construct(cls, [(word, default) for word in items])


DICT = host_class("dict", dict, dict(dicts))

ordered = Names()
ordered["__new__"] = maker(OrderedDict)


@ordered.method("popitem")
def ordered_popitem(run: Run, self: OrderedDict[Value, Value], last: Value = True) -> Value:
    end = run.truth(last)
    if isinstance(end, Unknown):
        return end
    run.changed(self)
    return self.popitem(end)


@ordered.method("move_to_end", absorb=False)
def move_to_end(run: Run, self: OrderedDict[Value, Value], word: Value, last: Value = True) -> None:
    entry, end = key(run, word), run.truth(last)
    run.changed(self)
    if isinstance(entry, Unknown) or isinstance(end, Unknown):
        lose(run, self, entry if isinstance(entry, Unknown) else end)
    else:
        self.move_to_end(entry, end)


ORDERED_DICT = host_class("OrderedDict", OrderedDict, dict(ordered), DICT, module="collections")

defaults = Names()


def empty_default() -> DefaultDict:
    made = DefaultDict()
    made.factory = None
    return made


@defaults.function("__new__", absorb=False)
def default_new(run: Run, cls: Class, factory: Value = None, /, *args: Value, **kwargs: Value) -> Value:
    result = empty_default()
    if cls.host is None:
        return Instance(cls, payload=result, site=run.here())
    result.factory = factory
    fill(run, result, args, kwargs)
    return result


@defaults.method("__init__", absorb=False)
def default_init(run: Run, self: Value, factory: Value = None, /, *args: Value, **kwargs: Value) -> None:
    if isinstance(self, DefaultDict):
        self.factory = factory
        fill(run, self, args, kwargs)


@defaults.method("__getitem__")
def default_get_item(run: Run, self: DefaultDict, word: Value, /) -> Value:
    entry = key(run, word)
    return entry if isinstance(entry, Unknown) else default_missing(run, self, entry)


@defaults.method("__missing__")
def default_missing(run: Run, self: DefaultDict, word: Value, /) -> Value:
    if word in self:
        return self[word]
    if self.factory is None:
        raise KeyError(word)
    made = run.call(self.factory)
    run.check_size(len(self) + 1)
    run.changed(self)
    self[word] = made
    return made


@defaults.method("copy")
def default_copy(run: Run, self: DefaultDict, /) -> Value:
    result = empty_default()
    result.factory = self.factory
    dict.update(result, self)
    return result


defaults["default_factory"] = Property(Native("default_factory", lambda run, self: payload(self).factory))
DEFAULT_DICT = host_class("defaultdict", DefaultDict, dict(defaults), DICT, module="collections")

counters = Names()
counters.operators(("__add__", "__sub__", "__and__"))


def count(run: Run, self: Counter[Value], args: tuple[Value, ...], kwargs: dict[str, Value], symbol: str) -> None:
    """Add counts (or take them away): of a mapping, or one for each item of an iterable."""
    source = payload(args[0]) if args else {}
    if isinstance(source, dict):
        pairs = entries(run, source)
    else:
        items = run.items(source)
        words = items if isinstance(items, Unknown) else [key(run, item) for item in items]
        cause = (
            words if isinstance(words, Unknown) else next((each for each in words if isinstance(each, Unknown)), None)
        )
        pairs = cause if cause is not None else [(word, 1) for word in words]
    if isinstance(pairs, Unknown):
        lose(run, self, pairs)
        return
    run.changed(self)
    for word, amount in (*pairs, *kwargs.items()):
        dict.__setitem__(self, word, run.operate(symbol, dict.get(self, word, 0), amount))


@counters.function("__new__", absorb=False)
def counter_new(run: Run, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
    result: Counter[Value] = Counter()
    if cls.host is None:
        return Instance(cls, payload=result, site=run.here())
    if args and isinstance(args[0], Unknown):
        return args[0]
    count(run, result, args, kwargs, "+")
    return result


@counters.method("__init__", absorb=False)
def counter_init(run: Run, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    count(run, self, args, kwargs, "+")


@counters.method("update", absorb=False)
def counter_update(run: Run, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    count(run, self, args, kwargs, "+")


@counters.method("subtract", absorb=False)
def subtract(run: Run, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    count(run, self, args, kwargs, "-")


@counters.method("total")
def total(run: Run, self: Counter[Value]) -> Value:
    result: Value = 0
    for amount in self.values():
        result = run.operate("+", result, amount)
    return result


@counters.method("most_common")
def most_common(run: Run, self: Counter[Value], n: Value = None) -> Value:
    cause = next((amount for amount in self.values() if not isinstance(amount, (int, float))), None)
    if cause is not None:
        return cause if isinstance(cause, Unknown) else run.unknown("which item is the most common is not known")
    run.spend(len(self))
    return self.most_common(n)


@counters.method("elements")
def elements(run: Run, self: Counter[Value]) -> Value:
    run.check_size(sum(max(amount, 0) for amount in self.values() if isinstance(amount, int)))
    return self.elements()


COUNTER = host_class("Counter", Counter, dict(counters), DICT, module="collections")
