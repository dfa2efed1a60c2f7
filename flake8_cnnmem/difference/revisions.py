"""The models of both sides, file by file. A file is evaluated again only where something that it asked for differs."""

from __future__ import annotations

import os
from collections.abc import Callable

from flake8_cnnmem.difference.reach import may_matter, names_in, stands_alone
from flake8_cnnmem.difference.repository import Repository, Tree
from flake8_cnnmem.difference.worktree import changed, renames, working_files
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.source import LARGEST, Source, SourceError, load, mentions_framework
from flake8_cnnmem.text.files import DISK, Files, Watched
from flake8_cnnmem.unknown import Unknown

MODULES = (".py", ".ipynb")

Evaluate = Callable[[Source, Files], FileReport]
"""The models of a file whose imports are read from these Files. Raises nothing."""


class RecordedFiles(Watched):
    """Files that remember each question that two revisions can answer differently."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.asked: set[tuple[str, str]] = set()

    def note(self, question: str, path: str) -> None:
        if question not in ("real", "variable"):
            self.asked.add((question, path))


def answers_alike(asked: set[tuple[str, str]], base: Tree, head: Files) -> bool:
    """Whether another side gives the same answers to all that was asked."""
    return all(alike(kind, path, base, head) for kind, path in asked if base.inside(path) is not None)


def alike(kind: str, path: str, base: Tree, head: Files) -> bool:
    if kind == "file":
        return base.is_file(path) == head.is_file(path)
    if kind == "folder":
        return base.is_folder(path) == head.is_folder(path)
    if kind == "entries":
        return python_entries(base, path) == python_entries(head, path)
    if kind == "subfolders":
        return base.subfolders(path) == head.subfolders(path)
    if not base.is_file(path) or not head.is_file(path):
        return base.is_file(path) == head.is_file(path)
    if base.version(path) == head.version(path):
        return True
    try:
        return base.content(path, LARGEST + 1) == head.content(path, LARGEST + 1)
    except OSError:
        return False


def python_entries(files: Files, folder: str) -> list[tuple[str, bool]]:
    """What of a folder can be imported; the caches beside it in a work tree are nothing that git knows."""
    return [
        (name, inside)
        for name, inside in files.entries(folder)
        if (inside and not name.startswith((".", "__"))) or name.endswith(".py")
    ]


@dataclass(frozen=True, slots=True)
class Pair:
    """One file at both revisions: the paths from the working folder; None where it is not there."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """The models of one file before and after, those of a side that cannot be read left to `problems`."""

    before: tuple[ModelReport, ...] = ()
    after: tuple[ModelReport, ...] = ()
    problems: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Sides:
    """Two revisions of a repository; without `head` the second is the work tree."""

    base: Tree
    head: Files
    pairs: tuple[Pair, ...]
    """None where nothing changed that could matter."""
    names: frozenset[str] = frozenset()
    """What modules of the project may be imported by, on either side."""

    @classmethod
    def of(cls, repository: Repository, base: str, head: str | None) -> Sides:
        """Raises GitError for a revision that is unknown."""
        first = repository.commit(base)
        second = None if head is None else repository.commit(head)
        tree = repository.tree(first)
        after = DISK if second is None else repository.tree(second)
        root = repository.root
        paths = list(after.blobs) if isinstance(after, Tree) else working_files(root, tree.blobs)
        names = names_in((*tree.blobs, *paths))
        if not may_matter(changed(tree, root, after if isinstance(after, Tree) else paths)):
            return cls(tree, after, (), names)
        was = {path for path in tree.blobs if path.endswith(MODULES)}
        there = {path for path in paths if path.endswith(MODULES)}
        renamed = renames(tree, after, root, sorted(was - there), sorted(there - was))
        pairs = [(path, path if path in there else renamed.get(path)) for path in sorted(was)]
        found = {to for _, to in pairs}
        every = [*pairs, *((None, path) for path in sorted(there - found))]
        shown = [Pair(*(None if p is None else os.path.relpath(os.path.join(root, p)) for p in pair))
                 for pair in every]  # fmt: skip
        return cls(tree, after, tuple(sorted(shown, key=lambda pair: pair.after or pair.before or "")), names)

    def compare(self, pair: Pair, evaluate: Evaluate) -> Compared | None:
        """The models of a file on both sides; None where nothing that they depend on differs."""
        if pair.before == pair.after and pair.before is not None and self.unreached(pair.before):
            return None
        asked: set[tuple[str, str]] = set()
        before = FileReport("")
        if pair.before is not None:
            watched = RecordedFiles(self.base)
            before = models_of(pair.before, watched, evaluate)
            asked = watched.asked
        if pair.before == pair.after and answers_alike(asked, self.base, self.head):
            return None
        after = FileReport("") if pair.after is None else models_of(pair.after, self.head, evaluate)
        problems = tuple(report.failure for report in (before, after) if report.failure is not None)
        if problems:
            # Models of a file that cannot be read have neither come nor gone.
            return Compared(problems=problems)
        return Compared(before.reports, after.reports)

    def unreached(self, path: str) -> bool:
        """Whether a file is the same on both sides, and takes nothing from others."""
        if not alike("content", path, self.base, self.head):
            return False
        try:
            return stands_alone(load(path, self.base), self.names)
        except SourceError:
            return False

    def close(self) -> None:
        for side in (self.base, self.head):
            if isinstance(side, Tree):
                side.close()


def models_of(path: str, files: Files, evaluate: Evaluate) -> FileReport:
    """The models of one file as one side has it."""
    try:
        source = load(path, files)
        if mentions_framework(source.text):
            source.tree  # noqa: B018  what does not parse is told
    except SourceError as error:
        return FileReport(path, failure=Unknown(error.reason, path, error.line))
    return evaluate(source, files) if source.may_hold_models(files) else FileReport(path)
