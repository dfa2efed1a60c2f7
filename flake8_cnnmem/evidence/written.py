"""Where a value is written that the code uses somewhere else: a constant, an option's default, a settings file.

The use of a value is known from the evaluation; from there its name is followed back through the text of the project's
own files. What is found counts only where the very value stands at one place alone: it is where somebody would change
it. Else the place of use is all that is told.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from flake8_cnnmem.evaluate.builtins.files import READ
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Site
from flake8_cnnmem.source import SourceError

Place = tuple[str, int]

Spellings = frozenset[str]
"""A word in any of several spellings, in small letters."""

Sought = int | Spellings
"""What is looked for: a number, `True`, a word."""

DEEPEST = 6
"""Names that are followed one after another."""
MOST_FILES = 60
MOST_TEXT = 500_000
"""Letters of all files together that are looked through; where a program has more, the place of use is told."""
MOST_WALKS = 16
"""How often they are looked through for one number."""

KNOWN, FILES = "written", "indices"
"""Scratch of the run: where numbers are written, by where they are used; the indices of files, by path."""

HOLDERS = frozenset(
    ("dict", "SimpleNamespace", "Namespace", "EasyDict", "edict", "AttrDict", "ConfigDict", "Munch", "Box", "Bunch")
)
"""What is called with the settings as its keywords."""

BY_SIZES = ("randn", "rand", "zeros", "ones", "empty", "full", "normal")
"""What makes a tensor of the sizes that it is called with."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def written_at(site: Site | None, value: Sought, run: Interpreter) -> Place | None:
    """The file and line where this value is written that a call or statement uses; None where it stands there itself,
    and where that is not known."""
    place = written_for(site, value, run)
    return None if site is None or place == (site.path, site.line) else place


def written_for(site: Site | None, value: Sought, run: Interpreter) -> Place | None:
    """The same, also where it stands there itself."""
    if not isinstance(site, StatementSite):
        return None
    known = run.data(KNOWN)
    key = (site.path, site.line, site.column, type(value), value)
    if key not in known:
        search = Search(value, run)
        nodes = arguments(site.node) if site.path in search.files else ()
        found = {place for node in nodes if (place := search.place(node, site.path, site.line)) is not None}
        [known[key]] = found if len(found) == 1 else [None]
    answer: Place | None = known[key]
    return answer


def worked_out(node: ast.expr) -> object:
    """The number that sums and products of written numbers give (`64 * 7 * 7`); None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = worked_out(node.left), worked_out(node.right)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Add):
        return left + right
    return left // right if isinstance(node.op, ast.FloorDiv) and right else None


def arguments(node: ast.AST) -> Iterator[ast.expr]:
    """What may hold the value in a call or statement: names, attributes, items, numbers."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)) and isinstance(
            getattr(inner, "ctx", ast.Load()), ast.Load
        ):
            yield inner


class SyntaxIndex:
    """What of a file's syntax tree can lead to where a number is written, gathered in one walk."""

    def __init__(self, tree: ast.Module) -> None:
        self.calls: list[ast.Call] = []
        self.functions: list[Function] = []
        self.classes: list[ast.ClassDef] = []
        self.dicts: list[ast.Dict] = []
        self.imports: list[ast.ImportFrom] = []
        self.assigns: list[ast.Assign] = []
        self.tests: list[ast.If] = []
        self.regions: list[ast.With | ast.AsyncWith] = []
        self.variables: dict[str, list[tuple[int, ast.expr]]] = {}
        """By name: the line and the value of each assignment to it."""
        kinds: dict[type, list[Any]] = {
            ast.Call: self.calls,
            ast.FunctionDef: self.functions,
            ast.AsyncFunctionDef: self.functions,
            ast.ClassDef: self.classes,
            ast.Dict: self.dicts,
            ast.ImportFrom: self.imports,
            ast.Assign: self.assigns,
            ast.If: self.tests,
            ast.With: self.regions,
            ast.AsyncWith: self.regions,
        }
        for node in ast.walk(tree):
            found = kinds.get(type(node))
            if found is not None:
                found.append(node)
            for name, value in assignments(node):
                self.variables.setdefault(name, []).append((value.lineno, value))

    def around(self, line: int) -> list[Function]:
        """The functions that have this line, from the innermost outwards."""
        return sorted((each for each in self.functions if within(line, each)), key=lambda each: -each.lineno)

    def values_of(self, name: str, scope: Function | None) -> list[ast.expr]:
        """The values that a variable gets in a function, or in the module outside of all functions and classes."""
        inner = [*self.functions, *self.classes]
        return [
            value
            for line, value in self.variables.get(name, ())
            if (within(line, scope) if scope is not None else not any(within(line, each) for each in inner))
        ]


