"""What modules do to others when they are imported: they register their classes and functions, and change settings.

Modules are read only as far as a name is needed (`modules.py`). A container that other modules fill when they are
imported is therefore completed where it is read as a whole, or asked for a key that no text shows
(`R[cls.__name__.lower()] = cls`): by the statements that may fill it, in all modules of the project that the program
imports, in the order of the imports. Python runs those statements as well, and earlier.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.project_imports import Place, import_lines, imported, in_order, is_own, located
from flake8_cnnmem.evaluate.registries import (
    RUN_WHOLE,
    SEARCHED,
    bound_by,
    may_be_filled_by,
    mentions,
    names_of,
    python_files,
    searched,
)
from flake8_cnnmem.source import SHELF, SourceError, parse
from flake8_cnnmem.values import Class, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.imports import Importer


def complete(importer: Importer, container: Value) -> None:
    """Run what fills a container of an imported module in the modules that the program imports."""
    owner = importer.run.registries.get(id(container))
    if owner is not None and owner[1].lazy and is_own(importer, owner[1].path):
        fill(importer, container, owner[1], imported(importer))


def complete_in_package(importer: Importer, container: Value) -> None:
    """Run what fills a container of an installed package's module in all of that package: it has not got a key that
    the program asks it for, and no text shows."""
    owner = importer.run.registries.get(id(container))
    if owner is not None and owner[1].lazy and not is_own(importer, owner[1].path):
        fill(importer, container, owner[1], package_places(importer, owner[1]))


def package_places(importer: Importer, module: Module) -> Sequence[Place]:
    """The modules of the package that a module is of, as far as packages are searched: listed once, for all keys."""
    folder, inside = module.path, module.name.split(".")
    for _ in range(len(inside) - (0 if module.package else 1)):
        folder = os.path.dirname(folder)
    known = importer.places.get((folder, inside[0]))
    if known is not None:
        return known
    found = importer.places[folder, inside[0]] = []
    for path in itertools.islice(python_files(folder, importer.files), SEARCHED):
        parts = os.path.relpath(path, folder)[: -len(".py")].split(os.sep)
        package = parts[-1] == "__init__"
        dotted = ".".join([inside[0], *(parts[:-1] if package else parts)])
        found.append(Place(dotted, os.path.abspath(path), package))
    return found


def fill(importer: Importer, container: Value, owner: Module, places: Sequence[Place]) -> None:
    """Run what fills a container of this module in these ones, unless that was done for as many."""
    if id(container) in importer.filling or importer.completed.get(id(container)) == len(places):
        return
    importer.filling.add(id(container))
    # What an import does is not undone with what a branch or a trial did.
    journal, importer.run.journal = importer.run.journal, None
    try:
        names = [*names_of(owner, container), *classes_of(owner, container)]
        if names:
            run_mentioning(importer, owner, places, words_of(owner, names))
    finally:
        importer.run.journal = journal
        importer.filling.discard(id(container))
        importer.completed[id(container)] = len(places)


def subclassing(importer: Importer, module: Module, name: str) -> None:
    """Define the subclasses of a module's class in the modules that the program imports."""
    if (module.path, name) not in importer.subclassed and is_own(importer, module.path):
        importer.subclassed.add((module.path, name))
        run_mentioning(importer, module, imported(importer), [name])


def classes_of(module: Module, container: Value) -> list[str]:
    """The names that a module has for a class that holds a container, and for objects of such a class."""
    kinds = {name: value.cls if isinstance(value, Instance) else value for name, value in module.variables.items()}
    return [
        name
        for name, cls in kinds.items()
        if isinstance(cls, Class) and any(inner is container for inner in cls.namespace.values())
    ]


def words_of(module: Module, names: Sequence[str]) -> list[str]:
    """The names of a module by which others fill its container: its own, and those of what mentions it for more than
    reading: functions, classes that are derived from what holds it, and what is made of these."""
    found = list(names)
    for node in parse(module.source.python, module.path).body:
        if isinstance(node, ast.FunctionDef):
            if any(may_be_filled_by(node, name) for name in found):
                found.append(node.name)
        elif isinstance(node, ast.ClassDef):
            if any(mentions(part, found) for part in (*node.bases, *(word.value for word in node.keywords))):
                found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and mentions(node.value, found):
            found += [target.id for target in bound_by(node) if isinstance(target, ast.Name)]
    return list(dict.fromkeys(found))


