"""Where the native functions are collected: `torch.*`, `torch.Tensor.*`, `torch.nn.functional.*`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from flake8_cnnmem.frameworks.torch.arguments import renaming
from flake8_cnnmem.frameworks.torch.devices import placing
from flake8_cnnmem.values import Native, Value

F = TypeVar("F", bound=Callable[..., Value])

TORCH: dict[str, Value] = {}
METHODS: dict[str, Value] = {}
FUNCTIONAL: dict[str, Value] = {}

DEFINED: dict[str, Callable[..., Value] | inspect.Signature] = {}
"""By place and name ("functional.conv2d"): the function as it is written, or a signature that is data."""

PLACES = {"torch": TORCH, "tensor": METHODS, "functional": FUNCTIONAL}


def define(*names: str) -> Callable[[F], F]:
    """Register a native under dotted names: "torch.relu", "tensor.relu", "functional.relu".

    Functions of torch and methods take NumPy's argument names (`axis=`) as well, as the real ones do.
    """

    def register(function: F) -> F:
        code = function.__code__
        parameters = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        renamed: Callable[..., Value] | None = None
        for dotted in names:
            place, _, name = dotted.partition(".")
            called: Callable[..., Value] = placing(function) if "device" in parameters else function
            if place != "functional":
                called = renamed = renamed or renaming(called, parameters)
            PLACES[place][name] = Native(name, called, propagate_unknown=False)
            DEFINED[dotted] = function
        return function

    return register


def signature(dotted: str) -> inspect.Signature | None:
    """The signature of a defined function, without the leading `run`: what tests hold against torch itself."""
    found = DEFINED.get(dotted)
    if found is None or isinstance(found, inspect.Signature):
        return found
    own = inspect.signature(found)
    return own.replace(parameters=list(own.parameters.values())[1:])


def everywhere(*names: str) -> tuple[str, ...]:
    """The dotted names of functions that are both in torch and methods."""
    return tuple(f"{place}.{name}" for name in names for place in ("torch", "tensor"))
