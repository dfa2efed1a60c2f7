"""All that the code says of one model's training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import batches, losses
from flake8_cnnmem.evidence.passes import seen_through
from flake8_cnnmem.evidence.phases import Phase, holds_no_weight, loose_parameters
from flake8_cnnmem.evidence.statement import Statement
from flake8_cnnmem.frameworks.framework import TO_COMPILE_WITH, UNKNOWN_STEPS, Fit, Framework
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.graph import Call, Site, Tensor, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@dataclass(slots=True)
class Evidence:
    """By fact what the code says, the strongest first. `trained` is the call of the model in a training loop."""

    batch_size: list[Statement[int]] = field(default_factory=list)
    devices: int = 1
    """How many devices the framework divides each batch among when it fits the model."""
    optimizer: list[Statement[Optimizer]] = field(default_factory=list)
    dtype: list[Statement[str]] = field(default_factory=list)
    loss: list[Statement[str]] = field(default_factory=list)
    losses: tuple[str, ...] = ()
    """What the framework's own trainer takes of the model's outputs, see `Training`."""
    trained: RootCall | None = None
    updated: frozenset[int] | None = None
    """The weights, by id, that the code's optimizers were made for, where that is not all that train."""
    trainable: frozenset[int] | None = None
    """The weights, by id, that asked for a gradient during the training; None where that is how they stand now."""
    loaders: list[Instance] = field(default_factory=list)
    """What the model is trained on, or probably is."""
    data: list[Statement[Value]] = field(default_factory=list)
    """The inputs of a batch that it is fitted on, where they are known, else the data itself; the last first."""


def gathered(run: Interpreter, model: Instance, phases: Sequence[Phase] = (), fit: Fit | None = None) -> Evidence:
    """What the code says of training this model. `phases` are those of one training, the one that needs most first: all
    is read off them, where there are any. `fit` is the call of the model that trains it, where it trains itself."""
    framework = frameworks.of_layer(model)
    assert framework is not None
    evidence = Evidence()
    inside = set(framework.paths(model))
    if fit is not None:
        held_at(evidence, framework, fit)
    optimizers_of(evidence, run, framework, model, phases)
    for each in phases:
        of_phase(evidence, framework, each, inside)
    fitted(evidence, framework, model, fit)
    site, stated = framework.input_stated(run, model)
    if stated is not None:
        # Behind the data, which Keras 3.15 and tf_keras 2.21 take in batches of any size.
        evidence.batch_size.append(Statement(stated, site))
    if not phases:
        made_loaders(evidence, run)
        told(evidence, run)
        gone_back(evidence, run, framework, model)
    precision(evidence, run, framework, model)
    return evidence


def of_unknown_model(run: Interpreter, phases: Sequence[Phase], fit: Fit | None = None) -> Evidence:
    """What a training says of itself whose model is not known: what it draws from, and what steps."""
    evidence = Evidence()
    made = [] if phases else list(run.data(TO_COMPILE_WITH).values())
    if len(made) == 1 and (only := frameworks.optimizer_of(made[0])) is not None:
        evidence.optimizer.append(Statement(only, getattr(made[0], "site", None)))
    if fit is not None and (said := batches.of_fit(fit)) is not None:
        evidence.batch_size.append(said)
    if not phases:
        made_loaders(evidence, run)
    for phase in phases:
        evidence.loaders += phase.loaders
        drawn = [said for each in phase.loaders if (said := batches.of_loader(each)) is not None]
        if phase.optimizers and all(map(holds_no_weight, phase.optimizers)) and any(map(has_weights, phase.learning)):
            # A picture that a network is given; what was drawn before trained the network.
            given = [said for call in phase.learning if has_weights(call) and (said := batches.of_call(call))]
            drawn = [said for said in drawn if given and said.value == given[0].value] or given[:1]
        evidence.batch_size += drawn
        for optimizer in phase.optimizers:
            named = frameworks.optimizer_of(optimizer)
            evidence.optimizer += [Statement(named, optimizer.site)] if named is not None else []
        for call in phase.calls:
            # Of what is called in the step the loss may be all that is known.
            if call.autocast:
                evidence.dtype.append(Statement(f"mixed_{call.autocast}", call.site))
    return evidence


