"""Which version of a package the analysed project asks for, as its own files say it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flake8_cnnmem.settings.pins import Pin, project_pins

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_FOLDERS = 8
"""Folders that are gone up from a file to its project's root."""

ROOTS = frozenset((".git", "pyproject.toml", "setup.py", "setup.cfg"))
"""What stands in the root of a project."""


def pinned(run: Interpreter, name: str) -> Pin | None:
    """The pin of a package by its normalised name (PEP 503), of the nearest folder around the analysed file that asks
    for packages, up to the root of its project; None where none asks for it."""
    known = run.data("pins")
    if "project" not in known:
        known["project"] = pins_around(run)
    found: Pin | None = known["project"].get(name)
    return found


def pins_around(run: Interpreter) -> dict[str, Pin]:
    """The pins of the nearest folder that has any."""
    files = run.importer.files
    if not run.trace.path:
        return {}
    folder = os.path.dirname(os.path.abspath(run.trace.path))
    folders = [folder]
    for _ in range(MOST_FOLDERS):
        if ROOTS & {entry for entry, _ in files.entries(folders[-1])}:
            break
        folders.append(os.path.dirname(folders[-1]))
    else:
        # No project around it: what stands in folders above is somebody else's.
        folders = [folder]
    return next((pins for each in folders if (pins := project_pins(each, files))), {})
