"""What makes memory grow with every turn of a loop: names that still lead to the graph of earlier turns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.loop_turns import Loop, Retained
from flake8_cnnmem.evaluate.trace import Trace
from flake8_cnnmem.evidence.passes import Pass
from flake8_cnnmem.evidence.phases import Phase
from flake8_cnnmem.graph import Call, Site, Tensor, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.merge import Concatenate


@dataclass(frozen=True, slots=True)
class Keeper:
    """A container, variable or attribute that leads to what ops of earlier turns have given: `tensors`, in it or before
    it. `site` is the statement of the loop that makes it so."""

    what: str
    tensors: tuple[Tensor, ...]
    site: Site
    gathers: bool
    """Whether it is a container that has more in it with every turn, or a tensor that more is joined to; else each
    turn's result is made of the last."""
    limited: bool = False
    """Whether it is a container that lets go of its first items when it holds so many."""

    @property
    def single(self) -> bool:
        """Whether all of it are single numbers (losses)."""
        return all(tensor.shape == () for tensor in self.tensors)


def keepers_of(phase: Phase) -> Iterator[Keeper]:
    """What a loop that was followed for two turns holds of the first of them at the end of the second."""
    if len(phase.passes) < 2 or phase.loop is None:
        return
    before, last = phase.passes[-2:]
    for what, kept in by_name(last.kept).items():
        left = tuple(each.tensor for each in kept if number_of(each.tensor) <= before.last)
        place = kept[-1].site or assignment(phase.loop, what)
        if left and place is not None and kept[-1].inside:
            yield Keeper(what, left, place, True, any(each.limited for each in kept))
        elif not left and is_carried(what, before, last):
            place = place or site_of(kept[-1].tensor)
            if place is not None:
                yield Keeper(what, tuple(each.tensor for each in kept), place, is_joined_to(kept))


def further_turns(phase: Phase) -> int | None:
    """How many runs of a step follow those that were followed, while what each leaves is still held; None where that is
    not known, and 0 where nothing is kept from run to run."""
    loop, keepers = phase.loop, list(keepers_of(phase))
    if loop is None or not keepers:
        return 0
    if loop.count is None or loop.count % phase.micro_steps or outlives(loop):
        return None
    # The list that a comprehension makes is its own.
    known = (keeper.site is loop.site or only_grows(loop, keeper.what, keeper.gathers) for keeper in keepers)
    if not all(known) or any(keeper.limited for keeper in keepers):
        return None
    return loop.count // phase.micro_steps - 2