def of_phase(evidence: Evidence, framework: Framework, phase: Phase, inside: set[int]) -> None:
    """What a training says of one of its models: the step's own call of it first, then what it draws from."""
    calls = [call for call in phase.calls if id(seen_through(call.instance)) in inside]
    learning = [call for call in phase.learning if call in calls]
    # A part that is frozen comes first where what learns is given its results.
    calls = [*learning, *parts_before(calls, learning)] if learning else calls
    # What comes from outside counts before what layers that are called by themselves hand on, and a loss that the model
    # holds is given its results.
    call = max(calls, key=lambda one: (is_given(one), has_weights(one), batches.values_of(one)), default=None)
    if call is not None and evidence.trained is None:
        evidence.trained = call
    evidence.loaders += phase.loaders
    # A Keras program also calls its layers to put the model together, at no size, and joins batches on the way.
    called = [one for one in (call, *calls) if one]
    drawn = [said for loader in phase.loaders if (said := batches.of_loader(loader)) is not None]
    given = [one for one in called if framework.declares_inputs or is_data(one)]
    # All may be joined or made on the way: real samples beside generated ones.
    given = given or ([] if drawn else called)
    sizes = [said for one in given if (said := batches.of_call(one))][:1]
    if not sizes or any(said.value == sizes[0].value or is_along(given[0], said.value) for said in drawn):
        # Where the loader says the same, its line is where the size is to be changed.
        sizes = drawn
    if not drawn and sizes and (second := of_time_first(phase, given[0])) is not None:
        sizes = [second]
    for said in sizes:
        evidence.batch_size.append(said)
    for call in calls:
        if call.grad and call.autocast:
            evidence.dtype.append(Statement(f"mixed_{call.autocast}", call.site))
    for loss in phase.losses:
        if (named := losses.of_tensor(loss)) is not None:
            evidence.loss.append(named)


def parts_before(calls: Sequence[RootCall], learning: Sequence[RootCall]) -> list[RootCall]:
    """Calls of other parts of a model than learn, on what no op gives, where all that learn are given results of ops:
    the frozen backbone below a head."""
    if any(map(is_leaf, learning)):
        return []
    parts = {id(seen_through(call.instance)) for call in learning}
    return [call for call in calls if is_leaf(call) and id(seen_through(call.instance)) not in parts]


def of_time_first(phase: Phase, call: RootCall) -> Statement[int] | None:
    """The second axis of what a model is called on, where it is the batch of the layers that read it: of sequences with
    time first (`nn.LSTM` without `batch_first`)."""
    given = next(batches.tensors_of(call), None)
    shape = given.shape if given is not None else None
    if not isinstance(shape, tuple) or len(shape) not in (2, 3) or not batches.is_count(shape[1]):
        return None
    for each, _ in (pair for one in phase.passes for pair in one.calls):
        read = each.inputs[0] if each.inputs and each.op.batch_axis == 1 else None
        if read is None or not isinstance(read.shape, tuple) or len(read.shape) != 3 or read.shape[:2] != shape[:2]:
            continue
        if read is given or any(given in made.inputs for made in calls_behind([read])):
            return Statement(shape[1], call.site)
    return None


def is_along(call: RootCall, batch: int) -> bool:
    """Whether another axis than the first of what a model is called on is the batch."""
    return batches.is_time_first(call, batch) or batches.is_joined(call, batch)


def is_leaf(call: RootCall) -> bool:
    """Whether a call's first tensor is no result of other ops."""
    first = next(batches.tensors_of(call), None)
    return first is not None and first.call is None


def is_given(call: RootCall) -> bool:
    """Whether no weight was read for a call's first tensor: points that are drawn and put to scale are from outside."""
    first = next(batches.tensors_of(call), None)
    return first is not None and not any(each.weights for each in calls_behind([first]))


def is_data(call: RootCall) -> bool:
    """Whether a call's first tensor is data, or pieces of data in another form: `tf.expand_dims(state, 0)`, batches of
    several loaders that are joined."""
    first = next(batches.tensors_of(call), None)
    return first is not None and comes_from_data(first)


def comes_from_data(tensor: Tensor) -> bool:
    """Whether all that leads to a tensor takes one tensor, or joins several along the batch, and reads no weight."""
    waiting, seen = [tensor], set[int]()
    while waiting:
        made = waiting.pop().call
        if made is None or id(made) in seen:
            continue
        seen.add(id(made))
        if made.weights or not made.inputs or (len(made.inputs) > 1 and not joins_batches(made)):
            return False
        waiting += made.inputs
    return True


