"""Sorting and choosing the largest, where comparing may need the interpreted program or stay undecided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import IDENTITY_CHANGES, Identity
from flake8_cnnmem.evaluate.numbers import number_kind, one_number
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import Value

NUMBERS = (int, float, bool)

NESTED = 4
"""Tuples within each other that Python itself is let compare."""


class NotComparable(Leaving):
    """Two values cannot be compared for certain."""

    def __init__(self, cause: Unknown) -> None:
        super().__init__(cause.reason)
        self.cause = cause


def simple(keys: Sequence[Any], nested: int = 0) -> bool:
    """Whether Python itself can compare these: all numbers, or all text, or tuples of such."""
    kinds = set(map(type, keys))
    if kinds <= {int, float, bool} or kinds == {str}:
        return True
    if kinds == {tuple} and nested < NESTED:
        return (
            all(simple(list(column), nested + 1) for column in zip(*keys, strict=False))
            and len(set(map(len, keys))) == 1
        )
    return False


def less(run: Runtime, left: Value, right: Value) -> bool:
    """left < right; raises Undecided."""
    if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
        return left < right
    run.spend(1 + (min(len(left), len(right)) if isinstance(left, tuple) and isinstance(right, tuple) else 0))
    answer = run.truth(run.operate("<", left, right))
    if isinstance(answer, Unknown):
        raise NotComparable(answer)
    return answer


def keyed(run: Runtime, items: list[Value], key: Value) -> list[Value]:
    """What items are ordered by: the items, or the key's results."""
    keys = items if key is None else [run.call(key, item) for item in items]
    return [run.unknown(IDENTITY_CHANGES) if type(each) is Identity else each for each in keys]


def in_order(run: Runtime, items: list[Value], key: Value, reverse: Value) -> list[Value] | Unknown:
    """`sorted(items, key=key, reverse=reverse)`, or the Unknown that leaves the order undecided."""
    backwards = run.truth(reverse)
    if isinstance(backwards, Unknown):
        return backwards
    keys = keyed(run, items, key)
    cause = next((item for item in keys if isinstance(item, Unknown)), None)
    if cause is not None:
        return cause
    run.spend(len(items) + sum(len(each) // 16 for each in keys if isinstance(each, (str, bytes, tuple))))
    places = range(len(items))
    if simple(keys):
        comparable: list[Any] = keys
        order = sorted(places, key=lambda place: comparable[place], reverse=backwards)
        return [items[place] for place in order]

    def compare(left: int, right: int) -> int:
        if less(run, keys[left], keys[right]):
            return -1
        return 1 if less(run, keys[right], keys[left]) else 0

    try:
        order = sorted(places, key=cmp_to_key(compare), reverse=backwards)
    except NotComparable as undecided:
        return undecided.cause
    return [items[place] for place in order]


def all_unknown(items: list[Value]) -> bool:
    """Whether no item is known."""
    return all(isinstance(item, Unknown) for item in items)


def whole_window(items: list[Value]) -> int | None:
    """The size of a window, `min(size, length - start)`, where all but the last one are whole: the places at which they
    start are at least as far apart."""
    known = [item for item in items if type(item) is int]
    left = [item.left for item in items if isinstance(item, Unknown) and item.left is not None]
    return known[0] if len(items) == 2 and known and left and 0 < known[0] <= left[0] else None


def is_moved(number: Unknown) -> bool:
    """Whether a whole number is so much more than another one."""
    return number.place is not None and number.place[1] == 1 and number.place[2] != 0


def extreme(run: Runtime, items: list[Value], key: Value, largest: bool) -> Value:
    """The first of the largest or smallest items, which are at least one."""
    keys = keyed(run, items, key)
    cause: Any = next((item for item in keys if isinstance(item, Unknown)), None)
    if cause is not None:
        kinds = {number_kind(item) for item in items}
        ends = [item for item in items if isinstance(item, Unknown) and is_moved(item)]
        if kinds == {"int"} and key is None and not largest and len(ends) == 1 and all_unknown(items):
            # The end of a batch is `min(start + 16, len(files))`: all but the last one are whole.
            return ends[0].moved(0)
        if kinds == {"int"} and key is None and not largest and (whole := whole_window(items)) is not None:
            return whole
        numbers = [item for item in items if type(item) is int]
        if kinds == {"int"} and key is None and not largest and numbers:
            return cause.at_most(min(numbers))
        return cause.another(max(kinds, key=len)) if "" not in kinds else cause.loose()
    best = 0
    try:
        for place in range(1, len(items)):
            run.spend(1)
            if less(run, keys[best], keys[place]) if largest else less(run, keys[place], keys[best]):
                best = place
    except NotComparable as undecided:
        return one_number(items) if one_number(items) is not None else undecided.cause
    return items[best]
