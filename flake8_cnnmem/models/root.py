"""A model that a file defines, before it is fed with anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.graph import Resident, Site, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A loop that calls models without an optimizer step, with what is in memory beside them."""

    phase: Phase
    beside: tuple[Resident, ...]
    decides: bool = True
    """Whether its figure is held against that of the training: not where it is a part of the training's own step."""


@dataclass(slots=True)
class Root:
    """A model that a file defines: an instance, or why there is none.

    `calls` are the code's own calls of it, from outside any layer. `causes` are constructor arguments
    that nobody gives, and whatever else was not known while it was built.
    """

    name: str
    target: str
    value: Instance | None
    site: Site
    definition: Site
    run: Interpreter
    calls: list[RootCall] = field(default_factory=list)
    causes: tuple[Unknown, ...] = ()
    exhausted: Unknown | None = None
    """Why a call of it was given up: a model that runs for too long is not tried again."""
    phases: list[Phase] = field(default_factory=list)
    """The runs of the loop that trains it, the one that needs most first; empty for a model that no loop trains."""
    fit: Fit | None = None
    """The call of a model that trains itself (`fit`): the last of those that train it alike."""
    steps: bool = False
    """Whether the program trains it in a step of which nothing could be followed."""
    times: int = 1
    """How often the program trains a model like this in the same way."""
    place: tuple[int, int] | None = None
    """Which of the program's trainings it is, and how many there are."""
    beside: tuple[Resident, ...] = ()
    """What else is in memory during its training."""
    beyond: tuple[Unknown, ...] = ()
    """Why there may be more of that than is known."""
    evaluations: list[Evaluation] = field(default_factory=list)
    """The loops that call it without training it, what else is in memory meanwhile among them."""
    parts: tuple[Root, ...] = ()
    """The models that one step trains together, this one among them, in the order of their lines; else empty."""

    @property
    def is_training(self) -> bool:
        """Whether the program trains it."""
        return bool(self.phases or self.parts or self.steps) or self.fit is not None

    def more_between(self, total: float) -> Unknown | None:
        """Why the program needs more than so many bytes between the steps that train it, where it does."""
        from flake8_cnnmem.models.between_steps import needs_more

        return needs_more(self.run.trace, self.phases, total)

    @property
    def trained_at(self) -> Site | None:
        """Where the loop stands that trains it, or the call that does."""
        if self.fit is not None:
            return self.fit.site
        loop = self.phases[0].loop if self.phases else None
        return loop.site if loop is not None else None


def assigned_name(site: Site) -> str:
    """The name that the statement around a call gives its result: `combined` of `self.combined = Model(z, valid)`."""
    if not isinstance(site, StatementSite):
        return ""
    statement = site.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    value = statement.value
    while value is not site.node:
        # `net = Net().to(device).eval()`
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return ""
        value = value.func.value
    target = statement.targets[0]
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def known_weights(instance: Instance) -> bool:
    """Whether a model has weights for certain, learns at its first call what it has, or has lost them on the way from
    its inputs to its outputs."""
    framework = frameworks.of_layer(instance)
    if framework is None:
        return False
    if framework.weights(instance) or framework.compiled(instance):
        # What is compiled trains, also where its layers hold weights of another framework.
        return True
    if framework.lost(instance) is not None:
        return True
    called = framework.own_inputs(instance) is not None and bool(framework.children(instance))
    return not framework.declares_inputs and not called


def only_buffers(instance: Instance) -> bool:
    """Whether all that a model holds is known, and none of it trains by itself."""
    framework = frameworks.of_layer(instance)
    held = framework.weights(instance) if framework is not None else ()
    return bool(held) and all(weight.buffer for weight in held) and not any(True for _ in unknown_children(instance))


def has_weights(instance: Instance) -> bool:
    """Whether a model has anything to train, or may have: transforms and losses are modules too, and have not."""
    if known_weights(instance):
        return True
    own = (value for name, value in instance.attributes.items() if name != "_modules")
    return any(isinstance(value, Unknown) for value in own) or any(True for _ in unknown_children(instance))


def unknown_children(instance: Instance, seen: set[int] | None = None) -> Iterator[tuple[str, Unknown]]:
    """Submodules, parameters and buffers that could not be followed, and classes with a base that is not known: nobody
    can say what it adds.

    Each module is looked into once: they may hold each other.
    """
    seen = set() if seen is None else seen
    if id(instance) in seen:
        return
    seen.add(id(instance))
    base = instance.cls.any_unknown_base()
    if base is not None:
        yield instance.cls.name, base
    for store in ("_modules", "_parameters", "_buffers"):
        held = instance.attributes.get(store)
        for name, value in held.items() if isinstance(held, dict) else ():
            if isinstance(value, Unknown):
                yield str(name), value
            elif isinstance(value, Instance) and store == "_modules":
                yield from unknown_children(value, seen)


def weights_in(layer: Instance) -> list[Weight]:
    """The parameters and buffers of a layer and of those that it holds."""
    framework = frameworks.of_layer(layer)
    return [] if framework is None else framework.weights(layer)


def inside_of(root: Root) -> set[int]:
    """A root's model and its layers, by id."""
    framework = frameworks.of_layer(root.value)
    return set() if framework is None or root.value is None else {*framework.paths(root.value), id(root.value)}
