"""Whether a program that names no framework leads to one: it imports the project's own modules, which do.

Told from texts alone, nearest imports first. A program that calls `train(create("resnet"))` is where the memory goes.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator

from flake8_cnnmem.source.parsing import SourceError, parse
from flake8_cnnmem.source.reading import read
from flake8_cnnmem.text.files import Files

MOST_READ = 40
"""Files of the project that are read for one program."""

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
NAME = re.compile(r"[^\W\d][\w.]*")


def leads_to_framework(
    path: str,
    text: str,
    tree: ast.Module,
    files: Files,
    mentions: Callable[[str], bool],
    imports: Callable[[ast.Module], bool],
) -> bool:
    """Whether a file is a program and imports, directly or through others, a module of the project that imports a
    framework: whose text `mentions` one, and whose tree `imports` it. Modules are looked for in the file's folder, in
    the working directory and its `src`."""
    if not is_program(tree, files.is_file(os.path.join(os.path.dirname(path), "__init__.py"))):
        return False
    here = os.path.dirname(os.path.abspath(path))
    roots = tuple(dict.fromkeys((here, os.getcwd(), os.path.join(os.getcwd(), "src"))))
    waiting = deque([(here, text)])
    seen: set[str] = set()
    while waiting:
        folder, text = waiting.popleft()
        for base in imported(text, folder, roots):
            places = (f"{base}.py", os.path.join(base, "__init__.py"))
            found = next(filter(files.is_file, places), None)
            if found is None or found in seen:
                continue
            if len(seen) == MOST_READ:
                return False
            seen.add(found)
            try:
                text = read(found, files)
                if mentions(text) and imports(parse(text, found)):
                    return True
            except SourceError:
                continue
            waiting.append((os.path.dirname(found), text))
    return False


def is_program(tree: ast.Module, in_package: bool) -> bool:
    """Whether a file is there to be run: it has a part for that (`if __name__ == "__main__":`), or is no part of a
    package and calls something for what it does."""
    for each in tree.body:
        if isinstance(each, ast.If):
            names = (node.id for node in ast.walk(each.test) if isinstance(node, ast.Name))
            if "__name__" in names:
                return True
        if not in_package and isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            return True
    return False


def imported(text: str, folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    """The paths, without ending, of modules that a text in this folder may import."""
    for dots, module, names, plain in IMPORT.findall(text):
        if plain:
            dotted = [each.partition(" ")[0] for each in map(str.strip, plain.split(",")) if each]
        else:
            dotted = [module, *(f"{module}.{name}".lstrip(".") for name in NAME.findall(names))]
        above = os.path.normpath(os.path.join(folder, *[os.pardir] * (len(dots) - 1)))
        for each in filter(None, dotted):
            parts = each.split(".")
            if not dots and parts[0] in sys.stdlib_module_names:
                continue
            for root in (above,) if dots else roots:
                yield from (os.path.join(root, *parts[:end]) for end in range(1, len(parts) + 1))
