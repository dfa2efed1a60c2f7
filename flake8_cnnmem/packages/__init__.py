"""Third-party packages that are no framework: one file or folder each, found by the name that code imports.

To add one is to add a file of its name with

`MODULES`: its modules by dotted name, each a mapping from names to values (or a function from a name to a value or
MISSING), in the place of its source (`package.files.*` stands for all below that are not named), and, where they help,
`STAND_INS`: modules that are known when their source is not found, as `MODULES` are written, and
`PLACED`: by module or class what stands in the place of names of a source that is read.

Files whose name begins with an underscore are what several of them share.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import TypeAlias

from flake8_cnnmem.evaluate.stdlib import lookup_in
from flake8_cnnmem.values import MISSING, Namespace, Value

STANDS = "STAND_INS"

Contents: TypeAlias = "Mapping[str, Value] | Callable[[str], Value]"


@cache
def package(top: str) -> ModuleType | None:
    """The file that answers for a package of this name."""
    if not top.isidentifier() or top.startswith("_"):
        return None
    name = f"{__name__}.{top}"
    return importlib.import_module(name) if importlib.util.find_spec(name) is not None else None


def find_module(dotted: str) -> Namespace | None:
    """A module that stands in the place of its source, or None. A new one each time: the caller keeps it for an
    evaluation."""
    return found_in("MODULES", dotted)


def stand_in(dotted: str) -> Namespace | None:
    """What is known of a module whose source is not found."""
    return found_in(STANDS, dotted)


def stands_for_all(top: str) -> bool:
    """Whether nothing of a package's source is read."""
    return f"{top}.*" in getattr(package(top), "MODULES", {})


def placed_in(dotted: str) -> Mapping[str, Value]:
    """What stands in the place of names of a module, or class, that is read from its source otherwise."""
    found = package(dotted.partition(".")[0])
    placed: Mapping[str, Mapping[str, Value]] = getattr(found, "PLACED", {})
    return placed.get(dotted, {})


def found_in(table: str, dotted: str) -> Namespace | None:
    """A module by one of a package's tables. A package whose own name is in it holds those that are above others."""
    top = dotted.partition(".")[0]
    modules: Mapping[str, Contents] = getattr(package(top), table, {})
    contents = modules.get(dotted, below(modules, dotted))
    if contents is None:
        if top not in modules or not any(name.startswith(f"{dotted}.") for name in modules):
            return None
        contents = {}
    own = contents if callable(contents) else lookup_in(contents)
    inner: dict[str, Namespace | None] = {}

    def look_up(name: str) -> Value:
        value = own(name)
        if value is not MISSING:
            return value
        if name not in inner and below(modules, f"{dotted}.{name}") is None:
            inner[name] = find_module(f"{dotted}.{name}") or (stand_in(f"{dotted}.{name}") if table == STANDS else None)
        return inner.get(name) or MISSING

    return Namespace(dotted, look_up, stands_in=table == STANDS)


def below(modules: Mapping[str, Contents], dotted: str) -> Contents | None:
    """What stands for all modules of a package that are not named, of the innermost one."""
    while dotted:
        found = modules.get(f"{dotted}.*")
        if found is not None:
            return found
        dotted = dotted.rpartition(".")[0]
    return None
