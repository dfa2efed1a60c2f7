"""Edits of the lines in which a size is worked out before a layer is made with it: `side = (size - 6) // 2`.

The size that would fit is followed back through the names to the expressions that give them. Of each of their numbers
and names it is asked what it would have to be for the whole to fit. That such a value is near the one that is written
(one more, twice as much, the value of another name) speaks for the edit: by chance it seldom is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from flake8_cnnmem.evidence.written import Function, parameters, values_of_setting, worked_out
from flake8_cnnmem.smallest_edit.numbers import FAR, is_part, names_in_reach, sizes_written
from flake8_cnnmem.smallest_edit.scene import MOST_CALLS, Candidate, Scene, called, inside

DEEPEST = 3
"""Names that are followed one after another."""

FIRST = 12
"""How plausible an edit of such a line is at the best."""

NEAREST = 0.0
DOUBLED = 0.5
ELSEWHERE = 1.0
ANY_NUMBER = 4.0
"""What is added for another value: one more or less, twice or half, one that the program writes elsewhere, any."""

PLAIN = 9.0
"""What speaks against another number that a name is given: all that reads the name has agreed with it."""

LESS = 5.0
"""What speaks against a factor or summand left out: people forget one rather than write one too much."""

MOST_SCANNED = 64


def lines_before(scene: Scene) -> Iterator[Candidate]:
    """The parts of what works out a size that does not fit."""
    seen: set[tuple[int, int]] = set()
    for place, node, value in sizes_written(scene, MOST_CALLS):
        if isinstance(scene.parents.get(id(node)), ast.BinOp) or worked_out(node) is not None:
            continue
        wanted = {other for size, other in scene.pairs if size == value}
        if place.role == "op":
            wanted = wanted if place.distance <= FAR else set()
            wanted |= {value * times // parts for times, parts in scene.ratios if value * times % parts == 0}
        far = place.distance / (8 if place.distance <= FAR else 32)
        for each in sorted(wanted):
            yield from parts_of(scene, node, value, each, FIRST + far, 0, seen)


def parts_of(
    scene: Scene, node: ast.expr, value: int, wanted: int, rank: float, depth: int, seen: set[tuple[int, int]]
) -> Iterator[Candidate]:
    """The edits of an expression, and of those that it takes its names from, after which it is `wanted`."""
    if (id(node), wanted) in seen or wanted < 1:
        return
    seen.add((id(node), wanted))
    if isinstance(node, ast.Constant):
        if depth:
            found = scene.candidate(rank + PLAIN + distance(scene, value, wanted), node, str(wanted))
            yield replace(found, solved=True)
        return
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and depth <= DEEPEST:
        if depth:
            yield from other_names(scene, node, wanted, rank + ELSEWHERE)
        for source in sources(scene, node):
            if value in scene.every_number(source):
                yield from parts_of(scene, source, value, wanted, rank + 0.5, depth + 1, seen)
        return
    for part in inside(node):
        number = scene.number(part)
        if number is None and depth and one_off(part):
            # In a loop each turn has its own value: that all of them are one too few is not to be told by numbers.
            yield scene.candidate(rank, part, scene.text(part.left))
        if part is node or number is None or (is_part(scene, part) and not isinstance(part, ast.Constant)):
            continue
        for other in solutions(scene, node, part, number, wanted):
            near = rank + distance(scene, number, other)
            if isinstance(part, ast.Constant):
                if not has_twin(node, part):
                    left_out = other == 1 and isinstance(getattr(scene.parents.get(id(part)), "op", None), ast.Mult)
                    yield scene.candidate(near + LESS * left_out, part, str(other))
            elif isinstance(part, ast.BinOp):
                for side in (part.left, part.right):
                    if scene.number(side) == other:
                        yield scene.candidate(rank + LESS * (not one_off(part)), part, scene.text(side))
            elif isinstance(part, ast.Call):
                if abs(other - number) == 1:
                    sign = "+" if other > number else "-"
                    yield scene.candidate(rank, part, f"({scene.text(part)} {sign} 1)")
            else:
                if sum(is_same(each, part) for each in ast.walk(node)) == 1:
                    yield from other_names(scene, part, other, rank + ELSEWHERE)
                if depth < DEEPEST:
                    yield from parts_of(scene, part, number, other, rank + 0.5, depth + 1, seen)
    if isinstance(node, ast.BinOp) and depth:
        for side in (node.left, node.right):
            if scene.number(side) == wanted:
                yield scene.candidate(rank + LESS * (not one_off(node)), node, scene.text(side))
    if depth and isinstance(node, ast.BinOp):
        yield from one_more_name(scene, node, value, wanted, rank + NEAREST)


def one_off(node: ast.expr) -> TypeGuard[ast.BinOp]:
    """Whether one is added to something, or taken from it."""
    if not isinstance(node, ast.BinOp) or getattr(node.right, "value", None) != 1:
        return False
    return isinstance(node.op, (ast.Add, ast.Sub))


def has_twin(node: ast.expr, number: ast.Constant) -> bool:
    """Whether the same number stands twice in an expression: the two sides of a map."""
    alike = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value == number.value]
    return len(alike) > 1


def distance(scene: Scene, value: int, wanted: int) -> float:
    """What speaks against a number in the place of another one."""
    if abs(value - wanted) == 1:
        return NEAREST
    if value and (wanted == 2 * value or value == 2 * wanted):
        return DOUBLED
    return ELSEWHERE + 1 if scene.often[wanted] else ANY_NUMBER


def other_names(scene: Scene, node: ast.expr, wanted: int, rank: float) -> Iterator[Candidate]:
    """The names of the same function, or of the module, that have the number."""
    for other, scope in names_in_reach(scene).get(wanted, ())[:4]:
        if scope in (None, scene.scope_of(node)) and ast.dump(other) != ast.dump(node):
            yield scene.candidate(rank, node, scene.text(other))
            return


def one_more_name(scene: Scene, node: ast.BinOp, value: int, wanted: int, rank: float) -> Iterator[Candidate]:
    """A sum or product that lacks a name of its function."""
    if isinstance(node.op, ast.Mult) and wanted % value == 0:
        for other, scope in names_in_reach(scene).get(wanted // value, ())[:4]:
            if scope is scene.scope_of(node):
                yield scene.candidate(rank, node, f"{scene.text(node)} * {scene.text(other)}")
                return
    for other, scope in names_in_reach(scene).get(wanted - value, ())[:4]:
        text = scene.text(other)
        if scope is scene.scope_of(node) and text not in scene.text(node) and isinstance(node.op, ast.Add):
            yield scene.candidate(rank, node, f"{scene.text(node)} + {text}")
            return
    if isinstance(node.op, ast.Add) and isinstance(node.right, (ast.Name, ast.Attribute)):
        last = scene.number(node.right)
        if last and (wanted - value) % last == 0 and wanted > value:
            for other, scope in names_in_reach(scene).get((wanted - value) // last + 1, ())[:4]:
                if scope is scene.scope_of(node):
                    yield scene.candidate(rank, node.right, f"{scene.text(node.right)} * {scene.text(other)}")
                    return


def solutions(scene: Scene, whole: ast.expr, part: ast.expr, number: int, wanted: int) -> Iterator[int]:
    """What a part would have to be for the whole to be `wanted`: the value nearest to the one that it has."""
    near = sorted(range(1, max(MOST_SCANNED, 2 * number + 2)), key=lambda each: abs(each - number))[: 2 * MOST_SCANNED]
    for each in near:
        if each != number and value_with(scene, whole, part, each) == wanted:
            yield each
            return


def is_same(node: ast.AST, part: ast.expr) -> bool:
    """Whether an expression is this part, or the same name once more."""
    if node is part:
        return True
    return isinstance(part, (ast.Name, ast.Attribute)) and type(node) is type(part) and ast.dump(node) == ast.dump(part)


def value_with(scene: Scene, node: ast.expr, part: ast.expr, number: int) -> int | None:
    """The value of an expression, where a part of it has another one, wherever the part's name stands."""
    if is_same(node, part):
        return number
    if not any(is_same(each, part) for each in ast.walk(node)):
        return scene.number(node)
    if isinstance(node, ast.Call) and called(node) == "int" and len(node.args) == 1:
        return value_with(scene, node.args[0], part, number)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = value_with(scene, node.left, part, number), value_with(scene, node.right, part, number)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.FloorDiv):
        return left // right if right else None
    return left**right if isinstance(node.op, ast.Pow) and 0 <= right <= MOST_SCANNED and left <= 2**16 else None


