"""`parameter.data`: a tensor of its own on the same values. It is followed as the parameter, but for its flag."""

from __future__ import annotations

import ast

from flake8_cnnmem.graph import Weight
from flake8_cnnmem.values import Runtime

READ_AS_DATA = "read as data"
"""Scratch of the run: the parameter of which `.data` was read last, and the statement that did."""


def note_read(run: Runtime, weight: Weight) -> None:
    """A parameter's `.data` is read."""
    run.data(READ_AS_DATA)["last"] = (weight, statement_of(run))


def statement_of(run: Runtime) -> object:
    """The statement that is running."""
    return getattr(run.here(), "statement", None)


def is_flag_of_data(run: Runtime, tensor: Weight) -> bool:
    """Whether the flag that is set is that of a parameter's `.data`, a tensor of its own that asks for no gradient: the
    statement has read that last, and sets the flag of some `.data`."""
    weight, statement = run.data(READ_AS_DATA).get("last", (None, None))
    if weight is not tensor or not isinstance(statement, ast.AST) or statement is not statement_of(run):
        return False
    flags = [node.value for node in ast.walk(statement) if isinstance(node, ast.Attribute) and node.attr in FLAGS]
    return any(isinstance(of, ast.Attribute) and of.attr == "data" for of in flags)


FLAGS = ("requires_grad", "requires_grad_")
