"""Where imports are looked up: the project's own folders, its environments, and what their `.pth` files add.

Environments are found as those who make them place them, and read; nothing of them is run. A hook runs in one of its
own, which `VIRTUAL_ENV` then names: that is the running interpreter's, and comes last as always.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence

from flake8_cnnmem.files import Files

BESIDE = (".venv", "venv", "env")
"""What people call an environment in the project's root; uv and poetry (`virtualenvs.in-project`) take the first."""

NAMED = ("UV_PROJECT_ENVIRONMENT", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables that name an environment: where uv is told to keep the project's, and what is activated."""

LARGEST = 200_000
"""Bytes of a file that says what else is looked up."""

MOST_ADDED = 64


def search_folders(own: Sequence[str], root: str, files: Files) -> list[str]:
    """The folders that are there: `own` first, then the packages of the project's environments, then those of the
    running interpreter."""
    found: list[str] = [*own]
    for environment in environments(root, files):
        for packages in site_packages(environment, files):
            if files.is_folder(packages):
                found += [packages, *added_by(packages, files)]
    found += sys.path
    absolute = (os.path.abspath(folder) for folder in found if folder and files.is_folder(folder))
    return list(dict.fromkeys(absolute))


def environments(root: str, files: Files) -> Iterator[str]:
    """The project's environments: those beside it, then those that variables name."""
    yield from (os.path.join(root, name) for name in BESIDE)
    running = files.real(sys.prefix)
    for variable in NAMED:
        named = files.variable(variable)
        if named and "\0" not in named and files.real(os.path.join(root, named)) != running:
            yield os.path.join(root, named)


def site_packages(environment: str, files: Files) -> Iterator[str]:
    yield os.path.join(environment, "Lib", "site-packages")
    for name, _ in files.entries(os.path.join(environment, "lib")):
        if name.startswith("python"):
            yield os.path.join(environment, "lib", name, "site-packages")


def added_by(packages: str, files: Files) -> Iterator[str]:
    """The folders that the `.pth` files of a site-packages add: packages that are installed as they are worked on
    (docs.python.org/3/library/site.html; setuptools' finders say theirs in a dict)."""
    names = [name for name, folder in files.entries(packages) if name.endswith(".pth") and not folder]
    for name in names[:MOST_ADDED]:
        for line in text(os.path.join(packages, name), files).splitlines()[:MOST_ADDED]:
            line = line.strip()
            finder = re.fullmatch(r"import (__editable__\w+)(\s*;.*)?", line)
            if finder is not None:
                yield from mapped(text(os.path.join(packages, f"{finder[1]}.py"), files))
            elif line and not line.startswith(("#", "import ", "import\t")):
                yield os.path.join(packages, line)


def mapped(source: str) -> Iterator[str]:
    """The folders in which the packages of setuptools' `MAPPING = {"package": "/path/package"}` lie."""
    found = re.search(r"^MAPPING\b[^=\n]*=\s*(\{.*?\})", source, re.MULTILINE | re.DOTALL)
    try:
        mapping = ast.literal_eval(found[1]) if found is not None else {}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    for name, path in list(mapping.items())[:MOST_ADDED] if isinstance(mapping, dict) else ():
        if isinstance(path, str) and isinstance(name, str) and os.path.basename(path) == name.rpartition(".")[2]:
            # Up to the folder in which the first part of the name is looked up.
            for _ in name.split("."):
                path = os.path.dirname(path)
            yield path


def text(path: str, files: Files) -> str:
    """What a small file says; nothing where it cannot be read."""
    try:
        return files.content(path, LARGEST).decode("utf-8", "replace") if files.is_file(path) else ""
    except (OSError, ValueError):
        return ""
