"""What a statement raises for certain though no `raise` says so: an item that a list of the program's own has not, a
name that nothing binds, an operator or a function of Python's that refuses what it is given.

Most of what a statement raises here may be a fault of ours: of a library that is followed in part, of a file or a
command line that was only assumed. It is the program's own where nothing is in the statement but values that its text
makes, Python's builtins, and functions and classes of its own; of a framework only its layers, whose signatures are
measured.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.frameworks import of_layer
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Namespace, Raised, Value

OWN = frozenset({
    "NameError", "UnboundLocalError", "TypeError", "ValueError", "KeyError", "IndexError", "AttributeError",
    "ZeroDivisionError", "StopIteration", "AssertionError", "OverflowError", "RuntimeError",
})  # fmt: skip
ASSUMED = ("argv", "environ", "getenv", "parse_args", "globals", "exec(", "input(", "stdin", "vars(")
"""Words of a text whose values may rest on how the program is started, or that bind names by other ways than the text's
own: in it nothing that is looked up is certain."""
PLAIN = (bool, int, float, complex, str, bytes, range, type(None), type(...))
BROUGHT = frozenset({
    "get_ipython", "display", "profile", "spark", "sc", "dbutils", "_", "__file__", "__path__", "In", "Out",
    "exit", "quit", "help", "xrange", "unicode", "basestring", "long", "unichr", "raw_input", "reduce", "file",
    "execfile", "cmp", "buffer",
})  # fmt: skip
"""Names that notebooks, profilers and shells bind before a program begins, and those that Python 2 has."""
WHOSE = (ast.Name, ast.Attribute, ast.Constant, ast.List, ast.Dict, ast.Call)
"""Of what an attribute may be asked."""
PURE = ("math", "functools", "itertools", "operator")
"""Modules of Python's that compute with nothing but what they are given."""
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
MOST_ITEMS = 64
"""Of longer containers the items are not looked at: what is in them is not certain."""


def is_own_error(frame: Frame, error: Raised) -> bool:
    """Whether the statement at which a frame stands raises this by itself, whatever library it is run with."""
    text = frame.module.source.text
    if error.value.cls.name not in OWN or frame.module.source.notebook is not None or frame.module.stars:
        return False
    if any(word in text for word in ASSUMED):
        return False
    statement = statement_at(frame.module.source.tree, frame.line)
    if statement is None:
        return False
    parts = [part for own in own_expressions(statement) for part in ast.walk(own)]
    bound = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    bound |= {part.arg for part in parts if isinstance(part, ast.arg)}
    # The module of a layer that is made: `nn` in `nn.Linear(2, bia=False)`.
    layers = [part.value for part in parts if isinstance(part, ast.Attribute) and names_layer(frame, part)]
    bound |= {module.id for module in layers if isinstance(module, ast.Name)}
    return all(
        is_certain(frame, part, error) for part in parts if not (isinstance(part, ast.Name) and part.id in bound)
    )


def statement_at(tree: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement that begins in a line, if it is the only one that does."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno == line]
    return found[0] if len(found) == 1 else None


def own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement itself evaluates, without the blocks in it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child


def is_certain(frame: Frame, part: ast.AST, error: Raised) -> bool:
    """Whether a part of an expression is nothing that may be followed otherwise than it is."""
    if isinstance(part, ast.Name):
        if not isinstance(part.ctx, ast.Load):
            return True
        value = frame.variables.get(part.id, MISSING)
        if value is MISSING:
            value = held(frame, part.id)
        if value is MISSING:
            return error.value.cls.name in ("NameError", "UnboundLocalError") and part.id not in BROUGHT
        return is_of_text(frame, value) and (value is not None or gives_none(frame, part.id))
    if isinstance(part, ast.Attribute):
        # Of a name alone, and no other module's: `model.fc`, `text.index`.
        if error.value.cls.name == "AttributeError" and not has_known_attributes(frame, part.value):
            return False
        return names_layer(frame, part) or isinstance(part.value, WHOSE)
    return not isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom))


def has_known_attributes(frame: Frame, of: ast.expr) -> bool:
    """Whether an expression gives something all of whose attributes are known: a plain value, a layer, or what is of a
    class that is the program's own with all its bases."""
    if not isinstance(of, ast.Name):
        return isinstance(of, (ast.Constant, ast.List, ast.Dict))
    value = frame.variables.get(of.id, MISSING)
    value = held(frame, of.id) if value is MISSING else value
    if isinstance(value, (*PLAIN, *CONTAINERS)) or of_layer(value) is not None:
        return True
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class) or cls.facts.get("metaclass") is not None:
        return False
    return all(each.site is not None or is_builtin(frame, each) for each in cls.mro)


def names_layer(frame: Frame, part: ast.Attribute) -> bool:
    """Whether an expression is a class of layers of a framework's: `nn.Linear`."""
    if not isinstance(part.value, ast.Name):
        return False
    module = held(frame, part.value.id)
    made = module.lookup(part.attr) if isinstance(module, Namespace) else MISSING
    return isinstance(made, Class) and of_layer(Instance(made)) is not None


def held(frame: Frame, word: str) -> Value:
    """What a name stands for outside of the frame's own variables; MISSING where nothing binds it."""
    outer = frame.parent
    while outer is not None:
        if word in outer.variables:
            return outer.variables[word]
        outer = outer.parent
    value = frame.module.variables.get(word, MISSING)
    return frame.run.builtins.get(word, MISSING) if value is MISSING else value


def gives_none(frame: Frame, word: str) -> bool:
    """Whether a name is None by the text itself: it says so, or the functions are its own whose result it is bound to.
    What is said of a library's function may be no more than that nobody follows what it gives."""
    for node in ast.walk(frame.module.source.tree):
        if not isinstance(node, ast.Assign) or not any(
            isinstance(each, ast.Name) and each.id == word for target in node.targets for each in ast.walk(target)
        ):
            continue
        for call in (each for each in ast.walk(node.value) if isinstance(each, ast.Call)):
            made_by = held(frame, call.func.id) if isinstance(call.func, ast.Name) else MISSING
            if not isinstance(made_by, Function):
                return False
    return True


def is_of_text(frame: Frame, value: Value, depth: int = 3) -> bool:
    """Whether a value is made by the program's text alone, or Python's own."""
    if isinstance(value, PLAIN) or (isinstance(value, Function) and not value.module.lazy):
        return True
    if isinstance(value, CONTAINERS):
        items = [*value, *value.values()] if isinstance(value, dict) else value
        return depth > 0 and len(items) <= MOST_ITEMS and all(is_of_text(frame, each, depth - 1) for each in items)
    if isinstance(value, Unknown):
        return False
    if isinstance(value, Namespace):
        return value.name in PURE
    if isinstance(value, Weight):
        return True
    if isinstance(value, Bound):
        return is_of_text(frame, value.receiver, depth)
    path = frame.module.path
    if isinstance(value, Class):
        return (value.site is not None and value.site.path == path) or is_builtin(frame, value)
    if isinstance(value, Instance):
        own = value.cls.site is not None and value.cls.site.path == path
        return own or of_layer(value) is not None
    return is_builtin(frame, value)


def is_builtin(frame: Frame, value: Value) -> bool:
    """Whether a value is one of Python's builtins, under whatever name."""
    return any(value is each for each in frame.run.builtins.values())
