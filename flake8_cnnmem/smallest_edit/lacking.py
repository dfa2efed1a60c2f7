"""Edits of what a call works on: a result that nobody reads in the place of another one, another part of a list, an
axis that is put in, a part that is taken, tensors joined along an axis that they have instead of one of their own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Loss, Reshape, Stack
from flake8_cnnmem.smallest_edit.numbers import elements
from flake8_cnnmem.smallest_edit.scene import FAR, Candidate, Scene, called, inside

CLOSE = 3
"""How many calls before the one that refuses the sizes what it works on is looked at."""


def result_unread(scene: Scene) -> Iterator[Candidate]:
    """A result that is made and read nowhere: it was meant where another name stands."""
    functions: list[ast.AST] = [each for each in scene.inside_of(scene.tree) if isinstance(each, ast.FunctionDef)]
    for function in functions or [scene.tree]:
        names = [each for each in scene.inside_of(function) if isinstance(each, ast.Name)]
        read = Counter(each.id for each in names if isinstance(each.ctx, ast.Load))
        unread = [each for each in names if isinstance(each.ctx, ast.Store) and not read[each.id]]
        made = {each.id: each.lineno for each in unread if gives_tensor(scene, each)}
        for node in names if made else ():
            if not isinstance(node.ctx, ast.Load) or scene.shape(node) is None:
                continue
            for name, line in made.items():
                if line < node.lineno <= line + NEAR_BY:
                    yield scene.candidate(4 + (node.lineno - line) / NEAR_BY, node, name)


NEAR_BY = 8
"""How many lines behind it a result is read that a program makes."""


def gives_tensor(scene: Scene, target: ast.Name) -> bool:
    """Whether a name is given a tensor, alone or as one of several that a block gives, none of which is left out on
    purpose (`_`)."""
    parent = scene.parents.get(id(target))
    if isinstance(parent, ast.Assign):
        return scene.shape(parent.value) is not None
    around = scene.parents.get(id(parent)) if isinstance(parent, ast.Tuple) else None
    if not isinstance(parent, ast.Tuple) or not isinstance(around, ast.Assign) or target.id.startswith("_"):
        return False
    items = items_of(scene, around.value)
    return len(items) == len(parent.elts) and scene.is_model(getattr(around.value, "func", target))


def other_item(scene: Scene) -> Iterator[Candidate]:
    """Another item of the same list of tensors, of those whose sizes differ from this one's."""
    for place in scene.places:
        if place.role not in ("op", "caller") or place.distance > CLOSE:
            continue
        for node in inside(scene.statement_of(place.node) or place.node):
            at = scene.number(node.slice) if isinstance(node, ast.Subscript) else None
            if not isinstance(node, ast.Subscript) or at is None or isinstance(node.value, ast.Call):
                continue
            items = items_of(scene, node.value)
            own = items[at].shape if -len(items) <= at < len(items) else None
            for other, item in enumerate(items):
                if isinstance(own, tuple) and isinstance(item.shape, tuple) and fitting(scene, own, item.shape):
                    yield scene.candidate(
                        8 + place.distance / 4, node.slice, str(other if at >= 0 else other - len(items))
                    )


def items_of(scene: Scene, node: ast.expr) -> Sequence[Tensor]:
    """The tensors of a list that an expression gave last."""
    lists = [each for each in scene.values.get(id(node), ()) if isinstance(each, (list, tuple))]
    last = lists[-1] if lists else ()
    return last if all(isinstance(each, Tensor) for each in last) else ()


