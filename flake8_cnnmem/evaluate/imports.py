"""Where imports are found: our natives, then source files on the search path. Nothing is ever imported."""

from __future__ import annotations

import ast
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks, packages
from flake8_cnnmem.evaluate import imported_effects, registries, stdlib
from flake8_cnnmem.evaluate.blocks import statement
from flake8_cnnmem.evaluate.budget import READ, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.import_path import ImportPath
from flake8_cnnmem.evaluate.modules import Importable, Module
from flake8_cnnmem.evaluate.user_stubs import Stubs
from flake8_cnnmem.source import Source, SourceError, load, mentions_framework, read
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Namespace, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter
    from flake8_cnnmem.evaluate.project_imports import Place

TEXT_PER_STEP = 400
PARSED_PER_STEP = 16
"""Characters that are read, and parsed, in about the time that a step takes."""


MISSING_PACKAGES = "missing packages"
"""Where a run keeps the imports from packages on top of a framework whose source it did not find, by name."""

LIBRARY = os.path.dirname(os.path.abspath(os.__file__))
"""Where the library's own source is: its modules are modelled, also for its own files."""

IMPORTED_AT_START = frozenset(sys.builtin_module_names) | {
    "os", "io", "abc", "stat", "posixpath", "ntpath", "genericpath", "site", "codecs", "encodings", "zipimport",
    "_collections_abc", "importlib",
}  # fmt: skip
"""Modules that no file of a project takes the place of: Python has imported them before it reads the first."""


