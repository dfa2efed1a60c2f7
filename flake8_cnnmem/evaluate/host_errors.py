"""Whose error it is when Python raises one in our own code: the program's, nobody's, or a mistake of ours.

Natives hand the plain values of a program to Python's own operations, and do not look at them first: what Python
cannot take is told apart here, once it has been refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins import BUILTINS
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown, internal_error
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Property, Raised, StaticMethod, Stream, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

TRANSLATED = (TypeError, ValueError, ArithmeticError, LookupError, StopIteration, MemoryError, OSError)
"""What Python raises when natives hand it the plain values of a program: the program's own errors. Whatever else
leaves a native is a mistake of ours, unless it was called on what it is no method of."""

OUR_TYPES = re.compile(r"\b(?:Unknown|Tensor|Weight|Batch|Instance|Stream|Missing)\b")
"""The types that Python's own operations know nothing of. A TypeError that names one says that Python was given what
only the interpreter can deal with."""

NOT_PLAIN = {Tensor: "a tensor", Weight: "a weight", Batch: "the batch size", Stream: "data of unknown length"}
"""In words, what Python's own operations refuse and the program's own may well take."""

OTHER_ARGUMENTS = re.compile(
    r"unexpected keyword argument|multiple values for|positional arguments? but|required position"
)

IN_PYTHON = {
    "Native": "builtin_function_or_method", "Bound": "method", "Function": "function", "Class": "type",
    "Namespace": "module", "Module": "module",
}  # fmt: skip
"""The names that Python's messages would give to the interpreter's own kinds of values."""

KINDS = re.compile(rf"'({'|'.join(IN_PYTHON)})'")

HARMLESS = {
    "__new__", "__init__", "__init_subclass__", "__post_init__", "__module__", "__doc__", "__dict__", "__repr__",
    "__str__", "__class_getitem__", "__slots__", *BUILTINS["object"].namespace,
}  # fmt: skip
"""Special methods that make of an object nothing which Python's operations would take."""

NESTED, LOOKED_AT = 3, 1000
"""How deep in containers, and at how many values, the culprit is looked for."""


def of_host_error(
    run: Interpreter,
    error: Exception,
    args: tuple[Value, ...],
    kwargs: Mapping[str, Value] | None = None,
    native: Native | None = None,
) -> Unknown:
    """What a Python exception means that came out of our own code, which was given these arguments.

    One of the program's, which is raised in it. Or nobody's: Python was given what only the interpreter knows of, and
    the answer is not known. Or a mistake of ours, which is a cause like any other, and is let out where the strict
    switch asks for it.
    """
    named = OUR_TYPES.findall(str(error)) if isinstance(error, TypeError) else []
    if native is not None and isinstance(error, TypeError) and OTHER_ARGUMENTS.search(str(error)):
        if frameworks.is_tensor_method(native):
            # Methods have more forms than one, and ours may lack one of them.
            return run.unknown(f"the arguments of {native.name} are not followed as they are given here")
    if isinstance(error, TRANSLATED) and not named:
        raise to_raised(run, error) from error
    if native is not None and args:
        wrong = wrong_receiver(run, native, args[0])
        if wrong is not None:
            return wrong
    for value in culprits([*args, *(kwargs or {}).values()], NESTED) if named else ():
        if type(value).__name__ in named:
            return refused(run, error, value)
    if run.strict:
        raise error
    return run.unknown(internal_error(error).reason)


def refused(run: Interpreter, error: Exception, value: Value) -> Unknown:
    """What Python's refusal of one of our values means: where nothing could have taken it, the program's TypeError."""
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, Instance):
        return run.unknown(f"{NOT_PLAIN.get(type(value), 'a value')} is not followed here ({error})")
    cause = value.cls.any_unknown_base()
    if cause is not None:
        return cause
    words = {word for cls in value.cls.mro for word in cls.namespace if word.startswith("__")}
    if value.payload is None and words <= HARMLESS:
        raise to_raised(run, TypeError(str(error).replace("Instance", value.cls.name))) from error
    return run.unknown(f"an object of the class {value.cls.name} is not followed here")


def culprits(values: Iterable[Value], depth: int) -> Iterator[Value]:
    """Values, and what the containers among them hold, as far as is worth the while."""
    for value, _ in zip(values, range(LOOKED_AT), strict=False):
        yield value
        if depth and isinstance(value, (list, tuple, set, frozenset)):
            yield from culprits(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from culprits([*value, *value.values()], depth - 1)


def wrong_receiver(run: Interpreter, native: Native, receiver: Value) -> Unknown | None:
    """What a method gives that is called on what it is no method of, or on an object that nobody initialised.

    None where the receiver is as it should be. Raises the program's TypeError where it can only be one.
    """
    if isinstance(receiver, Unknown):
        return receiver
    code = getattr(native.function, "__code__", None)
    first = code.co_varnames[1:2] if code is not None else ()
    if first == ("cls",) and not isinstance(receiver, Class):
        raise to_raised(run, TypeError(f"{native.name}(X): X is not a type object ({run.type_name(receiver)})"))
    if isinstance(receiver, (Tensor, Weight)):
        return None
    if first not in (("self",), ("cls",)) and not frameworks.is_tensor_method(native):
        return None
    cls = receiver if isinstance(receiver, Class) else run.type_of(receiver)
    if isinstance(cls, Unknown):
        return None
    if isinstance(receiver, Instance) and receiver.payload is None and receiver.native is None:
        return run.unknown(f"an object of the class {cls.name} is not initialised")
    if any(native in functions(member) for each in cls.mro for member in each.namespace.values()):
        return None
    kind = run.type_name(receiver)
    raise to_raised(run, TypeError(f"descriptor '{native.name}' doesn't apply to a {kind}"))


def functions(member: Value) -> tuple[Value, ...]:
    """What a class's attribute consists of."""
    if isinstance(member, Property):
        return member.fget, member.fset
    return (member.function,) if isinstance(member, (StaticMethod, ClassMethod)) else (member,)


def to_raised(run: Interpreter, error: BaseException) -> Raised:
    """One of Python's own exceptions as the same exception of the interpreted program."""
    for cls in type(error).__mro__:
        found = BUILTINS.get(cls.__name__)
        if isinstance(found, Class):
            argument = error.args[0] if error.args else ""
            if isinstance(argument, str):
                argument = KINDS.sub(lambda kind: f"'{IN_PYTHON[kind[1]]}'", argument)
            args = (argument,) if error.args or not isinstance(error, StopIteration) else ()
            return Raised(Instance(found, {"args": args}, site=run.site))
    return run.error("Exception", str(error))
