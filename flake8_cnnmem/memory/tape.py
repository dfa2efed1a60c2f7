"""What the forward pass leaves for the backward pass: one node for each op that a gradient goes through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TypeAlias

from flake8_cnnmem.graph import Call, Invocation, OwnBackward, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.plan import Plan
from flake8_cnnmem.memory.storages import Form, Storage, Value

Keyed: TypeAlias = "tuple[int, Value]"
"""A value with the key (a tensor's id) under which its gradient is asked for."""


@dataclass(slots=True, eq=False)
class TapeNode:
    """An op on the tape. `saved` are storages that it holds."""

    label: Call
    plan: Plan
    operands: Sequence[Keyed]
    """Its inputs and then its weights, as its backward sees them; it holds no memory by them."""
    results: Sequence[Keyed]
    saved: list[Storage]
    fetched: tuple[Line, ...] = ()
    """What waits in the host's memory, and is on the device for the time of its backward."""
    number: int = 0
    """By which a backward pass takes it: of two that are ready the higher one first."""
    whole: Form | None = None
    """Of an op that wrote into a view: how the tensor lies that this is a view of. `operands` and `results` then have
    the view, by the keys of that one."""
    gives: list[int] = field(init=False)
    """The keys of its results."""
    asks: list[int] = field(init=False)
    """The keys of its operands."""

    def __post_init__(self) -> None:
        self.wire(self.operands, self.results)

    def wire(self, operands: Sequence[Keyed], results: Sequence[Keyed]) -> None:
        """Let it stand between these."""
        self.operands, self.results = operands, results
        self.gives = [key for key, _ in results]
        self.asks = [key for key, _ in operands]


@dataclass(slots=True, eq=False)
class Region:
    """A checkpointed stretch: run again, with a tape, when its backward comes."""

    steps: Sequence[TapeStep]
    outer: dict[int, Value]
    """What it reads from outside, held until then."""
    results: tuple[int, ...]
    """Keys of the tensors that are read after it."""
    reentrant: bool = False
    ends: int = 0
    """The number of the op before which the second run of a checkpoint ends that is not reentrant: all that the
    backward pass reads is there again by then."""

    @property
    def label(self) -> Call:
        return calls_in(self.steps)[0]

    @property
    def saved(self) -> list[Storage]:
        return [value.storage for value in self.outer.values()]

    @property
    def gives(self) -> list[int]:
        return list(self.results)

    @property
    def asks(self) -> list[int]:
        return list(self.outer)


@dataclass(slots=True, eq=False)
class WrittenBackward:
    """A stretch whose backward pass the code itself writes."""

    label: Call
    backward: OwnBackward
    values: dict[int, Value]
    """What it saves, held until then."""
    operands: Sequence[Keyed]
    """The arguments that ask for a gradient."""

    @property
    def saved(self) -> list[Storage]:
        return [value.storage for value in self.values.values()]

    @property
    def gives(self) -> list[int]:
        return [id(tensor) for tensor in self.backward.results]

    @property
    def asks(self) -> list[int]:
        return [key for key, _ in self.operands]


Entry = TapeNode | Region | WrittenBackward


@dataclass(slots=True, eq=False)
class Stretch:
    """Calls inside one checkpoint, or inside one function with a backward pass of its own, in order."""

    invocation: Invocation
    steps: list[TapeStep] = field(default_factory=list)


TapeStep = Call | Stretch


def region_of(call: Call, inside: Invocation | None) -> Invocation | None:
    """The outermost checkpoint or function of its own around a call, below the one that we are already inside of."""
    found: Invocation | None = None
    at = call.within
    while at is not None and at is not inside:
        if at.checkpoint or at.own is not None:
            found = at
        at = at.parent
    return found


def is_made_in(tensor: Tensor, region: Invocation) -> bool:
    """Whether a tensor that no op made (`torch.zeros`) was made while a checkpoint was run."""
    made = tensor.call is None and not isinstance(tensor, Weight)
    return region.checkpoint and made and tensor.born >= region.number > 0


def steps_of(calls: Sequence[Call], inside: Invocation | None = None) -> list[TapeStep]:
    """The calls in order, those of each region together."""
    steps: list[TapeStep] = []
    gathered: dict[int, tuple[Stretch, list[Call]]] = {}
    for call in calls:
        region = region_of(call, inside)
        if region is None:
            steps.append(call)
            continue
        known = gathered.get(id(region))
        if known is None:
            known = gathered[id(region)] = (Stretch(region), [])
            steps.append(known[0])
        known[1].append(call)
    for stretch, inner in gathered.values():
        stretch.steps = steps_of(inner, stretch.invocation)
    return steps


def first_number(step: TapeStep) -> int:
    """The number of the call that a step begins with."""
    while isinstance(step, Stretch):
        step = step.steps[0]
    return step.number


def calls_in(steps: Sequence[TapeStep]) -> list[Call]:
    """Every call of some steps, in order."""
    found: list[Call] = []
    for step in steps:
        if isinstance(step, Stretch):
            found.extend(calls_in(step.steps))
        else:
            found.append(step)
    return found


def leading_from(tape: Sequence[Entry], keys: Iterable[int]) -> set[int]:
    """The keys of what depends on some tensors, by what a tape has of it, and of those themselves."""
    found = set(keys)
    for entry in tape:
        if not found.isdisjoint(entry.asks):
            found.update(entry.gives)
    return found
