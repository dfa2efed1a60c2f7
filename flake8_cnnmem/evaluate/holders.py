"""What values of the program hold: the tensors that can be reached from them."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import GeneratorType
from typing import Any

from flake8_cnnmem.evaluate.closures import enclosed
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function, Super
from flake8_cnnmem.evaluate.stdlib.copy import Weakly
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, ClassMethod, Instance, Native, Property, StaticMethod, Value

MOST = 200_000
"""Values that are looked at."""

PLAIN = (str, int, float, complex, bytes, type(None), Unknown, slice, range)
NO_TENSORS = frozenset((*PLAIN, bool, Weight))
CONTAINERS = (list, tuple, deque, set, frozenset)
BUILTIN = frozenset((dict, *CONTAINERS))
"""Those that are empty hold nothing: most of a module's own dicts."""


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
    held: list[Value] = [each for each in value.attributes.values() if type(each) not in NO_TENSORS]
    if value.cls.site is not None:
        held.append(value.cls)
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
