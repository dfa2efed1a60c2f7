"""Models that one step trains together as one model, with the step that the code makes where it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import product
from flake8_cnnmem.evaluate.loop_turns import around, is_within
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import Phase, Statement, batch_of, is_along, loose_parameters, seen_through
from flake8_cnnmem.evidence.batches import given_one_by_one, is_time_first, tensors_of
from flake8_cnnmem.evidence.graphs import is_graph
from flake8_cnnmem.graph import Call, Model, Tensor, Weight, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.actions import Step
from flake8_cnnmem.models.build import Built
from flake8_cnnmem.models.fits import fit_around
from flake8_cnnmem.models.fits_beside import beside_fits
from flake8_cnnmem.models.graph_steps import doubts_of, graph_step, values_of
from flake8_cnnmem.models.kept_results import KEPT
from flake8_cnnmem.models.looks import largest_look, looked_at
from flake8_cnnmem.models.outcome import doubts
from flake8_cnnmem.models.residents import replaced_later
from flake8_cnnmem.models.root import Root, inside_of, unknown_children
from flake8_cnnmem.models.steps import evaluation_of, step_of
from flake8_cnnmem.models.unknown_models import OF_NO_MODEL
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

Part = tuple[Root, Model, Training]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A loop that calls the models without training them, or a call that does so by itself (`step` and `phase` are
    None): the model with what is in memory beside it then."""

    model: Model
    step: Step | None
    batch_size: Statement[int]
    phase: Phase | None
    decides: bool
    """Whether its figure counts beside that of the training."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All that one step trains: a single model, or several as one. `parts` is empty for a single model."""

    model: Model
    step: Step | None = None
    parts: tuple[Part, ...] = ()

    def evaluated(self, root: Root, training: Training) -> Iterator[Evaluated]:
        """What evaluates what the step trains, as far as it is known."""
        look = largest_look(root, self.model, training.batch_size.value)
        if look is not None:
            model = looked_at(self.model, look, training.optimizer.value)
            yield Evaluated(model, None, Statement(look.batch_size, look.site), None, True)
        if not self.model.causes:
            for evaluation in root.evaluations:
                batch = batch_of(evaluation.phase)
                step = evaluation_of(evaluation.phase, batch.value) if batch is not None else None
                if step is not None and batch is not None:
                    model = replace(self.model, beside=evaluation.beside, calls=step.calls)
                    if made_after(root, evaluation.phase):
                        model = replace(model, weights=())
                    yield Evaluated(model, step, batch, evaluation.phase, evaluation.decides)


def made_after(root: Root, phase: Phase) -> bool:
    """Whether the models that a step trains were made when the last call of a phase before it had begun."""
    parts = [root.run.trace.layers.get(id(part.value)) for part in root.parts or (root,)]
    called = [event.number for event in phase.events if event.kind == "call"]
    return bool(called) and all(made is not None and made.began > called[-1] for made in parts)


