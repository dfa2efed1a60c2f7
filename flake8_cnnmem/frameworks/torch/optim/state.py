"""What an optimizer object holds: the tensors in its `state`, in its groups and attributes, and in what it wraps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from flake8_cnnmem.frameworks.torch.autograd.by_hand import storage_of
from flake8_cnnmem.frameworks.torch.device_of import on_host
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

MOST = 200_000
"""Values that are looked at: a state of a thousand parameters has ten for each."""

COUNTED = "state of torch's own optimizers"
"""Scratch of the run: tensors, by id, that the table of optimizers counts."""

STATE = "state"
"""The attribute that torch's Optimizer keeps by parameter: nothing else can be in it but what the step needs."""


@dataclass(slots=True)
class StateTensors:
    """Tensors by the parameter's id, those of no one parameter, and why there may be more."""

    state: dict[int, list[Tensor]] = field(default_factory=dict)
    shared: list[Tensor] = field(default_factory=list)
    causes: dict[Unknown, None] = field(default_factory=dict)
    updated: set[int] = field(default_factory=set)
    """The parameters, by id: a state that is one of them takes nothing of its own."""
    seen: set[int] = field(default_factory=set)
    left: int = MOST

    def tensors(self) -> Iterable[Tensor]:
        """All tensors that an optimizer holds: for each parameter, and shared ones."""
        for tensors in self.state.values():
            yield from tensors
        yield from self.shared

    def form(self) -> list[tuple[int, object]]:
        """What tells two states of one optimizer apart: how much is held for what (0 for no parameter)."""
        each: list[tuple[int, object]] = [
            (key, tuple((t.shape, t.dtype) for t in tensors)) for key, tensors in self.state.items()
        ]
        return [*each, *((0, (t.shape, t.dtype)) for t in self.shared)]


def held_by(run: Runtime, optimizer: Instance) -> StateTensors:
    """All that an optimizer holds beside its parameters and modules. A parameter's gradient is one of them only where
    it is kept by itself."""
    found = StateTensors()
    parameters_in(optimizer, found.updated, 4)
    look_into(run, found, optimizer, None, False)
    return found


def look_into(run: Runtime, found: StateTensors, value: Value, weight: int | None, in_state: bool) -> None:
    """Take in what a value holds; `weight` is the parameter that it is held for."""
    if value is None or isinstance(value, (str, int, float)):
        return
    if isinstance(value, Unknown):
        # What is the result of arithmetic is a number: a function that is not known and is given tensors is a cause.
        if in_state and not value.something:
            found.causes.setdefault(value)
        return
    if isinstance(value, Tensor):
        take(run, found, value, weight, in_state)
        return
    if id(value) in found.seen or found.left < 0:
        return
    found.seen.add(id(value))
    found.left -= 1
    if id(value) in run.havocked:
        if in_state:
            found.causes.setdefault(run.havocked[id(value)][1])
    elif isinstance(value, dict):
        for key, item in value.items():
            look_into(run, found, item, id(key) if isinstance(key, Weight) else weight, in_state)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            look_into(run, found, item, weight, in_state)
    elif isinstance(value, Instance) and not is_module(value):
        look_into(run, found, value.payload, weight, in_state)
        for name, item in value.attributes.items():
            if name == "param_groups":
                of_groups(run, found, item)
            else:
                look_into(run, found, item, weight, in_state or name == STATE)


def parameters_in(optimizer: Instance, found: set[int], depth: int) -> None:
    """The ids of what is in the parameter groups of an optimizer, and of those that it holds."""
    groups = optimizer.attributes.get("param_groups")
    for group in groups if isinstance(groups, list) else ():
        held = group.get("params") if isinstance(group, dict) else None
        found.update(id(weight) for weight in (held if isinstance(held, list) else ()))
    for value in optimizer.attributes.values() if depth else ():
        if isinstance(value, Instance) and not is_module(value):
            parameters_in(value, found, depth - 1)


def of_groups(run: Runtime, found: StateTensors, groups: Value) -> None:
    """What is kept in parameter groups, beside the parameters."""
    for group in groups if isinstance(groups, list) else ():
        for name, item in group.items() if isinstance(group, dict) else ():
            if name != "params":
                look_into(run, found, item, None, False)


def take(run: Runtime, found: StateTensors, tensor: Tensor, weight: int | None, in_state: bool) -> None:
    """Count a tensor that an optimizer holds, each storage once."""
    root = storage_of(tensor)
    if id(root) in run.data(COUNTED):
        return
    if id(root) in found.updated or id(root) in found.seen or on_host(run, root):
        return
    found.seen.add(id(root))
    if isinstance(root.shape, Unknown):
        if in_state:
            found.causes.setdefault(root.shape)
        return
    if weight is None:
        found.shared.append(root)
    else:
        found.state.setdefault(weight, []).append(root)


def smallest(weights: list[Value]) -> list[Value]:
    """Of parameters the smallest vector and the smallest matrix, on which a step is followed."""
    kinds: tuple[list[Weight], list[Weight]] = ([], [])
    for weight in weights:
        if isinstance(weight, Weight) and weight.trainable and isinstance(weight.shape, tuple):
            kinds[len(weight.shape) > 1].append(weight)
    return [min(kind, key=size_of) for kind in kinds if kind]


def size_of(weight: Weight) -> int:
    """How many values a weight has, as far as its sizes are known."""
    size = 1
    for length in weight.shape if isinstance(weight.shape, tuple) else ():
        size *= length if isinstance(length, int) else 1
    return size
