"""The lines through which a number comes to where it is used: arguments of blocks, names, the line that writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.evidence.written import Function, parameters, worked_out
from flake8_cnnmem.smallest_edit.derived import handed, sources
from flake8_cnnmem.smallest_edit.scene import Scene, inside
from flake8_cnnmem.values import Instance

DEEPEST = 6
"""Names and blocks that are followed one after another."""

Around = Sequence[tuple[ast.Call, Instance]]
"""The constructions of the modules that an expression is evaluated for, the innermost first."""


def given_to(node: ast.Call) -> list[ast.expr]:
    """What a call is given, items of tuples and lists one by one."""
    found = [*node.args, *(word.value for word in node.keywords)]
    return [one for each in found for one in (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each])]


def lines_written(scene: Scene, node: ast.expr, size: int, around: Around, depth: int = 0) -> Iterator[int]:
    """The lines through which an expression gets its number: where it is handed over under another name, and where it
    is written."""
    if isinstance(node, ast.Constant) or worked_out(node) is not None or depth > DEEPEST:
        yield node.lineno
        return
    found = [each for each in origins(scene, node, around) if holds_number(scene, each[0], size)]
    if len({each.lineno for each, _ in found}) == 1:
        expression, outer = found[0]
        if outer is not around and ast.dump(expression) != ast.dump(node):
            yield expression.lineno
        yield from lines_written(scene, expression, size, outer, depth + 1)
        return
    yield node.lineno
    if len(found) > 1 and len(found) <= FEW:
        yield from (each.lineno for each, _ in found)
    if isinstance(node, (ast.BinOp, ast.Call)):
        for part in inside(node):
            number = scene.number(part) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) else None
            if number is not None and number > 1:
                yield from lines_written(scene, part, number, around, depth + 1)
                return


FEW = 2
"""As many places of a number are all named."""


def holds_number(scene: Scene, node: ast.expr, size: int) -> bool:
    """Whether an expression gave a number, or is a list that has it."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(getattr(each, "value", None) == size for each in ast.walk(node))
    return size in scene.every_number(node) or worked_out(node) == size


def origins(scene: Scene, node: ast.expr, around: Around) -> Iterator[tuple[ast.expr, Around]]:
    """The expressions that a name gets its value from, each with the constructions around it."""
    function = scene.function_of(node)
    if isinstance(node, ast.Name) and function is not None and node.id in parameters(function):
        if not scene.index.values_of(node.id, function):
            owner = scene.class_of(function)
            for at, (call, layer) in enumerate(around if function.name == "__init__" and owner is not None else ()):
                if layer.cls.site is not None:
                    outer = around[at + 1 :]
                    yield from ((each, outer) for each in argument_of(call, function, node.id))
                    return
            yield from ((each, ()) for each in handed(scene, function, node.id))
            return
    if isinstance(node, ast.Subscript) and not isinstance(getattr(node.slice, "value", None), str):
        yield from ((each, around) for each in sources(scene, node.value) if isinstance(each, (ast.List, ast.Tuple)))
        return
    listed = list(looped_over(scene, node)) if isinstance(node, ast.Name) else []
    yield from ((each, around) for each in (*listed, *sources(scene, node)))


def argument_of(call: ast.Call, function: Function, name: str) -> Iterator[ast.expr]:
    """What a construction hands to a parameter of `__init__`, or its default."""
    given = [word.value for word in call.keywords if word.arg == name]
    at = parameters(function).index(name) - 1
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    if not given and 0 <= at < len(call.args) and not starred:
        given = [call.args[at]]
    own = function.args
    defaults = dict(zip(reversed(own.args), reversed(own.defaults), strict=False))
    yield from given or [value for argument, value in defaults.items() if argument.arg == name]


def looped_over(scene: Scene, name: ast.Name) -> Iterator[ast.expr]:
    """The written lists whose items a loop gives a name one after another."""
    for loop in scene.inside_of(scene.scope_of(name)):
        if not isinstance(loop, (ast.For, ast.comprehension)):
            continue
        if name.id not in {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}:
            continue
        for each in ast.walk(loop.iter):
            if isinstance(each, (ast.List, ast.Tuple)):
                yield each
            elif isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)):
                yield from (one for one in sources(scene, each) if isinstance(one, (ast.List, ast.Tuple)))
