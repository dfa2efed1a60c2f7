"""Statements at which a program stops, for an exception that nobody deals with. Where it stops before it trains, it is
run once more as if they had gone well: what they give is not known then, and the rest is followed."""

from __future__ import annotations

import ast
from typing import Any

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.signals import Returned
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.graph import Call
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Raised, Value

PLAIN = (cst.Assign, cst.AnnAssign, cst.Expr, cst.Return)

MEANT = ("SystemExit", "KeyboardInterrupt", "StopIteration", "GeneratorExit")
"""By these a program ends, or a loop does, because that is what the code wants."""


def passing_over(frame: Frame, inner: Code, path: str, node: Any, twin: ast.stmt) -> Value:
    """Run a statement; where it raises, what it gives is not known. Sizes that a framework refuses are no such thing:
    they are told."""
    run = frame.run
    depth, invocation = run.budget.depth, run.invocation
    try:
        return inner(frame)
    except Raised as raised:
        names = {cls.name for cls in raised.value.cls.mro}
        if not isinstance(node, PLAIN) or isinstance(raised.value.native, Call) or names & set(MEANT):
            raise
        at = run.frame or frame
        cause = Unknown(describe(raised), at.module.path, at.line)
    run.budget.depth, run.invocation, run.frame = depth, invocation, frame
    run.gone_on.append(cause)
    if isinstance(node, cst.Return):
        return Returned(cause)
    targets = [node.target] if isinstance(node, cst.AnnAssign) else []
    targets += [each.target for each in node.targets] if isinstance(node, cst.Assign) else []
    for target in targets:
        compile_target(Compiler(path, twin), target)(frame, cause)
    return None
