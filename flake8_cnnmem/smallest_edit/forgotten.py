"""Edits that put in what was forgotten, or leave out what is too much: maps that are flattened before a layer of
features, a tensor's axes in another order in a line that merely gives it a name, an axis of one value before a loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from flake8_cnnmem.evidence.written import parameters
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called


def flattening_lacking(scene: Scene) -> Iterator[Candidate]:
    """Maps that are not flattened before a layer of features: where they are made, or where they are handed over."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    shape = scene.call.inputs[0].shape if scene.call.inputs else ()
    if not isinstance(shape, tuple) or len(shape) < MAPS or isinstance(scene.call.op, Loss) or given is None:
        return
    product = 1
    for size in shape[1:]:
        product *= size if type(size) is int else 0
    if product != declared or not scene.spelling.flattening:
        return
    for place in scene.places:
        node = place.node
        if place.role != "op" or place.distance > 1 or not isinstance(node, ast.Call):
            continue
        for each in node.args[:1]:
            if scene.shape(each) != shape:
                continue
            made = made_by(scene, each)
            if made is not None:
                yield scene.candidate(5, made, scene.text(made) + scene.spelling.flattening)
            yield scene.candidate(6, each, scene.text(each) + scene.spelling.flattening)


MAPS = 3
"""As many axes has what is flattened, at the least."""


def batch_flattened(scene: Scene) -> Iterator[Candidate]:
    """Samples that are made one row together with all their values: a flattening that is not told its first axis."""
    text = scene.spelling.flattening
    for place in scene.places if text else ():
        node = place.node
        if place.role != "op" or place.distance > FLAT_WITHIN or not isinstance(node, ast.Call):
            continue
        if scene.shape(node) is None or len(scene.shape(node) or ()) != 1 or node.keywords:
            continue
        name, told = called(node), [scene.number(each) for each in node.args]
        method = isinstance(node.func, ast.Attribute) and scene.shape(node.func.value) is not None
        whole = name in scene.spelling.reshapes and told == [-1]
        if method and isinstance(node.func, ast.Attribute) and (whole or (f".{name}(" in text and not told)):
            yield scene.candidate(4 + place.distance / 8, node, scene.text(node.func.value) + text)
        elif not method and f".{name}(" in text and len(node.args) == 1:
            yield scene.candidate(
                4 + place.distance / 8, node, f"{scene.text(node.func)}({scene.text(node.args[0])}, 1)"
            )


FLAT_WITHIN = 12
"""How many calls before the one that refuses the sizes a flattening is looked for."""


def made_by(scene: Scene, node: ast.expr) -> ast.expr | None:
    """The expression that a name was last given before it stands here."""
    if not isinstance(node, ast.Name):
        return None
    before = [
        each
        for each in scene.inside_of(scene.scope_of(node))
        if isinstance(each, ast.Assign) and each.lineno < node.lineno
        if any(isinstance(target, ast.Name) and target.id == node.id for target in each.targets)
    ]
    last = max(before, key=lambda each: each.lineno, default=None)
    return last.value if last is not None and isinstance(last.value, (ast.Call, ast.Name)) else None


def name_alone(scene: Scene) -> Iterator[Candidate]:
    """A tensor that a line merely gives another name, or its own: axes in another order, one that is taken away or put
    in, or all but the first made one."""
    behind = scene.spelling.transposing
    problem = scene.problem.problem
    if not behind or not (scene.is_of_axes or problem.declared is not None or scene.is_of_order):
        return
    functions = {id(scope): scope for scope in (scene.scope_of(place.node) for place in scene.places)}
    for assign in scene.index.assigns:
        value, target = assign.value, assign.targets[0]
        if not isinstance(value, ast.Name) or not isinstance(target, ast.Name):
            continue
        shape = scene.shape(value)
        if shape is None or id(scene.scope_of(assign)) not in functions:
            continue
        for at, text in enumerate(reorderings(scene, shape, problem.declared)):
            yield scene.candidate(4 + 0.1 * at, value, f"{value.id}{text}")


