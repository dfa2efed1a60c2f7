"""Fields that cost much and that only some readers want: worked out when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyField(Generic[T]):
    """A dataclass field that is given as its value, or as a function of nothing that works the value out, once.

    Of a dataclass without slots, with its default: `rows: LazyField[Rows] = LazyField(())`. Nobody who reads the
    field sees a difference; `==`, `repr` and `dataclasses.replace` read every field.
    """

    def __init__(self, default: T) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> T:
        if instance is None:
            # Asked by `dataclass` for the default.
            return self.default
        value = instance.__dict__[self.name]
        if callable(value):
            value = instance.__dict__[self.name] = value()
        found: T = value
        return found

    def __set__(self, instance: Any, value: T | Callable[[], T]) -> None:
        instance.__dict__[self.name] = value
