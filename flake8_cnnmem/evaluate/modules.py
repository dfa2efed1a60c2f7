"""Modules of the interpreted program, read from source when a name of theirs is needed, and no further.

An imported module is not run from top to bottom. Its top-level statements are indexed by the names that
they bind or touch, and asking for a name runs just the statements that concern it, in their order.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.module_dict import contents, names_of
from flake8_cnnmem.evaluate.outlines import Outline
from flake8_cnnmem.source import Source, SourceError
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Namespace, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.functions import Code
    from flake8_cnnmem.evaluate.interpreter import Interpreter

TODO, RUNNING, DONE = 0, 1, 2

HANDED_ON = frozenset(("__version__", "__version_info__"))
"""Names with two underscores that a package's own `__all__` hands on (`from .version import *`)."""


class Module:
    """A module and the state of its top-level statements.

    `name` is the dotted name it is imported by, `package` whether it is an `__init__`. `lazy` modules run
    their statements on demand; the analysed file itself is run eagerly, statement by statement.
    """

    def __init__(self, name: str, source: Source, package: bool = False, lazy: bool = True) -> None:
        self.name = name
        self.source = source
        self.path = source.path
        self.package = package
        self.lazy = lazy
        self.variables: dict[str, Value] = {
            "__name__": name,
            "__file__": source.path,
            "__package__": name if package else name.rpartition(".")[0],
            "__doc__": None,
            "__spec__": None,
            "__loader__": None,
        }
        if package:
            self.variables["__path__"] = [os.path.dirname(source.path)]
        self.state: list[int] = []
        self.waiting: dict[str, Sequence[int]] = {}
        """By name: the statements that concern it, until somebody asks for the name."""
        self.touching: Mapping[str, Sequence[int]] = {}
        """By name: all statements that concern it."""
        self.stars: list[ast.ImportFrom] = []
        self.star_failure: Unknown | None = None
        """Why the names that a star import would have brought are not known."""
        self.indexed = self.begun = False
        self.asked: dict[str, list[ast.ImportFrom]] = {}
        self.overtaken: set[str] = set()
        """Assigned names of which is known whether a later star import brings them."""

    def package_name(self) -> str:
        """The dotted name of the package that relative imports start from."""
        return self.name if self.package else self.name.rpartition(".")[0]

    def index(self) -> None:
        """Note which names each statement concerns. Nothing is evaluated."""
        if self.indexed:
            return
        self.indexed = True
        outline = self.outline()
        self.state = [TODO] * len(outline.names)
        self.stars.extend(outline.stars)
        self.waiting = dict(outline.places)
        self.touching = outline.places
        if self.lazy:
            self.source.release()

    def begin(self, run: Interpreter) -> None:
        """Make the module ready to have statements run. Those that set how a framework works are run at once: nobody
        asks for them by a name, and all that comes after them depends on them."""
        self.index()
        if not self.begun:
            self.begun = True
            for at in self.outline().settings:
                self.run_statement(run, at)

    def outline(self) -> Outline:
        """Which statements define which names, worked out once for a text."""
        syntax = self.source.syntax
        if syntax.outline is None:
            syntax.outline = Outline(self.source.tree.body)
        outline: Outline = syntax.outline
        return outline

    def run_statement(self, run: Interpreter, at: int) -> None:
        """Run the statement of this number, unless it ran or is running."""
        if self.state[at] != TODO:
            return
        self.state[at] = RUNNING
        outline = self.outline()
        names = outline.names[at]
        try:
            span = self.source.spans()[at]
            run.importer.count(span.end - span.start)
            code, twin = self.code(run, at)
        except (SourceError, Exhausted) as error:
            line = outline.lines[at] if isinstance(error, Exhausted) else error.line or outline.lines[at]
            self.lose(run, names, Unknown(error.reason, self.path, line))
            return
        for word in names:
            for earlier in self.touching.get(word, ()):
                if earlier < at:
                    self.run_statement(run, earlier)
        run.importer.defining.append(names)
        try:
            run.run_top_level(self, twin, code)
        finally:
            run.importer.defining.remove(names)
            run.importer.changes += 1
        self.state[at] = DONE
        if run.journal is not None:
            run.settled.extend((self.variables, word, self.variables[word]) for word in names if word in self.variables)

    def code(self, run: Interpreter, at: int) -> tuple[Code, ast.stmt]:
        """A top-level statement, compiled once for all evaluations of the file, and its syntax. SourceError where it
        does not parse."""
        compiled = self.source.compiled
        if at not in compiled:
            node, twin = self.source.statement(at)
            compiled[at] = run.compile_statement(self.path, node, twin), twin
        found: tuple[Code, ast.stmt] = compiled[at]
        return found

    def lose(self, run: Interpreter, names: Iterable[str], cause: Unknown) -> None:
        """Give up a statement: the names that it concerns are Unknown where nothing else binds them."""
        run.failures.append(cause)
        for word in names:
            if word != "*":
                self.variables.setdefault(word, cause)

    def settle(self, run: Interpreter, word: str) -> None:
        """Run every statement that concerns a name and has not been run."""
        for at in self.waiting.pop(word, ()):
            if self.state[at] == TODO:
                self.run_statement(run, at)

    def global_name(self, run: Interpreter, word: str) -> Value:
        """A name as code in this module sees it: its own, a star import's, a builtin."""
        found = self.own(run, word)
        if found is MISSING:
            found = run.builtins.get(word, MISSING)
        return self.star_failure if found is MISSING and self.star_failure is not None else found

    def settle_name(self, run: Interpreter, word: str) -> None:
        """Run what decides a name, and what must have run before it."""
        if self.lazy:
            if not self.begun:
                self.begin(run)
            if word in self.waiting:
                self.settle(run, word)

    def own(self, run: Interpreter, word: str) -> Value:
        """The value of a name that the module defines or brings by a star, or MISSING."""
        self.settle_name(run, word)
        found = self.variables.get(word, MISSING)
        if self.stars and (found is MISSING or self.comes_before_stars(word)):
            brought = self.from_stars(run, word)
            found = found if brought is MISSING else brought
        return found

    def comes_before_stars(self, word: str) -> bool:
        """Whether a lazy module assigns a name and imports `*` later, which may bring another value. Asked once."""
        if not self.lazy or word in self.overtaken:
            return False
        self.overtaken.add(word)
        places = self.touching.get(word, ())
        outline = self.outline()
        return bool(places) and places[-1] in outline.plain and self.stars[-1].lineno > outline.lines[places[-1]]

    def from_stars(self, run: Interpreter, word: str) -> Value:
        """Look a name up in the modules that `from ... import *` names, the last first."""
        if word.startswith("__") and word not in HANDED_ON:
            return MISSING
        places = self.touching.get(word, ()) if word in self.overtaken else ()
        first = self.outline().lines[places[-1]] if places else 0
        return self.first_brought(run, [each for each in reversed(self.stars) if each.lineno >= first], word)

    def first_brought(self, run: Interpreter, stars: Sequence[ast.ImportFrom], word: str) -> Value:
        """What the first of several `from ... import *` that knows a name brings; MISSING where none does. One of them
        may ask this module for the name in turn: when it runs, those that are left to look into have run."""
        outer = self.asked.get(word)
        left = list(stars) if outer is None else outer
        try:
            while left:
                statement, *left = left
                self.asked[word] = left
                found = run.importer.star_member(self, statement, word)
                if found is not MISSING:
                    run.importer.changes += 1
                    self.variables[word] = found
                    return found
        finally:
            if outer is None:
                self.asked.pop(word, None)
            else:
                self.asked[word] = outer
        return MISSING

    def attribute(self, run: Interpreter, word: str) -> Value:
        """`module.word`: a name, a submodule, or what the module's own `__getattr__` gives."""
        limit = self.reached(run, word)
        found = self.own(run, word) if limit is None else self.bound_before(run, word, limit)
        if found is not MISSING:
            return found
        if self.package:
            submodule = run.importer.submodule(f"{self.name}.{word}")
            if submodule is not None:
                return submodule
        if word == "__dict__":
            return contents(self) if self.lazy else self.variables
        declared = self.declared(run, word)
        if declared is not MISSING:
            return declared
        hook = self.own(run, "__getattr__") if not word.startswith("__") else MISSING
        if hook is not MISSING:
            return run.quietly("AttributeError", hook, word)
        if self.package and not run.importer.files.is_file(self.path) and not word.startswith("__"):
            # A folder that happens to have the name of a package (what a tool wrote there) holds nothing of it.
            return run.import_failure(self.name)
        return MISSING

    def reached(self, run: Interpreter, word: str) -> int | None:
        """How far a package has run when a module below it asks for a name at its own top: to the statement that
        imports that module, whatever was read first here. None where no statement after it concerns the name."""
        frame = run.frame
        if not self.package or not self.lazy or frame is None or frame.kind != "module":
            return None
        asking = frame.module
        if not asking.lazy or not asking.name.startswith(f"{self.name}."):
            return None
        self.index()
        below = asking.name[len(self.name) + 1 :]
        outline = self.outline()
        imports = (outline.imports.get(name) for name in (f".{below}", asking.name))
        limit = min((at for at in imports if at is not None), default=None)
        places = outline.places.get(word, ())
        return limit if limit is not None and places and places[-1] > limit else None

    def bound_before(self, run: Interpreter, word: str, limit: int) -> Value:
        """A name as the statements in front of one leave it; MISSING where they do not bind it."""
        for at in self.touching.get(word, ()):
            if at > limit and self.state[at] != TODO:
                return run.unknown(f"{word} changes while its package is imported")
            if at < limit:
                self.run_statement(run, at)
        return self.variables.get(word, MISSING)

    def declared(self, run: Interpreter, word: str) -> Value:
        """What the file tells type checkers that a name is: packages that load their parts when they are asked for
        import them under `if TYPE_CHECKING:`."""
        for node in self.outline().declared:
            for alias in node.names:
                if (alias.asname or alias.name) == word:
                    dotted = node.module or ""
                    if node.level:
                        dotted = run.importer.resolve_relative(self, node.level, dotted)
                    found = self.variables[word] = run.importer.member(dotted, alias.name)
                    return found
        return self.declared_by_stars(run, word)

    def declared_by_stars(self, run: Interpreter, word: str) -> Value:
        """The same for `from .models import *`. A package of many parts has one such import for each: those whose name
        the word begins with come first (`vit` for ViTConfig), so that the others need not be read."""
        if word.startswith("__"):
            return MISSING
        stars = [node for node in self.outline().declared if node.names[0].name == "*"]
        plain = word.lower().replace("_", "")
        stars.sort(key=lambda node: -common_length((node.module or "").rpartition(".")[2].replace("_", ""), plain))
        return self.first_brought(run, stars, word)

    def assign(self, word: str, value: Value) -> None:
        """Give a name a value from outside (`module.name = value`)."""
        if self.lazy:
            # What the module itself gives the name must not come after it.
            self.index()
        self.waiting.pop(word, None)
        self.variables[word] = value

    def namespace(self, run: Interpreter) -> dict[str, Value]:
        """`globals()`: everything has to be there, so a lazy module is settled first, and star imports bring all."""
        if self.lazy:
            self.index()
            for word in list(self.waiting):
                self.settle(run, word)
        if self.stars:
            for word in names_of(run, self):
                self.own(run, word)
        return self.variables

    def exports(self, run: Interpreter, word: str) -> bool:
        """Whether `from module import *` brings this name along."""
        if self.lazy:
            self.index()
        listed = self.own(run, "__all__") if "__all__" in self.waiting or "__all__" in self.variables else MISSING
        if isinstance(listed, (list, tuple)):
            return word in listed
        return not word.startswith("_")

    def names(self, run: Interpreter) -> list[str]:
        """Every name that the module may hold, its star imports' left out."""
        if self.lazy:
            self.index()
        return [word for word in {**self.waiting, **self.variables} if isinstance(word, str)]


Importable = Module | Namespace


def common_length(part: str, word: str) -> int:
    """How long a part's name is that a word begins with; 0 where it begins otherwise."""
    return len(part) if word.startswith(part) else 0
