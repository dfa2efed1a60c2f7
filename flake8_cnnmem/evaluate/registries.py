"""Registries: dicts of a module that other modules fill with decorators and calls when they are imported.

Modules are read only as far as a name is needed, and nobody names the module that registers "resnet50": so when a
registry is asked for a key that it does not have, the statements that may give it are looked for, by the key's text.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.modules import Importable, Module
from flake8_cnnmem.source import SourceError, load, parse
from flake8_cnnmem.text.files import Files
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.imports import Importer

SEARCHED = 1500
"""Files of a package that are searched for the text of a key."""

RUN_WHOLE = 32
"""So many files that call what fills a registry are run for keys that no text shows."""

HELD = 16_000_000
"""Characters of texts that an evaluation holds at hand."""

SEARCHED_PER_STEP = 2000
"""Characters that are searched in about the time that a step takes."""

PROGRAM = "__main__"
"""What Python calls the module that is run as a program."""

READING_METHODS = frozenset({"get", "keys", "values", "items", "copy"})
READING_FUNCTIONS = frozenset({"len", "list", "tuple", "set", "sorted", "dict", "iter", "enumerate", "print", "str"})
"""What leaves the dict that it is called on, or handed, as it is."""


def registered(importer: Importer, container: dict[Value, Value], key: str) -> bool:
    """Whether statements that were not needed so far give this registry the key.

    They are looked for in the package of the module that made the registry.
    """
    owner = importer.run.registries.get(id(container))
    if owner is None or not owner[1].lazy:
        return False
    module = owner[1]
    names = names_of(module, container)
    if not names or any(key in defined for defined in importer.defining):
        # The definition that is running registers itself, and asks first whether it has been there before.
        return False
    if (id(container), key) in importer.searched or id(container) in importer.filling:
        # What fills a registry asks of each key whether it is there already.
        return False
    importer.searched.add((id(container), key))
    importer.filling.add(id(container))
    try:
        return search(importer, module, container, names, key)
    finally:
        importer.filling.discard(id(container))


def search(importer: Importer, module: Module, container: dict[Value, Value], names: Sequence[str], key: str) -> bool:
    """Run what may register the key, file by file, until it is there."""
    top = module.name.split(".")[0]
    folder = module.path
    for _ in range(len(module.name.split(".")) - (0 if module.package else 1)):
        folder = os.path.dirname(folder)
    for path in searched_for(importer, module, container, names, folder):
        if register_from(importer, path, folder, top, key) and key in container:
            return True
    if registered_elsewhere(importer, folder, container, names, key):
        return True
    # What other modules compute of their own `__name__` is never the program's.
    if id(container) not in importer.called and key != PROGRAM:
        fillers = importer.registering.get(id(container))
        if fillers is None:
            fillers = fillers_of(parse(module.source.python, module.path).body, names)
            importer.registering[id(container)] = fillers
        if asked_by_filler(importer, module, fillers):
            # Who reads the key is still to ask.
            importer.searched.discard((id(container), key))
        else:
            importer.called.add(id(container))
            register_by_calls(importer, fillers, folder, top)
    return key in container


def asked_by_filler(importer: Importer, module: Module, fillers: Sequence[str]) -> bool:
    """Whether one of the functions that fill a module's registry is running: it asks for a key that it is about to
    register."""
    function = importer.run.frame.function if importer.run.frame is not None else None
    return function is not None and function.module is module and not function.owner and function.name in fillers


def registered_elsewhere(
    importer: Importer, folder: str, container: dict[Value, Value], names: Sequence[str], key: str
) -> bool:
    """Run what may register the key in modules outside of the registry's own folder that the program imports, for their
    effect or for something else, and in what lies below them."""
    known = [each for each in importer.modules.values() if isinstance(each, Module) and each.path]
    packages = [importer.find(name) for name in imported_packages(known)]
    for module in dict.fromkeys((*known, *(each for each in packages if isinstance(each, Module)))):
        if module.path.startswith(folder + os.sep) or not importer.files.is_file(module.path):
            continue
        if module.package and module.name.partition(".")[0] == module.name:
            for path in mentioning(importer, module, names):
                register_from(importer, path, os.path.dirname(module.path), module.name, key)
        else:
            text = searched(importer, module.path)
            if any(name in text for name in names):
                register_in(importer, module, text, key)
        if key in container:
            return True
    return False


def imported_packages(modules: Sequence[Module]) -> Sequence[str]:
    """The packages that the import statements at the top of modules load, whether a name of theirs was needed so far or
    not."""
    outlines = [module.outline() for module in modules]
    imported = [name for outline in outlines for name in outline.tops]
    imported += [name for outline in outlines for name in outline.taken_from if name]
    return list(dict.fromkeys(imported))


def mentioning(importer: Importer, package: Module, names: Sequence[str]) -> Sequence[str]:
    """The files of a package whose texts have one of the names: looked through once, for all keys."""
    asked = (package.path, *names)
    found = importer.mentioning.get(asked)
    if found is None:
        files = itertools.islice(python_files(os.path.dirname(package.path), importer.files), SEARCHED)
        found = tuple(path for path in files if any(name in searched(importer, path) for name in names))
        importer.mentioning[asked] = found
    return found


def searched_for(
    importer: Importer, module: Module, container: dict[Value, Value], names: Sequence[str], folder: str
) -> Sequence[str]:
    """The files that may fill a dict: all of the folder, or, where its own module only reads it, those that name it."""
    known = importer.fillers.get(id(container))
    if known is not None:
        return known
    if folder not in importer.listed:
        importer.listed[folder] = tuple(itertools.islice(python_files(folder, importer.files), SEARCHED))
    found: Sequence[str] = importer.listed[folder]
    if not any(may_fill(module, container, name) for name in names):
        found = [path for path in found if any(name in searched(importer, path) for name in names)]
    importer.fillers[id(container)] = found
    return found


def searched(importer: Importer, path: str) -> str:
    """The text of a file, at the cost of a search; nothing where it cannot be read."""
    text = importer.texts.get(path)
    if text is None:
        try:
            text = load(path, importer.files, searched=True).text
        except SourceError:
            return ""
        if importer.held + len(text) <= HELD:
            # A package is looked through for one key after the other.
            importer.held += len(text)
            importer.texts[path] = text
    importer.run.spend(10 + len(text) // SEARCHED_PER_STEP)
    return text


def register_by_calls(importer: Importer, fillers: Sequence[str], folder: str, top: str) -> None:
    """Run the calls of a registry's own functions at the top of the folder's modules, and the definitions that these
    decorate: the key may be computed of what they are given (`register(F.cross_entropy)`, without its underscores)."""
    if not fillers:
        return
    called = re.compile(rf"^@?(?:\w+\.)*(?:{'|'.join(map(re.escape, fillers))})\b", re.MULTILINE)
    calling = (path for path in importer.listed[folder] if calls_one(searched(importer, path), fillers, called))
    paths = list(itertools.islice(calling, RUN_WHOLE + 1))
    for path in paths if len(paths) <= RUN_WHOLE else ():
        other = module_at(importer, path, folder, top)
        if not isinstance(other, Module) or not other.lazy:
            continue
        other.begin(importer.run)
        for at, node in enumerate(parse(searched(importer, path), path).body):
            calls: list[ast.expr] = []
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                calls = [node.value]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                calls = node.decorator_list
            if any(called.match(ast.unparse(call)) for call in calls):
                other.run_statement(importer.run, at)


def calls_one(text: str, names: Sequence[str], called: re.Pattern[str]) -> bool:
    """Whether a line of a text begins with a call of one of these names, or a decorator, as the pattern has it. Most
    texts have none of the names: to look for those takes no time."""
    return any(name in text for name in names) and called.search(text) is not None


def mentions(node: ast.AST, words: Collection[str]) -> bool:
    """Whether syntax has one of the names, by itself or as an attribute."""
    return any(
        (isinstance(part, ast.Name) and part.id in words) or (isinstance(part, ast.Attribute) and part.attr in words)
        for part in ast.walk(node)
    )


def fillers_of(body: Sequence[ast.stmt], names: Sequence[str]) -> Sequence[str]:
    """What at the top of a module may give the dict of one of these names new keys: functions that mention it for more
    than reading, and what is made of those (`register = decorator_of(put)`)."""
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.FunctionDef) and any(may_be_filled_by(node, name) for name in names):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Name) and part.id in found for part in ast.walk(node.value)
        ):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return found


def may_be_filled_by(function: ast.FunctionDef, name: str) -> bool:
    """Whether a function may give the dict of this name new keys: it mentions it for more than reading."""
    walked = list(ast.walk(function))
    reads = {id(part) for node in walked for part in only_read(node)}
    reads -= {id(part) for node in walked for part in written_through(node)}
    return any(isinstance(node, ast.Name) and node.id == name and id(node) not in reads for node in walked)


def register_from(importer: Importer, path: str, folder: str, top: str, key: str) -> bool:
    """Run the statements of a file that may register the key. A file without one is not loaded as a module."""
    text = searched(importer, path)
    if not may_register(text, key) or not places(importer, path, text, key):
        return False
    module = module_at(importer, path, folder, top)
    return isinstance(module, Module) and register_in(importer, module, text, key)


def module_at(importer: Importer, path: str, folder: str, top: str) -> Importable | None:
    """The module of a file below the folder of a package of this name."""
    inside = os.path.relpath(path, folder)[:-3].split(os.sep)
    return importer.find(".".join([top, *(inside[:-1] if inside[-1] == "__init__" else inside)]))


def register_in(importer: Importer, module: Module, text: str, key: str) -> bool:
    """Run the statements of a module that may register the key. Those of the analysed file have run already."""
    if not module.lazy or not may_register(text, key):
        return False
    found = places(importer, module.path, text, key)
    if found:
        module.begin(importer.run)
    for at in found:
        module.run_statement(importer.run, at)
    return True


def places(importer: Importer, path: str, text: str, key: str) -> Sequence[int]:
    """The places of the top-level statements of a file that may register a key; none in what cannot be read or is no
    Python."""
    found = importer.mentioned.get(path)
    if found is None:
        try:
            syntax = load(path, importer.files).syntax
            if syntax.mentioned is None:
                syntax.mentioned = mentioned(parse(text, path).body)
            found = syntax.mentioned
        except SourceError:
            found = {}
        importer.mentioned[path] = found
    return found.get(key, ())


def names_of(module: Module, container: Value) -> list[str]:
    """The names that a module has for a container of its own, or for an object that holds it (`M = Registry()`)."""
    return [name for name, value in module.variables.items() if value is container or inside(value, container)]


def inside(value: Value, container: Value) -> bool:
    """Whether a container is an instance's payload or one of its attributes."""
    return isinstance(value, Instance) and any(
        inner is container for inner in (value.payload, *value.attributes.values())
    )


