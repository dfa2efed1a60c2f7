"""Functions of the interpreted program: their parameters, and what a call binds them to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.values import Class, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame
    from flake8_cnnmem.evaluate.modules import Module

Code = Callable[["Frame"], Value]


IS_ABSTRACT = "__isabstractmethod__"
"""The attribute of a function that `abc.abstractmethod` has made one; among the facts of a class their names."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A signature. `defaults` belong to the last positional parameters; `keyword_defaults` by name."""

    positional: tuple[str, ...] = ()
    positional_only: int = 0
    star: str | None = None
    keywords: tuple[str, ...] = ()
    double_star: str | None = None
    by_name: frozenset[str] = frozenset()
    """Those that can be given by name."""


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A `def` or `lambda`, closed over the frame it was written in. Its body is compiled when it is first called."""

    name: str
    parameters: Parameters
    defaults: tuple[Value, ...]
    keyword_defaults: dict[str, Value]
    body: Callable[[], Code]
    frame: Frame | None
    module: Module
    site: Site
    generator: bool = False
    coroutine: bool = False
    cell: list[Class] | None = None
    """Holds the class in whose body it was defined, once that is made: for `super()` without arguments."""
    attributes: dict[str, Value] = field(default_factory=dict)
    doc: str | None = None
    owner: str = ""
    """The class in whose body it was defined, by name."""

    @property
    def qualified_name(self) -> str:
        """The name with that of the class or function around it."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    def bind(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Any]:
        """The variables that a call starts with. TypeError as Python's for arguments that do not fit."""
        parameters = self.parameters
        names = parameters.positional
        count = len(args)
        if not kwargs and count == len(names) and parameters.star is None and not parameters.keywords:
            bound = dict(zip(names, args, strict=True))
            if parameters.double_star is not None:
                bound[parameters.double_star] = {}
            return bound
        bound = dict(zip(names, args, strict=False))
        if count > len(names):
            if parameters.star is None:
                raise TypeError(f"{self.name}() takes {len(names)} positional arguments but {count} were given")
            bound[parameters.star] = tuple(args[len(names) :])
        elif parameters.star is not None:
            bound[parameters.star] = ()
        rest: dict[str, Value] = {}
        by_name = parameters.by_name
        for word, value in kwargs.items():
            if word in by_name:
                if word in bound:
                    raise TypeError(f"{self.name}() got multiple values for argument '{word}'")
                bound[word] = value
            elif parameters.double_star is not None:
                rest[word] = value
            else:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{word}'")
        if parameters.double_star is not None:
            bound[parameters.double_star] = rest
        self.fill(bound)
        return bound

    @property
    def given_defaults(self) -> tuple[Value, ...]:
        """The defaults of the last positional parameters, as a program has set them, if it has."""
        found = self.attributes.get("__defaults__", self.defaults) if self.attributes else self.defaults
        return found if isinstance(found, tuple) else (found,) * len(self.parameters.positional) if found else ()

    def fill(self, bound: dict[str, Value]) -> None:
        """Put defaults where nothing is given. TypeError where a parameter has none, as Python's."""
        names = self.parameters.positional
        defaults = self.given_defaults
        first_default = len(names) - len(defaults)
        for position, word in enumerate(names):
            if word not in bound:
                if position < first_default:
                    raise TypeError(f"{self.name}() missing 1 required positional argument: '{word}'")
                bound[word] = defaults[position - first_default]
        keyword_defaults = self.keyword_defaults
        if self.attributes and isinstance(changed := self.attributes.get("__kwdefaults__"), dict):
            keyword_defaults = changed
        for word in self.parameters.keywords:
            if word not in bound:
                if word not in keyword_defaults:
                    raise TypeError(f"{self.name}() missing 1 required keyword-only argument: '{word}'")
                bound[word] = keyword_defaults[word]


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()`: attributes are looked up after `cls` in the receiver's method resolution order."""

    cls: Class
    receiver: Class | Instance
