"""Sizes that reach a layer from somewhere else: from the construction of the module that holds it, from a list of
widths; and the size of a layer as the one before it writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.fixes.expressions import Offer, renamed
from flake8_cnnmem.fixes.literals import arguments, number, parameters
from flake8_cnnmem.fixes.operands import Place
from flake8_cnnmem.graph import Tensor


def handed_over(place: Place) -> Iterator[Offer]:
    """The number that the construction around a layer hands over for its size: `Block(32, 16)` for `Block(48, 16)`."""
    declared, fitting = place.problem.problem.declared, place.problem.problem.fitting
    if declared is None or fitting is None:
        return
    for given in given_around(place):
        if number(given) == declared and place.text(given):
            edit = place.instead(given, str(fitting))
            yield f"write {fitting} instead of {place.text(given)}", (edit,)


def as_the_one_before(place: Place) -> Iterator[Offer]:
    """The size as the layer before writes it, where both write it by the same name: `4 * width` for `width`."""
    node = place.node(place.problem.site)
    made = layer_before(place, place.call.inputs[0]) if place.call.inputs else None
    if node is None or made is None or place.problem.problem.fitting is None:
        return
    texts = [each for each in arguments(made) if isinstance(each, ast.BinOp) and number(each) is None]
    for given in (*arguments(node), *given_around(place)):
        if not isinstance(given, (ast.Name, ast.Attribute)) or around(place, given) is not around(place, made):
            continue
        own = place.text(given)
        offers = {place.text(each) for each in texts if own in {place.text(name) for name in names_in(each)}}
        yield from (renamed(place, given, text) for text in sorted(offers) if text)


def other_end(place: Place) -> Iterator[Offer]:
    """The last entry of a list of widths for the first one, and the other way round."""
    node = place.node(place.problem.site)
    if node is None or place.problem.problem.fitting is None:
        return
    for argument in arguments(node):
        at = argument.slice if isinstance(argument, ast.Subscript) else None
        text = place.text(at) if at is not None else ""
        if at is not None and text in ("0", "-1"):
            other = "-1" if text == "0" else "0"
            edit = place.instead(at, other)
            yield f"write [{other}] instead of [{text}]", (edit,)


def given_around(place: Place) -> Iterator[ast.expr]:
    """What the constructions around the layer with the problem hand over for the parameters that are its arguments."""
    node = place.node(place.problem.site)
    function = around(place, node) if node is not None else None
    if node is None or function is None:
        return
    wanted = {argument.id for argument in arguments(node) if isinstance(argument, ast.Name)}
    owner = next((each for each in classes(place) if function in each.body), None)
    if owner is None or function.name != "__init__":
        return
    layers = [each.layer for each in place.call.ancestry() if each.layer is not None]
    built = next((layer for layer in layers if layer.cls.name == owner.name), None)
    construction = place.node(built.site) if built is not None else None
    if construction is None or any(isinstance(each, ast.Starred) for each in construction.args):
        return
    for at, (parameter, _) in enumerate(parameters(function.args)):
        if parameter.arg not in wanted:
            continue
        by_name = [word.value for word in construction.keywords if word.arg == parameter.arg]
        yield from by_name or construction.args[at - 1 : at]


def classes(place: Place) -> Iterator[ast.ClassDef]:
    return (each for each in ast.walk(place.source.tree) if isinstance(each, ast.ClassDef))


def around(place: Place, node: ast.AST) -> ast.FunctionDef | None:
    """The innermost function that an expression stands in."""
    line = getattr(node, "lineno", 0)
    found = [
        each
        for each in ast.walk(place.source.tree)
        if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return max(found, key=lambda each: each.lineno, default=None)


def names_in(node: ast.expr) -> Iterator[ast.expr]:
    return (each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)))


def layer_before(place: Place, tensor: Tensor) -> ast.Call | None:
    """The construction of the layer that a tensor comes from, as it is or through ops of one input without sizes."""
    at = tensor.call
    while at is not None:
        node = place.layer(at)
        if node is not None and any(is_size(each) for each in arguments(node)):
            return node
        at = at.inputs[0].call if len(at.inputs) == 1 else None
    return None


def is_size(node: ast.expr) -> bool:
    return number(node) is not None or not isinstance(node, ast.Constant)