def turns_at_least(trace: Trace, phase: Phase) -> int:
    """How many further runs of a step leave as much as the last one for certain, in containers that an object fills
    which the loop calls in every turn (a pool of images, a metric): as many as the loop has, until a comparison that
    is made out of its sight answers otherwise, by what the two that were followed have compared. 0 where that is not
    known."""
    loop = phase.loop
    if loop is None or loop.count is None or phase.micro_steps > 1 or len(phase.passes) < 2 or loop.repeated:
        return 0
    keepers = list(keepers_of(phase))
    if not keepers or not all(
        each.gathers and not each.limited and filled_in_turns(loop, each.what) for each in keepers
    ):
        return 0
    before, last = (list(tests_out_of_sight(trace, loop, each)) for each in phase.passes[-2:])
    left = loop.count - 2 if len(before) == len(last) else 0
    for (one, limit), (other, limit_now) in zip(before, last, strict=False):
        if one is None or limit is None or other is None or limit_now is None:
            return 0
        now, step = other - limit_now, other - limit_now - (one - limit)
        if now * step < 0 or (step and not now):
            left = min(left, max(0, (abs(now) - 1) // abs(step)))
    return max(0, left)


def tests_out_of_sight(trace: Trace, loop: Loop, run: Pass) -> Iterator[tuple[int | None, int | None]]:
    """What a run of a step has compared elsewhere than in the text of its loop."""
    if not isinstance(loop.site, StatementSite):
        return
    path, lines = loop.site.path, range(loop.site.line, last_line(loop.site.statement) + 1)
    for number, left, right, site in trace.tested:
        if run.first <= number < run.last and (site is None or site.path != path or site.line not in lines):
            yield left, right


def last_line(statement: ast.AST) -> int:
    """The line that a statement ends on."""
    return max((getattr(node, "end_lineno", None) or 0 for node in ast.walk(statement)), default=0)


def filled_in_turns(loop: Loop, what: str) -> bool:
    """Whether the text of a loop that is not left early names the object that has a container in every turn of it, and
    under no test."""
    owner = what.rpartition(".")[0]
    if not owner or not isinstance(loop.site, StatementSite):
        return False
    nodes = list(ast.walk(loop.site.statement))
    doubtful = {id(inner) for branch in nodes if isinstance(branch, BRANCHES) for inner in ast.walk(branch)}
    named = [id(node) for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) == owner]
    left = any(isinstance(node, (ast.Break, ast.Continue, ast.Return)) for node in nodes)
    return bool(named) and not left and doubtful.isdisjoint(named)


def only_grows(loop: Loop, what: str, joined: bool) -> bool:
    """Whether the statements of a loop do nothing with a name but to put more into it, to add to it, or to give it what
    a call makes of it where it is `joined` to: no test of how
    much is there, nothing that is taken out, and in every turn: the first two say nothing of a test that a later one
    may answer otherwise."""
    if not isinstance(loop.site, StatementSite) or any(
        isinstance(node, (ast.Break, ast.Continue, ast.Return)) for node in ast.walk(loop.site.statement)
    ):
        return False
    adding: set[int] = set()
    found: list[int] = []
    branches = (node for node in ast.walk(loop.site.statement) if isinstance(node, BRANCHES))
    doubtful = {id(inner) for branch in branches for inner in ast.walk(branch)}
    for node in ast.walk(loop.site.statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and ast.unparse(node) == what:
            found.append(id(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            adding.update((id(node.func.value), id(container_of(node.func.value))))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            adding.add(id(container_of(node.targets[0])))
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            adding.add(id(node.target))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            adding.update(id(each) for each in (*node.targets, node.value.left, node.value.right))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and joined:
            adding.update(id(each) for each in (*node.targets, *ast.walk(node.value)))
    return bool(found) and adding.issuperset(found) and doubtful.isdisjoint(found)


def container_of(node: ast.expr) -> ast.expr:
    """What a place lies in, through as many subscripts as there are: `store` of `store["x"][0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.Try, ast.While)
"""What runs a part of itself, or not."""

ADDING = ("append", "extend", "insert")
"""Methods that put more into a container."""


def outlives(loop: Loop) -> bool:
    """Whether what a loop keeps may still be held when it runs anew, in a later turn of the loop around it."""
    if loop.outer is None:
        return False
    last = loop.turns[-1]
    names = {each.what for each in last.kept}
    if any(variable in names for variable, _ in last.older):
        return True
    behind = calls_behind([each.tensor for each in last.kept if not each.inside])
    return any(call.number <= loop.began for call in behind)


def by_name(kept: Sequence[Retained]) -> dict[str, list[Retained]]:
    """What is kept, by what keeps it."""
    found: dict[str, list[Retained]] = {}
    for each in kept:
        found.setdefault(each.what, []).append(each)
    return found


def number_of(tensor: Tensor) -> int:
    """The number of the call that made a tensor; of a leaf that of the call behind which it was made."""
    return tensor.call.number if tensor.call is not None else tensor.born + 1


def is_carried(what: str, before: Pass, last: Pass) -> bool:
    """Whether the second run of a step reads what a name led to at the end of the first."""
    earlier = {id(each.tensor) for each in before.kept if each.what == what}
    return bool(earlier) and any(id(tensor) in earlier for call, _ in last.calls for tensor in call.inputs)


def is_joined_to(kept: Sequence[Retained]) -> bool:
    """Whether a name leads to what is joined of several tensors, each time of more."""
    calls = [each.tensor.call for each in kept]
    return any(call is not None and isinstance(call.op, Concatenate) for call in calls)


def assignment(loop: Loop, what: str) -> Site | None:
    """The statement in a loop's body that gives a variable its value, the last one where there are several."""
    if not isinstance(loop.site, StatementSite) or not what.isidentifier():
        return None
    found = None
    for node in ast.walk(loop.site.statement):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            if what in names and (found is None or node.lineno > found.lineno):
                found = node
    return StatementSite(loop.site.path, found) if found is not None else None


def site_of(tensor: Tensor) -> Site | None:
    """Where the code computes it: the call of the model that gives it, where it comes from one."""
    call = tensor.call
    if call is None:
        return None
    return next((each.site for each in call.ancestry() if each.parent is None), call.site)


def is_learned_from(trace: Trace, keeper: Keeper) -> bool:
    """Whether a later backward pass goes through what is kept."""
    numbers = {number_of(tensor) for tensor in keeper.tensors}
    losses = [event.subject for event in trace.events if event.kind == "backward"
              and isinstance(event.subject, Tensor) and event.number >= max(numbers)]  # fmt: skip
    return any(call.number in numbers for call in with_gradient(losses))


def with_gradient(tensors: Iterable[Tensor]) -> Iterator[Call]:
    """The calls before these tensors through which a gradient would go back from them."""
    waiting = [tensor.call for tensor in tensors]
    seen: set[int] = set()
    while waiting:
        call = waiting.pop()
        if call is None or call.number in seen or call.op.cuts_gradient or not call.grad:
            continue
        yield call
        seen.add(call.number)
        waiting += [tensor.call for tensor in (*call.inputs, *call.weights)]
