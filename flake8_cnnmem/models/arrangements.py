"""How the training of models is arranged, as the code that was run says it, with what nobody says of it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.arrangement import ARRANGEMENTS, EVERY, Arrangement, joined
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.frameworks.framework import GPUS_COUNTED, NUMBER_OF_GPUS
from flake8_cnnmem.models.joint_training import Whole
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown


def arranged(whole: Whole, roots: Sequence[Root], devices: int | None) -> Whole:
    """The models of a training with what was noted of any part of them. `devices`: how many somebody says there are."""
    found = joined([each for root in roots for each in noted_of(root)])
    counted = gpus_counted(roots[0]) if devices is None and (found is None or found.devices in (None, 1)) else None
    if counted is not None:
        whole = replace(whole, model=replace(whole.model, causes=(*whole.model.causes, counted)))
    if found is None:
        return whole
    found = found.on(devices)
    causes = list(found.causes)
    if found.shared and found.devices is None and not found.optional:
        site = roots[0].site
        causes.append(Unknown(
            f"how many devices share {found.name} is not said (cnnmem-devices): one was counted", site.path, site.line
        ))  # fmt: skip
    if found.divides_batch and (found.devices or 1) > 1:
        site = roots[0].site
        causes.append(Unknown(
            f"what the first of {found.devices} devices gathers of the others' outputs", site.path, site.line
        ))  # fmt: skip
    if found.sums and (found.devices or 1) > 1:
        site = roots[0].site
        causes.append(Unknown(
            f"what {found.name} adds the gradients of {found.devices} devices up in", site.path, site.line
        ))  # fmt: skip
    model = replace(whole.model, arrangement=found, causes=tuple(dict.fromkeys((*whole.model.causes, *causes))))
    return replace(whole, model=model)


def gpus_counted(root: Root) -> Unknown | None:
    """That one GPU was counted where a program asks how many there are and does something else for several."""
    if not root.is_training:
        return None
    taken = root.run.ways.taken.get(NUMBER_OF_GPUS, "1") if root.run.ways is not None else "1"
    counted = "one was" if taken == "1" else f"{taken} were"
    for site in root.run.data(GPUS_COUNTED).values():
        if isinstance(site, StatementSite) and tells_several(site.statement, site.node):
            reason = f"how many GPUs there are is not said (cnnmem-devices): {counted} counted"
            return Unknown(reason, site.path, site.line)
    return None


ONLY_TOLD = frozenset({"critical", "debug", "error", "format", "info", "log", "print", "warn", "warning", "write"})
"""Functions whose arguments people read."""


def tells_several(statement: ast.AST, count: ast.AST) -> bool:
    """Whether it matters to a statement how many there are: not where that is only printed, where it is only asked
    whether there is one at all, and not for a rest (`rank % torch.cuda.device_count()`)."""
    outer = next((node for node in ast.walk(statement) if count in ast.iter_child_nodes(node)), None)
    if outer is None:
        return not isinstance(statement, ast.Expr)
    if isinstance(outer, (ast.FormattedValue, ast.Expr, ast.Assert, ast.BoolOp)):
        return False
    if isinstance(outer, (ast.If, ast.IfExp, ast.While)) and outer.test is count:
        return False
    if isinstance(outer, ast.UnaryOp):
        return not isinstance(outer.op, ast.Not)
    if isinstance(outer, ast.BinOp):
        return not isinstance(outer.op, ast.Mod)
    if isinstance(outer, ast.Compare):
        return tells_apart(outer, count)
    if isinstance(outer, ast.Call) and count is not outer.func:
        name = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", "")
        return name not in ONLY_TOLD
    return True


def tells_apart(comparison: ast.Compare, count: ast.AST) -> bool:
    """Whether a comparison of the count has another outcome for one than for several."""
    sides = [comparison.left, *comparison.comparators]
    other = next((side.value for side in sides if isinstance(side, ast.Constant)), None)
    compare = COMPARE.get(type(comparison.ops[0]))
    if len(sides) != 2 or type(other) is not int or compare is None:
        return True
    first = sides[0] is count
    return len({bool(compare(number, other) if first else compare(other, number)) for number in (1, 2, 8)}) > 1


COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def noted_of(root: Root) -> list[Arrangement]:
    """In the order in which the code arranges the model and its parts."""
    framework = frameworks.of_layer(root.value)
    known = root.run.data(ARRANGEMENTS)
    if framework is None or root.value is None or not known:
        return []
    inside = {EVERY, id(root.value), *framework.paths(root.value)}
    return [each for key, held in known.items() if key in inside for each in held.noted]
