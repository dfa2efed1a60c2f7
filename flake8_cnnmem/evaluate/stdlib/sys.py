"""`sys` and `platform`: a Python 3.11 on some Linux machine, running a script without arguments."""

from __future__ import annotations

import sys
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.import_path import LIBRARY, SCRIPT
from flake8_cnnmem.evaluate.stdlib.collections import named_tuple_class
from flake8_cnnmem.evaluate.stdlib.frame_objects import running
from flake8_cnnmem.evaluate.stdlib.modules import Fresh, ignored, native_class, unfollowed
from flake8_cnnmem.evaluate.stdlib.modules_by_name import module_named
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Instance, Native, Value

names = Names()

VERSION = named_tuple_class("version_info", ["major", "minor", "micro", "releaselevel", "serial"], {})

modules = Names()


@modules.function("__getitem__")
def module(run: Runtime, self: Instance, name: Value) -> Value:
    """`sys.modules[__name__]` is the module that is running; others are those that an import would find."""
    word = payload(name)
    current: Any = getattr(run, "frame", None)
    if current is not None and current.module.name == word:
        return current.module
    found = module_named(run, word) if isinstance(word, str) else None
    return run.unknown(f"the module {word} is not among those that are followed") if found is None else found


@modules.function("get", propagate_unknown=False)
def get_module(run: Runtime, self: Instance, name: Value, default: Value = None) -> Value:
    """`sys.modules.get(name)`"""
    return module(run, self, name)


@modules.function("__contains__")
def has_module(run: Runtime, self: Instance, name: Value) -> Value:
    """A module is loaded when the code that was followed so far has imported it."""
    importer: Any = getattr(run, "importer", None)
    if importer is None:
        return run.unknown("which modules are loaded is not known")
    return importer.modules.get(payload(name)) is not None


for _name in ("__setitem__", "__delitem__", "setdefault", "pop", "update"):
    modules[_name] = ignored(_name)
for _name in ("keys", "values", "items", "__iter__", "__len__", "copy"):
    modules[_name] = unfollowed("sys.modules")
MODULE_TABLE = native_class("modules", dict(modules), module="sys")


@names.function("exit", propagate_unknown=False)
def exit_(run: Runtime, status: Value = None) -> None:
    """`sys.exit(status)`: SystemExit."""
    raise run.error("SystemExit", status)


stream: dict[str, Value] = {
    name: ignored(name) for name in ("write", "flush", "close", "writelines", "reconfigure", "__exit__")
}
stream.update({
    "isatty": ignored("isatty", False), "fileno": unfollowed("fileno"), "encoding": "utf-8",
    "read": unfollowed("read"), "readline": unfollowed("readline"), "buffer": unfollowed("buffer"),
    "__enter__": Native("__enter__", lambda run, self: self), "__iter__": unfollowed("the lines of a stream"),
})  # fmt: skip
STREAM = native_class("TextIOWrapper", stream, module="io")

for _name in ("setrecursionlimit", "settrace", "setprofile", "setswitchinterval", "audit", "set_int_max_str_digits"):
    names[_name] = ignored(_name)
for _name in ("getsizeof", "getrefcount", "_current_frames", "getallocatedblocks", "getwindowsversion"):
    names[_name] = unfollowed(f"sys.{_name}")
names["_getframe"] = Native("_getframe", running)
names["exc_info"] = ignored("exc_info", (None, None, None))
names["getrecursionlimit"] = ignored("getrecursionlimit", 1000)
names["getdefaultencoding"] = names["getfilesystemencoding"] = ignored("encoding", "utf-8")
names["intern"] = Native("intern", lambda run, text: text)
names.update({
    "version_info": Instance(VERSION, payload=(3, 11, 0, "final", 0)), "version": "3.11.0", "platform": "linux",
    "byteorder": "little", "maxsize": sys.maxsize, "maxunicode": sys.maxunicode, "executable": "python",
    "argv": Fresh(lambda: ["script"]), "path": Fresh(lambda: [SCRIPT, LIBRARY]),
    "modules": Fresh(lambda: Instance(MODULE_TABLE)),
    "stdout": Instance(STREAM), "stderr": Instance(STREAM), "stdin": Instance(STREAM), "__stdout__": Instance(STREAM),
    "flags": MISSING, "float_info": MISSING, "dont_write_bytecode": False, "prefix": "/usr", "exec_prefix": "/usr",
    "hexversion": 0x030B00F0, "api_version": 1013, "meta_path": Fresh(list), "path_hooks": Fresh(list),
    "implementation": MISSING, "builtin_module_names": ("sys", "builtins"),
    "stdlib_module_names": sys.stdlib_module_names,
})  # fmt: skip

platforms: dict[str, Value] = {
    "system": ignored("system", "Linux"), "python_version": ignored("python_version", "3.11.0"),
    "python_version_tuple": ignored("python_version_tuple", ("3", "11", "0")),
    "python_implementation": ignored("python_implementation", "CPython"), "machine": ignored("machine", "x86_64"),
}  # fmt: skip
for _name in ("node", "platform", "processor", "release", "uname", "version", "architecture", "mac_ver", "libc_ver"):
    platforms[_name] = unfollowed(f"platform.{_name}")

MODULES: dict[str, dict[str, Value]] = {"sys": names, "platform": platforms}
