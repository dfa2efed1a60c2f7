"""Modules that cannot be put into a set, as torch does with all that it comes by."""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Native


def check_hashes(run: Runtime, classes: Iterable[Class]) -> None:
    """TypeError for a class whose instances have no hash: a dataclass that compares, a class with an `__eq__` alone."""
    for cls in classes:
        if not has_hash(cls):
            raise run.error("TypeError", f"unhashable type: '{cls.name}'")


def has_hash(cls: Class) -> bool:
    """Whether the class, or the first of its bases that says something of it, gives its instances a hash."""
    for each in cls.mro:
        if "__hash__" in each.namespace:
            return each.namespace["__hash__"] is not None
        if each.facts.get("hashable") is not None:
            return each.facts["hashable"] is True
        equality = each.namespace.get("__eq__")
        if equality is not None and not isinstance(equality, Native):
            return False
    return True
