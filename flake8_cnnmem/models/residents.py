"""What is in memory during a training's step and is not the step's own: teachers, averaged copies, feature extractors,
what earlier phases have left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.evaluate.loop_turns import Turn, around
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.evidence import Phase, seen_through
from flake8_cnnmem.frameworks.updates import SHARES
from flake8_cnnmem.graph import Resident, Site, Weight, calls_behind, lies_on_device
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.leaves import memory_of, storage_of
from flake8_cnnmem.models.held_tensors import given_ahead, read_by, tensors_left
from flake8_cnnmem.models.left_by_turns import loose_weights, place, step_together
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


@dataclass(slots=True)
class LeftBehind:
    """What the phases so far have left in memory, as far as something still leads to it: gradients that nothing has
    cleared (weights, by id), and what each optimizer keeps its state for."""

    gradients: set[int] = field(default_factory=set)
    stepped: dict[int, tuple[Instance, set[int]]] = field(default_factory=dict)
    """Optimizers by id, with the weights, by id, that they have updated."""
    seen: int = 0
    """How many events of the trace were looked at."""
    uncleared: dict[int, Instance] = field(default_factory=dict)
    """The phases, by id, that begin with gradients of weights that no model has any more, each with the optimizer that
    holds these."""

    def come_to(self, trace: Trace, phase: Phase) -> None:
        """A phase begins: what happened outside of all phases since the last one (an evaluation that clears gradients,
        as the training does)."""
        first, last = stretch(trace, phase)
        for event in trace.events[self.seen : first]:
            if event.doubt is None:
                self.gradients_at(event)
        self.seen = max(self.seen, last)

    def gradients_at(self, event: Event) -> None:
        """Note which weights have gradients after an event."""
        if event.kind == "backward":
            self.gradients |= event.trainable
        elif clears(event):
            self.gradients -= cleared_by(event)

    def add(self, phase: Phase) -> None:
        """A phase has run."""
        for event in phase.events:
            self.gradients_at(event)
            if event.kind == "step" and isinstance(event.subject, Instance):
                known = self.stepped.setdefault(id(event.subject), (event.subject, set()))
                # What never had a gradient has no state.
                known[1].update(event.trainable & (phase.reached | self.gradients) or event.trainable)


def cleared_first(phase: Phase, left: LeftBehind) -> Iterator[Unknown]:
    """Why a phase may need more before its first step than in it."""
    optimizer = left.uncleared.get(id(phase))
    if optimizer is not None:
        what = "gradients of weights that were replaced lie there until the first step clears them"
        yield Unknown(what, *place(optimizer.site))


def stretch(trace: Trace, phase: Phase) -> tuple[int, int]:
    """How many events of the trace came before a phase, and how many there were at its end."""
    turns = phase.loop.turns if phase.loop is not None else []
    if turns:
        return turns[0].events[0], turns[-1].events[1]
    own = {id(event) for each in phase.passes for event in each.events}
    places = [at for at, event in enumerate(trace.events) if id(event) in own]
    return (places[0], places[-1] + 1) if places else (0, 0)


def clears(event: Event) -> bool:
    """Whether an event lets go of gradients for certain: not where it sets them to zero."""
    return event.kind == "zero_grad" and event.doubt is None and event.options.get("set_to_none") is not False


def cleared_by(event: Event) -> set[int]:
    """The weights, by id, whose gradients a zero_grad clears."""
    subject = seen_through(event.subject)
    if isinstance(subject, Weight):
        return {id(subject)}
    if not isinstance(subject, Instance):
        return set()
    framework = frameworks.of_layer(subject)
    weights = framework.weights(subject) if framework is not None else frameworks.updated_by(subject) or []
    return {id(weight) for weight in weights}


def residents(trace: Trace, phase: Phase, trained: Sequence[Instance], left: LeftBehind) -> tuple[Resident, ...]:
    """What lies beside the models that a phase trains."""
    held = phase.held
    if held is None:
        return ()
    whole = [weight for model in trained for weight in (*weights_then(phase, model), *replaced_later(phase, model))]
    own = {id(weight): weight for weight in whole}
    remaining = left.gradients if all(map(keeps_gradients, trained)) else set()
    places = any(weight.moved_at(phase.stepped) for weight in own.values())
    found: list[Resident] = []
    counted = dict(own)
    layers = [(path, layer, weights_then(phase, layer)) for path, layer in held.layers]
    for path, layer, weights in sorted(layers, key=lambda each: -len(each[2])):
        new = [weight for weight in weights if id(weight) not in counted]
        if not new or (places and not any(weight.moved_at(phase.stepped) for weight in new)):
            # Where the code says what goes to the device, nothing else does.
            continue
        counted.update((id(weight), weight) for weight in new)
        gradients = tuple(weight for weight in new if id(weight) in remaining)
        where = built_at(trace, layer)
        anew = "[" in path and any(turn.loop.one_more for turn in turns_around(phase))
        found.append(Resident(f"{path}: {kinds(gradients)}", where, tuple(new), gradients=gradients, remade=anew))
    # The step clears the others before it needs most.
    cleared = set().union(*(cleared_by(event) for event in phase.events if clears(event)))
    rest = tuple(weight for key, weight in own.items() if key in remaining - cleared)
    if rest:
        found.append(Resident("gradients of an earlier phase", gradients=rest))
    found += tensors_beside(trace, phase, places, set(counted))
    told = {id(tensor.trained_as) for each in found for tensor in each.tensors if tensor.trained_as is not None}
    found += optimizers_beside(phase, left, remaining, counted, places, told)
    # A program may hold the parameters themselves, and the model find them by their names.
    every = ((model, frameworks.of_layer(model)) for model in trained)
    counted.update((id(weight), weight) for model, its in every if its is not None for weight in its.weights(model))
    found += states_of_replaced(phase, left, counted)
    found += states_without_gradient(phase)
    found += states_of_shared(phase)
    found += weights_beside(phase, counted, places)
    return tuple(found)


def built_at(trace: Trace, layer: Instance) -> Site | None:
    """Where the analysed file builds a layer, else where that is done for it."""
    made = trace.layers.get(id(layer))
    return (made.site or made.entered if made is not None else None) or layer.site


def kinds(gradients: Sequence[Weight]) -> str:
    """What other models have in memory, as the report names it."""
    return "weights and gradients" if gradients else "weights"


def optimizers_beside(
    phase: Phase, left: LeftBehind, gradients: set[int], known: dict[int, Weight], places: bool, told: set[int]
) -> Iterator[Resident]:
    """The state of optimizers that earlier phases have used and that the program still holds. `gradients` are those
    that earlier phases have left, as the weights' ids; `places`: whether the code says what goes to the device; `told`
    are parameters (ids) that stand for tensors which are told by themselves."""
    assert phase.held is not None
    stepping = {id(optimizer) for optimizer in phase.optimizers}
    for path, optimizer in phase.held.optimizers:
        _, updated = left.stepped.get(id(optimizer), (None, set()))
        if not updated or id(optimizer) in stepping:
            continue
        weights = {id(weight): weight for weight in frameworks.updated_by(optimizer) or ()}
        # An optimizer holds the weights that it was made for, though nothing else does: where they lie by now, while
        # its state lies where it was made.
        lost = tuple(w for key, w in weights.items() if key not in known and (w.moved_at(phase.stepped) or not places))
        known.update((id(weight), weight) for weight in lost)
        # What a stepping one has loaded of it is one state.
        shared = any(shares_state(other, optimizer) for other in phase.optimizers)
        yield Resident(
            f"{path}: state",
            optimizer.site,
            tuple(w for w in lost if id(w) not in told),
            gradients=tuple(w for w in lost if id(w) in gradients),
            optimizer=None if shared else frameworks.optimizer_of(optimizer),
            updated=tuple(weight for key, weight in weights.items() if key in updated),
        )


def shares_state(optimizer: Instance, other: Instance) -> bool:
    """Whether an optimizer has loaded the state of another one that is still there, with the tensors themselves."""
    return isinstance(optimizer.native, dict) and optimizer.native.get(SHARES) is other


def states_of_replaced(phase: Phase, left: LeftBehind, known: dict[int, Weight]) -> Iterator[Resident]:
    """What stepping optimizers keep for weights that an earlier phase has trained and that no model has any more: a
    head that made room for another one. Their gradients lie there until the step clears them."""
    for optimizer in phase.optimizers:
        _, updated = left.stepped.get(id(optimizer), (None, frozenset()))
        weights = {id(weight): weight for weight in frameworks.updated_by(optimizer) or ()}
        gone = {key: weight for key, weight in weights.items()
                if key in updated and key not in known and key not in phase.reached}  # fmt: skip
        if gone:
            if left.gradients & gone.keys():
                left.uncleared[id(phase)] = optimizer
            named = frameworks.optimizer_of(optimizer)
            yield Resident("state for what was replaced", optimizer.site, optimizer=named, updated=tuple(gone.values()))


def states_without_gradient(phase: Phase) -> Iterator[Resident]:
    """What stepping optimizers keep for parameters that the step gives no gradient, where it is known which it does."""
    if not phase.reached:
        return
    for optimizer in filter(frameworks.keeps_for_all, phase.optimizers):
        weights = {id(weight): weight for weight in frameworks.updated_by(optimizer) or ()}
        rest = tuple(weight for key, weight in weights.items() if key not in phase.updated & phase.reached)
        if rest:
            named = frameworks.optimizer_of(optimizer)
            yield Resident("state for what is not trained", optimizer.site, optimizer=named, updated=rest)


def states_of_shared(phase: Phase) -> Iterator[Resident]:
    """What further optimizers keep for weights that an earlier one of the same step updates as well: two models that
    share an encoder, each with an optimizer of its own."""
    stepping: list[Instance] = []
    for optimizer in phase.optimizers:
        earlier = [other for other in stepping if step_together(phase, id(other), id(optimizer))]
        known = {id(weight) for other in earlier for weight in frameworks.updated_by(other) or ()}
        weights = {id(weight): weight for weight in frameworks.updated_by(optimizer) or ()}
        shared = tuple(weight for key, weight in weights.items() if key in known & phase.updated & phase.reached)
        if shared:
            named = frameworks.optimizer_of(optimizer)
            yield Resident("state for what several optimizers update", optimizer.site, optimizer=named, updated=shared)
        stepping.append(optimizer)


def weights_beside(phase: Phase, known: dict[int, Weight], places: bool) -> Iterator[Resident]:
    """Weights that no model has and no optimizer: what `copy.deepcopy(model.state_dict())` gives, told by the container
    that they lie in."""
    loose: dict[str, list[Weight]] = {}
    remade: set[str] = set()
    copies: dict[str, set[str]] = {}
    one_more = any(turn.loop.one_more for turn in turns_around(phase))
    for path, tensor, anew in loose_weights(phase):
        if id(tensor) not in known and (tensor.moved_at(phase.stepped) or not places):
            known[id(tensor)] = tensor
            name = path.partition("[")[0]
            loose.setdefault(name, []).append(tensor)
            if path.count("[") > 1:
                copies.setdefault(name, set()).add(path.partition("]")[0])
            remade |= {name} if anew else set()
    for name, weights in loose.items():
        number = len(copies.get(name, ())) or 1
        anew = one_more if number > 1 else name in remade
        yield Resident(f"{name}: weights", weights[0].site, tuple(weights), remade=anew, copies=number)


def turns_around(phase: Phase) -> list[Turn]:
    """The last turn of a phase's loop, and the turns of the loops around it."""
    return list(around(phase.loop.turns[-1])) if phase.loop is not None and phase.loop.turns else []


