"""What modules do to others when they are imported: they register their classes and functions.

Modules are read only as far as a name is needed (`modules.py`). A container that other modules fill when they are
imported is therefore completed where it is read as a whole, or asked for a key that no text shows
(`R[cls.__name__.lower()] = cls`): by the statements that may fill it, in all modules of the project that the program
imports, in the order of the imports. Python runs those statements as well, and earlier.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.registries import bound_by, may_be_filled_by, mentions, names_of, searched
from flake8_cnnmem.source import SourceError, parse
from flake8_cnnmem.values import Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.imports import Importer

MOST_FILES = 400
"""Modules that a program imports from its own project, in which the statements that fill a container are looked for."""

IMPORT = re.compile(
    r"^(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
"""An import at the top of a text: dots, module and names, or modules."""

ALL_OF_A_FOLDER = re.compile(r"\b(?:import_module|__import__|iter_modules|walk_packages)\b")
"""What imports modules by names that are computed: those of the folder."""


class Place(NamedTuple):
    """A module of the project that is not loaded for its imports alone: its dotted name and its file."""

    dotted: str
    path: str
    package: bool


def complete(importer: Importer, container: Value) -> None:
    """Run what fills a container of an imported module in the modules that the program imports."""
    owner = importer.run.registries.get(id(container))
    if owner is None or not owner[1].lazy or id(container) in importer.filling:
        return
    if importer.completed.get(id(container)) == len(importer.modules):
        return
    importer.filling.add(id(container))
    # What an import does is not undone with what a branch or a trial did.
    journal, importer.run.journal = importer.run.journal, None
    try:
        names = names_of(owner[1], container)
        if names:
            run_mentioning(importer, owner[1], words_of(owner[1], names))
    finally:
        importer.run.journal = journal
        importer.filling.discard(id(container))
        importer.completed[id(container)] = len(importer.modules)


def subclassing(importer: Importer, module: Module, name: str) -> None:
    """Define the subclasses of a module's class in the modules that the program imports."""
    if (module.path, name) not in importer.subclassed:
        importer.subclassed.add((module.path, name))
        run_mentioning(importer, module, [name])


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


def run_mentioning(importer: Importer, owner: Module, words: Sequence[str]) -> None:
    """Run the top-level statements that may fill what has these names, in the order in which modules are imported."""
    places = imported(importer, owner)
    for place in places:
        if not any(word in searched(importer, place.path) for word in words):
            continue
        module = importer.find(place.dotted)
        if not isinstance(module, Module) or not module.lazy or module is owner:
            continue
        try:
            body = parse(module.source.python, module.path).body
        except SourceError:
            continue
        module.index()
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


def imported(importer: Importer, owner: Module) -> Sequence[Place]:
    """The modules of the project that the program imports, those first that others import; none where they are too
    many. What is installed beside the project fills nothing of it."""
    home = os.path.abspath(owner.path)
    for _ in range(len(owner.name.split(".")) + (1 if owner.package else 0)):
        home = os.path.dirname(home)
    known = [each for each in importer.modules.values() if isinstance(each, Module) and each.path]
    asked = (home, len(known))
    found = importer.reached.get(asked)
    if found is None:
        roots = (home + os.sep, importer.script_folder + os.sep)
        starts = dict.fromkeys(Place(each.name, os.path.abspath(each.path), each.package) for each in known)
        found = tuple(in_order(importer, [place for place in starts if place.path.startswith(roots)], roots))
        importer.reached[asked] = found
    return found


def in_order(importer: Importer, starts: Sequence[Place], roots: tuple[str, ...]) -> Iterator[Place]:
    """These modules and what they import at their tops, each after what it imports."""
    seen: set[str] = set()
    waiting: list[tuple[Place, bool]] = [(start, False) for start in reversed(starts)]
    while waiting:
        place, left = waiting.pop()
        if left:
            yield place
            continue
        if place.path in seen or len(seen) >= MOST_FILES:
            continue
        seen.add(place.path)
        waiting.append((place, True))
        waiting += [(each, False) for each in reversed(list(imports_of(importer, place, roots)))]


def imports_of(importer: Importer, place: Place, roots: tuple[str, ...]) -> Iterator[Place]:
    """The modules of the project that a module's top-level imports load, packages before what is in them."""
    text = searched(importer, place.path)
    package = place.dotted if place.package else place.dotted.rpartition(".")[0]
    for match in IMPORT.finditer(text):
        dots, base, names, modules = match.groups()
        if modules is not None:
            wanted = [word.split()[0] for word in modules.split("#")[0].split(",") if word.split()]
        else:
            parts = package.split(".") if package else []
            above = parts[: len(parts) - len(dots) + 1] if dots else []
            inside = ".".join([*above, *([base] if base else [])])
            listed = re.sub(r"#[^\n]*", "", names).strip("()").split(",")
            wanted = [inside, *(f"{inside}.{word.split()[0]}" for word in listed if word.split())] if inside else []
        for dotted in wanted:
            yield from located(importer, dotted, roots)
    if place.package and ALL_OF_A_FOLDER.search(text):
        folder = os.path.dirname(place.path)
        for name, below in importer.files.entries(folder):
            if not name.startswith((".", "__")) and (below or name.endswith(".py")):
                yield from located(importer, f"{place.dotted}.{name.removesuffix('.py')}", roots)


def located(importer: Importer, dotted: str, roots: tuple[str, ...]) -> Iterator[Place]:
    """The module of a name and the packages above it, as far as they are the project's own files."""
    words = dotted.split(".")
    for count in range(1, len(words) + 1):
        name = ".".join(words[:count])
        at = importer.located.get(name)
        if at is None:
            place = importer.location(name) if importer.native(name) is None else None
            at = importer.located[name] = place or ("", False)
        if not at[0].startswith(roots) or "site-packages" in at[0]:
            return
        if importer.files.is_file(at[0]):
            yield Place(name, at[0], at[1])
