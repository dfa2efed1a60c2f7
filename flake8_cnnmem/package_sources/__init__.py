"""Sources of packages that are not installed: the Python files of wheels, kept beside the cache of findings.

A folder holds one folder a package, `NAME/code` with its files and `NAME/record.json` with where they are from. They
are looked up last, after everything that is installed. Nothing in them is ever imported or run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from flake8_cnnmem.cache.store import FOLDER, home_folder, is_ours, make
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings.pins import normalised
from flake8_cnnmem.text.files import DISK, Files

SOURCES, CODE, RECORD = "sources", "code", "record.json"

LARGEST_RECORD = 100_000


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one package. `verified` names the lock file whose hash its wheel has; None without one."""

    name: str
    version: str
    wheel: str
    sha256: str
    files: int
    bytes: int
    verified: str | None = None


class SourcesError(Exception):
    """The folder of sources cannot be used; the message is one plain sentence."""


def project_folder(cache_dir: str | None) -> str:
    """The folder of a project's sources: beside the cache of findings, also where that one is turned off."""
    return os.path.join(os.path.abspath(cache_dir or FOLDER), SOURCES)


def user_folder() -> str | None:
    """The folder of the user's own; None without a home."""
    home = home_folder()
    return None if home is None else os.path.join(home, SOURCES)


def code_folders(cache_dir: str | None, files: Files = DISK) -> Iterator[str]:
    """The folders to look imports up in: the project's before the user's."""
    for folder in (project_folder(cache_dir), user_folder()):
        for name, below in files.entries(folder) if folder is not None else ():
            if below and not name.startswith("."):
                yield os.path.join(str(folder), name, CODE)


def records(folder: str) -> list[Record]:
    """What a folder holds, by name; what is not ours, or damaged, is passed over."""
    found = []
    for name, below in DISK.entries(folder):
        if below and not name.startswith("."):
            try:
                said = json.loads(DISK.content(os.path.join(folder, name, RECORD), LARGEST_RECORD))
                found.append(Record(**said))
            except (OSError, ValueError, TypeError, RecursionError):
                continue
    return found


def keep(folder: str, record: Record, code: str) -> None:
    """Put a package's files into their place, in that of an earlier version: whole, or not at all.

    `code` is the folder that they are in, which is moved. Raises SourcesError.
    """
    prepare(folder)
    name = normalised(record.name)
    part = os.path.join(folder, f".{name}.{os.urandom(4).hex()}")
    try:
        os.mkdir(part)
        shutil.move(code, os.path.join(part, CODE))
        with open(os.path.join(part, RECORD), "x", encoding="utf-8") as file:
            json.dump(asdict(record), file, indent=1)
        remove(folder, [name])
        os.rename(part, os.path.join(folder, name))
    except OSError as error:
        raise SourcesError(f"{folder} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def remove(folder: str, names: Sequence[str]) -> list[str]:
    """Delete packages; gives the names of those that were there. Raises SourcesError for a folder that is not ours."""
    gone = []
    for name in map(normalised, names):
        place = os.path.join(folder, name)
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name) or os.path.islink(place) or not os.path.isdir(place):
            continue
        check_is_ours(folder)
        shutil.rmtree(place)
        gone.append(name)
    return gone


def prepare(folder: str) -> None:
    """Make the folder, within the cache's, which is made where there is none. Raises SourcesError."""
    cache = os.path.dirname(folder)
    try:
        if os.path.islink(cache):
            raise SourcesError(f"{cache} is a link: nothing is written there")
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        make(cache)
        make(folder)
    except OSError as error:
        raise SourcesError(f"{folder} cannot be made: {error.strerror or error}") from None
    check_is_ours(folder)


def check_is_ours(folder: str) -> None:
    """Raises SourcesError where the folder has not our tag, or is a link to elsewhere."""
    if not is_ours(folder):
        raise SourcesError(f"{folder} is no folder of cnnmem's: nothing is written or deleted there")