def values_beside(beside: Iterable[Resident]) -> int:
    """How many values lie beside a step, to compare two runs of it: an optimizer's state counts once."""
    tensors = [tensor for each in beside for tensor in (*each.weights, *each.gradients, *each.updated, *each.tensors)]
    shapes = [tensor.shape for tensor in tensors]
    sizes = [dims.at_batch(dims.product(shape), 1) for shape in shapes if not isinstance(shape, Unknown)]
    return sum(size for size in sizes if isinstance(size, int))


def more_beside(beside: Sequence[Resident], known: Sequence[Resident]) -> bool:
    """Whether more lies beside a later run of a step, or as much that was made anew since then."""
    sizes = values_beside(beside), values_beside(known)
    return (sizes[0], sum(each.remade for each in beside)) > (sizes[1], sum(each.remade for each in known))


def marked_anew(before: Iterable[Resident], now: Iterable[Resident]) -> tuple[Resident, ...]:
    """What lies beside a later run of a step, with note of the copies of weights that were made anew since an earlier
    one, under the same name: the copy of the last epoch was there while it was copied."""
    earlier = {each.what: {id(weight) for weight in each.weights} for each in before if each.weights}
    return tuple(
        replace(each, remade=True)
        if each.weights and earlier.get(each.what, set()).isdisjoint(map(id, each.weights)) and each.what in earlier
        else each
        for each in now
    )


