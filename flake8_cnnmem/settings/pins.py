"""Which versions of packages a project asks for, as its own files say it: requirements, pyproject.toml, setup.cfg, lock
files of uv, poetry, pdm and pipenv, pylock.toml, conda's environment files, a setup.py that writes them out.

The files are read as data; nothing of them is run. What a lock file says comes before what a range allows.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.text.files import Files
from flake8_cnnmem.text.notations import TooMuch, parse_toml, parse_yaml

LARGEST = 8 * 2**20
"""Bytes of a file that is read: lock files of large projects have some megabytes."""

MOST_FILES = 24
"""Files of requirements that are read."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What one file says of one package. `name` is normalised (PEP 503); `specifier` is PEP 440's, empty for any."""

    name: str
    specifier: str
    path: str
    line: int | None = None
    hashes: frozenset[str] = frozenset()
    """SHA-256 sums of the files that a lock file allows, in hexadecimal."""
    locked: bool = False

    @property
    def version(self) -> str | None:
        """The one version that is allowed; None for a range."""
        found = re.fullmatch(r"={2,3}([\w.!+-]+)", self.specifier)
        return found[1] if found is not None else None


def normalised(name: str) -> str:
    """The name by which an index knows a package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[\w\s,.-]*\])?\s*"
    r"(?P<specifier>\(?[\s\w.,*+!<>=~-]*\)?)\s*(?P<marker>;.*)?"
)
CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([\w.*+!-]+)")


def requirement(text: str) -> tuple[str, str, bool] | None:
    """Name, specifier, and whether there is a marker, of a requirement as PEP 508 writes it; None for what is none, or
    is to be had from elsewhere than an index (`name @ https://...`)."""
    found = REQUIREMENT.fullmatch(text)
    if found is None:
        return None
    clauses = [each.strip() for each in found["specifier"].strip(" ()").split(",") if each.strip()]
    read = [clause for each in clauses if (clause := CLAUSE.fullmatch(each)) is not None]
    if len(read) < len(clauses):
        return None
    return normalised(found["name"]), ",".join(each[1] + each[2] for each in read), found["marker"] is not None


def project_pins(root: str, files: Files) -> dict[str, Pin]:
    """By normalised name: the pin that counts, of the files in a project's root."""
    return dict(chosen(asked_in(root, files)))


def direct_names(root: str, files: Files) -> frozenset[str]:
    """The packages that the project itself asks for, not those that a lock file adds for them."""
    said = list(asked_in(root, files))
    return frozenset(each.name for each in said if not each.locked) or frozenset(each.name for each in said)


def chosen(pins: Iterator[Pin]) -> Iterator[tuple[str, Pin]]:
    """Of each package the first exact version of a lock file, else the first exact one, else the first that is said."""
    by_name: dict[str, list[Pin]] = {}
    for pin in pins:
        by_name.setdefault(pin.name, []).append(pin)
    for name, said in by_name.items():
        yield name, min(said, key=lambda pin: (not pin.locked, pin.version is None, not pin.specifier))


def asked_in(root: str, files: Files) -> Iterator[Pin]:
    names = [name for name, folder in files.entries(root) if not folder]
    read = 0
    for name in names:
        reader = next((read_it for pattern, read_it in READERS if re.fullmatch(pattern, name, re.IGNORECASE)), None)
        if reader is not None and read < MOST_FILES:
            read += 1
            yield from reader(os.path.join(root, name), files)
    folder = os.path.join(root, "requirements")
    for name, below in files.entries(folder)[:MOST_FILES]:
        if not below and name.endswith(".txt"):
            yield from of_requirements(os.path.join(folder, name), files)


def text_of(path: str, files: Files) -> str:
    """What a file says; nothing where it cannot be read or is too large."""
    try:
        content = files.content(path, LARGEST + 1) if files.is_file(path) else b""
    except (OSError, ValueError):
        return ""
    return content.decode("utf-8-sig", "replace") if len(content) <= LARGEST else ""


