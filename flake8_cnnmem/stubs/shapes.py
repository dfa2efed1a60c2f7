"""Shapes as stubs write them: jaxtyping's notation (https://docs.kidger.site/jaxtyping/api/array/, version 0.3).

"batch channels height width"      names: the same name is the same size wherever it stands in a signature
"batch 3 224 224"                  numbers
"batch {heads}*{dim} length//2"    sums, products, quotients; `{x}` is the value of an argument or attribute
"*batch features", "... features"  any number of axes, with a name and without
"batch _"                          any size
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import cached_property
from typing import Any, TypeAlias

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown

Sizes: TypeAlias = "MutableMapping[str, Size | Shape]"
"""What names stand for so far: a size, or of `*name` several."""

OPERATORS: Mapping[type[ast.operator], Callable[[Size, Size], Size]] = {
    ast.Add: dims.add,
    ast.Sub: dims.subtract,
    ast.Mult: dims.multiply,
    ast.FloorDiv: dims.floor_divide,
    ast.Mod: dims.modulo,
}

ARGUMENT = re.compile(r"\{\s*([A-Za-z_]\w*)\s*(?:\[\s*(\d+)\s*\])?\s*\}")
NOT_BOUND = Unknown("a size of a stub is not decided by its arguments")
NOT_WHOLE = Unknown("an argument that a stub counts with is not a whole number")
MARK = "argument_"


class BadShape(ValueError):
    """A shape that is not written in the notation; the message says what is wrong with it."""


@dataclass(frozen=True)
class Axis:
    """One axis, or with `several` any number of them, as it is written."""

    text: str
    several: bool = False

    @cached_property
    def expression(self) -> ast.expr:
        """The size's expression, where an argument `{x}` or `{x[0]}` is a name of its own. Raises BadShape."""
        marked = ARGUMENT.sub(lambda found: MARK + found[1] + (f"[{found[2]}]" if found[2] else ""), self.text)
        try:
            node = ast.parse(marked, mode="eval").body
        except SyntaxError:
            raise BadShape(f"{self.text!r} is no size") from None
        check(node, self.text)
        return node

    @property
    def name(self) -> str:
        """The name that the axis declares; empty for a number, an expression or any size."""
        plain = self.text.isidentifier() and self.text != "_"
        return self.text if plain else ""

    @property
    def anonymous(self) -> bool:
        return self.text in ("_", "...")

    def arguments(self) -> set[str]:
        """The arguments that its size is counted with."""
        return {found[1] for found in ARGUMENT.finditer(self.text)}

    def names(self) -> set[str]:
        """The names of axes that its size is counted with, its own among them."""
        if self.anonymous:
            return set()
        if self.several:
            return {self.text}
        found = {node.id for node in ast.walk(self.expression) if isinstance(node, ast.Name)}
        return {name for name in found if not name.startswith(MARK)}

    def size(self, sizes: Mapping[str, Size | Shape], arguments: Mapping[str, Any]) -> Size:
        """The size, where every name stands for one; else Unknown."""
        return NOT_BOUND if self.anonymous else valued(self.expression, sizes, arguments)


