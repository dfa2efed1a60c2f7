"""A model whose blocks are run again in the backward pass instead of keeping what they hold, as edits of its `forward`.

A change of the method, which costs a second forward pass: it is shown, and nobody else writes it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.frameworks.framework import Checkpointing
from flake8_cnnmem.graph import Invocation
from flake8_cnnmem.remedies import is_container
from flake8_cnnmem.source import SourceError, parse
from flake8_cnnmem.text.edits import Edit, instead_of


def checkpointed(
    blocks: Sequence[Invocation], texts: Mapping[str, str], how: Checkpointing
) -> tuple[str, tuple[Edit, ...]] | None:
    """The file in which these blocks are called, and its edits; None where their calls are not all written there, each
    with its arguments in order, or where the names are taken."""
    calls: dict[tuple[int, int], tuple[ast.Call, bool]] = {}
    written = [called_in(block) for block in blocks]
    paths = {each.site.path for each in written if each.site is not None}
    path = paths.pop() if len(paths) == 1 else None
    if path is None or path not in texts or re.search(rf"\b({how.call}|{how.sequence})\b", texts[path]):
        return None
    for block, each in zip(blocks, written, strict=True):
        node = each.site.node if isinstance(each.site, StatementSite) else None
        if not isinstance(node, ast.Call) or node.keywords or not node.args or has_stars(node):
            return None
        calls[node.lineno, node.col_offset] = node, each is not block
    lines = texts[path].split("\n")
    edits = [edit for node, inside in calls.values() for edit in wrapped(node, inside, lines, how)]
    modules = {how.sequence if inside else how.call for _, inside in calls.values()}
    line = import_line(texts[path])
    if not edits or line is None:
        return None
    text = f"from {how.module} import {', '.join(sorted(modules))}\n"
    return path, (Edit(line, 1, line, 1, text), *edits)


def called_in(block: Invocation) -> Invocation:
    """The call that the code writes for a block: its own, or that of the container that runs it."""
    at = block
    while at.parent is not None and is_container(at.parent):
        at = at.parent
    return at


def has_stars(node: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.args)


def wrapped(node: ast.Call, inside: bool, lines: list[str], how: Checkpointing) -> tuple[Edit, ...]:
    """`checkpoint(f, x, use_reentrant=False)` for `f(x)`; of a container each of its layers for itself."""
    whole, function = instead_of(node, lines, ""), instead_of(node.func, lines, "")
    first = instead_of(node.args[0], lines, "")
    name = how.sequence if inside else how.call
    called = lines[function.line - 1][function.column - 1 : function.end_column - 1]
    between = f", len({called}), " if inside else ", "
    return (
        Edit(whole.line, whole.column, whole.line, whole.column, f"{name}("),
        Edit(function.end_line, function.end_column, first.line, first.column, between),
        Edit(whole.end_line, whole.end_column - 1, whole.end_line, whole.end_column - 1, f", {how.option}"),
    )


def import_line(text: str) -> int | None:
    """The line behind the imports that stand at the top of a file."""
    try:
        body = parse(text).body
    except SourceError:
        return None
    at = None
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            at = (node.end_lineno or node.lineno) + 1
        elif at is not None:
            break
    return at
