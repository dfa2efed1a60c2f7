"""Edits after which a line goes on as those around it do: the outer call that all lines beside it have, the layer that
each of the rows before it ends with, an axis for two tensors to be broadcast along, a permutation that is undone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.line_to_change.case import unchanged_from
from flake8_cnnmem.ops import Broadcast, Reshape
from flake8_cnnmem.smallest_edit.numbers import elements, names_in_reach
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene, called, inside

FEWEST = 2
"""As many lines beside it show how a line goes on."""


def wrapped_as_beside(scene: Scene) -> Iterator[Candidate]:
    """A line without the outer call that the lines around it have: `x = pool(relu(conv(x)))`, and once
    `x = relu(conv(x))`."""
    functions = {id(scope): scope for scope in (scene.scope_of(place.node) for place in scene.places)}
    for function in functions.values():
        assigns = [each for each in getattr(function, "body", []) if isinstance(each, ast.Assign)]
        chains = [(each.value, names_called(each.value)) for each in assigns]
        often = Counter(names for _, names in chains if len(names) > 1)
        for value, names in chains:
            for whole, times in often.items():
                if times >= FEWEST and names and whole[1:] == names:
                    other = next(each for each, known in chains if known == whole)
                    assert isinstance(other, ast.Call)
                    yield scene.candidate(9, value, f"{scene.text(other.func)}({scene.text(value)})")


def names_called(node: ast.expr) -> tuple[str, ...]:
    """The names of calls that work on each other's result, the outermost first, without the numbers that tell one layer
    from the next."""
    found: list[str] = []
    while isinstance(node, ast.Call) and node.args and not node.keywords:
        found.append(called(node).rstrip("0123456789"))
        node = node.args[0]
    return tuple(found)


def item_as_beside(scene: Scene) -> Iterator[Candidate]:
    """Layers in a row of which the last one is lacking where the rows before have it: convolution, activation, pooling,
    and once no pooling."""
    if not scene.is_spatial:
        return
    for call in scene.index.calls:
        rows = call.args[0].elts if call.args and isinstance(call.args[0], (ast.List, ast.Tuple)) else call.args
        names = [called(each) if isinstance(each, ast.Call) else "" for each in rows]
        if "" in names or len(rows) < FEWEST * FEWEST + 1:
            continue
        starts = [at for at, name in enumerate(names) if name == names[0]]
        runs = [(at, tuple(names[at:end])) for at, end in zip(starts, [*starts[1:], len(names)], strict=True)]
        often = Counter(run for _, run in runs)
        for at, run in runs:
            for whole, times in often.items():
                begun = whole[:-1] == run[: len(whole) - 1] and whole != run[: len(whole)]
                if times >= FEWEST and len(whole) > 2 and begun:
                    other = next(first for first, known in runs if known == whole) + len(whole) - 1
                    last = rows[at + len(whole) - 2]
                    if run[len(whole) - 1 :] == () or run[len(whole) - 1] not in whole:
                        yield scene.candidate(9, last, f"{scene.text(last)}, {scene.text(rows[other])}")


def axis_of_broadcast(scene: Scene) -> Iterator[Candidate]:
    """An axis of one value for two tensors to be broadcast along, in the line that makes the one which has fewer: a
    mask for every head, an embedding for every value of a map."""
    insert, call = scene.spelling.axis_behind, scene.call
    if not insert or not isinstance(call.op, Broadcast) or len(call.inputs) < 2:
        return
    inputs = [each for each in call.inputs if isinstance(each.shape, tuple)]
    ranks = [len(each.shape) for each in inputs if isinstance(each.shape, tuple)]
    for tensor, rank in zip(inputs, ranks, strict=True):
        largest = next(each for each, size in zip(inputs, ranks, strict=True) if size == max(ranks))
        if rank == max(ranks) == 1:
            axes, others = [1], [each for each in inputs if each is not tensor]
            largest = others[0]
        elif 0 < max(ranks) - rank <= MOST_LACKING:
            axes = axes_lacking(tensor, largest)
        else:
            continue
        for text in dict.fromkeys(insert.format(at) * (max(max(ranks) - rank, 1)) for at in axes):
            made = list(made_on_the_way(scene, tensor))
            begun = [node for node in made if has_axis_put_in(scene, node)]
            for node in begun or (*made, *handed_over(scene, tensor)):
                plain = scene.text(node)
                written = f"({plain})" if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)) else plain
                named = isinstance(node, (ast.Name, ast.Attribute))
                rank = 8 if has_axis_put_in(scene, node) else 9 if named else 11
                yield scene.candidate(rank, node, written + text)
        if rank == 1:
            # The first of two vectors alone: a column times a row.
            return


def ones_of_reshape(scene: Scene) -> Iterator[Candidate]:
    """Axes of one value at the end of a reshape whose result lacks them beside a tensor of maps: `view(n, c)` where
    `view(n, c, 1, 1)` would be broadcast."""
    call = scene.call
    if not isinstance(call.op, Broadcast) or len(call.inputs) < 2:
        return
    shapes = [each.shape for each in call.inputs if isinstance(each.shape, tuple)]
    most = max(map(len, shapes), default=0)
    for tensor in call.inputs:
        own = tensor.shape if isinstance(tensor.shape, tuple) else ()
        largest = next((each for each in shapes if len(each) == most), ())
        if not 1 < len(own) < most or own != largest[: len(own)]:
            continue
        for node in made_on_the_way(scene, tensor):
            if isinstance(node, ast.Call) and called(node) in scene.spelling.reshapes and len(node.args) > 1:
                last = node.args[-1]
                yield scene.candidate(5, last, scene.text(last) + ", 1" * (most - len(own)))


MOST_LACKING = 2


def axes_lacking(tensor: Tensor, largest: Tensor) -> list[int]:
    """Where axes of one value have to be put into a tensor for it to be broadcast with one that has more."""
    own, other = list(tensor.shape or ()), list(largest.shape or ())  # type: ignore[arg-type]
    found = []
    for at in range(1, len(own) + 1):
        whole = [*own[:at], *[1] * (len(other) - len(own)), *own[at:]]
        if all(1 in (a, b) or a == b for a, b in zip(whole, other, strict=True)):
            found.append(at)
    return found


def made_on_the_way(scene: Scene, tensor: Tensor) -> Iterator[ast.expr]:
    """The expressions of the file that gave a tensor its shape, and itself."""
    first = unchanged_from(tensor)
    sites = [first.call.site if first.call is not None else first.site]
    sites += [tensor.call.site] if tensor.call is not None else []
    seen: set[int] = set()
    for site in sites:
        node = getattr(site, "node", None)
        if isinstance(node, ast.expr) and id(node) not in seen and getattr(site, "path", "") == scene.path:
            seen.add(id(node))
            yield node


def handed_over(scene: Scene, tensor: Tensor) -> Iterator[ast.expr]:
    """The operands of the call itself that have the tensor's shape."""
    for place in scene.places:
        statement = scene.statement_of(place.node) if place.distance == 0 and place.role == "op" else None
        for node in inside(statement) if statement is not None else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and scene.shape(node) == tensor.shape:
                yield node


