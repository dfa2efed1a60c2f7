"""Iterators: host iterators that draw their values through the interpreter, one at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.concrete import type_name
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special, unknown_base
from flake8_cnnmem.evaluate.builtins.views import Items, Keys, Values
from flake8_cnnmem.evaluate.turns import Sliced
from flake8_cnnmem.runtime import Runtime, so_many
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Raised, Stream, Value


def advance(run: Runtime, iterator: Value, default: Value = MISSING, /) -> Value:
    """`next(iterator)`; StopIteration at the end where there is no default."""
    if isinstance(iterator, Unknown):
        return iterator
    method = special(iterator, "__next__")
    if method is not None:
        if default is MISSING:
            return run.call(method)
        cause = unknown_base(iterator)
        return run.unknown("the end of a user-defined iterator is not followed") if cause is None else cause
    if not isinstance(iterator, Iterator):
        cause = unknown_base(iterator)
        if cause is not None:
            return cause
        raise TypeError(f"'{type_name(iterator)}' object is not an iterator")
    run.spend(1)
    try:
        # What a generator returns is the value of its StopIteration.
        return iterator.take() if isinstance(iterator, Stream) else next(iterator)
    except StopIteration:
        if default is MISSING:
            raise
        return default


def iterators(run: Runtime, values: tuple[Value, ...]) -> list[Iterator[Value]] | Unknown:
    """An iterator over each value, or the Unknown that one of them cannot be iterated for."""
    found: list[Iterator[Value]] = []
    for value in values:
        iterator = value if isinstance(value, Iterator) else run.iterate(value)
        if isinstance(iterator, Unknown):
            return iterator
        if type(iterator) in LAZY and nested(iterator) > MOST_NESTED:
            return run.unknown("iterators that draw on each other are nested too deeply to be followed")
        found.append(iterator)
    return found


MOST_NESTED = 100
"""Iterators that draw on each other: some thousands overrun the stack of C."""

FOLLOWED = 4
"""Iterators of one depth that are followed down."""

LAZY = (map, zip, enumerate, type(_ for _ in ()))


def nested(iterator: Any) -> int:
    """How many iterators draw on each other, as far as `MOST_NESTED` and one more."""
    depth, waiting = 0, [iterator]
    while waiting and depth <= MOST_NESTED:
        depth += 1
        below = {id(source): source for each in waiting for source in sources_of(each) if type(source) in LAZY}
        waiting = list(below.values())[:FOLLOWED]
    return depth


def sources_of(iterator: Any) -> tuple[Any, ...]:
    """What an iterator draws on, of those that are made here."""
    if isinstance(iterator, Generator):
        frame = iterator.gi_frame  # type: ignore[attr-defined]
        return tuple(frame.f_locals.get("sources", ())) if frame is not None else ()
    made = iterator.__reduce__()
    return tuple(made[1]) if isinstance(made, tuple) else ()


def drawn(run: Runtime, values: Iterator[Value]) -> Iterator[Value]:
    """The same values, each drawing on the budget: for sources without an end of their own."""
    for value in values:
        run.spend(1)
        yield value


iteration = Names()
iteration["__next__"] = Native("__next__", advance)
iteration["__iter__"] = Native("__iter__", lambda run, self: self)
iteration["__class_getitem__"] = ClassMethod(
    Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
)

ITERATOR = host_class(
    "iterator",
    type(iter([])),
    dict(iteration),
    also=(
        type(iter(())), type(iter("")), type(iter("é")), type(iter({})), type(iter({}.values())),
        type(iter({}.items())),
        type(iter(set())), type(iter(range(0))), type(iter(range(10**30))), type(iter(b"")), type(reversed({})),
        itertools.chain, Sliced, itertools.count, itertools.cycle, itertools.repeat, itertools.zip_longest,
    ),
)  # fmt: skip

# PyTorch's own iterators had the method of Python 2 until version 1.13.
STREAM = host_class("iterator", Stream, {**iteration, "next": iteration["__next__"]})

generators = Names(iteration)


@generators.function("send", propagate_unknown=False)
def send(run: Runtime, self: Generator[Value, Value, Value], value: Value, /) -> Value:
    """`generator.send(value)`: the next value that it yields."""
    return self.send(value)


@generators.function("close")
def close(run: Runtime, self: Generator[Value, Value, Value]) -> None:
    """GeneratorExit where the generator waits: what it has in `finally` runs."""
    try:
        self.throw(run.error("GeneratorExit", ""))
    except StopIteration:
        return
    except Raised as raised:
        if not any(cls.name in ("GeneratorExit", "StopIteration") for cls in raised.value.cls.mro):
            raise
        return
    raise run.error("RuntimeError", "generator ignored GeneratorExit")


@generators.function("throw", propagate_unknown=False)
def throw(run: Runtime, self: Generator[Value, Value, Value], kind: Value, *args: Value) -> Value:
    """`generator.throw(exception)`: the exception is raised where it stands."""
    exception = run.call(kind, *args[:1]) if isinstance(kind, Class) else kind
    if not isinstance(exception, Instance):
        return run.unknown("what is thrown is not known")
    return self.throw(Raised(exception))


GENERATOR = host_class("generator", type(_ for _ in ()), dict(generators))


def lazy(name: str, host: Any, function: Callable[..., Value]) -> Class:
    """A class such as `zip`, whose instances are host iterators."""
    names = Names(iteration)
    names["__new__"] = Native(
        "__new__", lambda run, cls, /, *args, **kwargs: function(run, *args, **kwargs), propagate_unknown=False
    )
    return host_class(name, host, dict(names))


def make_map(run: Runtime, function: Value, /, *iterables: Value) -> Value:
    """`map(function, *iterables)`: an iterator that ends with the shortest."""
    if isinstance(function, Unknown):
        return function
    sources = iterators(run, iterables)
    if isinstance(sources, Unknown):
        cause = sources
        each = [cause if item is MISSING else item for item in (any_item(run, given, cause) for given in iterables)]
        run.perhaps_done(cause, lambda: run.call(function, *each))
        return sources
    if len(sources) == 1 and type(sources[0]) is Stream and sources[0].unsaid is not None:
        return mapped(run, function, sources[0])
    return map(lambda *items: run.call(function, *items), *sources)


def mapped(run: Runtime, function: Value, samples: Stream) -> Stream:
    """What a function makes of the samples of a data set, one of which stands for all."""
    results = Stream(lambda: run.call(function, samples.draw()), samples.again)
    results.unsaid, results.taken = samples.unsaid, samples.taken

    def rest(drawn: int) -> list[Value]:
        found = [run.call(function, item) for item in samples.rest(drawn)]
        results.unsaid = samples.unsaid
        return found

    results.rest = rest
    return results


def make_filter(run: Runtime, function: Value, iterable: Value, /) -> Value:
    """Where it is not known whether an item stays, what a finite iterable gives is unknown as a whole."""
    if isinstance(function, Unknown):
        return function
    sources = iterators(run, (iterable,))
    if isinstance(sources, Unknown):
        return sources

    def test(item: Value) -> bool | Unknown:
        return run.truth(item if function is None else run.call(function, item))

    if isinstance(payload(iterable), (list, tuple, dict, set, frozenset, str, range)):
        kept = []
        for item in sources[0]:
            run.spend(1)
            answer = test(item)
            if isinstance(answer, Unknown):
                return answer
            if answer:
                kept.append(item)
        return iter(kept)
    if type(sources[0]) is Stream and sources[0].unsaid is not None:
        return filtered(test, sources[0])

    def values() -> Iterator[Value]:
        for item in sources[0]:
            run.spend(1)
            answer = test(item)
            if isinstance(answer, Unknown):
                yield answer
            elif answer:
                yield item

    return values()


def filtered(test: Callable[[Value], bool | Unknown], samples: Stream) -> Stream:
    """The samples of a data set that pass a test: one stands for all, unless those that pass are known."""
    results = Stream(samples.draw, samples.again)
    results.unsaid, results.taken = samples.unsaid, samples.taken

    def rest(drawn: int) -> list[Value]:
        items = samples.rest(drawn)
        answers = [test(item) for item in (samples.draw(), *items)]
        if all(answer is True for answer in answers):
            results.unsaid = samples.unsaid
        return items

    results.rest = rest
    return results


def make_zip(run: Runtime, *iterables: Value, strict: Value = False) -> Value:
    """`zip(*iterables, strict)`: an iterator over tuples. ValueError for other lengths where it is strict."""
    sources = iterators(run, counted_beside(iterables))
    if isinstance(sources, Unknown):
        items = [any_item(run, each, sources) for each in iterables]
        followed = all(item is not MISSING for item in items) and not all(isinstance(item, Unknown) for item in items)
        return so_many(run, tuple(items), sources) if followed else sources
    return zip(*sources, strict=False) if run.truth(strict) is not True else of_one_length(run, sources)


def counted_beside(iterables: tuple[Value, ...]) -> tuple[Value, ...]:
    """Numbers of which nobody knows how many there are, beside data of which one item stands for all: as many."""
    if not any(isinstance(payload(each), (Stream, Generator)) or is_drawn(each) for each in iterables):
        return iterables
    return tuple(
        itertools.repeat(each.another("int")) if isinstance(each, Unknown) and each.number else each
        for each in iterables
    )


def is_drawn(value: Value) -> bool:
    """Whether a value is an object whose items are drawn from it, such as a data loader."""
    return special(value, "__iter__") is not None


def any_item(run: Runtime, iterable: Value, cause: Unknown) -> Value:
    """What stands for any item of a list of unknown length, or of one whose items are alike; MISSING for others."""
    if isinstance(iterable, Unknown):
        return iterable.another("int") if iterable.number else iterable.loose()
    item = run.sample(iterable)
    if item is not MISSING or not isinstance(iterable, (list, tuple)) or not iterable:
        return item
    common = run.one_of(iterable, cause)
    return MISSING if isinstance(common, Unknown) and not common.number else common


def of_one_length(run: Runtime, sources: Sequence[Iterator[Value]]) -> Iterator[Value]:
    """Tuples of the items of several iterators; the program's ValueError where one ends before another."""
    while True:
        items = [next(source, MISSING) for source in sources]
        missing = sum(item is MISSING for item in items)
        if missing == len(items):
            return
        if missing:
            raise run.error("ValueError", "zip() has an argument that is longer than another one")
        yield tuple(items)