def not_read(phase: Phase, beside: Iterable[Resident]) -> tuple[Resident, ...]:
    """What lies beside another run of a step, without tensors that this one reads: those are a part of it (one of many
    batches in a list)."""
    read = read_by(phase)
    return tuple(each for each in beside if not each.tensors or not read.issuperset(map(id, each.tensors)))


def states_of_other_runs(phases: Sequence[Phase]) -> Iterator[Resident]:
    """What the optimizers of a training keep for weights that get a gradient in other runs of it than in the first of
    `phases`, the one that is told, as far as one like it comes after them: heads that are trained in turn."""
    told = phases[0]
    again = max(phase.passes[0].first for phase in phases if phase.reached == told.reached)
    others = [phase.reached for phase in phases if phase.passes[0].first < again]
    more = frozenset().union(*others) - told.reached
    for optimizer in told.optimizers if told.reached and more else ():
        weights = frameworks.updated_by(optimizer) or ()
        held = tuple({id(weight): weight for weight in weights if id(weight) in more}.values())
        if held:
            named = frameworks.optimizer_of(optimizer)
            yield Resident("state for what other turns train", optimizer.site, optimizer=named, updated=held)


def tensors_beside(trace: Trace, phase: Phase, places: bool, weights: set[int]) -> Iterator[Resident]:
    """Tensors that the program has put on the device, or computed there, before the loop, and that the step itself does
    not read: cached features, a whole data set. What is a view of another one is that one, told once; of one of the
    `weights` (ids) it takes nothing more."""
    one_more = any(turn.loop.one_more for turn in turns_around(phase))
    known = weights | read_by(phase)
    for path, held in tensors_left(trace, phase):
        tensor = owner(storage_of(held))
        memory = {id(tensor), id(memory_of(tensor))}
        if not known.isdisjoint(memory):
            continue
        known |= memory
        computed = not places and any(call.weights for call in calls_behind([tensor]))
        if (computed or lies_on_device(tensor)) and not isinstance(tensor.shape, Unknown) and dims.known(tensor.shape):
            site = tensor.call.site if tensor.call is not None else None
            yield Resident(f"{path}: tensor", site, tensors=(tensor,), remade=one_more and "[" in path)
    for path, tensor in given_ahead(trace, phase, places, known):
        if not isinstance(tensor.shape, Unknown) and dims.known(tensor.shape):
            yield Resident(f"{path}: tensor", tensor.site, tensors=(tensor,))