def joined(
    root: Root, built: Built, training: Training, others: Sequence[tuple[Root, Built | None, Training]]
) -> Whole:
    """What a training trains: the model of a root, or it with those of the roots that the same step updates.

    The step is the code's own where all of it is known. Where it is not, one forward pass of one model is what every
    training has; what else the step does is a cause, and the figure a lower bound. Keras runs the update of each model
    as a program of its own.
    """
    phase = root.phases[0] if root.phases else None
    step = None
    often = list(turns_within(phase)) if phase is not None else []
    if phase is not None:
        built = replace(built, model=as_it_was(built.model, root, phase))
        others = [
            (part, its and replace(its, model=as_it_was(its.model, part, phase)), how) for part, its, how in others
        ]
    if phase is not None and fits_the_step(built):
        step = step_of(phase, root.parts or [root], stated_batch(training))
    if phase is not None and (loose := loose_parameters(phase)):
        built = replace(built, model=with_loose(built.model, loose, phase, step is not None))
    backend = built.model.backend
    whole_graph = graph_step(root, phase, stated_batch(training), backend) if phase is not None else None
    if whole_graph is not None:
        known = [(part, its.model, how) for part, its, how in ((root, built, training), *others) if its is not None]
        every = union(root, sorted(known, key=where), ()) if others else built.model
        model = whole_graph.model(every, tuple(dict.fromkeys((*doubts_of(whole_graph), *often))))
        fitted = replace(root, value=whole_graph.fitted, parts=(), fit=None)
        beside = beside_fits(root.run.trace, fitted)
        return Whole(replace(model, beside=beside), None, tuple(known) if others else ())
    if not others:
        model = replace(built.model, beside=root.beside)
        model = model if phase is None else with_all_of_a_fit(model, root, phase)
        if step is not None:
            whole = model.calls and not called_in_parts(root) and not is_rebuilt(root, phase) and not has_grown(model)
            whole = whole and not (model.causes and has_time_first(phase, training.batch_size.value))
            model = model if whole else run_by(model, step)
            if len(step.turns) > 1 and phase is not None and phase.loop is not None and phase.loop.knows_kept_results:
                model = replace(model, causes=tuple(cause for cause in model.causes if cause.reason != KEPT))
            return Whole(replace(model, causes=tuple(dict.fromkeys((*model.causes, *step.causes, *often)))), step)
        beyond = () if phase is None else tuple(unlike_one_pass(root, phase, stated_batch(training)))
        # Of a model that the step never calls as a whole, a call of it tells less than the step.
        told = (*model.causes, *often, *beyond) if is_called(root) else (*beyond, *often, *model.causes)
        return Whole(replace(model, causes=tuple(dict.fromkeys(told))))
    parts: list[Part] = [(root, built.model, training)]
    parts += [(part, its.model, how) for part, its, how in others if its is not None]
    parts.sort(key=where)
    causes = [cause for _, model, _ in parts for cause in model.causes] if step is None else list(step.causes)
    causes += [*often, *(cause for part, its, _ in others if its is None for cause in part.causes)]
    if step is None and not all(is_fitted(part) for part, _, _ in parts):
        names = " and ".join(part.name for part, _, _ in parts)
        causes.append(
            Unknown(f"what the step that trains {names} hands from one to another", root.site.path, root.site.line)
        )
    model = union(root, parts, causes)
    model = model if phase is None else with_all_of_a_fit(model, root, phase)
    return Whole(replace(model, beside=root.beside), step, tuple(parts))


def with_loose(model: Model, loose: Sequence[Weight], phase: Phase, followed: bool) -> Model:
    """The model with the tensors of no model that its step updates as parameters of its own, which they are in a step
    that was followed."""
    trained = (model.trained or frozenset()) | (phase.reached & {id(weight) for weight in loose})
    there = [weight.moved_at(phase.stepped) for weight in model.weights]
    on_the_host = bool(there) and all(there) and not any(weight.moved_at(phase.stepped) for weight in loose)
    what = ON_THE_HOST if on_the_host else OF_NO_MODEL
    cause = Unknown(what, *site_of_step(phase), upper=on_the_host)
    causes = model.causes if followed else (*model.causes, cause)
    return replace(model, weights=(*model.weights, *loose), trained=trained, causes=causes)


ON_THE_HOST = "copies of the weights that are trained on the host were counted on the device"


def with_all_of_a_fit(model: Model, root: Root, phase: Phase) -> Model:
    """The model of a step that `fit` runs, with the weights of the model around its parts that is fitted: those that it
    has itself, and those of layers that the step calls beside the parts."""
    fit = fit_around(root.run.trace, phase)
    framework = frameworks.of_layer(fit.subject) if fit is not None else None
    if framework is None or fit is None or not isinstance(fit.subject, Instance) or fit.subject is root.value:
        return model
    own = {id(weight): weight for weight in (*model.weights, *framework.weights(fit.subject))}
    trained = frozenset[int]().union(*(event.trainable for event in phase.events if event.kind == "step"))
    return replace(model, weights=tuple(own.values()), trained=(model.trained or frozenset()) | (trained & own.keys()))


def where(part: Part) -> tuple[int, int]:
    """Line and column at which a part is built."""
    return part[0].site.line, part[0].site.column


