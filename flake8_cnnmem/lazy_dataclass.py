"""`dataclass` as Python's own, but what a class needs of it is written when somebody asks for it.

Python's decorator looks at every field and compiles up to eight methods for every class when its module is imported,
and makes an import of two hundred of them cost as much as parsing a large file. Most classes of a run are never
instantiated, most instances never compared, and hardly any is asked for its `fields`. What comes out is a dataclass to
all of `dataclasses` (`fields`, `replace`, `astuple`) and to `pickle`.

Of the decorator's options those that this package uses.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from copy import copy
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_origin

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator, with or without options."""
        return made(cls, **options) if cls is not None else lambda cls: made(cls, **options)


MISSING = dataclasses.MISSING
FIELDS = "__dataclass_fields__"
"""Where `dataclasses` looks for the fields of a class."""

FEW = 12
"""Instances of a class that are made without an `__init__` of its own."""

OWN = "__own_fields__"
"""Where this module keeps those that a class declares itself."""


class Entry(NamedTuple):
    """One field: what `dataclasses.field` says of it."""

    name: str
    default: Any = MISSING
    factory: Any = MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True
    hash: bool | None = None
    """None: as it is compared."""


class Late:
    """An attribute of a class that is worked out when it is asked for, and kept."""

    def __init__(self, name: str, work: Callable[[type], Any]) -> None:
        self.name = name
        self.work = work

    def __get__(self, instance: object, owner: type) -> Any:
        for cls in owner.__mro__:
            if cls.__dict__.get(self.name) is self:
                found = self.work(cls)
                setattr(cls, self.name, found)
                return found
        raise AttributeError(self.name)


def entries(cls: type) -> list[Entry]:
    """The fields of a class in their order, those of its bases first; who declares one anew keeps its place."""
    found: dict[str, Entry] = {}
    for each in reversed(cls.__mro__):
        found.update({entry.name: entry for entry in each.__dict__.get(OWN, ())})
    return list(found.values())


def fields_of(cls: type) -> dict[str, Any]:
    """The fields as `dataclasses` has them: copies of one that Python's own decorator has made."""
    found: dict[str, Any] = {}
    for each in reversed(cls.__mro__):
        own = each.__dict__.get(OWN)
        if own is None:
            continue
        annotations = annotations_of(each)
        for entry in own:
            field = copy(FIELD)
            field.name, field.type = entry.name, annotations[entry.name]
            field.default, field.default_factory = entry.default, entry.factory
            field.init, field.repr, field.compare, field.hash = entry.init, entry.repr, entry.compare, entry.hash
            found[entry.name] = field
    return found


@dataclasses.dataclass(init=False, repr=False, eq=False)
class Made:
    """What Python's own decorator leaves in a class."""

    field: Any


FIELD: Any = dataclasses.fields(Made)[0]


@dataclasses.dataclass(init=False, repr=False, eq=False, frozen=True)
class MadeFrozen:
    """The same of a frozen one."""


PARAMETERS = {cls is MadeFrozen: cls.__dict__["__dataclass_params__"] for cls in (Made, MadeFrozen)}
"""What `dataclasses` notes of how a class was made, by whether it is frozen."""

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
    cls = declared(cls, slots, frozen)
    writers: dict[str, Callable[[type], str]] = {}
    if "__init__" not in own:
        cls.__init__ = postponed_initialiser(initialiser(frozen))  # type: ignore[misc]
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
            setattr(cls, name, postponed(name, write))
    if repr and "__repr__" not in own:
        cls.__repr__ = shown  # type: ignore[assignment]
    if frozen:
        freeze(cls)
        if slots and "__getstate__" not in own:
            cls.__getstate__ = state  # type: ignore[attr-defined]
            cls.__setstate__ = take_state  # type: ignore[attr-defined]
    return cls


def declared(cls: type, slots: bool, frozen: bool) -> type:
    """The class with its fields noted; with `slots` made anew, as slots cannot be added to one that is there."""
    namespace = dict(cls.__dict__)
    own = []
    for name, annotation in annotations_of(cls).items():
        if is_class_variable(annotation):
            continue
        # As Python's own: a descriptor gives the default itself, and a slot of a base is none.
        value = getattr(cls, name, MISSING)
        value = MISSING if isinstance(value, MemberDescriptorType) else value
        if isinstance(value, dataclasses.Field):
            given = (value.default, value.default_factory, value.init, value.repr, value.compare, value.hash)
            own.append(Entry(name, *given))
            if not slots and value.default is not MISSING:
                setattr(cls, name, value.default)
            elif not slots:
                delattr(cls, name)
        else:
            own.append(Entry(name, value))
    if slots:
        for entry in own:
            namespace.pop(entry.name, None)
        namespace.pop("__dict__", None)
        namespace.pop("__weakref__", None)
        inherited = {slot for each in cls.__mro__[1:-1] for slot in each.__dict__.get("__slots__", ())}
        namespace["__slots__"] = tuple(entry.name for entry in own if entry.name not in inherited)
        qualified = cls.__qualname__
        cls = type(cls)(cls.__name__, cls.__bases__, namespace)
        cls.__qualname__ = qualified
    made: Any = cls
    setattr(made, OWN, tuple(own))
    setattr(made, FIELDS, Late(FIELDS, fields_of))
    made.__dataclass_params__ = PARAMETERS[frozen]
    if "__match_args__" not in namespace:
        late = Late("__match_args__", lambda cls: tuple(each.name for each in entries(cls) if each.init))
        setattr(made, late.name, late)
    return cls


