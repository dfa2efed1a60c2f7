"""How many elements a tf.data pipeline gives: a batch has no more samples than there are.

Kept among a pipeline's facts: `count` is the most that it gives (`math.inf` for what is repeated without end), `fewer`
why it may be fewer, `assumed` that what is taken of a data set of unknown length is all there, `samples` these facts
from before it was batched, `doubt` why a batch may have fewer samples. After `Dataset.cardinality` of TensorFlow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem.dims import Size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

FACTS = ("count", "fewer", "assumed", "samples", "doubt")
Facts = dict[str, Any]


def counted(count: Value) -> Facts:
    """The facts of a source of so many elements; none where that is not known."""
    return {"count": count} if is_count(count) else {}


def is_count(value: Value) -> bool:
    """Whether a value says how many elements there are."""
    return value == math.inf if isinstance(value, float) else type(value) is int and value >= 0


def count_in(value: Value) -> Value:
    """The first axis of the first array of a structure, along which it is cut into elements; None where that is not
    known."""
    if isinstance(value, Tensor):
        return value.shape[0] if isinstance(value.shape, tuple) and value.shape else None
    if isinstance(value, list):
        return len(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return next((count for item in items if type(count := count_in(item)) is int), None)


def count_of_range(args: Sequence[Any]) -> Value:
    """The elements of `Dataset.range(...)`; None where an end is not known."""
    return len(range(*args)) if args and all(type(each) is int for each in args) and 0 not in args[2:] else None


def without(facts: Facts) -> Facts:
    """Facts of a pipeline of which nobody knows how many elements it gives."""
    return {word: value for word, value in facts.items() if word not in FACTS}


def with_count(facts: Facts, count: Value) -> Facts:
    """The same pipeline with another number of elements, its doubts kept."""
    if not is_count(count):
        return without(facts)
    return {**{word: value for word, value in facts.items() if word != "samples"}, "count": count}


def taken(run: Runtime, facts: Facts, number: Value) -> Facts:
    """`take(number)`"""
    if type(number) is not int:
        return without(facts)
    if number < 0:
        return facts
    if "count" not in facts:
        return {**facts, "count": number, "assumed": True}
    return with_count(facts, min(facts["count"], number))


def skipped(run: Runtime, facts: Facts, number: Any) -> Facts:
    """`skip(number)`"""
    known = type(number) is int and "count" in facts
    return with_count(facts, max(facts["count"] - number, 0) if known and number >= 0 else 0 if known else None)


def repeated(run: Runtime, facts: Facts, number: Value = None) -> Facts:
    """`repeat(number)`: without end where no number is given. How many times it is does not matter to one that has more
    than a batch; of one with less, nobody knows."""
    if number is None or number == -1:
        return {**without(facts), "count": math.inf}
    known = type(number) is int and "count" in facts
    return with_count(facts, facts["count"] * number if known else None)


def sharded(run: Runtime, facts: Facts, number: Value = None, index: Value = 0) -> Facts:
    """`shard(number, index)`: each `number`-th element."""
    known = type(number) is int and number > 0 and type(index) is int and isinstance(facts.get("count"), int)
    return with_count(facts, max(-(-(facts["count"] - index) // number), 0) if known else None)


def picked(run: Runtime, facts: Facts, *args: Value) -> Facts:
    """`filter` and its like, which leave elements out."""
    why = run.unknown("how many elements are left of a data set is not known")
    return {**facts, "fewer": replace(why, upper=True)} if "count" in facts else facts


def uncounted(run: Runtime, facts: Facts, *args: Value) -> Facts:
    """What gives another number of elements."""
    return without(facts)


RULES: dict[str, Callable[..., Facts]] = {
    "take": taken, "skip": skipped, "repeat": repeated, "shard": sharded, "filter": picked, "take_while": picked,
    "ignore_errors": picked, "rejection_resample": picked,
}  # fmt: skip
"""What methods that keep the elements as they are make of their number."""


FEW_BATCHES = 8
"""What is left of more batches than these is taken to make one at least."""


def size_of(run: Runtime, facts: Facts, asked: Size, remainder: bool) -> tuple[Size, Unknown | None]:
    """The samples of the largest batch, where batches are asked for of so many; and why there may be fewer."""
    count: Any = facts.get("count")
    if type(asked) is not int or count is None:
        return asked, None
    if count >= asked:
        # Of data that makes few batches what is left of it may make none.
        return asked, facts.get("fewer") if count < FEW_BATCHES * asked else None
    if remainder or count == 0:
        return asked, replace(run.unknown(f"a data set of {count} elements gives no batch of {asked}"), upper=True)
    return count, facts.get("fewer")


def after_batching(facts: Facts, asked: Size, remainder: bool) -> Facts:
    """The facts of number of what is cut into batches."""
    count = facts.get("count")
    if type(asked) is not int or count is None:
        return {}
    if count == math.inf:
        return {"count": count, "samples": {"count": count}}
    before = {word: facts[word] for word in FACTS if word in facts}
    if remainder:
        before["count"] = count - count % asked
    return {**before, "count": count // asked if remainder else -(-count // asked), "samples": before}


def last_of(facts: Facts, size: Value) -> int | None:
    """How many samples the last batch has where these are fewer than in the others, each of this size."""
    before, count = facts.get("samples"), facts.get("count")
    samples = before.get("count") if isinstance(before, dict) else None
    if type(samples) is not int or type(count) is not int or type(size) is not int:
        return None
    left = samples - (count - 1) * size
    return left if 0 < left < size else None


def after_unbatching(facts: Facts, size: Value) -> Facts:
    """The facts of number of a pipeline whose batches, of this size but for the last one, are taken apart."""
    samples, count = facts.get("samples"), facts.get("count")
    if isinstance(samples, dict):
        return dict(samples)
    return {"count": count * size, "assumed": True} if count is not None and type(size) is int else {}


def of_all(parts: Sequence[Facts], combine: Callable[[Iterable[Any]], Value]) -> Facts:
    """The facts of number of several pipelines as one: `min` for those that go side by side."""
    counts = [part.get("count") for part in parts]
    if not parts or any(count is None for count in counts):
        return {}
    doubts: Facts = {word: part[word] for part in parts for word in ("fewer", "assumed") if word in part}
    return {**doubts, "count": combine(counts)}


def windows(run: Runtime, facts: Facts, size: Any, shift: Any, stride: Any, drop_remainder: Value) -> Facts:
    """`window(size, shift, stride, drop_remainder)`: of those with fewer elements nobody asks what becomes of them."""
    count = facts.get("count")
    if not all(type(each) is int and each > 0 for each in (count, size, shift, stride)):
        return without(facts)
    assert count is not None
    if drop_remainder is True:
        return with_count(facts, max((count - (size - 1) * stride - 1) // shift + 1, 0))
    why = run.unknown("what becomes of the last windows is not followed")
    return {**with_count(facts, -(-count // shift)), "fewer": replace(why, upper=True)}


def of_each(outer: Facts, inner: Facts) -> Facts:
    """The facts of number of data sets one after the other, one for each element."""
    times, count = outer.get("count"), inner.get("count")
    if type(times) is not int or type(count) is not int:
        return {}
    doubts: Facts = {word: part[word] for part in (inner, outer) for word in ("fewer", "assumed") if word in part}
    return {**doubts, "count": times * count}


def length(run: Runtime, facts: Facts) -> Value:
    """`len(dataset)`: a number where it is known, and ends."""
    count = facts.get("count")
    known = isinstance(count, int) and "fewer" not in facts and "assumed" not in facts
    return count if known else run.unknown("how many items a data set has is not known")
