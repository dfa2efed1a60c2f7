"""Where files are read from: the disk, or what stands for it (the tree of a git revision).

Everything that follows imports or reads a project's data asks here, and nowhere else, so that a revision is evaluated
with that revision's files, and that it is known afterwards what an evaluation depended on.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Hashable, Mapping, Sequence


class Files:
    """The disk. Paths are as `os` takes them; other places override all of these."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        """Whether there is anything: a file, a folder, a device."""
        try:
            self.version(path)
        except (OSError, ValueError):
            return self.is_folder(path)
        return True

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        """The names in a folder in order, and whether each is a folder (a link is none); none in what is no folder."""
        try:
            with os.scandir(folder) as found:
                return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
        except OSError:
            return ()

    def subfolders(self, folder: str) -> Sequence[str]:
        """The names of the folders in a folder that may hold code, in order: no hidden ones, no caches."""
        return [name for name, inside in self.entries(folder) if inside and not name.startswith((".", "_"))]

    def content(self, path: str, at_most: int) -> bytes:
        """The first `at_most` bytes. Raises OSError or ValueError as `open` does."""
        with open(path, "rb") as file:
            return file.read(at_most)

    def size(self, path: str) -> int:
        """Bytes of a file. Raises OSError as `os.stat` does."""
        return os.stat(path).st_size

    def version(self, path: str) -> Hashable:
        """Something that is another where the content is. Raises OSError or ValueError where there is no such file."""
        status = os.stat(path)
        return (status.st_mtime_ns, status.st_size)

    def real(self, path: str) -> str:
        """The path by which two names of one file are known to be one."""
        return os.path.realpath(path)

    def variable(self, name: str) -> str | None:
        """A variable of the environment that says where files lie; None where it is not set."""
        return os.environ.get(name)


DISK = Files()


class Watched(Files):
    """Files that remember what was asked of them: all that an evaluation depends on."""

    def __init__(self, files: Files = DISK) -> None:
        self.files = files

    def note(self, question: str, path: str) -> None:
        """A question was asked: whether there is such a "file" or "folder", the "entries" of a folder or the
        "subfolders" among them, the "content" of a file, the "real" path behind a path, or an environment
        "variable"."""
        raise NotImplementedError

    def is_file(self, path: str) -> bool:
        self.note("file", path)
        return self.files.is_file(path)

    def is_folder(self, path: str) -> bool:
        self.note("folder", path)
        return self.files.is_folder(path)

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        self.note("entries", folder)
        return self.files.entries(folder)

    def subfolders(self, folder: str) -> Sequence[str]:
        self.note("subfolders", folder)
        return self.files.subfolders(folder)

    def content(self, path: str, at_most: int) -> bytes:
        self.note("content", path)
        return self.files.content(path, at_most)

    def size(self, path: str) -> int:
        self.note("content", path)
        return self.files.size(path)

    def version(self, path: str) -> Hashable:
        self.note("content", path)
        return self.files.version(path)

    def real(self, path: str) -> str:
        self.note("real", path)
        return self.files.real(path)

    def variable(self, name: str) -> str | None:
        self.note("variable", name)
        return self.files.variable(name)


class Unsaved(Files):
    """The disk with the texts of an editor over it, which may be others than its files have, or have no file yet.

    `texts` are by absolute path; who changes one changes what is read from then on.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def text_of(self, path: str) -> str | None:
        return self.texts.get(os.path.abspath(path))

    def is_file(self, path: str) -> bool:
        return self.text_of(path) is not None or super().is_file(path)

    def is_folder(self, path: str) -> bool:
        return self.text_of(path) is None and super().is_folder(path)

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        there = super().entries(folder)
        inside = os.path.join(os.path.abspath(folder), "")
        new = {os.path.basename(path) for path in self.texts if os.path.join(os.path.dirname(path), "") == inside}
        new -= {name for name, _ in there}
        return sorted([*there, *((name, False) for name in new)]) if new else there

    def content(self, path: str, at_most: int) -> bytes:
        text = self.text_of(path)
        return super().content(path, at_most) if text is None else encoded(text)[:at_most]

    def size(self, path: str) -> int:
        text = self.text_of(path)
        return super().size(path) if text is None else len(encoded(text))

    def version(self, path: str) -> Hashable:
        text = self.text_of(path)
        return super().version(path) if text is None else ("unsaved", text)


def encoded(text: str) -> bytes:
    """A text as its file would hold it: in UTF-8, or as one of its first lines says."""
    plain = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(plain).readline)[0])
    except (SyntaxError, UnicodeError, LookupError):
        return plain
