"""`sys.path`: the folders that a program adds to where its imports are looked up.

What stands in front of the script's own folder is looked through first, what was appended last of all. Only folders of
the project and of the search path count: a program cannot have other places of the machine read.

https://docs.python.org/3/library/sys_path_init.html
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.files import bases, is_below
from flake8_cnnmem.values import MISSING, Namespace

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.imports import Importer

SCRIPT, LIBRARY = ".", "/usr/lib/python3"
"""What `sys.path` holds at the start: the script's folder, and one entry for all that comes after it."""


class ImportPath:
    """The folders that imports are looked up in, as `sys.path` stands."""

    def __init__(self, importer: Importer) -> None:
        self.importer = importer
        self.written: tuple[str, ...] = (SCRIPT, LIBRARY)
        self.folders: Sequence[str] = ()

    def in_force(self) -> Sequence[str]:
        """The search path with what the program has added to it. Where that has changed since it was asked last, what
        was not found before is looked up anew."""
        importer = self.importer
        system = importer.modules.get("sys")
        if not isinstance(system, Namespace):
            return importer.search_path
        value = system.attributes.get("path", MISSING)
        held = payload(system.lookup("path") if value is MISSING else value)
        entries = held if isinstance(held, list) else ()
        plain = [payload(entry) for entry in entries]
        written = tuple(str(entry) for entry in plain if isinstance(entry, (str, PurePosixPath)))
        if written != self.written:
            self.written, self.folders = written, self.ordered(written)
            known = importer.modules
            importer.modules = {
                dotted: found
                for dotted, found in known.items()
                if found is not None and not (isinstance(found, Namespace) and found.stands_in)
            }
        return self.folders or importer.search_path

    def ordered(self, written: Sequence[str]) -> Sequence[str]:
        """The folders in which modules are looked up, as the program's `sys.path` orders them."""
        own, *rest = self.importer.search_path or [""]
        found: list[str] = []
        for entry in written if SCRIPT in written else (*written, SCRIPT):
            if entry == SCRIPT:
                found.append(own)
            elif entry == LIBRARY:
                found.extend(rest)
            else:
                found.extend(self.places(entry))
        return list(dict.fromkeys(found if LIBRARY in written else [*found, *rest]))

    def places(self, entry: str) -> Sequence[str]:
        """The folder of the project that an entry names: from the working directory, or from the script's."""
        roots = (*bases(self.importer.run), *(os.path.abspath(folder) for folder in self.importer.search_path))
        for base in bases(self.importer.run):
            candidate = os.path.normpath(os.path.join(base, entry))
            if self.importer.files.is_folder(candidate):
                return [candidate] if any(candidate == root or is_below(candidate, root) for root in roots) else []
        return []
