"""The folder of the cache: one file an entry, signed, written whole or not at all.

A file's first line is a keyed hash of the rest. The key is the user's own and lies outside every project
(`~/.cache/cnnmem/key`), or is the value of CNNMEM_CACHE_KEY where several machines share a cache: what a repository
brings with it is not signed with it and is passed over. Entries are JSON, nothing in them is ever executed. Whatever is
wrong with the folder (damaged, foreign, not writable, full) is no error: then there is no cache.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from flake8_cnnmem.cache.recording import Verifier

FOLDER = ".cnnmem_cache"
"""Its name in the working directory, unless an option says otherwise."""

KEY_VARIABLE = "CNNMEM_CACHE_KEY"

TAG = "CACHEDIR.TAG"
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of cnnmem. It may be deleted at any time.\n"
"""What backup programs know a cache by: https://bford.info/cachedir/. A folder without it is not ours."""

ENDING = ".json"

LARGEST_ENTRY = 8 * 2**20

MOST = 64 * 2**20
"""Bytes of all entries; the oldest go first."""

LOOKED_AT = 64
"""After every so many entries on the average the folder is looked at."""


class Store:
    """Entries by their name, in a folder that is known to be a cache of ours."""

    def __init__(self, folder: str, key: bytes) -> None:
        self.folder = folder
        self.key = key
        self.verifier = Verifier()

    @classmethod
    def open(cls, folder: str) -> Store | None:
        """The store in a folder, which is made when the first entry is written; None where there can be none."""
        key = own_key()
        if key is None or (os.path.lexists(folder) and not is_ours(folder)):
            return None
        return cls(folder, key)

    def get(self, name: str) -> dict[str, Any] | None:
        """An entry; None where there is none that we have written."""
        import hmac

        try:
            with open(self.path(name), "rb") as file:
                signature, _, body = file.read(LARGEST_ENTRY).partition(b"\n")
            if not hmac.compare_digest(signature, self.signature(name, body)):
                return None
            found = json.loads(body)
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, name: str, entry: dict[str, Any]) -> None:
        """Keep an entry, in the place of the one before."""
        body = json.dumps(entry, separators=(",", ":")).encode()
        if len(body) + 128 > LARGEST_ENTRY:
            return
        if not self.ready:
            return
        part = self.path(f"{name}.{os.getpid()}.{os.urandom(4).hex()}")[: -len(ENDING)] + ".part"
        try:
            with open(part, "xb") as file:
                file.write(self.signature(name, body) + b"\n" + body)
            os.replace(part, self.path(name))
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(part)
            return
        if int(name[:8], 16) % LOOKED_AT == 0:
            self.shrink()

    @cached_property
    def ready(self) -> bool:
        """Whether entries can be written."""
        try:
            make(self.folder)
        except OSError:
            return False
        return is_ours(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name + ENDING)

    def signature(self, name: str, body: bytes) -> bytes:
        import hashlib
        import hmac

        return hmac.new(self.key, name.encode() + b"\n" + body, hashlib.sha256).hexdigest().encode()

    def entries(self) -> Iterator[tuple[float, int, str]]:
        """Of every file of the store: when it was written, its bytes, its path."""
        with contextlib.suppress(OSError), os.scandir(self.folder) as found:
            for entry in found:
                if entry.name.endswith((ENDING, ".part")):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.path

    def shrink(self, most: int = MOST) -> None:
        """The oldest entries go until the rest is within so many bytes."""
        found = sorted(self.entries())
        left = sum(size for _, size, _ in found)
        for _, size, path in found:
            if left <= most:
                return
            with contextlib.suppress(OSError):
                os.remove(path)
            left -= size


def make(folder: str) -> None:
    """A new folder for the cache, which git passes over. One that is there is left as it is. Raises OSError."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        return
    for name, text in ((".gitignore", "*\n"), (TAG, TAG_TEXT)):
        with open(os.path.join(folder, name), "x", encoding="utf-8") as file:
            file.write(text)


def is_ours(folder: str) -> bool:
    """Whether a folder is a cache that we may write to and delete from: it has our tag, and is no link to elsewhere."""
    try:
        with open(os.path.join(folder, TAG), encoding="utf-8", errors="replace") as file:
            return file.read(len(TAG_TEXT) + 1) == TAG_TEXT and not os.path.islink(folder.rstrip(os.sep))
    except OSError:
        return False


def own_key() -> bytes | None:
    """The user's key, made where there is none; None where it can neither be read nor written."""
    given = os.environ.get(KEY_VARIABLE)
    if given:
        return given.encode("utf-8", "surrogatepass")
    home = home_folder()
    if home is None:
        return None
    path = os.path.join(home, "key")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(made, "w", encoding="ascii") as file:
                file.write(os.urandom(32).hex())
        with open(path, "rb") as file:
            key = file.read(64)
    except OSError:
        return None
    # Another process may be about to write it.
    return key if len(key) == 64 else None


def home_folder() -> str | None:
    """The folder of what is the user's own, by the XDG base directory specification; None without a home."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "cnnmem") if os.path.isabs(home) else None
