"""The names that belong to a function, or to the body of a class, because something in it binds them."""

from __future__ import annotations

import ast
from typing import Any

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NAMED: tuple[type[ast.AST], ...] = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


FOUND = "_cnnmem_own_names"
"""The attribute of a scope that was asked for, in which its names are kept: as long as the file's tree is in memory."""


def own_names(scope: ast.AST) -> frozenset[str]:
    """What a `def` or `class` binds itself, besides parameters: by assignment, import, `def`, `for`, `with`, `except`,
    `del`, patterns. Not what it declares to be global or another function's."""
    kept: dict[str, Any] = scope.__dict__
    known: frozenset[str] | None = kept.get(FOUND)
    if known is None:
        known = kept[FOUND] = names_bound_by(scope)
    return known


def names_bound_by(scope: ast.AST) -> frozenset[str]:
    """The names that the statements of a scope bind."""
    found: set[str] = set()
    elsewhere: set[str] = set()
    waiting: list[tuple[Any, bool]] = [(each, False) for each in getattr(scope, "body", ())]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, SCOPES):
            if not isinstance(node, ast.Lambda):
                found.add(node.name)
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and not inside:
            found.add(node.id)
        elif isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            elsewhere.update(node.names)
        elif isinstance(node, NAMED) and node.name:  # type: ignore[attr-defined]
            found.add(node.name)  # type: ignore[attr-defined]
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        within = inside or isinstance(node, COMPREHENSIONS)
        waiting.extend((each, within) for each in ast.iter_child_nodes(node))
    return frozenset(found - elsewhere)
