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

from flake8_cnnmem.text.files import Files

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
    """The project's environments: those beside it, then those that variables name, then those that the project's tool
    keeps elsewhere."""
    yield from (os.path.join(root, name) for name in BESIDE)
    running = files.real(sys.prefix)
    for variable in NAMED:
        named = files.variable(variable)
        if named and "\0" not in named and files.real(os.path.join(root, named)) != running:
            yield os.path.join(root, named)
    yield from kept_elsewhere(root, files)


def kept_elsewhere(root: str, files: Files) -> Iterator[str]:
    """Environments of poetry, pipenv, hatch, pyenv and conda, where the project's files say that it uses them, by the
    places and names that those document."""
    pyproject = text(os.path.join(root, "pyproject.toml"), files)
    if re.search(r"^\[tool\.poetry\b", pyproject, re.MULTILINE) or files.is_file(os.path.join(root, "poetry.lock")):
        yield from of_poetry(root, pyproject, files)
    if files.is_file(os.path.join(root, "Pipfile")):
        yield from of_pipenv(root, files)
    if re.search(r"^\[tool\.hatch\b", pyproject, re.MULTILINE) or files.is_file(os.path.join(root, "hatch.toml")):
        yield from of_hatch(root, pyproject, files)
    for line in text(os.path.join(root, ".python-version"), files).split():
        # pyenv's virtual environments stand beside its Pythons, and have the name that the file gives.
        if re.fullmatch(r"[\w.-]+", line) and not line.startswith("."):
            yield os.path.join(files.variable("PYENV_ROOT") or home(files, ".pyenv"), "versions", line)
    yield from of_conda(root, files)


def home(files: Files, *below: str) -> str:
    return os.path.join(files.variable("HOME") or files.variable("USERPROFILE") or os.curdir, *below)


def data_folder(files: Files, tool: str) -> Iterator[str]:
    """Where programs keep a user's data, on Linux, macOS and Windows (the platformdirs package)."""
    yield os.path.join(files.variable("XDG_DATA_HOME") or home(files, ".local", "share"), tool)
    yield home(files, "Library", "Application Support", tool)
    if files.variable("LOCALAPPDATA"):
        yield os.path.join(str(files.variable("LOCALAPPDATA")), tool)


def cache_folder(files: Files, tool: str) -> Iterator[str]:
    yield os.path.join(files.variable("XDG_CACHE_HOME") or home(files, ".cache"), tool)
    yield home(files, "Library", "Caches", tool)
    if files.variable("LOCALAPPDATA"):
        yield os.path.join(str(files.variable("LOCALAPPDATA")), tool, "Cache")


def those_called(folder: str, pattern: str, files: Files) -> Iterator[str]:
    """Folders by their names, the last first: the newer Python's."""
    names = [name for name, below in files.entries(folder) if below and re.fullmatch(pattern, name)]
    yield from (os.path.join(folder, name) for name in reversed(names))


def letters_of(path: str) -> str:
    """Eight letters of the hash of a path, by which these tools tell projects of one name apart."""
    import base64
    import hashlib

    digest = hashlib.sha256(os.path.normcase(path).encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


def of_poetry(root: str, pyproject: str, files: Files) -> Iterator[str]:
    """`NAME-HASH-py3.11` below poetry's cache: the project's name, and the project's path as eight letters of its hash
    (python-poetry.org/docs/managing-environments, poetry 2.5's EnvManager.generate_env_name)."""
    found = re.search(r"^name\s*=\s*[\"']([^\"'\n]+)[\"']", pyproject, re.MULTILINE)
    written = found[1].lower() if found is not None else "non-package-mode"
    # Versions before 1.3 took the name as it is written.
    names = [re.sub(r"[ $`!*@\"\\\r\n\t]", "_", each)[:42] for each in (re.sub(r"[-_.]+", "-", written), written)]
    pattern = rf"({'|'.join(map(re.escape, names))})-{re.escape(letters_of(files.real(root)))}-py[\d.]+"
    given = files.variable("POETRY_VIRTUALENVS_PATH")
    for folder in [given] if given else [os.path.join(each, "virtualenvs") for each in cache_folder(files, "pypoetry")]:
        yield from those_called(folder, pattern, files)


def of_pipenv(root: str, files: Files) -> Iterator[str]:
    """`NAME-HASH` below WORKON_HOME: the folder's name, and the Pipfile's path as eight letters of its hash
    (pipenv.pypa.io/en/latest/virtualenv.html, pipenv 2026.10's venv_locator.py)."""
    name = re.sub(r"[ &$`!*@\"()\[\]\\\r\n\t]", "_", os.path.basename(os.path.abspath(root)))[:42]
    pipfile = os.path.join(os.path.abspath(root), "Pipfile")
    letters = letters_of(pipfile)
    given = files.variable("WORKON_HOME")
    for folder in [given] if given else [*data_folder(files, "virtualenvs"), home(files, ".virtualenvs")]:
        yield os.path.join(folder, f"{name}-{letters}")


def of_hatch(root: str, pyproject: str, files: Files) -> Iterator[str]:
    """`env/virtual/PROJECT/HASH/PROJECT` below hatch's data: the project's name, and its path as eight letters of its
    hash (hatch.pypa.io/latest/plugins/environment/virtual, hatch 1.18's env/virtual.py)."""
    found = re.search(r"^name\s*=\s*[\"']([^\"'\n]+)[\"']", pyproject, re.MULTILINE)
    if found is None:
        return
    name = re.sub(r"[-_.]+", "-", found[1]).lower()
    given = files.variable("HATCH_DATA_DIR")
    for folder in [given] if given else data_folder(files, "hatch"):
        projects = os.path.join(folder, "env", "virtual", name)
        if not files.is_folder(projects):
            continue
        place = os.path.join(projects, letters_of(files.real(root)))
        yield from (os.path.join(place, each) for each, below in files.entries(place) if below)


def of_conda(root: str, files: Files) -> Iterator[str]:
    """The environment that environment.yml names, where conda puts those: beside the one that is active, or in the
    folders of its installers."""
    said = "".join(text(os.path.join(root, name), files) for name in ("environment.yml", "environment.yaml"))
    found = re.search(r"^name:\s*[\"']?([\w.-]+)", said, re.MULTILINE)
    if found is None or found[1] == "base" or found[1].startswith("."):
        return
    active = files.variable("CONDA_EXE")
    roots = [os.path.dirname(os.path.dirname(active))] if active else []
    names = ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
    roots += [files.variable("MAMBA_ROOT_PREFIX") or home(files, "micromamba"), *(home(files, name) for name in names)]
    for base in roots:
        yield os.path.join(base, "envs", found[1])
    yield home(files, ".conda", "envs", found[1])


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
