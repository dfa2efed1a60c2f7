"""Files of the project that code reads as data: settings in YAML, JSON, TOML and the like. Reading runs nothing.

Only files below the working directory, the analysed file's own folder or a package that it imports are read, of the
kinds that settings are kept in, and small ones: everything else (data sets, weights, what the script writes itself)
stays unknown. What git, a shell or a person keeps to itself is never read, by whatever link it is reached: code of
somebody else's could put it into a report.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

KINDS = frozenset(
    (
        *(".yaml", ".yml", ".json", ".jsonc", ".json5", ".jsonl", ".toml", ".ini", ".cfg", ".conf", ".config", ".gin"),
        *(".properties", ".jsonnet", ".hocon", ".prototxt", ".py", ".txt", ".csv", ".tsv", ".names", ".data"),
        *(".labels", ".classes", ".list", ".lst", ".vocab"),
    )
)
"""Endings of the files that settings, the names of classes and the like are kept in."""

SOURCES = frozenset((".py", ".yaml", ".yml", ".toml", ".cfg", ".ini"))
"""Endings of what people write and keep with the code: what is not there now is not there where the code runs."""

SECRETS = frozenset(
    (
        *("secret", "secrets", "credential", "credentials", "password", "passwords", "passwd", "passphrase", "token"),
        *("apikey", "htpasswd", "netrc", "kubeconfig", "shadow"),
    )
)
SECRET_KEYS = frozenset(("api", "private", "secret", "ssh", "access"))
"""Words of names that hold what nobody is to read; in front of `key` these, too."""

PLACE_STEPS = 8
"""What a question to the disk costs."""

LARGEST = 200_000
"""Bytes of a settings file. Label files and vocabularies may be larger, and tell nothing of a model."""

READ = "settings files"
"""Scratch of the run: by path what has been read."""

NOT_READ = "what a file holds is not known"


def place(run: Runtime, path: Value, also: Sequence[str] = ()) -> str | None:
    """Where a file of the project lies; None for what is no file of the project, nor of the folders in `also`."""
    plain = payload(path)
    importer: Any = getattr(run, "importer", None)
    if importer is None or isinstance(plain, (Unknown, bytes, int)) or not str(plain) or "\0" in str(plain):
        return None
    files = importer.files
    run.spend(PLACE_STEPS)
    for base in bases(run):
        candidate = os.path.normpath(os.path.join(base, str(plain)))
        own = any(is_below(candidate, folder) for folder in also)
        if (not own and not may_be_read(candidate)) or not files.is_file(candidate):
            continue
        real = files.real(candidate)
        roots = [files.real(folder) for folder in (*bases(run), *also, *packages_of(importer, candidate))]
        inside = next((real[len(root) :] for root in roots if is_below(real, root)), None)
        if inside is not None and (own or may_be_read(inside)) and not is_kept_back(inside):
            return candidate
    return None


def bases(run: Any) -> tuple[str, str]:
    """From where relative paths are taken: the working directory, and the analysed file's folder."""
    script = os.path.dirname(os.path.abspath(run.trace.path)) if run.trace.path else os.getcwd()
    return os.getcwd(), script


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder or below."""
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def packages_of(importer: Any, path: str) -> list[str]:
    """The folder of the package that a path lies in, if something of the package has been imported."""
    return [folder for folder in importer.package_folders() if is_below(path, folder) or path == folder]


def may_be_read(path: str) -> bool:
    """Whether a file is of a kind that settings are kept in."""
    return os.path.splitext(path)[1].lower() in KINDS


def is_kept_back(path: str) -> bool:
    """Whether a path from the project's root is hidden (`.git`, `.env`, `.aws`), or named as what holds secrets."""
    for part in path.replace(os.sep, "/").split("/"):
        if part.startswith(".") and part not in (".", ".."):
            return True
        words = re.findall(r"[a-z]+", part.lower())
        if not SECRETS.isdisjoint(words) or any(
            second in ("key", "keys") and first in SECRET_KEYS for first, second in itertools.pairwise(words)
        ):
            return True
    return False


