"""The training step that the code makes itself, where all of it that a gradient goes through was followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.loop_turns import Turn, around
from flake8_cnnmem.evaluate.trace import Event
from flake8_cnnmem.evidence import (
    Pass,
    Phase,
    further_turns,
    keepers_of,
    loose_parameters,
    seen_through,
    turns_at_least,
)
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Tensor, Weight, calls_behind, lies_on_device, moved_at
from flake8_cnnmem.memory.actions import Action, Step, StepRun, for_any_batch
from flake8_cnnmem.memory.followed_turns import behind, followed, known
from flake8_cnnmem.models.held_tensors import left_now_and_then, made_by
from flake8_cnnmem.models.residents import clears
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.ops.derivative import NotDerived
from flake8_cnnmem.ops.either import Either
from flake8_cnnmem.ops.given import Made
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def step_of(phase: Phase, roots: Sequence[Root], batch: int) -> Step | None:
    """The step of a phase at any batch size; None where it is not known. `batch` is the size at which its shapes
    stand; `roots` are the models that it trains."""
    framework = frameworks.of_layer(roots[0].value)
    if framework is None or not framework.declares_inputs:
        # A Keras program's step is a graph that the framework makes.
        return None
    causes: list[Unknown] = []
    own = (weight for root in roots if root.value is not None for weight in framework.weights(root.value))
    places = any(weight.moved_at(phase.stepped) for weight in own)
    if any(made_by(each.stands_for) > phase.passes[0].first for each in loose_parameters(phase) if each.stands_for):
        # The step makes it itself.
        return None
    passes = runs_of(phase, roots[0].phases)
    turns = [turn for each in passes if (turn := turn_of(each, framework, places, causes)) is not None]
    if len(turns) < len(passes):
        return None
    weights = phase.reached | phase.updated
    if not all(followed(turn, weights) for turn in turns):
        return None
    once = phase.once and len(roots[0].phases) < 2
    left = tuple(left_now_and_then(phase, places)) if len(turns) > 1 else ()
    step = Step(tuple(turns), tuple(dict.fromkeys(causes)), *held_on(phase), once, left)
    if step.further is None:
        step = replace(step, at_least=turns_at_least(roots[0].run.trace, phase))
    return for_any_batch(step, batch)


def runs_of(phase: Phase, phases: Sequence[Phase]) -> Sequence[Pass]:
    """One run of a step, or two in a row. Of a step that is written out several times, each is a phase by itself."""
    earlier = [each for each in phases if each.passes[0].first < phase.passes[0].first]
    if phase.loop is not None or len(phase.passes) > 1 or not earlier or any(each.loop for each in phases):
        return phase.passes
    before = max(earlier, key=lambda each: each.passes[0].first)
    return [before.passes[-1], *phase.passes]


def evaluation_of(phase: Phase, batch: int) -> Step | None:
    """What a loop does that calls models without an optimizer step, at any batch size; None where no op of it is
    known."""
    causes: list[Unknown] = []
    turns = []
    for each in phase.passes:
        run = [call for call, _ in each.calls]
        places = any(moved_at(weight, call.number) for call in run for weight in call.weights)
        calls = tuple(taken(each, set(), on_the_device(run) if places else None, causes))
        turns.append(StepRun(calls, tuple(Action("draw", number) for _, number in each.starts), each.last))
    if causes or not all(turn.calls for turn in turns):
        return None
    return for_any_batch(Step(tuple(turns), (), *held_on(phase)), batch)


def held_on(phase: Phase) -> tuple[tuple[tuple[Tensor, ...], ...], bool, int | None, bool]:
    """What names lead to of the run before the last, whether one of them is a container that gathers it, how many runs
    are still to come, and whether another one behind them is given less."""
    keepers = list(keepers_of(phase))
    gathers = any(keeper.gathers for keeper in keepers)
    return (
        tuple(keeper.tensors for keeper in keepers),
        gathers,
        further_turns(phase),
        phase.loop is not None and phase.loop.less,
    )


def turn_of(each: Pass, framework: Framework, places: bool, causes: list[Unknown]) -> StepRun | None:
    """One run of a step; None where it is not known whether it goes back. What is left out is added to `causes`. With
    `places` the code says what goes to the device, and nothing else is there."""
    if any(event.doubt is not None and event.kind == "backward" for event in each.events):
        return None
    actions = [*actions_of(each, framework)]
    run = [call for call, _ in each.calls]
    device = on_the_device(run) if places else None
    ends = [end for action in actions for end, _ in action.ends]
    needed = {call.number for end in ends for call in behind(run, end)}
    return StepRun(tuple(taken(each, needed, device, causes)), tuple(actions), each.last)


def actions_of(each: Pass, framework: Framework) -> Iterator[Action]:
    """What a run of a step does, in order; each turn of the loop draws its own batch."""
    starts = list(each.starts)
    waits_for = 0
    for at, event in enumerate(each.events):
        while starts and starts[0][0] <= at:
            yield Action("draw", starts.pop(0)[1])
        if event.kind in ("hook", "hooked"):
            waits_for = id(event.subject) if event.kind == "hook" else 0
        action = action_of(event, framework)
        if action is not None:
            yield replace(action, hook=waits_for, cast_region=event.cast_region)


def on_the_device(calls: Sequence[Call]) -> set[int]:
    """The numbers of the calls that run on the device: one of their operands was moved there, or computed there by a
    call of these or by one before them."""
    own = {call.number for call in calls}
    found: set[int] = set()
    there: set[int] = set()
    before: dict[int, bool] = {}

    def lies_there(tensor: Tensor, number: int) -> bool:
        call = tensor.call
        if moved_at(tensor, number) or id(tensor) in there:
            return True
        if call is None or call.number in own:
            return False
        if call.number not in before:
            before[call.number] = lies_on_device(tensor)
        return before[call.number]

    for call in calls:
        if any(lies_there(tensor, call.number) for tensor in (*call.inputs, *call.weights)):
            found.add(call.number)
            there.update(id(tensor) for tensor in call.outputs)
            if isinstance(call.op, Made):
                there.add(id(call.inputs[0]))
    return found


def taken(each: Pass, needed: set[int], device: set[int] | None, causes: list[Unknown]) -> Iterator[Call]:
    """The ops of a run that count: those behind its losses, and others that run for certain and whose sizes are
    known; of the numbers in `device`, where it is known what runs there."""
    chosen = one_way_or_another(each)
    for call, doubt in each.calls:
        if device is not None and call.number not in device:
            continue
        if isinstance(call.op, NotDerived):
            causes.append(call.op.cause)
        if call.number in needed:
            yield call
        elif doubt is None or call.number in chosen:
            if known(call):
                yield call
            elif call.grad or call.within is not None:
                cause = next((t.shape for t in call.outputs if isinstance(t.shape, Unknown)), None)
                other = Unknown("the size of what the training loop computes is not known")
                causes.append(other if cause is None else cause)


def one_way_or_another(each: Pass) -> set[int]:
    """The numbers of the ops behind what a test that is not known decides between: one side of it runs for certain."""
    given = [call.inputs[0] for call, doubt in each.calls if doubt is None and isinstance(call.op, Either)]
    return {call.number for call in calls_behind(given)}


def action_of(event: Event, framework: Framework) -> Action | None:
    """What the replay makes of an event; None for what it does not ask about."""
    subject = event.subject
    # What it holds under which word is the kind's (`Runtime.note`).
    options: Mapping[str, Any] = event.options
    if event.kind in ("backward", "gradient"):
        return Action(
            event.kind,
            event.number,
            subject if isinstance(subject, Tensor) else None,
            retain=options.get("retain_graph") is True,
            seed=tensor_or_none(options.get("seed")),
            beside=tuple((end, tensor_or_none(seed)) for end, seed in options.get("beside", ())),
            given=options.get("given", ()),
            made=options.get("graph") is True,
            retained=options.get("results", 0),
        )
    if event.kind == "zero_grad" and isinstance(subject, Weight):
        return Action("zero_grad", event.number, weights=frozenset((id(subject),)))
    if event.kind == "zero_grad" and isinstance(subject, Tensor) and subject.trained_as is not None:
        return Action("zero_grad", event.number, weights=frozenset((id(subject.trained_as),)))
    if event.kind == "zero_grad" and isinstance(subject, Tensor):
        return Action("zero_grad", event.number, given=((subject, subject),))
    if event.kind not in ("step", "zero_grad") or not isinstance(subject, Instance):
        return None
    if event.kind == "zero_grad" and not clears(event):
        return None
    model = seen_through(subject)
    if isinstance(model, Instance) and framework.is_layer(model):
        weights = frozenset(id(weight) for weight in framework.weights(model))
        return Action(event.kind, event.number, weights=weights)
    held = frozenset(id(weight) for weight in framework.updated_by(subject) or ())
    optimizer = framework.optimizer_of(subject)
    if optimizer is not None and (turns := times_of(event.turn)) is not None:
        optimizer = replace(optimizer, options=(*optimizer.options, ("turns", turns)))
    groups = tuple(framework.groups_of(subject))
    by_hand = options.get("by_hand") is True
    return Action(event.kind, event.number, optimizer=optimizer, weights=held, groups=groups, by_hand=by_hand)


def times_of(turn: Turn | None) -> int | None:
    """How often the program comes by a turn, where all loops around it are of known length."""
    times = 1
    for each in around(turn):
        if each.loop.length is None:
            return None
        times *= each.loop.length
    return times


def tensor_or_none(value: Value) -> Tensor | None:
    """A value if it is a tensor."""
    return value if isinstance(value, Tensor) else None
