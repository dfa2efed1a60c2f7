"""Where the native functions are collected: `torch.*`, `torch.Tensor.*`, `torch.nn.functional.*`.

Their signatures are the stubs in `signatures/`. A function of torch is a method of Tensor as well where Tensor has one
of the name (by the names that were measured) and its own stub says nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from flake8_cnnmem.frameworks.signatures import Stub, beside
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import renaming
from flake8_cnnmem.frameworks.torch.devices import placing
from flake8_cnnmem.frameworks.torch.names import NAMES
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.values import Native, Value

F = TypeVar("F", bound=Callable[..., Value])

TORCH: dict[str, Value] = {}
METHODS: dict[str, Value] = {}
FUNCTIONAL: dict[str, Value] = {}

DEFINED: dict[str, Callable[..., Value] | inspect.Signature | Stub] = {}
"""By place and name ("functional.conv2d"): the function as it is written, a signature that is data, or its stub."""

PLACES = {"torch": TORCH, "tensor": METHODS, "functional": FUNCTIONAL}


def finished(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of torch or a method, with NumPy's argument names (`axis=`) as the real ones."""
    return holding(renaming(placed(function), parameters_of(function)))


def holding(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that is written in C++: where it is several ops, its caller holds the arguments until all are done."""

    def called(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        first = run.numbered
        result = function(run, *args, **kwargs)
        if run.numbered > first + 1:
            for value in (*args, *kwargs.values()):
                if isinstance(value, Tensor):
                    value.held = max(value.held, run.numbered)
        return result

    return called


def placed(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function with note of the device that it is told, where it takes one."""
    takes = "device" in parameters_of(function) or rest_of(function) == "options"
    return placing(function) if takes else function


def rest_of(function: Callable[..., Value]) -> str:
    """The name of a native's parameter for all other keywords (`**options`: what makes a tensor); "" without one."""
    code = function.__code__
    behind = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return code.co_varnames[behind] if code.co_flags & inspect.CO_VARKEYWORDS else ""


def parameters_of(function: Callable[..., Value]) -> tuple[str, ...]:
    """The names of a native's parameters, without `run`."""
    code = function.__code__
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


STUBS = {
    "torch": Stub(beside(__file__, "torch"), apply, "elementwise", finished),
    "tensor": Stub(beside(__file__, "tensor"), apply, "elementwise", finished),
    "functional": Stub(beside(__file__, "functional"), apply, "elementwise", placed),
}
NAMESPACES = {"torch": "torch", "tensor": "torch.Tensor", "functional": "torch.nn.functional"}

PROPERTIES = frozenset(("real", "imag"))
"""Functions of torch that are no methods of Tensor, but attributes."""


def collect(place: str, stub: Stub, everything: bool) -> None:
    """Register the functions of a stub in a namespace, and the in-place forms that the namespace has."""
    table, names = PLACES[place], NAMES.of(NAMESPACES[place])
    for name in stub:
        if (everything or name in names - PROPERTIES) and name not in table:
            table[name] = stub.native(name)
            DEFINED[f"{place}.{name}"] = stub
        written = f"{name}_"
        if written in names and written not in table and written not in stub.texts and stub.written_in_place(name):
            table[written] = stub.native(written)
            DEFINED[f"{place}.{written}"] = stub


for _place, _stub in STUBS.items():
    collect(_place, _stub, True)
collect("tensor", STUBS["torch"], False)


def define(*names: str, of_lists: bool = False) -> Callable[[F], F]:
    """Register a native under dotted names: "torch.relu", "tensor.relu", "functional.relu".

    Functions of torch and methods take NumPy's argument names (`axis=`) as well, as the real ones do. With `of_lists`
    it looks itself at lists of which nobody knows how many numbers they hold.
    """

    def register(function: F) -> F:
        both: Callable[..., Value] | None = None
        for dotted in names:
            place, _, name = dotted.partition(".")
            if DEFINED.get(dotted) is STUBS[place]:
                raise TypeError(f"{dotted} is defined, and has a stub")
            if place == "functional":
                called = placed(function)
            else:
                called = both = both or finished(function)
            if not of_lists:
                called = with_known_lengths(called)
            PLACES[place][name] = Native(name, called, propagate_unknown=False)
            DEFINED[dotted] = function
        return function

    return register


def signature(dotted: str) -> inspect.Signature | None:
    """The signature of a defined function, without the leading `run`: what tests hold against torch itself."""
    found = DEFINED.get(dotted)
    if isinstance(found, Stub):
        return found.signature(dotted.partition(".")[2])
    if found is None or isinstance(found, inspect.Signature):
        return found
    own = inspect.signature(found)
    return own.replace(parameters=list(own.parameters.values())[1:])


def everywhere(*names: str) -> tuple[str, ...]:
    """The dotted names of functions that are both in torch and methods."""
    return tuple(f"{place}.{name}" for name in names for place in ("torch", "tensor"))
