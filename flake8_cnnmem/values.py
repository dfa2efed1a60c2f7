"""What the interpreted code's names hold.

Python's own plain values stand for themselves: int, float, complex, bool, None, str, bytes, tuple, list, dict,
set, frozenset, range, slice, Ellipsis, collections.OrderedDict / deque / Counter. Beside them there are the
classes of this module, `graph.Tensor` / `graph.Weight`, `dims.Batch` and `unknown.Unknown`.

A `Native` is a function that we provide in place of one without Python source: a builtin, a framework's
primitive. It is an ordinary Python function whose first parameter is the `Runtime` (`runtime.py`), and whose remaining
signature is the real function's own, so that Python itself does the argument binding and the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import count
from typing import Any, TypeAlias

from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Leaving, Unknown

Value: TypeAlias = object
"""Any value of the interpreted program: one of the kinds above. What it is has to be asked before anything is done with
it, by `isinstance` or one of the functions that narrow it (`is_layer`, `is_size`, `concrete`, ...).

To type checkers it is an `object`, which refuses whatever a union of all kinds refuses; spelled out as that union, of
two dozen members, it made a check of this package take over ten minutes instead of twelve seconds.

`Any` stands only where nobody can ask: for what natives keep (attributes of our own classes, `payload`, `native`), and
for arguments that are handed to Python's own operations, whose refusal is told apart afterwards
(`evaluate/host_errors.py`). A native's parameter may say what the function takes (`Tensor`, `Size`, `Class`): the real
function refuses the rest with a TypeError, and so do the ops and Python's operations.
"""


class Missing:
    """The one object `MISSING`: no such name or attribute (None is a value)."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@dataclass(frozen=True, slots=True, eq=False)
class Native:
    """A function of ours: called as `function(run, *args, **kwargs)`.

    With `propagate_unknown` (the default) a call with an Unknown among its arguments gives that Unknown and the
    function is not run; without it the function sees Unknowns and deals with them itself.
    TypeError, ValueError, KeyError, IndexError, AttributeError, StopIteration, ZeroDivisionError,
    OverflowError and the like that it raises become the same exception in the interpreted program.
    """

    name: str
    function: Callable[..., Value]
    propagate_unknown: bool = True
    spread: Callable[[Any, Any, Unknown], None] | None = None
    """For a method that changes its receiver: what a call of it leaves of that whose arguments are not known, not even
    how many (`d.update(**options)`)."""
    of_values: bool = False
    """Whether the values of a parameter (`weight.data`) are something of their own to it, and not the parameter."""
    lacks: Callable[[Any], tuple[str, ...]] | None = None
    """For a constructor that is made of a class's fields: those of a class that have no default, by name."""


def native(name: str, function: Callable[..., Any]) -> Native:
    """A function of ours that sees Unknowns among its arguments and deals with them itself."""
    return Native(name, function, propagate_unknown=False)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A method: `function` (a Function, a Native, or any other callable value) with its first argument."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """`fget`, `fset` and `fdel` are callable values; all get the instance first."""

    fget: Value
    fset: Value = None
    fdel: Value = None


@dataclass(frozen=True, slots=True, eq=False)
class StaticMethod:
    function: Value


@dataclass(frozen=True, slots=True, eq=False)
class ClassMethod:
    function: Value


@dataclass(slots=True, eq=False, repr=False)
class Class:
    """A class, of the user's code or native. `namespace` holds Functions, Natives, Properties and plain values.

    `host` is the Python type whose values are this class's instances (int for `int`), or None.
    `mro` is computed by `linearise` and starts with the class itself.
    """

    name: str
    bases: tuple[Class, ...] = ()
    namespace: dict[str, Any] = field(default_factory=dict)
    host: type | None = None
    module: str = ""
    mro: tuple[Class, ...] = ()
    site: Site | None = None
    unknown_base: Unknown | None = None
    """Set when a base class could not be resolved: a missing attribute is then unknown, not absent."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What natives keep about a class (dataclass fields, a layer's stub)."""
    by_native: bool = False
    """Whether instances that hold the same `native` are one key of a dict (dtypes)."""

    def __repr__(self) -> str:
        return f"<class {self.name}>"

    def __post_init__(self) -> None:
        if not self.mro:
            self.mro = linearise(self)

    def find(self, name: str) -> Value:
        """The attribute as the classes of the mro hold it, or MISSING."""
        for cls in self.mro:
            namespace = cls.namespace
            if name in namespace and namespace[name] is not MISSING:
                return namespace[name]
        return MISSING

    def derives_from(self, other: Class) -> bool:
        return other in self.mro

    def any_unknown_base(self) -> Unknown | None:
        for cls in self.mro:
            if cls.unknown_base is not None:
                return cls.unknown_base
        return None


def linearise(cls: Class) -> tuple[Class, ...]:
    """The C3 method resolution order. TypeError where there is none, as in Python."""
    if len(cls.bases) == 1:
        return (cls, *cls.bases[0].mro)
    sequences = [list(base.mro) for base in cls.bases] + [list(cls.bases)]
    order = [cls]
    while any(sequences):
        for sequence in sequences:
            if sequence and not any(sequence[0] in other[1:] for other in sequences):
                chosen = sequence[0]
                break
        else:
            raise TypeError("Cannot create a consistent method resolution order (MRO)")
        order.append(chosen)
        for sequence in sequences:
            if sequence and sequence[0] is chosen:
                del sequence[0]
    # Native classes do not write down that they derive from `object`, which is the last one of all.
    return tuple(sorted(order, key=is_object))