def annotations_of(cls: type) -> dict[str, Any]:
    """The annotations of a class's own body."""
    if sys.version_info >= (3, 14):
        return inspect.get_annotations(cls)
    found: dict[str, Any] = vars(cls).get("__annotations__", {})
    return found


def is_class_variable(annotation: Any) -> bool:
    text = annotation if isinstance(annotation, str) else ""
    return text.startswith(("ClassVar", "typing.ClassVar")) or get_origin(annotation) is ClassVar


def postponed(name: str, write: Callable[[type], str]) -> Callable[..., Any]:
    """A method that writes the one of this name, puts it in its own place, and calls it."""

    def first(self: Any, *arguments: Any, **named: Any) -> Any:
        # Who makes slots has put it into another class than the one that it was made for.
        owner = next(cls for cls in type(self).__mro__ if cls.__dict__.get(name) is first)
        method = compiled(owner, name, write(owner))
        setattr(owner, name, method)
        return method(self, *arguments, **named)

    return first


def postponed_initialiser(write: Callable[[type], str]) -> Callable[..., Any]:
    """The same for `__init__`, which is written for a class of which several instances are made: the first ones are
    filled here, as to compile it takes as long as thirty of them."""
    turns = 0

    def first(self: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal turns
        turns += 1
        owner = next(cls for cls in type(self).__mro__ if cls.__dict__.get("__init__") is first)
        if turns <= FEW and fill(self, owner, arguments, named):
            if hasattr(owner, "__post_init__"):
                self.__post_init__()
            return None
        method = compiled(owner, "__init__", write(owner))
        owner.__init__ = method  # type: ignore[misc]
        return method(self, *arguments, **named)

    return first


def fill(self: Any, owner: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set the fields as `__init__` would; False, and nothing done, where the arguments are not all known by name."""
    fields = entries(owner)
    parameters = [each.name for each in fields if each.init]
    given = dict(zip(parameters, arguments, strict=False))
    if len(arguments) > len(parameters) or not named.keys() <= {*parameters[len(arguments) :]}:
        return False
    given.update(named)
    if any(each.init and each.name not in given and each.default is each.factory for each in fields):
        return False
    for each in fields:
        if each.name in given:
            object.__setattr__(self, each.name, given[each.name])
        elif each.factory is not MISSING:
            object.__setattr__(self, each.name, each.factory())
        elif each.default is not MISSING:
            object.__setattr__(self, each.name, each.default)
    return True


def compiled(cls: type, name: str, text: str) -> Callable[..., Any]:
    """A method from its text. The text is written here, of names of fields, which Python has taken for identifiers."""
    given: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    for each in entries(cls):
        given[f"_default_{each.name}"] = each.default if each.default is not MISSING else each.factory
        slot = getattr(cls, each.name, None)
        if isinstance(slot, MemberDescriptorType):
            given[f"_set_{each.name}"] = slot.__set__
    exec(text, given)
    method: Callable[..., Any] = given[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def initialiser(frozen: bool) -> Callable[[type], str]:
    """What writes `__init__`: it takes the fields in their order, and calls `__post_init__` where there is one."""

    def write(cls: type) -> str:
        parameters, lines = ["self"], []
        for field in entries(cls):
            name, value = field.name, field.name
            made = field.factory is not MISSING
            if field.init and made:
                parameters.append(f"{name}=_MISSING")
                value = f"_default_{name}() if {name} is _MISSING else {name}"
            elif field.init:
                parameters.append(name if field.default is MISSING else f"{name}=_default_{name}")
            elif made:
                value = f"_default_{name}()"
            elif field.default is not MISSING:
                value = f"_default_{name}"
            else:
                continue
            if not frozen:
                lines.append(f"self.{name} = {value}")
            elif isinstance(getattr(cls, name, None), MemberDescriptorType):
                # By the slot itself: a third faster than by its name.
                lines.append(f"_set_{name}(self, {value})")
            else:
                lines.append(f"_set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        return f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])

    return write


def compared(cls: type, owner: str) -> str:
    names = [each.name for each in entries(cls) if each.compare]
    return f"({''.join(f'{owner}.{name}, ' for name in names)})"


def comparison(cls: type, name: str, sign: str) -> str:
    """As tuples of those fields that count, of instances of the same class."""
    return (
        f"def {name}(self, other):\n if other.__class__ is self.__class__:\n"
        f"  return {compared(cls, 'self')} {sign} {compared(cls, 'other')}\n return NotImplemented"
    )


def hashing(cls: type) -> str:
    counting = (each.name for each in entries(cls) if (each.compare if each.hash is None else each.hash))
    return f"def __hash__(self):\n return hash(({''.join(f'self.{name}, ' for name in counting)}))"


@recursive_repr()
def shown(self: Any) -> str:
    """`Call(op=..., inputs=...)`."""
    fields = (f"{each.name}={getattr(self, each.name)!r}" for each in entries(type(self)) if each.repr)
    return f"{type(self).__qualname__}({', '.join(fields)})"


def freeze(cls: Any) -> None:
    """Let nothing be set or deleted but by the initialiser."""
    names = frozenset(each.name for each in entries(cls))

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
    return [getattr(self, each.name) for each in entries(type(self))]


def take_state(self: Any, values: list[Any]) -> None:
    for each, value in zip(entries(type(self)), values, strict=True):
        object.__setattr__(self, each.name, value)


class Referable:
    """What may be referred to weakly, though it has slots."""

    __slots__ = ("__weakref__",)