def as_it_was(model: Model, root: Root, phase: Phase) -> Model:
    """The model as it was in a phase: what the program adds to it later is no part of it yet, what it takes out later
    still is."""
    then = phase.held.weights.get(id(root.value)) if phase.held is not None else None
    now = {id(weight) for weight in model.weights}
    if not then or then == now or root.value is None:
        return model
    framework = frameworks.of_layer(root.value)
    if framework is not None and not framework.declares_inputs:
        # What its first calls build is what the phase runs on.
        then |= now & {id(weight) for each in phase.passes for call, _ in each.calls for weight in call.weights}
    gone = replaced_later(phase, root.value)
    if not then - now <= {id(weight) for weight in gone}:
        return model
    return replace(model, weights=(*(weight for weight in model.weights if id(weight) in then), *gone))


def is_rebuilt(root: Root, phase: Phase | None) -> bool:
    """Whether the program takes a part out of a model after a phase: what it is now is not what the step runs."""
    return phase is not None and root.value is not None and bool(replaced_later(phase, root.value))


def has_grown(model: Model) -> bool:
    """Whether a call of a model, as it is when the program has ended, runs on what it has not had in the phase that it
    stands for: a block that is added to it later."""
    own = set(map(id, model.weights))
    return bool(own) and any(id(weight) not in own for call in model.calls for weight in call.weights)


def as_the_outermost(root: Root, training: Training, parts: Sequence[Part]) -> Training:
    """The training with the batch that the program draws. Where models are fitted of which one holds the others, that
    one is given as much: of its parts some get real and made samples joined, others half a batch of each."""
    if root.phases or not parts:
        return training
    held = {key for part, _, _ in parts for key in inside_of(part) - {id(part.value)}}
    outermost = next((how for part, _, how in parts if id(part.value) not in held), training)
    said = outermost.batch_size
    return training if "default" in (said.source, training.batch_size.source) else replace(training, batch_size=said)


def fits_the_step(built: Built) -> bool:
    """Whether the facts that decide are those of the step itself: a directive may state another input."""
    return built.input_source != "directive"


def stated_batch(training: Training) -> int:
    """The batch size that the code's own step has, whatever a directive says."""
    if training.batch_size.source == "directive":
        stated = next((value for value, _ in training.batch_size.passed_over if value.isdigit()), None)
        return int(stated) if stated is not None else training.batch_size.value
    return training.batch_size.value


def unlike_one_pass(root: Root, phase: Phase, batch: int) -> Iterator[Unknown]:
    """What a step that was not followed is known to do beyond one forward pass of its model and one way back, with the
    batch as the first axis."""
    framework = frameworks.of_layer(root.value)
    if framework is None:
        return
    inside = inside_of(root)
    learning = [event for event in phase.events if event.call is not None and event.call.grad]
    own = [event for event in learning if id(seen_through(event.subject)) in inside]
    where = root.site.path, root.site.line
    if not framework.declares_inputs:
        unclear = next(chain(losses_unknown(phase), graphs_unknown(phase)), None)
        if unclear is not None:
            yield unclear
        elif phase.optimizers and not phase.updated:
            yield Unknown("which weights the step updates is not known", *site_of_step(phase))
        if len(own) > 1:
            yield Unknown(f"what the step keeps of {len(own)} forward passes of {root.name}", *where)
        elif own and is_large(phase):
            yield Unknown("what the loss keeps beside what the model gives", *where)
        if any(event not in own and is_trainable(seen_through(event.subject)) for event in learning):
            yield Unknown(f"what the step that trains {root.name} keeps of the other models that it calls", *where)
        return
    doubt = next((event.doubt for event in phase.events if event.doubt is not None and event.kind == "backward"), None)
    unclear = next(chain(losses_unknown(phase), sizes_unknown(phase)), None)
    if doubt is not None:
        yield doubt
    elif unclear is not None:
        yield unclear
    elif asks_for_gradients(phase):
        yield Unknown(f"how the step that trains {root.name} goes back", *site_of_step(phase))
    elif len(own) > 1:
        yield Unknown(f"what the step keeps of {len(own)} forward passes of {root.name}", *where)
    elif called_in_parts(root):
        yield Unknown(f"what the step that trains {root.name} does", *where)
    if any(event.call is not None and is_along(event.call, batch) for event in own):
        yield Unknown(f"how {root.name} takes a batch that is not the first axis of its input", *where)
    elif any((rows := rows_of(event.call)) is not None and rows > batch for event in own if event.call is not None):
        yield Unknown(f"what the step keeps of more rows than the batch, on which it calls {root.name}", *where)
    if any(event not in own and is_trainable(seen_through(event.subject)) for event in learning):
        yield Unknown(f"what the step that trains {root.name} keeps of the other models that it calls", *where)


