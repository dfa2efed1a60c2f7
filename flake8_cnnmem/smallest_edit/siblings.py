"""Edits after which a line is as those beside it: the argument that another call of the same name has, another item of
the same list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, called, inside

MOST_SIBLINGS = 6
"""Calls of one name in a function that are compared with each other."""

FAR = 10
"""How many calls before the one that refuses the sizes a call is compared with those beside it."""


def argument_of_sibling(scene: Scene) -> Iterator[Candidate]:
    """The one argument in which a call differs from another one of the same name in the same function."""
    seen: set[int] = set()
    for place in scene.places:
        node = place.node
        if not isinstance(node, ast.Call) or place.role == "caller" or place.distance > FAR or id(node) in seen:
            continue
        seen.add(id(node))
        alike = [
            each
            for each in scene.inside_of(scene.scope_of(node))
            if isinstance(each, ast.Call) and each is not node and called(each) == called(node)
        ]
        # What stands nearest is likest to be its twin.
        alike.sort(key=lambda each: abs(each.lineno - node.lineno))
        for other in alike[:MOST_SIBLINGS]:
            differing = one_difference(node, other)
            if differing is not None and is_apart(scene, *differing):
                own, its = differing
                near = node.lineno == scene.problem.place.line
                less = LESS * (isinstance(own, ast.BinOp) and ast.dump(its) in map(ast.dump, (own.left, own.right)))
                yield scene.candidate(8 + 5 * (not near) + less + place.distance / 8, own, scene.text(its))


LESS = 4
"""What speaks against a factor left out: people forget one rather than write one too much."""


def one_difference(node: ast.Call, other: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The two arguments in which two calls differ; None where they are told otherwise in more than one."""
    words, its = ({word.arg: word.value for word in each.keywords} for each in (node, other))
    if len(node.args) != len(other.args) or words.keys() != its.keys():
        return None
    both = [*zip(node.args, other.args, strict=True), *((words[name], its[name]) for name in words)]
    found = [(one, two) for one, two in both if ast.dump(one) != ast.dump(two)]
    return found[0] if len(found) == 1 else None


def is_apart(scene: Scene, own: ast.expr, its: ast.expr) -> bool:
    """Whether another argument makes other sizes: two numbers of which one has to become the other, or expressions that
    gave others."""
    if all(isinstance(getattr(each, "value", None), str) for each in (own, its)):
        return {getattr(own, "value", ""), getattr(its, "value", "")} <= PADDINGS and scene.is_spatial
    one, other = scene.every_number(own), scene.every_number(its)
    if isinstance(own, ast.Constant) and isinstance(its, ast.Constant):
        wanted = scene.pairs | scene.sides
        return scene.is_spatial or any((a, b) in wanted for a in one for b in other)
    return bool(one and other) and one != other


PADDINGS = {"same", "valid", "causal"}
"""Paddings that are told by a word."""


def other_index(scene: Scene) -> Iterator[Candidate]:
    """Another item of a list of numbers: the one before or behind, the first or the last in the place of each other."""
    seen: set[int] = set()
    for place in scene.places:
        if place.distance > FAR or place.role == "caller":
            continue
        scope = scene.scope_of(place.node)
        for node in scene.inside_of(scope) if scope is not scene.tree else inside(place.node):
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield from of_list(scene, place, node)


def of_list(scene: Scene, place: Place, node: ast.Subscript) -> Iterator[Candidate]:
    lists = [each for each in scene.values.get(id(node.value), ()) if isinstance(each, (list, tuple))]
    items = list(lists[-1]) if lists else []
    if len(items) < 2 or not all(type(each) is int for each in items):
        return
    rank = 10 + place.distance / 8
    index = node.slice
    at = scene.number(index) if isinstance(index, (ast.Constant, ast.UnaryOp)) else None
    if at is not None:
        for name in looped_beside(scene, node):
            yield scene.candidate(rank - 1, index, name)
        own = scene.every_number(node)
        for other, item in enumerate(items):
            if any((each, item) in scene.pairs for each in own):
                far = abs(other - at % len(items))
                yield scene.candidate(rank + far, index, str(other - len(items) if at < 0 else other))
    elif isinstance(index, ast.Name):
        yield scene.candidate(rank, index, f"{index.id} - 1")
        yield scene.candidate(rank + 0.1, index, f"{index.id} + 1")
    elif isinstance(index, ast.BinOp) and isinstance(index.left, ast.Name) and isinstance(index.right, ast.Constant):
        yield scene.candidate(rank, index, index.left.id)


def other_tensor_of_list(scene: Scene) -> Iterator[Candidate]:
    """Another one of several tensors that a loop goes through by their number, in the line that refuses the sizes:
    `maps[i]` in the place of `maps[i - 1]`."""
    for place in scene.places:
        statement = scene.statement_of(place.node) if place.distance == 0 and place.role == "op" else None
        for node in inside(statement) if statement is not None else ():
            if not isinstance(node, ast.Subscript) or scene.shape(node) is None:
                continue
            index = node.slice
            if isinstance(index, ast.Name) and type(scene.values.get(id(index), (None,))[-1]) is int:
                yield scene.candidate(10, index, f"{index.id} - 1")
                yield scene.candidate(10.1, index, f"{index.id} + 1")
            elif isinstance(index, ast.BinOp) and isinstance(index.left, ast.Name):
                yield scene.candidate(10, index, index.left.id)


def looped_beside(scene: Scene, node: ast.Subscript) -> list[str]:
    """The names by which a loop around an item goes through other lists, where the item is the same each turn."""
    found: dict[str, None] = {}
    at = scene.parents.get(id(node))
    while at is not None and not isinstance(at, ast.FunctionDef):
        targets = [at.target] if isinstance(at, ast.For) else []
        if isinstance(at, (ast.ListComp, ast.GeneratorExp)):
            targets = [each.target for each in at.generators]
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        for each in ast.walk(at) if names else ():
            if isinstance(each, ast.Subscript) and getattr(each.slice, "id", "") in names:
                found[getattr(each.slice, "id", "")] = None
        at = scene.parents.get(id(at))
    return list(found)
