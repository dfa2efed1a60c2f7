"""Edits of numbers whose effect the graph itself tells: a kernel, a stride, a padding, a factor, a size of the data.

The ops between such a number and the call that refuses the sizes are asked for their shapes once more, with another
number: where the call takes what comes of it, the edit is worth a trial. That another stride or side gives the very
size that is written far behind it is hardly chance, whereas the size itself can be written anew for any of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from flake8_cnnmem.dims import Shape, Size, multiply
from flake8_cnnmem.evidence.written import worked_out
from flake8_cnnmem.graph import Call, Mismatch, Op, Tensor
from flake8_cnnmem.ops import Linear, Reshape
from flake8_cnnmem.smallest_edit.derived import sources
from flake8_cnnmem.smallest_edit.numbers import all_alike, is_batch, scene_candidate
from flake8_cnnmem.smallest_edit.options import FACTORS, first_free
from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, inside
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance

FIELDS = ("kernel", "stride", "padding", "scale")
"""The fields of ops that say a window or a factor."""

MOST_REPLAYS = 200
"""Numbers of one file that are asked for."""


def other_number(scene: Scene) -> Iterator[Candidate]:
    """Another kernel, stride, padding or factor of a layer before the call, with which it takes its input."""
    if not isinstance(scene.call.op, Linear) or not refuses(scene):
        # Of maps that meet, either may be the wrong one, and many windows would do.
        return
    made = calls_of_layers(scene)
    asked = 0
    for place in scene.places:
        node, calls = place.node, made.get(id(place.node), [])
        if not calls or not isinstance(node, ast.Call):
            continue
        for number in numbers_of(scene, node):
            value = number.value if isinstance(number.value, int) else 0
            for other in (value + 1, value - 1, value + 2, value - 2):
                asked += 1
                if other < 0 or other == value or asked > MOST_REPLAYS:
                    continue
                changes = (
                    {each.number: op for each in calls if (op := with_value(each.op, field, value, other)) is not None}
                    for field in FIELDS
                )
                mending = next((ops for ops in changes if takes(scene, ops, {})), None)
                if mending is not None:
                    mended = usual(next(iter(mending.values()))) and not usual(calls[0].op)
                    rank = (13 if mended else 19) + abs(other - value) / 8 + place.distance / 16
                    yield scene.candidate(rank, number, str(other))
                    break


OVERLAPPING = (3, 2)
"""Kernel and stride of the poolings that overlap, from AlexNet on."""


def usual(op: Op) -> bool:
    """Whether a window is one that people write often: it keeps the sides of maps, or its stride divides it. Another
    one is likelier to be a mistake, and one of these to have been meant."""
    kernel, stride, padding = (getattr(op, field, None) for field in ("kernel", "stride", "padding"))
    if not isinstance(kernel, tuple) or not isinstance(stride, tuple) or not isinstance(padding, tuple):
        return True
    for size, step, sides in zip(kernel, stride, padding, strict=False):
        if type(size) is not int or type(step) is not int or not isinstance(sides, tuple):
            return True
        around = sum(each for each in sides if type(each) is int)
        if around != size - 1 and (step < 2 or (size % step and (size, step) != OVERLAPPING)):
            return False
    return True


def numbers_of(scene: Scene, node: ast.Call) -> Iterator[ast.Constant]:
    """The numbers that a layer is told of its window."""
    given = [*node.args[first_free(scene, node) :]]
    given += [word.value for word in node.keywords if word.arg in (*scene.spelling.windows, *FACTORS)]
    for each in given:
        for one in each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each]:
            if isinstance(one, ast.Constant) and type(one.value) is int:
                yield one


def calls_of_layers(scene: Scene) -> dict[int, list[Call]]:
    """The calls before the one that refuses the sizes, by the ids of the expressions that make their layers."""
    found: dict[int, list[Call]] = {}
    for call in scene.behind[1:]:
        sites = [call.site, *(each.layer.site for each in call.ancestry() if isinstance(each.layer, Instance))]
        for site in sites:
            node = getattr(site, "node", None)
            if node is not None:
                found.setdefault(id(node), []).append(call)
    return found


def with_value(op: Op, field: str, value: int, other: int) -> Op | None:
    """An op with another number in one of its fields; None where it has no such number there."""
    held: Any = getattr(op, field, None)
    changed = exchanged(held, value, other)
    if held is None or changed == held:
        return None
    try:
        return replace(op, **{field: changed})  # type: ignore[type-var]
    except (TypeError, ValueError):
        return None


def exchanged(held: Any, value: int, other: int) -> Any:
    """The sizes of a field with another number in the place of one."""
    if isinstance(held, tuple):
        return tuple(exchanged(each, value, other) for each in held)
    return other if type(held) in (int, float) and held == value else held


def refuses(scene: Scene) -> bool:
    """Whether the op itself refuses the sizes, so that it can be asked whether it takes others."""
    shapes = [each.shape for each in scene.call.inputs if isinstance(each.shape, tuple)]
    if len(shapes) < len(scene.call.inputs):
        return False
    try:
        scene.call.op.outputs(*shapes)
    except Mismatch:
        return True
    return False


def takes(scene: Scene, ops: Mapping[int, Op], sizes: Mapping[int, Any]) -> bool:
    """Whether the call takes what comes of other ops (by the numbers of their calls) or other leaves (by their ids)."""
    shapes: dict[int, Any] = dict(sizes)
    if not ops and not sizes:
        return False
    for call in (*scene.before, scene.call):
        if call.number not in ops and not any(id(each) in shapes for each in call.inputs):
            continue
        now = [shapes.get(id(each), each.shape) for each in call.inputs]
        if any(isinstance(shape, Unknown) for shape in now):
            return False
        try:
            results = ops.get(call.number, call.op).outputs(*now)
        except Mismatch:
            merged = merged_anew(call, now[0])
            if merged is None or call is scene.call:
                return False
            results = (merged,)
        if any(isinstance(shape, Unknown) for shape in results):
            return False
        shapes.update({id(each): shape for each, shape in zip(call.outputs, results, strict=False)})
    return any(id(each) in shapes for each in scene.call.inputs)


def merged_anew(call: Call, shape: Shape) -> Shape | None:
    """What a reshape that merges neighbouring axes gives of a tensor with other sizes: `view(b, t, c * f)`."""
    before, after = call.inputs[0].shape, call.outputs[0].shape
    if not isinstance(call.op, Reshape) or not isinstance(before, tuple) or not isinstance(after, tuple):
        return None
    at = 0
    sizes: list[Size] = []
    for size in after:
        merged, anew = before[at], shape[at]
        at += 1
        while at < len(before) and merged != size:
            merged, anew = multiply(merged, before[at]), multiply(anew, shape[at])
            at += 1
        if merged != size or (at == len(before)) != (len(sizes) + 1 == len(after)):
            return None
        sizes.append(anew)
    return tuple(sizes)


def size_of_data(scene: Scene) -> Iterator[Candidate]:
    """Another side or width of the data, one that the program writes elsewhere, with which a layer of features far
    behind it takes its input."""
    if not isinstance(scene.call.op, Linear) or not refuses(scene):
        return
    leaves: dict[int, Tensor] = {id(each): each for call in scene.before for each in call.inputs if each.call is None}
    for leaf in leaves.values():
        if not isinstance(leaf.shape, tuple) or len(leaf.shape) < 2 or leaf in scene.call.weights:
            continue
        for size in {each for each in leaf.shape[1:] if type(each) is int and each > 1}:
            for other in sorted({*scene.often, *USUAL_SIDES}) if size != scene.problem.problem.given else ():
                shape = tuple(other if each == size else each for each in leaf.shape)
                if other > 1 and other != size and takes(scene, {}, {id(leaf): shape}):
                    yield from in_data(scene, size, other)


def in_data(scene: Scene, size: int, other: int) -> Iterator[Candidate]:
    """The lines that make data of a size, with another one: before the layer's own number, unless that is written out
    where the layer is made."""
    declared = scene.problem.problem.declared
    made = [place.node for place in scene.places if place.role == "layer" and place.distance == 0]
    literals = [each for node in made for each in inside(node) if worked_out(each) == declared]
    # A product that is written out says what maps were meant: that another setting gives it is hardly chance.
    product = any(isinstance(each, ast.BinOp) for each in literals)
    rank = 19 if literals else 13
    usual = other not in scene.often
    for place in scene.places:
        if place.role not in ("data", "leaf"):
            continue
        found = False
        for node in ast.walk(place.node):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value == size:
                if not is_batch(Place(place.node, "data", 2), node):
                    found = True
                    if not usual:
                        yield scene_candidate(node, rank, all_alike(scene, node, str(other)))
        names = [each for each in inside(place.node) if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript))]
        for name in [] if found else [each for each in names if scene.number(each) == size][:1]:
            for node in where_given(scene, name, size):
                yield scene_candidate(node, 14 if product else rank, all_alike(scene, node, str(other)))


def where_given(scene: Scene, name: ast.expr, size: int) -> list[ast.Constant]:
    """The one number that a name, an attribute or an item has its value from."""
    found: list[ast.Constant] = []
    waiting, seen = [name], {id(name)}
    while waiting and len(seen) < MOST_NAMES:
        for source in sources(scene, waiting.pop()):
            if isinstance(source, ast.Constant) and source.value == size:
                found.append(source)
            elif isinstance(source, (ast.Name, ast.Attribute, ast.Subscript)) and id(source) not in seen:
                seen.add(id(source))
                waiting.append(source)
    return found if len(found) == 1 else []


MOST_NAMES = 12

USUAL_SIDES = (28, 32, 64, 96, 128, 224, 256)
"""The sides of images that programs are written for, beside those that the file itself names."""