def asks_for_gradients(phase: Phase) -> bool:
    """Whether a step asks for gradients by themselves, changes weights by them, and has no other backward pass."""
    by_hand = any(event.options.get("by_hand") for event in phase.events)
    kinds = {event.kind for event in phase.events}
    return by_hand and "gradient" in kinds and "backward" not in kinds


SMALL = 0.01
"""The part of a model's own values up to which those of a loss that the code writes itself do not count."""
FEW = 3
"""As many tensors of what the model gives a loss function of the framework's makes, too: a difference, its square."""


def is_large(phase: Phase) -> bool:
    """Whether a loss that the code writes itself makes more of what its models give than a loss function of the
    framework's would: tensors that its gradient may need, and that are in no forward pass."""
    loss = next((event.subject for event in phase.events if event.kind == "backward"), None)
    made = [call for call in calls_behind([loss]) if not isinstance(call.op, Loss)] if isinstance(loss, Tensor) else []
    inside = {call.number: call for call in made if call.within is not None}
    own = [call for call in made if call.within is None]
    read = {each.call.number for call in own for each in call.inputs if each.call is not None}
    given = sum(values_of(call) for number, call in inside.items() if number in read)
    return sum(map(values_of, own)) > max(SMALL * sum(map(values_of, inside.values())), FEW * given)


def sizes_unknown(phase: Phase) -> Iterator[Unknown]:
    """Why the sizes of what a loss that the code writes itself makes are not known, unless it is little beside what the
    models make: no more than it is made of, as by the values that a mask picks."""
    loss = next((event.subject for event in phase.events if event.kind == "backward"), None)
    made = calls_behind([loss]) if isinstance(loss, Tensor) else []
    inside = sum(values_of(call) for call in made if call.within is not None)
    reached: set[int] = set()
    open_ended: list[tuple[Call, Unknown]] = []
    for call in made:
        given = [each for each in call.inputs if each.call is not None and each.call.number in reached]
        if call.within is None and not given:
            # What the models are given.
            continue
        reached.add(call.number)
        if call.within is None and all(values_in(each) for each in given):
            open_ended += [(call, cause) for cause in map(unknown_size, call.outputs) if cause is not None]
    if sum(max(map(values_in, call.inputs), default=0) for call, _ in open_ended) > SMALL * inside:
        yield open_ended[0][1]


def unknown_size(tensor: Tensor) -> Unknown | None:
    """Why it is not known how many values there are along one of a tensor's axes."""
    sizes = () if isinstance(tensor.shape, Unknown) else tensor.shape
    return next((size for size in sizes if isinstance(size, Unknown)), None)


def values_in(tensor: Tensor) -> int:
    """How many values a tensor has, as far as that is known."""
    size = 0 if isinstance(tensor.shape, Unknown) else product(tensor.shape)
    return size if isinstance(size, int) else 0


def site_of_step(phase: Phase) -> tuple[str, int]:
    """Path and line of a phase's first optimizer step."""
    site = next((event.site for event in phase.events if event.kind == "step"), None)
    return (site.path, site.line) if site is not None else ("", 0)


def losses_unknown(phase: Phase) -> Iterator[Unknown]:
    """Why what a step goes back from is not known: the first loss that is not."""
    for event in phase.events:
        if event.kind in ("unclear", "backward") and isinstance(event.subject, Unknown):
            loss = event.subject
            yield Unknown(f"the loss is not known: {loss.reason}", loss.path, loss.line)
            return


def graphs_unknown(phase: Phase) -> Iterator[Unknown]:
    """Why the weights of a model that the step calls are not known: the way from its inputs to its outputs was lost."""
    for call in phase.calls:
        framework = frameworks.of_layer(call.instance)
        cause = framework.lost(call.instance) if framework is not None else None
        if cause is not None:
            yield cause


