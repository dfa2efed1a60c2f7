"""Statements: each becomes a function of the frame that gives None, or the signal that ends its block."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.evaluate.assignment import compile_augmented, compile_deletion, compile_target, rebinding
from flake8_cnnmem.evaluate.blocks import compile_block, compile_statement, statement
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.contexts import enter_all, within_contexts
from flake8_cnnmem.evaluate.definitions import compile_class, compile_function
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.own_counts import tested
from flake8_cnnmem.evaluate.signals import BREAK, CONTINUE, Returned
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def is_in_place(method: str) -> bool:
    """Whether a method is named as PyTorch names those that change their tensor: `x.relu_()`."""
    return method.endswith("_") and not method.endswith("__")


@statement(cst.Expr)
def expression_statement(compiler: Compiler, node: cst.Expr, twin: ast.Expr) -> Code:
    """Code for an expression alone; what it gives is let go."""
    value = node.value
    if isinstance(twin.value, ast.Constant):
        return lambda frame: None
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and is_in_place(value.func.attr.value):
        store = rebinding(compiler, value.func.value)
        base = Compiler(compiler.path, twin).expression(value.func.value)
        in_place = compiler.expression(value)

        def update(frame: Frame) -> None:
            before = base(frame) if store is not None else None
            result = in_place(frame)
            if store is not None and isinstance(before, Tensor) and isinstance(result, Tensor) and result is not before:
                store(frame, result)

        return update
    code = compiler.expression(value)

    def evaluate(frame: Frame) -> None:
        code(frame)

    return evaluate


@statement(cst.Assign)
def assign(compiler: Compiler, node: cst.Assign, twin: ast.Assign) -> Code:
    """Code for `a = b = value`."""
    # `ast` orders calls by where they end, so targets are compiled in source order, before the value.
    stores = [compile_target(compiler, target.target) for target in node.targets]
    value = compiler.expression(node.value)
    if len(stores) == 1:
        store = stores[0]
        return lambda frame: store(frame, value(frame))

    def several(frame: Frame) -> None:
        result = value(frame)
        for each in stores:
            each(frame, result)

    return several


@statement(cst.AnnAssign)
def annotated(compiler: Compiler, node: cst.AnnAssign, twin: ast.AnnAssign) -> Code:
    """Code for `name: annotation = value`; nothing without a value."""
    if node.value is None:
        return lambda frame: None
    store = compile_target(compiler, node.target)
    value = compiler.expression(node.value)
    return lambda frame: store(frame, value(frame))


@statement(cst.AugAssign)
def augmented(compiler: Compiler, node: cst.AugAssign, twin: ast.AugAssign) -> Code:
    """Code for `target op= value`."""
    return compile_augmented(compiler, node)


@statement(cst.Del)
def delete(compiler: Compiler, node: cst.Del, twin: ast.Delete) -> Code:
    """Code for `del`."""
    code = compile_deletion(compiler, node.target)

    def remove(frame: Frame) -> None:
        code(frame)

    return remove


@statement(cst.Pass)
def pass_(compiler: Compiler, node: cst.Pass, twin: ast.Pass) -> Code:
    """Code that does nothing."""
    return lambda frame: None


@statement(cst.Break)
def break_(compiler: Compiler, node: cst.Break, twin: ast.Break) -> Code:
    """Code that leaves the loop."""
    return lambda frame: BREAK


@statement(cst.Continue)
def continue_(compiler: Compiler, node: cst.Continue, twin: ast.Continue) -> Code:
    """Code that begins the loop's next turn."""
    return lambda frame: CONTINUE


@statement(cst.Return)
def return_(compiler: Compiler, node: cst.Return, twin: ast.Return) -> Code:
    """Code that leaves the function with a value."""
    if node.value is None:
        return lambda frame: Returned(None)
    value = compiler.expression(node.value)
    return lambda frame: Returned(value(frame))


@statement(cst.Global)
def global_(compiler: Compiler, node: cst.Global, twin: ast.Global) -> Code:
    """Code after which names are those of the module."""
    words = [item.name.value for item in node.names]

    def declare(frame: Frame) -> None:
        if frame.kind != "module":
            frame.declared.update(dict.fromkeys(words))

    return declare


@statement(cst.Nonlocal)
def nonlocal_(compiler: Compiler, node: cst.Nonlocal, twin: ast.Nonlocal) -> Code:
    """Code after which names are those of the function around."""
    words = [item.name.value for item in node.names]

    def declare(frame: Frame) -> None:
        for word in words:
            owner = frame.parent
            while owner is not None and word not in owner.variables:
                owner = owner.parent
            frame.declared[word] = owner

    return declare


