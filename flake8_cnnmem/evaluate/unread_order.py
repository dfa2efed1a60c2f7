"""Whether a statement that goes through a set reads in which order, told by its syntax.

`if all(pattern.match(name) for name in names)` asks each item by itself, and `known = ", ".join(set(choices))` that is
read where an error is raised alone says nothing of a program that raises none. An order that nobody reads is none that
an evaluation has to be repeated for. Whatever is not told here counts as read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Native, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame

ASKING = frozenset({"all", "any", "frozenset", "len", "set", "sorted"})
"""Builtins that give the same for items in any order."""

LISTING = frozenset({"list", "tuple"})
"""Builtins that keep the order of what they are given."""

OF_ONE = frozenset({"bool", "float", "int", "len", "repr", "str"})
"""Builtins that may be called on an item: they change nothing."""

OF_TEXTS = frozenset(
    {
        "count", "endswith", "find", "fullmatch", "lower", "lstrip", "match", "partition", "removeprefix",
        "removesuffix", "replace", "rfind", "rpartition", "rsplit", "rstrip", "search", "split", "startswith", "strip",
        "title", "upper",
    }
)  # fmt: skip
"""Methods of texts and of regular expressions: they change nothing."""

OF_SETS = (ast.Add, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
"""Operators that do not turn a set into a text."""

VIEWS = frozenset({"items", "keys", "values"})

FOUND = "_cnnmem_reads_no_order"
"""The attribute of a statement that was asked for, in which the answer is kept as long as the syntax tree."""

PLAIN = (str, int, float, type(None), list, tuple, dict, set, frozenset, Native, Namespace)
"""Types of values whose methods are none of the program's own."""


@dataclass(frozen=True, slots=True)
class Unread:
    """That a statement reads no order, as long as these names hold nothing of the program's own. With `in_messages`
    what it binds has that order, and is read where an exception is raised alone."""

    names: frozenset[str]
    in_messages: bool = False


def unread(frame: Frame, site: object) -> Unread | None:
    """Why the statement that a frame runs reads no order of the sets of texts that it goes through itself; None where
    it may."""
    if not isinstance(site, StatementSite):
        return None
    scope = frame.function.site if frame.function is not None else None
    kept = site.statement.__dict__
    if FOUND not in kept:
        kept[FOUND] = told_by(site.statement, scope.statement if isinstance(scope, StatementSite) else None)
    found: Unread | None = kept[FOUND]
    return found if found is not None and all(is_plain(frame, name) for name in found.names) else None


def is_plain(frame: Frame, name: str) -> bool:
    """Whether a name holds what has no methods of the program's own."""
    value: Value = frame.variables.get(name, MISSING)
    try:
        value = frame.look_up(name) if value is MISSING else value
    except Raised:
        return False
    if isinstance(value, Instance):
        return value.cls.site is None and value.payload is None
    return value.site is None if isinstance(value, Class) else type(value) in PLAIN


def told_by(statement: ast.AST, function: ast.AST | None) -> Unread | None:
    """What the syntax of a statement in a function says."""
    if isinstance(statement, ast.Assign) and not all(isinstance(each, ast.Name) for each in statement.targets):
        return None
    if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) and statement.value is not None:
        value = statement.value
    elif isinstance(statement, ast.If):
        value = statement.test
    else:
        return None
    if is_free(value):
        return Unread(frozenset(asked_of_items(value)))
    if isinstance(statement, ast.Assign) and is_listed(value) and isinstance(function, ast.FunctionDef):
        names = for_messages(function, statement)
        return Unread(names, True) if names is not None else None
    return None


def asked_of_items(part: ast.AST) -> set[str]:
    """The names in what is worked out for each item, and of the builtins that are called, but for the items' own."""
    own: set[str] = set()
    inside: set[str] = set()
    for node in ast.walk(part):
        if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
            [loop] = node.generators
            own |= names_in(loop.target)
            inside = inside.union(*map(names_in, (node.elt, *loop.ifs)))
        elif isinstance(node, ast.Lambda):
            own |= {each.arg for each in node.args.args}
            inside |= names_in(node.body)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            inside.add(node.func.id)
    return inside - own


def names_in(node: ast.AST) -> set[str]:
    """The names that an expression, or a function, mentions."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_free(node: ast.expr) -> bool:
    """Whether an expression gives the same, and does the same, in whatever order it goes through sets."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return is_free(node.value)
    if isinstance(node, ast.Subscript):
        return is_free(node.value) and is_free(node.slice)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and not node.keywords and len(node.args) == 1:
            return node.func.id in ASKING and (is_free(node.args[0]) or is_item_by_item(node.args[0]))
        # A view of a dict, whose order is its own.
        return isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS and not (node.args or node.keywords)
    if isinstance(node, ast.SetComp):
        return is_item_by_item(node)
    parts = operands(node)
    return parts is not None and all(map(is_free, parts))