class Search:
    """One value, looked for in the files that a program was read from."""

    def __init__(self, value: Sought, run: Interpreter) -> None:
        self.value = value
        self.files = indices_of(run)
        self.settings: dict[str, str] = {
            path: data.decode("utf-8", "replace") for path, data in run.data(READ).items() if not path.endswith(".py")
        }
        self.walks = 0
        self.seen: set[tuple[str, str]] = set()
        """The names that have been looked for, each by where."""

    def place(self, node: ast.expr | None, path: str, line: int, depth: int = 0) -> Place | None:
        """Where the value is written that an expression gives."""
        if node is None or depth > DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return (path, node.lineno) if self.is_it(node.value) else None
        if isinstance(node, ast.BinOp):
            return (path, node.lineno) if self.is_it(worked_out(node)) else None
        if isinstance(node, ast.Name):
            return self.of_name(node.id, path, line, depth)
        if isinstance(node, ast.Attribute):
            return self.of_setting(node.attr, depth)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            # `OPTIMIZERS[name]`: the word that chooses.
            return self.place(node.slice, path, line, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.of_setting(text_of(node.slice), depth)
        if isinstance(node, ast.Call) and node.args:
            called = name_of(node.func)
            if called in BY_SIZES:
                return self.only(((each, path) for each in node.args), depth)
            if called == "int":
                return self.place(node.args[0], path, line, depth + 1)
            if called == "get" and text_of(node.args[0]):
                default = node.args[1] if len(node.args) > 1 else None
                return self.of_setting(text_of(node.args[0]), depth) or self.place(default, path, line, depth + 1)
        return None

    def is_it(self, value: object) -> bool:
        if isinstance(self.value, frozenset):
            return isinstance(value, str) and value.lower() in self.value
        return type(value) is type(self.value) and value == self.value

    def is_new(self, path: str, name: str) -> bool:
        """Whether a name is to be looked for: none twice, nor more of them than a few."""
        if (path, name) in self.seen or self.walks >= MOST_WALKS:
            return False
        self.seen.add((path, name))
        self.walks += 1
        return True

    def of_name(self, name: str, path: str, line: int, depth: int) -> Place | None:
        """A variable: of the function around the line, of one outside that, of the module, of the module that it is
        imported from."""
        if not self.is_new(path, name):
            return None
        file = self.files[path]
        for function in file.around(line):
            if name in parameters(function):
                return self.of_parameter(function, name, path, depth)
            values = file.values_of(name, function)
            if values:
                return self.only([(value, path) for value in values], depth)
        values = file.values_of(name, None)
        if values:
            return self.only([(value, path) for value in values], depth)
        for node in file.imports:
            stem = (node.module or "").rpartition(".")[2]
            others = [each for each in self.files if os.path.splitext(os.path.basename(each))[0] == stem]
            for alias in node.names:
                if (alias.asname or alias.name) == name and len(others) == 1 and others[0] != path:
                    return self.of_name(alias.name, others[0], 0, depth + 1)
        return None

    def of_parameter(self, function: Function, name: str, path: str, depth: int) -> Place | None:
        """A parameter: what the calls of its function give, or its default where none gives anything."""
        given: list[tuple[ast.expr, str]] = []
        names = parameters(function)
        called = function.name
        if called == "__init__":
            called = next((each.name for each in self.files[path].classes if function in each.body), called)
        for other, file in self.files.items():
            for node in file.calls:
                if name_of(node.func) == called:
                    passed = [word.value for word in node.keywords if word.arg == name]
                    at = names.index(name) - (names[0] == "self")
                    if (
                        not passed
                        and 0 <= at < len(node.args)
                        and not any(isinstance(a, ast.Starred) for a in node.args)
                    ):
                        passed = [node.args[at]]
                    given += [(value, other) for value in passed]
        if given:
            return self.only(given, depth)
        own = function.args
        defaults = dict(zip(reversed([*own.posonlyargs, *own.args]), reversed(own.defaults), strict=False))
        found = {argument.arg: value for argument, value in defaults.items()}
        keywords = zip(own.kwonlyargs, own.kw_defaults, strict=True)
        found |= {argument.arg: value for argument, value in keywords if value is not None}
        return self.place(found.get(name), path, function.lineno, depth + 1)

    def of_setting(self, word: str, depth: int) -> Place | None:
        """A setting by its name: an option's default, an attribute or item that the code sets, a line of a file."""
        if not word or not self.is_new("", word):
            return None
        found = set(self.in_files(word))
        classes = {each.name for file in self.files.values() for each in file.classes}
        for path, file in self.files.items():
            for node in (*file.calls, *file.classes, *file.dicts, *file.assigns):
                for value in values_of_setting(node, word, classes):
                    place = self.place(value, path, value.lineno, depth + 1)
                    if place is not None:
                        found.add(place)
        [only] = found if len(found) == 1 else [None]
        return only

    def in_files(self, word: str) -> Iterator[Place]:
        """The lines of settings files that give a key this value."""
        spelled = "|".join(map(re.escape, sorted(self.value))) if isinstance(self.value, frozenset) else str(self.value)
        line = re.compile(
            rf"""\s*[-{{,]?\s*["']?{re.escape(word)}["']?\s*[:=]\s*["']?(?:{spelled})\b(?![.\w])""", re.IGNORECASE
        )
        for path, text in self.settings.items():
            yield from ((path, number) for number, each in enumerate(text.splitlines(), 1) if line.match(each))

    def only(self, values: Iterable[tuple[ast.expr, str]], depth: int) -> Place | None:
        """The one place where one of several values is the one that is looked for."""
        places = {self.place(value, path, value.lineno, depth + 1) for value, path in values} - {None}
        return places.pop() if len(places) == 1 else None


def indices_of(run: Interpreter) -> dict[str, SyntaxIndex]:
    """The project's own files that the evaluation has come to, by path."""
    known: dict[str, SyntaxIndex] = run.data(FILES)
    roots = [os.path.realpath(os.getcwd()), os.path.dirname(os.path.realpath(run.trace.path))]
    modules = [each for each in run.importer.by_path.values() if isinstance(each, Module)]
    own = [
        module
        for module in modules
        if "site-packages" not in module.path
        and any(os.path.realpath(module.path).startswith(root + os.sep) for root in roots)
    ]
    letters = 0
    found: dict[str, SyntaxIndex] = {}
    for module in own[:MOST_FILES]:
        letters += len(module.source.text)
        if letters > MOST_TEXT:
            break
        try:
            found[module.path] = known.get(module.path) or SyntaxIndex(module.source.tree)
        except SourceError:
            continue
    known.update(found)
    return found


def assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables that a node sets, and to what."""
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
        if node.value is not None:
            yield node.target.id, node.value


def within(line: int, node: Function | ast.ClassDef) -> bool:
    """Whether a line is one of a definition."""
    return node.lineno <= line <= (node.end_lineno or 0)


def values_of_setting(node: ast.AST, word: str, classes: set[str]) -> Iterator[ast.expr]:
    """What a node of the syntax tree sets under this name."""
    if isinstance(node, ast.Call):
        called = name_of(node.func)
        if called in ("add_argument", "option", "Option"):
            words = {text_of(each).lstrip("-").replace("-", "_") for each in node.args}
            given = {each.arg: each.value for each in node.keywords}
            if word in words or text_of(given.get("dest")) == word:
                yield from [given["default"]] if "default" in given else []
        elif called in HOLDERS or called in classes:
            yield from (each.value for each in node.keywords if each.arg == word)
    elif isinstance(node, ast.ClassDef):
        yield from (value for each in node.body for name, value in assignments(each) if name == word)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if text_of(key) == word:
                yield value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            named = target.attr if isinstance(target, ast.Attribute) else ""
            named = text_of(target.slice) if isinstance(target, ast.Subscript) else named
            if named == word:
                yield node.value


def parameters(function: Function) -> list[str]:
    """A function's parameters by name, without `*args` and `**kwargs`."""
    own = function.args
    return [each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)]


def name_of(node: ast.expr) -> str:
    """The last name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.expr | None) -> str:
    """The text of a literal string, else ""."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
