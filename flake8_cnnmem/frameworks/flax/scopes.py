"""Where a module of linen stands: what it has made is found again by its name, however often it is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


class Scope:
    """The place of a module: its parameters and variables, the modules in it, and how far its code has come.

    `made` is what `setup` has set on the module. `counters` numbers the modules without a name by their class, anew in
    each call. `progress` has "ready" once `setup` has run, and "in setup" while it runs. Modules with the same fields
    are one model, whatever they were called on: any two scopes are equal.
    """

    def __init__(self, name: str = "", parent: Instance | None = None) -> None:
        self.name = name
        self.parent = parent
        self.weights: dict[str, Weight] = {}
        self.children: dict[str, Instance] = {}
        self.made: dict[str, Value] = {}
        self.counters: dict[str, int] = {}
        self.progress: dict[str, bool] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope)

    __hash__ = object.__hash__

    @property
    def dicts(self) -> tuple[dict[str, Any], ...]:
        """All that its calls have left."""
        return self.weights, self.children, self.made, self.counters, self.progress


def scope_of(module: Instance) -> Scope:
    """A module's scope; a new one for a module that was not made as modules are (a copy)."""
    if not isinstance(module.native, Scope):
        module.native = Scope()
    return module.native


def running(run: Runtime) -> list[Instance]:
    """The modules of linen whose code runs, innermost last."""
    found: list[Instance] = run.data("flax").setdefault("running", [])
    return found


def adopt(run: Runtime, parent: Instance, name: str, child: Instance) -> None:
    """Give a module its place in another one. What was there before, of the same class, is what it continues."""
    scope = scope_of(parent)
    before = scope.children.get(name)
    if before is not None and before is not child and before.cls is child.cls and isinstance(before.native, Scope):
        run.changed(child)
        child.native = before.native
    own = scope_of(child)
    own.name, own.parent = name, parent
    run.changed(scope.children)
    scope.children[name] = child


def forget(run: Runtime, module: Instance) -> None:
    """A module as it was before its first call: it makes its parameters anew."""
    for each in scope_of(module).dicts:
        run.changed(each)
        each.clear()


def modules_in(value: Value, depth: int = 4) -> Iterator[tuple[str, Value]]:
    """What lists, tuples and dicts of the program hold, each with what its name ends in (`_0`, `_key`)."""
    if isinstance(value, Instance):
        yield "", value
    elif isinstance(value, (list, tuple)) and depth:
        for at, item in enumerate(value):
            yield from ((f"_{at}{rest}", found) for rest, found in modules_in(item, depth - 1))
    elif isinstance(value, dict) and depth:
        for key, item in value.items():
            yield from ((f"_{key}{rest}", found) for rest, found in modules_in(item, depth - 1))
