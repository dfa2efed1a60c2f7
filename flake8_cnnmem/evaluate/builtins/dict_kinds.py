"""The kinds of dict in `collections`: OrderedDict, defaultdict, Counter."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special
from flake8_cnnmem.evaluate.builtins.keys import key, lose
from flake8_cnnmem.evaluate.builtins.mappings import DICT, dicts, entries, fill, initialiser, maker, update
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value


class DefaultDict(dict[Any, Any]):
    """`collections.defaultdict` of the interpreted program: `factory` is one of its values."""

    factory: Value = None


ordered = Names()
ordered["__new__"] = maker(OrderedDict)


@ordered.method("popitem")
def ordered_popitem(run: Runtime, self: OrderedDict[Value, Value], last: Value = True) -> Value:
    """`OrderedDict.popitem(last)`: a pair of key and value. KeyError where it is empty."""
    end = run.truth(last)
    if isinstance(end, Unknown):
        return end
    run.changed(self)
    return self.popitem(end)


@ordered.method("move_to_end", propagate_unknown=False)
def move_to_end(run: Runtime, self: OrderedDict[Value, Value], word: Value, last: Value = True) -> None:
    """`OrderedDict.move_to_end(key, last)`. KeyError for a key that it does not have."""
    entry, end = key(run, word), run.truth(last)
    run.changed(self)
    if isinstance(entry, Unknown):
        lose(run, self, entry)
    elif isinstance(end, Unknown):
        lose(run, self, end)
    else:
        self.move_to_end(entry, end)


def filled_by(base: Callable[..., Value]) -> Callable[..., Value]:
    """`OrderedDict(items, **named)` and its `update`: each pair by the `__setitem__` of a subclass that has its own, as
    those of the mutable mappings do. A dict's own do not ask for it."""

    def given(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> Value:
        own = special(self, "__setitem__")
        pairs = entries(run, args[0]) if args else []
        if own is None or isinstance(pairs, Unknown) or getattr(own, "function", None) is dicts["__setitem__"]:
            return base(run, self, *args, **kwargs)
        for word, item in (*pairs, *kwargs.items()):
            run.call(own, word, item)
        return None

    return given


ordered["__init__"] = Native("__init__", filled_by(initialiser), propagate_unknown=False)
ordered["update"] = replace(
    dicts["update"], function=filled_by(lambda run, self, *args, **kwargs: update(run, payload(self), *args, **kwargs))
)

ORDERED_DICT = host_class("OrderedDict", OrderedDict, dict(ordered), DICT, module="collections")

defaults = Names()


@defaults.function("__new__", propagate_unknown=False)
def default_new(run: Runtime, cls: Class, factory: Value = None, /, *args: Value, **kwargs: Value) -> Value:
    """An empty defaultdict, or an instance of a subclass that holds one."""
    result = DefaultDict()
    if cls.host is None:
        return Instance(cls, payload=result, site=run.here())
    result.factory = factory
    fill(run, result, args, kwargs)
    return result


@defaults.method("__init__", propagate_unknown=False)
def default_init(run: Runtime, self: Value, factory: Value = None, /, *args: Value, **kwargs: Value) -> None:
    """`defaultdict(factory, ...)`: the factory, and items as a dict takes them."""
    if isinstance(self, DefaultDict):
        self.factory = factory
        fill(run, self, args, kwargs)


@defaults.method("__getitem__")
def default_get_item(run: Runtime, self: DefaultDict, word: Value, /) -> Value:
    """`defaultdict[key]`, made by the factory where it is missing."""
    entry = key(run, word)
    return entry if isinstance(entry, Unknown) else default_missing(run, self, entry)


@defaults.method("__missing__")
def default_missing(run: Runtime, self: DefaultDict, word: Value, /) -> Value:
    """What the factory makes for a missing key, which is kept. KeyError without a factory."""
    run.read_whole(self)
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
def default_copy(run: Runtime, self: DefaultDict, /) -> Value:
    """A copy with the same factory."""
    result = DefaultDict()
    result.factory = self.factory
    dict.update(result, self)
    return result


defaults["default_factory"] = Property(Native("default_factory", lambda run, self: payload(self).factory))
DEFAULT_DICT = host_class("defaultdict", DefaultDict, dict(defaults), DICT, module="collections")

counters = Names()
counters.operators(("__add__", "__sub__", "__and__"))


def counted(run: Runtime, source: Value) -> list[tuple[Value, Value]] | Unknown:
    """A mapping's counts, or one for each item of an iterable."""
    if isinstance(source, dict):
        return entries(run, source)
    items = run.items(source)
    if isinstance(items, Unknown):
        return items
    words = [key(run, item) for item in items]
    cause = next((word for word in words if isinstance(word, Unknown)), None)
    return [(word, 1) for word in words] if cause is None else cause


def count(run: Runtime, self: Counter[Value], args: tuple[Value, ...], kwargs: dict[str, Value], symbol: str) -> None:
    """Add counts, or take them away."""
    pairs = counted(run, payload(args[0])) if args else []
    if isinstance(pairs, Unknown):
        lose(run, self, pairs)
    else:
        add_up(run, self, [*pairs, *kwargs.items()], symbol)


def add_up(run: Runtime, self: Counter[Value], pairs: list[tuple[Value, Value]], symbol: str) -> None:
    """Add amounts to a Counter's, or subtract them, by key."""
    run.changed(self)
    # Counts may be of any kind of number.
    counts: dict[Value, Any] = self
    for word, amount in pairs:
        dict.__setitem__(counts, word, run.operate(symbol, dict.get(counts, word, 0), amount))


@counters.function("__new__", propagate_unknown=False)
def counter_new(run: Runtime, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
    """`Counter(items)`: how often each is there; of a subclass an instance with none yet."""
    result: Counter[Value] = Counter()
    if cls.host is None:
        return Instance(cls, payload=result, site=run.here())
    pairs = counted(run, payload(args[0])) if args else []
    if isinstance(pairs, Unknown):
        return pairs
    add_up(run, result, [*pairs, *kwargs.items()], "+")
    return result


@counters.method("__init__", propagate_unknown=False)
def counter_init(run: Runtime, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    """`Counter(items)`: how often each is there, or the counts of a mapping."""
    count(run, self, args, kwargs, "+")


@counters.method("update", propagate_unknown=False)
def counter_update(run: Runtime, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    """`Counter.update`: counts are added."""
    count(run, self, args, kwargs, "+")


@counters.method("subtract", propagate_unknown=False)
def subtract(run: Runtime, self: Counter[Value], /, *args: Value, **kwargs: Value) -> None:
    """`Counter.subtract`: counts are subtracted, below 0 too."""
    count(run, self, args, kwargs, "-")


@counters.method("total")
def total(run: Runtime, self: Counter[Value]) -> Value:
    """The sum of all counts."""
    result: Value = 0
    for amount in self.values():
        result = run.operate("+", result, amount)
    return result


@counters.method("most_common")
def most_common(run: Runtime, self: Counter[Value], n: int | None = None) -> Value:
    """Pairs of key and count, the largest count first; unknown where a count is."""
    cause = next((amount for amount in self.values() if not isinstance(amount, (int, float))), None)
    if cause is not None:
        return cause if isinstance(cause, Unknown) else run.unknown("which item is the most common is not known")
    run.spend(len(self))
    return self.most_common(n)


@counters.method("elements")
def elements(run: Runtime, self: Counter[Value]) -> Value:
    """An iterator over each key as often as it is counted."""
    run.check_size(sum(max(amount, 0) for amount in self.values() if isinstance(amount, int)))
    return self.elements()


COUNTER = host_class("Counter", Counter, dict(counters), DICT, module="collections")
