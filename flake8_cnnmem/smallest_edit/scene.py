"""What of a file's text takes part in sizes that do not fit: the calls behind them, what their expressions gave, and
the pairs of sizes of which one has to become the other."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import gcd, isqrt

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.noting import Notes
from flake8_cnnmem.evidence.written import Function, SyntaxIndex
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.line_to_change.case import decider, declares, larger, unchanged_from, unviewed
from flake8_cnnmem.ops import (
    GLU,
    Chunk,
    Convolution,
    Einsum,
    Flatten,
    Linear,
    Loss,
    Matmul,
    Recurrent,
    RecurrentCell,
    Reshape,
    Split,
)
from flake8_cnnmem.results import LayerProblem
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit, instead_of
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

FAR = 8
"""As far away as what stands outside of the graph counts."""

MOST_CALLS = 80
"""Calls behind a wrong size that are looked at, from the nearest on."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One edit of a text that might mend wrong sizes. `rank` orders candidates: the smallest is the most plausible."""

    rank: float
    line: int
    column: int
    edits: tuple[Edit, ...]
    told: bool = False
    """Whether it is of the line that the graph alone speaks for."""
    solved: bool = False
    """Whether it writes the number that fits, which one can do anywhere."""


@dataclass(frozen=True, slots=True)
class Place:
    """An expression that takes part: what it makes (an op's call, a layer, a block around it, a leaf, the caller of the
    function that it stands in), and how many calls lie between it and the call that refuses the sizes."""

    node: ast.AST
    role: str
    distance: int


