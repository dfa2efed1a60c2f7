"""`pathlib`: paths that the code itself writes are joined and cut; of the disk only what `os` sees is looked up."""

from __future__ import annotations

import operator
import os
import posixpath
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.evaluate.builtins import files, folders
from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.concrete import of_paths
from flake8_cnnmem.evaluate.builtins.declare import Names, host_property, made, payload
from flake8_cnnmem.evaluate.stdlib.modules import ignored, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Native, Property, Value

paths = Names()
MAKE = of_paths("__new__", PurePosixPath)


@paths.function("__new__")
def new(run: Runtime, cls: Class, *parts: Value, **kwargs: Value) -> Value:
    """`Path(*parts)`, also of a subclass."""
    plain = MAKE.function(run, *parts)
    return plain if isinstance(plain, Unknown) else made(run, cls, plain)


for _name in ("as_posix", "is_absolute", "is_relative_to", "joinpath", "match", "relative_to", "with_name", "with_stem",
              "with_suffix", "as_uri"):  # fmt: skip
    paths[_name] = of_paths(_name, getattr(PurePosixPath, _name))
paths["__truediv__"] = of_paths("__truediv__", operator.truediv)
paths["__rtruediv__"] = of_paths("__rtruediv__", lambda self, other: other / self)
paths["__fspath__"] = of_paths("__fspath__", str)
paths["__str__"] = of_paths("__str__", str)
for _name in ("parent", "name", "stem", "suffix", "suffixes", "parts", "anchor", "root", "drive"):
    paths[_name] = host_property(_name)


def parents(run: Runtime, self: Any) -> Value:
    """`path.parents`: each folder above, the nearest first."""
    found = payload(self).parents
    # Each is as long as the path, by and large.
    run.spend(len(found) * (4 + len(found) // 16))
    return tuple(found)


paths["parents"] = Property(Native("parents", parents))
paths["expanduser"] = Native("expanduser", lambda run, self: self)


@paths.function("resolve")
def resolve(run: Runtime, self: Any, *args: Value, **kwargs: Value) -> Value:
    """From the working directory, where the script is taken to be run."""
    absolute = posixpath.normpath(posixpath.join(os.getcwd(), str(payload(self))))
    return self if absolute == str(payload(self)) else PurePosixPath(absolute)


paths["absolute"] = paths["resolve"]
paths["read_text"] = Native(
    "read_text", lambda run, self, *args, **kwargs: files.text(run, self), propagate_unknown=False
)
paths["read_bytes"] = Native("read_bytes", lambda run, self: files.content(run, self), propagate_unknown=False)
paths["open"] = files.OPEN
paths["exists"] = paths["is_file"] = Native("exists", files.exists)
paths["is_dir"] = Native("is_dir", folders.is_folder)
paths["iterdir"] = Native("iterdir", lambda run, self: folders.inner(run, self))
paths["glob"] = Native("glob", lambda run, self, pattern: folders.inner(run, self, pattern))
paths["rglob"] = Native("rglob", lambda run, self, pattern: folders.inner(run, self, pattern, recursive=True))
for _name in ("stat", "owner", "samefile", "is_symlink", "lstat"):
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
paths["home"] = ClassMethod(unfollowed("Path.home"))
paths["cwd"] = ClassMethod(Native("cwd", lambda run, cls: PurePosixPath(os.getcwd())))

PATH = host_class("PosixPath", PurePosixPath, dict(paths), module="pathlib")

MODULES: dict[str, dict[str, Value]] = {
    "pathlib": dict.fromkeys(("Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), PATH)
}