def content(run: Runtime, path: Value, also: Sequence[str] = ()) -> bytes | Unknown:
    """The bytes of a file of the project; Unknown for any other file."""
    if isinstance(path, Unknown):
        return path
    found = place(run, path, also)
    importer: Any = getattr(run, "importer", None)
    if found is None:
        return run.unknown(NOT_READ)
    try:
        if importer.files.size(found) > LARGEST:
            return run.unknown("a file is too large to be read")
        data: bytes = importer.files.content(found, LARGEST)
    except (OSError, ValueError):
        return run.unknown(NOT_READ)
    run.spend(len(data) // 64)
    run.data(READ)[found] = data
    return data


def text(run: Runtime, path: Value, also: Sequence[str] = ()) -> str | Unknown:
    """A text file's content, decoded as UTF-8, or why it is not read. `also`: endings that are read beside the usual
    ones."""
    data = content(run, path, also)
    if isinstance(data, Unknown):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return run.unknown("a file is not in UTF-8")


methods = Names()

AT = "_at"
"""Where a file keeps how much of it has been read: among its attributes, which branches give back."""


def advance(run: Runtime, self: Instance, length: int | None = None) -> str | bytes:
    """The next so many characters (or bytes) of a file, all that is left by default."""
    at = self.attributes[AT]
    found: str | bytes = self.native[at:] if length is None else self.native[at : at + length]
    run.changed(self)
    self.attributes[AT] = at + len(found)
    return found


@methods.function("read")
def read(run: Runtime, self: Instance, size: Value = -1) -> Value:
    """`file.read(size)`: what is left, or as many characters."""
    if isinstance(self.attributes[AT], Unknown):
        return self.attributes[AT]
    if size is None or (isinstance(size, int) and size < 0):
        return advance(run, self)
    return advance(run, self, size) if isinstance(size, int) else run.unknown("part of a file is read")


@methods.function("readline")
def readline(run: Runtime, self: Instance, size: Value = -1) -> Value:
    """`file.readline()`: up to the next line's end; unknown for part of a line."""
    at = self.attributes[AT]
    if isinstance(at, Unknown) or size != -1:
        return at if isinstance(at, Unknown) else run.unknown("part of a file is read")
    end = self.native.find(b"\n" if isinstance(self.native, bytes) else "\n", at)
    return advance(run, self, None if end < 0 else end + 1 - at)


@methods.function("readlines")
def readlines(run: Runtime, self: Instance, hint: Value = -1) -> Value:
    """`file.readlines()`: the lines that are left, with their ends."""
    at = self.attributes[AT]
    return at if isinstance(at, Unknown) else list(advance(run, self).splitlines(keepends=True))


@methods.function("__iter__")
def iterate(run: Runtime, self: Instance) -> Value:
    """An iterator over the lines that are left."""
    at = self.attributes[AT]
    return at if isinstance(at, Unknown) else iter(advance(run, self).splitlines(keepends=True))


@methods.function("__next__")
def following(run: Runtime, self: Instance) -> Value:
    """`next(file)`: the next line. StopIteration at the end."""
    line = readline(run, self)
    if not isinstance(line, Unknown) and not line:
        raise run.error("StopIteration", "")
    return line


@methods.function("seek")
def seek(run: Runtime, self: Instance, offset: Value = 0, whence: Value = 0) -> Value:
    """`file.seek(offset)`: a place counted from the start; another one is not known."""
    known = type(offset) is int and offset >= 0 and whence == 0
    run.changed(self)
    self.attributes[AT] = offset if known else run.unknown("part of a file is read")
    return self.attributes[AT]


@methods.function("tell")
def tell(run: Runtime, self: Instance) -> Value:
    """`file.tell()`: the place of the next character."""
    return self.attributes[AT]


def enter(run: Runtime, self: Instance) -> Value:
    """`with open(...) as file`: the file itself."""
    return self


def nothing(run: Runtime, self: Instance, *args: Value) -> Value:
    """What closes or flushes a file."""
    return None


methods["__enter__"] = Native("__enter__", enter)
for _name in ("__exit__", "close", "flush"):
    methods[_name] = Native(_name, nothing, propagate_unknown=False)
for _name in ("fileno",):
    methods[_name] = Native(
        _name, lambda run, self, *args: run.unknown("part of a file is read"), propagate_unknown=False
    )
FILE = Class("TextIOWrapper", (OBJECT,), dict(methods), module="io")


def open_(
    run: Runtime, file: Value, mode: Value = "r", buffering: Value = -1, encoding: Value = None, *args: Value,
    **kwargs: Value,
) -> Value:  # fmt: skip
    """A file of the project that is read; anything else is unknown, and nothing is ever written."""
    kind = payload(mode)
    if not isinstance(kind, str) or any(letter in kind for letter in "wax+"):
        return run.unknown(NOT_READ)
    found = content(run, file) if "b" in kind else text(run, file)
    if isinstance(found, Unknown):
        return found
    return Instance(FILE, {"name": str(payload(file)), "mode": kind, "closed": False, AT: 0}, native=found)


OPEN = Native("open", open_, propagate_unknown=False)


def held(run: Runtime, source: Value) -> str | Unknown:
    """The text of an open file, or of a text itself; Unknown for other streams."""
    if isinstance(source, Instance) and source.cls is FILE:
        source = source.native
    plain = payload(source)
    if isinstance(plain, bytes):
        try:
            return plain.decode("utf-8-sig")
        except UnicodeDecodeError:
            return run.unknown("a file is not in UTF-8")
    return plain if isinstance(plain, (str, Unknown)) else run.unknown(NOT_READ)


def exists(run: Runtime, path: Value) -> Value:
    """True for a file of the project. What people write themselves is not there if it is neither in a package where it
    is asked for, nor, by its bare name, where a script is run; of anything else nobody knows."""
    if place(run, path) is not None:
        return True
    plain, importer = payload(path), getattr(run, "importer", None)
    if importer is not None and not isinstance(plain, (Unknown, bytes, int)):
        text = str(plain)
        named = os.path.splitext(text)[1].lower() in SOURCES and not is_kept_back(text)
        bare = text == os.path.basename(text) and not is_there(run, text)
        if named and (bare or (packages_of(importer, text) and not importer.files.exists(text))):
            return False
    return run.unknown("whether a file exists is not known")


def is_there(run: Any, name: str) -> bool:
    """Whether there is anything of this name where a script is run."""
    return any(run.importer.files.exists(os.path.join(base, name)) for base in bases(run))
