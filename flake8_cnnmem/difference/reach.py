"""How far a change can reach, told without evaluating anything. What is not certain is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from flake8_cnnmem.source import Source, SourceError

HARMLESS = frozenset(
    (
        *(".md", ".rst", ".pdf", ".html", ".css", ".scss", ".js", ".ts"),
        *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico"),
        *(".sh", ".bat", ".c", ".cc", ".cpp", ".cu", ".h", ".lock"),
    )
)
"""Endings of files that no evaluation asks for: neither modules nor data that a training script reads."""

_ELSEWHERE = re.compile(
    r"\b(?:importlib|import_module|__import__|runpy|exec|eval|open|loads?|safe_load|full_load|read\w*|Path|from_file)\b"
)
"""Words of a file that may take something from another file without importing it."""


def may_matter(paths: Iterable[str]) -> bool:
    """Whether any of these files can change a model."""
    return any(PurePosixPath(path).suffix.lower() not in HARMLESS for path in paths)


def names_in(paths: Iterable[str]) -> frozenset[str]:
    """Every name that a module of a project could be imported by: of its files without ending, and of its folders."""
    found: set[str] = set()
    for path in paths:
        *folders, name = PurePosixPath(path).parts
        found.update(folders, [name.partition(".")[0]])
    return frozenset(found)


def stands_alone(source: Source, names: frozenset[str]) -> bool:
    """Whether a file takes nothing from others of its project: every import has a name that none of them has."""
    if _ELSEWHERE.search(source.text):
        return False
    try:
        nodes = list(ast.walk(source.tree))
    except SourceError:
        return False
    for node in nodes:
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                return False
            imported = [node.module or ""]
        else:
            continue
        if any(name.split(".")[0] in names for name in imported):
            return False
    return True