def joins_batches(call: Call) -> bool:
    """Whether a call puts several batches behind one another: its result has the samples of all of them."""
    shapes = [each.shape for each in (*call.outputs, *call.inputs)]
    sizes = [shape[0] for shape in shapes if isinstance(shape, tuple) and shape and isinstance(shape[0], int)]
    alike = {len(shape) for shape in shapes if isinstance(shape, tuple)}
    return len(call.outputs) == 1 and len(sizes) == len(shapes) and len(alike) == 1 and sizes[0] == sum(sizes[1:])


def has_weights(call: RootCall) -> bool:
    """Whether the model that is called has weights."""
    framework = frameworks.of_layer(call.instance)
    return framework is not None and bool(framework.weights(call.instance))


def batch_of(phase: Phase) -> Statement[int] | None:
    """The batch that a loop's largest call of a model is given, at the loader that draws it if one says the same."""
    call = max(phase.calls, key=batches.values_of, default=None)
    said = batches.of_call(call) if call is not None else None
    drawn = [each for loader in phase.loaders if (each := batches.of_loader(loader)) is not None]
    along = [each for each in drawn if any(batches.is_time_first(one, each.value) for one in phase.calls)]
    return next((each for each in drawn if said is not None and each.value == said.value), None) or next(
        iter(along), said
    )


def optimizers_of(
    evidence: Evidence, run: Interpreter, framework: Framework, model: Instance, phases: Sequence[Phase]
) -> None:
    """Those that step on this model's parameters; without a training those that were made for them; what `compile`
    says."""
    stepping = {id(optimizer): optimizer for each in phases for optimizer in each.optimizers}
    made = {} if phases else run.data("optimizers")
    own = {id(weight) for weight in framework.weights(model)} if stepping or made else set()
    own |= {id(weight) for each in phases for weight in loose_parameters(each)}

    def covered(optimizer: Instance) -> int:
        return len(own & {id(weight) for weight in framework.updated_by(optimizer) or ()})

    known = [*sorted(stepping.values(), key=covered, reverse=True), *sorted(made.values(), key=covered, reverse=True)]
    alone = len(known) == 1 or not framework.optimizers_own
    for optimizer in known:
        holds = framework.updated_by(optimizer)
        named = framework.optimizer_of(optimizer)
        if named is not None and (covered(optimizer) or (holds is None and (alone or id(optimizer) in stepping))):
            evidence.optimizer.append(Statement(named, optimizer.site))
    held = [optimizer for optimizer in known if covered(optimizer)]
    used = [optimizer for optimizer in held if id(optimizer) in stepping] or held[:1]
    if phases and framework.declares_inputs:
        updated = frozenset[int]().union(*(each.updated for each in phases))
        # An optimizer that holds nothing but frozen parameters updates none.
        told = bool(stepping) and all(framework.updated_by(each) is not None for each in stepping.values())
        evidence.updated = updated if updated or told else None
        evidence.trainable = frozenset().union(*(each.asking for each in phases)) or None
    elif used:
        theirs = frozenset(id(weight) for optimizer in used for weight in framework.updated_by(optimizer) or ())
        trained = {id(weight) for weight in framework.weights(model) if weight.trainable and not weight.buffer}
        evidence.updated = theirs if trained - theirs else None
    for compiled in reversed(framework.compiled(model)):
        named = framework.optimizer_of(compiled.optimizer)
        if isinstance(compiled.optimizer, Unknown):
            named = unknown_optimizer(compiled.optimizer)
        if named is not None:
            site = compiled.optimizer.site if isinstance(compiled.optimizer, Instance) else None
            evidence.optimizer.append(Statement(named, site or compiled.site))
        if (loss := losses.of_compiled(compiled.loss, compiled.site)) is not None:
            evidence.loss.append(loss)
            evidence.losses = evidence.losses or losses.each_of_compiled(compiled.loss)
    lone = list(run.data(TO_COMPILE_WITH).values())
    if not evidence.optimizer and len(lone) == 1 and (named := framework.optimizer_of(lone[0])) is not None:
        # The only one that the code makes, where what it compiles was not followed.
        evidence.optimizer.append(Statement(named, getattr(lone[0], "site", None)))
    if not evidence.optimizer:
        for unknown, at in run.data(UNKNOWN_STEPS).values():
            evidence.optimizer.append(Statement(unknown_optimizer(unknown), at))