def is_object(cls: Class) -> bool:
    return cls.name == "object" and cls.module == "builtins"


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """An object of a Class. `payload` is the host value of a subclass of a builtin (a dict for `class D(dict)`);
    `native` is what a native class keeps about it (a Keras layer's state)."""

    cls: Class
    attributes: dict[str, Any] = field(default_factory=dict)
    payload: Any = None
    native: Any = None
    site: Site | None = None
    """Where it was constructed."""
    turn: int = 0
    """Its place among the objects that have been put into sets and dicts; 0 if it never was."""

    def __repr__(self) -> str:
        return f"<{self.cls.name} object>"

    def __eq__(self, other: object) -> bool:
        """As keys of host dicts: an instance of a str's, number's or tuple's subclass is what it holds."""
        if self.cls.by_native:
            return isinstance(other, Instance) and other.cls is self.cls and bool(other.native == self.native)
        if self is other or not isinstance(self.payload, (str, bytes, int, float, tuple, frozenset)):
            return self is other
        return bool(self.payload == (other.payload if isinstance(other, Instance) else other))

    def __hash__(self) -> int:
        if self.cls.by_native:
            return hash(self.native)
        if isinstance(self.payload, (str, bytes, int, float, tuple, frozenset)):
            return hash(self.payload)
        if not self.turn:
            self.turn = next(TURNS)
        return object.__hash__(self)


TURNS = count(1)


def in_turn(items: Iterable[Value]) -> list[Value]:
    """The items of a set: objects in the order in which they came to be in sets, which is the same in every run, as the
    order of the host's set is not. Other values that hash by where they lie (weights, classes) by their names."""
    return sorted(items, key=lambda item: (getattr(item, "turn", 0), str(getattr(item, "name", ""))))


@dataclass(slots=True, eq=False)
class Namespace:
    """A native module such as `torch.nn` or `math`: names to values, worked out when asked.

    `lookup` gives a value or MISSING. `holds` says whether the module has a name that is missing: then it is known to
    exist and not followed, else it is an AttributeError. None where nobody has written down what the module has.
    """

    name: str
    lookup: Callable[[str], Value]
    holds: Callable[[str], bool] | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    exported: Callable[[str], bool] | None = None
    """Whether `import *` brings a name along; None where it brings whatever `lookup` knows."""
    names: Callable[[], Sequence[str]] | None = None
    """All public names that the module has; None where nobody has written them down."""
    older: Callable[[str], bool] | None = None
    """Whether a name is one that earlier versions had, so that it depends on the version whether it is there."""
    stands_in: bool = False
    """Whether it is what is known of a module whose source is not found."""
    noted: Callable[[Any, str], None] | None = None
    """Called with the Runtime and each name that code asks of it, where that tells something of the program."""


class Stream(Iterator[Value]):
    """An iterator over data of which nobody knows how much there is: batches, lines of a file.

    One item stands for all. A loop over it runs its body once, and again as long as `again` says that the next turn
    finds something else in memory; `next()` gives an item as often as it is asked. `rest` gives those behind the ones
    that were drawn, for who puts all of them into a container; `unsaid` why it is not known how many there are, where
    that is all that is known of them; `samples` how many there are, where they are samples of a data set.
    """

    rest: Callable[[int], list[Value]] = staticmethod(lambda drawn: [])
    unsaid: Unknown | None = None
    samples: int | None = None
    left: Callable[[], int] = staticmethod(lambda: 0)
    """How many items are known to come that are unlike those so far."""

    def __length_hint__(self) -> int:
        return self.left()

    def __init__(self, draw: Callable[[], Value], again: Callable[[], bool] | None = None) -> None:
        self.draw, self.again, self.drawn = draw, again, False
        self.taken = 0
        """How many items `next()` was asked for."""

    def take(self) -> Value:
        """The item that `next()` gives. StopIteration where there is none for certain."""
        self.taken += 1
        return self.draw()

    def __next__(self) -> Value:
        if self.drawn and (self.again is None or not self.again()):
            raise StopIteration
        self.drawn = True
        return self.draw()


ONE_FOR_ALL = "one item stands for all"
"""A fact of native classes: instances of their subclasses are long sequences (data sets), gone through as a Stream."""


WITHOUT_SIZES = "says nothing of sizes"
"""A fact of native classes: their instances are handed on to models beside the inputs (keys of random numbers)."""


class Raised(Leaving):
    """An exception of the interpreted program: `value` is an Instance of an exception class."""

    def __init__(self, value: Instance) -> None:
        super().__init__(value.cls.name)
        self.value = value


def is_callable(value: Value) -> bool:
    """Whether a value is a function or class for certain (instances decide by their class's `__call__`)."""
    return isinstance(value, (Native, Bound, Class)) or type(value).__name__ == "Function"
