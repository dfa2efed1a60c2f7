"""A git repository, read through git's own commands: revisions, their trees as Files, renamed files.

Nothing is written: no checkout, no index, no object. No hook, no external diff and no fetch is started.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flake8_cnnmem.files import Files

LINK, SUBMODULE = "120000", "160000"

LONGEST_LINK = 4096
"""Bytes of a link's target, as Linux allows."""

CHUNK = 1 << 20
"""Bytes that are read at once of what nobody wants."""

LINKS_FOLLOWED = 40
"""Links in one path, as Linux allows."""

ENVIRONMENT = {
    # No lock for a refresh of the index, no download of objects that a partial clone has left out.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}


class GitError(Exception):
    """What git cannot do, in one plain sentence."""


class Repository:
    """The repository that a folder lies in. Raises GitError where there is none, or no git."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        try:
            self.root = os.fsdecode(self.git("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        except GitError as error:
            raise GitError(f"{os.path.abspath(folder)} is not in a git repository ({error})") from None
        if not self.root:
            raise GitError(f"{os.path.abspath(folder)} is in a git repository without a work tree")

    def git(self, *arguments: str) -> bytes:
        """What a git command prints. Raises GitError with the first line of what it complains."""
        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env={**os.environ, **ENVIRONMENT}, capture_output=True, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from None
        if done.returncode:
            told = os.fsdecode(done.stderr).strip().splitlines()
            raise GitError(told[0].removeprefix("fatal: ") if told else f"git {arguments[0]} failed")
        return done.stdout

    def commit(self, revision: str) -> str:
        """The commit that a revision names. Raises GitError for an unknown one."""
        try:
            if revision.startswith("-"):
                raise GitError("no revision begins with a hyphen")
            return self.git("rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
        except GitError:
            hint = ""
            if self.git("rev-parse", "--is-shallow-repository").strip() == b"true":
                hint = "; this clone is shallow, fetch the whole history (fetch-depth: 0)"
            raise GitError(f"{revision!r} is no revision of this repository{hint}") from None

    def tree(self, commit: str) -> Tree:
        """The files of a commit."""
        return Tree(self.root, self.blobs(commit))

    def blobs(self, commit: str) -> dict[str, Blob]:
        """Every file of a commit by its path from the root, those of submodules that are checked out as well."""
        found: dict[str, Blob] = {}
        for record in self.git("ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
            if not record:
                continue
            facts, _, name = record.partition(b"\t")
            mode, _, object_name, size = facts.decode().split()
            path = os.fsdecode(name)
            if mode == SUBMODULE:
                found |= {f"{path}/{inner}": blob for inner, blob in self.submodule(path, object_name).items()}
            else:
                found[path] = Blob(self.folder, object_name, mode, int(size))
        return found

    def submodule(self, path: str, commit: str) -> dict[str, Blob]:
        folder = os.path.join(self.root, path)
        if not os.path.exists(os.path.join(folder, ".git")):
            return {}
        try:
            return Repository(folder).blobs(commit)
        except GitError:
            return {}

    def working_files(self) -> list[str]:
        """The files of the work tree by their paths from the root: those that git knows, and new ones not ignored."""
        listed = self.git("-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        paths = {os.fsdecode(name) for name in listed.split(b"\0") if name}
        return sorted(path for path in paths if os.path.isfile(os.path.join(self.root, path)))

    def changed(self, base: str, head: str | None) -> set[str]:
        """The paths of what differs between two commits, or a commit and the work tree, new files as well."""
        sides = (base,) if head is None else (base, head)
        listed = self.git(
            "diff", "--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", *sides, "--"
        )
        if head is None:
            listed += self.git("-C", self.root, "ls-files", "-z", "--others", "--exclude-standard")
        return {os.fsdecode(name) for name in listed.split(b"\0") if name}

    def renames(self, base: str, head: str | None) -> dict[str, str]:
        """New path by old path, of the files that git finds renamed."""
        sides = (base,) if head is None else (base, head)
        listed = self.git(
            "diff",
            "--name-status",
            "-z",
            "--find-renames",
            "--no-relative",
            "--no-ext-diff",
            "--no-textconv",
            *sides,
            "--",
        ).split(b"\0")
        found: dict[str, str] = {}
        at = 0
        while at < len(listed) - 1:
            if listed[at].startswith((b"R", b"C")):
                if listed[at].startswith(b"R"):
                    found[os.fsdecode(listed[at + 1])] = os.fsdecode(listed[at + 2])
                at += 3
            else:
                at += 2
        return found


@dataclass(frozen=True, slots=True)
class Blob:
    """One file of a tree; `folder` is where git finds the object."""

    folder: str
    name: str
    mode: str
    size: int


class Tree(Files):
    """The files of a commit in the place of the work tree; what lies outside the repository, and the packages of a
    virtual environment inside it, are the disk's."""

    def __init__(self, root: str, blobs: Mapping[str, Blob]) -> None:
        self.root = root
        self.blobs = blobs
        self.readers: dict[str, subprocess.Popen[bytes]] = {}
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
        """Where links lead, by path."""
        return {path: os.fsdecode(self.read(blob)) for path, blob in sorted(self.blobs.items()) if blob.mode == LINK}

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
        return super().size(path) if blob is None else blob.size

    def version(self, path: str) -> Hashable:
        blob = self.blob(path)
        return super().version(path) if blob is None else blob.name

    def real(self, path: str) -> str:
        own = self.inside(path)
        return super().real(path) if own is None else os.path.join(self.root, own)

    def read(self, blob: Blob, at_most: int = LONGEST_LINK) -> bytes:
        """The first bytes of a blob. Raises OSError where git does not have it."""
        reader = self.readers.get(blob.folder)
        if reader is None:
            reader = self.readers[blob.folder] = subprocess.Popen(
                ["git", "cat-file", "--batch"], cwd=blob.folder, env={**os.environ, **ENVIRONMENT},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(f"{blob.name}\n".encode())
        reader.stdin.flush()
        answer = reader.stdout.readline().split()
        if len(answer) != 3:
            raise OSError(5, "git does not have this file's content")
        left = int(answer[2])
        content = reader.stdout.read(min(left, at_most))
        # The answer ends with a line feed of its own; the next one stands behind all of it.
        left += 1 - len(content)
        while left > 0:
            left -= len(reader.stdout.read(min(left, CHUNK))) or left
        return content

    def close(self) -> None:
        for reader in self.readers.values():
            reader.communicate()
        self.readers.clear()