def weights_of(layer: Instance) -> list[Weight]:
    """The weights of a model of a framework that declares inputs; of others none are counted here."""
    framework = frameworks.of_layer(layer)
    return framework.weights(layer) if framework is not None and framework.declares_inputs else []


def weights_then(phase: Phase, layer: Instance) -> list[Weight]:
    """The weights that a layer has in a phase: all of them in a framework whose layers state what they take when they
    are made, else those of the parts that are built by then."""
    framework = frameworks.of_layer(layer)
    if framework is None or framework.declares_inputs:
        return weights_of(layer)
    then = phase.held.weights.get(id(layer)) if phase.held is not None else None
    # What no name leads to lies within what one leads to.
    return [weight for weight in framework.weights(layer) if then is None or id(weight) in then]


def keeps_gradients(model: Instance) -> bool:
    """Whether a model's parameters keep their gradients until something clears them, as torch's do; what a tape gives
    is the program's own."""
    framework = frameworks.of_layer(model)
    return framework is None or framework.declares_inputs


def replaced_later(phase: Phase, model: Instance) -> list[Weight]:
    """Weights that a model has in a phase and that the program takes out of it later: a head that makes room for
    another."""
    then = phase.held.weights.get(id(model), frozenset()) if phase.held is not None else frozenset()
    framework = frameworks.of_layer(model)
    gone = then - {id(weight) for weight in framework.weights(model)} if framework is not None else then
    if not gone or phase.held is None:
        return []
    used = [weight for each in phase.passes for call, _ in each.calls for weight in call.weights]
    held = [tensor for _, tensor in phase.held.tensors]
    return list({id(each): each for each in (*used, *held) if isinstance(each, Weight) and id(each) in gone}.values())
