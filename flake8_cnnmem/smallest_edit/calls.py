"""Edits of calls: a layer that is never called, another tensor, one more that is joined, a call that is too much."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from flake8_cnnmem.ops import AttentionInputs, Broadcast, Linear, Loss
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called, inside


def layer_not_called(scene: Scene) -> Iterator[Candidate]:
    """A layer of the module that nothing calls, on what the call is given, or on what is before it."""
    for place in scene.places:
        if place.distance > CLOSE or place.role != "op":
            continue
        function, around = scene.function_of(place.node), scene.class_of(place.node)
        statement = scene.statement_of(place.node)
        if around is None or function is None or statement is None:
            continue
        for name in layers_unused(around):
            for node in inside(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and scene.shape(node) is not None:
                    yield scene.candidate(2 + place.distance / 4, node, f"self.{name}({node.id})")


CLOSE = 2
"""How many calls before the one that refuses the sizes a layer or tensor is looked for."""


def layers_unused(around: ast.ClassDef) -> list[str]:
    """The attributes that a class sets to the result of a call, and reads nowhere."""
    set_here: dict[str, None] = {}
    read: set[str] = set()
    for node in ast.walk(around):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
                    set_here[target.attr] = None
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            read.add(node.attr)
    return [name for name in set_here if name not in read]


def other_tensor(scene: Scene) -> Iterator[Candidate]:
    """Another tensor of the same function in the place of one that is handed over."""
    if isinstance(scene.call.op, Broadcast):
        # One of the two would be lost.
        return
    for place in scene.places:
        if place.role not in ("op", "caller") or place.distance > (CLOSE if place.role == "op" else 0):
            continue
        statement = scene.statement_of(place.node)
        if statement is None:
            continue
        known = tensors_before(scene, statement)
        for node in inside(statement):
            shape = scene.shape(node) if isinstance(node, ast.Name) else None
            if shape is None or not isinstance(node, ast.Name):
                continue
            if reads_of_value(scene, node) < MORE:
                # What it gave would be lost.
                continue
            parent = scene.parents.get(id(node))
            beside = {each.id for each in inside(parent) if isinstance(each, ast.Name)} if parent is not None else set()
            if isinstance(scene.call.op, AttentionInputs):
                beside = set()
            for name, other in known.items():
                if name in beside:
                    continue
                if name != node.id and other != shape and len(other) == len(shape) and fits(scene, shape, other):
                    yield scene.candidate(13 + place.distance / 2, node, name)


MORE = 2
"""How often a function reads a tensor whose place another one may take."""


def reads_of_value(scene: Scene, node: ast.Name) -> int:
    """How often a function reads the value that a name has at one of its reads: from where it was given last to where
    it is given anew."""
    own = [each for each in scene.inside_of(scene.scope_of(node)) if isinstance(each, ast.Name) and each.id == node.id]
    given = [statement_lines(scene, each) for each in own if isinstance(each.ctx, ast.Store)]
    first = max((last for _, last in given if last < node.lineno), default=0)
    until = min((last for _, last in given if last >= node.lineno), default=None)
    read = [each.lineno for each in own if is_read(each) and each.lineno > first]
    return sum(until is None or line <= until for line in read)


def statement_lines(scene: Scene, node: ast.AST) -> tuple[int, int]:
    """The lines of the statement that a node stands in, of one with a body those of its head."""
    statement = scene.statement_of(node)
    if statement is None:
        return 0, 0
    last = getattr(statement, "end_lineno", None) or statement.lineno
    return statement.lineno, statement.lineno if hasattr(statement, "body") else last


def is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def axis_behind(scene: Scene) -> Iterator[Candidate]:
    """An axis of one value for a layer that takes one feature or channel."""
    if scene.problem.problem.declared != 1 or not scene.call.weights or not scene.spelling.axis_behind:
        return
    for place in scene.places:
        node = place.node
        if place.distance == 0 and isinstance(node, ast.Call) and place.role == "op" and len(node.args) == 1:
            text = scene.text(node.args[0])
            axis = -1 if isinstance(scene.call.op, Linear) else 1
            yield scene.candidate(9, node.args[0], text + scene.spelling.axis_behind.format(axis))


def axes_of_data(scene: Scene) -> Iterator[Candidate]:
    """Axes of one value behind the sizes that data is made of, where a layer takes more axes than it is given."""
    asked = AXES_ASKED.match(scene.problem.problem.what)
    shape = scene.call.inputs[0].shape if scene.call.inputs else ()
    if asked is None or not isinstance(shape, tuple) or not 0 < int(asked[1]) - len(shape) <= MOST_AXES:
        return
    for place in scene.places:
        node = place.node
        if place.role in ("data", "leaf") and isinstance(node, ast.Call) and len(node.args) == len(shape):
            text = scene.text(node.args[-1])
            yield scene.candidate(9, node.args[-1], text + ", 1" * (int(asked[1]) - len(shape)))


MOST_AXES = 2
"""As many axes of one value are put behind others."""

AXES_ASKED = re.compile(r"takes an input of (\d) axes")


def tensors_before(scene: Scene, statement: ast.stmt) -> dict[str, tuple[object, ...]]:
    """The shapes of the tensors that a function's names had before a statement."""
    found: dict[str, tuple[object, ...]] = {}
    for node in scene.inside_of(scene.scope_of(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            shape = scene.shape(node)
            if shape is not None:
                found[node.id] = shape
    return found


def fits(scene: Scene, shape: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether a tensor has the sizes where another one has those that are refused."""
    pairs = scene.pairs
    differing = [(a, b) for a, b in zip(shape, other, strict=True) if a != b]
    return any(pair in pairs for pair in differing)


def one_more_joined(scene: Scene) -> Iterator[Candidate]:
    """One more tensor among those that are joined."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    for place in scene.places:
        node = place.node
        if place.role != "op" or place.distance > NEAR or not isinstance(node, ast.Call):
            continue
        parts = node.args[0] if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else None
        if called(node) not in scene.spelling.joins or parts is None or not parts.elts:
            continue
        if given is None or declared is None or declared <= given:
            continue
        own = {scene.text(each) for each in parts.elts}
        statement = scene.statement_of(node)
        for name, shape in tensors_before(scene, statement).items() if statement is not None else ():
            if name not in own and declared - given in shape:
                last = parts.elts[-1]
                yield scene.candidate(8 + place.distance / 4, last, f"{scene.text(last)}, {name}")


NEAR = 8
"""How many calls before the one that refuses the sizes tensors are joined."""


def axes_not_taken_away(scene: Scene) -> Iterator[Candidate]:
    """A call left out that puts an axis in, takes one away or exchanges two, where the number of axes or the order of
    them is what does not fit."""
    if not scene.is_of_axes or isinstance(scene.call.op, Loss):
        return
    for place in scene.places:
        if place.role in ("block", "data") or place.distance > 3:
            continue
        statement = scene.statement_of(place.node) if place.distance == 0 else place.node
        for node in inside(statement or place.node):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and called(node) in scene.spelling.left_out
                and scene.shape(node.func.value)
            ):
                yield scene.candidate(16 + place.distance / 2, node, scene.text(node.func.value))


def test_of_branch(scene: Scene) -> Iterator[Candidate]:
    """A test that leaves out what takes part, or lets in what should not."""
    seen: set[int] = set()
    for place in scene.places:
        function = scene.function_of(place.node)
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.If) and id(node) not in seen:
                seen.add(id(node))
                calls = any(isinstance(each, ast.Call) for each in ast.walk(node.body[0]))
                if calls and scene.is_spatial:
                    yield scene.candidate(21 + place.distance / 4, node.test, "True")
