"""What evaluates the models of a program: each training is told of the loops, and of the calls beside any, that look at
one of its models."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence import (
    Phase,
    calls_between,
    evaluations_in_steps,
    evaluations_of,
    gatherings_of,
    keepers_of,
    seen_through,
)
from flake8_cnnmem.models.residents import LeftBehind, residents
from flake8_cnnmem.models.root import Evaluation, Root, inside_of, weights_in


def evaluated(
    run: Interpreter, groups: Sequence[Sequence[Root]], others: Sequence[Root], phases: Sequence[Phase]
) -> None:
    """Tell each training of the loops that evaluate one of its models: what they find in memory is what the trainings
    before them have left. Other models are told of theirs."""
    left, waiting = LeftBehind(), list(phases)
    beside_steps = (*evaluations_of(run.trace, phases), *calls_between(run.trace, phases))
    for phase in sorted((*beside_steps, *evaluations_in_steps(run.trace, phases)), key=began_at):
        while waiting and waiting[0].passes[0].first < phase.passes[0].first:
            left.come_to(run.trace, waiting[0])
            left.add(waiting.pop(0))
        first = phase.passes[0].first
        before = [group for group in groups if group[0].phases[0].passes[0].first < first]
        group = calling(phase, [*([root] for root in others), *groups[::-1], *before]) or holding(phase, groups)
        if group:
            beside = residents(run.trace, phase, [root.value for root in group if root.value is not None], left)
            group[0].evaluations.append(Evaluation(phase, beside, bool(group[0].phases)))
    for phase in gatherings_of(run.trace, phases):
        group = calling(phase, groups)
        if group:
            group[0].evaluations.append(Evaluation(phase, group[0].beside, False))


def began_at(phase: Phase) -> int:
    """The number of the last op before a phase."""
    return phase.passes[0].first


def gathers(root: Root) -> bool:
    """Whether a loop that only evaluates a model keeps what it gives."""
    return any(True for each in root.evaluations for _ in keepers_of(each.phase))


def calling(phase: Phase, groups: Sequence[Sequence[Root]]) -> Sequence[Root]:
    """The last of the groups of which a loop calls a model."""
    called = {id(seen_through(call.instance)) for call in phase.calls}
    return next((group for group in reversed(groups) if any(called & inside_of(root) for root in group)), ())


def holding(phase: Phase, groups: Sequence[Sequence[Root]]) -> Sequence[Root]:
    """The last of the groups beside which a model is in memory that a loop calls: an averaged copy of what trains."""
    called = {id(weight) for call in phase.calls for weight in weights_in(call.instance)}
    for group in reversed(groups):
        if called & {id(weight) for each in group[0].beside for weight in each.weights}:
            return group
    return ()
