"""`importlib`, `pkgutil` and `pydoc.locate`: modules by name or by file, the files of packages, what is installed."""

from __future__ import annotations

import os
import posixpath
from pathlib import PurePosixPath
from typing import Any

from flake8_cnnmem.evaluate.builtins import folders
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.builtins.files import place
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Namespace, Native, Value

imports = Names()


def module_named(run: Runtime, dotted: str) -> Value | None:
    """The module of this name through the interpreter's own importer; None where there is none."""
    importer = getattr(run, "importer", None)
    return None if importer is None else importer.find(dotted)


@imports.function("import_module")
def import_module(run: Runtime, name: Value, package: Value = None) -> Value:
    """`importlib.import_module(name, package)`. ModuleNotFoundError where it is certain that there is none."""
    dotted = payload(name)
    if not isinstance(dotted, str):
        return run.unknown("the name of an imported module is not known")
    if dotted.startswith("."):
        if not isinstance(package, str):
            return run.unknown("the package of a relative import is not known")
        level = len(dotted) - len(dotted.lstrip("."))
        parts = package.split(".")
        dotted = ".".join([*parts[: len(parts) - level + 1], *filter(None, [dotted.lstrip(".")])])
    found = module_named(run, dotted)
    return run.import_failure(dotted) if found is None else found


imports["reload"] = Native("reload", lambda run, module: module)
imports["invalidate_caches"] = ignored("invalidate_caches")
imports["__import__"] = imports["import_module"]

# What is installed. A framework that is known here is: the code is meant for a machine that has it.

SPEC = native_class("ModuleSpec", {}, module="importlib.machinery")
installed = Names()
distributions = Names()


@installed.function("find_spec")
def find_spec(run: Runtime, name: Value, package: Value = None) -> Value:
    """`importlib.util.find_spec(name)`: None where there is no such module."""
    dotted = payload(name)
    if not isinstance(dotted, str):
        return run.unknown("the name of a module is not known")
    found = None if dotted.startswith(".") else module_named(run, dotted)
    if found is None or not run.importer.is_installed(dotted):  # type: ignore[attr-defined]
        return None
    return Instance(SPEC, {"name": dotted, "origin": None, "submodule_search_locations": []})


def source_at(run: Any, location: Value) -> str | None:
    """The Python file of the project, or of a package, that a program names by its path; None for any other."""
    plain = payload(location)
    found = place(run, location) if isinstance(plain, (str, PurePosixPath)) else None
    return found if found is not None and found.endswith(".py") else None


@installed.function("spec_from_file_location")
def spec_from_file_location(run: Any, name: Value, location: Value = None, **kwargs: Value) -> Value:
    """A module by the path of its file."""
    path, dotted = source_at(run, location), payload(name)
    if path is None or not isinstance(dotted, str):
        return run.unknown("the file of a module is not known")
    module = run.importer.load_file(path, dotted, os.path.basename(path) == "__init__.py")
    loader = Instance(LOADER, {"name": dotted, "path": path}, native=module)
    return Instance(SPEC, {"name": dotted, "origin": path, "loader": loader, "submodule_search_locations": None})


def loaded(run: Any, self: Instance, *args: Value) -> Value:
    """`loader.load_module()`."""
    return run.unknown("the file of a module cannot be read") if self.native is None else self.native


def make_loader(run: Any, self: Instance, fullname: Value, path: Value) -> None:
    """`SourceFileLoader(name, path)`."""
    found = source_at(run, path)
    package = found is not None and os.path.basename(found) == "__init__.py"
    self.native = None if found is None else run.importer.load_file(found, str(payload(fullname)), package)


LOADER = native_class(
    "SourceFileLoader",
    {"__init__": Native("__init__", make_loader), "exec_module": ignored("exec_module"),
     "load_module": Native("load_module", loaded)},
    module="importlib.machinery",
)  # fmt: skip


@installed.function("module_from_spec")
def module_from_spec(run: Runtime, spec: Value) -> Value:
    """`importlib.util.module_from_spec(spec)`"""
    loader = run.get(spec, "loader")
    return loader if isinstance(loader, Unknown) else run.call(run.get(loader, "load_module"))


def run_path(run: Any, path_name: Value, init_globals: Value = None, run_name: Value = None) -> Value:
    """`runpy.run_path(path)`: the variables of a file that is run."""
    path = source_at(run, path_name)
    if path is None or init_globals is not None:
        return run.unknown("what a file leaves that is run by its path is not known")
    name = payload(run_name) if isinstance(payload(run_name), str) else "<run_path>"
    return run.get(run.importer.load_file(path, name, False), "__dict__")