def fitting(scene: Scene, own: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether a tensor has the sizes that are asked for where another one has those that are refused."""
    wanted = scene.pairs | scene.sides
    return len(own) == len(other) and any((a, b) in wanted for a, b in zip(own, other, strict=True))


def joined_otherwise(scene: Scene) -> Iterator[Candidate]:
    """Tensors stacked where they should be joined, or the other way round, far before the call as well: frames, rows
    of a window."""
    far = {id(place.node): place.distance for place in scene.places if place.role == "op"}
    for node in scene.index.calls:
        other = scene.spelling.stacks.get(called(node))
        distance = far.get(id(node), FAR)
        if other is None or not isinstance(node.func, ast.Attribute) or not distance or scene.shape(node) is None:
            continue
        site = scene.call.site
        if isinstance(scene.call.op, Stack) and site is not None and site.line == node.lineno:
            # What is refused is that these very parts are of several sizes.
            continue
        parts = node.args[0] if node.args else None
        lists = [scene.shape(each) for each in parts.elts] if isinstance(parts, (ast.List, ast.Tuple)) else []
        if len(set(lists)) < 2:
            # Of several sizes they are not stacked.
            yield scene.candidate(14 + distance / 8, node.func, f"{scene.text(node.func.value)}.{other}")


def axis_of_target(scene: Scene) -> Iterator[Candidate]:
    """An axis of one value in what a loss compares with, where the output has one: in the line that makes it."""
    shapes = [each.shape for each in scene.call.inputs[:2] if isinstance(each.shape, tuple)]
    if not isinstance(scene.call.op, Loss) or len(shapes) < 2:
        return
    output, target = shapes
    if len(target) < MAP and not any(
        scene.shape(each) == output for each in scene.index.calls if called(each) in scene.spelling.made
    ):
        # Numbers, one a sample: who compares them can bring either side to the other's axes.
        return
    rank = 11 if len(target) < MAP else 7
    lacking = [at for at in range(len(output)) if output[at] == 1 and (*output[:at], *output[at + 1 :]) == target]
    if not lacking:
        return
    for node in scene.index.calls:
        if called(node) not in scene.spelling.made or scene.shape(node) is None:
            continue
        shape, sizes = scene.shape(node), elements(node)
        for at, sample in ((lacking[-1], target), (lacking[-1] - 1, target[1:])):
            if shape is None or len(shape) != len(sample) or shape[1:] != sample[1:] or len(sizes) < len(shape):
                continue
            sizes = sizes[-len(shape) :] if isinstance(node.args[0], (ast.Tuple, ast.List)) else sizes
            if 0 <= at < len(sizes):
                yield scene.candidate(rank, sizes[at], f"1, {scene.text(sizes[at])}")
            elif at == len(sizes):
                yield scene.candidate(rank, sizes[-1], f"{scene.text(sizes[-1])}, 1")


MAP = 3
"""The axes of a batch of masks."""


def axis_put_in(scene: Scene) -> Iterator[Candidate]:
    """An axis of one value, in what the call or the model is handed, where there is one axis too few: a batch of one
    sample, a sequence of one step."""
    insert = scene.spelling.axis_behind
    if not insert or isinstance(scene.call.op, Loss):
        return
    for place in scene.places:
        if place.role not in ("op", "caller") or place.distance > CLOSE:
            continue
        if isinstance(place.node, ast.Call) and scene.is_of_axes:
            for each in place.node.args[:1]:
                shape = scene.shape(each)
                if shape is not None and not isinstance(each, ast.Starred):
                    for axis in (1, 0, 2)[: len(shape)]:
                        rank = 16.6 + axis / 8 + place.distance / 2
                        yield scene.candidate(rank, each, put_in(scene, each, insert, axis))
    fed = scene.call.inputs[0].shape if scene.call.inputs else ()
    for statement in scene.inside_of(scene.tree) if scene.is_of_axes else ():
        function = scene.function_of(statement) if isinstance(statement, ast.Return) else None
        if isinstance(statement, ast.Return) and function is not None and function.name == "__getitem__":
            items = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            for item in items:
                own = scene.shape(item) if item is not None else None
                if item is not None and isinstance(fed, tuple) and own and own == fed[-len(own) :]:
                    yield scene.candidate(12, item, put_in(scene, item, insert, 0))
    for call in scene.index.calls:
        first = call.args[0] if call.args else None
        shape = scene.shape(first) if first is not None else None
        if first is None or shape is None or not scene.is_model(call.func) or len(shape) != IMAGE:
            continue
        if scene.has_maps:
            yield scene.candidate(12, first, put_in(scene, first, insert, 0))


IMAGE = 3
"""The axes of an image without a batch."""


def put_in(scene: Scene, node: ast.expr, insert: str, axis: int) -> str:
    text = scene.text(node)
    return f"({text}){insert.format(axis)}" if isinstance(node, ast.BinOp) else text + insert.format(axis)


def part_taken(scene: Scene) -> Iterator[Candidate]:
    """The last part of a tensor that has an axis too many: of a state that of the last layer, of a sequence its last
    step."""
    if not scene.is_of_axes or isinstance(scene.call.op, Loss) or scene.problem.at is not None:
        return
    for place in scene.places:
        if place.role not in ("op", "caller") or place.distance > CLOSE:
            continue
        for node in inside(scene.statement_of(place.node) or place.node):
            shape = scene.shape(node) if isinstance(node, (ast.Name, ast.Subscript)) else None
            parent = scene.parents.get(id(node))
            if shape is None or len(shape) < 3 or isinstance(parent, (ast.Subscript, ast.Attribute)):
                continue
            for part in ("[-1]", "[:, -1]")[scene.channels_last :]:
                yield scene.candidate(20.5 + place.distance / 2, node, scene.text(node) + part)


def sizes_of_reshape(scene: Scene) -> Iterator[Candidate]:
    """Two sizes of a reshape the other way round, a size that it lacks, one that it has too much."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    for place in scene.places:
        if place.distance > CLOSE or place.role != "op" or not isinstance(place.node, ast.Call):
            continue
        if called(place.node) not in scene.spelling.reshapes:
            continue
        sizes = [each for each in elements(place.node) if not isinstance(each, (ast.Tuple, ast.List))]
        if place.distance:
            yield from taken_for(scene, sizes, 12 + place.distance / 4)
            yield from turned_round(scene, sizes, 9 + place.distance / 4)
        elif isinstance(scene.call.op, Reshape) and given and declared and len(sizes) > 1:
            if given % declared == 0:
                for at in range(1, len(sizes)):
                    text = f"{given // declared}, {scene.text(sizes[at])}"
                    yield scene.candidate(9.5 + 0.1 * at, sizes[at], text)
            if declared % given == 0 and scene.number(sizes[-1]) == declared // given:
                before = sizes[-2]
                edit = scene.edit_between(before, sizes[-1], scene.text(before))
                yield Candidate(7, before.lineno, before.col_offset + 1, (edit,))


def taken_for(scene: Scene, sizes: list[ast.expr], rank: float) -> Iterator[Candidate]:
    """Two names among the sizes of a reshape, one of which stands alone and the other in a product."""
    alone = [each for each in sizes if isinstance(each, ast.Name)]
    for product in sizes:
        factors = [each for each in ast.walk(product) if isinstance(each, ast.Name)] if product not in alone else []
        for one in factors:
            for other in alone[1:]:
                if scene.number(one) != scene.number(other):
                    edits = (scene.edit(one, scene.text(other)), scene.edit(other, scene.text(one)))
                    yield Candidate(rank, one.lineno, one.col_offset + 1, edits)


def turned_round(scene: Scene, sizes: list[ast.expr], rank: float) -> Iterator[Candidate]:
    """The size that is asked for, where a reshape is told it for another axis: in the place of one of the others, and
    that one in its place."""
    own, declared = [scene.number(each) for each in sizes], scene.problem.problem.declared
    for one, other in combinations(range(1, len(sizes)), 2):
        if declared in (own[one], own[other]) and own[one] != own[other]:
            edits = (scene.edit(sizes[one], scene.text(sizes[other])), scene.edit(sizes[other], scene.text(sizes[one])))
            yield Candidate(rank, sizes[one].lineno, sizes[one].col_offset + 1, edits)


def end_of_part(scene: Scene) -> Iterator[Candidate]:
    """One more at the end of a part of a sequence that is one too short: `data[i + 1 : i + length]`."""
    given, own = (each.shape for each in scene.call.inputs[:2]) if len(scene.call.inputs) > 1 else ((), ())
    if not isinstance(scene.call.op, Loss) or not isinstance(given, tuple) or not isinstance(own, tuple):
        return
    for node in scene.inside_of(scene.tree):
        if isinstance(node, ast.Slice) and isinstance(node.upper, ast.BinOp) and node.lower is not None:
            lower = node.lower
            if isinstance(lower, ast.BinOp) and getattr(lower.right, "value", None) == 1:
                yield scene.candidate(11, node.upper, f"{scene.text(node.upper)} + 1")