def of_requirements(path: str, files: Files) -> Iterator[Pin]:
    """requirements.txt as pip reads it, `-r` aside: the other files are read on their own."""
    said: list[tuple[str, str, bool, int, frozenset[str]]] = []
    start, whole = 1, ""
    for number, line in enumerate(text_of(path, files).splitlines(), 1):
        start = start if whole else number
        whole += line
        if whole.endswith("\\"):
            whole = whole[:-1] + " "
            continue
        asked = re.sub(r"(^|\s)#.*", "", whole)
        whole = ""
        sums = frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", asked))
        found = requirement(re.sub(r"\s--\w.*", "", asked))
        if found is not None:
            said.append((*found, start, sums))
    yield from unless_by_marker(said, path)


def unless_by_marker(said: list[tuple[str, str, bool, int, frozenset[str]]], path: str) -> Iterator[Pin]:
    """Pins, but of packages that are asked for in several versions by markers: which of them counts is not known."""
    versions: dict[str, set[str]] = {}
    for name, specifier, _, _, _ in said:
        versions.setdefault(name, set()).add(specifier)
    for name, specifier, marked, line, sums in said:
        if not marked or len(versions[name]) == 1:
            yield Pin(name, specifier, path, line or None, sums, bool(sums))


def of_strings(texts: object, path: str) -> Iterator[Pin]:
    """A list of requirements as PEP 508 writes them."""
    said = [found for text in listed(texts) if isinstance(text, str) and (found := requirement(text)) is not None]
    yield from unless_by_marker([(*each, 0, frozenset()) for each in said], path)


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def toml_of(path: str, files: Files) -> Mapping[str, Any]:
    try:
        return table(parsed(text_of(path, files)))
    except (ValueError, TooMuch):
        return {}


@lru_cache(maxsize=4)
def parsed(text: str) -> object:
    """A lock file is asked for by each of a project's files. Nobody changes what is given."""
    return parse_toml(text)


def of_pyproject(path: str, files: Files) -> Iterator[Pin]:
    whole = toml_of(path, files)
    project, tool = table(whole.get("project")), table(whole.get("tool"))
    yield from of_strings(project.get("dependencies"), path)
    for extra in table(project.get("optional-dependencies")).values():
        yield from of_strings(extra, path)
    for group in table(whole.get("dependency-groups")).values():
        yield from of_strings(group, path)
    poetry = table(tool.get("poetry"))
    yield from of_table(poetry.get("dependencies"), path)
    for group in table(poetry.get("group")).values():
        yield from of_table(table(group).get("dependencies"), path)
    for environment in table(table(tool.get("hatch")).get("envs")).values():
        yield from of_strings(table(environment).get("dependencies"), path)


def of_table(said: object, path: str) -> Iterator[Pin]:
    """A table of names and versions, as poetry and pipenv have it: `^2.4`, `2.4.1`, `*`, `{version = "..."}`."""
    for name, value in table(said).items():
        text = value.get("version", "*") if isinstance(value, dict) else value
        found = requirement(f"{name}{of_poetry(text)}") if isinstance(text, str) else None
        if found is not None and name != "python":
            yield Pin(found[0], found[1], path)


def of_poetry(text: str) -> str:
    """poetry's version constraints (python-poetry.org/docs/dependency-specification) in the words of PEP 440."""
    clauses = []
    for each in text.replace(" ", "").split(","):
        if each in ("", "*"):
            continue
        numbers = re.fullmatch(r"[\^~](\d+(?:\.\d+)*)[\w.]*", each)
        if numbers is not None and not each.startswith("~="):
            parts = [int(part) for part in numbers[1].split(".")]
            # The caret holds the first number that is not zero, the tilde the first two.
            held = next((at for at, part in enumerate(parts) if part), len(parts) - 1) if each[0] == "^" else 1
            held = min(held, len(parts) - 1)
            above = ".".join(map(str, [*parts[:held], parts[held] + 1]))
            clauses += [f">={each[1:]}", f"<{above}"]
        else:
            clauses.append(f"=={each}" if each[0].isdigit() else each)
    return ",".join(clauses)


def of_pipfile(path: str, files: Files) -> Iterator[Pin]:
    whole = toml_of(path, files)
    yield from of_table(whole.get("packages"), path)
    yield from of_table(whole.get("dev-packages"), path)


