"""Edits after which the numbers of a call stand in the relation that the rest of the file has: what calls of the same
name are told, what the lines beside a line work out, the widths that a layer was told the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from flake8_cnnmem.ops import Chunk, Reshape, Split
from flake8_cnnmem.smallest_edit.numbers import elements, is_batch, sizes_written
from flake8_cnnmem.smallest_edit.proportions import widths_joined
from flake8_cnnmem.smallest_edit.scene import COLOURS, Candidate, Place, Scene, called, inside

FEWEST = 2
"""As many other calls show a relation."""


def related_numbers(scene: Scene) -> Iterator[Candidate]:
    """A number of a block that stands to another one of it as in no other call of the same name: the one that does."""
    wanted = scene.pairs | widths_joined(scene)
    for place in scene.places:
        node = place.node
        if not isinstance(node, ast.Call) or place.role not in ("layer", "block", "caller"):
            continue
        own = numbers_of(node)
        others = [
            numbers_of(each)
            for each in scene.index.calls
            if each is not node and called(each) == called(node) and len(each.args) == len(node.args)
        ]
        others = [each for each in others if None not in each]
        if None in own or len(own) < FEWEST or len(others) < FEWEST:
            continue
        for at, number in enumerate(own):
            for beside, other in enumerate(own):
                ratios = {Fraction(each[at] or 0, each[beside] or 1) for each in others}
                if at == beside or not number or not other or len(ratios) > 1:
                    continue
                [ratio] = ratios
                fitting = ratio * other
                if fitting == number or fitting.denominator != 1 or not fitting:
                    continue
                told = (number, int(fitting)) in wanted
                yield scene.candidate((6 if told else 9) + place.distance / 8, node.args[at], str(int(fitting)))
                if at + 1 == beside or beside + 1 == at:
                    turned = list(own)
                    turned[at], turned[beside] = other, number
                    if Fraction(other, number) == ratio or is_related(turned, others):
                        yield exchanged(
                            scene, 7 + place.distance / 8, node.args[min(at, beside)], node.args[max(at, beside)]
                        )


def is_related(own: list[int | None], others: list[list[int | None]]) -> bool:
    """Whether two numbers of a call are equal that are so in all other calls, and there are such."""
    pairs = [(a, b) for a in range(len(own)) for b in range(a) if all(each[a] == each[b] for each in others)]
    return bool(pairs) and all(own[a] == own[b] for a, b in pairs)


def numbers_of(call: ast.Call) -> list[int | None]:
    """The whole numbers that are written as a call's arguments."""
    values = [getattr(each, "value", None) if isinstance(each, ast.Constant) else None for each in call.args]
    return [each if type(each) is int else None for each in values]


def exchanged(scene: Scene, rank: float, one: ast.expr, other: ast.expr) -> Candidate:
    edits = (scene.edit(one, scene.text(other)), scene.edit(other, scene.text(one)))
    return Candidate(rank, one.lineno, one.col_offset + 1, edits)


def widths_exchanged(scene: Scene) -> Iterator[Candidate]:
    """The two widths of a layer the other way round, where it is given the second one and asks for the first."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    if not given or not declared:
        return
    for place in scene.places:
        node = place.node
        if place.distance or place.role not in ("layer", "block", "caller") or not isinstance(node, ast.Call):
            continue
        sizes = node.args if len(node.args) > 1 else [word.value for word in node.keywords]
        for one, other in pairwise(sizes):
            if declared in scene.every_number(one) and given in scene.every_number(other):
                yield exchanged(scene, 7, one, other)
            if given in scene.every_number(one) and declared in scene.every_number(other) and sizes is not node.args:
                yield exchanged(scene, 8, one, other)


def expression_beside(scene: Scene) -> Iterator[Candidate]:
    """What a line of the same function works out with the same name: `dim * 4` in the place of `dim`, or of
    `dim * dim`; another operator between the same two."""
    for place, node, value in sizes_written(scene):
        if place.role not in ("layer", "block", "leaf") or not isinstance(node, (ast.Name, ast.Attribute, ast.BinOp)):
            continue
        if isinstance(scene.parents.get(id(node)), ast.BinOp):
            continue
        wanted = {other for size, other in scene.pairs if size == value}
        if isinstance(node, ast.BinOp):
            yield from other_operator(scene, place, node, wanted)
        own = ast.dump(node)
        sides = [ast.dump(each) for each in (node.left, node.right)] if isinstance(node, ast.BinOp) else []
        squared = len(sides) == len(set(sides)) + 1
        found: set[str] = set()
        for each in scene.inside_of(scene.scope_of(node)) if wanted else ():
            if not isinstance(each, ast.BinOp) or isinstance(scene.parents.get(id(each)), ast.BinOp):
                continue
            parts = [ast.dump(each.left), ast.dump(each.right)]
            text = scene.text(each)
            if text in found or not wanted & scene.every_number(each):
                continue
            if own in parts or set(sides) & set(parts):
                found.add(text)
                grows = own in parts and isinstance(each.op, (ast.Mult, ast.Add)) and is_layer(scene)
                literal = LITERAL * (has_number(each) and isinstance(node, ast.BinOp) and not has_number(node))
                rank = LACKING if grows else 5 if squared else 8 + ANY_WIDTH * (own in parts) + literal
                rank += SQUARED * (parts[0] == parts[1])
                yield scene.candidate(rank + place.distance / 8, node, text)


LACKING = 4.5
"""The rank of a factor that a layer's own width lacks, and that a line beside it has."""


