"""Outlines of texts: which names each top-level statement binds or touches, what it imports and sets for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any


class Outline:
    """What is noted of the top-level statements of a text, so that its syntax tree need not be kept. The same for all
    evaluations."""

    __slots__ = (
        "acted_on", "bases", "declared", "imports", "lines", "names", "places", "plain", "set_in", "settings", "stars",
        "taken_from", "tops",
    )  # fmt: skip

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.lines = [statement.lineno for statement in statements]
        functions = {each.name: each for each in statements if isinstance(each, ast.FunctionDef)}
        self.names = [touched(statement, functions) for statement in statements]
        """By statement: the names that it concerns."""
        self.acted_on = [
            set() if isinstance(each, (*DEFINITIONS, *IMPORTS)) else acted_on(each, names, functions)
            for each, names in zip(statements, self.names, strict=True)
        ]
        """By statement: the names of what it does something to when the module runs."""
        self.set_in = [names_set_in(each) for each in statements]
        """By statement: the names of what it sets a part of."""
        self.bases: dict[str, list[tuple[int, str]]] = {}
        """By name: the classes with it among their bases, and the places of their statements."""
        self.settings = [at for at, each in enumerate(statements) if sets_globally(each)]
        """The statements that change how a framework works for the whole program."""
        self.declared = list(for_checkers(statements))
        self.imports = dict(reversed([(name, at) for at, each in enumerate(statements) for name in imported(each)]))
        """By module, as the import writes it (dots in front for a relative one): its first import."""
        self.plain = {at for at, each in enumerate(statements) if isinstance(each, (ast.Assign, ast.AnnAssign))}
        self.tops, self.taken_from = imported_packages(statements)
        """The packages that are imported by their names, and those of which something is imported by an absolute name,
        each in the order of the statements."""
        self.places: dict[str, list[int]] = {}
        self.stars: list[ast.ImportFrom] = []
        # What a decorator is an attribute of is changed by it only where it is this module's own.
        brought = {
            word
            for each, names in zip(statements, self.names, strict=True)
            if isinstance(each, IMPORTS)
            for word in names
        }
        for at, statement in enumerate(statements):
            self.stars.extend(star_imports(statement))
            names = self.names[at]
            if isinstance(statement, DEFINITIONS):
                names = names - (brought - {statement.name})
            for word in names:
                if word != "*":
                    self.places.setdefault(word, []).append(at)
            if isinstance(statement, ast.ClassDef):
                parts = (part for base in statement.bases for part in ast.walk(base))
                for word in {part.id for part in parts if isinstance(part, ast.Name)}:
                    self.bases.setdefault(word, []).append((at, statement.name))


def star_imports(statement: ast.stmt) -> Iterator[ast.ImportFrom]:
    """The `from x import *` in a statement, those for type checkers left out."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Expr, ast.Assign)):
        return
    # What is told to type checkers alone is no part of the program.
    parts = statement.orelse if isinstance(statement, ast.If) and is_for_checkers(statement) else [statement]
    for node in (inner for part in parts for inner in ast.walk(part)):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield node


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

IMPORTS = (ast.Import, ast.ImportFrom)