@distributions.function("version")
def version(run: Runtime, distribution_name: Value) -> Value:
    """`importlib.metadata.version(name)`: what the package says of itself in `__version__`."""
    dotted = payload(distribution_name)
    found = module_named(run, dotted) if isinstance(dotted, str) else None
    if found is None:
        raise run.error("ModuleNotFoundError", f"No package metadata was found for {dotted}")
    known = payload(run.find(found, "__version__")) if isinstance(found, Namespace) else MISSING
    return known if isinstance(known, str) else run.unknown(f"the version of {dotted} is not known")


distributions["PackageNotFoundError"] = EXCEPTIONS["ModuleNotFoundError"]


# Things and files by name


def locate(run: Runtime, path: Value, *args: Value) -> Value:
    """`pydoc.locate("package.module.Class")`; None where nothing of the name is found."""
    dotted = payload(path)
    if not isinstance(dotted, str):
        return run.unknown("the name of what is located is not known")
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        found: Value = module_named(run, ".".join(parts[:count]))
        if found is None:
            continue
        for word in parts[count:]:
            found = run.find(found, word)
            if found is MISSING or isinstance(found, Unknown):
                return None if found is MISSING else found
        return found
    return run.unknown(f"the source of '{dotted}' is not found")


def folder_of(run: Runtime, package: Value) -> str | Unknown:
    """Where the files of a package lie: of a module, or of the name of one."""
    plain = payload(package)
    module = module_named(run, plain) if isinstance(plain, str) else package
    path = run.find(module, "__file__") if module is not None else MISSING
    return posixpath.dirname(path) if isinstance(path, str) else run.unknown("where a package lies is not known")


def resource(run: Runtime, package: Value, name: Value = "") -> Value:
    """`pkg_resources.resource_filename(package, "configs/net.yaml")`."""
    folder, inner = folder_of(run, package), payload(name)
    if isinstance(folder, Unknown) or not isinstance(inner, str):
        return folder if isinstance(folder, Unknown) else run.unknown("the name of a file is not known")
    return posixpath.join(folder, inner)


def files(run: Runtime, anchor: Value) -> Value:
    """`importlib.resources.files(package)`."""
    folder = folder_of(run, anchor)
    return folder if isinstance(folder, Unknown) else PurePosixPath(folder)


def modules_in(run: Runtime, path: Value = None, prefix: Value = "") -> Value:
    """`pkgutil.iter_modules(package.__path__)`: finder, name, and whether it is a package, for each module there."""
    places = run.items(path) if path is not None else run.unknown("every module that there is is asked for")
    if isinstance(places, Unknown) or not isinstance(prefix, str):
        return places if isinstance(places, Unknown) else run.unknown("the names of modules are not known")
    rows: list[Value] = []
    for folder in places:
        found = folders.listing(run, folder)
        if isinstance(found, Unknown):
            return found
        for each in found[1]:
            stem, ending = os.path.splitext(os.path.basename(each.path))
            package = each.is_folder and any(
                inside.path.endswith("__init__.py") for inside in folders.inside(run, each.path)
            )
            if package or (ending == ".py" and stem != "__init__" and not each.is_folder):
                rows.append((None, f"{prefix}{stem}", package))
    return iter(rows)


by_name: dict[str, Value] = {
    "locate": Native("locate", locate),
    **{name: unfollowed(f"pydoc.{name}") for name in ("getdoc", "render_doc")},
}
listed: dict[str, Value] = {
    "iter_modules": Native("iter_modules", modules_in),
    **{name: unfollowed(f"pkgutil.{name}") for name in ("walk_packages", "get_data", "get_loader", "find_loader")},
    "extend_path": Native("extend_path", lambda run, path, name: path),
}
resources: dict[str, Value] = {
    "files": Native("files", files),
    **{name: unfollowed(f"importlib.resources.{name}") for name in ("path", "as_file", "read_text", "open_text",
       "open_binary", "contents", "is_resource")},
}  # fmt: skip

MODULES: dict[str, dict[str, Value]] = {
    "importlib": imports, "importlib.util": installed, "importlib.resources": resources,
    "importlib.machinery": {"SourceFileLoader": LOADER, "ModuleSpec": SPEC},
    "importlib.metadata": distributions, "importlib_metadata": distributions,
    "pydoc": by_name, "pkgutil": listed, "runpy": {"run_path": Native("run_path", run_path)},
}  # fmt: skip
