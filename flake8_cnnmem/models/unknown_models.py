"""Trainings whose model nobody could follow: what their loop says of batch, input, optimizer and precision is known all
the same, and why the model is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.invoke import HANDED_LAYERS
from flake8_cnnmem.evaluate.loop_turns import is_within
from flake8_cnnmem.evaluate.top_level import deep_recursion
from flake8_cnnmem.evaluate.trace import Unfollowed
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.batches import first_input, tensors_of
from flake8_cnnmem.evidence.phases import held_by
from flake8_cnnmem.frameworks.framework import TO_COMPILE_WITH, UNKNOWN_FITS, UNKNOWN_STEPS, Fit
from flake8_cnnmem.graph import Model, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.models.build import Built
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.stated import place
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

NAME = "model"
FEW_VALUES = 1024
"""A tensor with so few values (a temperature, a weight of a loss) takes nothing that is seen in a figure."""
OF_NO_MODEL = "what is trained are tensors that belong to no model"


def of_unknown_models(run: Interpreter, phases: Sequence[Phase], of_models: set[int]) -> Iterator[Root]:
    """One for each loop with its optimizers, in their order. `phases` are those in which no model was seen to train,
    `of_models` the weights (ids) that models have."""
    seen: set[tuple[object, ...]] = set()
    for phase in phases:
        site = phase.loop.site if phase.loop is not None else phase.events[0].site
        where = (site.path, site.line) if site is not None else None
        key = (where, *(id(optimizer) for optimizer in phase.optimizers))
        if site is None or key in seen or not phase.optimizers:
            continue
        steps = steps_on_unknown(phase) or is_unclear(run, phase)
        if not steps and not (goes_back(phase) and phase.updated and not phase.updated & of_models):
            continue
        seen.add(key)
        target = f"{run.trace.path}::{NAME}"
        yield Root(NAME, target, None, site, site, run, causes=(cause_of(phase),), phases=[phase])


def of_unknown_steps(run: Interpreter) -> Iterator[Root]:
    """The first step after a backward pass of which neither model nor optimizer is known; where there is an optimizer
    for models that are fitted, the first fit of what is not known."""
    fits = run.data(UNKNOWN_FITS).values() if run.data(TO_COMPILE_WITH) else ()
    steps = [(cause, site, None) for cause, site in run.data(UNKNOWN_STEPS).values()]
    for cause, site, fit in [*steps, *fits][:1]:
        if site is not None:
            target = f"{run.trace.path}::{NAME}"
            own = with_batch(run, fit) if fit is not None else None
            yield Root(NAME, target, None, site, site, run, causes=(cause,), steps=True, fit=own)


def of_plain_tensors(run: Interpreter, phases: Sequence[Phase]) -> Iterator[Root]:
    """One for each loop that goes back to tensors of no model alone (`w -= lr * w.grad`), and has no optimizer. Beside
    models that train, small ones take nothing that is seen."""
    few = FEW_VALUES if run.trace.layers else 0
    seen = {id(phase.loop.statement) for phase in phases if phase.loop is not None}
    for event in run.trace.events:
        if event.kind not in ("backward", "gradient") or event.turn is None or not isinstance(event.subject, Tensor):
            continue
        loop = event.turn.loop
        if loop.site is None or id(loop.statement) in seen:
            continue
        behind = calls_behind([event.subject])
        leaves = [tensor for call in behind for tensor in call.inputs if is_plain_leaf(tensor)]
        if not any(call.weights for call in behind) and any(has_more_than(few, leaf) for leaf in leaves):
            seen.add(id(loop.statement))
            cause = Unknown(OF_NO_MODEL, loop.site.path, loop.site.line)
            yield Root(NAME, f"{run.trace.path}::{NAME}", None, loop.site, loop.site, run, causes=(cause,), steps=True)


def has_more_than(few: int, tensor: Tensor) -> bool:
    """Whether a tensor has more values than so many, or may have."""
    size = tensor.shape if isinstance(tensor.shape, Unknown) else dims.at_batch(dims.product(tensor.shape), 1)
    return not isinstance(size, int) or size > few


def is_plain_leaf(tensor: Tensor) -> bool:
    """Whether a gradient comes to rest in a tensor."""
    made = tensor.call.inputs if tensor.call is not None else ()
    return tensor.requires_grad and not any(each.requires_grad for each in made)


def with_batch(run: Interpreter, fit: Fit) -> Fit:
    """A fit of a model that is not known, with the batch that it draws first."""
    with deep_recursion():
        found = (followed for each in frameworks.in_use() if (followed := each.fit_followed(run, fit)) is not None)
        return next(found, fit)


def beside_models(phase: Phase) -> Iterator[Unknown]:
    """Why a phase that trains models needs more than is counted: an optimizer that steps in it holds tensors of no
    model (codes that are learned for each sample, copies in float32), whose gradients and state are not counted."""
    for optimizer in phase.optimizers:
        loose = [each for each in held_by(optimizer) if isinstance(each, Tensor) and not isinstance(each, Weight)]
        named = frameworks.optimizer_of(optimizer)
        if named is not None and named.own is None and frameworks.updated_by(optimizer) is not None:
            # Parameters stand for them in the step, where that is known.
            continue
        if any(has_more_than(FEW_VALUES, each) for each in loose):
            site = optimizer.site
            yield Unknown(OF_NO_MODEL, *((site.path, site.line) if site is not None else ("", 0)))
            return


def steps_on_unknown(phase: Phase) -> bool:
    """Whether the step goes back, and updates weights of which none is known."""
    return goes_back(phase) and not any(frameworks.updated_by(optimizer) for optimizer in phase.optimizers)


def goes_back(phase: Phase) -> bool:
    """Whether a phase has a backward pass."""
    return any(event.kind == "backward" for event in phase.events)


def is_unclear(run: Interpreter, phase: Phase) -> bool:
    """Whether the loss is not known, and comes from a call of the very thing that the optimizer updates, or what that
    updates is not known either."""
    if goes_back(phase) or not any(event.kind == "unclear" for event in phase.events):
        return False
    return model_call(run, phase) is not None or not any(map(frameworks.updated_by, phase.optimizers))


def made_from(run: Interpreter, root: Root) -> bool:
    """Whether a model that nothing trains was given to what nobody can follow: what trains may be made of it."""
    return not root.is_training and root.value is not None and id(root.value) in run.data(HANDED_LAYERS)


def cause_of(phase: Phase) -> Unknown:
    """Why the loss, and with it the model, is not known."""
    for event in phase.events:
        loss = event.subject if event.kind in ("backward", "unclear") else None
        if isinstance(loss, Unknown):
            return loss
        read = [tensor for call in calls_behind([loss]) for tensor in call.inputs] if isinstance(loss, Tensor) else []
        for tensor in read:
            if isinstance(tensor.shape, Unknown):
                return tensor.shape
    held = [value for optimizer in phase.optimizers for value in held_by(optimizer)]
    if held and all(isinstance(value, Tensor) for value in held):
        site = phase.optimizers[0].site
        place = (site.path, site.line) if site is not None else ("", 0)
        return Unknown(OF_NO_MODEL, *place)
    return Unknown("which model is trained is not known")


def only_fed(root: Root) -> Built | None:
    """What is known of a training whose model is not: the batch that it is given, which is in memory during its step.
    None where its size is not known either, and for a model that is known."""
    given = given_to(root) if root.value is None else None
    if given is None:
        return None
    tensor, source = given
    where = Unknown("the model is not known: its batch alone was counted", root.site.path, root.site.line)
    causes = (*root.causes, where)
    model = Model(root.name, tensor.framework, None, (tensor,), (), (), (), causes=causes, site=root.site)
    assert isinstance(tensor.shape, tuple)
    return Built(model, tuple(size for size in tensor.shape[1:] if isinstance(size, int)), source, ())


def given_to(root: Root) -> tuple[Tensor, str] | None:
    """One batch, as the model of a training is given it, and where that is said."""
    found: list[tuple[Tensor | None, Site | None]] = []
    if root.fit is not None:
        data = root.fit.data
        made = data.site if isinstance(data, Instance) else None
        found.append((first_input(root.fit.batch), made or root.fit.site))
    for phase in root.phases:
        # A loss that is a layer is given targets beside.
        learning = [call for call in phase.calls if call.grad and len(call.args) + len(call.kwargs) == 1]
        if len(learning) == 1:
            found.append((next(tensors_of(learning[0]), None), learning[0].site))
        unfollowed = model_call(root.run, phase)
        if unfollowed is not None and isinstance(unfollowed.given, Tensor):
            found.append((unfollowed.given, unfollowed.site))
    for tensor, site in found:
        shape = tensor.shape if tensor is not None else None
        if tensor is None or not isinstance(shape, tuple) or len(shape) < 2:
            continue
        if all(isinstance(size, int) and size > 0 for size in shape[1:]):
            return Tensor((BATCH, *shape[1:]), tensor.dtype, framework=tensor.framework), place(site)
    return None


def model_call(run: Interpreter, phase: Phase) -> Unfollowed | None:
    """The call of what an optimizer updates, though neither is known, if the step's loss is not known for that alone:
    something else that is not known for the same cause may be called on the way to it."""
    cause = cause_of(phase)
    calls = [each for each in run.trace.unfollowed if phase.loop is not None and is_within(each.turn, phase.loop)]
    own = [each for each in calls if each.cause == cause]
    updated = any(cause in causes_of(optimizer) for optimizer in phase.optimizers)
    return own[0] if updated and own and all(isinstance(each.given, Tensor) for each in own) else None


def causes_of(optimizer: Instance) -> list[Value]:
    """Why it is not known what an optimizer updates."""
    groups = optimizer.attributes.get("param_groups")
    held = [group.get("params") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    inside = [value for each in held for value in (each if isinstance(each, list) else [each])]
    return [value for value in (groups, *inside) if isinstance(value, Unknown)]