@statement(cst.Assert)
def assert_(compiler: Compiler, node: cst.Assert, twin: ast.Assert) -> Code:
    """Code for `assert`: AssertionError where the test is false; an unknown test is taken to hold."""
    test = compiler.expression(node.test)
    message = compiler.expression(node.msg) if node.msg is not None else None

    def check(frame: Frame) -> None:
        if frame.run.truth(test(frame)) is False:
            error = frame.run.error("AssertionError", message(frame) if message is not None else "")
            if message is None:
                error.value.attributes["args"] = ()
            raise error

    return check


@statement(cst.FunctionDef)
def function(compiler: Compiler, node: cst.FunctionDef, twin: ast.FunctionDef) -> Code:
    """Code for a `def`."""
    return compile_function(compiler, node, twin)


@statement(cst.ClassDef)
def class_(compiler: Compiler, node: cst.ClassDef, twin: ast.ClassDef) -> Code:
    """Code for a `class`."""
    return compile_class(compiler, node, twin)


@statement(cst.If)
def if_(compiler: Compiler, node: cst.If, twin: ast.If) -> Code:
    """Code for an `if`: both sides, joined, where the test is not known."""
    test = tested(compiler, node.test, None)
    body = compile_block(compiler.path, node.body, twin.body)
    orelse = compile_else(compiler.path, node.orelse, twin.orelse)
    arms = arms_of(twin)
    many = len(arms) >= MANY_ARMS and all(only_binds(each) for each in arms)

    def code(frame: Frame) -> Value:
        truth = frame.run.truth(test(frame))
        if truth is True:
            return body(frame)
        if truth is False:
            return orelse(frame)
        if many:
            return passed_over(frame, truth, arms)
        return frame.run.branch(truth, frame, body, orelse)

    return code


MANY_ARMS = 12
"""A choice among so many by a value that nobody gives is not known, whatever each of them is: `if args.net == "vgg11":
net = vgg11()`, and so on for a whole zoo. To run them all takes long and tells nothing."""


def arms_of(twin: ast.If) -> list[list[ast.stmt]]:
    """The blocks of an `if` and of the `elif` and `else` behind it."""
    found: list[list[ast.stmt]] = [twin.body]
    while len(twin.orelse) == 1 and isinstance(twin.orelse[0], ast.If):
        twin = twin.orelse[0]
        found.append(twin.body)
    return [*found, twin.orelse] if twin.orelse else found


def only_binds(block: Sequence[ast.stmt]) -> bool:
    """Whether a block does no more than give values to names, print, leave its function or raise."""
    for each in block:
        if isinstance(each, ast.Assign):
            if not all(isinstance(target, ast.Name) for target in each.targets):
                return False
        elif isinstance(each, ast.Expr):
            if not isinstance(each.value, (ast.Call, ast.Constant)):
                return False
        elif not isinstance(each, (ast.Import, ast.ImportFrom, ast.Return, ast.Raise, ast.Pass)):
            return False
    return True


def passed_over(frame: Frame, cause: Unknown, blocks: Sequence[Sequence[ast.stmt]]) -> Value:
    """What one of so many blocks leaves behind, whichever it is: the names that they bind are not known."""
    for left_out in (each for block in blocks for each in block):
        names: list[str] = []
        if isinstance(left_out, ast.Assign):
            names = [target.id for target in left_out.targets if isinstance(target, ast.Name)]
        elif isinstance(left_out, (ast.Import, ast.ImportFrom)):
            names = [alias.asname or alias.name.partition(".")[0] for alias in left_out.names]
        frame.run.changed(frame.variables)
        frame.variables.update(dict.fromkeys(names, cause))
    if not any(isinstance(each, ast.Return) for block in blocks for each in block):
        return None
    return frame.run.branch(cause, frame, lambda frame: Returned(cause), lambda frame: None)


def compile_else(path: str, node: Any, twins: list[ast.stmt]) -> Code:
    """Code for an `else` or `elif`; nothing where there is neither."""
    if node is None:
        return lambda frame: None
    if isinstance(node, cst.If):
        return compile_statement(path, node, twins[0])
    return compile_block(path, node.body, twins)


@statement(cst.With)
def with_(compiler: Compiler, node: cst.With, twin: ast.With) -> Code:
    """Code for a `with`: managers entered in order and left in reverse."""
    items: list[tuple[Code, Any]] = []
    for item in node.items:
        context = compiler.expression(item.item)
        store = compile_target(compiler, item.asname.name) if item.asname is not None else None
        items.append((context, store))
    body = compile_block(compiler.path, node.body, twin.body)

    def code(frame: Frame) -> Value:
        return within_contexts(frame.run, enter_all(frame, items), body, frame)

    return code
