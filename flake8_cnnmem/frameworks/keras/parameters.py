"""Arguments: which ones a callable takes (Keras decides by names: `training`, `mask`), and one value for many axes."""

from __future__ import annotations

import inspect
from typing import Any

from flake8_cnnmem.values import Bound, Native, Value


def parameter_names(function: Value) -> tuple[str, ...] | None:
    """The names of a function's parameters, its receiver included; None where they are not known."""
    while isinstance(function, Bound):
        function = function.function
    if isinstance(function, Native):
        code = getattr(inspect.unwrap(function.function), "__code__", None)
        return None if code is None else code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    parameters = getattr(function, "parameters", None)
    if parameters is None:
        return None
    return (*parameters.positional, *parameters.keywords)


def takes(function: Value, name: str) -> bool:
    """Whether a function has a parameter of this name for certain."""
    names = parameter_names(function)
    return names is not None and name in names


def refuses(function: Value, name: str) -> bool:
    """Whether a function of the user's has neither a parameter of this name nor `**kwargs`."""
    while isinstance(function, Bound):
        function = function.function
    parameters = getattr(function, "parameters", None)
    return parameters is not None and parameters.double_star is None and not takes(function, name)


def per_axis(value: Value, rank: int) -> tuple[Any, ...]:
    """One value for each axis out of one for all, as Keras' `standardize_tuple`."""
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, tuple) else (value,) * rank


def count(value: Value) -> Any:
    """A number of filters or units. Keras 1 and 2 took a float for the int it stands for (`filters=64 / 2`)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
