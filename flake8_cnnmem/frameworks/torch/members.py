"""How native classes are written down: a namespace that methods are entered into by decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flake8_cnnmem.values import Native, Property, StaticMethod, Value

F = TypeVar("F", bound=Callable[..., Value])


class Members(dict[str, Value]):
    """The namespace of a native class. `@members.method("name")` enters a function as a method that sees Unknowns."""

    def method(self, *names: str) -> Callable[[F], F]:
        """Enter the function below as a method, under its own name or these."""

        def enter(function: F) -> F:
            for name in names or (function.__name__,):
                self[name] = Native(name, function, propagate_unknown=False)
            return function

        return enter

    def getter(self, *names: str) -> Callable[[F], F]:
        """A read-only property."""

        def enter(function: F) -> F:
            for name in names or (function.__name__,):
                self[name] = Property(Native(name, function))
            return function

        return enter

    def static(self, *names: str) -> Callable[[F], F]:
        """Enter the function below as a static method, under its own name or these."""

        def enter(function: F) -> F:
            for name in names or (function.__name__,):
                self[name] = StaticMethod(Native(name, function, propagate_unknown=False))
            return function

        return enter