def may_fill(module: Module, container: dict[Value, Value], name: str) -> bool:
    """Whether a module's own functions may give a dict new keys, or hand it on to who does. What a registry object's
    methods do is not looked into: such an object is only read by what asks it for an item (`R[key]`, `key in R.made`)
    or goes through it."""
    held = inside(module.variables[name], container)
    tree = parse(module.source.python, module.path)
    walked = list(ast.walk(tree))
    parts = [part for node in walked if not (held and isinstance(node, ast.Call)) for part in only_read(node)]
    if held:
        parts += [part.value for part in parts if isinstance(part, ast.Attribute)]
    reads = {id(part) for part in parts}
    reads |= {id(part) for node in tree.body for part in bound_by(node)}
    return any(isinstance(node, ast.Name) and node.id == name and id(node) not in reads for node in walked)


def only_read(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression or statement that it leaves as they are, were they dicts."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Compare):
        yield from node.comparators
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in READING_METHODS:
            yield node.func.value
        elif isinstance(node.func, ast.Name) and node.func.id in READING_FUNCTIONS:
            yield from node.args


def written_through(node: ast.AST) -> Iterator[ast.AST]:
    """What has an item that is changed: `R` in `R[kind][name] = cls` and `R[kind].append(cls)`."""
    below: ast.AST | None = None
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        below = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in READING_METHODS:
        below = node.func.value
    while isinstance(below, ast.Subscript):
        below = below.value
        yield below


def bound_by(statement: ast.stmt) -> Sequence[ast.AST]:
    """What a module's own assignment gives its value."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


LOOP = re.compile(r"^for \w+ in ", re.MULTILINE)


def may_register(text: str, key: str) -> bool:
    """Whether the text of a file has what gives a registry a key: a definition of that name, the key as a string, or an
    attribute of that name that a loop goes over (`for each in (nn.ReLU, nn.ELU): register(each)`) or that is registered
    by a call (`register_module(module=nn.GELU)`)."""
    if not key:
        return True
    at = text.find(key)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(key) : at + len(key) + 1]
        if before in QUOTES and after in QUOTES:
            return True
        if not (after == "_" or after.isalnum()):
            if before == "." and LOOP.search(text, text.rfind(":", 0, at) + 1, at - 1):
                return True
            if before == "." and after in END_OF_ARGUMENT and REGISTERS in text[text.rfind("\n", 0, at) + 1 : at]:
                return True
            word = text.rfind("\n", 0, at) + 1
            if text[word:at] in ("def ", "class "):
                return True
        at = text.find(key, at + 1)
    return False


REGISTERS = "regist"
END_OF_ARGUMENT = frozenset("),")
QUOTES = frozenset("\"'")


def mentioned(body: Sequence[ast.stmt]) -> dict[object, list[int]]:
    """By key: the places of the statements that may register it. Decorators do so for what they stand at and what they
    mention, other statements for what they mention themselves, or a function of the file that they call."""
    found: dict[object, list[int]] = {}
    own = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    for at, node in enumerate(body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            words = {node.name, *words_of(node.decorator_list)} if node.decorator_list else set()
        elif isinstance(node, (ast.Expr, ast.For, ast.Assign, ast.If, ast.Try)):
            words = words_of([node, *called_by(node, own)])
        else:
            continue
        for word in words:
            found.setdefault(word, []).append(at)
    return found


def words_of(nodes: Sequence[ast.AST]) -> set[str]:
    """The strings and names in syntax, and attributes that are handed to a call or that a loop goes over."""
    found: set[str] = set()
    for node in nodes:
        loop = isinstance(node, ast.For)
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                given = (*part.args, *(word.value for word in part.keywords))
                found.update(each.attr for each in given if isinstance(each, ast.Attribute))
            if isinstance(part, ast.Constant):
                if isinstance(part.value, str):
                    found.add(part.value)
            elif isinstance(part, ast.Name):
                found.add(part.id)
            elif loop and isinstance(part, ast.Attribute):
                found.add(part.attr)
    return found


def called_by(node: ast.stmt, own: Mapping[str, ast.FunctionDef]) -> Sequence[ast.AST]:
    """The functions of a file that a top-level call of one of them runs: `register_all()` at its end."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in own:
        return ()
    found: dict[str, ast.FunctionDef] = {}
    waiting = [call.func.id]
    while waiting:
        name = waiting.pop()
        if name in found or name not in own:
            continue
        found[name] = own[name]
        waiting += [part.id for part in ast.walk(own[name]) if isinstance(part, ast.Name)]
    return tuple(found.values())


def python_files(folder: str, files: Files) -> Iterator[str]:
    """The modules below a folder, those of the folder itself first; hidden folders left out."""
    entries = files.entries(folder)
    yield from (os.path.join(folder, name) for name, below in entries if not below and name.endswith(".py"))
    for name, below in entries:
        if below and not name.startswith((".", "__")):
            yield from python_files(os.path.join(folder, name), files)
