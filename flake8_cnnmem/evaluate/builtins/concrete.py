"""Values that Python itself can compute with, and functions of the host that are safe to hand them to."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

SCALARS: set[type] = {
    int, float, bool, str, type(None), complex, bytes, range, type(...), type(NotImplemented), PurePosixPath,
}  # fmt: skip
"""Types whose values are what they are, all the way down."""

SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)

DEPTH = 40
"""How deep containers are looked into; a deeper or a cyclic one is not followed."""


def concrete(run: Runtime, value: Value, depth: int = 0) -> Any:
    """The plain Python value, containers included, or the Unknown in it.

    Instances of subclasses of builtin types give their payload, tensors of one known value that value.
    """
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    if kind is Unknown:
        return value
    if isinstance(value, Instance) and value.payload is not None:
        return concrete(run, value.payload, depth)
    if isinstance(value, Batch):
        return run.unknown("the batch size has no value here")
    if isinstance(value, Tensor):
        return scalar(run, value)
    if depth > DEPTH:
        return run.unknown("a container is nested too deeply")
    if run.havocked and id(value) in run.havocked:
        return run.havocked[id(value)][1]
    if isinstance(value, SEQUENCES):
        run.spend(len(value) // 16 + 1)
        items = [item if type(item) in SCALARS else concrete(run, item, depth + 1) for item in value]
        cause = next((item for item in items if type(item) is Unknown), None)
        return cause if cause is not None else kind(items)
    if isinstance(value, dict):
        run.spend(len(value) // 16 + 1)
        pairs = [(concrete(run, key, depth + 1), concrete(run, item, depth + 1)) for key, item in value.items()]
        cause = next((part for pair in pairs for part in pair if type(part) is Unknown), None)
        return cause if cause is not None else OrderedDict(pairs) if isinstance(value, OrderedDict) else dict(pairs)
    if isinstance(value, (slice, bytearray)):
        return value
    return run.unknown(f"a {type_name(value)} has no plain value")


def type_name(value: Value) -> str:
    """A value's type as messages name it."""
    return value.cls.name if type(value) is Instance else type(value).__name__.lower()


def scalar(run: Runtime, tensor: Tensor) -> Any:
    """The one value of a tensor, where it is known."""
    data = tensor.data
    while isinstance(data, tuple) and len(data) == 1:
        data = data[0]
    if data is None or isinstance(data, tuple):
        return run.unknown("the values of a tensor are not known")
    return data


def number(run: Runtime, value: Value) -> Any:
    """A plain number (an int, a float, a complex), or Unknown; TypeError for what is no number."""
    plain = concrete(run, value)
    if isinstance(plain, (int, float, complex, Unknown)):
        return plain
    raise TypeError(f"must be real number, not {type_name(value)}")


def pure(name: str, function: Callable[..., Any], size: Callable[..., int] | None = None) -> Native:
    """A Native that hands plain values to a function of the host.

    `size` gets the same arguments and gives the length of the result, which is asked for beforehand; a
    function without it must not make anything much larger than its arguments.
    """

    def native(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
        plain = [arg if type(arg) in SCALARS else concrete(run, arg) for arg in args]
        named = {word: concrete(run, arg) for word, arg in kwargs.items()}
        for arg in (*plain, *named.values()):
            if type(arg) is Unknown:
                return arg
            if isinstance(arg, (str, bytes)):
                run.spend(len(arg) // 64)
            elif isinstance(arg, int):
                run.spend(1 + arg.bit_length() // 16)
        try:
            if size is not None:
                run.check_size(size(*plain, **named))
            return function(*plain, **named)
        except AttributeError as error:
            raise TypeError(str(error)) from None

    return Native(name, native)


LONGEST_PATH = 4096
"""Letters of a path, as Linux allows."""

PATH_STEPS = 8
"""What the handling of a path costs beside its length."""


def of_paths(name: str, function: Callable[..., Any]) -> Native:
    """As `hosted`, for a function of paths: those that no system would take are not followed."""

    def native(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
        plain = concrete(run, (args, kwargs))
        if isinstance(plain, Unknown):
            return plain
        positional, named = plain
        length = sum(
            len(str(each)) for arg in positional for each in (arg if isinstance(arg, (list, tuple)) else (arg,))
        )
        if length > LONGEST_PATH:
            return run.unknown("a path is longer than any system allows")
        run.spend(PATH_STEPS + length // 8)
        try:
            return function(*positional, **named)
        except AttributeError as error:
            raise TypeError(str(error)) from None

    return Native(name, native)
