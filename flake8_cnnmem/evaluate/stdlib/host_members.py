"""What objects of the library's classes have beside what is modelled of them: read off the classes of the Python that
runs the analysis."""

from __future__ import annotations

import dis
import importlib
import sys
from functools import cache
from types import FunctionType

from flake8_cnnmem.values import Class


def has_member(cls: Class, name: str) -> bool:
    """Whether objects of a native class of the library have an attribute of this name."""
    return cls.module.partition(".")[0] in sys.stdlib_module_names and name in members(cls.module, cls.name)


@cache
def members(module: str, name: str) -> frozenset[str]:
    """The attributes of a class, and those that its methods set on its objects: of argparse's parser `_actions`."""
    try:
        host = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return frozenset()
    if not isinstance(host, type):
        return frozenset()
    found = set(dir(host))
    for each in host.__mro__:
        for function in vars(each).values():
            if isinstance(function, FunctionType):
                found |= {step.argval for step in dis.get_instructions(function) if step.opname == "STORE_ATTR"}
    return frozenset(found)
