"""Edits of numbers of which one is to divide the other and does not: heads and a width, a window and the side of maps.

The result of such a division is rounded, and what is made of it has fewer values than there are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.ops import Reshape
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.smallest_edit.blocks import last_name, named_numbers
from flake8_cnnmem.smallest_edit.decided import constructions
from flake8_cnnmem.smallest_edit.handed_on import lines_written
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, inside

LESS = 1
"""What speaks against the number with more factors of two than the other: programs write round ones."""


def parts_not_dividing(scene: Scene) -> Iterator[Candidate]:
    """A number that leaves a remainder where another one is divided by it, in the line where it is written: the nearest
    one that leaves none. Which of the two is wrong is told by how round they are."""
    if not isinstance(scene.call.op, (Reshape, Refused)):
        return
    told = numbers_told(scene)
    for node in scene.inside_of(scene.tree):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
            continue
        width, parts = last_number(scene, node.left), last_number(scene, node.right)
        if width is None or parts is None or parts < 2 or width % parts == 0 or width // parts not in told:
            continue
        fewer = [each for each in range(2, min(2 * parts, width) + 1) if width % each == 0]
        nearest = min(fewer, key=lambda each: abs(each - parts), default=None)
        rounder = twos(parts) > twos(width)
        for each in written(scene, node.right, parts) if nearest is not None else ():
            yield scene.candidate(5 + LESS * rounder, each, str(nearest))
        if rounder:
            for each in written(scene, node.left, width):
                yield scene.candidate(5, each, str(max(round(width / parts), 1) * parts))


def numbers_told(scene: Scene) -> set[int]:
    """The numbers in the call that refuses the sizes."""
    nodes = [place.node for place in scene.places if place.distance == 0 and place.role == "op"]
    return {number for node in nodes for each in inside(node) for number in scene.every_number(each)}


def last_number(scene: Scene, node: ast.expr) -> int | None:
    """The whole number that an expression gave last before the sizes were refused."""
    if isinstance(node, ast.Constant):
        return scene.number(node)
    found = [each for each in scene.values.get(id(node), ()) if type(each) is int]
    return found[-1] if found else None


def twos(number: int) -> int:
    """How often a number can be halved."""
    return (number & -number).bit_length()


def written(scene: Scene, node: ast.expr, number: int) -> list[ast.Constant]:
    """The one place where the number of an expression is written: followed through the blocks around the call, or
    under the name that it has there."""
    lines = list(lines_written(scene, node, number, constructions(scene, scene.call)))[-1:]
    found = [
        each
        for each in scene.inside_of(scene.tree)
        if isinstance(each, ast.Constant) and each.lineno in lines and each.value == number and type(each.value) is int
    ]
    named = [each for each in named_numbers(scene, last_name(node)) if each.value == number and type(each.value) is int]
    return found if len(found) == 1 else named if len(named) == 1 else []
