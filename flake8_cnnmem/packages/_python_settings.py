"""Settings that are Python files and build on one another, as OpenMMLab has them: `_base_ = ["../model.py"]` names the
files that a file changes, `with read_base(): from .model import *` takes their names in.

https://mmengine.readthedocs.io/en/latest/advanced_tutorials/config.html, and mmengine 0.10's config.py for the order.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from flake8_cnnmem.evaluate.builtins import files
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.packages._config_objects import held, load_yaml, plain
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.source import Source, SourceError, load, parse
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Namespace, Native, Value

BASE, DELETE = "_base_", "_delete_"

DEEPEST = 16
"""Files that build on one another."""

OF_BASE = re.compile(r"\{\{\s*_base_\.([\w.]+)\s*\}\}")
OF_FILE = re.compile(r"\{\{\s*(fileDirname|fileBasename|fileBasenameNoExtension|fileExtname)\s*\}\}")
OF_ENVIRONMENT = re.compile(r"\{\{['\"]?\s*\$(\w+)\s*:\s*(\S*?)\s*['\"]?\}\}")


def settings_of(run: Runtime, path: str, node: Class, depth: int = 0) -> dict[Value, Value] | Unknown:
    """What a file says, over the files that it builds on; dicts in it are objects of the class `node`."""
    where = files.place(run, path) or packaged(run, path)
    if where is None:
        return run.unknown(files.NOT_READ)
    if depth > DEEPEST:
        return run.unknown("settings build on each other too deeply")
    if where.endswith(".py"):
        text = read(run, where)
        if isinstance(text, Unknown):
            return text
        if "read_base" in text:
            return taken_in(run, where, node, depth)
        text, listed = prepared(text, where)
        base = based_on(run, listed, where, node, depth)
        own = base if isinstance(base, Unknown) else evaluated(run, where, text, base, node)
    else:
        found = load_yaml(run, where)
        if isinstance(found, Unknown) or not isinstance(found, dict):
            return found if isinstance(found, Unknown) else run.unknown("a settings file holds no settings")
        listed = found.pop(BASE, [])
        base = based_on(run, listed, where, node, depth)
        own = found
    if isinstance(base, Unknown):
        return base
    return own if isinstance(own, Unknown) else merged(run, own, base, node)


def packaged(run: Any, path: str) -> str | None:
    """`package::group/file.py`: the settings that an installed package brings with it, in its folder `.mim`."""
    scope, divided, inside = path.partition("::")
    at = run.importer.location(scope) if divided and scope.isidentifier() else None
    if at is None or ".." in inside.split("/") or not inside.endswith(".py"):
        found = path if run.importer.files.is_file(path) and f"{os.sep}.mim{os.sep}" in path else None
        return found if found is not None and any(found.startswith(each) for each in run.importer.search_path) else None
    folder = os.path.join(os.path.dirname(at[0]), ".mim", "configs")
    found = os.path.join(folder, *inside.split("/"))
    return found if run.importer.files.is_file(found) else None


def read(run: Any, path: str) -> str | Unknown:
    try:
        text = load(path, run.importer.files).text
    except SourceError as error:
        return run.unknown(error.reason)  # type: ignore[no-any-return]
    run.spend(len(text) // 64)
    return text


def prepared(text: str, path: str) -> tuple[str, Value]:
    """The text without the statement that names the files it builds on, and what that one names."""
    name = os.path.basename(path)
    stem, ending = os.path.splitext(name)
    known = {
        "fileDirname": os.path.dirname(path), "fileBasename": name, "fileBasenameNoExtension": stem,
        "fileExtname": ending,
    }  # fmt: skip
    text = OF_FILE.sub(lambda found: known[found[1]], text)
    # As on a machine where no variable is set.
    text = OF_ENVIRONMENT.sub(lambda found: found[2], text)
    text = OF_BASE.sub(r"_base_.\1", text)
    listed: Value = []
    try:
        body = parse(text, path).body
    except SourceError:
        return text, listed
    for each in body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id == BASE:
            try:
                listed = ast.literal_eval(each.value)
            except ValueError:
                listed = None
            lines = text.split("\n")
            for at in range(each.lineno - 1, each.end_lineno or each.lineno):
                lines[at] = ""
            text = "\n".join(lines)
            break
    return text, listed


def based_on(run: Runtime, listed: Value, path: str, node: Class, depth: int) -> dict[Value, Value] | Unknown:
    """The settings of several files side by side. No two of them may say the same."""
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return run.unknown("which files settings build on is not known")
    together: dict[Value, Value] = {}
    for name in names:
        at = name if "::" in name else os.path.normpath(os.path.join(os.path.dirname(path), name))
        found = settings_of(run, at, node, depth + 1)
        if isinstance(found, Unknown):
            return found
        twice = together.keys() & found.keys()
        if twice:
            shown = sorted(map(str, twice))
            raise run.error("KeyError", f"Duplicate key is not allowed among bases. Duplicate keys: {shown}")
        together.update(found)
    return together


def evaluated(run: Any, path: str, text: str, base: dict[Value, Value], node: Class) -> dict[Value, Value] | Unknown:
    """The names of a file of settings, those of modules and functions left out."""
    stem = os.path.splitext(os.path.basename(path))[0]
    module = Module(stem, Source(path, text))
    try:
        module.source.check()
    except SourceError as error:
        return run.unknown(error.reason)  # type: ignore[no-any-return]
    module.assign(BASE, held(node, base))
    return {word: value for word, value in names_in(run, module).items() if word != BASE}


def names_in(run: Any, module: Module) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for word in module.names(run):
        value = module.attribute(run, word) if not word.startswith("__") else MISSING
        if value is not MISSING and not isinstance(value, (Module, Namespace, Function, Native)):
            found[word] = value
    return found


def merged(run: Runtime, own: dict[Value, Value], base: dict[Value, Value], node: Class) -> dict[Value, Value]:
    """Settings over others: dicts item by item, all else in the place of what was there. `_delete_` in a dict puts it
    in the place of the other one."""
    result = dict(base)
    for key, value in own.items():
        inner, there = payload(value), payload(result.get(key))
        if not isinstance(inner, dict):
            result[key] = value
            continue
        inner = dict(inner)
        replaces = bool(inner.pop(DELETE, False))
        if key not in result or replaces:
            result[key] = held(node, plain(inner))
        elif isinstance(there, dict):
            result[key] = held(node, merged(run, inner, there, node))
        else:
            raise run.error("TypeError", f"{key} in child config cannot inherit from base: there it is no dict")
    return result


def taken_in(run: Any, path: str, node: Class, depth: int) -> dict[Value, Value] | Unknown:
    """A file that imports what it builds on: names of its own over those that `import *` brings."""
    relative = os.path.relpath(path, os.getcwd())
    inside = not relative.startswith(os.pardir)
    dotted = os.path.splitext(relative if inside else os.path.basename(path))[0].replace(os.sep, ".")
    module = run.importer.load_file(path, dotted, False)
    return all_names(run, module, node, depth) if module is not None else run.unknown("a settings file is no Python")


def all_names(run: Any, module: Module, node: Class, depth: int) -> dict[Value, Value] | Unknown:
    if depth > DEEPEST:
        return run.unknown("settings build on each other too deeply")  # type: ignore[no-any-return]
    module.index()
    together: dict[Value, Value] = {}
    for statement in parse(module.source.text, module.path).body:
        for each in ast.walk(statement) if isinstance(statement, ast.With) else ():
            if not isinstance(each, ast.ImportFrom):
                continue
            dotted = run.importer.resolve_relative(module, each.level, each.module or "")
            base = run.importer.find(dotted)
            if not isinstance(base, Module):
                return run.import_failure(dotted)  # type: ignore[no-any-return]
            found = all_names(run, base, node, depth + 1)
            if isinstance(found, Unknown):
                return found
            if each.names[0].name == "*":
                together.update(found)
    for word, value in names_in(run, module).items():
        together[word] = module.variables[word] = held(node, value)
    return together
