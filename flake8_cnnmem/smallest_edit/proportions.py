"""Edits of the widths of blocks that go on in one proportion: each twice as wide as the one before, and once not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.ops.merge import Concatenate
from flake8_cnnmem.smallest_edit.numbers import sizes_written
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called

FEWEST = 2
"""As many widths have a proportion."""


def in_proportion(scene: Scene) -> Iterator[Candidate]:
    """The number with which the widths of a block have the proportion of those beside it, where they have another."""
    joined = widths_joined(scene)
    for place, node, value in sizes_written(scene):
        if not isinstance(node, ast.Constant):
            continue
        for size, wanted in scene.pairs | joined:
            if size == value and goes_with_others(scene, node, wanted):
                yield scene.candidate(11 + place.distance / 16, node, str(wanted))


def widths_joined(scene: Scene) -> set[tuple[int, int]]:
    """The widths of parts that are joined before a layer: what one would have to be for all of them to be what the
    layer takes; of two parts, of which one is half of that, either as wide as the other."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    joins = [each for each in scene.behind[1:JOINED_WITHIN] if isinstance(each.op, Concatenate)]
    if not given or not declared or not joins:
        return set()
    whole = joins[0].outputs[0].shape
    axis = whole.index(given) if isinstance(whole, tuple) and given in whole else None
    shapes = [each.shape for each in joins[0].inputs if isinstance(each.shape, tuple)]
    sizes = [shape[axis] for shape in shapes if axis is not None and len(shape) > axis]
    parts = [size for size in sizes if type(size) is int]
    found = {(size, size + declared - given) for size in parts if size + declared > given}
    if len(parts) == FEWEST and declared in (2 * parts[0], 2 * parts[1]):
        found |= {(parts[0], parts[1]), (parts[1], parts[0])}
    return found


JOINED_WITHIN = 6
"""How many calls before the one that refuses the sizes parts are joined."""


def goes_with_others(scene: Scene, node: ast.expr, wanted: int) -> bool:
    """Whether another number gives a block's widths a proportion that other blocks have, and its own one is none of
    theirs."""
    widths = widths_around(scene, node)
    if widths is None or node not in widths[0] or len(widths[0]) < FEWEST:
        return False
    own, others = widths
    now, then = (
        proportion([number if each is node else scene.number(each) for each in own])
        for number in (scene.number(node), wanted)
    )
    ratios = [proportion([scene.number(each) for each in other]) for other in others]
    return then is not None and then in ratios and now not in ratios


def proportion(widths: Sequence[int | None]) -> float | None:
    """By how much the second of two widths is larger than the first."""
    first, second = widths[:2]
    return second / first if first and second else None


def widths_around(scene: Scene, node: ast.expr) -> tuple[list[ast.expr], list[list[ast.expr]]] | None:
    """The widths that a number stands among, as a block is handed them, and those of the blocks beside it."""
    parent = scene.parents.get(id(node))
    outer = scene.parents.get(id(parent)) if isinstance(parent, (ast.Tuple, ast.List)) else parent
    if not isinstance(outer, ast.Call):
        return None
    kinds = (ast.ClassDef, ast.FunctionDef)
    made = {each.name for each in scene.inside_of(scene.tree) if isinstance(each, kinds)}
    own = numbers_of(parent)
    others = [
        found
        for each in scene.inside_of(scene.scope_of(node))
        if isinstance(each, ast.Call) and each is not outer and (called(each) in made) and called(outer) in made
        for found in lists_of(each)
        if len(found) >= FEWEST
    ]
    return own, others


def lists_of(call: ast.Call) -> list[list[ast.expr]]:
    return [numbers_of(each) for each in (call, *call.args) if isinstance(each, (ast.Call, ast.Tuple, ast.List))]


def numbers_of(node: ast.AST | None) -> list[ast.expr]:
    given = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
    return [each for each in given if isinstance(each, ast.Constant) and type(each.value) is int]
