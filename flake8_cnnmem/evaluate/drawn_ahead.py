"""What a loop is still to be given by an iterator that makes its items one by one: a generator of the program's own, a
filter, a generator expression. Where its turns only repeat, items are drawn ahead of them, without the body, to see
whether one of them is larger than all that were gone through, or another number."""

from __future__ import annotations

import gc
import math
import operator
from collections.abc import Iterator, Sequence
from itertools import islice
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.turns import COUNTED, FINITE, MOST_PASSED, is_of_a_stream, is_plain
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_AHEAD = 1_500
"""Items that are drawn ahead of a loop's turns."""

AHEAD_STEPS = 60_000
"""Steps that this may take."""

TURN_STEPS = 120_000
"""Steps that a loop may take for turns that are told apart by numbers alone."""

MOST_BEHIND = 16
"""Items behind the largest that are kept."""

HOW_DEEP = 4
"""How many of containers and objects in each other are looked through for tensors."""


class DrawnAhead(Iterator[Value]):
    """An iterator's items in order, and on demand those of them that differ from what it has given."""

    __slots__ = ("behind", "items", "layers", "numbered", "passed", "run", "seen", "started", "values", "waiting")

    def __init__(self, run: Interpreter, items: Iterator[Value]) -> None:
        self.run = run
        self.items = items
        self.numbered = isinstance(items, enumerate)
        self.waiting: list[Value] = []
        """Items that were drawn and are still to be gone through."""
        self.behind: list[Value] = []
        """Those that come after the largest, for turns that gather gradients until one that steps."""
        self.seen: set[Any] = set()
        self.layers: list[Value] = []
        """What was given that is a layer, or one with its name, and is still to be noted."""
        self.values = 0.0
        """How many values the largest item has that was given."""
        self.passed = 0
        """How many items were passed over."""
        self.started = run.budget.steps

    def __next__(self) -> Value:
        drawn = self.waiting or self.behind
        item = drawn.pop(0) if drawn else next(self.items)
        given = self.given(item)
        if holds_layer(given):
            # A walk over the parts of a model, of which nothing is asked but in a loop that trains.
            self.layers.append(given)
        else:
            self.note(given)
        return item

    def note(self, given: Value) -> None:
        """Note what a turn is given."""
        self.seen |= {given} if is_plain(given) else {shapes_in(given)}
        self.values = max(self.values, values_in(given))

    def __length_hint__(self) -> int:
        return len(self.waiting) + len(self.behind) + operator.length_hint(self.items)

    def given(self, item: Value) -> Value:
        """What a turn is given, without the number that `enumerate` puts before it."""
        return item[1] if self.numbered and isinstance(item, tuple) and len(item) == 2 else item

    def goes_on(self, gathers: bool) -> bool:
        """Whether a later item is larger than those that were given, or another number: the next turn is given it. With
        `gathers` the last turn has not stepped: the one that steps is to come."""
        if self.behind:
            return gathers
        if self.waiting:
            return self.started - self.run.budget.steps < TURN_STEPS
        while self.layers:
            self.note(self.layers.pop())
        largest: Value = MISSING
        most = self.values
        others: list[Value] = []
        for item in self.drawn():
            given = self.given(item)
            if is_plain(given):
                others += [item] if given not in self.seen else []
                self.seen.add(given)
            elif values_in(given) > most:
                largest, most = item, values_in(given)
                self.behind = []
                others = []
            elif most and values_in(given) == most and len(others) < MOST_BEHIND and shapes_in(given) not in self.seen:
                # As many values in other axes: of which more is computed is seen.
                self.seen.add(shapes_in(given))
                others.append(item)
            elif largest is not MISSING and len(self.behind) < MOST_BEHIND:
                self.behind.append(item)
        if largest is not MISSING:
            self.waiting = [largest]
        elif self.passed <= MOST_PASSED or not all(map(is_plain, map(self.given, others))):
            self.waiting = others
        self.passed -= len(self.waiting) + len(self.behind)
        return bool(self.waiting)

    def drawn(self) -> Iterator[Value]:
        """The items behind those that were given, as far as they are soon made and no model is called for them. What is
        done on the way is no part of any turn."""
        run = self.run
        trace, before, depth = run.trace, run.budget.steps, run.budget.depth
        frame, invocation, noted = run.frame, run.invocation, len(run.trace.events)
        recording, trace.recording = trace.recording, False
        try:
            while self.passed < MOST_AHEAD and before - run.budget.steps < AHEAD_STEPS:
                run.spend(1)
                item = next(self.items, MISSING)
                if item is MISSING or any(event.kind != "iterate" for event in trace.events[noted:]):
                    return
                del trace.events[noted:]
                self.passed += 1
                yield item
        except Raised:
            # It may ask for what the turns between would have done.
            run.budget.depth, run.frame, run.invocation = depth, frame, invocation
        finally:
            trace.recording = recording


