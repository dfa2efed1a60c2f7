"""The trainings of a program: each loop that repeats a step, with the models that the step updates.

A model that a step only looks at (a teacher, a feature extractor) is none of its models: it is in memory beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.loop_turns import around
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import Phase, loose_parameters, seen_through
from flake8_cnnmem.evidence.batches import TRAINED_ON, shapes_drawn, values_of
from flake8_cnnmem.evidence.phases import holds_no_weight
from flake8_cnnmem.frameworks.changed_weights import MADE_WEIGHTS
from flake8_cnnmem.graph import Resident, Tensor, Weight, calls_behind
from flake8_cnnmem.models.evaluations import evaluated, gathers
from flake8_cnnmem.models.fits import by_fit, fit_around, fits_of, given_by_turns
from flake8_cnnmem.models.fits_beside import beside_fits
from flake8_cnnmem.models.held_tensors import graphs_beside
from flake8_cnnmem.models.phase_sizes import told_by
from flake8_cnnmem.models.residents import (
    LeftBehind,
    cleared_first,
    marked_anew,
    more_beside,
    not_read,
    residents,
    states_of_other_runs,
    values_beside,
)
from flake8_cnnmem.models.root import Root, assigned_name, inside_of, weights_in
from flake8_cnnmem.models.same_trainings import continues, does_less, order, repeats
from flake8_cnnmem.models.uncounted import uncounted
from flake8_cnnmem.models.unknown_models import (
    made_from,
    of_plain_tensors,
    of_unknown_models,
    of_unknown_steps,
    steps_on_unknown,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def trained_models(run: Interpreter, phases: Sequence[Phase]) -> set[int]:
    """Models, by id, that are called in a training step, or fitted."""
    found = {id(seen_through(call.instance)) for each in phases for call in each.calls}
    for made in run.trace.layers.values():
        framework = frameworks.of_layer(made.instance)
        if framework is not None and framework.fits(made.instance):
            found.add(id(made.instance))
    return found


def trainings(run: Interpreter, roots: list[Root], phases: Sequence[Phase]) -> list[Root]:
    """The trainings, in the order in which they run, and those models that take part in none."""
    groups: list[list[Root]] = []
    taken: set[int] = set()
    left = LeftBehind()
    repeated: dict[int, set[int]] = {}
    unknown: list[Phase] = []
    for phase in phases:
        called = {id(seen_through(call.instance)) for call in phase.calls}
        taking = [root for root in roots if called & inside_of(root)]
        later = [root for root in taking if is_later(run, root, phase)]
        if len(later) < len(taking):
            # What they were put into afterwards takes part in another training, or in none.
            taking = [root for root in taking if root not in later]
            taken.update(id(root) for root in later if not fits_of(root))
        # What had learned before it was put into a model is a part of that from then on.
        inner = {part for root in taking for part in inside_of(root) - {id(root.value)}}
        taking = [root for root in taking if id(root.value) not in inner]
        trained = [root for root in taking if is_updated(root, phase)] or [
            root for root in taking if is_called_to_learn(root, phase) or is_held(root, phase)
        ]
        trained += single_layers(run, phase, trained) or trains_beside(taking, phase)[: not trained]
        if not trained:
            for root in roots if phase.calls else ():
                if is_updated(root, phase):
                    root.beyond += uncalled(root, phase)
            loose = bool(phase.updated - {id(weight) for root in roots for weight in weights_of(root)})
            if loose or not any(map(is_trained, taking)) or any(map(holds_no_weight, phase.optimizers)):
                unknown.append(phase)
                # What it only looks at (a frozen network in a loss) trains with what is not known.
                taken.update(id(root) for root in taking if loose or steps_on_unknown(phase))
            continue
        # A teacher that was fitted before has a training of its own.
        taken.update(id(root) for root in taking if root in trained or not fits_of(root))
        # A loss that each turn makes anew.
        losses = {root.site for root in taking if not is_trained(root)}
        taken.update(id(root) for root in roots if root.site in losses and not is_trained(root))
        known = next((group for group in groups if continues(run, group, trained, phase)), None)
        if known is None and any(does_less(group, phase) for group in groups):
            continue
        left.come_to(run.trace, phase)
        beside = besides(run, phase, trained, left)
        left.add(phase)
        if known is not None:
            known[0].phases.append(phase)
            more = tuple(graphs_beside(run.trace, phase))
            for root in known:
                # What an earlier epoch has left behind it, as a validation does.
                root.beyond = tuple(dict.fromkeys((*root.beyond, *more)))
            # A turn that stands for later ones may be given what is not known: those before it have read it.
            same = [each for each in known[0].phases[1:] if phase.loop is not None and each.loop is phase.loop.follows]
            for earlier in (known[0].phases[0], *same):
                beside = not_read(earlier, beside)
            beside = marked_anew(known[0].beside, beside)
            if more_beside(beside, known[0].beside):
                # A later epoch finds more: the best weights so far, what was averaged.
                for root in known:
                    root.beside = beside
            continue
        times = 1
        twin = next((group for group in groups if repeats(run, group, trained, phase)), None)
        if twin is not None:
            # The next epochs of the same models are no further training.
            again = {id(root.value) for root in trained}
            seen = repeated[id(twin)]
            twin[0].times += again.isdisjoint(seen)
            seen |= again
            if values_beside(not_read(twin[0].phases[0], beside)) <= values_beside(twin[0].beside):
                continue
            # The models before it are still there: it is told in their place.
            times = twin[0].times
            groups.remove(twin)
        else:
            seen = {id(root.value) for root in trained}
        run.data(TRAINED_ON).update((id(loader), loader) for loader in phase.loaders)
        weights = [weight for root in trained for weight in weights_of(root)]
        causes = (*uncounted(run, weights, phase), *cleared_first(phase, left))
        own = [
            replace(root, phases=[phase], beside=beside, evaluations=[], times=times, beyond=causes) for root in trained
        ]
        tell_apart(own)
        first = leading(run, phase, own)
        for part in own:
            part.phases = first.phases
        first.parts = tuple(sorted(own, key=lambda root: (root.site.line, root.site.column))) if len(own) > 1 else ()
        groups.append([first, *(part for part in own if part is not first)])
        repeated[id(groups[-1])] = seen
    evaluated(run, groups, [root for root in roots if id(root) not in taken], phases)
    found = [group[0] for group in groups]
    told = {id(weight) for root in found for each in root.beside for weight in each.weights}
    # What is told as being in memory beside a training is no model of its own, unless it was fitted, or a loop of its
    # own fills memory. What it answers is told with the training.
    for root in roots:
        answering = {id(weight) for weight in weights_of(root)}
        if set() < answering <= told and not gathers(root) and not fits_of(root):
            taken.add(id(root))
            told_with(root, answering, found)
    # What was fitted by itself before a model around it, whose own step was followed, made use of it.
    apart = [part for group in groups if fit_around(run.trace, group[0].phases[0]) for part in parts_fitted(run, group)]
    together = fitted_together(run, [*(root for root in roots if id(root) not in taken), *apart])
    parts = [part for root in together for part in root.parts]
    within = {key for part in parts for key in inside_of(part) - {id(part.value)}}
    for root in together:
        # What is only looked at by itself (a generator that predicts) trains as a part of what holds it.
        if root.parts or id(root.value) not in within or fits_of(root):
            for each in by_fit(root):
                each.beside += beside_fits(run.trace, each)
                each.beyond += tuple(given_by_turns(run.trace, each))
                found.append(each)
    for root in found:
        root.phases.sort(key=told_by, reverse=True)
        if len(root.phases) > 1:
            root.beside += tuple(states_of_other_runs(root.phases))
    others = list(of_unknown_models(run, unknown, {id(weight) for root in roots for weight in weights_of(root)}))
    found = [*(root for root in found if not others or not made_from(run, root)), *others]
    learns = any(root.is_training for root in found) or any(
        event.kind in ("backward", "call") and event.trainable for event in run.trace.events
    )
    found += [] if phases or learns else of_unknown_steps(run)
    found += of_plain_tensors(run, phases)
    return sorted(found, key=lambda root: began(run, root))


def told_with(root: Root, weights: set[int], trained: Sequence[Root]) -> None:
    """Tell the first training beside which a model is in memory of the calls of it that belong to no step."""
    for other in trained if root.evaluations else ():
        if weights & {id(weight) for each in other.beside for weight in each.weights}:
            other.evaluations += [replace(each, decides=True) for each in root.evaluations]
            return


def is_later(run: Interpreter, root: Root, phase: Phase) -> bool:
    """Whether a model was made when a training was over."""
    made = run.trace.layers.get(id(root.value))
    return made is not None and made.began >= phase.passes[-1].last


def besides(run: Interpreter, phase: Phase, roots: Sequence[Root], left: LeftBehind) -> tuple[Resident, ...]:
    """What lies beside the models of `roots` in a phase: of tensors not those in whose storage their weights lie."""
    found = residents(run.trace, phase, [root.value for root in roots if root.value is not None], left)
    own = {id(weight) for root in roots for weight in weights_of(root)}
    shared = {id(tensor) for tensor, made in run.data(MADE_WEIGHTS).values() if id(made) in own}
    # A parameter that was made of another one's values lies where that one does.
    found = tuple(replace(each, weights=tuple(one for one in each.weights if id(one) not in shared)) for each in found)
    return tuple(
        each for each in found
        if (each.weights or each.gradients or each.updated or each.tensors or each.optimizer is not None)
        and (not each.tensors or not {id(one) for one in each.tensors} <= shared)
    )  # fmt: skip


def began(run: Interpreter, root: Root) -> float:
    """When the training of a model began, by the number of the op before it; models that nothing trains come last."""
    fitted = {id(part.value) for part in root.parts or [root]} if not root.phases else set()
    fits = [event for event in run.trace.events if event.kind == "fit" and id(event.subject) in fitted]
    own = [event for event in fits if root.fit is not None and event.site is root.fit.site] or fits
    first = min((phase.passes[0].first for phase in root.phases), default=None)
    return own[0].number if own else first if first is not None else math.inf


def single_layers(run: Interpreter, phase: Phase, trained: Sequence[Root]) -> list[Root]:
    """Layers of the framework's own that the step updates and that are no part of a model: a head beside a backbone, or
    one that is trained by itself."""
    covered = {id(weight) for root in trained for weight in weights_of(root)}
    missing = set(phase.updated - covered)
    found: list[Root] = []
    layers = phase.held.layers if phase.held is not None and missing else []
    for path, layer in sorted(layers, key=lambda each: -len(weights_in(each[1]))):
        own = {id(weight) for weight in weights_in(layer)}
        if own & missing and not own & covered:
            missing -= own
            made = run.trace.layers.get(id(layer))
            site = (made.site or made.entered if made is not None else None) or layer.site
            site = trained[0].site if site is None and trained else site
            if site is not None:
                calls = [call for call in run.trace.root_calls if seen_through(call.instance) is layer]
                found.append(Root(path, f"{run.trace.path}::{path}", layer, site, site, run, calls))
    return found


def trains_beside(taking: Sequence[Root], phase: Phase) -> list[Root]:
    """The largest of the models that a step only looks at, where all that it updates are tensors of no model: an image
    under a frozen network, a code for a decoder. It is told as the training of that model with them."""
    loose = {id(weight) for weight in loose_parameters(phase)}
    if not loose or not phase.updated or not phase.updated <= loose:
        return []
    return sorted(taking, key=lambda root: -len(weights_of(root)))[:1]


def is_updated(root: Root, phase: Phase) -> bool:
    """Whether the step updates a weight of a model."""
    return any(id(weight) in phase.updated for weight in weights_of(root))


def uncalled(root: Root, phase: Phase) -> tuple[Unknown, ...]:
    """Why what a model is told to need is not what is trained: a step updates it that calls another one."""
    site = next((optimizer.site for optimizer in phase.optimizers if optimizer.site is not None), root.site)
    return (Unknown(f"a step updates {root.name} without calling it", site.path, site.line),)


def is_called_to_learn(root: Root, phase: Phase) -> bool:
    """Whether a model with weights to train is called with a gradient, where nobody knows what the optimizer holds."""
    inside = inside_of(root)
    called = any(call.grad and id(seen_through(call.instance)) in inside for call in phase.calls)
    return called and not phase.updated and is_trained(root) and not any(map(holds_no_weight, phase.optimizers))


def is_held(root: Root, phase: Phase) -> bool:
    """Whether a model is called with a gradient and the optimizer holds weights of it, of which none is known to ask
    for a gradient: what does may be a layer that was not followed."""
    framework = frameworks.of_layer(root.value)
    inside = inside_of(root)
    if framework is None or not any(call.grad and id(seen_through(call.instance)) in inside for call in phase.calls):
        return False
    held = {id(weight) for optimizer in phase.optimizers for weight in framework.updated_by(optimizer) or ()}
    return any(id(weight) in held for weight in weights_of(root))


def tell_apart(group: Sequence[Root]) -> None:
    """Parts of one class go by the names that the code gives them."""
    names = [root.name for root in group]
    for root in group:
        if names.count(root.name) > 1:
            root.name = assigned_name(root.site) or root.name


def fitted_together(run: Interpreter, roots: list[Root]) -> list[Root]:
    """Models of which parts are fitted themselves in the same loop (the discriminator inside of "combined") with those
    as one. Parts that are fitted elsewhere (a teacher, before its student is) are trainings of their own."""
    groups: list[list[Root]] = []
    alone: list[Root] = []
    for root in roots:
        inner = fitted_inside(run, root)
        own = loops_with_fits(run, root.value)
        beside = [part for part in inner if own & loops_with_fits(run, part.value)]
        groups += [[*beside, root]] if beside else []
        alone += [part for part in inner if part not in beside]
    taken = [root for group in groups for root in group]
    known = {id(root.value) for root in (*roots, *taken)}
    alone = list({id(part.value): part for part in alone if id(part.value) not in known}.values())
    result = [root for root in [*roots, *alone] if root not in taken]
    for group in groups:
        first = next((root for root in group if is_trained(root)), group[0])
        tell_apart(group)
        first.parts = tuple(sorted(group, key=order))
        result.append(first)
    return result


def fitted_inside(run: Interpreter, root: Root) -> list[Root]:
    """Parts of a model that are fitted themselves: the discriminator inside of "combined", what was trained before a
    model around it was made to use it."""
    framework = frameworks.of_layer(root.value)
    if framework is None or root.value is None:
        return []
    inside = inside_of(root)
    found = []
    for made in run.trace.layers.values():
        part, site = made.instance, made.site
        if part is not root.value and id(part) in inside and site is not None and framework.fits(part):
            name = assigned_name(site) or framework.paths(root.value).get(id(part)) or part.cls.name
            found.append(Root(name, f"{root.target}.{name}", part, site, site, run))
    return found


def parts_fitted(run: Interpreter, group: Sequence[Root]) -> list[Root]:
    """Models in those of a group that are fitted themselves, by another `fit` than the group's."""
    site = group[0].phases[0].loop.site if group[0].phases[0].loop is not None else None
    inner = {id(part.value): part for root in group for part in fitted_inside(run, root)}
    return [part for part in inner.values() if all(fit.site is not site for fit in fits_of(part))]


