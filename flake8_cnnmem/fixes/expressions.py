"""Sizes that are written as expressions: `2 * width`, `low`, `channels // ratio`, `reshape(n, l, 3, heads, c)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from flake8_cnnmem.fixes.literals import arguments, number, parameters
from flake8_cnnmem.fixes.operands import Place
from flake8_cnnmem.graph import Call
from flake8_cnnmem.ops import Broadcast, Concatenate, Reshape, Split
from flake8_cnnmem.text.edits import Edit

MOST_JOINED = 3
"""Tensors of a concatenation whose widths are written as a sum."""

Offer = tuple[str, tuple[Edit, ...]]
"""A title, and the edits."""


def parts_of_the_size(place: Place) -> Iterator[Offer]:
    """A layer's declared size by what is in it: `2 * width` as `width` or `3 * width`, `channels // ratio` as
    `channels`."""
    declared, fitting = place.problem.problem.declared, place.problem.problem.fitting
    node = place.node(place.problem.site)
    if node is not None and declared is not None and fitting is not None:
        for argument in arguments(node):
            yield from inside(place, argument, declared, fitting)


def sums_of_joined(place: Place) -> Iterator[Offer]:
    """Behind a concatenation, one of the layer's sizes as the sum of several: `low + high` for `high`."""
    node, fitting = place.node(place.problem.site), place.problem.problem.fitting
    joined = made_by(place.call, Concatenate)
    if node is None or fitting is None or joined is None or not 1 < len(joined.inputs) <= MOST_JOINED:
        return
    given = [each for each in arguments(node) if isinstance(each, ast.Name)]
    for argument in given:
        for terms in combinations(dict.fromkeys(each.id for each in given), len(joined.inputs)):
            text = " + ".join(terms)
            yield f"write {text} instead of {argument.id}", (place.instead(argument, text),)


def other_names(place: Place) -> Iterator[Offer]:
    """One of the layer's sizes by another parameter of the function that builds it: `embedded` for `hidden`."""
    node = place.node(place.problem.site)
    if node is None or place.problem.problem.fitting is None:
        return
    around = [
        each
        for each in ast.walk(place.source.tree)
        if isinstance(each, ast.FunctionDef) and each.lineno <= node.lineno <= (each.end_lineno or 0)
    ]
    if not around:
        return
    inner = max(around, key=lambda each: each.lineno)
    names = [each.arg for each, default in parameters(inner.args) if default is not None or each.annotation is not None]
    for argument in arguments(node):
        if isinstance(argument, ast.Name) and argument.id in names:
            yield from (renamed(place, argument, name) for name in names if name != argument.id)


def widths_before(place: Place) -> Iterator[Offer]:
    """The size of the layer whose result is split or merged: `3 * width` for `2 * width` before a split in three, the
    gate's `channels` for `channels // ratio`."""
    problem = place.problem.problem
    if problem.declared is None or problem.given is None:
        return
    if isinstance(place.call.op, Split):
        wanted = [(place.call.inputs[0].call, problem.given, problem.declared)]
    elif isinstance(place.call.op, Broadcast):
        sizes = (problem.declared, problem.given)
        wanted = [
            (tensor.call, own, other)
            for tensor in place.call.inputs
            for own, other in (sizes, sizes[::-1])
            if isinstance(tensor.shape, tuple) and own in tensor.shape
        ]
    else:
        return
    for maker, own, other in wanted:
        layer = place.layer(maker) if maker is not None else None
        for argument in arguments(layer) if layer is not None else ():
            yield from inside(place, argument, own, other)


def inside(place: Place, argument: ast.expr, before: int, now: int) -> Iterator[Offer]:
    """An expression of a size without one of its two sides, or with another factor."""
    if not isinstance(argument, ast.BinOp) or number(argument) is not None or not place.text(argument):
        return
    for side, other in ((argument.left, argument.right), (argument.right, argument.left)):
        factor = number(side)
        if factor is None:
            yield renamed(place, argument, place.text(side))
        elif isinstance(argument.op, ast.Mult) and factor and factor * now % before == 0 and factor * now != before:
            edit = place.instead(side, str(factor * now // before))
            yield f"write {edit.text} instead of {place.text(side)}", (edit,)
        if isinstance(other, ast.BinOp):
            yield from inside(place, other, before, now)


def renamed(place: Place, old: ast.expr, text: str) -> Offer:
    return f"write {text} instead of {place.text(old)}", (place.instead(old, text),)


def shared_out(place: Place) -> Iterator[Offer]:
    """A reshape that has an axis too much of a size: `c // self.heads` for `c`, where `self.heads` is there as well."""
    problem, op, node = place.problem.problem, place.call.op, place.node(place.call.site)
    if not isinstance(op, Reshape) or node is None or problem.declared is None or not problem.given:
        return
    factor, rest = divmod(problem.declared, problem.given)
    given = list(arguments(node))[-len(op.target) :]
    if rest or factor < 2 or len(given) != len(op.target):
        return
    for at, argument in enumerate(given):
        size = op.target[at]
        if number(argument) is not None or not isinstance(size, int) or size % factor or size == factor:
            continue
        for other, by in enumerate(given):
            if other != at and op.target[other] == factor and number(by) is None and place.text(by):
                whole = place.text(argument) if isinstance(argument, (ast.Name, ast.Attribute)) else ""
                if whole:
                    yield renamed(place, argument, f"{whole} // {place.text(by)}")


def made_by(call: Call, op: type) -> Call | None:
    """The nearest op of a kind behind a call's first input, with only ops of one input between."""
    at = call.inputs[0].call if call.inputs else None
    while at is not None and not isinstance(at.op, op):
        at = at.inputs[0].call if len(at.inputs) == 1 else None
    return at
