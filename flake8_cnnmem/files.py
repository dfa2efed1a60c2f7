"""Where files are read from: the disk, or what stands for it (the tree of a git revision).

Everything that follows imports or reads a project's data asks here, and nowhere else, so that a revision is evaluated
with that revision's files.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence


class Files:
    """The disk. Paths are as `os` takes them; other places override all of these."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        """The names in a folder in order, and whether each is a folder (a link is none); none in what is no folder."""
        try:
            with os.scandir(folder) as found:
                return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
        except OSError:
            return ()

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


DISK = Files()
