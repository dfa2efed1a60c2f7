"""Which modules of its own project a program imports, in Python's order, told from texts alone."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.registries import searched
from flake8_cnnmem.source import SHELF
from flake8_cnnmem.source.leading import IMPORT, NAME

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.imports import Importer

MOST_FILES = 400
"""Modules of its own project that a program is followed into for what they do when they are imported."""

ALL_OF_A_FOLDER = re.compile(r"\b(?:import_module|__import__|iter_modules|walk_packages)\b")
"""What imports modules by names that are computed: those of the folder."""


class Place(NamedTuple):
    """A module of the project, which need not be loaded: its dotted name and its file."""

    dotted: str
    path: str
    package: bool

    @property
    def inside(self) -> str:
        """The package that relative imports start from."""
        return self.dotted if self.package else self.dotted.rpartition(".")[0]


class Imported(NamedTuple):
    """One name of an import: the module that the statement names, the word that is taken of it (none in `import a.b`),
    and the name that it gets."""

    module: str
    word: str
    name: str


def imported(importer: Importer) -> Sequence[Place]:
    """The modules of the project that the program imports, each after those that it imports itself."""
    known = [each for each in importer.modules.values() if isinstance(each, Module) and each.path]
    if importer.reached[0] != len(known):
        starts = [Place(each.name, os.path.abspath(each.path), each.package) for each in known]
        own = [place for place in dict.fromkeys(starts) if is_own(importer, place.path)]
        importer.reached = (len(known), tuple(in_order(importer, own)))
    return importer.reached[1]


def roots_of(importer: Importer) -> tuple[str, ...]:
    """The folders of the project: the script's, and those above it in which imports are looked up."""
    own = os.path.join(os.path.abspath(importer.script_folder), "")
    above = (os.path.join(os.path.abspath(folder), "") for folder in importer.search_path)
    return tuple(dict.fromkeys((own, *(folder for folder in above if own.startswith(folder)))))


def in_order(importer: Importer, starts: Sequence[Place], but: Container[str] = ()) -> Iterator[Place]:
    """These modules and what they import at their tops, each after what it imports; without those whose paths are in
    `but`, and what is imported by these alone."""
    seen: set[str] = set()
    waiting: list[tuple[Place, bool]] = [(start, False) for start in reversed(starts)]
    while waiting:
        place, left = waiting.pop()
        if left:
            yield place
            continue
        if place.path in seen or place.path in but or len(seen) >= MOST_FILES:
            continue
        seen.add(place.path)
        waiting.append((place, True))
        waiting += [(each, False) for each in reversed(imports_of(importer, place))]


def imports_of(importer: Importer, place: Place) -> Sequence[Place]:
    """The modules of the project that a module's imports load, packages before what is in them."""
    if place.path not in importer.imports:
        importer.imports[place.path] = tuple(dict.fromkeys(imports_in(importer, place)))
    return importer.imports[place.path]


def imports_in(importer: Importer, place: Place) -> Iterator[Place]:
    """As `imports_of`, by the module's text."""
    text = searched(importer, place.path)
    for each in import_lines(text, place.inside):
        found = located(importer, each.module)
        if found and found[-1].package and each.word not in ("", "*"):
            found = located(importer, f"{each.module}.{each.word}")
        yield from found
    if place.package and ALL_OF_A_FOLDER.search(text):
        for name, below in importer.files.entries(os.path.dirname(place.path)):
            if not name.startswith((".", "__")) and (below or name.endswith(".py")):
                yield from located(importer, f"{place.dotted}.{name.removesuffix('.py')}")


def import_lines(text: str, inside: str) -> Sequence[Imported]:
    """What the imports that stand at the margin of a text import, in a module of the package `inside`."""
    return SHELF.noted_of(text, ("imports", inside), lambda: tuple(read_imports(text, inside)))


def read_imports(text: str, inside: str) -> Iterator[Imported]:
    """As `import_lines`, line by line."""
    for match in IMPORT.finditer(text):
        if match.group()[0] in " \t":
            continue
        dots, base, names, modules = match.groups()
        if modules is not None:
            for module, name in with_names(modules):
                yield Imported(module, "", name or module.partition(".")[0])
            continue
        packages = inside.split(".") if inside else []
        above = packages[: len(packages) - len(dots) + 1] if dots else []
        module = ".".join([*above, *([base] if base else [])])
        for word, name in with_names(names) if module else ():
            yield Imported(module, word, name or word)


def with_names(listed: str) -> Iterator[tuple[str, str]]:
    """`a, b as c` as pairs of what is imported and the name that it gets, an empty one where it keeps its own."""
    for each in re.sub(r"#[^\n]*", "", listed).strip("() \t\n").split(","):
        words = each.split()
        if words and (words[0] == "*" or NAME.fullmatch(words[0])):
            yield words[0], words[2] if len(words) == 3 and words[1] == "as" else ""


def located(importer: Importer, dotted: str) -> tuple[Place, ...]:
    """The module of a name behind the packages above it, as far as they are the project's own files."""
    known = importer.located.get(dotted)
    if known is not None:
        return known
    above, _, _ = dotted.rpartition(".")
    found = located(importer, above) if above else ()
    if not above or found or is_somewhere(importer, above):
        at = importer.location(dotted) if importer.native(dotted) is None else None
        if at is not None and is_own(importer, at[0]) and importer.files.is_file(at[0]):
            found = (*found, Place(dotted, os.path.abspath(at[0]), at[1]))
    importer.located[dotted] = found
    return found


def is_somewhere(importer: Importer, dotted: str) -> bool:
    """Whether there is a file or folder for a module, asked once for all that is imported of it."""
    if dotted not in importer.somewhere:
        importer.somewhere[dotted] = importer.location(dotted) is not None
    return importer.somewhere[dotted]


def is_own(importer: Importer, path: str) -> bool:
    """Whether a file is one of the project: below a root of it, and in no environment or other hidden folder there."""
    if path not in importer.own:
        whole = os.path.abspath(path)
        inside = next((whole[len(root) - 1 :] for root in roots_of(importer) if whole.startswith(root)), None)
        importer.own[path] = inside is not None and "site-packages" not in whole and f"{os.sep}." not in inside
    return importer.own[path]
