"""Sizes that the program works out before it builds a layer: the line that does, if nothing else is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import Function, SyntaxIndex, name_of, parameters, worked_out
from flake8_cnnmem.graph import Site
from flake8_cnnmem.line_to_change.case import Case, sizes_of

WORKED_OUT = (ast.BinOp, ast.Call, ast.Subscript)


def size_worked_out(case: Case, argument: ast.expr, function: Function) -> Site | None:
    """The line that works out a local variable, or an attribute that is set once, if it is used nowhere else."""
    index = case.index()
    if index is None:
        return None
    named = [each for each in ast.walk(argument) if isinstance(each, ast.Name) and each.id not in parameters(function)]
    found: list[ast.expr] = [
        values[0]
        for each in named
        if len(values := index.values_of(each.id, function)) == 1
        and isinstance(values[0], WORKED_OUT)
        and uses(function, each) == 1
    ]
    if isinstance(argument, ast.Attribute):
        set_here = list(attributes_set(index, argument.attr))
        found += set_here if len(set_here) == 1 and isinstance(set_here[0], WORKED_OUT) else []
    return StatementSite(case.path, found[0]) if len(found) == 1 else None


def uses(function: Function, name: ast.Name) -> int:
    return sum(
        isinstance(each, ast.Name) and each.id == name.id and isinstance(each.ctx, ast.Load)
        for each in ast.walk(function)
    )


def attributes_set(index: SyntaxIndex, name: str) -> Iterator[ast.expr]:
    """What an attribute of this name is set to, anywhere in a file."""
    for each in index.assigns:
        if any(isinstance(target, ast.Attribute) and target.attr == name for target in each.targets):
            yield each.value


def running_width(case: Case, block: Site | None) -> Site | None:
    """The line that notes, in the function which builds blocks one behind the other, how wide the last one is:
    `self.inplanes = planes`."""
    node = block.node if isinstance(block, StatementSite) and block.path == case.path else None
    index = case.index()
    if index is None or not isinstance(node, ast.Call):
        return None
    around = next(iter(index.around(node.lineno)), None)
    noted = {each.attr for each in node.args if isinstance(each, ast.Attribute)}
    if around is None or around.name == "__init__" or not noted:
        return None
    found = [
        each.value
        for each in ast.walk(around)
        if isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr in noted for target in each.targets)
    ]
    return StatementSite(case.path, found[0]) if len(found) == 1 else None


def call_of_factory(case: Case, node: ast.Call, function: Function) -> Site | None:
    """The one call of a function that builds layers, among several, which hands it the numbers that do not fit."""
    index, problem = case.index(), case.problem.problem
    if index is None or function.name.startswith("__") or problem.declared is None:
        return None
    names = parameters(function)
    used = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in names]
    widths = {size for weight in case.call.weights for size in sizes_of(weight)[:1]}
    if problem.what.startswith("has "):
        widths = {problem.given}
    calls = [each for each in index.calls if name_of(each.func) == function.name]
    fitting = []
    for call in calls:
        given = {name: value for name, value in numbers_given(call, function) if name in used}
        others = set(given.values()) - {problem.declared}
        if problem.declared in given.values() and (not widths - {problem.declared} or widths & others):
            fitting.append(call)
    return StatementSite(case.path, fitting[0]) if len(fitting) == 1 < len(calls) else None


def numbers_given(call: ast.Call, function: Function) -> Iterator[tuple[str, object]]:
    """The numbers that a call hands to a function's parameters, or that are their defaults."""
    names = parameters(function)
    skipped = int(bool(names) and names[0] in ("self", "cls") and isinstance(call.func, ast.Attribute))
    own = function.args
    defaults = zip(reversed([*own.posonlyargs, *own.args]), reversed(own.defaults), strict=False)
    given = {argument.arg: worked_out(value) for argument, value in defaults}
    given |= {name: worked_out(value) for name, value in zip(names[skipped:], call.args, strict=False)}
    given |= {each.arg: worked_out(each.value) for each in call.keywords if each.arg is not None}
    yield from given.items()
