"""`os`, `os.path` and `glob`: paths are text; of the file system only the project's own files and those of the packages
that it imports are seen, of the environment nothing."""

from __future__ import annotations

import glob
import os
import posixpath
from pathlib import PurePosixPath

from flake8_cnnmem.evaluate.builtins import folders
from flake8_cnnmem.evaluate.builtins.concrete import concrete, of_paths
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.builtins.files import exists
from flake8_cnnmem.evaluate.stdlib.modules import Fresh, ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Namespace, Native, Value

paths = Names()

for _name in (
    "basename",
    "dirname",
    "isabs",
    "normpath",
    "split",
    "splitext",
    "commonprefix",
    "commonpath",
    "normcase",
):
    paths[_name] = of_paths(_name, getattr(posixpath, _name))
paths["join"] = of_paths("join", posixpath.join)
for _name in ("islink", "getsize", "getmtime", "lexists", "samefile", "ismount"):
    paths[_name] = unfollowed(f"os.path.{_name}")
for _name in ("exists", "isfile"):
    paths[_name] = Native(_name, exists)
paths["isdir"] = Native("isdir", folders.is_folder)
for _name in ("expanduser", "expandvars"):
    paths[_name] = Native(_name, lambda run, path: path)


FROM_HERE = of_paths("abspath", lambda path: posixpath.normpath(posixpath.join(os.getcwd(), str(path))))
BETWEEN = of_paths(
    "relpath", lambda path, start: posixpath.relpath(*(f"/{str(each).lstrip('/')}" for each in (path, start)))
)


@paths.function("abspath")
def abspath(run: Runtime, path: Value, **kwargs: Value) -> Value:
    """From the working directory, where the script is taken to be run."""
    plain = concrete(run, path)
    if isinstance(plain, Unknown) or not isinstance(plain, (str, PurePosixPath)):
        return plain
    return FROM_HERE.function(run, plain)


paths["realpath"] = paths["abspath"]


@paths.function("relpath")
def relpath(run: Runtime, path: Value, start: Value = MISSING) -> Value:
    """`os.path.relpath(path, start)`"""
    if start is MISSING:
        return path
    plain = concrete(run, (path, start))
    if isinstance(plain, Unknown):
        return plain
    if posixpath.isabs(plain[0]) != posixpath.isabs(plain[1]):
        return run.unknown("the working directory is not known")
    return BETWEEN.function(run, *plain)


paths.update({"sep": "/", "pardir": "..", "curdir": ".", "pathsep": ":", "extsep": ".", "altsep": None})

# The environment: as on a machine where no variable is set, until the code sets one

environment = Names()


SET = "environment"
"""The key of `Run.data` for what the code has set: frameworks read some of it."""


def variables(self: Instance) -> dict[str, Value]:
    """What the program itself has put into the environment."""
    found: dict[str, Value] = self.native
    return found


def note(run: Runtime, name: Value, value: Value) -> None:
    """A variable that frameworks see, too."""
    seen = run.data(SET)
    run.changed(seen)
    seen[payload(name)] = payload(value)


@environment.function("get", propagate_unknown=False)
def get(run: Runtime, self: Instance, key: Value, default: Value = None) -> Value:
    """`os.environ.get(key, default)`: what the program put there, else the default."""
    return key if isinstance(key, Unknown) else variables(self).get(payload(key), default)


@environment.function("__getitem__")
def get_item(run: Runtime, self: Instance, key: Value) -> Value:
    """`os.environ[key]`: what the program put there; another variable is not known."""
    found = variables(self).get(payload(key), MISSING)
    return run.unknown(f"the environment variable {payload(key)} is not known") if found is MISSING else found


@environment.function("__setitem__", propagate_unknown=False)
def set_item(run: Runtime, self: Instance, key: Value, value: Value) -> None:
    """`os.environ[key] = value`"""
    if not isinstance(key, Unknown):
        run.changed(variables(self))
        variables(self)[payload(key)] = value
        note(run, key, value)