def make_enumerate(run: Runtime, iterable: Value, start: Value = 0) -> Value:
    """`enumerate(iterable, start)`: an iterator over pairs of number and item."""
    if isinstance(iterable, Unknown) and iterable.number:
        # The numbers of a range whose end is not known.
        return so_many(run, (iterable.another("int"), iterable), iterable)
    sources = iterators(run, (iterable,))
    if isinstance(sources, Unknown):
        item = run.sample(iterable)
        return sources if item is MISSING else so_many(run, (sources.another("int"), item), sources)
    if isinstance(start, (Unknown, Batch)):
        return start if isinstance(start, Unknown) else run.unknown("the batch size has no value to count from")
    return enumerate(sources[0], payload(start))


def make_reversed(run: Runtime, value: Value, /) -> Value:
    """`reversed(value)`: an iterator from the last item to the first."""
    method = special(value, "__reversed__")
    if method is not None:
        return run.call(method)
    plain = payload(value)
    if isinstance(plain, (tuple, range, str, Keys, Values, Items)):
        return reversed(plain)
    items = run.items(value)
    return items if isinstance(items, Unknown) else reversed(items)


MAP = lazy("map", map, make_map)
FILTER = lazy("filter", filter, make_filter)
ZIP = lazy("zip", zip, make_zip)
ENUMERATE = lazy("enumerate", enumerate, make_enumerate)
REVERSED = lazy("reversed", type(reversed([])), make_reversed)