def check(node: ast.expr, text: str) -> None:
    """Raises BadShape for what is no sum, product or quotient of names and whole numbers."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        check(node.left, text)
        check(node.right, text)
    elif isinstance(node, ast.Subscript):
        check(node.value, text)
    elif not isinstance(node, ast.Name) and not (isinstance(node, ast.Constant) and type(node.value) is int):
        raise BadShape(f"{text!r} is no size: use names, whole numbers, {{arguments}} and + - * // %")


def valued(node: ast.expr, sizes: Mapping[str, Size | Shape], arguments: Mapping[str, Any]) -> Size:
    """What a checked expression comes to."""
    if isinstance(node, ast.BinOp):
        left, right = (valued(each, sizes, arguments) for each in (node.left, node.right))
        try:
            return OPERATORS[type(node.op)](left, right)
        except ZeroDivisionError:
            return Unknown("a size of a stub divides by nothing")
    if isinstance(node, ast.Constant):
        return number(node)
    at: int | None = None
    if isinstance(node, ast.Subscript):
        at, node = number(node.slice), node.value
    assert isinstance(node, ast.Name)
    if not node.id.startswith(MARK):
        found = sizes.get(node.id, NOT_BOUND)
        return NOT_BOUND if isinstance(found, tuple) else found
    given = arguments.get(node.id.removeprefix(MARK), NOT_BOUND)
    if at is not None and isinstance(given, (tuple, list)):
        # One number stands for all sides, as frameworks have it.
        given = given[at] if at < len(given) else NOT_WHOLE
    if isinstance(given, bool):
        return int(given)
    return given if dims.is_size(given) else NOT_WHOLE


def number(node: ast.expr) -> int:
    """The whole number of a checked expression, or of the index that `ARGUMENT` takes."""
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value


@dataclass(frozen=True)
class Pattern:
    """A shape as it is written."""

    text: str

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Its axes in order. Raises BadShape for what the notation does not have."""
        # Spaces within braces and around operators are no ends of axes.
        words = re.sub(r"\s*(//|[+*%-])\s+", r"\1", re.sub(r"\{[^}]*\}", lambda it: it[0].replace(" ", ""), self.text))
        found = []
        for word in words.split():
            several = word == "..." or (word.startswith("*") and word[1:].isidentifier())
            axis = Axis(word.removeprefix("*") if several else word, several)
            if not several and not axis.anonymous:
                axis.expression  # noqa: B018 - raises where it is none
            found.append(axis)
        if sum(axis.several for axis in found) > 1:
            raise BadShape(f"{self.text!r} has more than one axis that stands for several")
        return tuple(found)

    def names(self) -> set[str]:
        return {name for axis in self.axes for name in axis.names()}

    def declared(self) -> set[str]:
        """The names that a tensor of this shape gives a size: those that stand for an axis alone."""
        return {axis.text if axis.several else axis.name for axis in self.axes if not axis.anonymous} - {""}

    def arguments(self) -> set[str]:
        return {name for axis in self.axes for name in axis.arguments()}

    def fits_rank(self, rank: int) -> bool:
        number = len(self.axes)
        return rank >= number - 1 if any(axis.several for axis in self.axes) else rank == number

    def paired(self, shape: Shape) -> list[tuple[Axis, Size | Shape]]:
        """Each axis with the size, or sizes, of a shape of a fitting number of axes."""
        found: list[tuple[Axis, Size | Shape]] = []
        at, spare = 0, len(shape) - (len(self.axes) - 1)
        for axis in self.axes:
            if axis.several:
                found.append((axis, shape[at : at + spare]))
                at += spare
            else:
                found.append((axis, shape[at]))
                at += 1
        return found

    def bind(self, shape: Shape, sizes: Sizes) -> None:
        """Give its names the sizes of a shape of a fitting number of axes; names keep the first size that is known."""
        for axis, size in self.paired(shape):
            name = axis.text if axis.several and not axis.anonymous else axis.name
            if name and (name not in sizes or isinstance(sizes[name], Unknown)):
                sizes[name] = size

    def contradiction(
        self, shape: Shape, sizes: Mapping[str, Size | Shape], arguments: Mapping[str, Any]
    ) -> tuple[Axis, Size | Shape] | None:
        """The first axis that surely has another size than its names say, with the size that they say."""
        for axis, size in self.paired(shape):
            if axis.anonymous:
                continue
            said = sizes.get(axis.text) if axis.several else axis.size(sizes, arguments)
            if isinstance(size, tuple):
                if isinstance(said, tuple) and dims.differ(said, size):
                    return axis, said
            elif said is not None and not isinstance(said, tuple) and dims.same(said, size) is False:
                return axis, said
        return None

    def shape(self, sizes: Mapping[str, Size | Shape], arguments: Mapping[str, Any]) -> Shape | Unknown:
        """The shape, by what the names stand for; Unknown where not even the number of axes is known."""
        found: list[Size] = []
        for axis in self.axes:
            if not axis.several:
                found.append(axis.size(sizes, arguments))
                continue
            several = sizes.get(axis.text, NOT_BOUND)
            if not isinstance(several, tuple):
                return NOT_BOUND
            found.extend(several)
        return tuple(found)