def unknown_optimizer(value: Unknown) -> Optimizer:
    """An optimizer of which nothing more is known."""
    cause = Unknown(f"the optimizer is not known: {value.reason}", value.path, value.line)
    return Optimizer("unknown", (), Update(causes=(cause,)), known=False)


def held_at(evidence: Evidence, framework: Framework, fit: Fit) -> None:
    """What held of a model when it was fitted: how it was compiled then, and which of its weights trained."""
    named = framework.optimizer_of(fit.optimizer)
    if named is not None:
        site = fit.optimizer.site if isinstance(fit.optimizer, Instance) else None
        evidence.optimizer.append(Statement(named, site or fit.compiled_site))
    if (loss := losses.of_compiled(fit.loss, fit.compiled_site)) is not None:
        evidence.loss.append(loss)
    evidence.losses = losses.each_of_compiled(fit.loss)
    evidence.trainable = fit.trainable


def fitted(evidence: Evidence, framework: Framework, model: Instance, only: Fit | None = None) -> None:
    """The last `fit` first: what came before it was warming up. Of several trainings the one that is asked for."""
    for fit in reversed(framework.fits(model)) if only is None else [only]:
        site = fit.data.site if isinstance(fit.data, Instance) and fit.data.site is not None else fit.site
        given = fit.batch if isinstance(fit.batch, (Tensor, tuple, list, dict)) else None
        inputs = given[0] if isinstance(given, (tuple, list)) and given else given
        evidence.data.append(Statement(fit.data if inputs is None else inputs, site))
        said = batches.of_fit(fit)
        if said is not None:
            evidence.devices = fit.replicas if not evidence.batch_size else evidence.devices
            evidence.batch_size.append(said)


def told(evidence: Evidence, run: Interpreter) -> None:
    """Batch sizes that calls are told which nobody can follow (data modules, trainers of other packages), where
    nothing else says one: not those for tests alone."""
    if evidence.batch_size:
        return
    for size, site in run.data("told batches").values():
        words = batches.words_of(site)
        trained = batches.FOR_TRAINING.search(words) or not batches.NOT_FOR_TRAINING.search(words)
        if trained and batches.is_count(size):
            evidence.batch_size.append(Statement(size, site))


def made_loaders(evidence: Evidence, run: Interpreter) -> None:
    """Loaders that were made, where no training was seen."""
    if evidence.batch_size:
        return
    others = run.data(batches.TRAINED_ON)
    made = run.data("loaders").items()
    loaders = [value for key, value in made if batches.is_loader(value) and key not in others]
    for loader in batches.training_loaders(loaders):
        evidence.loaders.append(loader)
        if (said := batches.of_loader(loader)) is not None:
            evidence.batch_size.append(said)


def gone_back(evidence: Evidence, run: Interpreter, framework: Framework, model: Instance) -> None:
    """The batch of a call of a PyTorch model behind which a backward pass comes, though no optimizer steps (the
    gradients are looked at): the figure is that of such a pass."""
    if evidence.batch_size or not framework.declares_inputs:
        return
    backward = [event for event in run.trace.events if event.kind == "backward"]
    own = {id(weight) for weight in framework.weights(model)} if backward else set()
    passes = [event.number for event in backward if own & event.trainable]
    for event in run.trace.events if passes else ():
        call = event.call
        if call is None or not call.grad or seen_through(call.instance) is not model or event.number > max(passes):
            continue
        if (said := batches.of_call(call)) is not None:
            evidence.batch_size.append(said)
            return


def precision(evidence: Evidence, run: Interpreter, framework: Framework, model: Instance) -> None:
    """A dtype that the model itself was given, or a policy for all models."""
    policy = framework.policy(run, model)
    if policy is not None:
        evidence.dtype.append(Statement(*policy))
    weights = [weight.dtype for weight in framework.weights(model) if not weight.buffer]
    floating = {dtype for dtype in weights if dtype.startswith(("float", "bfloat"))}
    if len(floating) == 1 and floating != {"float"} and floating != {"float32"}:
        evidence.dtype.append(Statement(floating.pop(), cast_site(run, model)))


def cast_site(run: Interpreter, model: Instance) -> Site | None:
    """Where `model.half()` or its like stands."""
    site: Site | None = run.data("casts").get(id(model))
    return site
