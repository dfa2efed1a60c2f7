"""Which files of a project a change of some others can reach, told from their texts alone.

A model that is edited is trained elsewhere, a batch size stands in a YAML file: whoever checks the files of a commit
has to check those, too. Names decide, not paths: a file too many costs a second, one too few a finding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from flake8_cnnmem.source import LARGEST, SourceError, load

MODULES = (".py", ".ipynb")

SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
"""Files that training scripts read."""

_IMPORT = re.compile(
    r"^[ \t>%]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]{0,5000}\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")


def with_dependents(given: Sequence[str], project: Iterable[str]) -> list[str]:
    """The modules among the files given, and those of the project that import or read one of them, directly or through
    others, in order. Configurations name each other, too."""
    texts = {path: text for path in {*map(os.path.normpath, project)} if (text := text_of(path)) is not None}
    needs = {path: names_in(path, text) for path, text in texts.items()}
    found = {os.path.normpath(path) for path in given}
    waiting = sorted(found)
    while waiting:
        names = names_of(waiting.pop())
        for path, words in needs.items():
            if path not in found and not names.isdisjoint(words):
                found.add(path)
                waiting.append(path)
    kept = {os.path.normpath(path): path for path in given}
    return [kept.get(path, path) for path in sorted(found) if path.endswith(MODULES)]


def names_of(path: str) -> frozenset[str]:
    """What others call a file: its name without the ending, of a package's its folder's; of settings its whole name."""
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    if stem == "__init__":
        stem = os.path.basename(os.path.abspath(folder))
    return frozenset((stem,)) if ending in MODULES else frozenset((name, stem))


def names_in(path: str, text: str) -> frozenset[str]:
    """The names of files that a text may ask for: what it imports, what stands in quotes; in settings every word."""
    if not path.endswith(MODULES):
        return frozenset(_WORD.findall(text))
    found: set[str] = set()
    for match in _IMPORT.finditer(text):
        found.update(_WORD.findall(" ".join(part for part in match.groups() if part)))
    for quoted in _QUOTED.findall(text):
        name = quoted.replace("\\", "/").rpartition("/")[2]
        found.update((name, name.rpartition(".")[2], *quoted.split(".")))
    return frozenset(found)


def text_of(path: str) -> str | None:
    try:
        if path.endswith(MODULES):
            return load(path).text
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST)
    except (SourceError, OSError):
        return None