def run_mentioning(importer: Importer, owner: Module, places: Sequence[Place], words: Sequence[str]) -> None:
    """Run the top-level statements of these modules that may fill what has these names in their owner, unless they are
    too many."""
    found = [place for place in places if any(word in searched(importer, place.path) for word in words)]
    for place in found if len(found) <= RUN_WHOLE else ():
        module = importer.find(place.dotted)
        if not isinstance(module, Module) or not module.lazy or module is owner:
            continue
        try:
            body = parse(module.source.python, module.path).body
        except SourceError:
            continue
        module.begin(importer.run)
        here = set(words)
        for at, node in enumerate(body):
            if isinstance(node, ast.ImportFrom):
                here |= {alias.asname for alias in node.names if alias.asname and alias.name in words}
            elif may_fill(node, here):
                module.run_statement(importer.run, at)
                if isinstance(node, ast.ClassDef) and any(mentions(base, here) for base in node.bases):
                    # What is derived from this class is registered as well.
                    words = [*words, node.name]
                    here.add(node.name)


def may_fill(node: ast.stmt, words: set[str]) -> bool:
    """Whether a statement at the top of a module does something with what has one of the names when it runs: a
    decorator, a base or a keyword of a class, a call, an assignment to a part. Functions run later."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts: Sequence[ast.AST] = node.decorator_list
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        parts = []
    else:
        parts = [node]
    return any(mentions(part, words) for part in parts)


def enter(importer: Importer, *names: str) -> None:
    """The program imports modules: what they do to others when they are imported, they and what they import, is done at
    once (`settings.width = 64`, `setattr(Net, "width", 64)`, `apply_patches()`). Nobody asks for such statements by a
    name of theirs."""
    starts = [place for name in names for place in located(importer, name) if place.path not in importer.entered]
    # What was entered before has entered what it imports.
    new = list(in_order(importer, starts, importer.entered)) if starts else []
    importer.entered.update(place.path for place in new)
    parts_alone = len(importer.entered) > LARGE
    for place in new:
        if may_reach_out(searched(importer, place.path), parts_alone):
            reach_out(importer, place, parts_alone)


def may_reach_out(text: str, parts_alone: bool) -> bool:
    """Whether a module's text has a line at the margin that may do something to what another module has."""
    line = SETS if parts_alone else REACHES
    return SHELF.noted_of(text, line, lambda: line.search(text) is not None)


LARGE = 100
"""Modules of a project that a program imports: where there are more, calls at their tops are left out, as most only
register something, which is looked for when it is asked for."""


REACHES = re.compile(
    r"^(?:\w+(?:\.\w+|\[[^\]\n]*\])*\(|\w+(?:\.\w+|\[[^\]\n]*\])+[ \t]*[-+*/|]?=(?!=)|(?:for|if|try|with)\b)",
    re.MULTILINE,
)
"""A line at the margin that may do something to what another module has: a call, an assignment to a part."""

SETS = re.compile(r"^(?:\w+(?:\.\w+|\[[^\]\n]*\])+[ \t]*[-+*/|]?=(?!=)|setattr\()", re.MULTILINE)
"""Those among them that set a part of something."""


def reach_out(importer: Importer, place: Place, parts_alone: bool) -> None:
    """Run the top-level statements of a module that do something to what it has imported from the project, and those
    that set attributes of anything imported (`nn.Module.describe = describe`); these alone in a large project."""
    lines = import_lines(searched(importer, place.path), place.inside)
    project = {each.name for each in lines if located(importer, each.module)}
    brought = {each.name for each in lines}
    if not brought:
        return
    module = importer.find(place.dotted)
    if not isinstance(module, Module) or not module.lazy:
        return
    module.begin(importer.run)
    outline = module.outline()
    for at in range(len(outline.names)):
        if outline.set_in[at] & brought or (not parts_alone and outline.acted_on[at] & project):
            module.run_statement(importer.run, at)