@environment.function("setdefault", propagate_unknown=False)
def setdefault(run: Runtime, self: Instance, key: Value, default: Value = None) -> Value:
    """`os.environ.setdefault(key, default)`"""
    if isinstance(key, Unknown):
        return key
    run.changed(variables(self))
    found = variables(self).setdefault(payload(key), default)
    note(run, key, found)
    return found


@environment.function("pop", propagate_unknown=False)
def pop(run: Runtime, self: Instance, key: Value, default: Value = None) -> Value:
    """`os.environ.pop(key, default)`"""
    if isinstance(key, Unknown):
        return key
    run.changed(variables(self))
    run.data(SET).pop(payload(key), None)
    return variables(self).pop(payload(key), default)


@environment.function("__delitem__")
def delete_item(run: Runtime, self: Instance, key: Value) -> None:
    """`del os.environ[key]`"""
    pop(run, self, key)


@environment.function("update", propagate_unknown=False)
def update(run: Runtime, self: Instance, other: Value = None, /, **kwargs: Value) -> None:
    """`os.environ.update(other)`"""
    inner = payload(other)
    run.changed(variables(self))
    given = {**(inner if isinstance(inner, dict) else {}), **kwargs}
    variables(self).update(given)
    for name, value in given.items():
        note(run, name, value)


environment["__contains__"] = Native("__contains__", lambda run, self, key: payload(key) in variables(self))
environment["copy"] = Native("copy", lambda run, self: dict(variables(self)))
for _name in ("keys", "values", "items", "__iter__", "__len__"):
    environment[_name] = Native(_name, lambda run, self: run.unknown("the environment is not known"))
ENVIRONMENT = native_class("_Environ", dict(environment), module="os")

names = Names()


def fresh_environment() -> Instance:
    """An environment in which the program has put nothing yet."""
    return Instance(ENVIRONMENT, native={})


names["environ"] = Fresh(fresh_environment)


@names.function("getenv", propagate_unknown=False)
def getenv(run: Runtime, key: Value, default: Value = None) -> Value:
    """`os.getenv(key, default)`: as `os.environ.get`."""
    return key if isinstance(key, Unknown) else run.data(SET).get(payload(key), default)


for _name in ("makedirs", "mkdir", "remove", "rename", "rmdir", "unlink", "chdir", "putenv", "unsetenv",
              "symlink", "link",
              "replace", "removedirs", "utime", "chmod", "kill", "close", "umask", "setpgrp", "fsync"):  # fmt: skip
    names[_name] = ignored(_name)
names["listdir"] = Native("listdir", folders.list_names)
names["walk"] = Native("walk", folders.walk)
for _name in ("scandir", "stat", "system", "popen", "access", "getpid", "cpu_count",
              "urandom", "open",
              "uname", "getlogin", "getuid", "getppid", "sched_getaffinity", "cpu_times", "times",
              "get_terminal_size", "fork"):  # fmt: skip
    names[_name] = unfollowed(f"os.{_name}")
names["getcwd"] = Native("getcwd", lambda run: os.getcwd())
names["fspath"] = Native("fspath", lambda run, path: payload(path))
names.update({
    "name": "posix", "sep": "/", "pathsep": ":", "linesep": "\n", "curdir": ".", "pardir": "..", "devnull": "/dev/null",
    "path": Namespace("os.path", lambda name: paths.get(name, MISSING)), "error": EXCEPTIONS["OSError"],
    "PathLike": native_class("PathLike", {}, module="os"),
})  # fmt: skip

patterns: dict[str, Value] = {
    "glob": Native("glob", folders.glob),
    "iglob": Native("iglob", folders.iterate),
    "escape": of_paths("escape", glob.escape),
    "has_magic": of_paths("has_magic", lambda text: folders.MAGIC.search(text) is not None),
}

MODULES: dict[str, dict[str, Value]] = {"os": names, "os.path": paths, "posixpath": paths, "glob": patterns}