def reorderings(scene: Scene, shape: tuple[object, ...], declared: int | None) -> Iterator[str]:
    """What may have been forgotten behind a tensor of a shape, where the size `declared` is asked for."""
    axes, spelling = range(len(shape)), scene.spelling
    for at in axes[1:]:
        if shape[at] == declared and at != 1:
            if len(shape) == MAPS:
                yield spelling.transposing
            else:
                rest = ", ".join(str(each) for each in axes[1:] if each != at)
                yield spelling.permuting.format(f"0, {at}, {rest}")
    if len(shape) > MAPS and shape[1] == declared:
        # Channels that a layer of features takes last.
        yield spelling.permuting.format(f"0, {', '.join(str(each) for each in axes[2:])}, 1")
    if len(shape) == MAPS and declared not in shape:
        yield spelling.transposing
    if shape[1:] and 1 in shape[1:]:
        yield spelling.axis_away.format(shape.index(1, 1))
    if len(shape) > MAPS - 1:
        yield spelling.flattening
    yield spelling.axis_behind.format(1)


def number_kept(scene: Scene) -> Iterator[Candidate]:
    """A name that a line gives its own value: what is made of it in the same function, a half of it, or it and another
    name that is read there."""
    functions = {id(scope): scope for scope in (scene.scope_of(place.node) for place in scene.places)}
    for assign in scene.index.assigns:
        value, target = assign.value, assign.targets[0]
        if not isinstance(value, ast.Name) or getattr(target, "id", "") != value.id or not scene.every_number(value):
            continue
        scope = scene.scope_of(assign)
        if id(scope) not in functions and not is_factory(scene, scope):
            continue
        texts: dict[str, None] = {}
        for node in scene.inside_of(scope):
            if isinstance(node, ast.BinOp) and any(getattr(each, "id", "") == value.id for each in ast.walk(node)):
                texts[scene.text(node)] = None
        texts[f"{value.id} // 2"] = None
        for node in scene.inside_of(scope):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                if max(scene.every_number(node), default=0) > 1:
                    texts[f"{value.id} // {scene.text(node)}"] = None
                    texts[scene.text(node)] = None
        for at, text in enumerate([*texts][:MOST_KEPT]):
            yield scene.candidate(3 + 0.1 * at, value, text)


MOST_KEPT = 6


def is_factory(scene: Scene, scope: ast.AST) -> bool:
    """Whether a function is one that the program calls to make layers or numbers for them."""
    name = getattr(scope, "name", "")
    return bool(name) and any(called(each) == name for each in scene.index.calls)


def axis_of_loss(scene: Scene) -> Iterator[Candidate]:
    """An axis of one value that only one of two tensors has which a loss compares: taken away where the model gives
    it, or from the sizes that the target is made of."""
    shapes = [each.shape for each in scene.call.inputs[:2] if isinstance(each.shape, tuple)]
    if not isinstance(scene.call.op, Loss) or len(shapes) < 2:
        return
    output, target = shapes
    single = [at for at, size in enumerate(output) if size == 1]
    if single and not scene.spelling.axis_away:
        return
    for at in single if scene.problem.at is None else ():
        if (*output[:at], *output[at + 1 :]) == target or len(output) == len(target) + 2:
            yield from squeezed(scene, output, at if at < len(output) - 1 else -1)
    if target[-1:] == (1,) and len(target) > 1:
        yield from without_last(scene, target)


