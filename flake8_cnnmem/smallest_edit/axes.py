"""Edits of what says an axis or an order: another axis, axes in another order, two arguments the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from flake8_cnnmem.line_to_change.given import NORMS
from flake8_cnnmem.ops import Loss, Reshape
from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, called, inside
from flake8_cnnmem.text.edits import with_keyword

NEAR = 12
"""How many calls before the one that refuses the sizes an axis is looked for."""


def axis_of(scene: Scene, call: ast.Call) -> ast.expr | None:
    """The argument of a call that says an axis."""
    name, spelling = called(call), scene.spelling
    if name not in spelling.axis:
        return None
    named = next((word.value for word in call.keywords if word.arg in spelling.axis_named), None)
    if named is not None:
        return named
    at = spelling.axis[name] + (name not in spelling.function_axis and is_of_module(scene, call.func))
    return call.args[at] if len(call.args) > at else None


def is_of_module(scene: Scene, function: ast.expr) -> bool:
    """Whether a function is one of a module that the file imports rather than a tensor's method."""
    root = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(root, ast.Name) and root.id in scene.imported


def other_axis(scene: Scene) -> Iterator[Candidate]:
    """The same call along another axis."""
    for place, call in near_calls(scene):
        axis = axis_of(scene, call)
        value = scene.number(axis) if isinstance(axis, (ast.Constant, ast.UnaryOp)) else None
        if axis is None or value is None or isinstance(getattr(axis, "value", None), bool):
            continue
        axes = rank_around(scene, call)
        first = 0 if called(call) in (*scene.spelling.inserting, *scene.spelling.left_out, "size") else 1
        others = [at for at in range(first, axes) if at not in (value, value + axes)]
        rank = 10 + place.distance / 4
        parts = parts_of(scene, call)
        if parts is not None:
            others = [at for at in others if joined_along(parts, at)]
            # Maps that agree in all axes can be joined along any: people mean their channels.
            rank += ANY_AXIS * (len(set(parts)) == 1 and value % axes == (axes - 1 if scene.channels_last else 1))
        for at in sorted(others, key=lambda at: abs(at - (value % axes if axes else 0)))[:3]:
            yield scene.candidate(rank + 0.1 * at, axis, str(at if value >= 0 else at - axes))


ANY_AXIS = 8


def axis_untold(scene: Scene) -> Iterator[Candidate]:
    """The last axis, or that of channels, for a call that is told none, and takes the samples apart or together."""
    for place, call in near_calls(scene):
        name = called(call)
        if name not in scene.spelling.by_samples or axis_of(scene, call) is not None:
            continue
        for at, axis in enumerate(("1", "-1") if rank_around(scene, call) > THREE else ("-1", "1")):
            edit = with_keyword(call, scene.lines, scene.spelling.axis_named[0], axis)
            yield Candidate(8 + place.distance / 8 + 0.1 * at, call.lineno, call.col_offset + 1, (edit,))


def parts_of(scene: Scene, call: ast.Call) -> list[tuple[object, ...]] | None:
    """The shapes of the tensors that a call joins; None where it joins nothing, or they are not known."""
    parts = call.args[0] if call.args else None
    if called(call) not in scene.spelling.joins or not isinstance(parts, (ast.List, ast.Tuple)):
        return None
    shapes = [scene.shape(each) for each in parts.elts]
    return [shape for shape in shapes if shape is not None] if None not in shapes else None


def joined_along(parts: list[tuple[object, ...]], axis: int) -> bool:
    """Whether tensors agree in all axes but one."""
    rest = {(*shape[:axis], *shape[axis + 1 :]) for shape in parts}
    return len(rest) == 1


def other_size(scene: Scene) -> Iterator[Candidate]:
    """The size of another axis of the same tensor: `x.shape[0]` for `x.shape[1]`."""
    for place in scene.places:
        statement = scene.statement_of(place.node) if place.role == "op" else place.node
        for node in inside(statement or place.node) if place.distance <= NEAR else ():
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
                continue
            if node.value.attr == "shape" and isinstance(node.slice, ast.Constant):
                shape = scene.shape(node.value.value)
                for at in range(len(shape) if shape is not None else 0):
                    if at != node.slice.value:
                        yield scene.candidate(10.5 + place.distance / 4, node.slice, str(at))


def near_calls(scene: Scene) -> Iterator[tuple[Place, ast.Call]]:
    """The calls in the statements of the ops that stand just before the one that refuses the sizes."""
    seen: set[int] = set()
    for place in scene.places:
        if place.role in ("block", "caller") or place.distance > NEAR:
            continue
        statement = scene.statement_of(place.node) if place.distance <= 1 else place.node
        for node in inside(statement or place.node):
            if isinstance(node, ast.Call) and id(node) not in seen:
                seen.add(id(node))
                yield place, node


