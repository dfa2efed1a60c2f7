"""Hooks of the user's: called with as much as they take, and what they raise goes no further."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Instance, Value


def stepped(run: Runtime, owner: Value, name: str, *args: Value) -> Value:
    """Call a hook, if there is one. Older versions of Lightning hand some of them less: a method is given as many
    arguments as it takes."""
    if not isinstance(owner, Instance):
        return None
    method = run.find(owner, name)
    if method is MISSING or method is None:
        return None
    taken = parameters_of(method)
    return run.attempt(method, *(args if taken is None else args[:taken]))


def is_own(owner: Value, name: str) -> bool:
    """Whether a method is the user's, not one that we stand in for."""
    found = owner.cls.find(name) if isinstance(owner, Instance) else None
    return getattr(found, "parameters", None) is not None


def names_of(method: Value) -> list[str]:
    """The positional parameters of a user's method, without the object."""
    parameters = getattr(getattr(method, "function", method), "parameters", None)
    return [] if parameters is None else list(parameters.positional[1:])


def parameters_of(method: Value) -> int | None:
    """How many arguments a method of the user's takes; None for one of ours, and for one that takes any number."""
    function = getattr(method, "function", method)
    parameters = getattr(function, "parameters", None)
    if parameters is None or getattr(parameters, "star", None) is not None:
        return None
    return len(parameters.positional) - 1


def optional(value: Value) -> list[Value]:
    """What may be one thing, several, or none."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value] if isinstance(value, Instance) else []
