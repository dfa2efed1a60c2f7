"""What is in folders: `os.listdir`, `os.walk`, `glob`, `Path.iterdir` and their like, of a project's own code.

A checkout holds what people write (code, settings) as the program finds it. What programs make or fetch (data sets,
weights, runs) it holds by chance. So what a folder gives is known where all of it is of the first kind, or where it
lies in a package; nothing is read. The order is that of the names: the file system's own is any.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.files import SOURCES, bases, is_below, is_kept_back, packages_of
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

UNKNOWN_FOLDER = "what a folder holds is not known"

MAGIC = re.compile(r"[*?[]")

IGNORED = frozenset(("__pycache__",))
"""Folders that Python itself makes beside the code."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """An entry of a folder: its path, and whether it is a folder itself."""

    path: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """A folder that may be looked into, where it lies, and whether all in it is known."""

    path: str
    whole: bool


def place_of(run: Any, path: Value) -> KnownFolder | None:
    """Where a folder of the project or of an imported package lies; None for any other."""
    plain = payload(path)
    importer = getattr(run, "importer", None)
    if importer is None or isinstance(plain, (Unknown, bytes, int)) or "\0" in str(plain):
        return None
    files = importer.files
    run.spend(8)
    for base in bases(run):
        candidate = os.path.normpath(os.path.join(base, str(plain)))
        if not files.is_folder(candidate):
            continue
        packages = packages_of(importer, candidate)
        roots = (*packages, *bases(run))
        if not any(candidate == root or is_below(candidate, root) for root in roots):
            continue
        real = files.real(candidate)
        for root in map(files.real, roots):
            if real == root or (is_below(real, root) and not is_kept_back(real[len(root) :])):
                return KnownFolder(candidate, bool(packages))
    return None


def is_folder(run: Any, path: Value) -> Value:
    """True for a folder of the project or of a package; what is a file of either is none; else nobody knows."""
    if place_of(run, path) is not None:
        return True
    plain = payload(path)
    importer = getattr(run, "importer", None)
    if importer is not None and not isinstance(plain, (Unknown, bytes, int)) and packages_of(importer, str(plain)):
        return False
    return run.unknown("whether a folder exists is not known")


def inside(run: Any, folder: str) -> Iterator[FolderEntry]:
    """The entries of a folder, by name. Each draws on the budget."""
    for name, below in run.importer.files.entries(folder):
        run.spend(1)
        if name not in IGNORED:
            yield FolderEntry(os.path.join(folder, name), below)


def known(
    run: Runtime, place: KnownFolder, found: Sequence[FolderEntry], named: bool = False
) -> Sequence[FolderEntry] | Unknown:
    """What was found, if all of it is what people write; `named` where something of that kind was asked for."""
    written = all(each.is_folder or os.path.splitext(each.path)[1].lower() in SOURCES for each in found)
    if place.whole or (written and (named or any(not each.is_folder for each in found))):
        return found
    return run.unknown(UNKNOWN_FOLDER)


def listing(run: Runtime, path: Value) -> tuple[KnownFolder, Sequence[FolderEntry]] | Unknown:
    """A folder and all that is in it."""
    place = place_of(run, path)
    if place is None:
        return path if isinstance(path, Unknown) else run.unknown(UNKNOWN_FOLDER)
    found = known(run, place, list(inside(run, place.path)))
    return found if isinstance(found, Unknown) else (place, found)


def list_names(run: Runtime, path: Value = ".") -> Value:
    """`os.listdir`."""
    found = listing(run, path)
    return found if isinstance(found, Unknown) else [os.path.basename(each.path) for each in found[1]]


def walk(run: Runtime, top: Value, topdown: Value = True, *args: Value, **kwargs: Value) -> Value:
    """`os.walk`, from the top down: `(folder, folders, files)` of every folder below one, its own first."""
    if topdown is not True:
        return run.unknown("os.walk from the bottom up is not followed")
    found = listing(run, top)
    if isinstance(found, Unknown):
        return found
    rows: list[Value] = []
    waiting: list[tuple[str, str]] = [(found[0].path, str(payload(top)))]
    while waiting:
        folder, shown = waiting.pop(0)
        entries = known(run, found[0], list(inside(run, folder)))
        if isinstance(entries, Unknown):
            return entries
        names = [[os.path.basename(e.path) for e in entries if e.is_folder is below] for below in (True, False)]
        rows.append((shown, *names))
        waiting[:0] = [(os.path.join(folder, name), os.path.join(shown, name)) for name in names[0]]
    return iter(rows)


def matches(run: Any, folder: str, parts: Sequence[str], hidden: bool = False) -> Iterator[FolderEntry]:
    """What a pattern's parts lead to below a folder. `**` stands for folders, any number of them. Names that begin with
    a dot are left out, but where they are asked for or, with `hidden`, as `pathlib` does."""
    first, rest = parts[0], parts[1:]
    if first == "**":
        if rest:
            yield from matches(run, folder, rest, hidden)
        for each in inside(run, folder):
            if not hidden and os.path.basename(each.path).startswith("."):
                continue
            if each.is_folder:
                if not rest:
                    yield each
                yield from matches(run, each.path, parts, hidden)
            elif not rest:
                yield each
        return
    if not MAGIC.search(first):
        path = os.path.join(folder, first)
        below = run.importer.files.is_folder(path)
        run.spend(1)
        if below and rest:
            yield from matches(run, path, rest, hidden)
        elif below or (not rest and run.importer.files.is_file(path)):
            yield FolderEntry(path, below)
        return
    for each in inside(run, folder):
        name = os.path.basename(each.path)
        left_out = not hidden and name.startswith(".") and not first.startswith(".")
        if left_out or not fnmatch.fnmatchcase(name, first):
            continue
        if not rest:
            yield each
        elif each.is_folder:
            yield from matches(run, each.path, rest, hidden)


def search(
    run: Runtime, folder: Value, pattern: str, recursive: bool = True, hidden: bool = False
) -> list[str] | Unknown:
    """The paths that a pattern leads to below a folder, as they are written from there."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts or not parts:
        return run.unknown(UNKNOWN_FOLDER)
    if not recursive:
        parts = ["*" if part == "**" else part for part in parts]
    place = place_of(run, folder)
    named = os.path.splitext(parts[-1])[1].lower() in SOURCES
    if place is None:
        return run.unknown(UNKNOWN_FOLDER)
    found = known(run, place, list(matches(run, place.path, parts, hidden)), named)
    if isinstance(found, Unknown):
        return found
    return [os.path.relpath(each.path, place.path) for each in dict.fromkeys(found)]


