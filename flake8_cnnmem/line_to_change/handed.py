"""Sizes that a layer is handed: the line of the name, of the number, or of the block that is built with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import parameters, written_at
from flake8_cnnmem.graph import Site
from flake8_cnnmem.line_to_change.case import (
    Case,
    NumberedLine,
)
from flake8_cnnmem.line_to_change.worked_out import call_of_factory, running_width, size_worked_out
from flake8_cnnmem.values import Instance

DECLARED_BY = ("in_features", "in_channels", "num_features", "input_size", "embed_dim", "d_model", "normalized_shape")
"""The parameters by which layers are told the size of their input, where they are given by name."""


def number_handed_over(case: Case) -> Site | None:
    """A layer's size that it is handed: the block among several alike that is built with it, the name's own line, the
    number where nothing else is made of it."""
    problem, site, index = case.problem.problem, case.problem.site, case.index()
    node = site.node if isinstance(site, StatementSite) else None
    if index is None or not isinstance(node, ast.Call) or problem.declared is None or len(case.call.inputs) != 1:
        return None
    if problem.elsewhere is not None:
        return None
    divides = problem.what.startswith("has ")
    argument = next((word.value for word in node.keywords if word.arg in DECLARED_BY), None)
    argument = node.args[0] if argument is None and node.args else argument
    if isinstance(argument, ast.Constant):
        return None
    groups = next((word.value for word in node.keywords if word.arg == "groups"), None)
    if groups is not None and argument is not None and ast.dump(groups) == ast.dump(argument):
        # One group a channel: what is wrong is the number of filters beside it.
        return None
    function = next(iter(index.around(site.line)), None)
    if function is None or argument is None:
        return None
    both = {each.id for each in (groups, argument) if isinstance(each, ast.Name)}
    if divides and len(both) > 1 and both <= set(parameters(function)):
        # One group for each of what are no channels of its input: what is wrong is the name, unless the numbers that
        # other blocks of the class are told go together.
        return handed_block(case)
    found = call_of_factory(case, node, function) or size_worked_out(case, argument, function)
    if found is not None:
        return found
    if isinstance(argument, ast.Name) and argument.id not in parameters(function):
        values = index.values_of(argument.id, function)
        sums = [each for each in values if isinstance(each, ast.BinOp) and has_number(each)]
        return StatementSite(case.path, sums[0]) if len(values) == len(sums) == 1 else None
    if not isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript)) and not divides:
        return handed_block(case) if names_in(argument) & set(parameters(function)) else None
    block = handed_block(case)
    if block is not None:
        return block
    text = ast.dump(argument)
    uses = sum(isinstance(each, type(argument)) and ast.dump(each) == text for each in ast.walk(function))
    of_class = isinstance(argument, ast.Attribute) and names_in(argument) & {each.name for each in index.classes}
    if (uses > 1 and not divides) or of_class:
        return None
    inner = next((each.layer for each in case.call.ancestry() if user_made(each.layer)), None)
    if isinstance(argument, ast.Name) and isinstance(inner, Instance) and inner is not case.built.model.root:
        return case.here(inner.site)
    return next(numbers_of(case), None)


def handed_block(case: Case) -> Site | None:
    """Where the block is built that a layer lies in, where the model has several of its class and the others fit."""
    block = next((each.layer for each in case.call.ancestry() if user_made(each.layer)), None)
    if not isinstance(block, Instance) or block is case.built.model.root:
        return None
    alike: dict[int, bool] = {}
    for call in case.built.model.calls:
        for each in call.ancestry():
            if isinstance(each.layer, Instance) and each.layer.cls is block.cls:
                alike[id(each.layer)] = alike.get(id(each.layer), True) and call.problem is None
    return running_width(case, block.site) or (case.here(block.site) if any(alike.values()) else None)


def user_made(layer: object) -> bool:
    return isinstance(layer, Instance) and layer.cls.site is not None


def numbers_of(case: Case) -> Iterator[Site]:
    """The one line in which the declared number is written, seen from the layer and from the blocks around it."""
    size = case.problem.problem.declared
    around = [each.layer.site for each in case.call.ancestry() if isinstance(each.layer, Instance)]
    for site in (case.problem.site, *around):
        place = written_at(site, size, case.root.run) if size is not None else None
        if place is not None and place[0] == case.path:
            yield NumberedLine(*place)


def has_number(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in ast.walk(node))


def names_in(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
