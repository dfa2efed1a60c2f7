"""The files of the project around some that changed, which are searched for what depends on them: the working
directory without what is nobody's own code there."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.asked_names import MODULES, SETTINGS
from flake8_cnnmem.cli.dependents import Dependents
from flake8_cnnmem.cli.ending import warn
from flake8_cnnmem.difference.ignored import Rule, is_ignored, read_rules

if TYPE_CHECKING:
    from flake8_cnnmem.cache.store import Store
    from flake8_cnnmem.cli.linting import Selection

INSTALLED = frozenset(("site-packages", "dist-packages", "node_modules", "__pycache__"))

ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What stands in a virtual environment, and in one of conda."""

MOST_DEPENDENTS = 200
"""Modules that are checked beside those that changed: those next to the change by their imports."""


def dependents_of(given: Sequence[str], selection: Selection, store: Store | None = None) -> Dependents:
    """What may depend on these files, read; a search that ends early is told."""
    found = Dependents(files_around(given, selection), store)
    if found.unread:
        warn(
            f"the working directory is large: {found.unread:,} of its files are not searched for what depends on the "
            "files given; start in a smaller folder, or name the trainings"
        )
    return found


def with_dependents(given: Sequence[str], selection: Selection, store: Store | None = None) -> tuple[list[str], bool]:
    """The modules among the files given, and those next to them that depend on them; whether these are all. What is
    beyond the bounds is told."""
    project = dependents_of(given, selection, store)
    found = project.of(given, MOST_DEPENDENTS)
    if found.left_out:
        warn(
            f"{found.left_out:,} more files depend on the files given, and are not checked: "
            "name their folder to check all of it"
        )
    return found.modules, not (project.unread or found.left_out)


def files_around(given: Sequence[str], selection: Selection) -> list[str]:
    """The modules and settings below the working directory, those in the folders of the files given first."""
    wanted = [os.path.abspath(path).split(os.sep)[:-1] for path in given]

    def far(path: str) -> int:
        parts = os.path.abspath(path).split(os.sep)[:-1]
        return min((len(folder) + len(parts) - 2 * shared(parts, folder) for folder in wanted), default=0)

    inside = frozenset(os.sep.join(folder[:end]) for folder in wanted for end in range(1, len(folder) + 1))
    root, rules = work_tree(os.getcwd())
    return sorted(below(".", selection, rules, root, inside), key=lambda path: (far(path), path))


def shared(parts: Sequence[str], others: Sequence[str]) -> int:
    """How many parts two paths have in common at their beginning."""
    same = (one == other for one, other in zip(parts, others, strict=False))
    return sum(1 for _ in itertools.takewhile(bool, same))


def work_tree(folder: str) -> tuple[str | None, list[Rule]]:
    """The root of git's work tree around a folder, and the patterns that stand above the folder."""
    root = folder
    while not os.path.lexists(os.path.join(root, ".git")):
        root, before = os.path.dirname(root), root
        if root == before:
            return None, []
    rules = read_rules(os.path.join(root, ".git", "info", "exclude"), "")
    parts = os.path.relpath(folder, root).split(os.sep) if folder != root else []
    for end in range(len(parts)):
        base = "".join(f"{part}/" for part in parts[:end])
        rules += read_rules(os.path.join(root, base, ".gitignore"), base)
    return root, rules


def below(
    folder: str, selection: Selection, rules: Sequence[Rule], root: str | None, inside: frozenset[str]
) -> Iterator[str]:
    """`inside` are the folders that the files given lie in: these are looked through whatever they are called."""
    base = ""
    if root is not None:
        place = os.path.relpath(folder, root)
        base = "" if place == "." else f"{place.replace(os.sep, '/')}/"
        rules = [*rules, *read_rules(os.path.join(folder, ".gitignore"), base)]
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            if os.path.abspath(entry.path) in inside or not (
                is_foreign(entry) or is_ignored(rules, base + entry.name, True) or selection.excludes(entry.path)
            ):
                yield from below(entry.path, selection, rules, root, inside)
        elif (
            entry.name.endswith((*MODULES, *SETTINGS))
            and entry.is_file()
            and not is_ignored(rules, base + entry.name, False)
            and not selection.excludes(entry.path)
        ):
            yield entry.path


def is_foreign(entry: os.DirEntry[str]) -> bool:
    """Whether a folder holds what was installed or built, or is hidden."""
    if entry.name.startswith(".") or entry.name in INSTALLED:
        return True
    if any(os.path.exists(os.path.join(entry.path, marker)) for marker in ENVIRONMENT):
        return True
    # What setuptools builds: a package may be called `build`, too.
    return entry.name == "build" and any(
        glob.glob(os.path.join(glob.escape(entry.path), made)) for made in ("lib/", "lib.*/", "bdist.*/", "temp.*/")
    )
