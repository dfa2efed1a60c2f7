"""Training steps as the code runs them: which models, optimizers and loaders take part in one and the same step.

A round is what a training loop does once: from the first thing that happens in it to the last optimizer's step
before it begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.trace import Event, RootCall
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Instance, Value


@dataclass(slots=True)
class Round:
    """One pass through a training loop's body. `loaders` are those that it draws from, the first one first."""

    events: list[Event] = field(default_factory=list)
    loaders: list[Instance] = field(default_factory=list)

    @property
    def calls(self) -> list[RootCall]:
        """The calls of models, in order."""
        return [event.call for event in self.events if event.call is not None]

    @property
    def optimizers(self) -> list[Instance]:
        """Those that make a step, each once."""
        found = {id(event.subject): event.subject for event in self.events if event.kind == "step"}
        return [optimizer for optimizer in found.values() if isinstance(optimizer, Instance)]

    @property
    def losses(self) -> list[Tensor]:
        """What the backward passes start from, where it is known."""
        sources = [event.subject for event in self.events if event.kind == "backward"]
        return [source for source in sources if isinstance(source, Tensor)]


def rounds_of(events: Sequence[Event]) -> list[Round]:
    """The rounds of an evaluation in order, those that do the same as an earlier one left out."""
    found: dict[tuple[object, ...], Round] = {}
    drawn: list[Instance] = []
    for passed in divided(events):
        loaders, body = without_preparation(passed)
        drawn = loaders or drawn
        each = Round(body, drawn)
        key = tuple(sorted({identity(event) for event in body if event.kind in ("call", "step")}))
        found.setdefault(key, each)
    return list(found.values())


def divided(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each round: a round is over when, after a step, something begins again."""
    gathered: list[Event] = []
    seen: set[tuple[str, int, int]] = set()
    last_step = 0
    for event in events:
        key = identity(event)
        if last_step and event.kind in ("iterate", "call", "step") and (key in seen or event.kind == "iterate"):
            yield gathered[:last_step]
            gathered = gathered[last_step:]
            seen = {identity(each) for each in gathered}
            last_step = 0
        gathered.append(event)
        seen.add(key)
        if event.kind == "step":
            last_step = len(gathered)
    if last_step:
        yield gathered[:last_step]


def identity(event: Event) -> tuple[str, int, int]:
    """What happens, to whom and where."""
    return event.kind, id(event.subject) if event.kind != "backward" else 0, id(event.site)


def without_preparation(events: list[Event]) -> tuple[list[Instance], list[Event]]:
    """The loaders that are drawn from last before the first step, and what happens from then on.

    What was called before (a summary, a validation pass) is no part of the step.
    """
    first_step = next(at for at, event in enumerate(events) if event.kind == "step")
    first_backward = next((at for at, event in enumerate(events) if event.kind == "backward"), first_step)
    before = min(first_step, first_backward)
    last = next((at for at in range(before - 1, -1, -1) if events[at].kind == "iterate"), None)
    if last is None:
        return [], events
    first = last
    while first > 0 and events[first - 1].kind == "iterate":
        first -= 1
    loaders = [event.subject for event in events[first : last + 1] if isinstance(event.subject, Instance)]
    return loaders, events[last + 1 :]


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


def wrappers_of(value: Value) -> Iterator[Instance]:
    """The wrappers around a model, outermost first."""
    model = seen_through(value)
    while isinstance(value, Instance) and value is not model:
        yield value
        framework = frameworks.of_layer(value)
        assert framework is not None
        value = framework.children(value)[0][1]
