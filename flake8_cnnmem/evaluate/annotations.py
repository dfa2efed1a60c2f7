"""Annotations as values: worked out when a program asks for them, for most of them are never looked at.

Classes keep the texts of their annotations. What `typing.get_type_hints`, `dataclasses.fields` and
`inspect.signature` give are the classes and forms behind these texts, found in the module that they stand in:
programs make objects of dicts by them (`Config(**raw)` within `Config(**raw)`) and command lines of functions.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.builtins.objects import NONE, UNION, union
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.stdlib.forms import generic
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.functions import Function

DEEPEST = 20
"""So many subscripts and texts within each other are followed."""

WRITTEN_IN = "the module with its annotations"
"""Among the facts of a class that has annotations: where their names are looked up."""

RETURNS = "return"
"""The name under which Python keeps what a function gives."""


def annotations_of_class(run: Any, cls: Class, as_hints: bool = False) -> dict[str, Value]:
    """What a class's own annotations are, by name: their texts where the module keeps them as such, or the values
    behind the texts as well (`as_hints`)."""
    return {
        word: told_by(run, cls, annotation, as_hints)
        for word, annotation in cls.namespace.get("__annotations__", {}).items()
    }


def told_by(run: Any, cls: Class, annotation: Value, as_hints: bool = False) -> Value:
    """What one of the texts stands for that a class keeps for its annotations."""
    module = cls.facts.get(WRITTEN_IN)
    if module is None or not isinstance(annotation, str):
        return annotation
    return value_of(Frame(run, module, "class", cls.namespace, None, line_of(run)), annotation, as_hints)


def annotations_of_function(run: Any, function: Function, as_hints: bool = False) -> dict[str, Value]:
    """What a function's annotations are, by the names of its parameters and `return`."""
    node = getattr(function.site, "statement", None)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != function.name:
        return {}
    declared = {each.arg: each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    names = Frame(run, function.module, "function", {}, function.frame, line_of(run))
    return {
        word: value_of(names, ast.unparse(annotation), as_hints)
        for word, annotation in {**declared, RETURNS: node.returns}.items()
        if annotation is not None
    }


def line_of(run: Any) -> int:
    """The line that runs."""
    return run.frame.line if run.frame is not None else 0


def value_of(names: Frame, text: str, as_hints: bool) -> Value:
    """What the text of an annotation stands for where these names are known; Unknown where it cannot be told."""
    if not as_hints and "from __future__ import annotations" in names.module.source.text:
        return text
    run = names.run
    frame, run.frame = run.frame, names
    try:
        found = worked_out(names, ast.parse(text.strip(), mode="eval").body, 0)
        if isinstance(found, str) and as_hints:
            found = worked_out(names, ast.parse(found.strip(), mode="eval").body, 0)
        return NONE if found is None and as_hints else found
    except (Raised, SyntaxError, TypeError, ValueError):
        return run.unknown(f"what the annotation {text} stands for is not known")
    finally:
        run.frame = frame


def worked_out(names: Frame, node: ast.expr, depth: int) -> Value:
    """The value of an annotation's expression. Generic classes keep what they are of: `list[Stage]`."""
    run = names.run
    run.spend(1)
    if depth > DEEPEST:
        return run.unknown("annotations lie too deep within each other")
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        found = names.variables.get(node.id, MISSING)
        found = names.look_up(node.id) if found is MISSING else found
        return (
            run.unknown(f"what the name {node.id} in an annotation stands for is not known")
            if found is MISSING
            else found
        )
    if isinstance(node, ast.Attribute):
        return run.get(worked_out(names, node.value, depth + 1), node.attr)
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [part_of(names, each, depth + 1) for each in node.elts]
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [part_of(names, each, depth + 1) for each in (node.left, node.right)]
        unknown = next((each for each in sides if isinstance(each, Unknown)), None)
        return union(*(NONE if each is None else each for each in sides)) if unknown is None else unknown
    if isinstance(node, ast.Subscript):
        base = worked_out(names, node.value, depth + 1)
        if isinstance(base, Instance) and base.attributes.get("_name") == "Literal":
            # Texts within are no names there.
            return run.index(base, ast.literal_eval(node.slice))
        inner = part_of(names, node.slice, depth + 1)
        return generic(base, inner) if isinstance(base, Class) else run.index(base, inner)
    return run.unknown(f"what the annotation {ast.unparse(node)} stands for is not known")


def part_of(names: Frame, node: ast.expr, depth: int) -> Value:
    """What stands within another annotation, where a text is a name that is known later."""
    found = worked_out(names, node, depth)
    return worked_out(names, ast.parse(found, mode="eval").body, depth + 1) if isinstance(found, str) else found


def alternatives(annotation: Value) -> tuple[Value, ...]:
    """What a value of an annotation may be, but for None: the parts of a union, or the annotation alone."""
    if isinstance(annotation, Instance) and annotation.cls is UNION:
        return tuple(part for part in annotation.attributes["__args__"] if part is not NONE and part is not None)
    return (annotation,)
