"""Edits of numbers: another name that has the size that fits, a factor that is lacking, the number itself."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from flake8_cnnmem.evidence.written import parameters, worked_out, written_at
from flake8_cnnmem.ops import Reshape
from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, called, inside
from flake8_cnnmem.text.edits import Edit

SIZED = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp)


def sizes_written(scene: Scene, far: int | None = None) -> Iterator[tuple[Place, ast.expr, int]]:
    """The expressions among the arguments of what takes part that gave a number, those of ops as far away as `far`
    (`FAR`) calls."""
    seen: set[int] = set()
    for place in sorted(scene.places, key=lambda place: sum(1 for _ in ast.walk(place.node))):
        if place.role == "op" and place.distance > (FAR if far is None else far):
            continue
        for node in inside(place.node):
            if id(node) in seen or not isinstance(node, SIZED) or is_part(scene, node):
                continue
            seen.add(id(node))
            for value in scene.every_number(node):
                if value > 0:
                    yield place, node, value


FAR = 6


def is_part(scene: Scene, node: ast.expr) -> bool:
    """Whether an expression is the name of a larger one, or chooses a part."""
    parent = scene.parents.get(id(node))
    if isinstance(parent, ast.Attribute):
        return True
    if isinstance(parent, ast.Call):
        return parent.func is node
    return isinstance(parent, (ast.Subscript, ast.Slice))


def other_name(scene: Scene) -> Iterator[Candidate]:
    """A name, an attribute or an item in reach that has the size that would fit."""
    known = names_in_reach(scene)
    for place, node, value in sizes_written(scene):
        if isinstance(node, ast.BinOp):
            yield from as_another(scene, place, node, value)
            continue
        own = ast.dump(node)
        for size, wanted in scene.pairs:
            if size != value or (size == 1 and not scene.states):
                # An axis of one value is meant to be one.
                continue
            found: dict[str, float] = {}
            for at, (other, scope) in enumerate(known.get(wanted, ())):
                around = scope is None or is_own(scene, node, other)
                reach = 0 if scope is scene.scope_of(node) else 1 if around else None
                if reach is None or ast.dump(other) == own:
                    continue
                text = scene.text(other)
                found.setdefault(text, reach + 0.01 * at)
            literal = isinstance(node, ast.Constant)
            for text, far in sorted(found.items(), key=lambda each: each[1])[:2]:
                parent = scene.parents.get(id(node))
                given = parent.args if isinstance(parent, ast.Call) else ()
                if place.role in ("block", "caller") and any(scene.text(each) == text for each in given):
                    far += HANDED_TWICE
                far += NAMED_SO * named_so(scene, node)
                far += BY_CHANCE * (literal and wanted <= SMALL)
                rank = (6 if literal else 12 if place.distance == 0 else 15) + far + place.distance / 8
                yield scene.candidate(rank, node, text)
                if literal:
                    yield scene_candidate(node, rank + 0.1, all_alike(scene, node, text))


def is_own(scene: Scene, node: ast.expr, other: ast.expr) -> bool:
    """Whether a name is an attribute of the object whose class an expression stands in."""
    owner = other.value if isinstance(other, ast.Attribute) else None
    return getattr(owner, "id", "") == "self" and scene.class_of(node) is scene.class_of(other)


SMALL = 8
BY_CHANCE = 6
"""How much less plausible a name is in the place of a number, where its value is as small as those of kernels and
strides: it has it by chance."""

NAMED_SO = 8
"""How much less plausible another name is where a parameter is given the name that it has itself."""


def named_so(scene: Scene, node: ast.expr) -> bool:
    """Whether an argument is a name that the parameter of the called class or function has as well."""
    parent = scene.parents.get(id(node))
    if isinstance(parent, ast.keyword):
        return parent.arg == getattr(node, "id", None)
    if not isinstance(parent, ast.Call) or not isinstance(node, ast.Name) or node not in parent.args:
        return False
    name, at = called(parent), parent.args.index(node)
    for each in scene.inside_of(scene.tree):
        if isinstance(each, ast.ClassDef) and each.name == name:
            first = next((one for one in each.body if getattr(one, "name", "") == "__init__"), None)
            names = parameters(first)[1:] if isinstance(first, ast.FunctionDef) else []
            return names[at : at + 1] == [node.id]
        if isinstance(each, ast.FunctionDef) and each.name == name:
            return parameters(each)[at : at + 1] == [node.id]
    return False


def as_another(scene: Scene, place: Place, node: ast.BinOp, value: int) -> Iterator[Candidate]:
    """A product with a number in it as another one of the same function that has none: `width * 4` as
    `width * ratio`."""
    if isinstance(scene.parents.get(id(node)), ast.BinOp) or not any(
        isinstance(each, ast.Constant) for each in ast.walk(node)
    ):
        return
    own = ast.unparse(node.left), ast.unparse(node.right)
    for other in scene.inside_of(scene.scope_of(node)):
        if not isinstance(other, ast.BinOp) or type(other.op) is not type(node.op):
            continue
        if any(isinstance(each, ast.Constant) for each in ast.walk(other)):
            continue
        if ast.unparse(other.left) != own[0] and ast.unparse(other.right) != own[1]:
            continue
        if any((value, wanted) in scene.pairs for wanted in scene.every_number(other)):
            yield scene.candidate(7 + place.distance / 8, node, scene.text(other))


def squared(scene: Scene) -> Iterator[Candidate]:
    """The parts along one side where those of the whole square are asked for."""
    roots = {(one, other) for one, other in scene.pairs if one * one == other}
    for node in scene.inside_of(scene.tree) if roots else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            if not isinstance(scene.parents.get(id(node)), ast.BinOp) and any(
                scene.number(node) == one for one, _ in roots
            ):
                yield scene.candidate(9, node, f"({scene.text(node)}) ** 2")


def parts_of_products(scene: Scene) -> Iterator[Candidate]:
    """A number in the sizes of a reshape, or in the product of sizes before it: the one that the rest of the file has
    less often."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    if not isinstance(scene.call.op, Reshape) or not given or not declared:
        return
    often, known = scene.often, names_in_reach(scene)
    following = width_behind(scene)
    for place in scene.places:
        if place.distance > (3 if place.role == "layer" else 1) or place.role not in ("op", "layer"):
            continue
        times, parts = (given, declared) if place.distance == 0 else (declared, given)
        for node in inside(place.node):
            if place.distance == 0 and given % declared == 0 and node in elements(place.node):
                texts = {
                    scene.text(each)
                    for each, where in known.get(given // declared, ())
                    if where is scene.scope_of(node)
                }
                for text in sorted(each for each in texts if each not in scene.text(node))[:2]:
                    yield scene.candidate(9, node, f"{scene.text(node)} * {text}")
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value * times % parts == 0:
                wanted = node.value * times // parts
                whole = place.distance == 0 or is_product_of_numbers(scene, node)
                if wanted > 1 and whole:
                    rank = 18 + place.distance / 4 + odd(often, node.value, wanted) + TOO_NEAR * (place.distance == 0)
                    rank += HALVING * ((node.value == 2 * following) - (wanted == 2 * following))
                    yield scene.candidate(rank, node, str(wanted))


TOO_NEAR = 3
"""What speaks against the sizes of a reshape itself: what is written there counts on what comes before."""

HALVING = 3
"""What speaks for twice the width of the convolution behind a reshape: networks halve their widths on the way."""


def width_behind(scene: Scene) -> int:
    """The width that is written for the next convolution behind the line that refuses the sizes; 0 for none."""
    line = scene.call.site.line if scene.call.site is not None else 0
    numbers = [
        (each.lineno, each.args[0].value)
        for each in scene.index.calls
        if each.lineno > line and scene.spelling.convolution in called(each) and each.args
        if isinstance(each.args[0], ast.Constant) and type(each.args[0].value) is int
    ]
    return min(numbers)[1] if numbers else 0


def elements(node: ast.AST) -> list[ast.expr]:
    """The sizes that a reshape is told one by one."""
    given = node.args if isinstance(node, ast.Call) else []
    inner = [each.elts for each in given if isinstance(each, (ast.Tuple, ast.List))]
    return [*given, *(each for elts in inner for each in elts)]


def is_product_of_numbers(scene: Scene, node: ast.expr) -> bool:
    parent = scene.parents.get(id(node))
    return isinstance(parent, ast.BinOp) and worked_out(parent) is not None


HANDED_TWICE = 3
"""How much less plausible it is that a block is handed one name twice."""


def names_in_reach(scene: Scene) -> dict[int, list[tuple[ast.expr, ast.AST | None]]]:
    """By number: the names that had it, each with the function that it stands in; None for the module's own."""
    if scene.names is not None:
        return scene.names
    found: dict[int, list[tuple[ast.expr, ast.AST | None]]] = {}
    own = scene.index.variables
    for node in scene.inside_of(scene.tree):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
            values = scene.every_number(node)
            if not values or min(values) < 2 or not is_plain(node) or is_part(scene, node):
                continue
            scope: ast.AST | None = scene.scope_of(node)
            if isinstance(node, ast.Name) and node.id in own and scene.index.values_of(node.id, None):
                scope = None
            for value in values:
                found.setdefault(value, []).append((node, scope))
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and getattr(node.value, "id", "") == "self"
        ):
            # An attribute that nobody reads has a value as well.
            assign = scene.parents.get(id(node))
            for value in scene.every_number(assign.value) if isinstance(assign, ast.Assign) else ():
                if value > 1:
                    found.setdefault(value, []).append((node, scene.scope_of(node)))
    for name, assigned in own.items():
        for _, expression in assigned[:1]:
            number = worked_out(expression)
            if isinstance(number, int) and number > 1 and scene.index.values_of(name, None):
                found.setdefault(number, []).append((ast.Name(name, ast.Load()), None))
    scene.names = found
    return found


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a name, or an attribute or a named item of one: no shape's."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def factors(scene: Scene) -> Iterator[Candidate]:
    """Twice a size, a half of it, one more; one operand of a product or sum alone; a name that is lacking in it."""
    for place, node, value in sizes_written(scene):
        if isinstance(scene.parents.get(id(node)), ast.BinOp):
            continue
        literal = worked_out(node) is not None
        if len(scene.every_number(node)) > 1 and scene.is_looped(node):
            continue
        far = place.distance / 8
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
        for side in sides:
            if (value, scene.number(side)) in scene.reshaped:
                yield scene.candidate(14 + far, node, scene.text(side))
        for size, wanted in scene.pairs:
            if size != value:
                continue
            text = scene.text(node)
            plain = text if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)) else f"({text})"
            if not literal and place.role not in ("leaf", "data") and min(value, wanted) > 1:
                for factor in (2, 3, 4):
                    if wanted == factor * value:
                        yield scene.candidate(
                            (8 if place.distance == 0 or node.lineno == scene.problem.place.line else 16)
                            + (factor if factor == 2 else factor + RARE)
                            + far,
                            node,
                            f"{plain} * {factor}",
                        )
                    if value == factor * wanted:
                        yield replace(scene.candidate(17 + factor + far, node, f"{plain} // {factor}"), solved=True)
            if not literal and abs(wanted - value) == 1 and min(wanted, value) > 1:
                yield scene.candidate(12 + far, node, f"{plain} {'+' if wanted > value else '-'} 1")
            if isinstance(node, ast.BinOp):
                for part in ast.walk(node):
                    if part is not node and isinstance(part, ast.expr) and scene.number(part) == wanted:
                        one_off = isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant)
                        rank = 14 + far + OF_SQUARE * (literal and isinstance(part, ast.BinOp))
                        yield replace(scene.candidate(rank, node, scene.text(part)), solved=not one_off)
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and type(part.value) is int and part.value > 1:
                        exact = set() if literal or part.value * wanted % value else {part.value * wanted // value}
                        for factor in exact | {part.value - 1, part.value + 1}:
                            near = abs(factor - part.value) == 1 or factor in (2 * part.value, part.value // 2)
                            yield from resized(scene, node, part, factor, wanted, 13 + far + ANY_FACTOR * (not near))
            if not literal and place.role != "data" and min(value, wanted) > 1:
                yield from lacking(scene, node, plain, value, wanted, 13 + far)


OF_SQUARE = 5
"""What speaks against leaving out one number of several that a product ends with: a map's sides are given both."""

ANY_FACTOR = 4
"""What speaks against a factor that is neither near the one that is written nor twice or half of it."""


RARE = 2
"""How much less plausible three or four times a size are than twice."""


def resized(
    scene: Scene, node: ast.BinOp, part: ast.Constant, factor: int, wanted: int, rank: float
) -> Iterator[Candidate]:
    """A written factor that is one too small or too large: `3 * hidden` for `2 * hidden`."""
    parent = scene.parents.get(id(part))
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Mult):
        return
    whole, product = scene.number(node), scene.number(parent)
    if whole is None or product is None:
        return
    after = product * factor // int(scene.number(part) or 1)
    if (parent is node and after == wanted) or (
        isinstance(node.op, ast.Add) and parent in (node.left, node.right) and whole - product + after == wanted
    ):
        yield scene.candidate(rank, part, str(factor))


def lacking(scene: Scene, node: ast.expr, plain: str, value: int, wanted: int, rank: float) -> Iterator[Candidate]:
    """A name of the same function that a size has to be multiplied by or added to."""
    known = names_in_reach(scene)
    scope = scene.scope_of(node)
    for number, sign in ((wanted - value, "+"), (wanted // value if wanted % value == 0 else 0, "*")):
        texts = {scene.text(other) for other, where in known.get(number, ()) if where is scope}
        if sign == "+" and number > 1:
            texts |= {
                scene.text(each)
                for each in scene.inside_of(scope)
                if isinstance(each, ast.BinOp) and not isinstance(each.op, ast.Add) and scene.number(each) == number
            }
        for text in sorted(each for each in texts if each not in plain)[:1]:
            yield scene.candidate(rank, node, f"{plain} {sign} {text}")


def number_itself(scene: Scene) -> Iterator[Candidate]:
    """The number where it is written, which is unlike others: the less often it stands in the file, and the more often
    the one that fits, the more plausible."""
    often = scene.often
    done: set[int] = set()
    for place, node, value in sizes_written(scene):
        if isinstance(node, ast.BinOp) and worked_out(node) is not None and place.role == "layer":
            if not isinstance(scene.parents.get(id(node)), ast.BinOp):
                for size, wanted in scene.pairs:
                    if size == value:
                        yield scene.candidate(base(scene, place, node), node, str(wanted))
        if isinstance(node, ast.Constant) and id(node) not in done and not is_batch(place, node):
            for size, wanted in scene.pairs - scene.reshaped:
                if size == value:
                    done.add(id(node))
                    rank = base(scene, place, node) + odd(often, value, wanted)
                    yield scene.candidate(rank, node, str(wanted))
                    yield scene_candidate(node, rank + 0.1, all_alike(scene, node, str(wanted)))
            given, declared = scene.problem.problem.given, scene.problem.problem.declared
            if place.distance == 0 and isinstance(scene.call.op, Reshape) and given and declared:
                for times, parts in ((given, declared), (declared, given)):
                    if value * times % parts == 0:
                        yield scene.candidate(base(scene, place, node), node, str(value * times // parts))
            for times, parts in scene.ratios:
                wanted = value * times // parts
                if wanted > 0 and value * times % parts == 0 and place.role != "layer":
                    edits = all_alike(scene, node, str(wanted))
                    rank = base(scene, place, node) + 1 + odd(often, value, wanted)
                    yield scene_candidate(node, rank, edits)


def is_batch(place: Place, node: ast.expr) -> bool:
    """Whether a number is the first of several sizes that data is made of: as many samples as anybody likes. What the
    wrong call itself is given (`fit` on arrays) may have too few."""
    if place.role not in ("leaf", "data") or place.distance < 2 or not isinstance(place.node, ast.Call):
        return False
    given = place.node.args
    sizes = given[0].elts if given and isinstance(given[0], (ast.Tuple, ast.List)) else given
    return len(sizes) > 1 and sizes[0] is node


def scene_candidate(node: ast.expr, rank: float, edits: tuple[Edit, ...]) -> Candidate:
    return Candidate(rank, node.lineno, node.col_offset + 1, edits)


def all_alike(scene: Scene, node: ast.expr, wanted: str) -> tuple[Edit, ...]:
    """The number in the place of all that are like it in the same call: an image's sides."""
    parent = scene.parents.get(id(node))
    alike = [
        each
        for each in (ast.iter_child_nodes(parent) if parent is not None else ())
        if isinstance(each, ast.Constant) and each.value == getattr(node, "value", None)
    ]
    return tuple(scene.edit(each, wanted) for each in alike) or (scene.edit(node, wanted),)


def base(scene: Scene, place: Place, node: ast.expr) -> float:
    """How plausible the number of a place is: a layer's own before a leaf's and a block's."""
    if isinstance(place.node, ast.Call) and called(place.node) in scene.spelling.inputs:
        return 22
    if place.distance == 0 and place.role == "op":
        return 20
    kind = {"layer": 20, "block": 21, "caller": 21, "leaf": 21, "data": 22, "op": 23}[place.role]
    first = isinstance(place.node, ast.Call) and place.node.args[:1] and node in list(ast.walk(place.node.args[0]))
    return kind + place.distance / 4 - (2 if place.distance == 0 and first else 0)


def odd(often: Counter[int], value: int, wanted: int) -> float:
    """What speaks against a number that stands in more places than the one it would become."""
    return min(1.5, max(-2, often[value] - often[wanted] - 1))


def number_handed_over(scene: Scene) -> Iterator[Candidate]:
    """The one other line in which a number is written that a layer or a leaf is made with: a default, a setting, an
    argument of the block."""
    run = scene.run
    if run is None:
        return
    seen: set[tuple[int, int]] = set()
    for place in scene.places:
        if place.role not in ("layer", "block", "leaf", "data"):
            continue
        site = scene.site_of.get(id(place.node))
        for size, wanted in scene.pairs:
            written = written_at(site, size, run) if site is not None else None
            if written is None or written[0] != scene.path or (written[1], wanted) in seen:
                continue
            seen.add((written[1], wanted))
            nodes = [
                each
                for each in scene.inside_of(scene.tree)
                if isinstance(each, ast.Constant)
                and each.lineno == written[1]
                and type(each.value) is int
                and each.value == size
            ]
            told = site is not None and site.line == scene.problem.place.line
            for node in nodes[:1]:
                # The line that the graph speaks for has no number of its own.
                yield replace(scene.candidate(24 - 4 * told + place.distance / 4, node, str(wanted)), told=told)