def glob(run: Any, pathname: Value, *, root_dir: Value = None, recursive: Value = False, **kwargs: Value) -> Value:
    """`glob.glob`: the pattern's parts without wildcards name the folder that is searched."""
    pattern = payload(pathname)
    if not isinstance(pattern, (str, PurePosixPath)) or root_dir is not None:
        return pattern if isinstance(pattern, Unknown) else run.unknown(UNKNOWN_FOLDER)
    parts = str(pattern).split("/")
    first = next((at for at, part in enumerate(parts) if MAGIC.search(part)), len(parts) - 1)
    folder = "/".join(parts[:first]) or ("/" if str(pattern).startswith("/") else "")
    found = search(run, folder or ".", "/".join(parts[first:]), recursive is True)
    if isinstance(found, Unknown):
        return beside_a_package(run, folder, parts[first:], found)
    return [os.path.join(folder, path) for path in found]


def iterate(run: Any, pathname: Value, **kwargs: Value) -> Value:
    """`glob.iglob`."""
    found = glob(run, pathname, **kwargs)
    return iter(found) if isinstance(found, list) else found


def inner(run: Runtime, self: Value, pattern: Value = "*", *, recursive: bool = False) -> Value:
    """`Path.glob`, `Path.rglob` and `Path.iterdir`, as paths."""
    plain = payload(pattern)
    if not isinstance(plain, (str, PurePosixPath)):
        return plain if isinstance(plain, Unknown) else run.unknown(UNKNOWN_FOLDER)
    found = search(run, self, f"**/{plain}" if recursive else str(plain), hidden=True)
    return found if isinstance(found, Unknown) else iter([payload(self) / path for path in found])


def beside_a_package(run: Any, folder: str, parts: Sequence[str], cause: Unknown) -> Value:
    """A file of one name where packages are installed: nobody puts anything there by hand."""
    importer = getattr(run, "importer", None)
    if importer is None or len(parts) != 1 or MAGIC.search(parts[0]):
        return cause
    installed = any(os.path.dirname(package) == os.path.normpath(folder) for package in importer.package_folders())
    path = os.path.join(folder, parts[0])
    return [] if installed and not importer.files.exists(path) else cause
