"""Signatures as data: the parameters of a class of Flax as text, read when the class is made."""

from __future__ import annotations

import ast

from flake8_cnnmem.values import MISSING, Value


def fields(text: str) -> dict[str, Value]:
    """The parameters of a signature (`"features, use_bias=True"`) in order with their defaults, MISSING for none."""
    call = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(call, ast.FunctionDef)
    arguments = call.args
    names = [argument.arg for argument in arguments.args]
    defaults: list[Value] = [MISSING] * (len(names) - len(arguments.defaults))
    defaults += [ast.literal_eval(default) for default in arguments.defaults]
    found = dict(zip(names, defaults, strict=True))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[argument.arg] = MISSING if default is None else ast.literal_eval(default)
    return found


def positional(text: str) -> int:
    """How many of them are taken by position."""
    call = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(call, ast.FunctionDef)
    return len(call.args.args)
