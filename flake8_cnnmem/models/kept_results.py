"""Results of a model's forward pass that the program still holds when it has returned."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import GeneratorType
from typing import Any

from flake8_cnnmem.evaluate.closures import enclosed
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function, Super
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.stdlib.copy import Weakly
from flake8_cnnmem.graph import FOREVER, Call, Tensor, Weight
from flake8_cnnmem.ops.given import Made
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, ClassMethod, Instance, Native, Property, StaticMethod, Value

MOST = 200_000
"""Values that are looked at."""
KEPT = "a result of forward is kept until the next step, which begins with it"

TOO_MUCH = Unknown("whether results of forward are kept: the program holds too much to be looked through")

PLAIN = (str, int, float, complex, bytes, type(None), Unknown, slice, range)
NO_TENSORS = frozenset((*PLAIN, bool, Weight))
CONTAINERS = (list, tuple, deque, set, frozenset)
BUILTIN = frozenset((dict, *CONTAINERS))
"""Those that are empty hold nothing: most of a module's own dicts."""


def kept_results(
    layers: Iterable[Instance], modules: Iterable[object], inputs: Iterable[Tensor], calls: Sequence[Call]
) -> Unknown | None:
    """Mark what calls have made of the inputs and the code still holds as held until the end, and give a cause where
    there is any: PyTorch keeps a result, and what its gradient needs, until the next step puts another in its place (or
    for good, in a list), so that the next step begins with it. What is made of weights alone (a normed weight) is no
    larger for a larger batch, and is left as it is. `calls` are in the order in which they ran."""
    reached = {id(tensor) for tensor in inputs}
    made: dict[int, Call] = {}
    for call in calls:
        if not reached.isdisjoint(map(id, call.inputs)):
            for tensor in call.outputs:
                made[id(tensor)] = call
                reached.add(id(tensor))
            if isinstance(call.op, Made):
                made[id(call.inputs[0])] = call
                reached.add(id(call.inputs[0]))
    if not made:
        return None
    first: Call | None = None
    variables = [module.variables for module in modules if isinstance(module, Module)]
    found, whole = tensors_held([*layers, *variables])
    for tensor in found:
        if id(tensor) in made:
            call = made[id(tensor)]
            tensor.held = FOREVER
            first = call if first is None or call.number < first.number else first
    if first is None:
        return None if whole else TOO_MUCH
    place = (first.site.path, first.site.line) if first.site is not None else ("", 0)
    return Unknown(KEPT, *place)


def tensors_held(values: Iterable[Value]) -> tuple[list[Tensor], bool]:
    """The tensors that can be reached from some values, through containers, objects, classes, functions with what they
    close over, iterators; and whether all of that was looked at."""
    seen: set[int] = set()
    found: list[Tensor] = []
    waiting = list(values)
    while waiting and len(seen) < MOST:
        value = waiting.pop()
        kind = type(value)
        if kind in NO_TENSORS or (kind in BUILTIN and not value) or id(value) in seen:
            continue
        if type(value) is Tensor:
            found.append(value)
            continue
        seen.add(id(value))
        waiting += held_by(value)
    return found, not waiting


def held_by(value: Value) -> Iterable[Value]:
    """What a value holds itself. Weights and what is of the framework's own (its classes, modules) hold nothing."""
    kind = type(value)
    rule = RULES.get(kind)
    if rule is None:
        rule = RULES[kind] = next((rule for kinds, rule in HOLDING if issubclass(kind, kinds)), nothing)
    return rule(value)


def nothing(value: Value) -> Iterable[Value]:
    """Values that hold no others."""
    return ()


def of_instance(value: Instance) -> Iterable[Value]:
    """What an object holds in its attributes, its class, and what natives note of it."""
    held: list[Value] = [value.attributes, value.cls]
    if value.payload is not None:
        held.append(value.payload)
    if value.native is not None:
        held += of_native(value.native)
    return held


def of_dict(value: dict[Value, Value]) -> Iterable[Value]:
    """Its values, and keys that are no names, as natives change it: an OrderedDict of the host keeps an order of its
    own beside."""
    held = [each for each in dict.values(value) if type(each) not in NO_TENSORS]
    keys = [key for key in dict.keys(value) if type(key) is not str]
    return [*held, *keys] if keys else held


def of_generator(value: GeneratorType[Value, Value, Value]) -> Iterable[Value]:
    """What a generator that is not exhausted holds in its frame."""
    local = value.gi_frame.f_locals.values() if value.gi_frame is not None else ()
    return [each.variables if isinstance(each, Frame) else each for each in local]


HOLDING: list[tuple[type | tuple[type, ...], Callable[[Any], Iterable[Value]]]] = [
    (Instance, of_instance),
    (dict, of_dict),
    (PLAIN, nothing),
    (CONTAINERS, lambda value: value),
    (Class, lambda value: (value.namespace, *value.bases) if value.site is not None else ()),
    (Function, lambda value: (value.defaults, value.keyword_defaults, value.attributes, *enclosed(value))),
    (Bound, lambda value: (value.function, value.receiver)),
    (Super, lambda value: (value.receiver,)),
    ((StaticMethod, ClassMethod), lambda value: (value.function,)),
    (Property, lambda value: (value.fget, value.fset)),
    (Native, lambda value: of_host_function(value.function)),
    (GeneratorType, of_generator),
    # Iterators of the host: what they go through.
    (Iterator, lambda value: gc.get_referents(value)),
]
"""What the values of a type hold: the first row that is of it counts."""

RULES: dict[type, Callable[[Any], Iterable[Value]]] = {}
"""By the types that were met."""


def of_host_function(function: object) -> Iterable[Value]:
    """What a function of ours was made with."""
    if isinstance(function, partial):
        return (function.func, function.args, function.keywords)
    cells = getattr(function, "__closure__", None) or ()
    return [cell.cell_contents for cell in cells]


def of_native(native: object) -> Iterable[Value]:
    """What a native class notes of an object, in containers or in a record of its own."""
    if isinstance(native, (*PLAIN, Instance, Tensor, dict, *CONTAINERS)):
        return (native,)
    if isinstance(native, Weakly):
        return ()
    return [each for each in gc.get_referents(native) if isinstance(each, (Tensor, Instance, dict, list, tuple, set))]
