"""Where a size is written: as a literal, or as a constant that is used once, so that nothing else changes with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

MOST_FACTORS = 8


def arguments(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call in order, what stands in a tuple or list of sizes each by itself."""
    for each in (*call.args, *(word.value for word in call.keywords)):
        if isinstance(each, (ast.Tuple, ast.List)):
            yield from each.elts
        else:
            yield each


def number(node: ast.expr) -> int | None:
    """The value of an integer, or of a product or sum of them, as written."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add)):
        left, right = number(node.left), number(node.right)
        if left is None or right is None:
            return None
        return left * right if isinstance(node.op, ast.Mult) else left + right
    return None


def factors(node: ast.expr) -> list[int]:
    """`[16, 5, 5]` of `16 * 5 * 5`; one number for all else that is one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*factors(node.left), *factors(node.right)]
    value = number(node)
    return [] if value is None else [value]


def written(node: ast.expr, size: int, shapes: list[tuple[int, ...]]) -> str:
    """A size in the form of the expression that it takes the place of: `16 * 4 * 4` for `16 * 5 * 5` where the sizes
    come from a map of 16x4x4, one of `shapes`."""
    parts = len(factors(node))
    if 1 < parts <= MOST_FACTORS:
        for shape in shapes:
            if len(shape) == parts and prod(shape) == size:
                return " * ".join(map(str, shape))
    return str(size)


def where_written(node: ast.expr, tree: ast.Module) -> ast.expr | None:
    """The expression that has to change for this one to have another value: itself where it is a number; the number
    that a constant, a default or an entry of a table is set to where this is its only use. None for all else."""
    if number(node) is not None:
        return node
    if isinstance(node, ast.Name):
        return constant(node.id, tree)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return entry(node.slice.value, tree)
    return None


def handed(node: ast.expr, tree: ast.Module, built: ast.AST | None) -> ast.expr | None:
    """The number that `built`, the construction of a model, hands over for a parameter, where the parameter is read in
    one place alone. None for all else."""
    if not isinstance(node, ast.Name) or not isinstance(built, ast.Call):
        return None
    name = node.id
    reads = sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))
    found = [
        place - (bool(each.args) and each.args[0].arg == "self")
        for each in ast.walk(tree)
        if isinstance(each, ast.arguments)
        for place, (parameter, _) in enumerate(parameters(each))
        if parameter.arg == name
    ]
    if reads != 1 or len(found) != 1:
        return None
    by_name = [word.value for word in built.keywords if word.arg == name]
    given = by_name or list(built.args[found[0] : found[0] + 1])
    return given[0] if given and number(given[0]) is not None else None


def constant(name: str, tree: ast.Module) -> ast.expr | None:
    """The number that a name is set to, where the file sets it in one place and reads it in one place. A parameter is
    set by its default, if no call names it."""
    read = 0
    values: list[ast.expr | None] = []
    plain = {id(target): value for target, value in assignments(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            if isinstance(node.ctx, ast.Load):
                read += 1
            else:
                values.append(plain.get(id(node)))
        elif isinstance(node, ast.arguments):
            values += [value for each, value in parameters(node) if each.arg == name]
        elif name in others_named(node):
            return None
    if read == 1 and len(values) == 1 and values[0] is not None and number(values[0]) is not None:
        return values[0]
    return None


def others_named(node: ast.AST) -> tuple[str | None, ...]:
    """The names that a node sets, hands over or spells in another way than as a variable."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return tuple(node.names)
    if isinstance(node, ast.keyword):
        return (node.arg,)
    if isinstance(node, ast.alias):
        return (node.asname or node.name,)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return (node.name,)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # `__all__ = ["WIDTH"]`, `globals()["WIDTH"]`
        return (node.value,)
    if isinstance(node, (ast.MatchAs, ast.MatchStar)):
        return (node.name,)
    return (node.rest,) if isinstance(node, ast.MatchMapping) else ()


def assignments(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each target that is given a value of its own, with the value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign):
            yield node.target, node.value


def parameters(node: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters of a function, each with its default."""
    plain = [*node.posonlyargs, *node.args]
    without: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults))
    yield from zip(plain, [*without, *node.defaults], strict=True)
    yield from zip(node.kwonlyargs, node.kw_defaults, strict=True)
    yield from ((each, None) for each in (node.vararg, node.kwarg) if each is not None)


def entry(key: str, tree: ast.Module) -> ast.expr | None:
    """The number under a key, where one table of the file has that key, and the word stands in one other place."""
    values = [
        value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for word, value in zip(node.keys, node.values, strict=True)
        if isinstance(word, ast.Constant) and word.value == key
    ]
    words = sum(isinstance(node, ast.Constant) and node.value == key for node in ast.walk(tree))
    return values[0] if len(values) == 1 and words == 2 and number(values[0]) is not None else None