def operands(node: ast.expr) -> Sequence[ast.expr] | None:
    """The operands of an operator or display; None of any other expression."""
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BinOp) and isinstance(node.op, OF_SETS):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.test, node.body, node.orelse]
    return node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else None


def is_item_by_item(node: ast.expr) -> bool:
    """Whether an expression gives something of each item of something, without an effect."""
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
        loop = node.generators[0]
        plain = len(node.generators) == 1 and is_bound(loop.target) and is_free(loop.iter)
        return plain and is_quiet(node.elt) and all(map(is_quiet, loop.ifs))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("filter", "map"):
        if node.keywords or len(node.args) != 2:
            return False
        function, items = node.args
        return isinstance(function, ast.Lambda) and is_quiet(function.body) and is_free(items)
    return False


def is_bound(target: ast.expr) -> bool:
    """Whether what takes an item is a name, or several."""
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(is_bound, target.elts)))


def is_quiet(node: ast.expr) -> bool:
    """Whether an expression has no effect where its items are texts and its other names hold nothing of the program's
    own: what the items give may be asked for in any order."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.JoinedStr):
        return all(map(is_quiet, node.values))
    if isinstance(node, ast.FormattedValue):
        return is_quiet(node.value) and node.format_spec is None
    if isinstance(node, ast.Subscript):
        return is_quiet(node.value) and is_quiet(node.slice)
    if isinstance(node, ast.Call):
        if node.keywords or not all(map(is_quiet, node.args)):
            return False
        if isinstance(node.func, ast.Name):
            return node.func.id in OF_ONE
        return isinstance(node.func, ast.Attribute) and node.func.attr in OF_TEXTS and is_quiet(node.func.value)
    parts = operands(node)
    return parts is not None and all(map(is_quiet, parts))


def is_listed(node: ast.expr) -> bool:
    """Whether an expression has no effect in the order of a set, though what it gives may have that order."""
    if is_free(node) or is_item_by_item(node) or is_quiet(node):
        return True
    if isinstance(node, ast.Call) and not node.keywords and len(node.args) == 1:
        named = isinstance(node.func, ast.Name) and node.func.id in LISTING
        joins = isinstance(node.func, ast.Attribute) and node.func.attr == "join" and is_quiet(node.func.value)
        return (named or joins) and is_listed(node.args[0])
    parts = operands(node)
    return parts is not None and all(map(is_listed, parts))


def for_messages(function: ast.FunctionDef, statement: ast.Assign) -> frozenset[str] | None:
    """The names that are asked about items, where what a statement of a function binds, and what is made of it, is read
    for the messages of exceptions alone, or asked what is in it; None where it is read for anything else."""
    words = names_in(ast.Tuple(statement.targets))
    while True:
        more = taken_over(function, words)
        if more <= words:
            break
        words |= more
    if {"eval", "exec", "locals", "vars"} & names_in(function):
        return None
    allowed: set[int] = set()
    asked: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and words.intersection(node.names):
            return None
        if isinstance(node, ast.arg) and node.arg in words:
            return None
        if isinstance(node, ast.Assign) and names_in(node.value) & words and is_listed(node.value):
            asked |= asked_of_items(node.value)
            allowed.update(map(id, ast.walk(node.value)))
        if isinstance(node, ast.Assign):
            allowed.update(id(each) for target in node.targets if bound_by(target) for each in ast.walk(target))
        elif isinstance(node, ast.Compare) and all(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops):
            allowed.update(map(id, node.comparators))
        elif isinstance(node, ast.If):
            raising = [block for block in (node.body, node.orelse) if raises(block)]
            allowed.update(id(each) for block in raising for inner in block for each in ast.walk(inner))
    read = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in words)
    return frozenset(asked | asked_of_items(statement.value)) if all(id(node) in allowed for node in read) else None


def taken_over(function: ast.FunctionDef, words: set[str]) -> set[str]:
    """The names to which a function gives what is made of what these hold."""
    assigned = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
    taken = (node for node in assigned if names_in(node.value) & words and is_listed(node.value))
    return {name for node in taken for target in node.targets for name in bound_by(target)}


def bound_by(target: ast.expr) -> set[str]:
    """The name to which an assignment gives its value, or an item of it; none where it binds anything else."""
    base = target.value if isinstance(target, ast.Subscript) and is_quiet(target.slice) else target
    return {base.id} if isinstance(base, ast.Name) else set()


def raises(block: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in an exception, before anything else can leave it."""
    plain = all(isinstance(each, (ast.Assign, ast.Expr)) for each in block[:-1])
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for each in block for node in ast.walk(each))
    return bool(block) and isinstance(block[-1], ast.Raise) and plain and not yields