ANY_WIDTH = 3
"""What speaks against a factor where no layer asks for it: of two tensors that meet either may have one too many."""


SQUARED = 4
"""What speaks against a name times itself."""


def is_layer(scene: Scene) -> bool:
    """Whether a layer asks for another width."""
    return bool(scene.call.weights) and scene.problem.problem.given is not None


LITERAL = 5
"""What speaks against a number in the place of a name: who wrote the name meant it."""


def has_number(node: ast.BinOp) -> bool:
    return any(isinstance(each, ast.Constant) for each in ast.walk(node))


def other_operator(scene: Scene, place: Place, node: ast.BinOp, wanted: set[int]) -> Iterator[Candidate]:
    """A product in the place of a quotient, a sum in that of a difference, and the other way round."""
    left, right = scene.number(node.left), scene.number(node.right)
    if not left or not right:
        return
    one, other = scene.text(node.left), scene.text(node.right)
    by_sign = {"//": left // right, "*": left * right, "+": left + right, "-": left - right}
    exchanged_signs = {ast.FloorDiv: "*", ast.Mult: "//", ast.Add: "-", ast.Sub: "+"}
    sign = exchanged_signs.get(type(node.op), "")
    if by_sign.get(sign) in wanted:
        yield scene.candidate((8 if sign in "*-+" else 12) + place.distance / 8, node, f"{one} {sign} {other}")


def sum_beside(scene: Scene) -> Iterator[Candidate]:
    """A sum of the file in the place of one of its names in a product: `anchors * classes`, where a reshape has
    `5 + classes`."""
    sums = [
        each
        for each in scene.inside_of(scene.tree)
        if isinstance(each, ast.BinOp) and isinstance(each.op, (ast.Add, ast.Sub)) and scene.number(each)
    ]
    for place, node, value in sizes_written(scene) if sums else ():
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult) or place.role == "op":
            continue
        for wanted in {other for size, other in scene.pairs if size == value}:
            for part, rest in ((node.left, scene.number(node.right)), (node.right, scene.number(node.left))):
                own = ast.dump(part)
                for each in sums if rest and wanted % rest == 0 else ():
                    if scene.number(each) == wanted // (rest or 1) and own in map(ast.dump, (each.left, each.right)):
                        yield scene.candidate(9 + place.distance / 8, part, f"({scene.text(each)})")


def width_of_parts(scene: Scene) -> Iterator[Candidate]:
    """The factor that a width lacks for as many equal parts as are made of it: a layer for queries, keys and values
    that is as wide as one of them."""
    parts = next((each for each in scene.behind if isinstance(each.op, (Chunk, Split))), None)
    number = getattr(parts.op, "chunks", None) if parts is not None else None
    shape = parts.inputs[0].shape if parts is not None else ()
    axis = getattr(parts.op, "axis", 0) if parts is not None else 0
    if type(number) is not int or not isinstance(shape, tuple) or type(axis) is not int or axis >= len(shape):
        return
    width = shape[axis]
    if type(width) is not int:
        return
    for place, node, value in sizes_written(scene):
        if value != width or place.role not in ("layer", "block") or isinstance(scene.parents.get(id(node)), ast.BinOp):
            continue
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield scene.candidate(6 + place.distance / 8, node, f"{scene.text(node)} * {number}")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and scene.number(node.right) == number:
            yield scene.candidate(6 + place.distance / 8, node, f"{scene.text(node.left)} * {scene.text(node.right)}")


