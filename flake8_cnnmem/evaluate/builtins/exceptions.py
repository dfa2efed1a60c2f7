"""The builtin exceptions. An exception of the interpreted program is an Instance of one of these classes."""

from __future__ import annotations

import builtins

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.formatting import to_repr, to_str
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

names = Names()


@names.function("__init__", propagate_unknown=False)
def initialise(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> None:
    """`BaseException(*args)`: keeps its arguments."""
    self.attributes["args"] = args


def arguments(self: Instance) -> tuple[Value, ...]:
    """The arguments of an exception."""
    found = self.attributes.get("args", ())
    return found if isinstance(found, tuple) else ()


@names.function("__str__", propagate_unknown=False)
def string(run: Runtime, self: Instance) -> str | Unknown:
    """`str(exception)`: its one argument, or all as a tuple."""
    args = arguments(self)
    if not args:
        return ""
    return to_str(run, args[0] if len(args) == 1 else args)


@names.function("__repr__", propagate_unknown=False)
def representation(run: Runtime, self: Instance) -> str | Unknown:
    """`repr(exception)`: its class and arguments."""
    args = arguments(self)
    inner = to_repr(run, args)
    if isinstance(inner, Unknown):
        return inner
    return self.cls.name + (f"({inner[1:-2]})" if len(args) == 1 else inner)


@names.function("with_traceback", propagate_unknown=False)
def with_traceback(run: Runtime, self: Instance, traceback: Value) -> Instance:
    """The exception itself: tracebacks are not kept."""
    return self


@names.function("add_note", propagate_unknown=False)
def add_note(run: Runtime, self: Instance, note: Value) -> None:
    """A note is never printed."""


names["args"] = ()
for word in ("__traceback__", "__cause__"):
    names[word] = None
names["__context__"] = Property(
    Native("__context__", lambda run, self: run.unknown("the exception that was handled before is not kept"))
)
names["__suppress_context__"] = False


def key_error_string(run: Runtime, self: Instance) -> str | Unknown:
    """A KeyError prints its key as `repr` does."""
    args = arguments(self)
    return to_repr(run, args[0]) if len(args) == 1 else string(run, self)


def nth_argument(position: int) -> Property:
    """An attribute that is one of an exception's arguments (`errno`, `value`), None where it has fewer."""

    def get(run: Runtime, self: Instance) -> Value:
        args = arguments(self)
        return args[position] if position < len(args) else None

    return Property(Native("argument", get))


OWN: dict[str, dict[str, Value]] = {
    "BaseException": dict(names),
    "KeyError": {"__str__": Native("__str__", key_error_string)},
    "StopIteration": {"value": nth_argument(0)},
    "SystemExit": {"code": nth_argument(0)},
    "OSError": {"errno": nth_argument(0), "strerror": nth_argument(1), "filename": nth_argument(2)},
}

EXCEPTIONS: dict[str, Class] = {}
"""Every builtin exception class by name, as the running Python has them; aliases (IOError) share a class."""


def enter(kind: type[BaseException]) -> Class:
    """The class of a host's exception, and those of its bases, by name among the builtins."""
    if kind.__name__ not in EXCEPTIONS:
        bases = tuple(enter(base) if issubclass(base, BaseException) else OBJECT for base in kind.__bases__)
        own = dict(OWN.get(kind.__name__, {}))
        EXCEPTIONS[kind.__name__] = Class(kind.__name__, bases, own, module="builtins")
    return EXCEPTIONS[kind.__name__]


for entry in list(vars(builtins).values()):
    if isinstance(entry, type) and issubclass(entry, BaseException):
        enter(entry)
for alias in ("IOError", "EnvironmentError"):
    EXCEPTIONS[alias] = EXCEPTIONS["OSError"]
