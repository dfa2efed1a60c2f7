"""Which files of a project a change of some others can reach, told from their texts alone.

A model that is edited is trained elsewhere, a batch size stands in a YAML file: whoever checks the files of a commit
has to check those, too. A file too many costs seconds, one too few a finding: an import counts for every module whose
path ends with what it names, since nobody here knows the search path.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from flake8_cnnmem.cache.store import Store
from flake8_cnnmem.cli.asked_names import MODULES, Asked, StoredNames
from flake8_cnnmem.source import LARGEST, SourceError, read, read_source
from flake8_cnnmem.supported import MARKERS
from flake8_cnnmem.text import notebook

MOST_FILES = 20_000

MOST_CHARACTERS = 200_000_000
"""Of all files together; a core reads and searches some 15 million a second."""

DEEPEST = 12
"""Names between the dots of an import that are compared with a path."""


class Found(NamedTuple):
    modules: list[str]
    left_out: int
    """How many more there are."""


class Dependents:
    """What the files of a project ask for by name. `project` is read in its order, up to the bounds above; `unread` is
    how many files lie beyond them, `whole` whether nothing does. What their texts ask for is kept in the store, if
    there is one."""

    def __init__(self, project: Iterable[str], store: Store | None = None, whole: bool = True) -> None:
        paths = list(dict.fromkeys(map(os.path.normpath, project)))
        self.tops = frozenset(part for path in paths for part in os.path.abspath(path).split(os.sep)[:-1]) | frozenset(
            os.path.splitext(os.path.basename(path))[0] for path in paths
        )
        """The names that a package or a module of the project can have."""
        self.asking: defaultdict[str, list[str]] = defaultdict(list)
        """Files by the names that they ask for."""
        self.unread = 0
        self.whole = whole
        kept = StoredNames(store)
        left = MOST_CHARACTERS
        for number, path in enumerate(paths):
            if number >= MOST_FILES or left <= 0:
                self.unread, self.whole = len(paths) - number, False
                break
            text = text_of(path)
            if text is not None:
                left -= len(text)
                for name in self.names_in(path, kept.asked_in(text, path.endswith(MODULES))):
                    self.asking[name].append(path)
        kept.save()

    def of(self, given: Sequence[str], most: int | None = None) -> Found:
        """The modules among the files given, and those of the project that import or read one of them, directly or
        through others, in order. Configurations name each other, too. `most`: only so many, the nearest."""
        kept = {os.path.normpath(path): path for path in given}
        seen = dict.fromkeys(sorted(kept))
        waiting = deque(seen)
        while waiting:
            asking = sorted({path for name in names_of(waiting.popleft()) for path in self.asking.get(name, ())})
            waiting.extend(path for path in asking if path not in seen)
            seen.update(dict.fromkeys(asking))
        others = [path for path in seen if path not in kept and path.endswith(MODULES)]
        left_out = max(len(others) - most, 0) if most is not None else 0
        modules = sorted([*(path for path in kept if path.endswith(MODULES)), *others[:most]])
        return Found([kept.get(path, path) for path in modules], left_out)

    def names_in(self, path: str, asked: Asked) -> set[str]:
        """The names, as `names_of` writes them, of files that a file may ask for."""
        found = set(asked.words)
        folder = os.path.dirname(os.path.abspath(path))
        for module, names in asked.imports:
            if not module:
                # `import a.b.c` makes a and a.b known as well; `as` and other words do no harm.
                for dotted in names:
                    parts = dotted.split(".")
                    found.update(self.imported(".".join(parts[:end])) for end in range(1, len(parts) + 1))
            elif module.startswith("."):
                rest = module.lstrip(".")
                base = os.path.normpath(os.path.join(folder, *[".."] * (len(module) - len(rest) - 1), *rest.split(".")))
                found.update((base, *(os.path.join(base, name) for name in names)))
            else:
                found.add(self.imported(module))
                found.update(self.imported(f"{module}.{name}") for name in names)
        return found

    def imported(self, dotted: str) -> str:
        """What a module's path ends with if an import means it. Where nothing in the project has the first name, a
        build may give it to a folder of another name (`package_dir`), and the rest decides."""
        top, _, rest = dotted.partition(".")
        if not rest or top in self.tops or top in sys.stdlib_module_names or any(word in top for word in MARKERS):
            return dotted
        return rest


def names_of(path: str) -> Iterator[str]:
    """What others call a file: a module's path without its ending, and what dotted names it ends with, a package's
    its folder's; settings by their name with the ending and without, notebooks (nothing imports them, `%run` does) with
    it."""
    name = os.path.basename(path)
    stem, ending = os.path.splitext(os.path.abspath(path))
    if ending == notebook.ENDING:
        yield name
        return
    if ending not in MODULES:
        yield from (name, os.path.basename(stem))
        return
    if os.path.basename(stem) == "__init__":
        stem = os.path.dirname(stem)
    yield stem
    parts = stem.split(os.sep)[-DEEPEST:]
    for start in range(len(parts)):
        yield ".".join(parts[start:])


def text_of(path: str) -> str | None:
    """A file's text; None where it cannot be read."""
    try:
        if path.endswith(notebook.ENDING):
            return read_source(path).text
        if path.endswith(MODULES):
            return read(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST)
    except (SourceError, OSError):
        return None
