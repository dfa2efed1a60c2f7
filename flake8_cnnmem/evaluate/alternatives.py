"""One of several objects that are known, where it is not known which (`layers[index]`, `random.choice(blocks)`).

It is an Unknown that holds the candidates in `among`. What is done to it is perhaps done to each of them: an attribute
that is set, a method that is called (`layers[index].requires_grad_(False)`), a loop over what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.perhaps import perhaps_done
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Instance, Native, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST = 32
"""Of more candidates nothing is followed."""


def among(cause: Unknown, candidates: Iterable[Value]) -> Unknown:
    """The cause for one of some values, with those that can be changed."""
    found: dict[int, Value] = {}
    for value in candidates:
        for each in value.among if isinstance(value, Unknown) else (value,):
            if may_change(each):
                found.setdefault(id(each), each)
        if len(found) > MOST:
            return cause
    return replace(cause, among=tuple(found.values())) if found else cause


def may_change(value: Value) -> bool:
    """Whether a value is a layer, a weight, an object of the program's own, or a container that holds such."""
    if isinstance(value, (list, tuple)):
        return any(may_change(item) for item in value[:MOST])
    if isinstance(value, dict):
        return any(may_change(item) for item in list(value.values())[:MOST])
    if isinstance(value, Instance):
        return value.cls.site is not None or frameworks.is_layer(value)
    return isinstance(value, (Weight, Iterator)) or (isinstance(value, Bound) and may_change(value.receiver))


def held_by(value: Value) -> list[Value]:
    """What an object holds from which code takes one by a name or number that nobody knows."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, Instance):
        framework = frameworks.of_layer(value)
        if framework is None:
            return list(value.attributes.values())
        children: list[Value] = [child for _, child in framework.children(value)]
        return children or list(framework.weights(value))
    return list(value) if isinstance(value, (list, tuple)) else []


def attribute_of(run: Interpreter, value: Unknown, name: str) -> Unknown:
    """`value.name` of one of several objects."""
    found = []
    for each in value.among:
        try:
            inner = run.find(each, name)
        except Raised:
            continue
        if inner is not MISSING:
            found.append(inner)
    return among(value.loose(), found)


def assign_to_one(run: Interpreter, value: Unknown, name: str, new: Value) -> None:
    """`value.name = new` of one of several objects."""
    for each in value.among:
        perhaps_done(run, value, partial(run.set, each, name, new))


def call_one(run: Interpreter, value: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value]:
    """A call of a method of one of several objects: what each gives. Forward passes change nothing."""
    given: list[Value] = []

    def action(method: Value) -> Callable[[], object]:
        return lambda: given.append(run.call(method, *args, **kwargs))

    for each in value.among:
        if isinstance(each, Bound) and isinstance(each.function, (Function, Native)) and not is_forward(each):
            perhaps_done(run, value, action(each))
    return given


def is_forward(method: Bound) -> bool:
    """Whether a method is the one that a layer's call runs."""
    receiver = method.receiver
    return isinstance(receiver, Instance) and method.function is receiver.cls.find("forward")


def item_of_one(run: Interpreter, value: Unknown) -> Unknown:
    """Any item of one of several containers."""
    items: list[Value] = []
    for each in value.among:
        found = run.items(each)
        items += found if isinstance(found, list) else []
    return among(value.loose(), items)