def holds_layer(item: Value) -> bool:
    """Whether an item of a loop is a layer, or a pair of its name and a layer."""
    last = item[1] if type(item) is tuple and len(item) == 2 and type(item[0]) is str else item
    return type(last) is Instance and frameworks.is_layer(last)


def one_by_one(run: Interpreter, items: Iterator[Value]) -> Iterator[Value]:
    """The items of a loop, to be drawn ahead where nobody else says what they are."""
    return items if isinstance(items, FINITE) or is_of_a_stream(items) else DrawnAhead(run, items)


def goes_on(run: Interpreter, items: Iterator[Value], gathers: bool) -> bool:
    """Whether one of the items that are left is larger than those that a loop was given, or another number: the next
    turn is given it."""
    if run.trace.repeating:
        return False
    return items.goes_on(gathers) if isinstance(items, DrawnAhead) else comes_to_largest(run, items)


def comes_to_largest(run: Interpreter, items: Iterator[Value]) -> bool:
    """Pass over the items of a list or tuple that stand before one larger than all that were gone through; whether
    there is one."""
    if isinstance(items, COUNTED) or not isinstance(items, FINITE):
        return False
    reduced: Any = items.__reduce__()
    if len(reduced) < 3 or len(reduced[1][0]) > MOST_AHEAD:
        return False
    whole, at = reduced[1][0], reduced[2]
    run.spend(len(whole) // 8)
    sizes = list(map(values_in, whole))
    most = max(sizes[at:], default=0)
    if most <= max(sizes[:at], default=0):
        return False
    for _ in range(sizes.index(most, at) - at):
        next(items, MISSING)
    return True


def passed(items: Iterator[Value]) -> bool:
    """Whether items were drawn that no turn was given."""
    return isinstance(items, DrawnAhead) and items.passed > 0


def values_in(item: Value, depth: int = HOW_DEEP) -> float:
    """How many values the tensors in an item have, as far as their sizes are known."""
    if isinstance(item, Tensor):
        shape = item.shape
        return 0 if isinstance(shape, Unknown) else math.prod(size for size in shape if type(size) is int)
    if not depth:
        return 0
    inner = item
    if type(item) is Instance:
        inner = item.attributes if item.payload is None else item.payload
    held = inner.values() if isinstance(inner, dict) else inner if isinstance(inner, (tuple, list)) else ()
    return sum(values_in(each, depth - 1) for each in list(held)[:MOST_PASSED])


def shapes_in(item: Value) -> tuple[Any, ...]:
    """The shapes of the tensors in an item, and in what it holds."""
    if isinstance(item, Tensor):
        shape = () if isinstance(item.shape, Unknown) else item.shape
        return tuple(size if type(size) is int else None for size in shape)
    inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, (tuple, list)) else ()
    return tuple(shapes_in(each) for each in list(inner)[:MOST_PASSED])


def inside_sources(sources: Sequence[object], depth: int = HOW_DEEP) -> Iterator[tuple[str, Value]]:
    """What lies in the iterators that a loop goes through: the variables of a generator function that is to go on, and
    objects of the program's own that make the items."""
    for source in sources:
        if type(source) is Instance and source.site is not None and not frameworks.is_layer(source):
            yield source.cls.name, source
        elif isinstance(source, GeneratorType) and source.gi_frame is not None:
            local = source.gi_frame.f_locals
            frame = local.get("frame")
            yield from frame.variables.items() if isinstance(frame, Frame) else ()
            yield from inside_sources([local.get("iterator")])
        elif isinstance(source, DrawnAhead):
            yield from inside_sources([source.items], depth)
        elif depth and isinstance(source, (enumerate, zip, map, filter, islice)):
            yield from inside_sources(gc.get_referents(source), depth - 1)
