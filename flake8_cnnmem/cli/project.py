"""The files of the project around some that changed, which are searched for what depends on them: the working
directory without what is nobody's own code there."""

from __future__ import annotations

import glob
import heapq
import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

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

MOST_ENTRIES = 200_000
"""Names of files and folders that are looked at; a disk that nobody has read lately gives some 100,000 a second."""


class Around(NamedTuple):
    files: list[str]
    """The nearest first."""
    whole: bool
    """Whether these are all."""


def dependents_of(given: Sequence[str], selection: Selection, store: Store | None = None) -> Dependents:
    """What may depend on these files, read; a search that ends early is told."""
    around = files_around(given, selection)
    found = Dependents(around.files, store, around.whole)
    if not found.whole:
        beyond = f"{found.unread:,} of its files" if found.unread else "its folders far from the files given"
        warn(
            f"the working directory is large: {beyond} are not searched for what depends on the files given; start in "
            "a smaller folder, or name the trainings"
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
    return found.modules, project.whole and not found.left_out


def files_around(given: Sequence[str], selection: Selection) -> Around:
    """The modules and settings below the working directory, from the folders of the files given outwards. Folders that
    the files given lie in are looked through whatever they are called."""
    wanted = [os.path.abspath(path).split(os.sep)[:-1] for path in given]

    def far(folder: str) -> int:
        parts = os.path.abspath(folder).split(os.sep)
        return min((len(each) + len(parts) - 2 * shared(parts, each) for each in wanted), default=0)

    inside = frozenset(os.sep.join(folder[:end]) for folder in wanted for end in range(1, len(folder) + 1))
    root, rules = work_tree(os.getcwd())
    # The way down to the files given is walked first, or a folder beside it could use the bound up.
    waiting: list[tuple[bool, int, str, Sequence[Rule]]] = [(False, far("."), ".", rules)]
    found: list[tuple[int, str]] = []
    left = MOST_ENTRIES
    while waiting and left > 0:
        _, distance, folder, above = heapq.heappop(waiting)
        here = Folder(folder, root, above)
        entries = here.entries()
        left -= len(entries) + 1
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                on_the_way = os.path.abspath(entry.path) in inside
                if on_the_way or not (is_foreign(entry) or here.ignores(entry) or selection.excludes(entry.path)):
                    heapq.heappush(waiting, (not on_the_way, far(entry.path), entry.path, here.rules))
            elif (
                entry.name.endswith((*MODULES, *SETTINGS))
                and entry.is_file()
                and not here.ignores(entry)
                and not selection.excludes(entry.path)
            ):
                found.append((distance, entry.path))
    return Around([path for _, path in sorted(found)], not waiting)


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


class Folder:
    """A folder with the patterns of git that hold in it. `root`: of git's work tree; `above`: what holds around it."""

    def __init__(self, path: str, root: str | None, above: Sequence[Rule]) -> None:
        self.path = path
        self.base = ""
        self.rules = above
        if root is not None:
            place = os.path.relpath(path, root)
            self.base = "" if place == "." else f"{place.replace(os.sep, '/')}/"
            self.rules = [*above, *read_rules(os.path.join(path, ".gitignore"), self.base)]

    def entries(self) -> list[os.DirEntry[str]]:
        """What lies in it, by name; nothing where it cannot be read."""
        try:
            with os.scandir(self.path) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return []

    def ignores(self, entry: os.DirEntry[str]) -> bool:
        return is_ignored(self.rules, self.base + entry.name, entry.is_dir(follow_symlinks=False))


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
