"""`pathlib`: paths that the code itself writes are joined and cut; nothing is looked up on disk."""

from __future__ import annotations

import operator
import os
import posixpath
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.evaluate.builtins import files
from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, host_property, made, payload
from flake8_cnnmem.evaluate.builtins.known import hosted, known
from flake8_cnnmem.evaluate.stdlib.modules import ignored, unfollowed
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Native, Property, Run, Value

paths = Names()


@paths.function("__new__")
def new(run: Run, cls: Class, *parts: Value, **kwargs: Value) -> Value:
    plain = known(run, parts)
    return plain if isinstance(plain, Unknown) else made(run, cls, PurePosixPath(*plain))


for _name in ("as_posix", "is_absolute", "is_relative_to", "joinpath", "match", "relative_to", "with_name", "with_stem",
              "with_suffix", "as_uri"):  # fmt: skip
    paths[_name] = hosted(_name, getattr(PurePosixPath, _name))
paths["__truediv__"] = hosted("__truediv__", operator.truediv)
paths["__rtruediv__"] = hosted("__rtruediv__", lambda self, other: other / self)
paths["__fspath__"] = hosted("__fspath__", str)
paths["__str__"] = hosted("__str__", str)
for _name in ("parent", "name", "stem", "suffix", "suffixes", "parts", "anchor", "root", "drive"):
    paths[_name] = host_property(_name)


def parents(run: Run, self: Any) -> Value:
    return tuple(payload(self).parents)


paths["parents"] = Property(Native("parents", parents))
paths["expanduser"] = Native("expanduser", lambda run, self: self)


@paths.function("resolve")
def resolve(run: Run, self: Any, *args: Value, **kwargs: Value) -> Value:
    """From the working directory, where the script is taken to be run."""
    absolute = posixpath.normpath(posixpath.join(os.getcwd(), str(payload(self))))
    return self if absolute == str(payload(self)) else PurePosixPath(absolute)


paths["absolute"] = paths["resolve"]
paths["read_text"] = Native("read_text", lambda run, self, *args, **kwargs: files.text(run, self), absorb=False)
paths["read_bytes"] = Native("read_bytes", lambda run, self: files.content(run, self), absorb=False)
paths["open"] = files.OPEN
paths["exists"] = paths["is_file"] = Native("exists", files.exists)
for _name in ("is_dir", "stat", "iterdir", "glob",
              "rglob", "owner",
              "samefile", "is_symlink", "lstat"):  # fmt: skip
    paths[_name] = unfollowed(f"Path.{_name}")
for _name in (
    "mkdir",
    "touch",
    "unlink",
    "rmdir",
    "write_text",
    "write_bytes",
    "rename",
    "replace",
    "symlink_to",
    "chmod",
):
    paths[_name] = ignored(_name)
for _name in ("cwd", "home"):
    paths[_name] = ClassMethod(unfollowed(f"Path.{_name}"))

PATH = host_class("PosixPath", PurePosixPath, dict(paths), module="pathlib")

MODULES: dict[str, dict[str, Value]] = {
    "pathlib": dict.fromkeys(("Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), PATH)
}
