"""Edits of how blocks are put together: heads that do not divide a width, lists gone through the other way round, a
test of whether two sizes agree, a part that is taken of one of two tensors alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.evidence.written import parameters
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Loss
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called, inside


def last_name(node: ast.expr) -> str:
    """`heads` of `self.heads`, `cfg.heads`, `cfg["heads"]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def named_numbers(scene: Scene, name: str) -> Iterator[ast.Constant]:
    """The numbers that are written for a name: a default, a keyword, an item of a dict, a variable's value."""
    pairs: list[tuple[str, ast.expr | None]] = []
    for node in scene.inside_of(scene.tree):
        if isinstance(node, ast.arguments):
            named = [*node.posonlyargs, *node.args][::-1]
            pairs += [(each.arg, value) for each, value in zip(named, node.defaults[::-1], strict=False)]
            pairs += [(each.arg, value) for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        elif isinstance(node, ast.keyword):
            pairs.append((node.arg or "", node.value))
        elif isinstance(node, ast.Dict):
            pairs += [
                (str(key.value), value)
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            ]
        elif isinstance(node, ast.Assign):
            pairs += [(last_name(target), node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign):
            pairs.append((last_name(node.target), node.value))
    for known, number in pairs:
        if same_name(known, name):
            items = number.elts if isinstance(number, (ast.Tuple, ast.List)) else [number]
            yield from (each for each in items if isinstance(each, ast.Constant))


def same_name(one: str, other: str) -> bool:
    """Whether two names are one but for case and what stands around it: `heads`, `num_heads`, `HEADS`."""
    one, other = one.lower(), other.lower()
    return bool(one and other) and (one.endswith(other) or other.endswith(one))


def other_direction(scene: Scene) -> Iterator[Candidate]:
    """A list of widths gone through the other way round, where layers are made for them in a loop."""
    spoken_for = AT * (scene.problem.at is not None)
    near = [place for place in scene.places if place.role in ("layer", "block", "caller") and place.distance <= CLOSE]
    for function in {id(scope): scope for scope in (scene.scope_of(place.node) for place in near)}.values():
        loops = [each for each in ast.walk(function) if isinstance(each, (ast.For, ast.comprehension))]
        lists = [each.iter for each in loops if isinstance(each.target, ast.Name)]
        zipped = [each.iter for each in loops if isinstance(each.iter, ast.Call) and called(each.iter) == "zip"]
        for over in (*lists, *(each for call in zipped for each in call.args)):
            if isinstance(over, ast.Call) and called(over) == "reversed" and over.args:
                yield scene.candidate(12 + spoken_for, over, scene.text(over.args[0]))
            elif isinstance(over, ast.Subscript) and scene.text(over).endswith("[::-1]"):
                yield scene.candidate(12 + spoken_for, over, scene.text(over.value))
            elif isinstance(over, (ast.Name, ast.Attribute, ast.Subscript)) and not handed(function, over):
                if is_ordered(scene, over):
                    yield scene.candidate(12 + spoken_for, over, f"{scene.text(over)}[::-1]")


AT = 2
"""How much less plausible that is where the graph alone speaks for a line."""


def other_end(scene: Scene) -> Iterator[Candidate]:
    """A list of tensors that is emptied from its other end."""
    functions = {id(scope) for scope in (scene.scope_of(place.node) for place in scene.places if place.role == "op")}
    for node in scene.index.calls:
        if called(node) == "pop" and isinstance(node.func, ast.Attribute) and id(scene.scope_of(node)) in functions:
            if scene.shape(node) is None:
                continue
            if not node.args:
                yield scene.candidate(10, node, f"{scene.text(node.func)}(0)")
            elif scene.number(node.args[0]) in (0, -1):
                yield scene.candidate(
                    10, node, f"{scene.text(node.func)}({'' if scene.number(node.args[0]) == 0 else 0})"
                )


def list_turned_round(scene: Scene) -> Iterator[Candidate]:
    """A list of widths that a line gives a name as it is, or the other way round, in a function that makes layers; one
    that a block is handed the other way round."""
    for place in scene.places:
        for value in place.node.args if isinstance(place.node, ast.Call) and place.role == "block" else ():
            if isinstance(value, ast.Subscript) and scene.text(value).endswith("[::-1]") and is_ordered(scene, value):
                yield scene.candidate(9, value, scene.text(value.value))
    functions = {id(scope) for scope in (scene.scope_of(place.node) for place in scene.places)}
    for assign in scene.index.assigns:
        value = assign.value
        if id(scene.scope_of(assign)) not in functions:
            continue
        if isinstance(value, (ast.Name, ast.Attribute)) and is_ordered(scene, value):
            yield scene.candidate(9, value, f"{scene.text(value)}[::-1]")
        elif isinstance(value, ast.Subscript) and scene.text(value).endswith("[::-1]") and is_ordered(scene, value):
            yield scene.candidate(9, value, scene.text(value.value))


def handed(function: ast.AST, node: ast.expr) -> bool:
    """Whether a function is handed a list: whoever calls it has brought it into its order."""
    own = parameters(function) if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return isinstance(node, ast.Name) and node.id in own


CLOSE = 3
"""How many calls before the one that refuses the sizes the layers are whose loop is turned round."""


def is_ordered(scene: Scene, node: ast.expr) -> bool:
    """Whether an expression gave a list that is another one backwards: of sizes that differ, or of tensors."""
    values = scene.values.get(id(node), ())
    last = values[-1] if values else ()
    items = list(last) if isinstance(last, (list, tuple)) else []
    numbers = [each for each in items if type(each) is int]
    return len(items) > 1 and (numbers != numbers[::-1] or isinstance(items[0], Tensor))


def test_of_sizes(scene: Scene) -> Iterator[Candidate]:
    """Whether a way around has to be projected is asked without a look at the two sizes that do not fit."""
    if not isinstance(scene.call.op, Broadcast):
        return
    for place in scene.places:
        if place.distance > 1 or place.role != "op":
            continue
        around = scene.class_of(place.node) or scene.function_of(place.node)
        for node in ast.walk(around) if around is not None else ():
            if isinstance(node, (ast.Assign, ast.If, ast.IfExp)):
                test = node.value if isinstance(node, ast.Assign) else node.test
                yield from with_sizes(scene, test)


def with_sizes(scene: Scene, test: ast.expr) -> Iterator[Candidate]:
    """A comparison, and the question whether the two parameters that have the two sizes are equal as well."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    function = scene.function_of(test)
    if function is None or not all(isinstance(each, ast.Compare) for each in parts):
        return
    equal = any(isinstance(op, ast.Eq) for each in parts if isinstance(each, ast.Compare) for op in each.ops)
    names = {each.arg for each in function.args.args}
    stride = scene.spelling.stride
    known: dict[str, set[int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            known.setdefault(node.id, set()).update(scene.every_number(node))
    compared = {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}
    word, sign = ("and", "==") if equal else ("or", "!=")
    if stride in names - compared and any(2 * a == b or 2 * a - 1 == b for a, b in scene.sides):
        yield scene.candidate(9, test, f"{scene.text(test)} {word} {stride} {sign} 1")
    yield from compared_with(scene, test, function)
    for part in parts:
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], (ast.Eq, ast.NotEq)):
            turned = "!=" if isinstance(part.ops[0], ast.Eq) else "=="
            yield scene.candidate(11, part, f"{scene.text(part.left)} {turned} {scene.text(part.comparators[0])}")
    for one in known:
        for other in known:
            if one < other and not {one, other} <= compared:
                if any(a in known[one] and b in known[other] for a, b in scene.pairs):
                    yield scene.candidate(10, test, f"{scene.text(test)} {word} {one} {sign} {other}")


def compared_with(scene: Scene, test: ast.expr, function: ast.AST) -> Iterator[Candidate]:
    """A name in a comparison, where what is made of it has the size that does not fit: `width` for `4 * width`."""
    for part in ast.walk(test):
        for node in (part.left, *part.comparators) if isinstance(part, ast.Compare) else ():
            if not isinstance(node, ast.Name):
                continue
            for other in ast.walk(function):
                if not isinstance(other, ast.BinOp) or not isinstance(other.op, ast.Mult):
                    continue
                own = {each.id for each in ast.walk(other) if isinstance(each, ast.Name)}
                both = ((a, b) for a in scene.every_number(node) for b in scene.every_number(other))
                if node.id in own and any(pair in scene.pairs for pair in both):
                    yield scene.candidate(11, node, scene.text(other))


def moved_on(scene: Scene) -> Iterator[Candidate]:
    """The width of the last layer, which a loop hands on to the next one: the other name that the layer is made
    with."""
    seen: set[int] = set()
    for place in scene.places:
        loop = scene.parents.get(id(place.node)) if place.role in ("layer", "block") else None
        while loop is not None and not isinstance(loop, (ast.For, ast.FunctionDef)):
            loop = scene.parents.get(id(loop))
        if not isinstance(loop, ast.For) or id(loop) in seen:
            continue
        seen.add(id(loop))
        read = [each for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        given = {each.id for each in read if isinstance(scene.parents.get(id(each)), ast.Call)}
        for each in ast.walk(loop):
            target = each.targets[0] if isinstance(each, ast.Assign) else None
            if isinstance(each, ast.Assign) and isinstance(target, ast.Name) and target.id in given:
                if not scene.every_number(each.value):
                    continue
                looped = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)} & given
                if isinstance(each.value, ast.Name):
                    # A name alone: any other one that the layer is made with.
                    numbers = {one.id for one in read if scene.every_number(one)}
                    looped |= {name for name in numbers & given if name != target.id}
                over = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
                for name in sorted(looped - {getattr(each.value, "id", "")}):
                    yield scene.candidate(9 + 3 * (name not in over), each.value, name)


def part_as_beside(scene: Scene) -> Iterator[Candidate]:
    """What a loss compares: a part is taken of one of two tensors, and of the other one none; the part without its end
    of a sequence that is the target without its beginning."""
    if not isinstance(scene.call.op, Loss):
        return
    for place in scene.places:
        if place.distance > 0 or place.role != "op":
            continue
        statement = scene.statement_of(place.node)
        nodes = list(inside(statement)) if statement is not None else []
        parts = [each for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load)]
        for part in parts:
            for node in nodes:
                if isinstance(node, ast.Name) and scene.shape(node) and not taken_of(scene, node):
                    if not isinstance(part.slice, (ast.Slice, ast.Tuple)):
                        yield scene.candidate(7, node, f"{node.id}[{scene.text(part.slice)}]")
            name = getattr(part.value, "id", "")
            ending = ENDS.get(scene.text(part.slice).replace(" ", ""))
            if ending is None:
                continue
            for other in scene.inside_of(scene.scope_of(part)):
                if isinstance(other, ast.Name) and other.id == name and isinstance(other.ctx, ast.Load):
                    if isinstance(scene.parents.get(id(other)), ast.Call) and other not in nodes:
                        yield scene.candidate(7, other, f"{name}[{ending}]")


ENDS = {":,1:": ":, :-1", "1:": ":-1", ":,:-1": ":, 1:", ":-1": "1:"}
"""Of a sequence that is shifted by one against itself: the part of the one side, and of the other one."""


def taken_of(scene: Scene, node: ast.AST) -> bool:
    """Whether a part is taken of a tensor, or it is what another call works on."""
    parent = scene.parents.get(id(node))
    return isinstance(parent, (ast.Subscript, ast.Attribute)) or (isinstance(parent, ast.Call) and parent.func is node)
