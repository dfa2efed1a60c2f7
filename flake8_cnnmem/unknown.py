"""What could not be decided, and why. The lowest room: everything may carry an Unknown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.text.lines import in_words


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be decided, with the first cause.

    An Unknown propagates (an operation with one gives that same Unknown), so the
    cause that reaches the user is the first one. `path` and `line` (1-based) say where it arose;
    they are empty and 0 when no source line is to blame.
    """

    reason: str
    path: str = ""
    line: int = 0
    something: bool = field(default=False, compare=False)
    """Whether it cannot be None: a length, a number, the result of arithmetic."""
    divisor: int | None = field(default=None, compare=False)
    """What it was divided by, where it is a number that was divided once: how many steps an epoch of so many samples
    has tells how many a step takes."""

    instead: object = field(default=None, compare=False, repr=False)
    """What it is if it is not None, where a branch that may not be taken gives None: for who cannot be given None."""

    upper: bool = field(default=False, compare=False)
    """Whether the figure can only be smaller for it: what was counted is as much as there may be."""

    def divided(self, by: float) -> Unknown:
        """What dividing it gives."""
        once = self.divisor is None and by >= 1 and by == int(by)
        return replace(
            self, something=True, divisor=int(by) if once else 0, place=None, span=None, length=None, asks=None
        )

    def as_something(self) -> Unknown:
        """The same where it is certain not to be None."""
        return self if self.something else replace(self, something=True)

    number: str = field(default="", compare=False)
    """"int" or "float" where it is a plain number of that kind for certain: what is drawn at random, a length."""

    span: tuple[float, float, bool] | None = field(default=None, compare=False, repr=False)
    """Of a number that is drawn at random: the least that it may be, the most, and whether it may be that much."""

    place: tuple[Unknown, int, int] | None = field(default=None, compare=False, repr=False)
    """Of a whole number that is so many times another one, which is not known either, and so much more: that one, how
    many times, and how much."""

    difference: tuple[Unknown | int, Unknown] | None = field(default=None, compare=False, repr=False)
    """Of a whole number: the two others that it is the difference of. What is filled up by it is as long as the first
    of them."""

    stride: int | None = field(default=None, compare=False)
    """Of a number of a range whose end is not known: how much more the next one is."""

    left: int | None = field(default=None, compare=False)
    """Of how much there is behind such a number: how much there is at least, wherever a next one follows."""

    sequence: bool = field(default=False, compare=False)
    """Whether it is a part of something in a row (`x.shape[2:]`), and no single item."""

    items: int | None = field(default=None, compare=False)
    """How many items it has where it is a whole part of something long that is not known: a batch of its names."""

    sides: tuple[Any, Any] | None = field(default=None, compare=False, repr=False)
    """Of the shape of a picture with or without an axis of channels behind: its height and width."""

    grows: tuple[int, int] | None = field(default=None, compare=False, repr=False)
    """Of a number of values that grows with a power of the batch size: what is multiplied by it, and the power. It is
    no multiple of the batch, but a number as soon as that is one."""

    known: Mapping[str, object] | None = field(default=None, compare=False, repr=False)
    """Attributes that are known of it whatever it is: what `convert` gives of something in a data set is an image."""

    loaded: str = field(default="", compare=False)
    """"file" where it is all that a file holds, whose tensors may lie on the device, "part" where it is made of that: a
    number of it, or a part of its tensors."""

    of_layers: bool = field(default=False, compare=False)
    """Whether it may be a layer, or what makes one: several are there to choose from."""

    among: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The objects of which it is one, where those are known."""

    length: Unknown | None = field(default=None, compare=False, repr=False)
    """How many items it has, where it is a part of something in a row: a number that is not known, and its own."""

    capped: tuple[Unknown, int, int] | None = field(default=None, compare=False, repr=False)
    """Of the length of what was cut: the number that the length before it was computed from, how much more it was, and
    where it was cut. Cut there again it is as long."""

    asks: tuple[Unknown, str, int] | None = field(default=None, compare=False, repr=False)
    """Of a test that nobody knows: the whole number, the sign of comparison and the number it is compared with."""

    def as_number(self, kind: str) -> Unknown:
        """The same where it is certain to be a plain number."""
        return self if self.number == kind else self.another(kind)

    def another(self, kind: str) -> Unknown:
        """A number of which nothing is known, for the same cause."""
        return replace(
            self, something=True, number=kind, place=None, difference=None, stride=None, left=None, items=None,
            span=None, known=None, loaded="", sequence=False, of_layers=False, among=(), length=None, asks=None,
            capped=None,
        )  # fmt: skip

    def drawn(self, kind: str, least: object, most: object, reached: bool) -> Unknown:
        """A random number between two others, `reached` if it may be the greater of them."""
        found = self.another(kind)
        if not isinstance(least, (int, float)) or not isinstance(most, (int, float)) or least > most:
            return found
        return replace(found, span=(float(least), float(most), reached))

    def at_most(self, most: int) -> Unknown:
        """The smaller of this whole number and another one."""
        return replace(self.another("int"), span=(-math.inf, float(most), True))

    def loose(self) -> Unknown:
        """The same for what is made of it, which need not be a number."""
        plain = not self.number and not self.sides and self.items is None and self.known is None and not self.among
        if plain and not self.loaded and not self.sequence and self.asks is None:
            return self
        return replace(
            self, number="", place=None, difference=None, stride=None, left=None, sides=None,
            loaded=self.made_of_file(), sequence=False, items=None, span=None, known=None, among=(), length=None,
            asks=None, capped=None,
        )  # fmt: skip

    def made_of_file(self) -> str:
        """`loaded` of what is made of it."""
        return "part" if self.loaded else ""

    def part(self, items: int | None) -> Unknown:
        """So many of its items in a row; None where that is not known."""
        return replace(self.loose(), something=True, sequence=True, divisor=None, instead=None, items=items)

    def so_long(self, length: Unknown) -> Unknown:
        """A part of it of this length."""
        return replace(self.part(None), length=length)

    def of_picture(self, height: Any, width: Any) -> Unknown:
        """The shape of a picture of this height and width, whose channels nobody knows."""
        return replace(self, sides=(height, width))

    def moved(self, by: int) -> Unknown:
        """The whole number that is so much more."""
        base, times, before = self.place or (self, 1, 0)
        span = self.span and (self.span[0] + by, self.span[1] + by, self.span[2])
        return replace(self, place=(base, times, before + by), span=span, difference=None)

    def multiplied(self, by: int) -> Unknown:
        """The whole number that is so many times this one."""
        base, times, more = self.place or (self, 1, 0)
        ends = sorted(end * by for end in self.span[:2]) if self.span is not None and by else None
        span = None if ends is None else (ends[0], ends[1], True)
        place = (base, times * by, more * by)
        return replace(self, something=True, stride=None, left=None, place=place, span=span, difference=None)

    def every(self, stride: int) -> Unknown:
        """A number of a range whose end is this one, of which the next one is so much more."""
        return replace(self.another("int"), stride=stride)

    def left_behind(self, start: Unknown) -> Unknown:
        """How much there is from a place of such a range to the end that is this number."""
        return replace(self.another("int"), left=start.stride)

    def less(self, other: Unknown) -> Unknown:
        """How much this whole number is more than another one."""
        return replace(self.left_behind(other), difference=(self, other))

    def filled(self, by: Unknown) -> Unknown | int | None:
        """The sum with a difference to this very number: what that was taken from. None for any other."""
        if by.difference is None or self.distance(by.difference[1]) != 0:
            return None
        return by.difference[0]

    def cut(self, most: int) -> Unknown:
        """The length of what is cut to `most`, where this is its length."""
        base, times, more = self.place or (self, 1, 0)
        found = self.at_most(most)
        return (replace(found, capped=(base, more, most)) if times == 1 else found).moved(0)

    def is_number(self, other: Unknown) -> bool:
        """Whether this number and another one are the same for certain."""
        one, two = self.capped, other.capped
        return self is other or (one is not None and two is not None and one[0] is two[0] and one[1:] == two[1:])

    def together(self, other: Unknown) -> int | Unknown | None:
        """The sum of two whole numbers, where one of them says what it makes of the other."""
        total = self.plus(other)
        if total is not None:
            return total
        return self.filled(other) if other.difference is not None else other.filled(self)

    def distance(self, other: Unknown) -> int | None:
        """How much more another whole number is, where both were computed from the same one."""
        (base, times, before), (same, often, after) = self.place or (self, 1, 0), other.place or (other, 1, 0)
        alike = base.is_number(same) and times == often and self.number == other.number == "int"
        return after - before if alike else None

    def plus(self, other: Unknown) -> int | Unknown | None:
        """The sum of two whole numbers, where both were computed from the same one: a number where one takes away what
        the other adds."""
        (base, times, more), (same, often, further) = self.place or (self, 1, 0), other.place or (other, 1, 0)
        if not base.is_number(same) or not self.number == other.number == "int" or self.place is other.place is None:
            return None
        if times == -often:
            return more + further
        return replace(self, place=(base, times + often, more + further), span=None)

    def __bool__(self) -> bool:
        raise TypeError("an Unknown has no truth value: ask Run.truth")

    def at(self, path: str) -> str:
        """The cause as one phrase, with its line, and its file where that is not the one at `path`."""
        if not self.line:
            return self.reason
        place = in_words(self.line) if self.path in ("", path) else f"{self.path}:{self.line}"
        return f"{self.reason} ({place})"


def unless_none(value: Any) -> Any:
    """What a value is if it is not None, where that is known; else the value."""
    return value.instead if isinstance(value, Unknown) and value.instead is not None else value


def largest(value: Any) -> Any:
    """The most that a whole number may be which is the smaller of a known one and another (`min(16, len(files))`): a
    batch is counted whole, as where there are more samples. Any other value itself."""
    span = value.span if isinstance(value, Unknown) else None
    return int(span[1]) if span is not None and span[0] == -math.inf else value


def of_sequences(items: Iterable[object]) -> Unknown | None:
    """The cause where the innermost items of nested lists, of which there is one at least, are sequences of unknown
    length themselves. What nothing is known of is taken for a number there, as the class of a sample."""
    first: Unknown | None = None
    for item in items:
        if not isinstance(item, Unknown) or not item.sequence:
            return None
        first = first or item.loose()
    return first


class Leaving(Exception):
    """What carries an evaluation on at another place: an exception of the interpreted program, the end of the budget,
    a generator that has given enough. Nobody's mistake."""


STRICT = "CNNMEM_STRICT"
"""Environment variable: an internal error is let out, to be seen in our own tests, instead of becoming a cause."""


def internal_error(error: BaseException) -> Unknown:
    """What users hear of an error that is ours: on code that odd, there is no answer."""
    return Unknown(f"an internal error of flake8-cnnmem, please report it: {type(error).__name__}: {error!s:.160}")