class Scene:
    """The first wrong size of a file, in its text."""

    def __init__(
        self, source: Source, problem: LayerProblem, call: Call, notes: Notes, path: str, framework: Framework
    ) -> None:
        self.run = notes.found[0].run if notes.found else None
        self.site_of: dict[int, Site] = {}
        self.source = source
        self.channels_last = framework.channels_last
        self.infers_input = not framework.declares_inputs
        """Whether layers are told their outputs alone."""
        self.spelling = framework.spelling()
        self.problem = problem
        self.call = call
        self.path = path
        self.lines = source.text.split("\n")
        self.tree = source.tree
        self.index = SyntaxIndex(self.tree)
        self.values: dict[int, list[Value]] = {}
        self.names: dict[int, list[tuple[ast.expr, ast.AST | None]]] | None = None
        self.gathered: dict[int, list[ast.AST]] = {}
        for note in notes.found:
            known = self.values.setdefault(id(note.node), [])
            if len(known) < MOST_VALUES and note.first <= call.number:
                known.append(note.value)
        self.notes = notes
        self.parents = {id(inner): node for node in ast.walk(self.tree) for inner in ast.iter_child_nodes(node)}

    @cached_property
    def imported(self) -> set[str]:
        """The names that the file's imports bind."""
        imports = (node for node in ast.walk(self.tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
        return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}

    @cached_property
    def often(self) -> Counter[int]:
        """How often each whole number is written in the file."""
        return Counter(
            each.value
            for each in self.inside_of(self.tree)
            if isinstance(each, ast.Constant) and type(each.value) is int
        )

    def number(self, node: ast.AST) -> int | None:
        """The one whole number that an expression gave, each time that it was known."""
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.number(node.operand)
            return None if inner is None else -inner
        values = self.values.get(id(node), ())
        found = {each if type(each) is int else None for each in values if not isinstance(each, Unknown)}
        return found.pop() if len(found) == 1 else None

    def every_number(self, node: ast.AST) -> set[int]:
        """The whole numbers that an expression gave."""
        one = self.number(node)
        return {each for each in self.values.get(id(node), ()) if type(each) is int} if one is None else {one}

    def shape(self, node: ast.AST) -> tuple[object, ...] | None:
        """The shape of the tensor that an expression gave last."""
        found = [each.shape for each in self.values.get(id(node), ()) if isinstance(each, Tensor)]
        return found[-1] if found and isinstance(found[-1], tuple) else None

    def is_model(self, node: ast.AST) -> bool:
        """Whether an expression gave a module or model of the program's own."""
        values = self.values.get(id(node), ())
        return bool(values) and all(isinstance(each, Instance) and each.cls.site is not None for each in values)

    def is_looped(self, node: ast.expr) -> bool:
        """Whether an expression is what a loop goes through."""
        loops = (each for each in self.inside_of(self.scope_of(node)) if isinstance(each, (ast.For, ast.comprehension)))
        own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return any(own & {one.id for one in ast.walk(each.target) if isinstance(one, ast.Name)} for each in loops)

    def is_made(self, node: ast.expr) -> bool:
        """Whether a name is given what the program makes of sizes that it writes."""
        values = self.index.values_of(node.id, self.function_of(node)) if isinstance(node, ast.Name) else []
        return any(isinstance(each, ast.Call) and called(each) in self.spelling.made for each in values)

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around an expression."""
        at = self.parents.get(id(node))
        while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
            at = self.parents.get(id(at))
        return at

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        at = self.parents.get(id(node))
        while at is not None and not isinstance(at, ast.ClassDef):
            at = self.parents.get(id(at))
        return at

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.stmt):
            at = self.parents.get(id(at))
        return at

    def is_inside(self, node: ast.AST, known: set[int]) -> bool:
        """Whether a node is one of those with these ids, or in one of them."""
        at: ast.AST | None = node
        while at is not None and id(at) not in known:
            at = self.parents.get(id(at))
        return at is not None

    def scope_of(self, node: ast.AST) -> ast.AST:
        return self.function_of(node) or self.tree

    def edit(self, node: ast.expr, text: str) -> Edit:
        return instead_of(node, self.lines, text)

    def edit_between(self, first: ast.expr, last: ast.expr, text: str) -> Edit:
        """The edit that writes a text in the place of two expressions and what stands between them."""
        one, other = self.edit(first, text), self.edit(last, text)
        return Edit(one.line, one.column, other.end_line, other.end_column, text)

    def candidate(self, rank: float, node: ast.expr, text: str) -> Candidate:
        """The expression with another text in its place."""
        return Candidate(rank, node.lineno, node.col_offset + 1, (self.edit(node, text),))

    def text(self, node: ast.AST) -> str:
        """The text of an expression, as it is written."""
        if not isinstance(node, ast.expr) or getattr(node, "end_lineno", None) is None:
            return ast.unparse(node)
        at = self.edit(node, "")
        rows = self.lines[at.line - 1 : at.end_line]
        rows[-1] = rows[-1][: at.end_column - 1]
        rows[0] = rows[0][at.column - 1 :]
        return "\n".join(rows)

    def inside_of(self, node: ast.AST) -> Sequence[ast.AST]:
        """A definition or the whole tree, with all that is in it, gathered once."""
        found = self.gathered.get(id(node))
        if found is None:
            found = self.gathered[id(node)] = list(ast.walk(node))
        return found

    @cached_property
    def is_spatial(self) -> bool:
        """Whether sides of maps may be what does not fit, rather than channels or features alone."""
        call, problem = self.call, self.problem.problem
        if problem.code == "CNM202" or isinstance(call.op, (Loss, Reshape)):
            return True
        if any(isinstance(each.op, (Flatten, Reshape)) for each in self.behind[1:FLAT_WITHIN]):
            return problem.given is not None
        shapes = [each.shape for each in call.inputs if isinstance(each.shape, tuple) and len(each.shape) > FLAT]
        if len(shapes) < FLAT:
            return False
        sides = [shape[1:-1] if self.channels_last else shape[2:] for shape in shapes]
        return any(each != sides[0] for each in sides)

    @cached_property
    def has_maps(self) -> bool:
        """Whether a convolution over the sides of images takes part."""
        weights = (each.weights[0].shape for each in self.behind if isinstance(each.op, Convolution) and each.weights)
        return any(isinstance(shape, tuple) and len(shape) == MAPS for shape in weights)

    @cached_property
    def is_of_axes(self) -> bool:
        """Whether the number of axes or their order may be what does not fit."""
        problem = self.problem.problem
        ranks = {len(each.shape) for each in self.call.inputs if isinstance(each.shape, tuple)}
        words = ("axes", "axis", "takes a target", "position")
        return len(ranks) > 1 or problem.elsewhere is not None or any(word in problem.what for word in words)

    @cached_property
    def is_of_order(self) -> bool:
        """Whether the sizes are those that are asked for, along other axes: no number is wrong then."""
        call = self.call
        if self.problem.problem.elsewhere is not None or isinstance(call.op, Einsum):
            return self.problem.problem.given is None or not isinstance(call.op, Einsum)
        shapes = [each.shape for each in call.inputs if isinstance(each.shape, tuple)]
        if len(shapes) < FLAT:
            return False
        if shapes[0] != shapes[1] and sorted(map(str, shapes[0])) == sorted(map(str, shapes[1])):
            return True
        leaves = [unviewed(unchanged_from(each)) for each in call.inputs]
        if any(isinstance(each, Weight) and larger(each, call.inputs) for each in leaves):
            # A part of the table would fit.
            return True
        if isinstance(call.op, Matmul):
            return shapes[0][-1:] == shapes[1][-1:]
        return isinstance(call.op, Loss) and len(shapes[0]) > FLAT and shapes[0][:-1] == shapes[1]

    @cached_property
    def behind(self) -> Sequence[Call]:
        """The call that refuses the sizes, and those before it, the nearest first."""
        return [self.call, *reversed(self.before[-MOST_CALLS:])]

    @cached_property
    def before(self) -> Sequence[Call]:
        """All calls behind the one that refuses the sizes, in the order in which they ran."""
        return calls_behind(self.call.inputs)

    @cached_property
    def places(self) -> Sequence[Place]:
        """What takes part, the nearest first."""
        found: dict[int, Place] = {}

        def add(site: Site | None, role: str, distance: int) -> None:
            if isinstance(site, StatementSite) and site.path == self.path:
                node = site.node
                self.site_of.setdefault(id(node), site)
                found.setdefault(id(node), Place(node, role, distance))

        for distance, call in enumerate(self.behind):
            add(call.site, "op", distance)
            for depth, each in enumerate(call.ancestry()):
                if isinstance(each.layer, Instance):
                    add(each.layer.site, "layer" if depth == 0 and each.layer.cls.site is None else "block", distance)
                add(each.site, "op", distance)
            for weight in call.weights:
                add(weight.site, "leaf", distance)
            for tensor in call.inputs:
                if tensor.call is None:
                    add(tensor.site, "leaf", distance)
        if self.call.called_from is not None and self.call.called_from[0] == self.path:
            for node in self.index.calls:
                if node.lineno == self.call.called_from[1] and isinstance(node.func, ast.Name):
                    found.setdefault(id(node), Place(node, "caller", 0))
        for layer in [place for place in found.values() if place.role == "layer"]:
            function = self.function_of(layer.node)
            if function is not None and function.name not in ("__init__", "forward", "call", "build"):
                for node in self.index.calls:
                    if called(node) == function.name:
                        found.setdefault(id(node), Place(node, "block", layer.distance))
        known = set(found)
        for node in self.index.calls:
            if called(node) in self.spelling.made and not self.is_inside(node, known):
                found[id(node)] = Place(node, "data", min(len(self.behind), FAR))
        return list(found.values())

    @cached_property
    def pairs(self) -> set[tuple[int, int]]:
        """Sizes, each with the one that it would have to be."""
        problem = self.problem.problem
        found: set[tuple[int, int]] = set()
        given, declared = problem.given, problem.declared
        by_chance = isinstance(self.call.op, Convolution) and self.has_maps and (declared or 0) > COLOURS
        if self.is_of_order and not (problem.elsewhere is not None and by_chance):
            return found
        if not isinstance(self.call.op, Einsum):
            found |= self.states or set(self.differing())
        found |= self.before_parts | self.reshaped
        found = {(a, b) for a, b in found if a > 1 and b > 1}
        found |= self.states or (set(self.differing()) if isinstance(self.call.op, Loss) else set())
        if given and declared and (min(given, declared) > 1 or problem.what.startswith("takes ")):
            found |= {(given, declared), (declared, given)}
        return {(a, b) for a, b in found if a != b}

    @cached_property
    def reshaped(self) -> set[tuple[int, int]]:
        """The widths that layers gave what is reshaped, each with the one that it would have to have."""
        given, declared = self.problem.problem.given, self.problem.problem.declared
        if not isinstance(self.call.op, Reshape) or not self.call.inputs or not given or not declared:
            return set()
        tensor = self.call.inputs[0]
        shape = tensor.shape if isinstance(tensor.shape, tuple) else ()
        sizes = {shape[-1]} if shape else set()
        for axis in range(1 - len(shape), 0):
            maker = decider(tensor, axis)
            sizes |= {shape[axis]} if maker is not None and declares(maker, shape[axis]) else set()
        return {(a, a * declared // given) for a in sizes if type(a) is int and a * declared % given == 0}

    @cached_property
    def states(self) -> set[tuple[int, int]]:
        """The widths of a recurrent layer and of the state that it is given, and of how many layers, where they
        differ."""
        if not isinstance(self.call.op, (Recurrent, RecurrentCell)) or not self.call.weights:
            return set()
        own = self.call.outputs[0].shape
        states = [each.shape for each in self.call.inputs[1:] if isinstance(each.shape, tuple) and each.shape]
        width = own[-1] if isinstance(own, tuple) and own else None
        both: list[tuple[object, object]] = [(width, each[-1]) for each in states if each[-1] != width]
        op = self.call.op
        if isinstance(op, Recurrent) and op.stacked and type(op.layers) is int:
            layers = op.layers * (1 + (op.bidirectional is True))
            both += [(layers, each[0]) for each in states if len(each) == STACKED and each[0] != layers]
        return {(a, b) for one in both for a, b in (one, one[::-1]) if type(a) is int and type(b) is int}

    @cached_property
    def before_parts(self) -> set[tuple[int, int]]:
        """Widths of what is taken apart right before: what a part is, times the number of parts."""
        found: set[tuple[int, int]] = set()
        shapes = [each.shape for each in self.call.inputs if isinstance(each.shape, tuple)]
        for call in self.behind[1:FLAT_WITHIN]:
            if not isinstance(call.op, (Chunk, Split, GLU)) or not call.outputs or len(shapes) < FLAT:
                continue
            whole, part = call.inputs[0].shape, call.outputs[0].shape
            if not isinstance(whole, tuple) or not isinstance(part, tuple):
                continue
            for one, other in zip(whole, part, strict=False):
                if type(one) is int and type(other) is int and other and one != other and one % other == 0:
                    found |= {(one, b * (one // other)) for a, b in self.differing() if a == other}
        return found

    def differing(self) -> Iterator[tuple[int, int]]:
        shapes = [each.shape for each in self.call.inputs if isinstance(each.shape, tuple)]
        for at, left in enumerate(shapes):
            for right in shapes[at + 1 :]:
                for one, other in (
                    *zip(reversed(left), reversed(right), strict=False),
                    *zip(left, right, strict=False),
                ):
                    if type(one) is int and type(other) is int:
                        yield one, other
                        yield other, one

    @cached_property
    def sides(self) -> set[tuple[int, int]]:
        """Sides of maps that meet, each with the one that it would have to be."""
        shapes = [each.shape for each in self.call.inputs if isinstance(each.shape, tuple) and len(each.shape) > FLAT]
        maps = [shape[1:-1] if self.channels_last else shape[2:] for shape in shapes]
        pairs = {(a, b) for one in maps for other in maps for a, b in zip(one, other, strict=False) if a != b}
        return {(a, b) for a, b in pairs if type(a) is int and type(b) is int and min(a, b) > 1}

    @cached_property
    def is_halving(self) -> bool:
        """Whether a reshape is given two or four times what it asks for, or the other way round, as another stride of a
        layer makes it; True of what is no reshape."""
        given, declared = self.problem.problem.given, self.problem.problem.declared
        if not isinstance(self.call.op, Reshape) or not given or not declared:
            return True
        return max(given, declared) in (2 * min(given, declared), 4 * min(given, declared))

    @cached_property
    def pooled_side(self) -> int | None:
        """The side of the maps before a layer of features that takes no more than one value of each channel."""
        given, declared = self.problem.problem.given, self.problem.problem.declared
        if not isinstance(self.call.op, Linear) or not given or not declared or given % declared:
            return None
        side = isqrt(given // declared)
        maps = [each.inputs[0].shape for each in self.behind[1:FLAT_WITHIN] if isinstance(each.op, (Flatten, Reshape))]
        last = maps[0] if maps and isinstance(maps[0], tuple) and len(maps[0]) == MAPS else ()
        return side if side > 1 and last[(1 if self.channels_last else 2) :][:2] == (side, side) else None

    @cached_property
    def ratios(self) -> set[tuple[int, int]]:
        """By what a side has to be multiplied and divided for a product of sizes to be the one that is declared."""
        given, declared = self.problem.problem.given, self.problem.problem.declared
        found: set[tuple[int, int]] = set()
        if given and declared and min(given, declared) > 0:
            parts = gcd(given, declared)
            one, other = given // parts, declared // parts
            if isqrt(one) ** 2 == one and isqrt(other) ** 2 == other and one != other:
                found = {(isqrt(one), isqrt(other)), (isqrt(other), isqrt(one))}
        return found


COLOURS = 4
"""As many channels pictures have at the most: that a side of maps has more of them too is chance."""
FLAT_WITHIN = 6
"""How many calls before a layer of features the flattening of maps is looked for."""
MAPS = 4
STACKED = 3
"""The axes of the states of several layers."""
FLAT = 2
"""The axes of samples of features; two operands."""

MOST_VALUES = 40
"""Values of one expression that are kept."""


def inside(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a call or of a statement's own line, bodies left out."""
    waiting: list[ast.AST] = [node]
    while waiting:
        at = waiting.pop()
        if isinstance(at, ast.expr):
            yield at
        for each in ast.iter_child_nodes(at):
            if isinstance(each, (ast.expr, ast.keyword, ast.comprehension)):
                waiting.append(each)


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
