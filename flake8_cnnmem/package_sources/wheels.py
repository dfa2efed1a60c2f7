"""The Python files of a wheel, taken out with care: a wheel is a stranger's archive.

Only regular `.py` files are written, each within the folder that is given. What an archive does to reach elsewhere, to
grow beyond bounds or to hide one file behind another is an error for the whole of it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings.pins import normalised

LARGEST_FILE = 16 * 2**20
LARGEST_IN_ALL = 512 * 2**20
MOST_FILES = 50_000
MOST_MEMBERS = 200_000
DEEPEST = 40
LONGEST_PATH = 400

ENDING = ".py"

NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>[\w.!+]+)(-\d\w*)?-(?P<tags>[\w.]+-[\w.]+-[\w.]+)\.whl")
"""A wheel's file name: distribution, version, an optional build, three tags (packaging.python.org, binary format)."""

RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


class BadWheel(Exception):
    """A file that is no wheel, or one that must not be unpacked; the message is one plain sentence."""


@dataclass(frozen=True, slots=True)
class Wheel:
    path: str
    name: str
    version: str

    @classmethod
    def of(cls, path: str) -> Wheel:
        """A wheel by its file name. Raises BadWheel."""
        found = NAME.fullmatch(os.path.basename(path))
        if found is None:
            raise BadWheel(f"{os.path.basename(path)} is no wheel")
        return cls(path, normalised(found["name"]), found["version"])

    def sha256(self) -> str:
        """Its SHA-256 sum in hexadecimal. Raises OSError."""
        whole = hashlib.sha256()
        with open(self.path, "rb") as file:
            while block := file.read(2**20):
                whole.update(block)
        return whole.hexdigest()


def unpack(wheel: Wheel, folder: str) -> tuple[int, int]:
    """Write a wheel's Python files into an empty folder; gives their number and bytes.

    Raises BadWheel for an archive that cannot be read, or that must not be; OSError where nothing can be written.
    """
    try:
        with zipfile.ZipFile(wheel.path) as archive:
            wanted = members(archive)
            total = 0
            for place, member in wanted.items():
                with archive.open(member) as file:
                    # What the archive says of a size is not believed.
                    content = file.read(LARGEST_FILE + 1)
                total += len(content)
                if len(content) > LARGEST_FILE or total > LARGEST_IN_ALL:
                    raise BadWheel(f"{os.path.basename(wheel.path)} unpacks to more than is kept of one package")
                path = os.path.join(folder, *place.split("/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "xb") as out:
                    out.write(content)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        struct.error,
    ) as bad:
        raise BadWheel(f"{os.path.basename(wheel.path)} is damaged: {bad}") from None
    return len(wanted), total


def members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The Python files, by their place in the folder of packages. Raises BadWheel for what is not safe in
    any of them."""
    listed = archive.infolist()
    if len(listed) > MOST_MEMBERS:
        raise BadWheel("the wheel has more files than are read")
    found: dict[str, zipfile.ZipInfo] = {}
    taken: set[str] = set()
    for member in listed:
        name = member.filename
        check_path(name)
        mode = member.external_attr >> 16
        if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0):
            raise BadWheel(f"{name!r} in the wheel is no regular file")
        place = place_of(name)
        if place is None:
            continue
        if member.flag_bits & 1:
            raise BadWheel(f"{name!r} in the wheel is encrypted")
        if place.casefold() in taken:
            raise BadWheel(f"{name!r} is in the wheel twice")
        taken.add(place.casefold())
        found[place] = member
        if len(found) > MOST_FILES:
            raise BadWheel("the wheel has more Python files than are kept")
    for place in found:
        parts = place.casefold().split("/")
        if any("/".join(parts[:length]) in taken for length in range(1, len(parts))):
            raise BadWheel(f"{place!r} in the wheel lies below a file")
    return found


def check_path(name: str) -> None:
    """Raises BadWheel for a path that is not plainly below the folder that it is written to, on any system."""
    parts = name.removesuffix("/").split("/")
    plain = not re.search(r"[\x00-\x1f\x7f\\:*?\"<>|]", name)
    inside = all(part not in ("", ".", "..") and not part.endswith((" ", ".")) for part in parts)
    if not plain or not inside or len(parts) > DEEPEST or len(name) > LONGEST_PATH:
        raise BadWheel(f"{name[:80]!r} in the wheel is no path within a package")
    if any(RESERVED.fullmatch(part) for part in parts):
        raise BadWheel(f"{name[:80]!r} in the wheel is a device on Windows")


def place_of(name: str) -> str | None:
    """Where a member is installed below the folder of packages; None for what is not kept. `NAME.data/purelib` and
    `platlib` are spread over that folder, all else of `.data` goes elsewhere."""
    parts = name.split("/")
    if parts[0].endswith(".dist-info"):
        return None
    if parts[0].endswith(".data"):
        if len(parts) < 3 or parts[1] not in ("purelib", "platlib"):
            return None
        parts = parts[2:]
    return "/".join(parts) if parts[-1].endswith(ENDING) and parts[-1] != ENDING else None