def json_of(path: str, files: Files) -> Mapping[str, Any]:
    try:
        return table(json.loads(text_of(path, files)))
    except (ValueError, RecursionError):
        return {}


def of_pipfile_lock(path: str, files: Files) -> Iterator[Pin]:
    whole = json_of(path, files)
    for section in ("default", "develop"):
        for name, entry in table(whole.get(section)).items():
            version = table(entry).get("version")
            if isinstance(version, str) and CLAUSE.fullmatch(version):
                yield Pin(normalised(name), version, path, None, sums_in(table(entry).get("hashes")), True)


def sums_in(value: object) -> frozenset[str]:
    """The SHA-256 sums of the files of one package, however a lock file writes them."""
    found: set[str] = set()
    if isinstance(value, str):
        kind, _, digest = value.rpartition(":")
        if kind in ("sha256", "") and re.fullmatch(r"[0-9a-f]{64}", digest):
            found.add(digest)
    elif isinstance(value, list):
        for each in value:
            found |= sums_in(each)
    elif isinstance(value, dict):
        # uv: {url, hash}; poetry and pdm: {file, hash}; pylock: {name, hashes: {sha256}}.
        for key in ("hash", "sha256", "hashes"):
            found |= sums_in(value.get(key))
    return frozenset(found)


def of_lock(path: str, files: Files) -> Iterator[Pin]:
    """uv.lock, poetry.lock, pdm.lock ([[package]]) and pylock.toml ([[packages]], PEP 751)."""
    whole = toml_of(path, files)
    for entry in (*listed(whole.get("package")), *listed(whole.get("packages"))):
        name, version = table(entry).get("name"), table(entry).get("version")
        if isinstance(name, str) and isinstance(version, str) and CLAUSE.fullmatch(f"=={version}"):
            sums = sums_in([entry.get("files"), entry.get("wheels")])
            yield Pin(normalised(name), f"=={version}", path, None, sums, True)


def of_conda(path: str, files: Files) -> Iterator[Pin]:
    """conda's environment.yml: `keras=2.2.4=py36_0`, `conda-forge::keras>=2`, and what pip adds."""
    try:
        whole = table(parse_yaml(text_of(path, files)))
    except (ValueError, TooMuch):
        return
    for each in listed(whole.get("dependencies")):
        if isinstance(each, dict):
            yield from of_strings(each.get("pip"), path)
        elif isinstance(each, str):
            name, equals, rest = each.rpartition("::")[2].partition("=")
            fuzzy = re.fullmatch(r"([\w.]+)(=[\w.]+)?", rest)
            if equals and fuzzy is not None and name[-1:] not in "<>!~=":
                found = requirement(f"{name}=={fuzzy[1]}" + ("" if fuzzy[1].count(".") > 1 else ".*"))
            else:
                found = requirement(each.rpartition("::")[2])
            if found is not None:
                yield Pin(found[0], found[1], path)


def of_setup_cfg(path: str, files: Files) -> Iterator[Pin]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text_of(path, files))
    except configparser.Error:
        return
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    yield from of_strings([line.strip() for line in lines if line.strip()], path)


def of_setup_py(path: str, files: Files) -> Iterator[Pin]:
    """The `install_requires=[...]` of a setup.py that writes them out: it is parsed, not run."""
    try:
        tree = ast.parse(text_of(path, files))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "install_requires" and isinstance(node.value, ast.List):
            yield from of_strings([each.value for each in node.value.elts if isinstance(each, ast.Constant)], path)


READERS: tuple[tuple[str, Callable[[str, Files], Iterator[Pin]]], ...] = (
    (r"uv\.lock|poetry\.lock|pdm\.lock|pylock(\..+)?\.toml", of_lock),
    (r"Pipfile\.lock", of_pipfile_lock),
    (r"[\w.-]*requirements[\w.-]*\.txt|constraints\.txt", of_requirements),
    (r"pyproject\.toml", of_pyproject),
    (r"Pipfile", of_pipfile),
    (r"setup\.cfg", of_setup_cfg),
    (r"setup\.py", of_setup_py),
    (r"(environment|conda|env)[\w.-]*\.ya?ml|conda-env\.ya?ml", of_conda),
)
"""By the name of a file in the root, in full."""
