"""What a function holds of the frames that it was written in: the variables that its code names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.values import MISSING, Value

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FREE = "_free_names"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def enclosed(function: Function) -> Iterator[Value]:
    """The values of the cells that CPython would give a function: others of the frames around it end with those. Of
    several lambdas in one statement, which are not told apart, the cells of all."""
    if function.frame is None or not isinstance(function.site, StatementSite):
        return
    statement = function.site.statement
    scopes: list[ast.AST] = [statement]
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.name == "<lambda>":
        scopes = [node for node in ast.walk(statement) if isinstance(node, ast.Lambda)]
    for word in {word for scope in scopes for word in free_names(scope)}:
        frame = function.frame
        while frame is not None:
            value = frame.variables.get(word, MISSING)
            if value is not MISSING:
                yield value
                break
            frame = frame.parent  # type: ignore[assignment]


def free_names(scope: ast.AST) -> frozenset[str]:
    """The names that a function, lambda or comprehension reads or writes and does not bind itself; noted at its node,
    which nobody changes."""
    found: frozenset[str] | None = scope.__dict__.get(FREE)
    if found is None:
        found = scope.__dict__[FREE] = names_not_bound(scope)
    return found


def names_not_bound(scope: ast.AST) -> frozenset[str]:
    """The names that a function or a lambda reads and does not set."""
    used: set[str] = set()
    bound: set[str] = set()
    outer: set[str] = set()
    waiting: list[ast.AST] = list(own_parts(scope))
    if isinstance(scope, FUNCTIONS):
        arguments = scope.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        bound.update(each.arg for each in every if each is not None)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, *COMPREHENSIONS)):
            used |= free_names(node)
            waiting += evaluated_outside(node)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                bound.add(node.name)
            continue
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        elif isinstance(node, ast.ClassDef):
            bound.add(node.name)
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset((used - bound) | outer)


def own_parts(scope: ast.AST) -> list[ast.AST]:
    """What belongs to a scope itself: a function's body, without decorators and defaults."""
    if isinstance(scope, ast.Lambda):
        return [scope.body]
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return list(scope.body)
    return list(ast.iter_child_nodes(scope))


def evaluated_outside(scope: ast.AST) -> list[ast.AST]:
    """What of a scope the code around it evaluates: defaults, decorators."""
    if not isinstance(scope, FUNCTIONS):
        return []
    defaults = [*scope.args.defaults, *(each for each in scope.args.kw_defaults if each is not None)]
    return [*defaults, *(scope.decorator_list if not isinstance(scope, ast.Lambda) else [])]
