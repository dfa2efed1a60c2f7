"""How natives are declared: a table of names that becomes a module, or the namespace of a class.

Natives for the methods of a builtin type are written for the host value. They are also reached by instances
of the interpreted program's subclasses (`class Registry(dict)`), whose host value is their payload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Native, Property, StaticMethod, Value

F = TypeVar("F", bound=Callable[..., Any])

OPERATORS = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__pow__": "**", "__matmul__": "@", "__and__": "&", "__or__": "|", "__xor__": "^", "__lshift__": "<<",
    "__rshift__": ">>", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=", "__eq__": "==", "__ne__": "!=",
}  # fmt: skip
"""The method behind each binary operator."""

UNARY = {"__neg__": "neg", "__pos__": "pos", "__invert__": "~"}
"""The method behind each unary operator, with the symbol that the interpreter uses."""


class Identity(int):
    """The number that `id` gives: the same for the same object, and otherwise another one in each run of Python."""


IDENTITY_CHANGES = "the identity of an object changes from run to run"


def payload(value: Value) -> Any:
    """The host value of an instance of a builtin type's subclass; anything else as it is.

    What Python's own operations are given: what they refuse is told apart afterwards (`evaluate/host_errors.py`).
    """
    if type(value) is Instance and value.payload is not None:
        return value.payload
    return value


def special(value: Value, name: str) -> Value | None:
    """The method that an instance's class defines under this name, bound; None where there is none.

    As Python does for operators and `len`: the instance's own attributes and `__getattr__` are not asked.
    """
    if type(value) is not Instance:
        return None
    found = value.cls.find(name)
    if isinstance(found, StaticMethod):
        return found.function
    if isinstance(found, ClassMethod):
        return Bound(found.function, value.cls)
    if found is MISSING or found is None:
        return None
    return Bound(found, value)


def unknown_base(value: Value) -> Unknown | None:
    """The cause why not all methods of an instance are known, if so."""
    return value.cls.any_unknown_base() if type(value) is Instance else None


class Names(dict[str, Any]):
    """A namespace in the making. Its decorators leave the Python function as it is and enter a Native."""

    def function(self, name: str = "", *, propagate_unknown: bool = True) -> Callable[[F], F]:
        """Enter a function under its own name, without a trailing underscore, or under `name`."""

        def enter(function: F) -> F:
            word = name or function.__name__.rstrip("_")
            self[word] = Native(word, function, propagate_unknown)
            return function

        return enter

    def method(self, name: str = "", *, propagate_unknown: bool = True) -> Callable[[F], F]:
        """As `function`, for a method that works on the host value of its receiver."""

        def enter(function: F) -> F:
            word = name or function.__name__.rstrip("_")

            def method(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> Value:
                return function(run, payload(self), *args, **kwargs)

            self[word] = Native(word, method, propagate_unknown)
            return function

        return enter

    def property(self, name: str = "") -> Callable[[F], F]:
        """A property of the receiver's host value."""

        def enter(function: F) -> F:
            word = name or function.__name__.rstrip("_")
            self[word] = Property(Native(word, lambda run, self: function(run, payload(self))))
            return function

        return enter

    def class_method(self, name: str = "", *, propagate_unknown: bool = True) -> Callable[[F], F]:
        """Enter the function below as a class method, under its own name or this one."""

        def enter(function: F) -> F:
            word = name or function.__name__.rstrip("_")
            self[word] = ClassMethod(Native(word, function, propagate_unknown))
            return function

        return enter

    def operators(self, words: Iterable[str]) -> None:
        """The dunder methods for these operators, reflected forms included, all through `Run.operate`."""
        for word in words:
            symbol = OPERATORS[word]
            self[word] = Native(word, operator_method(symbol))
            if symbol not in ("<", "<=", ">", ">=", "==", "!="):
                reflected = f"__r{word[2:]}"
                self[reflected] = Native(reflected, reflected_method(symbol))


def host_property(name: str) -> Property:
    """A property that the receiver's host value has as well."""
    return Property(Native(name, lambda run, self, /: getattr(payload(self), name)))


def operator_method(symbol: str) -> Callable[..., Value]:
    """The method of an operator (`__add__`) by its symbol, on the host values of instances."""

    def method(run: Runtime, self: Value, other: Value, /) -> Value:
        if leaves_it_to(other):
            return NotImplemented
        return run.operate(symbol, payload(self), payload(other))

    return method


def reflected_method(symbol: str) -> Callable[..., Value]:
    """The reflected method of an operator (`__radd__`) by its symbol."""

    def method(run: Runtime, self: Value, other: Value, /) -> Value:
        if leaves_it_to(other):
            return NotImplemented
        return run.operate(symbol, payload(other), payload(self))

    return method


def leaves_it_to(other: Value) -> bool:
    """Whether a builtin type's operator has nothing to say of another value: an object of the program's own class."""
    return type(other) is Instance and other.payload is None and other.cls.site is not None


def made(run: Runtime, cls: Class, value: Value) -> Value:
    """What a native `__new__` gives: the host value itself, or an instance of a subclass that holds it."""
    return value if cls.host is not None else Instance(cls, payload=value, site=run.here())