def sources(scene: Scene, node: ast.expr) -> list[ast.expr]:
    """The expressions that a name, an attribute or an item gets its value from."""
    if isinstance(node, ast.Subscript):
        word = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return settings(scene, word) if isinstance(word, str) else []
    if isinstance(node, ast.Attribute):
        own = [
            each.value
            for each in scene.index.assigns
            for target in each.targets
            if isinstance(target, ast.Attribute) and target.attr == node.attr
        ] or attribute_among_others(scene, node.attr)
        return own if own else settings(scene, node.attr)
    if not isinstance(node, ast.Name):
        return []
    function = scene.function_of(node)
    while function is not None:
        found = scene.index.values_of(node.id, function)
        if found:
            return [inner for each in found for inner in returned(scene, each)]
        unpacked = unpacked_from(scene, node.id, function)
        if unpacked:
            return unpacked
        if node.id in parameters(function):
            return handed(scene, function, node.id)
        function = scene.function_of(function)
    return scene.index.values_of(node.id, None)


def attribute_among_others(scene: Scene, name: str) -> list[ast.expr]:
    """What an attribute is given in a line that gives several: `self.heads, self.width = heads, width`."""
    return [
        value
        for assign in scene.index.assigns
        for target in assign.targets
        if isinstance(target, ast.Tuple) and isinstance(assign.value, ast.Tuple)
        for each, value in zip(target.elts, assign.value.elts, strict=False)
        if getattr(each, "attr", "") == name
    ]


