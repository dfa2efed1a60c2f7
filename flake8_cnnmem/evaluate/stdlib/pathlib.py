"""`pathlib`: paths that the code itself writes are joined and cut; nothing is looked up on disk."""

from __future__ import annotations

import operator
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, made, payload
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
    paths[_name] = Property(Native(_name, lambda run, self, word=_name: getattr(payload(self), word)))


def parents(run: Run, self: Any) -> Value:
    return tuple(payload(self).parents)


paths["parents"] = Property(Native("parents", parents))
for _name in ("absolute", "resolve", "expanduser"):
    paths[_name] = Native(_name, lambda run, self, *args, **kwargs: self)
for _name in ("exists", "is_file", "is_dir", "stat", "read_text", "read_bytes", "open", "iterdir", "glob",
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
