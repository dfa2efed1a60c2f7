"""Which edits cannot matter: those of what waits for an expression that is refused."""

from __future__ import annotations

import ast
from bisect import bisect

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene

Waiting = list[tuple[ast.Call, ast.expr]]


def waiting_calls(scene: Scene) -> Waiting:
    """The calls that have never run, since the sizes were refused in a part of them that is evaluated before: each
    with that part."""
    found: Waiting = []
    calls = (each.value.call for each in scene.notes.found if isinstance(each.value, Tensor))
    refused = sorted({each.number for each in calls if each is not None and each.problem is not None})
    ran = {
        id(each.node)
        for each in scene.notes.found
        if isinstance(each.node, ast.Call) and bisect(refused, each.first) == bisect(refused, each.last)
    }
    for site in (scene.call.site, *(each.site for each in scene.call.ancestry())):
        at = site.node if isinstance(site, StatementSite) and site.path == scene.path else None
        while isinstance(at, ast.expr):
            outer = scene.parents.get(id(at))
            if isinstance(outer, ast.Call) and id(outer) in scene.values and id(outer) not in ran:
                found.append((outer, at))
            at = outer
    return found


def comes_after(waiting: Waiting, candidate: Candidate) -> bool:
    """Whether an edit touches nothing but arguments of calls that wait: the size in `norm(conv(x), size)`, where
    `conv(x)` is refused."""
    return all(
        any(
            holds(call, edit.line, edit.column)
            and not holds(part, edit.line, edit.column)
            and not holds(call.func, edit.line, edit.column)
            for call, part in waiting
        )
        for edit in candidate.edits
    )


def holds(node: ast.expr, line: int, column: int) -> bool:
    """Whether a position lies within an expression."""
    return (node.lineno, node.col_offset + 1) <= (line, column) <= (node.end_lineno or 0, node.end_col_offset or 0)