def size_not_divided(scene: Scene) -> Iterator[Candidate]:
    """A size of a reshape that was to be divided by another one of it: `view(n, heads, width)`, where there are not
    `heads` times as many values."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    if not isinstance(scene.call.op, Reshape) or not given or not declared or declared % given:
        return
    for place in scene.places:
        if place.distance or place.role != "op":
            continue
        sizes = elements(place.node)
        named = [each for each in sizes if isinstance(each, (ast.Name, ast.Attribute))]
        for parts in (each for each in named if declared // given in scene.every_number(each)):
            for whole in named:
                number = scene.number(whole)
                if whole is not parts and number and number % (declared // given) == 0:
                    yield scene.candidate(6, whole, f"{scene.text(whole)} // {scene.text(parts)}")


def method_as_beside(scene: Scene) -> Iterator[Candidate]:
    """A reshape that one argument of a call has and another one lacks: `cell(x, state.reshape(-1, width))`."""
    for place in scene.places:
        node = place.node
        if place.distance or place.role != "op" or not isinstance(node, ast.Call):
            continue
        ends = [end_of_method(scene, each) for each in node.args if is_method(scene, each)]
        for each in node.args:
            if isinstance(each, ast.Name) and scene.shape(each) is not None:
                yield from (scene.candidate(5, each, scene.text(each) + end) for end in dict.fromkeys(ends))


def end_of_method(scene: Scene, node: ast.expr) -> str:
    """`.reshape(-1, width)` of a call of a method."""
    function = node.func if isinstance(node, ast.Call) else node
    return scene.text(node)[len(scene.text(function.value)) :] if isinstance(function, ast.Attribute) else ""


def is_method(scene: Scene, node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and scene.shape(node.func.value) is not None
        and called(node) in (*scene.spelling.reshapes, *scene.spelling.orders, *scene.spelling.left_out)
    )


def end_of_list(scene: Scene) -> Iterator[Candidate]:
    """The other end of a part of a list of widths, one item further: `widths[1:]` in the place of `widths[2:]`."""
    scopes = {id(scope): scope for scope in (scene.scope_of(each.node) for each in scene.places if each.role != "op")}
    for node in (each for scope in scopes.values() for each in inside_all(scene, scope)):
        for bound in (node.slice.lower, node.slice.upper) if isinstance(node.slice, ast.Slice) else ():
            number = scene.number(bound) if bound is not None else None
            if bound is None or number is None:
                continue
            for other in (number - 1, number + 1):
                if (other >= 0) == (number >= 0) and other:
                    yield scene.candidate(9, bound, str(other))


def inside_all(scene: Scene, scope: ast.AST) -> Iterator[ast.Subscript]:
    """The parts of lists of numbers that a function or module takes."""
    for each in scene.inside_of(scope):
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice):
            values = [value for value in scene.values.get(id(each.value), ()) if isinstance(value, (list, tuple))]
            if values and all(type(item) is int for item in values[-1]):
                yield each


def squares_of_data(scene: Scene) -> Iterator[Candidate]:
    """One side of the data, where the file has the other number in several places and this one nowhere else."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    for place in scene.places:
        if place.role not in ("data", "leaf") or not isinstance(place.node, ast.Call):
            continue
        numbers = [
            (each, each.value)
            for each in inside(place.node)
            if isinstance(each, ast.Constant) and type(each.value) is int and not is_batch(place, each)
        ]
        beside = {value for _, value in numbers}
        for each, value in numbers:
            fitting = value * declared // given if given and declared and value * declared % given == 0 else 0
            near = {other for other in beside if (value, other) in scene.pairs} | {fitting}
            sides = [one for one, _ in numbers[-SIDES:]] if len(numbers) > SIDES else []
            beside_it = {number for one, number in numbers if one in sides and each in sides}
            for other in sorted((near | beside_it) - {value}):
                often = scene.often[other] >= FEWEST + (other not in beside_it)
                if scene.often[value] == 1 and often and min(value, other) > COLOURS:
                    yield scene.candidate(8 + (other not in near), each, str(other))


SIDES = 2
"""The last of several sizes are the sides of maps."""