def touched(statement: ast.stmt, functions: Mapping[str, ast.FunctionDef] = MappingProxyType({})) -> set[str]:
    """The names that a top-level statement binds, or may change: targets, what it calls methods of, and what those of
    the module's `functions` that it calls declare global.

    Bodies of other functions and classes are not looked into: they run when they are called.
    """
    found: set[str] = set()
    # What is imported for type checkers alone is bound to nothing when the module runs.
    parts = statement.orelse if isinstance(statement, ast.If) and is_for_checkers(statement) else [statement]
    waiting: list[Any] = list(parts)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            for decorator in node.decorator_list:
                # `@MODELS.register("x")` changes MODELS.
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Attribute):
                    found.update(base_name(called))
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found.add(alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name))
            continue
        if isinstance(node, ast.Name):
            # A name that is deleted at the end was there for the statements before, which are run when they are needed.
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
            continue
        if isinstance(node, ast.For):
            # `for layer in base.layers: layer.trainable = False` changes what it goes through.
            gone_through = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else [node.iter]
            found.update(*map(base_name, gone_through))
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.update(base_name(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            # `names.append(x)`, `register(cls)`: whatever the call is handed may change.
            call = node.value
            if isinstance(call.func, ast.Attribute):
                found.update(base_name(call.func))
            elif isinstance(call.func, ast.Name) and call.func.id in functions:
                found.update(declared_global(functions[call.func.id]))
            for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                found.update(base_name(argument))
        elif isinstance(node, ast.Lambda):
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


def names_set_in(node: ast.stmt) -> set[str]:
    """The names of what a statement sets an attribute or an item of: `Net.width = 64`, `setattr(Net, "width", 64)`."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = [each for each in targets if isinstance(each, (ast.Attribute, ast.Subscript))]
        return set().union(*map(base_name, parts))
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.args:
        return set()
    return base_name(call.args[0]) if call.func.id in ("setattr", "delattr") else set()


def acted_on(node: ast.stmt, touched_by_it: set[str], functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """The names of what a statement that is no definition and no import does something to: it calls it, or a method of
    it, hands it on, or calls one of the module's `functions` that does so."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return touched_by_it
    own = functions.get(call.func.id)
    inside = [] if own is None else [each for part in own.body for each in ast.walk(part)]
    changed = (
        acted_on(each, touched(each), {})
        for each in inside
        if isinstance(each, ast.stmt) and not isinstance(each, (*DEFINITIONS, *IMPORTS))
    )
    return touched_by_it.union({call.func.id}, *changed)


def declared_global(function: ast.FunctionDef) -> Iterator[str]:
    """The names that a function declares global."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield from node.names


def is_for_checkers(statement: ast.stmt) -> bool:
    """`if TYPE_CHECKING:`, `if typing.TYPE_CHECKING or SLOW:`."""
    if not isinstance(statement, ast.If):
        return False
    words = (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in ast.walk(statement.test))
    return "TYPE_CHECKING" in words


def for_checkers(statements: Sequence[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """The imports at the top of a module that type checkers alone see."""
    for statement in statements:
        if isinstance(statement, ast.If) and is_for_checkers(statement):
            for each in statement.body:
                yield from (node for node in ast.walk(each) if isinstance(node, ast.ImportFrom))


def imported(statement: ast.stmt) -> Iterator[str]:
    """The modules that a top-level import may lead to, as it writes them: `.net` for `from .net import Net`, and for
    `from . import net`."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        inside = "." * statement.level + (statement.module or "")
        yield inside
        yield from (f"{inside}{'.' if statement.module else ''}{alias.name}" for alias in statement.names)


def imported_packages(statements: Sequence[ast.stmt]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The packages that top-level statements import (`import a.b`), and those of which they import something by an
    absolute name (`from a.b import c`): each once, in the order of the statements."""
    imports = [alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names]
    froms = [each.module or "" for each in statements if isinstance(each, ast.ImportFrom) and not each.level]
    tops, taken_from = (dict.fromkeys(name.partition(".")[0] for name in names) for names in (imports, froms))
    return tuple(tops), tuple(taken_from)


SETTERS = frozenset({
    "set_image_data_format", "set_image_dim_ordering", "set_floatx", "set_global_policy", "set_policy",
    "set_dtype_policy", "set_default_dtype", "set_default_tensor_type", "set_default_device", "set_grad_enabled",
})  # fmt: skip
"""Functions of frameworks that decide how everything after them is made."""


def sets_globally(statement: ast.stmt) -> bool:
    """Whether a statement only tells a framework how to work: `K.set_image_data_format("channels_first")`, perhaps
    under a condition."""
    if isinstance(statement, ast.If):
        if isinstance(statement.test, ast.Compare) and base_name(statement.test.left) == {"__name__"}:
            return False
        return all(sets_globally(each) for each in (*statement.body, *statement.orelse))
    called = statement.value if isinstance(statement, ast.Expr) else None
    function = called.func if isinstance(called, ast.Call) else None
    word = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return word in SETTERS or (isinstance(function, ast.Attribute) and is_import_path(function.value))


def is_import_path(node: ast.expr) -> bool:
    """`sys.path`."""
    return isinstance(node, ast.Attribute) and node.attr == "path" and base_name(node) == {"sys"}


def base_name(node: ast.expr) -> set[str]:
    """The name that an attribute or subscript hangs on: `{"x"}` for `x.y[0]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
