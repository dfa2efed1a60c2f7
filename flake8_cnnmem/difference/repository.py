"""A git repository's objects: revisions, and their trees as Files.

Nothing is written: no checkout, no index, no object. What lies in the work tree is read as files (`worktree`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from flake8_cnnmem.difference.git import GitError, ask, start
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.text.files import Files

LINK, SUBMODULE = "120000", "160000"

LONGEST_LINK = 4096
"""Bytes of a link's target, as Linux allows."""

CHUNK = 1 << 20
"""Bytes that are read at once of what nobody wants."""

LINKS_FOLLOWED = 40
"""Links in one path, as Linux allows."""


class Repository:
    """The repository that a folder lies in. Raises GitError where there is none, or no git."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        try:
            self.root = os.fsdecode(ask(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))
        except GitError as error:
            raise GitError(f"{os.path.abspath(folder)} is not in a git repository ({error})") from None
        if not self.root:
            raise GitError(f"{os.path.abspath(folder)} is in a git repository without a work tree")
        # `core.worktree` may name any folder of the disk; files are read from where the repository lies.
        nearest = os.path.realpath(folder)
        while not os.path.lexists(os.path.join(nearest, ".git")) and os.path.dirname(nearest) != nearest:
            nearest = os.path.dirname(nearest)
        if os.path.realpath(self.root) != nearest:
            raise GitError(f"{os.path.abspath(folder)} is in a git repository that names another folder as work tree")

    def commit(self, revision: str) -> str:
        """The commit that a revision names. Raises GitError for an unknown one."""
        try:
            if revision.startswith("-"):
                raise GitError("no revision begins with a hyphen")
            return ask(self.folder, "rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
        except GitError:
            hint = ""
            if ask(self.folder, "rev-parse", "--is-shallow-repository").strip() == b"true":
                hint = "; this clone is shallow, fetch the whole history (fetch-depth: 0)"
            raise GitError(f"{revision!r} is no revision of this repository{hint}") from None

    def tree(self, commit: str) -> Tree:
        """The files of a commit. Raises GitError where git lacks one of its folders."""
        return Tree(self.root, self.blobs(commit))

    def blobs(self, commit: str) -> dict[str, Blob]:
        """Every file of a commit by its path from the root, those of submodules that are checked out as well."""
        found: dict[str, Blob] = {}
        for record in ask(self.folder, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if not record:
                continue
            facts, _, name = record.partition(b"\t")
            mode, _, object_name = facts.decode().split()
            path = os.fsdecode(name)
            if mode == SUBMODULE:
                found |= {f"{path}/{inner}": blob for inner, blob in self.submodule(path, object_name).items()}
            else:
                found[path] = Blob(self.folder, object_name, mode)
        return found

    def submodule(self, path: str, commit: str) -> dict[str, Blob]:
        folder = os.path.join(self.root, path)
        if not os.path.exists(os.path.join(folder, ".git")) or os.path.realpath(folder) != folder:
            return {}
        try:
            return Repository(folder).blobs(commit)
        except GitError:
            return {}


@dataclass(frozen=True, slots=True)
class Blob:
    """One file of a tree; `folder` is where git finds the object."""

    folder: str
    name: str
    mode: str


class Tree(Files):
    """The files of a commit in the place of the work tree; what lies outside the repository, and the packages of a
    virtual environment inside it, are the disk's."""

    def __init__(self, root: str, blobs: Mapping[str, Blob]) -> None:
        self.root = root
        self.blobs = blobs
        self.readers: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        self.environments: dict[str, bool] = {}

    @cached_property
    def folders(self) -> dict[str, dict[str, bool]]:
        """By folder the names in it, and whether each is a folder."""
        found: dict[str, dict[str, bool]] = {"": {}}
        for path in self.blobs:
            parts = path.split("/")
            for at, name in enumerate(parts):
                inside = found.setdefault("/".join(parts[:at]), {})
                inside[name] = inside.get(name, False) or at < len(parts) - 1
        return found

    @cached_property
    def links(self) -> dict[str, str]:
        """Where links lead, by path; what git has lost leads nowhere."""
        found = {}
        for path, blob in sorted(self.blobs.items()):
            if blob.mode == LINK:
                try:
                    found[path] = os.fsdecode(self.read(blob))
                except OSError:
                    continue
        return found

    def inside(self, path: str) -> str | None:
        """A path from the root, links followed; None for what is the disk's."""
        path = os.path.abspath(path)
        if path == self.root:
            return ""
        if not path.startswith(self.root + os.sep):
            return None
        own = self.follow(path[len(self.root) + 1 :].replace(os.sep, "/"))
        return None if own not in self.blobs and own not in self.folders and self.environment(own) else own

    def follow(self, path: str) -> str:
        if not self.links:
            return path
        for _ in range(LINKS_FOLLOWED):
            parts = path.split("/")
            prefixes = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
            link = next((prefix for prefix in prefixes if prefix in self.links), None)
            if link is None:
                return path
            target = os.path.normpath(os.path.join(os.path.dirname(link), self.links[link])).replace(os.sep, "/")
            path = target + path[len(link) :]
        return path

    def environment(self, path: str) -> bool:
        """Whether a path is in a virtual environment that lies in the project, but not in git."""
        top = path.split("/")[0]
        if top in self.folders:
            return "site-packages" in path or "dist-packages" in path
        if top not in self.environments:
            folder = os.path.join(self.root, top)
            self.environments[top] = os.path.exists(os.path.join(folder, "pyvenv.cfg")) or os.path.exists(
                os.path.join(folder, "conda-meta")
            )
        return self.environments[top]

    def is_file(self, path: str) -> bool:
        own = self.inside(path)
        return super().is_file(path) if own is None else own in self.blobs

    def is_folder(self, path: str) -> bool:
        own = self.inside(path)
        return super().is_folder(path) if own is None else own in self.folders

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        own = self.inside(folder)
        return super().entries(folder) if own is None else sorted(self.folders.get(own, {}).items())

    def blob(self, path: str) -> Blob | None:
        """The blob of a path; None for what is the disk's. Raises FileNotFoundError."""
        own = self.inside(path)
        if own is None:
            return None
        if own not in self.blobs:
            raise FileNotFoundError(2, "no such file in this revision", path)
        return self.blobs[own]

    def content(self, path: str, at_most: int) -> bytes:
        blob = self.blob(path)
        return super().content(path, at_most) if blob is None else self.read(blob, at_most)

    def size(self, path: str) -> int:
        blob = self.blob(path)
        return super().size(path) if blob is None else self.ask(blob, "--batch-check")[1]

    def version(self, path: str) -> Hashable:
        blob = self.blob(path)
        return super().version(path) if blob is None else blob.name

    def real(self, path: str) -> str:
        own = self.inside(path)
        return super().real(path) if own is None else os.path.join(self.root, own)

    def read(self, blob: Blob, at_most: int = LONGEST_LINK) -> bytes:
        """The first bytes of a blob. Raises OSError where git does not have it."""
        reader, left = self.ask(blob, "--batch")
        assert reader.stdout is not None
        content = reader.stdout.read(min(left, at_most))
        # The answer ends with a line feed of its own; the next one stands behind all of it.
        left += 1 - len(content)
        while left > 0:
            left -= len(reader.stdout.read(min(left, CHUNK))) or left
        return content

    def ask(self, blob: Blob, form: str) -> tuple[subprocess.Popen[bytes], int]:
        """Ask git for an object: what answers, and the bytes that the object has. Raises OSError for none."""
        key = (blob.folder, form)
        if key not in self.readers:
            self.readers[key] = start(blob.folder, "cat-file", form)
        reader = self.readers[key]
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            reader.stdin.write(f"{blob.name}\n".encode())
            reader.stdin.flush()
            answer = reader.stdout.readline().split()
        except OSError:
            answer = []
        if not answer:
            # It has ended: a partial clone wants to fetch what it lacks, and may not.
            finish(self.readers.pop(key))
        if len(answer) != 3 or answer[1] != b"blob":
            raise OSError(5, "git does not have the content that this file has in that revision")
        return reader, int(answer[2])

    def close(self) -> None:
        for reader in self.readers.values():
            finish(reader)
        self.readers.clear()


def finish(reader: subprocess.Popen[bytes]) -> None:
    for pipe in (reader.stdin, reader.stdout):
        assert pipe is not None
        try:
            pipe.close()
        except OSError:
            # What was still to be said to a process that has ended.
            continue
    reader.wait()