def squeezed(scene: Scene, output: tuple[object, ...], axis: int) -> Iterator[Candidate]:
    """The expressions that gave a shape, where a model's function returns it or where a loss is handed it."""
    for node in scene.inside_of(scene.tree):
        if isinstance(node, ast.Return) and node.value is not None and scene.function_of(node) is not None:
            for each in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
                if scene.shape(each) == output or len(scene.shape(each) or ()) == len(output):
                    yield scene.candidate(8, each, scene.text(each) + scene.spelling.axis_away.format(axis))
    for place in scene.places:
        if place.distance == 0 and place.role == "op" and isinstance(place.node, ast.Call):
            for each in place.node.args[:1]:
                yield scene.candidate(9, each, scene.text(each) + scene.spelling.axis_away.format(axis))


def without_last(scene: Scene, target: tuple[object, ...]) -> Iterator[Candidate]:
    """The sizes that data is made of, without their last axis of one value."""
    for place in scene.places:
        if place.role not in ("data", "leaf"):
            continue
        for node in ast.walk(place.node):
            last = node.elts[-1] if isinstance(node, ast.Tuple) and len(node.elts) > 1 else None
            if isinstance(node, ast.Tuple) and isinstance(last, ast.Constant) and last.value == 1:
                rest = ", ".join(scene.text(each) for each in node.elts[:-1])
                yield scene.candidate(7, node, f"({rest},)")


def sizes_of_data_exchanged(scene: Scene) -> Iterator[Candidate]:
    """Two sizes of the data, or of a model's input, the other way round, where the size that is asked for stands along
    another axis."""
    problem = scene.problem.problem
    fed = problem.what.startswith("takes samples of ")
    if not fed and not scene.is_of_order and problem.elsewhere is None and problem.declared is None:
        return
    if fed and (scene.problem.at is not None or not is_reordered(scene)):
        return
    for place in scene.places:
        node = place.node
        if not isinstance(node, ast.Call) or not (
            place.role in ("data", "leaf") or called(node) in scene.spelling.inputs
        ):
            continue
        lists = [each.elts for each in ast.walk(node) if isinstance(each, (ast.Tuple, ast.List))]
        for sizes in [node.args, *lists]:
            numbers = [scene.number(each) for each in sizes]
            # The first of several is how many samples there are.
            batch = int(len(sizes) > 2 and called(node) not in scene.spelling.inputs)
            for one, other in combinations(range(batch, len(sizes)), 2):
                first, second = numbers[one], numbers[other]
                if first is None or second is None or first == second or not is_written(sizes[one], sizes[other]):
                    continue
                if fed or problem.declared in (first, second):
                    edits = (
                        scene.edit(sizes[one], scene.text(sizes[other])),
                        scene.edit(sizes[other], scene.text(sizes[one])),
                    )
                    yield Candidate(13, sizes[one].lineno, sizes[one].col_offset + 1, edits)


def is_reordered(scene: Scene) -> bool:
    """Whether samples have the sizes that are asked for, in another order."""
    shapes = [each.shape for each in scene.call.inputs[:2] if isinstance(each.shape, tuple)]
    return len(shapes) > 1 and sorted(map(str, shapes[0][1:])) == sorted(map(str, shapes[1][1:]))


def is_written(*sizes: ast.expr) -> bool:
    return all(isinstance(each, (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)) for each in sizes)


def factor_of_padding(scene: Scene) -> Iterator[Candidate]:
    """The dilation that a padding was not multiplied by, in the line that works it out."""
    if not scene.is_spatial:
        return
    functions = {id(scope): scope for scope in (scene.scope_of(place.node) for place in scene.places)}
    for assign in scene.index.assigns:
        value, function = assign.value, functions.get(id(scene.scope_of(assign)))
        if not isinstance(value, (ast.BinOp, ast.Name, ast.Constant)) or not isinstance(function, ast.FunctionDef):
            continue
        own = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        for name in parameters(function):
            read = [each for each in scene.inside_of(function) if getattr(each, "id", "") == name]
            numbers = {number for each in read for number in scene.every_number(each)}
            if name not in own and "dilat" in name and max(numbers, default=1) > 1:
                yield scene.candidate(8, value, f"({scene.text(value)}) * {name}")
