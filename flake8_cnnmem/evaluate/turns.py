"""How many turns a loop makes, which of them are passed over, and whether it may be left."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Stream, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

COUNTED = (type(iter(range(0))), type(iter(range(10**30))))
"""Iterators over numbers that only count: every round after the first is like it."""

FINITE: tuple[type[Any], ...] = (*COUNTED, type(iter([])), type(iter(())))
"""Iterators that tell how many items are left."""


def is_too_long(before: int, now: int, rounds: int, items: Iterator[Value]) -> bool:
    """Whether a loop would use the budget up, if all its rounds took as many steps as those so far; where nobody knows
    how many there are, whether it has used up half of it."""
    if not isinstance(items, FINITE):
        return before - now > now
    left = turns_of(items)
    return left is None or (before - now) // rounds * left > now


def passed_over(run: Interpreter, items: Iterator[Value], turns: int) -> bool:
    """Pass over the turns before the one that does something new, so many turns from here; whether there is one."""
    if not turns:
        return False
    # Until the next turn begins.
    run.trace.skipping = True
    for _ in range(turns - 1):
        run.spend(1)
        next(items, MISSING)
    return True


def turns_of(items: object) -> int | None:
    """How many turns a loop over a finite iterator has; None for more than the host can count."""
    try:
        return operator.length_hint(items)
    except OverflowError:
        return None


MOST_PASSED = 256
"""Items of numbered data that are passed over to come to a turn that does something else."""


def differ(items: Iterator[Value]) -> bool:
    """Whether among the numbers (or pairs of them) that are left of a list or tuple is one that was not gone through
    yet."""
    if isinstance(items, COUNTED) or not isinstance(items, FINITE):
        return False
    reduced: Any = items.__reduce__()
    if len(reduced) < 3:
        return False
    whole, at = reduced[1][0], reduced[2]
    if len(whole) > MOST_PASSED or not all(map(is_plain, whole)):
        return False
    return not set(whole[at:]) <= set(whole[:at])


def is_plain(item: Value) -> bool:
    """Whether an item is a number or text, or a tuple of nothing else."""
    return type(item) in (int, float, str) or (type(item) is tuple and all(map(is_plain, item)))


def is_of_a_stream(items: object) -> bool:
    """Whether what a loop goes through is data of which one item stands for all, numbered or zipped or as it is."""
    if isinstance(items, (enumerate, zip)):
        sources = items.__reduce__()[1]
        return any(map(is_of_a_stream, sources))
    return type(items) is Stream


def unsaid_of(items: object) -> Unknown | None:
    """Why it is not known how many items an iterator gives, where one stands for all that draws on a data set: mapped,
    filtered, numbered or zipped, or as it is."""
    if isinstance(items, (enumerate, zip, map, filter)):
        sources = items.__reduce__()[1]
        return next((cause for cause in map(unsaid_of, sources) if cause is not None), None)
    return items.unsaid if type(items) is Stream else None


class Sliced(islice):  # type: ignore[type-arg]
    """An `islice` of the program's, which can say what it draws on and how many items it gives at most, if that is
    bounded."""

    source: Iterator[Value]
    most: int | None

    @classmethod
    def of(cls, source: Iterator[Value], bounds: tuple[int | None, ...]) -> Sliced:
        """The items of an iterator between these bounds: `stop`, or `start, stop, step`."""
        made = cls(source, *bounds)
        first, stop, *step = bounds if len(bounds) > 1 else (0, *bounds)
        made.source = source
        made.most = None if stop is None else len(range(first or 0, stop, (step and step[0]) or 1))
        return made


def taken_and_most(items: object) -> tuple[int, int | None]:
    """How many items the program has taken of a stream before a loop goes through it, and how many the loop takes at
    most where `islice`, or what is zipped with it, says so."""
    if type(items) is Stream:
        return items.taken, None
    if isinstance(items, FINITE):
        return 0, turns_of(items)
    if not isinstance(items, (enumerate, zip, Sliced)):
        return 0, None
    sources = (items.source,) if isinstance(items, Sliced) else items.__reduce__()[1]
    inside = [taken_and_most(source) for source in sources if isinstance(source, Iterator)]
    most = [each for _, each in inside if each is not None]
    if isinstance(items, Sliced) and items.most is not None:
        most.append(items.most)
    return max((taken for taken, _ in inside), default=0), min(most, default=None)


def number_of(item: Value) -> int | None:
    """What a loop counts a turn as: its item, or the number that `enumerate` gives with one."""
    number = item[0] if isinstance(item, tuple) and len(item) == 2 else item
    return number if type(number) is int else None


def turns_until(items: Iterator[Value], item: Value, wanted: int) -> int:
    """How many turns from the one with this item a loop over a range, or over numbered data of known length, comes to
    a number; 0 where it does not."""
    number = number_of(item)
    if number is None or wanted <= number:
        return 0
    if isinstance(items, enumerate):
        source = items.__reduce__()[1][0]
        length = getattr(source.again, "length", None) if isinstance(source, Stream) else None
        return wanted - number if length is not None and wanted - number <= MOST_PASSED else 0
    if not isinstance(items, COUNTED) or type(item) is not int:
        return 0
    counted = items.__reduce__()[1][0]
    step = counted.step if isinstance(counted, range) else 0
    turns = -(-(wanted - item) // step) if step > 0 else 0
    left = turns_of(items)
    return turns if left is not None and turns <= left else 0


def may_break(statement: ast.AST) -> bool:
    """Whether a statement of a loop's body may leave that loop by `break`."""
    if isinstance(statement, ast.Break):
        return True
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        return any(map(may_break, statement.orelse))
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    inner = ast.iter_child_nodes(statement)
    return any(may_break(each) for each in inner if isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)))