class Importer:
    """Finds modules by dotted name, each once for an evaluation. Sources are shared by the whole process."""

    def __init__(self, run: Interpreter, search_path: Sequence[str]) -> None:
        self.run = run
        self.stubs = Stubs()
        self.search_path = list(search_path)
        self.path = ImportPath(self)
        self.script_folder = ""
        """The folder of the script, or that of its top package: the first place in which Python looks."""
        self.files: Files = DISK
        self.left = READ
        """Characters of imported modules that may be read yet."""
        self.modules: dict[str, Importable | None] = {}
        self.by_path: dict[str, Module] = {}
        self.folders: list[str] = []
        self.placed = 0
        """The packages whose folders are known, and how many of the modules they were looked up for."""
        self.never: set[tuple[int, int, str]] = set()
        """By module and star import: words that are not in the text of what it names. Builtins are asked for often."""
        self.changes = 0
        """How many statements of imported modules have run, and names have come by a star, so far."""
        self.missed: dict[tuple[int, int, str], int] = {}
        """The same for words that it was found not to bring, with the changes until then: files that import each
        other's names are reached in far more ways than there are files."""
        self.searched: set[tuple[int, str]] = set()
        """Registries and keys that have been searched for."""
        self.filling: set[int] = set()
        """Registries, by id, that statements which were searched for are filling."""
        self.called: set[int] = set()
        """Registries, by id, whose own functions' calls at the top of modules have been run."""
        self.registering: dict[int, Sequence[str]] = {}
        """By registry: the functions of its module that fill it."""
        self.fillers: dict[int, Sequence[str]] = {}
        """By registry: the files that may fill it."""
        self.texts: dict[str, str] = {}
        """By path: what was searched for a registry's key, of so many characters (`held`)."""
        self.held = 0
        self.listed: dict[str, Sequence[str]] = {}
        """By folder: the files below it that are searched."""
        self.places: dict[tuple[str, str], list[Place]] = {}
        """By folder and name of a package: the modules of it that are searched."""
        self.mentioning: dict[tuple[str, ...], Sequence[str]] = {}
        """By package and the names of a registry: the files that mention one of them."""
        self.mentioned: dict[str, Mapping[object, Sequence[int]]] = {}
        """By path: the statements of a file that may register a key, by key."""
        self.completed: dict[int, int] = {}
        """Containers, by id, that have been completed, and how many modules the program imported by then."""
        self.subclassed: set[tuple[str, str]] = set()
        """Classes, by the path of their module, of which the subclasses have been looked for in what is imported."""
        self.reached: tuple[int, Sequence[Place]] = (-1, ())
        """The modules of the project that the program imports, and how many modules were known when they were found."""
        self.located: dict[str, tuple[Place, ...]] = {}
        """By dotted name: a module of the project, behind the packages above it."""
        self.somewhere: dict[str, bool] = {}
        """By module name: whether there is a file or folder for it."""
        self.imports: dict[str, Sequence[Place]] = {}
        """By path: the modules of the project that a module imports."""
        self.own: dict[str, bool] = {}
        """By path: whether a file is one of the project."""
        self.entered: set[str] = set()
        """The paths of modules that the program has imported: what they do to others is done."""
        self.defining: list[set[str]] = []
        """What the top-level statements that are running define."""

    def find(self, dotted: str) -> Importable | None:
        """The module of this absolute name, or None."""
        self.path.in_force()
        if dotted in self.modules:
            return self.modules[dotted]
        native = self.native(dotted)
        found: Importable | None = native if native is not None else self.find_source(dotted)
        if found is None:
            installed_as = frameworks.source_name(dotted)
            found = packages.stand_in(dotted) if installed_as is None else self.find(installed_as)
        self.modules[dotted] = found
        return found

    def is_installed(self, dotted: str) -> bool:
        """Whether a module that was found is there for who asks whether it is installed. Of a package whose source is
        not found something may be known all the same: it is there where the analysed file names it."""
        if self.native(dotted) is not None or self.location(dotted) is not None:
            return True
        own = self.by_path.get(self.files.real(self.run.trace.path)) if self.run.trace.path else None
        return own is not None and dotted.partition(".")[0] in own.source.text

    def native(self, dotted: str) -> Namespace | None:
        """What is modelled here in place of a module's source."""
        if dotted in ("builtins", "__builtin__"):
            return self.builtins()
        described = self.stubs.find_module(dotted)
        if described is not None:
            return described
        if self.shadowed(dotted.partition(".")[0]):
            return None
        return packages.find_module(dotted) or stdlib.find_module(dotted) or frameworks.find_module(dotted)

    def shadowed(self, top: str) -> bool:
        """Whether the project has a module of the library's name where Python looks first: in the script's folder.

        What the start of Python imports itself is there already; and a folder without `__init__` comes last.
        """
        if top not in sys.stdlib_module_names or top in IMPORTED_AT_START or self.script_folder in ("", LIBRARY):
            return False
        at = locate(os.path.join(self.script_folder, top), self.files)
        return at is not None and self.files.is_file(at[0])

    def builtins(self) -> Namespace:
        """The module of the builtins: what the program sets in it every module sees."""
        return Namespace("builtins", lambda name: MISSING, lambda name: False, attributes=self.run.builtins)

    def submodule(self, dotted: str) -> Importable | None:
        """As `find`, for a name that may be an attribute of its package as well."""
        return self.find(dotted)

    def find_source(self, dotted: str) -> Module | None:
        """The module of a dotted name whose source is found; None without one."""
        parts = dotted.split(".")
        at = self.location(dotted)
        if at is not None:
            return self.load_file(at[0], dotted, at[1])
        if len(parts) > 1:
            # A package may extend beyond the folder it was first found in (namespace packages).
            parent = self.find(".".join(parts[:-1]))
            if isinstance(parent, Module) and parent.package and parent.path:
                at = locate(os.path.join(os.path.dirname(parent.path), parts[-1]), self.files)
                if at is not None:
                    return self.load_file(at[0], dotted, at[1])
        return None

    def location(self, dotted: str) -> tuple[str, bool] | None:
        """The file of a module by its absolute name, and whether it is a package."""
        parts = dotted.split(".")
        bare: tuple[str, bool] | None = None
        for folder in self.path.in_force():
            place = locate(os.path.join(folder, *parts), self.files)
            if place is not None and self.files.is_file(place[0]):
                return place
            # A folder without `__init__` is a package only where no other folder of the path has a real one.
            bare = bare or place
        return bare

    def load_file(self, path: str, dotted: str, package: bool) -> Module | None:
        """The module of a file, read once; None for a file that cannot be read."""
        known = self.by_path.get(self.files.real(path)) if path else None
        if known is not None:
            return known
        try:
            source = load(path, self.files) if self.files.is_file(path) else Source(path, "")
            self.run.spend(len(source.text) // PARSED_PER_STEP)
            self.count(len(source.text))
            source.check()
        except SourceError:
            return None
        module = Module(dotted, source, package)
        for word, value in packages.placed_in(dotted).items():
            module.assign(word, value)
        if self.files.is_file(path):
            self.by_path[self.files.real(path)] = module
        return module

    def package_folders(self) -> Sequence[str]:
        """The folders of the packages that something has been imported of, each the outermost with an `__init__`."""
        for path in itertools.islice(self.by_path, self.placed, None):
            folder, dotted, package = package_of(path, self.files)
            top = os.path.join(folder, dotted.partition(".")[0])
            if (package or "." in dotted) and top not in self.folders:
                self.folders.append(top)
        self.placed = len(self.by_path)
        return self.folders

    def count(self, characters: int) -> None:
        """Note that so much of an imported module is read. Raises Exhausted where it comes to too much for one file."""
        self.left -= characters
        if self.left < 0:
            raise Exhausted("what is imported is too much to be followed")

    def adopt(self, module: Module) -> None:
        """Make the analysed file the module of its own name, so that files that import it share its state."""
        self.by_path[self.files.real(module.path)] = module
        self.modules.setdefault(module.name, module)

    def resolve_relative(self, module: Module, level: int, name: str) -> str:
        """The absolute name of `from ..name import`, seen from a module. ImportError above the top package."""
        package = module.package_name().split(".") if module.package_name() else []
        base = package[: len(package) - (level - 1)] if level > 1 else package
        return ".".join([*base, name] if name else base)

    def note_missing(self, module: Namespace, found: Value) -> None:
        """Note what is not known of a module whose source is not found: models may come from it."""
        if module.stands_in and isinstance(found, Unknown) and mentions_framework(module.name):
            self.run.data(MISSING_PACKAGES).setdefault(module.name, self.run.unknown(found.reason))

    def star_member(self, module: Module, node: ast.ImportFrom, word: str) -> Value:
        """A name that this star import may bring, or MISSING."""
        key = (id(module), id(node), word)
        if key in self.never or self.missed.get(key) == self.changes:
            return MISSING
        dotted = self.resolve_relative(module, node.level, node.module or "") if node.level else node.module or ""
        if not self.may_bring(dotted, word):
            self.never.add(key)
            return MISSING
        source = self.find(dotted)
        if isinstance(source, Namespace):
            hidden = word.startswith("_") or (source.exported is not None and not source.exported(word))
            if hidden:
                return MISSING
            found = source.lookup(word)
            self.note_missing(source, found)
            if source.holds is None and module.star_failure is None:
                module.star_failure = self.run.unknown(f"what {dotted} has is not known")
            brought = any(holds is not None and holds(word) for holds in (source.holds, source.older))
            return self.run.unknown(f"{dotted}.{word} is not followed") if found is MISSING and brought else found
        if source is None:
            if module.star_failure is None:
                module.star_failure = self.run.import_failure(dotted)
            return MISSING
        if source.source.text and not may_hold(source.source.text, word):
            self.never.add(key)
            return MISSING
        if word.startswith("_") and not source.exports(self.run, word):
            return MISSING
        found = source.own(self.run, word)
        if found is MISSING:
            found = source.declared(self.run, word)
        if found is MISSING and source.lazy:
            self.missed[key] = self.changes
        return MISSING if found is MISSING or not source.exports(self.run, word) else found

    def may_bring(self, dotted: str, word: str) -> bool:
        """Whether a module that nobody has needed so far may hold a name, by its text alone: star imports of a large
        package lead to hundreds of files, and all but one need not be parsed."""
        if dotted in self.modules or self.native(dotted) is not None:
            return True
        at = self.location(dotted)
        if at is None or not self.files.is_file(at[0]):
            return True
        try:
            text = read(at[0], self.files)
        except SourceError:
            return True
        self.run.spend(1 + len(text) // TEXT_PER_STEP)
        return may_hold(text, word)

    def member(self, dotted: str, word: str) -> Value:
        """`from dotted import word`."""
        run = self.run
        source = self.find(dotted)
        if source is None:
            return run.import_failure(dotted)
        found = run.find(source, word)
        if found is MISSING or (isinstance(found, Unknown) and isinstance(source, Namespace)):
            submodule = self.submodule(f"{dotted}.{word}")
            if submodule is not None:
                return submodule
        if found is MISSING and isinstance(source, Module):
            found = self.elsewhere(source, word)
        if found is MISSING:
            if run.import_guards:
                raise run.error("ImportError", f"cannot import name '{word}' from '{dotted}'")
            return run.unknown(f"{word} is not found in {dotted}")
        return found

    def elsewhere(self, module: Module, word: str) -> Value:
        """A name that a module lacks, from another module of its own name further along the search path; or MISSING.

        The path is a guess at where Python looks: what the code asks of a module tells which of two it means. A
        checkout whose public names are made when it is packaged has the same names as the installed package.
        """
        if not module.lazy or word.startswith("__"):
            return MISSING
        known = self.files.real(module.path)
        for folder in self.search_path:
            at = locate(os.path.join(folder, *module.name.split(".")), self.files)
            if at is None or not self.files.is_file(at[0]) or self.files.real(at[0]) == known:
                continue
            other = self.load_file(at[0], module.name, at[1])
            found = other.attribute(self.run, word) if other is not None else MISSING
            if found is not MISSING:
                return found
        return MISSING

    def registered(self, container: dict[Value, Value], key: str) -> bool:
        """Whether statements that were not needed so far give this registry the key."""
        if registries.registered(self, container, key):
            return True
        imported_effects.complete(self, container)
        return key in container

    def registered_in_package(self, container: dict[Value, Value], key: str) -> bool:
        """Whether an installed package gives its own registry the key by a statement that does not show it."""
        imported_effects.complete_in_package(self, container)
        return key in container

    def entered_by(self, frame: Frame, *names: str) -> None:
        """An import of these modules is carried out: by the program's own file, or in a function."""
        if frame.kind != "module" or not frame.module.lazy:
            imported_effects.enter(self, *names)

    def complete(self, container: Value) -> None:
        """Run what fills a container of an imported module in the other modules that the program imports."""
        imported_effects.complete(self, container)

    def subclasses(self, cls: Class) -> list[Value]:
        """The classes of the modules read so far that name this one as a base, in the order of their definition."""
        if cls.site is not None and cls.site.path in self.by_path:
            imported_effects.subclassing(self, self.by_path[cls.site.path], cls.name)
        found: list[Value] = []
        modules = [module for module in self.modules.values() if isinstance(module, Module)]
        if self.run.frame is not None:
            modules.append(self.run.frame.module)
        for module in sorted(dict.fromkeys(modules), key=lambda each: cls.site is None or each.path != cls.site.path):
            if cls.name not in module.source.text:
                continue
            if module.lazy:
                module.begin(self.run)
            for at, name in module.outline().bases.get(cls.name, ()):
                if module.lazy:
                    module.run_statement(self.run, at)
                made = module.variables.get(name)
                if isinstance(made, Class) and cls in made.bases:
                    found.append(made)
        return found


def may_hold(text: str, word: str) -> bool:
    """Whether a module's text may define a word: by its letters, by a star, by `globals()`."""
    return word in text or "import *" in text or "globals()" in text


def locate(base: str, files: Files = DISK) -> tuple[str, bool] | None:
    """The file of a module whose path without ending is `base`, and whether it is a package."""
    initial = os.path.join(base, "__init__.py")
    if files.is_file(initial):
        return initial, True
    if files.is_file(base + ".py"):
        return base + ".py", False
    if files.is_folder(base):
        return initial, True
    return None


def package_of(path: str, files: Files = DISK) -> tuple[str, str, bool]:
    """For a file: the folder that its top package lies in, its dotted name there, and whether it is a package."""
    folder, name = os.path.split(os.path.abspath(path))
    stem, ending = os.path.splitext(name)
    stem = stem if ending in (".py", ".ipynb") else name
    parts = [] if stem == "__init__" else [stem]
    while files.is_file(os.path.join(folder, "__init__.py")):
        folder, last = os.path.split(folder)
        parts.insert(0, last)
        if not last:
            break
    return folder, ".".join(parts) or stem, stem == "__init__"


@statement(cst.Import)
def import_(compiler: Compiler, node: cst.Import, twin: ast.Import) -> Code:
    """Code for `import a.b as c`."""
    names = [(alias.name, alias.asname) for alias in twin.names]

    def code(frame: Frame) -> None:
        run = frame.run
        run.importer.entered_by(frame, *(dotted for dotted, _ in names))
        for dotted, word in names:
            found: Value = run.importer.find(dotted)
            if found is None:
                found = run.import_failure(dotted)
            if word is not None:
                frame.store(word, found)
                continue
            top = dotted.split(".")[0]
            first = run.importer.find(top) if top != dotted else found
            frame.store(top, first if first is not None else found)

    return code


@statement(cst.ImportFrom)
def import_from(compiler: Compiler, node: cst.ImportFrom, twin: ast.ImportFrom) -> Code:
    """Code for `from a import b as c`, and for a star, which brings names when they are asked for."""
    names = [(alias.name, alias.asname or alias.name) for alias in twin.names]
    star = names[0][0] == "*"

    def code(frame: Frame) -> None:
        run = frame.run
        module = frame.module
        name = twin.module or ""
        dotted = run.importer.resolve_relative(module, twin.level, name) if twin.level else name
        run.importer.entered_by(frame, dotted, *(f"{dotted}.{word}" for word, _ in names if not star))
        if star:
            if not module.lazy:
                module.stars.append(twin)
                source = run.importer.find(dotted)
                # What stands in for a source that is not found has an answer for every name.
                open_ended = isinstance(source, Namespace) and source.stands_in
                for known in [each for each in module.variables if not each.startswith("__")]:
                    brought = run.importer.star_member(module, twin, known)
                    if brought is not MISSING and not (open_ended and isinstance(brought, Unknown)):
                        frame.store(known, brought)
            return
        for word, alias in names:
            frame.store(alias, run.importer.member(dotted, word))

    return code
