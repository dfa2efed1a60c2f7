"""`itertools`: lazy where Python's are, each item drawing on the budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from flake8_cnnmem.evaluate.builtins.concrete import concrete
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.iterators import drawn, iterators
from flake8_cnnmem.evaluate.builtins.keys import lost
from flake8_cnnmem.evaluate.turns import Sliced
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Native, Stream, Value

names = Names()


@names.function("count", propagate_unknown=True)
def count(run: Runtime, start: Value = 0, step: Value = 1) -> Value:
    """`count(start, step)`: without an end."""
    plain = concrete(run, (start, step))
    return plain if isinstance(plain, Unknown) else drawn(run, itertools.count(*plain))


@names.function("cycle")
def cycle(run: Runtime, iterable: Value, /) -> Value:
    """`cycle(iterable)`: without an end."""
    items = run.items(iterable)
    return items if isinstance(items, Unknown) else drawn(run, itertools.cycle(items))


@names.function("repeat", propagate_unknown=False)
def repeat(run: Runtime, object: Value, times: Value = None) -> Value:
    """`repeat(object, times)`: without an end for no times."""
    limit = concrete(run, times)
    if isinstance(limit, Unknown):
        return limit
    return drawn(run, itertools.repeat(object) if limit is None else itertools.repeat(object, limit))


def through(word: str, host: Any) -> None:
    """A function that only passes items on."""

    @names.function(word, propagate_unknown=False)
    def function(run: Runtime, *iterables: Value, **options: Value) -> Value:
        sources = iterators(run, iterables)
        return sources if isinstance(sources, Unknown) else drawn(run, host(*sources, **options))


through("zip_longest", itertools.zip_longest)
through("pairwise", itertools.pairwise)


def chained(run: Runtime, cls: Value, /, *iterables: Value) -> Value:
    """Without an unknown iterable a lazy chain; with one, what is known before it and then the Unknown itself."""

    def values() -> Iterator[Value]:
        for iterable in iterables:
            source = run.iterate(iterable)
            if isinstance(source, Unknown):
                yield source
                return
            yield from drawn(run, source)

    causes = (each if isinstance(each, Unknown) else lost(run, each) for each in iterables)
    cause = next((each for each in causes if each is not None), None)
    return values() if cause is None else cause


@names.function("_from_iterable")
def from_iterable(run: Runtime, iterable: Value, /) -> Value:
    """`chain.from_iterable(iterable)`"""
    source = run.iterate(iterable)
    if isinstance(source, Unknown):
        return source

    def values() -> Iterator[Value]:
        for inner in source:
            found = run.iterate(inner)
            if isinstance(found, Unknown):
                yield found
                return
            yield from drawn(run, found)

    return values()


CHAIN = Class(
    "chain",
    namespace={"__new__": Native("chain", chained, propagate_unknown=False)},
    module="itertools",
)
CHAIN.namespace["from_iterable"] = names.pop("_from_iterable")
names["chain"] = CHAIN


@names.function("islice")
def islice(run: Runtime, iterable: Value, /, *bounds: Value) -> Value:
    """`islice(iterable, start, stop, step)`"""
    plain = concrete(run, bounds)
    sources = iterators(run, (iterable,))
    if isinstance(plain, Unknown) or isinstance(sources, Unknown):
        return plain if isinstance(plain, Unknown) else sources
    if isinstance(sources[0], Stream) and plain[1:] and plain[0] and not sources[0].rest(0):
        # One item stands for all, also for those behind the first ones.
        first, stop, *step = plain
        plain = (0, stop if stop is None else max(0, stop - first), *step)
    return Sliced.of(drawn(run, sources[0]), plain)


def selected(run: Runtime, test: Value, iterable: Value, while_true: bool) -> Value:
    """`takewhile` and `dropwhile`; from an undecided test on everything is that Unknown."""
    source = run.iterate(iterable)
    if isinstance(source, Unknown):
        return source

    def values() -> Iterator[Value]:
        passing = while_true
        for item in source:
            run.spend(1)
            if while_true or not passing:
                answer = run.truth(run.call(test, item))
                if isinstance(answer, Unknown):
                    yield answer
                    return
                if while_true and not answer:
                    return
                passing = passing or not answer
            if passing:
                yield item

    return values()


names["takewhile"] = Native("takewhile", lambda run, test, iterable, /: selected(run, test, iterable, True))
names["dropwhile"] = Native("dropwhile", lambda run, test, iterable, /: selected(run, test, iterable, False))


@names.function("filterfalse", propagate_unknown=False)
def filterfalse(run: Runtime, test: Value, iterable: Value, /) -> Value:
    """`filterfalse(test, iterable)`"""
    source = run.iterate(iterable)
    if isinstance(source, Unknown):
        return source

    def values() -> Iterator[Value]:
        for item in source:
            run.spend(1)
            answer = run.truth(item if test is None else run.call(test, item))
            if isinstance(answer, Unknown):
                yield answer
            elif not answer:
                yield item

    return values()


@names.function("compress", propagate_unknown=False)
def compress(run: Runtime, data: Value, selectors: Value) -> Value:
    """`compress(data, selectors)`"""
    sources = iterators(run, (data, selectors))
    if isinstance(sources, Unknown):
        return sources

    def values() -> Iterator[Value]:
        for item, selector in zip(*sources, strict=False):
            run.spend(1)
            answer = run.truth(selector)
            if isinstance(answer, Unknown):
                yield answer
            elif answer:
                yield item

    return values()


@names.function("starmap", propagate_unknown=False)
def starmap(run: Runtime, function: Value, iterable: Value, /) -> Value:
    """`starmap(function, iterable)`"""
    sources = iterators(run, (iterable,))
    if isinstance(function, Unknown) or isinstance(sources, Unknown):
        return function if isinstance(function, Unknown) else sources

    def values() -> Iterator[Value]:
        for item in sources[0]:
            args = run.items(item)
            yield args if isinstance(args, Unknown) else run.call(function, *args)

    return values()


@names.function("accumulate", propagate_unknown=False)
def accumulate(run: Runtime, iterable: Value, func: Value = None, *, initial: Value = MISSING) -> Value:
    """`accumulate(iterable, func, initial)`"""
    sources = iterators(run, (iterable,))
    if isinstance(sources, Unknown):
        return sources
    source = sources[0] if initial is MISSING else itertools.chain([initial], sources[0])

    def values() -> Iterator[Value]:
        total: Value = MISSING
        for item in source:
            run.spend(1)
            if total is MISSING:
                total = item
            else:
                total = run.operate("+", total, item) if func is None else run.call(func, total, item)
            yield total

    return values()


@names.function("groupby", propagate_unknown=False)
def groupby(run: Runtime, iterable: Value, key: Value = None) -> Value:
    """`groupby(iterable, key)`: pairs of key and group."""
    items = run.items(iterable)
    if isinstance(items, Unknown):
        return items
    groups: list[tuple[Value, list[Value]]] = []
    for item in items:
        word = item if key is None else run.call(key, item)
        same = bool(groups) and run.equal(groups[-1][0], word)
        if isinstance(same, Unknown):
            return same
        if same:
            groups[-1][1].append(item)
        else:
            groups.append((word, [item]))
    reached = 0

    def group(at: int, members: list[Value]) -> Iterator[Value]:
        # All groups draw from one iterator: behind the next group nothing of one is left.
        for item in members:
            if reached != at:
                return
            yield item

    def each() -> Iterator[Value]:
        nonlocal reached
        for at, (word, members) in enumerate(groups, 1):
            reached = at
            yield word, group(at, members)
        reached = 0

    return each()


@names.function("tee", propagate_unknown=False)
def tee(run: Runtime, iterable: Value, n: int = 2, /) -> Value:
    """`tee(iterable, n)`: a tuple of n iterators."""
    sources = iterators(run, (iterable,))
    if isinstance(sources, Unknown):
        return sources
    run.check_size(n)
    return tuple(itertools.tee(sources[0], n))


@names.function("product", propagate_unknown=False)
def product(run: Runtime, *iterables: Value, repeat: Value = 1) -> Value:
    """`product(*iterables, repeat)`: an iterator over tuples, one item of each."""
    times = concrete(run, repeat)
    pools: list[Any] = [run.items(iterable) for iterable in iterables]
    for part in (times, *pools):
        if isinstance(part, Unknown):
            return part
    run.check_size(len(pools) * max(times, 0))
    return drawn(run, itertools.product(*pools, repeat=times))


def arrangement(word: str, host: Any) -> None:
    """Enter `permutations` or `combinations`: tuples of r items."""

    @names.function(word, propagate_unknown=False)
    def function(run: Runtime, iterable: Value, r: Value = None) -> Value:
        items, size = run.items(iterable), concrete(run, r)
        if isinstance(items, Unknown) or isinstance(size, Unknown):
            return items if isinstance(items, Unknown) else size
        if size is None:
            size = len(items)
        run.check_size(size)
        return drawn(run, host(items, size))


for _word in ("permutations", "combinations", "combinations_with_replacement"):
    arrangement(_word, getattr(itertools, _word))


@names.function("batched", propagate_unknown=False)
def batched(run: Runtime, iterable: Value, n: Value) -> Value:
    """`batched(iterable, n)`: tuples of n items, the last one shorter."""
    items, size = run.items(iterable), concrete(run, n)
    if isinstance(items, Unknown) or isinstance(size, Unknown):
        return items if isinstance(items, Unknown) else size
    if size < 1:
        raise ValueError("n must be at least one")
    return iter([tuple(items[at : at + size]) for at in range(0, len(items), size)])


MODULES = {"itertools": names}
