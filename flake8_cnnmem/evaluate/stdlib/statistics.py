"""`statistics`, `bisect`, `heapq`: averages, and searching in sorted lists."""

from __future__ import annotations

import bisect
import statistics
from typing import Any

from flake8_cnnmem.evaluate.builtins.concrete import pure
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.ordering import in_order
from flake8_cnnmem.evaluate.builtins.sequences import widen
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

averages = Names()


def over_items(table: Names, word: str, function: Any) -> None:
    """A function of all items of an iterable."""

    of_plain = pure(word, function).function

    @table.function(word)
    def native(run: Runtime, data: Value, *args: Value) -> Value:
        return of_plain(run, run.items(data), *args)


for _name in ("mean", "fmean", "median", "median_low", "median_high", "mode", "stdev", "pstdev", "variance",
              "pvariance",
              "geometric_mean", "harmonic_mean"):  # fmt: skip
    over_items(averages, _name, getattr(statistics, _name))

searches: dict[str, Value] = {
    word: pure(word, getattr(bisect, word)) for word in ("bisect", "bisect_left", "bisect_right")
}


def insort(run: Runtime, a: Value, x: Value, *args: Value, **kwargs: Value) -> None:
    """`bisect.insort(a, x)`: the item in its place by order."""
    if not isinstance(a, list):
        return
    run.check_size(len(a) + 1)
    run.changed(a)
    arrange(run, a, [*a, x])


def arrange(run: Runtime, target: list[Value], items: list[Value]) -> None:
    """Put items into a list in order; where that is not known, all of the list is lost."""
    ordered = in_order(run, items, None, False)
    if isinstance(ordered, Unknown):
        widen(target, ordered, len(items))
    else:
        target[:] = ordered


for _name in ("insort", "insort_left", "insort_right"):
    searches[_name] = Native(_name, insort, propagate_unknown=False)

heaps = Names()
"""A sorted list is a heap, so every operation leaves the list sorted."""


@heaps.function("heapify")
def heapify(run: Runtime, x: list[Value], /) -> None:
    """`heapq.heapify(x)`: the list in order, which is a heap."""
    run.changed(x)
    arrange(run, x, list(x))


@heaps.function("heappush", propagate_unknown=False)
def heappush(run: Runtime, heap: Value, item: Value, /) -> None:
    """`heapq.heappush(heap, item)`"""
    if isinstance(heap, list):
        insort(run, heap, item)


@heaps.function("heappop")
def heappop(run: Runtime, heap: list[Value], /) -> Value:
    """`heapq.heappop(heap)`: the smallest item. IndexError for an empty heap."""
    if not isinstance(heap, list):
        raise TypeError("heap argument must be a list")
    run.changed(heap)
    return heap.pop(0)


@heaps.function("heappushpop", propagate_unknown=False)
def heappushpop(run: Runtime, heap: Value, item: Value, /) -> Value:
    """`heapq.heappushpop(heap, item)`: the smallest of all."""
    if not isinstance(heap, list):
        return heap
    insort(run, heap, item)
    return heap.pop(0)


@heaps.function("nlargest", propagate_unknown=False)
def nlargest(run: Runtime, n: Value, iterable: Value, key: Value = None) -> Value:
    """`heapq.nlargest(n, iterable, key)`: in order, the largest first."""
    return best(run, n, iterable, key, True)


@heaps.function("nsmallest", propagate_unknown=False)
def nsmallest(run: Runtime, n: Value, iterable: Value, key: Value = None) -> Value:
    """`heapq.nsmallest(n, iterable, key)`: in order, the smallest first."""
    return best(run, n, iterable, key, False)


def best(run: Runtime, n: Value, iterable: Value, key: Value, largest: bool) -> Value:
    """The first n items of an order."""
    items = run.items(iterable)
    ordered = items if isinstance(items, Unknown) else in_order(run, items, key, largest)
    if isinstance(n, Unknown) or isinstance(ordered, Unknown):
        return n if isinstance(n, Unknown) else ordered
    return ordered[: max(payload(n), 0)]


MODULES: dict[str, dict[str, Value]] = {"statistics": averages, "bisect": searches, "heapq": heaps}
