"""What a file's text asks of others by name, and the cache of it: an import graph that is kept between runs.

What is noted depends on the text and its kind alone, and is kept by a hash of these: it holds for a copy of the project
on another machine as well. Which files the names stand for is worked out anew, as files come and go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from flake8_cnnmem.cache import key_of
from flake8_cnnmem.cache.store import Store

MODULES = (".py", ".ipynb")

SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
"""Files that training scripts read."""

PARTS = "0123456789abcdef"
"""The cache holds what is noted in so many entries, by the first letter of the hash."""

_IMPORT = re.compile(
    r"^[ \t>%]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]{0,5000}\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_WORD = re.compile(r"\w+")
_DOTTED = re.compile(r"[\w.]+")
_TOKEN = re.compile(r"[\w./\\-]+")
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")


class Asked(NamedTuple):
    """`imports`: of each import statement the module behind `from` ("" without one) and the names, dotted ones behind
    a plain `import`. `words`: the files that other words may name, as `spoken` writes them."""

    imports: Sequence[tuple[str, Sequence[str]]]
    words: Sequence[str]


def asked_in(text: str, module: bool) -> Asked:
    """What a text may ask for: what it imports, what stands in quotes; in settings every word."""
    if not module:
        return Asked((), sorted({name for token in set(_TOKEN.findall(text)) for name in spoken(token)}))
    imports = [
        (origin, (_WORD.findall(names) if origin else _DOTTED.findall(modules)))
        for origin, names, modules in _IMPORT.findall(text)
    ]
    words: set[str] = set()
    for quoted in set(_QUOTED.findall(text)):
        if " " not in quoted:
            words.update(spoken(quoted))
        elif "." in quoted:
            for token in _TOKEN.findall(quoted):
                if token.endswith((*MODULES, *SETTINGS)):
                    words.update(spoken(token))
    return Asked(imports, sorted(words))


def spoken(token: str) -> Iterator[str]:
    """The files that a word of a text may name: `configs/small.yaml`, `models.vgg`, `models.vgg.VGG`, `vgg`."""
    name = token.replace("\\", "/").rstrip("/").rpartition("/")[2].strip(".")
    stem, ending = os.path.splitext(name)
    if ending in MODULES or ending in SETTINGS:
        yield from (name, stem)
        return
    # A class, or a method of one, can be named behind its module.
    for _ in range(3):
        yield name
        name = name.rpartition(".")[0]
        if not name:
            return


class StoredNames:
    """What was noted of texts before; without a store nothing was. `save` keeps what was asked for in this run."""

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self.before: dict[str, dict[str, Any]] = {}
        """By part: what an earlier run has noted, by hash."""
        self.now: dict[str, dict[str, Any]] = {}

    def asked_in(self, text: str, module: bool) -> Asked:
        if self.store is None:
            return asked_in(text, module)
        import hashlib

        name = hashlib.sha256(f"{module} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        part = name[0]
        if part not in self.before:
            self.before[part] = (self.store.get(self.key(part)) or {}).get("texts", {})
        noted = self.before[part].get(name)
        if noted is None:
            noted = asked_in(text, module)
        self.now.setdefault(part, {})[name] = noted
        return Asked(*noted)

    def save(self) -> None:
        """Keep what is new, and no more than what was asked for."""
        for part, texts in self.now.items():
            if self.store is not None and texts.keys() != self.before[part].keys():
                self.store.put(self.key(part), {"texts": texts})

    def key(self, part: str) -> str:
        return key_of(("names that files ask for", part))