def turns_within(phase: Phase) -> Iterator[Unknown]:
    """Why it is not known how often a step calls its models: a loop of unknown length does, inside of the step, and the
    backward pass comes after all of its turns."""
    for event in phase.events:
        if event.call is None or not event.call.grad:
            continue
        for turn in around(event.turn):
            if turn.loop is phase.loop:
                break
            backward = any(each.kind == "backward" and is_within(each.turn, turn.loop) for each in phase.events)
            if turn.loop.open is not None and not backward:
                cause = turn.loop.open
                yield Unknown(f"how often a step calls its model: {cause.reason}", cause.path, cause.line)
                return


def rows_of(call: RootCall) -> int | None:
    """The first axis of what a model is called on; as many as there are of images that it is given one by one. A graph
    is one."""
    images = given_one_by_one(call)
    if images is not None:
        return images
    if is_graph(tensors_of(call)):
        return 1
    shape = next((value.shape for value in tensors_of(call)), None)
    return shape[0] if isinstance(shape, tuple) and shape and isinstance(shape[0], int) else None


def has_time_first(phase: Phase | None, batch: int) -> bool:
    """Whether a step calls its model on sequences whose second axis is the batch. A call of it on a batch of its own,
    which leads, tells of other shapes."""
    return phase is not None and any(is_time_first(call, batch) for call in phase.calls)


def is_called(root: Root) -> bool:
    """Whether a model is called as a whole where it trains, or nothing is seen of that."""
    calls = [call for phase in root.phases for call in phase.calls]
    return not calls or any(seen_through(call.instance) is root.value for call in calls)


def called_in_parts(root: Root) -> bool:
    """Whether a training step calls layers of a model by themselves, beside the model or instead of it (a Lightning
    module's own step)."""
    inside = inside_of(root) if root.phases else set()
    for each in root.phases:
        called = [seen_through(call.instance) for call in each.calls]
        if any(id(model) in inside and model is not root.value and is_trainable(model) for model in called):
            return True
    return False


def is_trainable(layer: Value) -> bool:
    """Whether a value is a layer or model that has weights."""
    framework = frameworks.of_layer(layer)
    return framework is not None and isinstance(layer, Instance) and bool(framework.weights(layer))


def run_by(model: Model, step: Step) -> Model:
    """What the step runs of a model without a forward pass: a Lightning module whose own step calls its layers."""
    losses = tuple(action.loss for action in step.turns[-1].actions if action.loss is not None)
    calls = tuple(call for call in step.calls if call.within is not None or call.weights)
    causes = [*doubts(calls), *(weight.shape for weight in model.weights if isinstance(weight.shape, Unknown))]
    causes += [child for _, child in unknown_children(model.root)]
    return replace(model, inputs=step.inputs, outputs=losses, calls=calls, causes=tuple(dict.fromkeys(causes)))


def is_fitted(root: Root) -> bool:
    """Whether the framework trains a model by itself, when the code calls `fit`."""
    framework = frameworks.of_layer(root.value)
    return framework is not None and root.value is not None and bool(framework.fits(root.value))


def union(root: Root, parts: Sequence[Part], causes: Sequence[Unknown]) -> Model:
    """One model of all parts: every call, every weight once, layers by their part's name and their path in it."""
    models = [model for _, model, _ in parts]
    paths: dict[int, str] = {}
    for part, model, _ in parts:
        for key, path in model.paths.items():
            paths.setdefault(key, f"{part.name}.{path}" if path else part.name)
    calls = {call.number: call for model in models for call in model.calls}
    return replace(
        models[0],
        name=" + ".join(part.name for part, _, _ in parts),
        root=root.value,
        inputs=tuple(tensor for model in models for tensor in model.inputs),
        outputs=tuple(tensor for model in models for tensor in model.outputs),
        calls=tuple(calls[number] for number in sorted(calls)),
        weights=tuple({id(weight): weight for model in models for weight in model.weights}.values()),
        paths=paths,
        causes=tuple(dict.fromkeys(causes)),
        site=root.site,
        trained=frozenset().union(*(model.trained or () for model in models)),
        batch_tests=tuple(dict.fromkeys(test for model in models for test in model.batch_tests)),
    )
