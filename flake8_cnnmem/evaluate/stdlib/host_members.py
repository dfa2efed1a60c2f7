"""What objects of the library's classes have beside what is modelled of them: read off the classes of the Python that
runs the analysis."""

from __future__ import annotations

import dis
import importlib
import importlib.util
import os
import sys
import sysconfig
from functools import cache
from types import FunctionType

from flake8_cnnmem.values import Class


def has_member(cls: Class, name: str) -> bool:
    """Whether objects of a native class of the library have an attribute of this name."""
    return cls.module.partition(".")[0] in sys.stdlib_module_names and name in members(cls.module, cls.name)


def is_pythons_own(module: str) -> bool:
    """Whether importing a module would read Python's own file of it: a project may have one of the same name, which is
    never run."""
    if module in sys.modules:
        return True
    top = module.partition(".")[0]
    found = importlib.util.find_spec(top) if top in sys.stdlib_module_names else None
    if found is None or (module != top and top not in sys.modules):
        return False
    place = os.path.realpath(found.origin or "")
    return found.origin in ("built-in", "frozen") or place.startswith(os.path.realpath(sysconfig.get_path("stdlib")))


@cache
def members(module: str, name: str) -> frozenset[str]:
    """The attributes of a class, and those that its methods set on its objects: of argparse's parser `_actions`."""
    host = getattr(importlib.import_module(module), name, None) if is_pythons_own(module) else None
    if not isinstance(host, type):
        return frozenset()
    found = set(dir(host))
    for each in host.__mro__:
        for function in vars(each).values():
            if isinstance(function, FunctionType):
                found |= {step.argval for step in dis.get_instructions(function) if step.opname == "STORE_ATTR"}
    return frozenset(found)
