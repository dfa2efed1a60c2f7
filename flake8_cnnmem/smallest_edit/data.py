"""Edits of the lines in which a program prepares what it trains a model on: an axis, a size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.graph import Problem
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called, inside


def prepared(scene: Scene, problem: Problem | None = None) -> Iterator[ast.Assign]:
    """The assignments to the names that the call which refuses them is handed, and to the names in those."""
    if not (problem or scene.problem.problem).what.startswith("takes samples of "):
        return
    handed = [each for each in scene.index.calls if each.lineno == line_of(scene)]
    names = [each.id for call in handed for each in ast.walk(call) if isinstance(each, ast.Name)]
    waiting, seen = list(dict.fromkeys(names)), set(names)
    found: dict[int, ast.Assign] = {}
    while waiting:
        name = waiting.pop(0)
        for each in scene.index.assigns:
            targets = {one.id for target in each.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
            if name in targets and id(each) not in found:
                found[id(each)] = each
                inner = [one.id for one in ast.walk(each.value) if isinstance(one, ast.Name)]
                waiting += [one for one in inner if one not in seen]
                seen |= set(inner)
    yield from sorted(found.values(), key=lambda each: -each.lineno)


def line_of(scene: Scene) -> int:
    return scene.call.site.line if scene.call.site is not None else 0


def other_axis(scene: Scene) -> Iterator[Candidate]:
    """The axis that is put into the data, or axes of it in another order."""
    for assign in prepared(scene):
        for node in inside(assign.value):
            if isinstance(node, ast.Call) and called(node) in scene.spelling.inserting:
                given = [*node.args[1:], *(word.value for word in node.keywords)]
                for axis in [each for each in given if scene.number(each) is not None][:1]:
                    for at in (-1, 0, 1):
                        if at != scene.number(axis):
                            yield scene.candidate(7 + 0.1 * abs(at + 1), axis, str(at))


def other_size(scene: Scene) -> Iterator[Candidate]:
    """A number that the data is made of: without what it is divided by or what is added to it; another one."""
    shapes = [each.shape for each in scene.call.inputs[:2] if isinstance(each.shape, tuple)]
    if len(shapes) < 2 or len(shapes[0]) != len(shapes[1]):
        return
    pairs = [(a, b) for a, b in zip(*shapes, strict=True) if type(a) is int and type(b) is int and a != b]
    for assign in prepared(scene):
        for node in inside(assign.value):
            if isinstance(node, ast.Constant) and type(node.value) is int and scene.problem.at is None:
                parent = scene.parents.get(id(node))
                sizes = [*parent.args] if isinstance(parent, ast.Call) else getattr(parent, "elts", [])
                for given, asked in pairs:
                    if node.value == given and len(sizes) == len(shapes[0]):
                        yield scene.candidate(19, node, str(asked))
            if isinstance(node, ast.BinOp) and not isinstance(scene.parents.get(id(node)), ast.BinOp):
                value = scene.number(node)
                for given, asked in pairs:
                    if value == given:
                        for side in (node.left, node.right):
                            if scene.number(side) == asked:
                                yield scene.candidate(8, node, scene.text(side))
