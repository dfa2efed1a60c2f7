"""Sizes of tensors: integers, multiples of the batch size, or unknown.

A size is an `int`, a `Batch` (a whole multiple of the batch size N, which has no value until memory is
added up) or an `Unknown`. All arithmetic on sizes goes through the functions below: they absorb
Unknowns and never guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Batch:
    """`multiple` times the batch size. `Batch(1)` is the batch itself."""

    multiple: int = 1

    def __repr__(self) -> str:
        return "N" if self.multiple == 1 else f"{self.multiple}N"


COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BatchTest:
    """A comparison that decides what a model computes: so many times the batch size with a number, and what came out
    at the batch size that is in force."""

    symbol: str
    multiple: int
    other: float
    answer: bool

    def holds(self, batch: int) -> bool:
        """Whether the answer is the same at this batch size."""
        return COMPARED[self.symbol](self.multiple * batch, self.other) is self.answer


Size: TypeAlias = int | Batch | Unknown
Shape: TypeAlias = tuple[Size, ...]

BATCH = Batch(1)


def is_size(value: object) -> TypeGuard[Size]:
    """Whether a value can stand in a shape: a whole number, a multiple of the batch, or unknown."""
    return isinstance(value, (int, Batch, Unknown)) and not isinstance(value, bool)


def as_size(value: object, otherwise: Unknown) -> Size:
    """A value as a size, and `otherwise` where it can be none (a list, a fraction)."""
    return value if is_size(value) else otherwise


def add(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if isinstance(left, Unknown):
        if isinstance(right, Unknown):
            # What is filled up to a length, before or behind, is that long.
            whole = left.together(right)
            return left if whole is None else whole
        return left.moved(right) if type(right) is int and left.place is not None else left
    if isinstance(right, Unknown):
        return right.moved(left) if type(left) is int and right.place is not None else right
    if isinstance(left, Batch) and isinstance(right, Batch):
        total = left.multiple + right.multiple
        return Batch(total) if total else 0
    if left == 0:
        return right
    if right == 0:
        return left
    return Unknown("a size is neither a number nor a multiple of the batch")


def cut(size: Unknown, start: object, stop: object, step: object) -> Unknown:
    """What `[start:stop]` leaves of an axis of which nobody knows how long it is: at most so much as lies between."""
    begin = 0 if start is None else start
    plain = step in (None, 1) and type(begin) is int and type(stop) is int and 0 <= begin < stop
    return size.cut(stop - begin) if plain and isinstance(stop, int) and isinstance(begin, int) else size


def negate(size: Size) -> Size:
    if isinstance(size, int):
        return -size
    if isinstance(size, Unknown):
        return size.multiplied(-1) if size.place is not None else size
    return Batch(-size.multiple) if isinstance(size, Batch) else size


def subtract(left: Size, right: Size) -> Size:
    return add(left, negate(right))


def multiply(left: Size, right: Size) -> Size:
    if isinstance(left, int):
        if isinstance(right, int):
            return left * right
        if isinstance(right, Batch) and left:
            return Batch(left * right.multiple)
    if isinstance(left, Unknown):
        return left if left.grows is None else grown(left, right)
    if isinstance(right, Unknown):
        return right if right.grows is None else grown(right, left)
    if isinstance(left, Batch) and isinstance(right, Batch):
        return Unknown("a size grows with the square of the batch", grows=(left.multiple * right.multiple, 2))
    batch, number = (left, right) if isinstance(left, Batch) else (right, left)
    if not isinstance(batch, Batch) or not isinstance(number, int):
        return Unknown("a size is not a whole number")
    return Batch(batch.multiple * number) if number else 0


def grown(size: Unknown, by: Size) -> Size:
    """A size that grows with a power of the batch, so many times."""
    assert size.grows is not None
    multiple, power = size.grows
    if isinstance(by, Unknown):
        return by if by.grows is None else replace(size, grows=(multiple * by.grows[0], power + by.grows[1]))
    if isinstance(by, Batch):
        return replace(size, grows=(multiple * by.multiple, power + 1))
    return replace(size, grows=(multiple * by, power)) if by else 0


def floor_divide(left: Size, right: Size) -> Size:
    """`left // right`; ZeroDivisionError as in Python."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    if isinstance(left, Batch):
        if isinstance(right, int) and left.multiple % right == 0:
            return Batch(left.multiple // right)
        if isinstance(right, Batch) and left.multiple % right.multiple == 0:
            return left.multiple // right.multiple
    return 0 if left == 0 else Unknown("a size is not a whole multiple of the batch")


def modulo(left: Size, right: Size) -> Size:
    """`left % right`; ZeroDivisionError as in Python."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    divisor = right.multiple if isinstance(right, Batch) else right
    if isinstance(left, Batch) and left.multiple % divisor == 0:
        return 0
    return 0 if left == 0 else Unknown("whether the batch divides is not known")


def same(left: Size, right: Size) -> bool | None:
    """Whether two sizes are equal; None where that cannot be decided (an Unknown, or N against a number)."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if type(left) is type(right):
        return left == right
    return None


def product(sizes: Iterable[Size]) -> Size:
    """The number of values in a tensor of this shape."""
    number = 1
    rest = iter(sizes)
    for size in rest:
        if type(size) is not int:
            break
        number *= size
    else:
        return number
    total = multiply(number, size)
    if isinstance(total, Batch):
        # Most shapes are the batch and numbers.
        number = 1
        for size in rest:
            if type(size) is not int:
                total = multiply(multiply(total, number), size)
                break
            number *= size
        else:
            return multiply(total, number)
    for size in rest:
        total = multiply(total, size)
    return total


def differ(left: Shape, right: Shape) -> bool:
    """Whether two shapes are certainly not the same."""
    return len(left) != len(right) or any(same(a, b) is False for a, b in zip(left, right, strict=True))


def known(sizes: Iterable[Size]) -> bool:
    """Whether every size is a number or a multiple of the batch."""
    return not any(isinstance(size, Unknown) for size in sizes)


def first_unknown(sizes: Iterable[Size]) -> Unknown | None:
    return next((size for size in sizes if isinstance(size, Unknown)), None)


def per_sample(size: Size) -> int | Unknown:
    """Values for each sample of the batch: a multiple's factor, and a number as it is."""
    return size.multiple if isinstance(size, Batch) else size


def at_batch(size: Size, batch_size: int) -> int | Unknown:
    """The number that a size is at this batch size."""
    return size.multiple * batch_size if isinstance(size, Batch) else size


def show(shape: Shape) -> str:
    """`(N, 64, ?, ?)`: a shape as messages print it."""
    inner = ", ".join("?" if isinstance(size, Unknown) else repr(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def drop_batch(shape: Shape) -> list[int | None]:
    """A shape for the report: the batch axis left out, which leads unless it is a later one (time first); null where a
    size is not known."""
    at = 0
    if shape and not isinstance(shape[0], Batch) and any(isinstance(size, Batch) for size in shape):
        # An axis that holds several values for each sample stays, as that many.
        at = shape.index(BATCH) if BATCH in shape else len(shape)
    rest = shape[:at] + shape[at + 1 :]
    return [None if isinstance(size, Unknown) else size.multiple if isinstance(size, Batch) else size for size in rest]


def ceil_divide(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return -(-left // right)
    return negate(floor_divide(negate(left), right))


def root(size: int, degree: int) -> int | None:
    """The whole `degree`-th root of a number, or None."""
    guess = round(size ** (1 / degree)) if size > 0 else 0
    return next((n for n in (guess - 1, guess, guess + 1) if n > 0 and n**degree == size), None)


def read(shape: Shape | Unknown) -> Shape | Unknown:
    """A shape as a program reads it: each size that is not known is a whole number, with no relation to others but that
    in which it was made. One that is a count is the same number each time."""
    if isinstance(shape, Unknown):
        return shape
    return tuple(size_read(size, shape) if isinstance(size, Unknown) else size for size in shape)


def size_read(size: Unknown, shape: Shape) -> Unknown:
    """One size of a shape that nobody knows, as a program reads it."""
    if size.number != "int":
        return size.another("int")
    if size.place is not None:
        return size
    return size.moved(0) if sum(each is size for each in shape) == 1 else size.another("int")
