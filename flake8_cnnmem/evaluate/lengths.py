"""How many items a sequence has that nobody knows: as a number that is computed with, so that what is filled up to a
stated length has it (`ids[:64] + [0] * (64 - len(ids))`)."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.dims import Size
from flake8_cnnmem.evaluate import joins
from flake8_cnnmem.runtime import so_many
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_FILLED = 65_536
"""A list that is filled up to more items than this is not followed."""

NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def length_of(run: Interpreter, value: Value) -> int | Unknown | None:
    """The length of a list, tuple or part of something in a row; None of what may have none, or of which nothing tells
    it from another one's."""
    if isinstance(value, Unknown):
        return value.items if value.items is not None else value.length
    if not isinstance(value, (list, tuple)):
        return None
    lost = run.havocked.get(id(value)) if run.havocked else None
    if lost is None:
        return len(value)
    held, size, known = run.lengths.get(id(value), (None, 0, None))
    # One that is changed loses it (`changes.changed`), one that is put back has no longer as many items.
    if held is not value or size != len(value) or known is None:
        known = any_length(lost[1])
        run.lengths[id(value)] = (value, len(value), known)
    return known


def any_length(cause: Unknown, most: float = math.inf) -> Unknown:
    """A length of which nothing is known, but that it is no more than `most`. Copies of it are the same number."""
    found = cause.at_most(int(most)) if most < math.inf else cause.drawn("int", 0, most, False)
    return found.moved(0)