def loops_with_fits(run: Interpreter, model: Value) -> set[int]:
    """The loops, by id, in whose turns a model is fitted. Two that are fitted in the same one are trained together;
    one that is fitted before the other, outside of it, is a training of its own."""
    fits = (event for event in run.trace.events if event.kind == "fit" and event.subject is model)
    return {id(turn.loop) for event in fits for turn in around(event.turn)}


def leading(run: Interpreter, phase: Phase, group: Sequence[Root]) -> Root:
    """The model that a step's facts are told of: of those that it trains the first one that is called on what the
    loader gives; else the one that is called on the largest tensor from outside (no other model's output)."""
    several = phase.loaders if len(group) > 1 else []
    samples = [shape for loader in several for shape in shapes_drawn(run, loader)]
    best: tuple[bool, bool, int] | None = None
    found = group[0]
    for call in phase.learning:
        model = id(seen_through(call.instance))
        root = next((root for root in group if model in inside_of(root)), None)
        if root is None:
            continue
        first = next((value.shape for value in call.args if isinstance(value, Tensor)), None)
        drawn = isinstance(first, tuple) and first[1:] in samples
        given = (drawn, is_given(call), 0 if drawn else values_of(call))
        if best is None or given > best:
            best, found = given, root
    return found


def is_given(call: RootCall) -> bool:
    """Whether a call's first tensor is no result of ops that a gradient goes through."""
    first = next((value for value in call.args if isinstance(value, Tensor)), None)
    return first is not None and (first.call is None or not any(True for _ in learned(first)))


def learned(tensor: Tensor) -> Iterator[Tensor]:
    """The weights that a tensor was computed with."""
    for call in calls_behind([tensor]):
        yield from call.weights


def is_trained(root: Root) -> bool:
    """Whether any parameter of a root is trainable."""
    return any(weight.trainable and not weight.buffer for weight in weights_of(root))


def weights_of(root: Root) -> list[Weight]:
    """The parameters and buffers of a root's model; none where it is not known."""
    return [] if root.value is None else weights_in(root.value)
