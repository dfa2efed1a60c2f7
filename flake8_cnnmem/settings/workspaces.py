"""Where a project's own code lies: its root, the folders that its build files name, and the projects within it.

Packages that lie beside each other in one repository are installed into one environment from there (`pip install -e`, a
workspace of uv, path dependencies of poetry), and their code imports each other. Nothing is run, nothing is installed.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from typing import Any

from flake8_cnnmem.settings.environments import text
from flake8_cnnmem.text.files import Files
from flake8_cnnmem.text.notations import TooMuch, parse_toml

BUILT_BY = ("pyproject.toml", "setup.py", "setup.cfg")
"""Files that make a folder a project of its own."""

HOLDING = frozenset(
    ("apps", "components", "lib", "libraries", "libs", "modules", "packages", "projects", "python", "services", "src")
)
"""What people call a folder in which projects lie beside each other."""

MOST = 200
"""So many projects of one repository are looked into."""

HIGHEST = 4
"""So many folders above a project its workspace is looked for."""

BESIDE = 3
"""So many folders up a path may lead that a project gives for another one."""

PLACED = re.compile(r"package_dir\s*=\s*(?:\{\s*[\"']{2}\s*:\s*[\"']([^\"'\n]+)[\"']|\n?\s*=\s*(\S+))")
"""Where setup.py and setup.cfg say that all packages lie: `{"": "lib"}`, ` = lib`."""


def own_folders(root: str, files: Files) -> list[str]:
    """The root, its `src`, and where its build files say that its packages lie."""
    return list(dict.fromkeys((root, os.path.join(root, "src"), *declared(root, files))))


def declared(project: str, files: Files) -> Iterator[str]:
    """Folders that the build files of a project name for its packages, by what setuptools, poetry, hatch, pdm and
    maturin document."""
    for name in ("setup.cfg", "setup.py"):
        found = PLACED.search(text(os.path.join(project, name), files))
        if found is not None:
            yield from below(project, found[1] or found[2])
    tool = within(built(project, files), "tool")
    setuptools = within(tool, "setuptools")
    for each in within(setuptools, "package-dir").values():
        yield from below(project, each)
    for each in listed(within(setuptools, "packages", "find").get("where")):
        yield from below(project, each)
    for each in listed(within(tool, "poetry").get("packages")):
        yield from below(project, each.get("from") if isinstance(each, dict) else None)
    for each in listed(within(tool, "hatch", "build", "targets", "wheel").get("packages")):
        yield from below(project, os.path.dirname(each) if isinstance(each, str) else None)
    yield from below(project, within(tool, "pdm", "build").get("package-dir"))
    yield from below(project, within(tool, "maturin").get("python-source"))


def beside(root: str, files: Files) -> list[str]:
    """Where the packages of the other projects of a repository lie: those of its workspace, those that it names by
    their paths, and those in its folders."""
    top = workspace_of(root, files)
    projects = dict.fromkeys(each for each in members(top, files) if each != root)
    found: list[str] = []
    for project in list(projects)[:MOST]:
        found += [
            folder for folder in (*declared(project, files), os.path.join(project, "src")) if files.is_folder(folder)
        ]
        found.append(project)
    return list(dict.fromkeys(found))


def workspace_of(root: str, files: Files) -> str:
    """The folder above whose workspace a project is a member of, else the project's own."""
    at = root
    for _ in range(HIGHEST):
        if is_repository(at, files) or os.path.dirname(at) == at:
            return root
        at = os.path.dirname(at)
        path = os.path.relpath(root, at).replace(os.sep, "/")
        if any(fnmatch.fnmatch(path, each) for each in patterns(at, files)):
            return at
    return root


def is_repository(folder: str, files: Files) -> bool:
    """Whether a folder is the top of a repository, above which nothing is of the project."""
    return files.exists(os.path.join(folder, ".git"))


def members(top: str, files: Files) -> Iterator[str]:
    """The projects of a repository."""
    wanted = patterns(top, files)
    tool = within(built(top, files), "tool")
    named = (*within(tool, "uv", "sources").values(), *within(tool, "poetry", "dependencies").values())
    for each in named:
        yield from below(top, each.get("path") if isinstance(each, dict) else None)
    for each in re.findall(r"^-e\s+(?:file:)?(\./[^\s#\[]+|[\w-][^\s#\[:]*)", requirements(top, files), re.MULTILINE):
        yield from below(top, each)
    for folder in folders_in(top, files):
        if is_project(folder, files) or matches(folder, top, wanted):
            yield folder
        if os.path.basename(folder) in HOLDING or any("/" in each for each in wanted):
            for inner in folders_in(folder, files):
                if is_project(inner, files) or matches(inner, top, wanted):
                    yield inner


def requirements(top: str, files: Files) -> str:
    """What pip is told to install."""
    return "\n".join(text(os.path.join(top, name), files) for name in ("requirements.txt", "requirements-dev.txt"))


def patterns(top: str, files: Files) -> list[str]:
    """The members of a workspace of uv, as its `pyproject.toml` gives them, with wildcards."""
    found = within(built(top, files), "tool", "uv", "workspace").get("members")
    return [each.strip("/") for each in listed(found) if isinstance(each, str)]


def matches(folder: str, top: str, wanted: list[str]) -> bool:
    path = os.path.relpath(folder, top).replace(os.sep, "/")
    return any(fnmatch.fnmatch(path, each) for each in wanted)


def folders_in(folder: str, files: Files) -> list[str]:
    """The folders in another one that may hold a project: no environments."""
    names = [name for name in files.subfolders(folder) if name not in ("venv", "env", "node_modules")]
    return [os.path.join(folder, name) for name in names[:MOST]]


def is_project(folder: str, files: Files) -> bool:
    return any(files.is_file(os.path.join(folder, name)) for name in BUILT_BY)


def below(project: str, path: Any) -> Iterator[str]:
    """The folder of a path that a project gives, where it lies in the repository: below or beside it."""
    if isinstance(path, str) and path and "\0" not in path and not os.path.isabs(path):
        found = os.path.normpath(os.path.join(project, path))
        if os.path.relpath(found, project).split(os.sep).count("..") <= BESIDE:
            yield found


def built(project: str, files: Files) -> dict[str, Any]:
    """What `pyproject.toml` holds; nothing where it cannot be read."""
    try:
        return parse_toml(text(os.path.join(project, "pyproject.toml"), files))
    except (ValueError, TooMuch):
        return {}


def within(table: Any, *names: str) -> dict[str, Any]:
    """A table within others; an empty one where there is none."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