def rank_around(scene: Scene, call: ast.Call) -> int:
    """How many axes there are that a call may be told: those of what it works on or gives."""
    shapes = [scene.shape(call)]
    if isinstance(call.func, ast.Attribute):
        shapes.append(scene.shape(call.func.value))
    for argument in call.args[:1]:
        parts = argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument]
        shapes += [scene.shape(each) for each in parts]
    return max((len(each) for each in shapes if each is not None), default=4 if scene.infers_input else 3)


def other_order(scene: Scene) -> Iterator[Candidate]:
    """Axes in another order: two of a permutation exchanged, or another pair of them."""
    for place, call in near_calls(scene):
        if called(call) not in scene.spelling.orders or is_reshaped(scene, call):
            continue
        shape, declared = scene.shape(call), scene.problem.problem.declared
        if scene.call.weights and shape is not None and declared is not None and declared not in shape:
            # In no order has it the size that the layer asks for.
            continue
        same = CHANGES_NOTHING * (isinstance(scene.call.op, Reshape) and scene.problem.problem.given is not None)
        given = call.args
        if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
            given = given[0].elts
        numbers = [scene.number(each) if isinstance(each, (ast.Constant, ast.UnaryOp)) else None for each in given]
        at = [n for n, each in enumerate(numbers) if each is not None]
        rank = 11 + same + place.distance / 4
        if called(call) in scene.spelling.whole_orders and len(at) > 2:
            for one, other in combinations(at, 2):
                edits = (scene.edit(given[one], str(numbers[other])), scene.edit(given[other], str(numbers[one])))
                yield Candidate(rank, call.lineno, call.col_offset + 1, edits)
        elif len(at) == 2:
            axes = rank_around(scene, call)
            now = {number % axes for number in numbers if number is not None}
            for pair in ((1, 2), (0, 1), (0, 2), (2, 3), (1, 3)):
                if max(pair) < axes and set(pair) != now:
                    edits = (scene.edit(given[at[0]], str(pair[0])), scene.edit(given[at[1]], str(pair[1])))
                    yield Candidate(rank, call.lineno, call.col_offset + 1, edits)


CHANGES_NOTHING = 8
"""What speaks against an order of axes where it is the number of values that is wrong."""


def is_reshaped(scene: Scene, call: ast.Call) -> bool:
    """Whether a reshape of sizes that are known before it stands right behind what orders axes: those sizes are the
    same then, in whatever order."""
    method = scene.parents.get(id(call))
    outer = scene.parents.get(id(method)) if isinstance(method, ast.Attribute) else None
    return (
        isinstance(outer, ast.Call)
        and called(outer) in scene.spelling.reshapes
        and not isinstance(scene.call.op, Reshape)
    )


def order_lacking(scene: Scene) -> Iterator[Candidate]:
    """The last two of three axes exchanged, behind what has made them three, or where the model is handed them."""
    behind, problem = scene.spelling.transposing, scene.problem.problem
    if not behind or isinstance(scene.call.op, Loss):
        return
    of_axes = scene.is_of_order or problem.elsewhere is not None or scene.is_of_axes
    for place, call in near_calls(scene):
        shape, given = scene.shape(call), scene.shape(call.func.value) if isinstance(call.func, ast.Attribute) else None
        norm = place.distance < len(scene.behind) and isinstance(scene.behind[place.distance].op, NORMS)
        if norm and shape is not None and shape[1:] == (problem.declared, problem.given) and place.role == "op":
            # A normalisation, behind which the axes are exchanged for what works along the steps.
            yield scene.candidate(11 + place.distance / 4, call, scene.text(call) + behind)
        if shape is None or given is None or len(shape) != THREE or len(given) == THREE or place.role != "op":
            continue
        if of_axes or shape[1:] == (problem.declared, problem.given):
            yield scene.candidate(11 + place.distance / 4, call, scene.text(call) + behind)
    for call in scene.index.calls if of_axes else ():
        for each in call.args[:1]:
            shape = scene.shape(each) if isinstance(each, (ast.Name, ast.Subscript)) else None
            if shape is not None and len(shape) == THREE and scene.is_model(call.func) and not scene.is_made(each):
                yield scene.candidate(12, each, scene.text(each) + behind)
    yield from channels_of_arrays(scene)


