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
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Raised, Value

MEANT = ("SystemExit", "KeyboardInterrupt", "StopIteration", "GeneratorExit")
"""By these a program ends, or a loop does, because that is what the code wants."""


@dataclass(frozen=True, slots=True)
class Passable:
    """What has to be known of a statement that may be passed over: what it assigns to. The rest of its syntax is not
    kept when it has been compiled."""

    targets: tuple[cst.BaseExpression, ...] = ()
    returns: bool = False


def passable(node: Any) -> Passable | None:
    """None for a statement that is not passed over as a whole."""
    kind = type(node)
    if kind is cst.Assign:
        return Passable(tuple(each.target for each in node.targets))
    if kind is cst.AnnAssign:
        return Passable((node.target,))
    if kind is cst.Return:
        return RETURNING
    return PLAIN if kind is cst.Expr else None


PLAIN, RETURNING = Passable(), Passable(returns=True)


def passing_over(frame: Frame, inner: Code, path: str, passed: Passable | None, twin: ast.stmt) -> Value:
    """Run a statement; where it raises, what it gives is not known. Sizes that a framework refuses are no such thing:
    they are told."""
    run = frame.run
    depth, invocation = run.budget.depth, run.invocation
    try:
        return inner(frame)
    except Raised as raised:
        names = {cls.name for cls in raised.value.cls.mro}
        if passed is None or isinstance(raised.value.native, Call) or names & set(MEANT):
            raise
        at = run.frame or frame
        cause = Unknown(describe(raised), at.module.path, at.line)
    run.budget.depth, run.invocation, run.frame = depth, invocation, frame
    run.gone_on.append(cause)
    if passed.returns:
        return Returned(cause)
    for target in passed.targets:
        compile_target(Compiler(path, twin), target)(frame, cause)
    return None
