"""Which runs of a loop are one training: next epochs, folds that are trained alike, a turn that stands for others."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.joins import alike
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.models.changed_later import changed_between
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

ALIKE_DEPTH = 40


def continues(run: Interpreter, group: Sequence[Root], trained: Sequence[Root], phase: Phase) -> bool:
    """Whether a phase is one that was seen before, in its next epoch: the same loop with the same models, optimizers
    and frozen parts."""
    earlier = group[0].phases[0]
    return (
        {id(root.value) for root in group} == {id(root.value) for root in trained}
        and same_loop(earlier, phase)
        and {id(each) for each in earlier.optimizers} == {id(each) for each in phase.optimizers}
        and earlier.asking == phase.asking
        and earlier.updated == phase.updated
        and not changed_between(run, earlier, phase)
    )


def does_less(group: Sequence[Root], phase: Phase) -> bool:
    """Whether a turn that stands for later epochs does only some of what every so many turns of those before it did: it
    is gone through once, and they were until then."""
    return phase.repeated and any(
        same_loop(earlier, phase)
        and phase.updated < earlier.updated
        and {id(each) for each in phase.optimizers} < {id(each) for each in earlier.optimizers}
        for earlier in group[0].phases
    )


def repeats(run: Interpreter, group: Sequence[Root], trained: Sequence[Root], phase: Phase) -> bool:
    """Whether a phase is one that was seen before, with other models made and trained in the same way (folds)."""
    earlier = group[0].phases[0]
    if len(group) != len(trained) or not same_loop(earlier, phase):
        return False
    # In a turn that stands for others it may not be known which batch is drawn.
    unsure = phase.repeated
    if not agrees(shapes(earlier), shapes(phase), unsure):
        return False
    if not agrees(computed(earlier), computed(phase), unsure):
        # Another loss, which the function that trains was given.
        return False
    if len(earlier.optimizers) != len(phase.optimizers) or len(earlier.asking) != len(phase.asking):
        return False
    if {id(root.value) for root in group} == {id(root.value) for root in trained} and (
        earlier.updated != phase.updated or earlier.asking != phase.asking or changed_between(run, earlier, phase)
    ):
        # Other weights of the same models: a head was replaced, or what trains was chosen anew.
        return False
    models = zip(sorted(group, key=order), sorted(trained, key=order), strict=True)
    optimizers = zip(earlier.optimizers, phase.optimizers, strict=True)
    return all(
        alike(a.value, b.value, ALIKE_DEPTH) and a.value is not None and b.value is not None and a.site == b.site
        for a, b in models
    ) and all(a.cls is b.cls and told_alike(options_of(a), options_of(b), unsure) for a, b in optimizers)


def told_alike(one: Value, other: Value, unsure: bool) -> bool:
    """Whether two optimizers are told the same. In a turn that stands for others (`unsure`) a learning rate may depend
    on which of them it is: where there was one before, it is that."""
    if unsure and isinstance(one, dict) and isinstance(other, dict):
        other = {
            word: True if isinstance(value, Unknown) and one.get(word) is True else value
            for word, value in other.items()
        }
    return alike(one, other, 4)


def options_of(optimizer: Instance) -> Value:
    """What an optimizer is told, as far as its memory depends on it: of a learning rate or a momentum whether there is
    one."""
    told = optimizer.attributes.get("defaults")
    if not isinstance(told, dict):
        return told
    return {word: value != 0 if type(value) is float or value == 0 else value for word, value in told.items()}


def order(root: Root) -> tuple[int, int]:
    """Line and column, by which models of one file are sorted."""
    return root.site.line, root.site.column


def same_loop(one: Phase, other: Phase) -> bool:
    """Whether two phases are runs of one loop statement, or both of none."""
    return statement_of(one) is statement_of(other)


def statement_of(phase: Phase) -> object:
    """The loop statement of a phase's training; None where no loop is around it."""
    site = phase.loop.site if phase.loop is not None else None
    return site.statement if isinstance(site, StatementSite) else None


def shapes(phase: Phase) -> list[object]:
    """What the models are called on."""
    return [[getattr(value, "shape", None) for value in call.args] for call in phase.calls]


def agrees(one: object, other: object, unsure: bool) -> bool:
    """Whether what two phases do is the same; if `unsure`, as far as it is known of the second."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(agrees(a, b, unsure) for a, b in zip(one, other, strict=True))
    return one == other or (unsure and (other is None or isinstance(other, Unknown)))


def computed(phase: Phase) -> list[object]:
    """What the last turn computes: each op's kind, whether with a gradient, and the shapes of its results."""
    return [(call.op.kind, call.grad, [result.shape for result in call.outputs]) for call, _ in phase.passes[-1].calls]
