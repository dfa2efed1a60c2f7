"""Bodies of functions that are put off: parsed when one is called, and not before.

Of the methods of an imported class few are called, and libcst takes a second for half a megabyte. So libcst is given
the class with `pass` for the bodies of its methods, and each body by itself when it is needed; and so with functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

LONG = 500
"""Characters of a statement of which something is put off: to parse a body by itself costs something as well."""


class DeferredBody(ast.Pass):
    """In place of a function's statements: their `text`, whether they hold a `yield`, and the docstring among them."""

    text: str
    generator: bool
    doc: str | None


def defer_bodies(text: str, first: int, twins: Iterable[ast.stmt]) -> str:
    """The text of top-level statements, the first of its lines being `first`, without the bodies of functions and
    methods. The syntax trees are changed alike."""
    lines = text.split("\n")
    ends: dict[int, int] = {}
    for twin in twins:
        for function in twin.body if isinstance(twin, ast.ClassDef) else [twin]:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                begin, end = first_line(function.body[0]) - first, (function.end_lineno or function.lineno) - first
                indent = lines[begin].encode()[: function.body[0].col_offset].decode()
                # `def f(self): return 1` has no lines of its own for its body.
                if not indent.strip():
                    function.body = [instead_of(function.body, "\n".join(lines[begin : end + 1]) + "\n")]
                    lines[begin] = f"{indent}pass"
                    ends[begin] = end
    kept: list[str] = []
    at = 0
    while at < len(lines):
        kept.append(lines[at])
        at = ends.get(at, at) + 1
    return "\n".join(kept)


def instead_of(body: list[ast.stmt], text: str) -> DeferredBody:
    found = ast.copy_location(DeferredBody(), body[0])
    found.lineno = first_line(body[0])
    found.end_lineno = found.lineno
    found.text, found.generator, found.doc = text, "yield" in text and yields(body), docstring(body)
    return found


def first_line(node: ast.stmt) -> int:
    """The line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def docstring(body: list[ast.stmt]) -> str | None:
    """What a function, class or module says of itself."""
    first = body[0] if body else None
    if isinstance(first, DeferredBody):
        return first.doc
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value.value
    return None


def yields(body: Iterable[ast.AST]) -> bool:
    """Whether code (nested functions and classes left out) holds a `yield`."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)) or (isinstance(node, DeferredBody) and node.generator):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return False