def of_length(run: Interpreter, item: Value, length: int | Unknown, cause: Unknown) -> Value:
    """So many items of which one stands for all; MISSING for `item` where none does."""
    if isinstance(length, int) and length <= MOST_FILLED:
        run.spend(max(length, 0) // 64)
        return [cause.loose() if item is MISSING else item] * length
    if isinstance(length, int):
        length = any_length(cause)
    if item is MISSING:
        return cause.so_long(length)
    made = so_many(run, item, cause.loose())
    run.lengths[id(made)] = (made, len(made), length)
    return made


def comprehended(run: Interpreter, given: Value, item: Value, cause: Unknown, whole: bool) -> Value:
    """What a comprehension makes of a sequence that is not known: an item for each, or (not `whole`) some."""
    length = length_of(run, given)
    if length is None or not whole:
        length = any_length(cause, math.inf if length is None else bounds(run, length)[1])
    return of_length(run, item, length, cause)


def bounds(run: Interpreter, number: int | Unknown) -> tuple[float, float]:
    """The least and the most that a whole number may be, with what the tests around say of it."""
    if isinstance(number, int):
        return number, number
    base, times, more = number.place or (number, 1, 0)
    low, high = base.span[:2] if base.span is not None else (-math.inf, math.inf)
    # The smaller of two counts is one itself.
    low = max(low, 0) if high < math.inf else low
    for asked, least, most in run.assumed:
        if asked.is_number(base):
            low, high = max(low, least), min(high, most)
    ends = sorted((times * low + more, times * high + more)) if times else [more, more]
    return ends[0], ends[1]


@contextmanager
def assumed(run: Interpreter, cause: Unknown, holds: bool) -> Iterator[None]:
    """Inside of a side of a branch its test is known to hold, or not to: `len(ids) < 64`."""
    found = bounds_of(cause, holds)
    if found is None:
        yield
        return
    run.assumed.append(found)
    try:
        yield
    finally:
        run.assumed.remove(found)


def bounds_of(cause: Unknown, holds: bool) -> tuple[Unknown, float, float] | None:
    """What a comparison of a length with a number says of the length where it holds, or does not."""
    if cause.asks is None:
        return None
    number, symbol, other = cause.asks
    symbol = symbol if holds else NEGATED[symbol]
    base, times, more = number.place or (number, 1, 0)
    if times != 1:
        return None
    limit = other - more
    if symbol in ("<", "<="):
        return base, -math.inf, limit - (symbol == "<")
    return base, limit + (symbol == ">"), math.inf


def sliced(run: Interpreter, value: Value, key: slice) -> Value:
    """`ids[:64]` of such a sequence: no more than 64, just as many where it has as many; MISSING for another part."""
    if key.step not in (None, 1) or key.start not in (None, 0) or type(key.stop) is not int or key.stop < 0:
        return MISSING
    before = length_of(run, value)
    low, high = bounds(run, before) if before is not None else (0, math.inf)
    cause = value if isinstance(value, Unknown) else run.havocked[id(value)][1]
    item = MISSING if isinstance(value, Unknown) else run.sample(value)
    if low >= key.stop:
        # What is no list may be a text, an array, a table.
        return value.part(key.stop) if isinstance(value, Unknown) else of_length(run, item, key.stop, cause)
    if isinstance(before, Unknown) and high <= key.stop:
        return of_length(run, item, before, cause)
    left = before.cut(key.stop) if isinstance(before, Unknown) else any_length(cause, key.stop)
    return of_length(run, item, left, cause)


def cut_to(run: Interpreter, size: Unknown, stop: int) -> int | Unknown:
    """What `[:stop]` leaves of an axis of which nobody knows how long it is."""
    low, high = bounds(run, size) if size.number == "int" and size.place is not None else (0, math.inf)
    if low >= stop:
        return stop
    return size if high <= stop else size.cut(stop)


def either_size(run: Interpreter, left: Size, right: Size, cause: Unknown) -> Size:
    """One of two sizes of an axis, `left` where a test holds: what the test says of a number that they are computed
    from bounds it (`if len(sound) < 64: sound = np.pad(...)` leaves no less than 64)."""
    ends: list[tuple[float, float]] = []
    for size, holds in ((left, True), (right, False)):
        if not isinstance(size, (int, Unknown)) or (isinstance(size, Unknown) and size.place is None):
            return cause
        with assumed(run, cause, holds):
            ends.append(bounds(run, size))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low == high:
        return int(low)
    return cause.drawn("int", max(low, 0), high, high < math.inf).moved(0) if low > 0 or high < math.inf else cause


def repeated(run: Interpreter, value: Value, times: Value) -> Value:
    """`[0] * (64 - len(ids))`: a list of one item so often; MISSING for another product."""
    if type(value) is not list or len(value) != 1 or not isinstance(times, Unknown) or times.number != "int":
        return MISSING
    if run.havocked and id(value) in run.havocked:
        return MISSING
    # Less than no items are none.
    enough = bounds(run, times)[0] >= 0
    return of_length(run, value[0], times if enough else any_length(times), times)


def added(run: Interpreter, left: Value, right: Value) -> Value:
    """Two sequences one behind the other, of which one at least is not known; MISSING where nothing is known of it."""
    first, second = length_of(run, left), length_of(run, right)
    if first is None or second is None or (isinstance(left, tuple) or isinstance(right, tuple)):
        return MISSING
    unknown: Any = first if isinstance(first, Unknown) else second
    if not isinstance(unknown, Unknown):
        return MISSING
    total, cause = total_of(first, second), cause_of(run, left, right)
    if isinstance(total, Unknown) and (isinstance(left, Unknown) or isinstance(right, Unknown)):
        # A list, or an array to which the numbers of one are added.
        return cause.so_long(total)
    return of_length(run, item_of(run, (left, right), unknown), total, cause)


def in_a_row(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """A sum or product of sequences of which one, or how often it is repeated, is not known; MISSING where that says
    nothing of its length."""
    if symbol == "+":
        return added(run, left, right)
    if symbol != "*":
        return MISSING
    return repeated(run, left, right) if isinstance(left, list) else repeated(run, right, left)


def cause_of(run: Interpreter, left: Value, right: Value) -> Unknown:
    """Why the one of two sequences that is not known is not."""
    for each in (left, right):
        if isinstance(each, Unknown):
            return each
        if id(each) in run.havocked:
            return run.havocked[id(each)][1]
    raise AssertionError("both are known")


def total_of(first: int | Unknown, second: int | Unknown) -> int | Unknown:
    """The sum of two lengths."""
    if isinstance(first, int):
        return first + second if isinstance(second, int) else second.moved(first)
    if isinstance(second, int):
        return first.moved(second)
    total = first.plus(second)
    return any_length(first) if total is None else total


def item_of(run: Interpreter, sides: tuple[Value, Value], cause: Unknown) -> Value:
    """What stands for any item of either side; MISSING where nothing does. Beside a whole number, as what pads a text,
    what is not known is one."""
    certain: list[Value] = []
    unknown = False
    for side in sides:
        if isinstance(side, Unknown):
            unknown = True
        elif id(side) in run.havocked:
            sample = run.sample(side)
            unknown = unknown or sample is MISSING
            certain += [] if sample is MISSING else [sample]
        else:
            assert isinstance(side, (list, tuple))
            certain += side
    if not certain:
        return MISSING
    if all(type(item) is int or (isinstance(item, Unknown) and item.number == "int") for item in certain):
        alike = certain[0] if len(certain) == 1 or all(item == certain[0] for item in certain) else None
        return alike if alike is not None and not unknown else cause.another("int")
    found = joins.one_of(run, certain, cause)
    return MISSING if isinstance(found, Unknown) and not found.number else found


def either(run: Interpreter, left: Value, right: Value, cause: Unknown) -> Value:
    """One of two lists of which one at least is not known, `left` where a test holds: as long as both are; MISSING
    where that is not known."""
    first, second = length_of(run, left), length_of(run, right)
    if first is None or second is None:
        return MISSING
    with assumed(run, cause, True):
        low, high = bounds(run, first)
    with assumed(run, cause, False):
        least, most = bounds(run, second)
    most, least = max(high, most), min(low, least)
    if most == math.inf:
        return MISSING
    item = item_of(run, (left, right), cause)
    why = cause_of(run, left, right)
    return of_length(run, item, int(most) if most == least else any_length(why, most), why)


def filled_up(run: Interpreter, held: Value, item: Callable[[], Value], limit: Callable[[], Value]) -> bool:
    """`while len(ids) < 64: ids.append(0)`: whether the list has as many now."""
    if not isinstance(held, list) or not run.havocked or id(held) not in run.havocked:
        return False
    known, length = length_of(run, held), limit()
    if not isinstance(known, Unknown) or type(length) is not int:
        return False
    if bounds(run, known)[1] > length or length > MOST_FILLED:
        return False
    cause = run.havocked[id(held)][1]
    one = item_of(run, (held, [item()]), cause)
    run.changed(held)
    held[:] = [cause.loose() if one is MISSING else one] * length
    del run.havocked[id(held)]
    return True


def lengthened(run: Interpreter, held: list[Value], items: Value) -> bool:
    """`ids.extend([0] * (64 - len(ids)))`: whether that is what was done."""
    lost = run.havocked or {}
    if id(held) not in lost and not isinstance(items, Unknown) and id(items) not in lost:
        return False
    first, second = length_of(run, held), length_of(run, items)
    if first is None or second is None:
        return False
    total, cause = total_of(first, second), cause_of(run, held, items)
    if isinstance(total, int) and total > MOST_FILLED:
        return False
    item = item_of(run, (held, items), cause)
    run.changed(held)
    if isinstance(total, int):
        held[:] = [cause.loose() if item is MISSING else item] * total
        run.havocked.pop(id(held), None)
        return True
    run.havoc(held, cause)
    if item is not MISSING:
        run.note_sample(held, [item])
    run.lengths[id(held)] = (held, len(held), total)
    return True


def appended_once(body: Sequence[ast.stmt]) -> list[str]:
    """The variables to which every turn of a loop appends one item, and with which it does nothing else."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    if any(isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Yield)) for node in nodes):
        return []
    used = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    calls = [each.value for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "append"]
    names = [method.value.id for method in methods if isinstance(method.value, ast.Name)]
    return [name for name in names if used[name] == 1]


@contextmanager
def one_for_each(run: Interpreter, items: Value, lists: Sequence[Value]) -> Iterator[None]:
    """A loop over what is not known, each turn of which appends one item to these lists: they are as long as that."""
    before = [(held, length_of(run, held)) for held in lists if type(held) is list]
    turns = length_of(run, items) if before else None
    yield
    for held, length in before:
        if turns is not None and length is not None and id(held) in run.havocked:
            total = total_of(length, turns)
            if isinstance(total, Unknown):
                run.lengths[id(held)] = (held, len(held), total)