def has_axis_put_in(scene: Scene, node: ast.expr) -> bool:
    """Whether an expression puts an axis in already: who has to put in two may forget one."""
    inserting = isinstance(node, ast.Call) and called(node) in scene.spelling.inserting
    return inserting or (isinstance(node, ast.Subscript) and "None" in scene.text(node.slice))


def order_undone(scene: Scene) -> Iterator[Candidate]:
    """What a function returns whose axes it has brought into another order before, and not back."""
    for place in scene.places if scene.spelling.permuting else ():
        function = scene.function_of(place.node)
        if function is None or place.role != "op":
            continue
        orders = [
            each
            for each in scene.inside_of(function)
            if isinstance(each, ast.Call) and called(each) in scene.spelling.whole_orders
        ]
        returns = [each.value for each in scene.inside_of(function) if isinstance(each, ast.Return)]
        if len(orders) != 1 or len(returns) != 1 or not isinstance(returns[0], ast.Name):
            continue
        axes = [scene.number(each) for each in elements(orders[0])]
        numbers = [each for each in axes if each is not None]
        if len(numbers) > 2 and sorted(numbers) == list(range(len(numbers))):
            back = ", ".join(str(numbers.index(at)) for at in range(len(numbers)))
            yield scene.candidate(
                8 + place.distance / 16, returns[0], returns[0].id + scene.spelling.permuting.format(back)
            )
            return


def name_in_reshape(scene: Scene) -> Iterator[Candidate]:
    """Another name among the sizes of a reshape, with which it has as many values as it is given."""
    given, declared = scene.problem.problem.given, scene.problem.problem.declared
    if not isinstance(scene.call.op, Reshape) or not given or not declared:
        return
    known = names_in_reach(scene)
    for place in scene.places:
        if place.distance or place.role != "op" or not isinstance(place.node, ast.Call):
            continue
        sizes = flat(elements(place.node))
        for node in sizes:
            value = scene.number(node)
            if value is None or value < 2 or not isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
                continue
            alike = [each for each in sizes if ast.dump(each) == ast.dump(node)]
            wanted = root(value ** len(alike) * given, declared, len(alike))
            if len(alike) == 1 and isinstance(node, ast.Constant):
                continue
            texts = {
                scene.text(other): None
                for other, scope in known.get(wanted, ())
                if scope is scene.scope_of(node) or is_beside(scene, node, other)
            }
            for text in [each for each in texts if each != scene.text(node)][:2]:
                edits = tuple(scene.edit(each, text) for each in alike)
                yield Candidate(7, node.lineno, node.col_offset + 1, edits)


def root(number: int, parts: int, power: int) -> int:
    """The whole number that gives a quotient when it is multiplied with itself so many times; 0 for none."""
    found = round((number / parts) ** (1 / power))
    return found if found**power * parts == number else 0


def flat(nodes: Sequence[ast.expr]) -> list[ast.expr]:
    return [each for each in nodes if not isinstance(each, (ast.Tuple, ast.List))]


def is_beside(scene: Scene, node: ast.expr, other: ast.expr) -> bool:
    """Whether a name is an attribute of the object in whose class an expression stands."""
    owner = other.value if isinstance(other, ast.Attribute) else None
    return getattr(owner, "id", "") == "self" and scene.class_of(node) is scene.class_of(other)
