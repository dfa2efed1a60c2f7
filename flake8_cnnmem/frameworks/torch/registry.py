"""Where the native functions are collected: `torch.*`, `torch.Tensor.*`, `torch.nn.functional.*` and smaller modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from flake8_cnnmem.frameworks.torch.arguments import renaming
from flake8_cnnmem.values import Native, Value

F = TypeVar("F", bound=Callable[..., Value])

TORCH: dict[str, Value] = {}
METHODS: dict[str, Value] = {}
FUNCTIONAL: dict[str, Value] = {}
SIGNATURES: dict[str, inspect.Signature] = {}
"""By place and name ("functional.conv2d"), without the leading `run`: what tests hold against torch itself."""

PLACES = {"torch": TORCH, "tensor": METHODS, "functional": FUNCTIONAL}


def define(*names: str) -> Callable[[F], F]:
    """Register a native under dotted names: "torch.relu", "tensor.relu", "functional.relu".

    Functions of torch and methods take NumPy's argument names (`axis=`) as well, as the real ones do.
    """

    def register(function: F) -> F:
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        plain: Callable[..., Value] | None = None
        for dotted in names:
            place, _, name = dotted.partition(".")
            called: Callable[..., Value] = function
            if place != "functional":
                plain = plain or renaming(function, [parameter.name for parameter in parameters])
                called = plain
            PLACES[place][name] = Native(name, called, absorb=False)
            SIGNATURES[dotted] = signature.replace(parameters=parameters)
        return function

    return register


def everywhere(*names: str) -> tuple[str, ...]:
    """The dotted names of functions that are both in torch and methods."""
    return tuple(f"{place}.{name}" for name in names for place in ("torch", "tensor"))
