"""`dataclass` as Python's own, but a class's methods are written when the first instance asks for them.

Python's decorator compiles up to eight methods for every class when its module is imported, and makes an import of two
hundred of them cost as much as parsing a large file. Most classes of a run are never instantiated, most instances never
compared. What comes out is a dataclass to all of `dataclasses` (`fields`, `replace`, `astuple`) and to `pickle`.

Of the decorator's options those that this package uses. A dataclass that inherits from one of these is to be made by
the same decorator: to Python's own they are not frozen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator, with or without options."""
        return made(cls, **options) if cls is not None else lambda cls: made(cls, **options)


ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def made(
    cls: type, repr: bool = True, eq: bool = True, order: bool = False, frozen: bool = False, slots: bool = False
) -> type:
    """The class with fields and, where they are called, methods; with `slots` a new one of its name."""
    if cls.__doc__ is None:
        # Python's decorator would look for a signature to put there.
        cls.__doc__ = cls.__name__
    own = frozenset(cls.__dict__)
    hashed = "__hash__" in own and not (cls.__dict__["__hash__"] is None and "__eq__" in own)
    # Its type says nothing of private attributes: what it makes is what it is given.
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    writers: dict[str, Callable[[type], str]] = {"__init__": initialiser(frozen)}
    if eq:
        writers["__eq__"] = lambda cls: comparison(cls, "__eq__", "==")
        if frozen and not hashed:
            writers["__hash__"] = hashing
        elif not hashed:
            cls.__hash__ = None  # type: ignore[assignment]
    for name, sign in ORDER.items() if order else ():
        writers[name] = lambda cls, name=name, sign=sign: comparison(cls, name, sign)  # type: ignore[misc]
    for name, write in writers.items():
        if name not in own:
            setattr(cls, name, postponed(cls, name, write))
    if repr and "__repr__" not in own:
        cls.__repr__ = shown  # type: ignore[assignment]
    if frozen:
        freeze(cls)
        if slots and "__getstate__" not in own:
            cls.__getstate__ = state  # type: ignore[attr-defined]
            cls.__setstate__ = take_state  # type: ignore[attr-defined]
    return cls


def postponed(cls: type, name: str, write: Callable[[type], str]) -> Callable[..., Any]:
    """A method that writes the one of this name, puts it in its own place, and calls it."""

    def first(self: Any, *arguments: Any, **named: Any) -> Any:
        method = compiled(cls, name, write(cls))
        setattr(cls, name, method)
        return method(self, *arguments, **named)

    first.__name__, first.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return first


def compiled(cls: type, name: str, text: str) -> Callable[..., Any]:
    """A method from its text. The text is written here, of names of fields, which Python has taken for identifiers."""
    given: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": dataclasses.MISSING}
    for field in dataclasses.fields(cls):
        given[f"_default_{field.name}"] = (
            field.default if field.default is not dataclasses.MISSING else field.default_factory
        )
    exec(text, given)
    method: Callable[..., Any] = given[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def initialiser(frozen: bool) -> Callable[[type], str]:
    """What writes `__init__`: it takes the fields in their order, and calls `__post_init__` where there is one."""

    def write(cls: type) -> str:
        parameters, lines = ["self"], []
        for field in dataclasses.fields(cls):
            name, value = field.name, field.name
            made = field.default_factory is not dataclasses.MISSING
            if field.init and made:
                parameters.append(f"{name}=_MISSING")
                value = f"_default_{name}() if {name} is _MISSING else {name}"
            elif field.init:
                parameters.append(name if field.default is dataclasses.MISSING else f"{name}=_default_{name}")
            elif made:
                value = f"_default_{name}()"
            elif field.default is not dataclasses.MISSING:
                value = f"_default_{name}"
            else:
                continue
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        return f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])

    return write


def compared(cls: type, owner: str) -> str:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    return f"({''.join(f'{owner}.{name}, ' for name in names)})"


def comparison(cls: type, name: str, sign: str) -> str:
    """As tuples of those fields that count, of instances of the same class."""
    return (
        f"def {name}(self, other):\n if other.__class__ is self.__class__:\n"
        f"  return {compared(cls, 'self')} {sign} {compared(cls, 'other')}\n return NotImplemented"
    )


def hashing(cls: type) -> str:
    return f"def __hash__(self):\n return hash({compared(cls, 'self')})"


@recursive_repr()
def shown(self: Any) -> str:
    """`Call(op=..., inputs=...)`."""
    fields = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(fields)})"


def freeze(cls: Any) -> None:
    """Let nothing be set or deleted but by the initialiser."""
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__ = __setattr__
    cls.__delattr__ = __delattr__


def state(self: Any) -> list[Any]:
    """What `pickle` and `copy` take of a frozen instance with slots."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def take_state(self: Any, values: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), values, strict=True):
        object.__setattr__(self, field.name, value)
