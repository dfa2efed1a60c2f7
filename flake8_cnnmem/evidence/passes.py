"""Runs of a training's step, and which of them stand for all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.loop_turns import Retained, Turn
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@dataclass(slots=True, eq=False)
class Pass:
    """One run of a step: what happens in it, and the ops that run, each with the test that is not known behind which it
    stands. `starts` are the loop's turns that it consists of: how many events came before, and the number of the last
    op before; `last` is the number of its last op. `kept` is what the program still holds at its end."""

    events: list[Event]
    calls: list[tuple[Call, Unknown | None]]
    starts: list[tuple[int, int]]
    last: int
    kept: Sequence[Retained] = ()

    @property
    def first(self) -> int:
        """The number of the last op before it."""
        return self.starts[0][1]

    @property
    def signature(self) -> frozenset[tuple[str, int]]:
        """Which optimizers step, which models are called with a gradient, and whether gradients are taken for
        themselves (a penalty that only some turns have): what two passes of one step share."""
        return frozenset(
            (event.kind, identity_of(event))
            for event in self.events
            if event.kind in ("step", "gradient", "derived") or (event.call is not None and event.call.grad)
        )


def identity_of(event: Event) -> int:
    """What two passes of one step have in common if it happens in both: an optimizer, a model. Of what has no weights
    to train (a loss) the class, as code may make another one in each turn."""
    if event.kind not in ("step", "call"):
        return 0
    subject = seen_through(event.subject)
    trains = event.kind == "step" or event.trainable
    return id(subject if trains or not isinstance(subject, Instance) else subject.cls)


def passed(trace: Trace, turns: Sequence[Turn]) -> Pass:
    """Several turns of a loop, as one run of its step."""
    return joined([
        Pass(trace.events_of(turn), trace.calls_of(turn), [(0, turn.first)], turn.last, turn.kept) for turn in turns
    ])  # fmt: skip


def joined(passes: Sequence[Pass]) -> Pass:
    """Several runs, one after the other, as one."""
    starts: list[tuple[int, int]] = []
    events: list[Event] = []
    for each in passes:
        starts += [(len(events) + before, number) for before, number in each.starts]
        events += each.events
    return Pass(events, [call for each in passes for call in each.calls], starts, passes[-1].last, passes[-1].kept)


def representative(passes: Sequence[Pass]) -> list[Pass]:
    """The largest run of a step, the last of those as large, behind the one before it; where the loop does something
    else in each turn (one optimizer, then the other), all turns are one step."""
    kinds: dict[frozenset[tuple[str, int]], list[Pass]] = {}
    for each in passes:
        kinds.setdefault(each.signature, []).append(each)
    if len(kinds) == 1:
        at = largest(passes)
        return list(passes[max(0, at - 1) : at + 1])
    last = passes[-1].signature
    certain = [each for each in kinds[last] if all(event.doubt is None for event in each.events)]
    if len(kinds[last]) > 1 and certain and all(last >= kind for kind in kinds) and passes[-2].signature == last:
        # From some turn on each does more (an auxiliary loss).
        return certain[-2:]
    taken = [same[largest(same)] for same in kinds.values()]
    return [joined(sorted(taken, key=lambda each: each.first))]


def extended(passes: Sequence[Pass]) -> bool:
    """Whether a single run that does more than those before it was seen, and none of them counts turns: nobody knows
    whether the next ones do as much."""
    last = passes[-1].signature
    alike = [each for each in passes if each.signature == last]
    counts = any(event.turn is not None and event.turn.counts for each in passes for event in each.events)
    return len(alike) == 1 < len(passes) and all(last > each.signature for each in passes[:-1]) and not counts


def largest(passes: Sequence[Pass]) -> int:
    """The place of the run whose models are given the most values, of several as large the one whose ops give most
    (the first makes what later ones find), of these the last one; the last where not all sizes are known."""
    sizes = [given_values(each) for each in passes]
    if None in sizes:
        return len(passes) - 1
    return max(range(len(passes)), key=lambda at: (sizes[at], made_values(passes[at]) if at else 0, at))


def gives_more(one: Pass, other: Pass) -> bool:
    """Whether the models of a run are given more values than those of another one."""
    sizes = given_values(one), given_values(other)
    return sizes[0] is not None and sizes[1] is not None and sizes[0] > sizes[1]


def made_values(run: Pass) -> int:
    """How many values the ops of a run that are made for certain give, as far as their sizes are known."""
    shapes = (tensor.shape for call, doubt in run.calls if doubt is None for tensor in call.outputs)
    known = (shape for shape in shapes if isinstance(shape, tuple) and all(type(size) is int for size in shape))
    return sum(math.prod(size for size in shape if isinstance(size, int)) for shape in known)


def given_values(run: Pass) -> int | None:
    """How many values the models of a step are given with a gradient; None where a size is not known, or depends on
    the batch size."""
    found = 0
    for event in run.events:
        if event.call is not None and event.call.grad:
            for value in (*event.call.args, *event.call.kwargs.values()):
                if isinstance(value, Tensor):
                    shape = value.shape
                    if isinstance(shape, Unknown) or not all(type(size) is int for size in shape):
                        return None
                    found += math.prod(size for size in shape if isinstance(size, int))
    return found


def seen_through(value: Value) -> Value:
    """The model behind wrappers of the framework's own (DataParallel and its like)."""
    while isinstance(value, Instance):
        framework = frameworks.of_layer(value)
        if framework is None or framework.is_model(value):
            return value
        inside = framework.children(value)
        if len(inside) != 1:
            return value
        value = inside[0][1]
    return value
