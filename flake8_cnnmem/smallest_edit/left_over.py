"""Edits that use what the text has and leaves unused: a parameter of a constructor, a width that a loop carries on, the
sizes of a reshape one by one where their product is asked for, the operands of a product the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from flake8_cnnmem.evidence.written import parameters
from flake8_cnnmem.ops import Matmul
from flake8_cnnmem.smallest_edit.numbers import elements, sizes_written
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called, inside


def parameter_added(scene: Scene) -> Iterator[Candidate]:
    """The sum with a parameter of the same function that it reads nowhere: `Linear(states, 256)` of a constructor that
    is told how many actions there are, for states and actions side by side."""
    for place, node, value in sizes_written(scene):
        function = scene.function_of(node)
        if function is None or not isinstance(node, ast.Name) or place.role not in ("layer", "block"):
            continue
        read = {each.id for each in scene.inside_of(function) if isinstance(each, ast.Name)}
        for name in (each for each in parameters(function) if each not in read):
            if any((value, value + number) in scene.pairs for number in given_as(scene, function, name)):
                yield scene.candidate(4 + place.distance / 8, node, f"{node.id} + {name}")


def given_as(scene: Scene, function: ast.AST, name: str) -> set[int]:
    """The whole numbers that the file's calls of a class hand over as one parameter of its constructor, and its
    default."""
    around = scene.class_of(function)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or around is None:
        return set()
    names = [each.arg for each in function.args.args][1:]
    found: set[int] = set()
    if name in names:
        at = names.index(name)
        behind = at - len(names)
        if -behind <= len(function.args.defaults):
            found |= scene.every_number(function.args.defaults[behind])
        for call in scene.index.calls:
            if called(call) == around.name:
                handed = [*call.args[at : at + 1], *(each.value for each in call.keywords if each.arg == name)]
                found |= {number for each in handed for number in scene.every_number(each)}
    return found


def carried_on(scene: Scene) -> Iterator[Candidate]:
    """A width that each turn of a loop adds to, in the place of one that it sets anew: `width += growth`."""
    for loop in (each for each in scene.inside_of(scene.tree) if isinstance(each, ast.For)):
        for each in loop.body:
            target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
            if not isinstance(each, ast.Assign) or not isinstance(target, ast.Name):
                continue
            names = {one.id for one in ast.walk(each.value) if isinstance(one, ast.Name)}
            read = {one.id for before in loop.body for one in ast.walk(before) if is_read(one)}  # type: ignore[attr-defined]
            sizes = scene.every_number(each.value)
            if target.id in read and target.id not in names and sizes & {one for pair in scene.pairs for one in pair}:
                yield scene.candidate(5, each.value, f"{target.id} + {scene.text(each.value)}")


def is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def operands_turned_round(scene: Scene) -> Iterator[Candidate]:
    """The two operands of a product of matrices the other way round."""
    for place in scene.places if isinstance(scene.call.op, Matmul) else ():
        for node in inside(place.node) if place.role == "op" and place.distance <= 1 else ():
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
                continue
            if not isinstance(node.left, ast.BinOp) and not isinstance(node.right, ast.BinOp):
                text = f"{scene.text(node.right)} @ {scene.text(node.left)}"
                yield scene.candidate(6 + place.distance / 8, node, text)


def sizes_multiplied(scene: Scene) -> Iterator[Candidate]:
    """Two sizes of a reshape as one, where a layer asks for their product: `view(-1, 28, 28)` for 784 features."""
    declared = scene.problem.problem.declared
    for node in scene.index.calls if declared else ():
        if called(node) not in scene.spelling.reshapes:
            continue
        for one, other in pairwise(elements(node)):
            left, right = scene.number(one), scene.number(other)
            if left and right and left > 1 and left * right == declared:
                edit = scene.edit_between(one, other, f"{scene.text(one)} * {scene.text(other)}")
                yield Candidate(5, one.lineno, one.col_offset + 1, (edit,))