def channels_of_arrays(scene: Scene) -> Iterator[Candidate]:
    """The channels of images, which stand last in an array, before their sides, where the array becomes a tensor."""
    declared, elsewhere = scene.problem.problem.declared, scene.problem.problem.elsewhere
    if elsewhere is None or not scene.has_maps or not scene.spelling.permuting:
        return
    for call in scene.index.calls:
        shape = scene.shape(call) if called(call) in scene.spelling.of_arrays else None
        if shape is None or len(shape) not in (THREE, THREE + 1) or shape[-1] != declared:
            continue
        before, behind = range(len(shape) - THREE), range(len(shape) - THREE, len(shape) - 1)
        order = ", ".join(map(str, (*before, len(shape) - 1, *behind)))
        yield scene.candidate(11, call, scene.text(call) + scene.spelling.permuting.format(order))


THREE = 3
"""The axes of sequences of features, and of an image."""


def exchanged(scene: Scene) -> Iterator[Candidate]:
    """Two arguments of a call, two values that a function gives or two names that they are given, the other way
    round."""
    for place in scene.places:
        if isinstance(place.node, ast.Call) and called(place.node) != "Model":
            given: list[ast.expr] = [
                each
                for each in place.node.args
                if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp))
            ]
            silent = scene.problem.at is None and place.distance <= NEAR and place.role != "caller"
            layer = place.role == "layer" and place.distance <= TWO and len(given) == TWO
            if layer and differ(scene, *given):
                yield swapped(scene, 12 + place.distance / 4, *given)
            elif 1 < len(given) <= MOST_EXCHANGED and (silent or place.role == "block"):
                for first, second in combinations(given, 2):
                    if differ(scene, first, second) and is_pair(scene, first, second):
                        yield swapped(scene, 17 + place.distance / 4, first, second)
            words = [each for each in place.node.keywords if isinstance(each.value, (ast.Name, ast.Constant))]
            if place.role == "block" and 1 < len(words) <= MOST_EXCHANGED:
                for one, other in combinations(words, 2):
                    if differ(scene, one.value, other.value) and is_pair(scene, one.value, other.value):
                        yield swapped(scene, 18 + place.distance / 4, one.value, other.value)
    for call in scene.index.calls:
        given = [each for each in call.args if isinstance(each, ast.Name)]
        if TWO <= len(given) <= MOST_INPUTS and scene.is_model(call.func):
            for first, second in combinations(given, 2):
                if differ(scene, first, second):
                    yield swapped(scene, 12.5 - unlike(scene, first, second), first, second)
    for function in functions_run(scene):
        returns = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
        if len(returns) == 1 and isinstance(returns[0], ast.Tuple):
            for first, second in combinations(returns[0].elts, 2):
                if scene.shape(first) != scene.shape(second) and None not in (scene.shape(first), scene.shape(second)):
                    yield swapped(scene, 9 if isinstance(scene.call.op, Loss) else 13, first, second)


TWO = 2
MOST_INPUTS = 4
MOST_EXCHANGED = 6


def functions_run(scene: Scene) -> list[ast.AST]:
    """The functions of the file that take part, the innermost first."""
    found: dict[int, ast.AST] = {}
    for place in scene.places:
        function = scene.function_of(place.node)
        if function is not None:
            found.setdefault(id(function), function)
    return list(found.values())


def unlike(scene: Scene, one: ast.expr, other: ast.expr) -> bool:
    """Whether two tensors have other numbers of axes: pictures and rows."""
    return len(scene.shape(one) or ()) != len(scene.shape(other) or ())


def differ(scene: Scene, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions gave other sizes or numbers."""
    shapes, numbers = (scene.shape(one), scene.shape(other)), (scene.number(one), scene.number(other))
    if None not in shapes:
        return shapes[0] != shapes[1]
    sizes = {size for pair in scene.pairs for size in pair} or (sizes_met(scene) if scene.is_of_order else set())
    several = scene.every_number(one), scene.every_number(other)
    if all(several) and None in numbers:
        # In a loop each turn has its own.
        return several[0] != several[1]
    return None not in numbers and numbers[0] != numbers[1] and bool(sizes & set(numbers))


def sizes_met(scene: Scene) -> set[int]:
    """The sizes of the tensors that do not go together."""
    shapes = [each.shape for each in scene.call.inputs if isinstance(each.shape, tuple)]
    return {size for shape in shapes for size in shape if type(size) is int}


def is_pair(scene: Scene, one: ast.expr, other: ast.expr) -> bool:
    """Whether one of two numbers would have to be the other one, as far as they are numbers."""
    numbers = scene.every_number(one), scene.every_number(other)
    if not all(numbers) or (scene.is_of_order and not scene.pairs):
        return True
    return any((a, b) in scene.pairs or (b, a) in scene.pairs for a in numbers[0] for b in numbers[1])


def swapped(scene: Scene, rank: float, one: ast.expr, other: ast.expr) -> Candidate:
    """Two expressions in each other's place."""
    edits = (scene.edit(one, scene.text(other)), scene.edit(other, scene.text(one)))
    return Candidate(rank, one.lineno, one.col_offset + 1, edits)
