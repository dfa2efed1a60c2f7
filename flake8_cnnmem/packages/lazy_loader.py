"""lazy_loader: the names of a package that its modules are imported for when they are asked for. `attach` is read from
its source; `attach_stub` takes the names from the stub beside the package's file, which it walks with `ast`
(lazy_loader 0.6, __init__.py)."""

from __future__ import annotations

import ast
import os
from typing import Any

from flake8_cnnmem.source import SourceError, load
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value


def attach_stub(run: Any, package_name: Value, filename: Value) -> Value:
    """What `attach` gives for the imports of a stub: modules (`from . import io`) and names of modules."""
    path = filename if isinstance(filename, str) else None
    if path is None:
        return filename if isinstance(filename, Unknown) else run.unknown("a stub's name is not known")
    stub = path if path.endswith("i") else f"{os.path.splitext(path)[0]}.pyi"
    try:
        text = load(stub, run.importer.files).text
        tree = ast.parse(text)
    except SourceError as error:
        return run.unknown(error.reason)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return run.unknown("a stub is no Python")
    run.spend(len(text) // 64)
    modules: list[Value] = []
    names: dict[str, list[Value]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            taken: list[Value] = [alias.name for alias in node.names]
            if node.module is None:
                modules.extend(taken)
            else:
                names[node.module] = [*names.get(node.module, ()), *taken]
    return run.call(run.importer.member("lazy_loader", "attach"), package_name, modules, dict(names))


PLACED: dict[str, dict[str, Value]] = {
    "lazy_loader": {"attach_stub": Native("attach_stub", attach_stub, propagate_unknown=False)}
}
