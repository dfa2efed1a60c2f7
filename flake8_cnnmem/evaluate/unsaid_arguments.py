"""Calls that are handed keywords of which nobody knows the names: `SGD(net.parameters(), **options)`."""

from __future__ import annotations

from flake8_cnnmem.evaluate.joins import makes_layers
from flake8_cnnmem.values import Class, Value


def unsaid_arguments(function: Value, positional: int) -> list[str] | None:
    """The arguments that unknown keywords may give to a library's class behind so many positional ones. None for what
    may be anything when they are not known: functions, the program's own classes, layers."""
    if not isinstance(function, Class) or makes_layers(function):
        return None
    owner = next((each for each in function.mro if "__init__" in each.namespace), None)
    told = owner.facts.get("signature") if owner is not None else None
    if told is None:
        return None
    parameters = (told() if callable(told) else told).parameters.values()
    named = (each.name for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD))
    return list(named)[positional:]
