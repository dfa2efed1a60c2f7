"""Which classes and factories a model is made of: what is a part of another model needs no report of its own."""

from __future__ import annotations

import ast
import os

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.models.nesting import Nesting
from flake8_cnnmem.models.root import Root

Span = tuple[str, int, int]
"""A file, and the first and last line of a definition in it that others may use; of a class its first line alone."""


def defined_at(root: Root) -> Span:
    """Where the class or function stands that a root is a report on."""
    site = root.definition
    statement = site.statement if isinstance(site, StatementSite) else None
    last = statement.end_lineno if isinstance(statement, ast.FunctionDef) else None
    return os.path.abspath(site.path), int(site.line), last or int(site.line)


def made_of(root: Root) -> frozenset[tuple[str, int]]:
    """The places of all classes whose instances lie in a root's models, base classes among them, and those where the
    models themselves are constructed."""
    tops = [part.value for part in (root, *root.parts) if part.value is not None]
    found = [top.site for top in tops]
    for instance in (*tops, *Nesting().below(tops, set())):
        found += [cls.site for cls in instance.cls.mro]
    return frozenset((os.path.abspath(site.path), int(site.line)) for site in found if site is not None)
