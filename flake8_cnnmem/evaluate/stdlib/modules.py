"""What the tables of the modelled modules are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Native, Value


@dataclass(frozen=True, slots=True)
class Fresh:
    """A value that programs change (`sys.path`): every evaluation gets its own."""

    make: Callable[[], Value]


def ignored(name: str, result: Value = None) -> Native:
    """A function whose effects are outside the model. It gives `result` whatever its arguments are."""
    return Native(name, lambda run, *args, **kwargs: result, propagate_unknown=False)


def identity(name: str) -> Native:
    """A function (a decorator, mostly) that gives its first argument back."""
    return Native(name, lambda run, value, *args, **kwargs: value, propagate_unknown=False)


def unfollowed(name: str) -> Native:
    """A function whose result depends on what is outside the program: files, clocks, chance."""

    def result(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.made_of(run.unknown(f"the result of {name} is not known"), (*args, *kwargs.values()))

    return Native(name, result, propagate_unknown=False)


def native_class(name: str, namespace: dict[str, Value], *bases: Class, module: str = "", **facts: Any) -> Class:
    """A class of the library without a host type."""
    return Class(name, bases or (OBJECT,), namespace, module=module, facts=dict(facts))