def returned(scene: Scene, node: ast.expr) -> list[ast.expr]:
    """What a call of a function of the file returns; else the expression itself."""
    if not isinstance(node, ast.Call):
        return [node]
    found = [each for _, values in returns_of(scene, node) for each in values if not isinstance(each, ast.Tuple)]
    return found or [node]


def returns_of(scene: Scene, call: ast.Call) -> Iterator[tuple[Function, list[ast.expr]]]:
    """The functions of the file that a call may be one of, each with what it returns."""
    for function in scene.inside_of(scene.tree):
        if isinstance(function, ast.FunctionDef) and function.name == called(call):
            inner = [
                each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value is not None
            ]
            yield function, inner


def unpacked_from(scene: Scene, name: str, function: Function | None) -> list[ast.expr]:
    """The item of what a function returns that a name is given among others: `layers, width = make(config)`."""
    found: list[ast.expr] = []
    for assign in scene.index.assigns:
        target = assign.targets[0]
        if not isinstance(target, ast.Tuple) or scene.function_of(assign) is not function:
            continue
        names = [getattr(each, "id", "") for each in target.elts]
        if name not in names:
            continue
        items: list[ast.expr] = [assign.value]
        if isinstance(assign.value, ast.Call):
            items = [each for _, values in returns_of(scene, assign.value) for each in values]
        found += [
            each.elts[names.index(name)]
            for each in items
            if isinstance(each, ast.Tuple) and len(each.elts) == len(names)
        ]
    return found


def settings(scene: Scene, word: str) -> list[ast.expr]:
    """What the file sets under a name: options, items, attributes of classes."""
    index = scene.index
    classes = {each.name for each in index.classes}
    nodes = (*index.calls, *index.classes, *index.dicts, *index.assigns)
    return [value for node in nodes for value in values_of_setting(node, word, classes)]


def handed(scene: Scene, function: Function, name: str) -> list[ast.expr]:
    """What the calls of a function, or of the class that it makes, give for a parameter; its default."""
    around, names = scene.class_of(function), parameters(function)
    word = around.name if around is not None and function.name == "__init__" else function.name
    found: list[ast.expr] = []
    for call in scene.index.calls:
        if called(call) != word:
            continue
        found += [each.value for each in call.keywords if each.arg == name]
        at = names.index(name) - (names[0] == "self")
        if 0 <= at < len(call.args) and not any(isinstance(each, ast.Starred) for each in call.args):
            found.append(call.args[at])
    arguments = function.args
    defaults = dict(zip(reversed(arguments.args), reversed(arguments.defaults), strict=False))
    return [*found, *(value for argument, value in defaults.items() if argument.arg == name)]


def one_too_few(scene: Scene) -> Iterator[Candidate]:
    """A one that is added to what a function which makes layers counts up, or taken from it."""
    functions = {id(scene.scope_of(place.node)) for place in scene.places if place.role in ("layer", "block")}
    for node in scene.inside_of(scene.tree):
        if isinstance(node, ast.AugAssign) and id(scene.scope_of(node)) in functions:
            for part in inside(node.value):
                if one_off(part):
                    yield scene.candidate(FIRST, part, scene.text(part.left))
