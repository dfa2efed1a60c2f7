"""Where a number is written that the code states somewhere else: a constant, an option's default, a settings file.

The use of a value is known from the evaluation; from there its name is followed back through the text of the project's
own files. What is found counts only where the very number stands at one place alone: it is where somebody would change
it. Else the place of use is all that is told.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from flake8_cnnmem.evaluate.builtins.files import READ
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Site
from flake8_cnnmem.source import SourceError

Place = tuple[str, int]

DEEPEST = 6
"""Names that are followed one after another."""
MOST_FILES = 60
MOST_TEXT = 500_000
"""Letters of all files together that are looked through; where a program has more, the place of use is told."""
MOST_WALKS = 16
"""How often they are looked through for one number."""

KNOWN = "written"
"""Scratch of the run: where numbers are written, by where they are used."""

HOLDERS = frozenset(
    ("dict", "SimpleNamespace", "Namespace", "EasyDict", "edict", "AttrDict", "ConfigDict", "Munch", "Box", "Bunch")
)
"""What is called with the settings as its keywords."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def written_at(site: Site | None, value: int, run: Interpreter) -> Place | None:
    """The file and line where this number is written that a call or statement uses; None where it stands there itself,
    and where that is not known."""
    if not isinstance(site, StatementSite):
        return None
    known = run.data(KNOWN)
    key = (site.path, site.line, site.column, value)
    if key not in known:
        search = Search(value, run)
        nodes = arguments(site.node) if site.path in search.trees else ()
        found = {place for node in nodes if (place := search.place(node, site.path, site.line)) is not None}
        [only] = found if len(found) == 1 else [None]
        known[key] = only if only != (site.path, site.line) else None
    answer: Place | None = known[key]
    return answer


def arguments(node: ast.AST) -> Iterator[ast.expr]:
    """What may hold the number in a call or statement: names, attributes, items, numbers."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)) and isinstance(
            getattr(inner, "ctx", ast.Load()), ast.Load
        ):
            yield inner


class Search:
    """One number, looked for in the files that a program was read from."""

    def __init__(self, value: int, run: Interpreter) -> None:
        self.value = value
        self.trees = dict(trees_of(run))
        self.settings: dict[str, str] = {
            path: data.decode("utf-8", "replace") for path, data in run.data(READ).items() if not path.endswith(".py")
        }
        self.walks = 0
        self.seen: set[tuple[str, str]] = set()
        """The names that have been looked for, each by where."""

    def place(self, node: ast.expr | None, path: str, line: int, depth: int = 0) -> Place | None:
        """Where the number is written that an expression gives."""
        if node is None or depth > DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return (path, node.lineno) if type(node.value) is int and node.value == self.value else None
        if isinstance(node, ast.Name):
            return self.of_name(node.id, path, line, depth)
        if isinstance(node, ast.Attribute):
            return self.of_setting(node.attr, depth)
        if isinstance(node, ast.Subscript):
            return self.of_setting(text_of(node.slice), depth)
        if isinstance(node, ast.Call) and node.args:
            called = name_of(node.func)
            if called == "int":
                return self.place(node.args[0], path, line, depth + 1)
            if called == "get" and text_of(node.args[0]):
                default = node.args[1] if len(node.args) > 1 else None
                return self.of_setting(text_of(node.args[0]), depth) or self.place(default, path, line, depth + 1)
        return None

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
        tree = self.trees[path]
        for function in reversed(functions_around(tree, line)):
            if name in parameters(function):
                return self.of_parameter(function, name, path, depth)
            values = assigned(name, function.body)
            if values:
                return self.only([(value, path) for value in values], depth)
        values = assigned(name, [each for each in tree.body if not isinstance(each, (*DEFINITIONS, ast.ClassDef))])
        if values:
            return self.only([(value, path) for value in values], depth)
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            stem = node.module.rpartition(".")[2]
            others = [each for each in self.trees if os.path.splitext(os.path.basename(each))[0] == stem]
            for alias in node.names:
                if (alias.asname or alias.name) == name and len(others) == 1 and others[0] != path:
                    return self.of_name(alias.name, others[0], 0, depth + 1)
        return None

    def of_parameter(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, path: str, depth: int
    ) -> Place | None:
        """A parameter: what the calls of its function give, or its default where none gives anything."""
        given: list[tuple[ast.expr, str]] = []
        names = parameters(function)
        called = function.name
        if called == "__init__":
            classes = [each for each in ast.walk(self.trees[path]) if isinstance(each, ast.ClassDef)]
            called = next((each.name for each in classes if function in each.body), called)
        for other, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and name_of(node.func) == called:
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
        for path, tree in self.trees.items():
            classes = {each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}
            for node in ast.walk(tree):
                for value in values_of_setting(node, word, classes):
                    place = self.place(value, path, value.lineno, depth + 1)
                    if place is not None:
                        found.add(place)
        [only] = found if len(found) == 1 else [None]
        return only

    def in_files(self, word: str) -> Iterator[Place]:
        """The lines of settings files that give a key this number."""
        line = re.compile(rf"""\s*[-{{,]?\s*["']?{re.escape(word)}["']?\s*[:=]\s*{self.value}\b(?![.\w])""")
        for path, text in self.settings.items():
            yield from ((path, number) for number, each in enumerate(text.splitlines(), 1) if line.match(each))

    def only(self, values: Iterable[tuple[ast.expr, str]], depth: int) -> Place | None:
        """The one place where one of several values is the number."""
        places = {self.place(value, path, value.lineno, depth + 1) for value, path in values} - {None}
        return places.pop() if len(places) == 1 else None


def trees_of(run: Interpreter) -> Iterator[tuple[str, ast.Module]]:
    """The syntax trees of the project's own files that the evaluation has come to, by path."""
    roots = [os.path.realpath(os.getcwd()), os.path.dirname(os.path.realpath(run.trace.path))]
    modules = [each for each in run.importer.by_path.values() if isinstance(each, Module)]
    own = [
        module
        for module in modules
        if "site-packages" not in module.path
        and any(os.path.realpath(module.path).startswith(root + os.sep) for root in roots)
    ]
    letters = 0
    for module in own[:MOST_FILES]:
        letters += len(module.source.text)
        if letters > MOST_TEXT:
            return
        try:
            yield module.path, module.source.tree
        except SourceError:
            continue


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
        yield from assigned(word, [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))])
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


def assigned(name: str, body: Sequence[ast.stmt]) -> list[ast.expr]:
    """What statements, and those inside them, assign to a variable."""
    found: list[ast.expr] = []
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                found += [node.value for each in node.targets if isinstance(each, ast.Name) and each.id == name]
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
                found += [node.value] if node.target.id == name and node.value is not None else []
    return found


def functions_around(tree: ast.Module, line: int) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions whose bodies have this line, from the outermost inwards."""
    found = [each for each in ast.walk(tree) if isinstance(each, DEFINITIONS)]
    return sorted(
        (each for each in found if each.lineno <= line <= (each.end_lineno or 0)), key=lambda each: each.lineno
    )


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    own = function.args
    return [each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)]


def name_of(node: ast.expr) -> str:
    """The last name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
