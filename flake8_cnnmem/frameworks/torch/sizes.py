"""`torch.Size`: what `x.shape` and `x.size()` give, a tuple that torch knows from data in a tuple."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Value, native


class Sizes(tuple[Any, ...]):
    """The sizes of a tensor's axes. The interpreter looks names that a tuple has not up in `more`."""

    __slots__ = ()
    more: ClassVar[dict[str, Value]] = {}

    def __getitem__(self, key: Any) -> Any:
        """A part of them are sizes."""
        found = super().__getitem__(key)
        return Sizes(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Any:
        """With those of a tuple behind them they are sizes."""
        return Sizes((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        """With those of a tuple before them they are sizes."""
        return Sizes((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        """Repeated they are sizes."""
        return Sizes(tuple(self) * count)


def sizes_read(shape: Shape | Unknown) -> Sizes | Unknown:
    """A shape as a program reads it."""
    found = dims.read(shape)
    return found if isinstance(found, Unknown) else Sizes(found)


def count(run: Runtime, sizes: Iterable[Any]) -> Value:
    """`x.shape.numel()`: the product of the sizes."""
    return dims.product(tuple(sizes))


Sizes.more["numel"] = native("numel", count)


def size_of(run: Runtime, cls: Class, sizes: Value = ()) -> Value:
    """`torch.Size(sizes)`: a tuple of sizes."""
    items = run.items(sizes)
    return items if isinstance(items, Unknown) else Sizes(items)


SIZE = Class("Size", (), {"__new__": native("__new__", size_of)}, host=tuple, module="torch")
"""torch.Size. Whoever asks whether a shape is one is told that any tuple is."""
