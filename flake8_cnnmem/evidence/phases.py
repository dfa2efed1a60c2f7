"""Trainings as a program runs them: the loops that repeat a step, each with the step that it repeats.

A step is one turn of the innermost loop that holds an optimizer's step and what leads to it; several turns where the
optimizer steps only in some of them. Two loops are never joined because they stand in one function or train one model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.loop_turns import InReach, Loop, Turn, around, is_single, is_within
from flake8_cnnmem.evaluate.trace import Event, RootCall, Trace
from flake8_cnnmem.evidence.passes import Pass, extended, gives_more, passed, representative, seen_through
from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@dataclass(slots=True, eq=False)
class Phase:
    """One training: a loop that repeats a step, in one run of it. `passes` are one run of the step, or two where the
    second one was followed, too: it finds in memory what the first one has left.

    A program that trains without a loop has a phase of its own, whose `loop` is None.
    """

    passes: list[Pass]
    loop: Loop | None = None
    loaders: list[Instance] = field(default_factory=list)
    """Those that it draws from, the first one first."""
    micro_steps: int = 1
    """How many turns gather gradients for one optimizer step."""
    again: bool = False
    """Whether the program comes by a step without a loop once more."""
    shrinks: bool = False
    """Whether the first turn of a loop that runs once is given more than each of the others: that one is told."""
    extended: bool = False
    """Whether the last turn that was followed does more than those before it."""

    @property
    def held(self) -> InReach | None:
        """What the program holds during the step beside the step's own."""
        if self.loop is not None:
            return self.loop.held
        return next((event.held for event in self.events if event.held is not None), None)

    @property
    def events(self) -> list[Event]:
        """The events of one run of the step: the last that was followed."""
        return self.passes[-1].events

    @property
    def stepped(self) -> int:
        """A number among the ops at which the step has just updated its weights; of what makes no optimizer step that
        of its last op. Models may lie elsewhere before and after."""
        steps = [event.number + 1 for event in self.events if event.kind == "step"]
        return steps[-1] if steps else self.passes[-1].last

    @property
    def calls(self) -> list[RootCall]:
        """The calls of models in the step, in order."""
        return [event.call for event in self.events if event.call is not None]

    @property
    def learning(self) -> list[RootCall]:
        """Those of them that the losses come from; where that cannot be told, those with a gradient that run for
        certain."""
        events = [event for event in self.events if event.call is not None and event.call.grad]
        reached = outermost_invocations(self.passes[-1].calls, self.losses)
        learning = [event for event in events if event.number + 1 in reached]
        certain = [event for event in events if event.doubt is None]
        return [event.call for event in learning or certain or events if event.call is not None]

    @property
    def optimizers(self) -> list[Instance]:
        """Those that make a step, each once."""
        found = {id(event.subject): event.subject for event in self.events if event.kind == "step"}
        return [optimizer for optimizer in found.values() if isinstance(optimizer, Instance)]

    @property
    def losses(self) -> list[Tensor]:
        """What the backward passes start from, where it is known."""
        sources = [event.subject for event in self.events if event.kind == "backward"]
        return [source for source in sources if isinstance(source, Tensor)]

    @property
    def updated(self) -> frozenset[int]:
        """The weights, by id, that the step updates."""
        return frozenset().union(*(event.trainable for event in self.events if event.kind == "step"))

    @property
    def reached(self) -> frozenset[int]:
        """The weights, by id, that get a gradient in it."""
        return frozenset().union(*(event.trainable for event in self.events if event.kind == "backward"))

    @property
    def asking(self) -> frozenset[int]:
        """The weights, by id, of the models it calls that ask for a gradient, whether they get one or not."""
        found = (event.trainable for event in self.events if event.kind in ("call", "backward", "step"))
        return frozenset().union(*found)

    @property
    def once(self) -> bool:
        """Whether the program makes the step a single time: it finds no gradient and no optimizer state in memory."""
        if self.shrinks:
            return True
        if self.again or len(self.passes) > 1:
            return False
        if self.loop is None:
            return all(is_single(event.turn) for event in self.events if event.kind == "step")
        # All of its turns may gather gradients for a single step.
        return self.loop.length in (1, self.micro_steps) and is_single(self.loop.outer)

    @property
    def repeated(self) -> bool:
        """Whether it was seen only in a turn that stands for others, in which the loop's variable is not known."""
        return self.loop is not None and self.loop.repeated


def outermost_invocations(calls: Sequence[tuple[Call, Unknown | None]], losses: Sequence[Tensor]) -> set[int]:
    """The numbers of the calls of models, from outside any layer, that losses depend on."""
    wanted = {id(loss) for loss in losses}
    found: set[int] = set()
    for call, _ in reversed(calls):
        if any(id(tensor) in wanted for tensor in call.outputs):
            wanted.update(id(tensor) for tensor in (*call.inputs, *call.weights))
            # What is called within a checkpoint of the code's own is called from outside.
            layers = [invocation for invocation in call.ancestry() if invocation.layer is not None]
            found.update(invocation.number for invocation in layers[-1:])
    return found


def phases_of(trace: Trace) -> list[Phase]:
    """The trainings of a program in the order in which they begin."""
    loops: dict[int, Loop] = {}
    loose: list[Event] = []
    made_by = makers_of(trace)
    for event in trace.events:
        loop = step_loop(trace, event, made_by) if event.kind == "step" else None
        if loop is not None:
            loops.setdefault(id(loop), loop)
    outermost = [
        loop for loop in loops.values()
        if not any(other is not loop and is_within(loop.outer, other) for other in loops.values())
    ]  # fmt: skip
    for event in trace.events:
        if not any(is_within(event.turn, loop) for loop in outermost):
            loose.append(event)
    whole = {loop.statement for loop in outermost if any(steps_in(trace, turn) and not turn.cut for turn in loop.turns)}
    seen = [loop for loop in outermost if not is_cut(trace, loop) or loop.statement not in whole]
    found = [phase for loop in seen for phase in phases_of_loop(trace, loop)]
    found += phases_without_loop(trace, loose)
    return sorted(found, key=lambda phase: phase.passes[0].first)


def steps_in(trace: Trace, turn: Turn) -> bool:
    """Whether an optimizer steps in a turn."""
    return any(event.kind == "step" for event in trace.events_of(turn))


def is_cut(trace: Trace, loop: Loop) -> bool:
    """Whether no turn of a loop in which an optimizer steps was evaluated to its end: what is told of such a loop is
    what an earlier run of it does."""
    return all(turn.cut for turn in loop.turns if steps_in(trace, turn))


def makers_of(trace: Trace) -> dict[int, list[int]]:
    """For each tensor, by id, the places in the trace of the calls that give it."""
    made_by: dict[int, list[int]] = {}
    for at, (call, _) in enumerate(trace.calls):
        for tensor in call.outputs:
            made_by.setdefault(id(tensor), []).append(at)
    return made_by


def step_loop(trace: Trace, step: Event, made_by: Mapping[int, Sequence[int]]) -> Loop | None:
    """The innermost loop that holds an optimizer's step and a backward pass or a call of a model, with what the loss is
    computed from; where there is none, the innermost with a backward pass from what is not known."""
    for kinds in (("backward", "call"), ("unclear",)):
        for turn in around(step.turn):
            if any(event.kind in kinds for event in trace.events_of(turn)):
                if not goes_on_outside(trace, turn, made_by):
                    return turn.loop
    return None


def goes_on_outside(trace: Trace, turn: Turn, made_by: Mapping[int, Sequence[int]]) -> bool:
    """Whether the backward passes of a turn go on through models that the turn around it has called before: one pass
    over all models, then a loop that goes back from each."""
    outer = turn.loop.outer
    if outer is None:
        return False
    begin, end = outer.calls[0], turn.calls[1]
    wanted = [(event.subject, end) for event in trace.events_of(turn) if event.kind == "backward"]
    seen: set[int] = set()
    while wanted:
        tensor, reader = wanted.pop()
        for at in made_by.get(id(tensor), ()):
            if not begin <= at < reader or at in seen:
                continue
            seen.add(at)
            call, _ = trace.calls[at]
            if call.grad and not call.op.cuts_gradient:
                if call.number <= turn.first and any(layer is not None for layer in layers_of(call)):
                    return True
                wanted.extend((each, at) for each in (*call.inputs, *call.weights))
    return False


def layers_of(call: Call) -> list[object]:
    """The layers that a call is made in."""
    return [invocation.layer for invocation in call.ancestry()]


def phases_of_loop(trace: Trace, loop: Loop) -> Iterator[Phase]:
    """The trainings of one loop: a single one, but for loops that go through several models."""
    passes: list[Pass] = []
    turns: list[int] = []
    gathered: list[Turn] = []
    for turn in loop.turns:
        if turn.cut and passes:
            break
        gathered.append(turn)
        if steps_in(trace, turn):
            passes.append(passed(trace, gathered))
            turns.append(len(gathered))
            gathered = []
    if loop.ends and len(passes) > 1 and not gives_more(passes[-1], passes[-2]):
        # The last batch is smaller than the others, and nothing makes up for it.
        passes.pop()
    groups: list[list[int]] = []
    for at, each in enumerate(passes):
        sharing = [group for group in groups if any(passes[other].signature & each.signature for other in group)]
        for group in sharing:
            groups.remove(group)
        groups.append(sorted([at, *(other for group in sharing for other in group)]))
    for group in sorted(groups):
        own = [passes[at] for at in group]
        told = own[:1] if loop.length == 1 else representative(own)
        yield Phase(
            told,
            loop,
            loaders_of(trace, loop, own[0]),
            max(turns[at] for at in group),
            shrinks=len(own) > 1 and told[-1] is own[0] and loop.length != 1 and is_single(loop.outer),
            extended=loop.length != 1 and extended(own),
        )


def evaluations_of(trace: Trace, phases: Sequence[Phase]) -> list[Phase]:
    """Loops that call models and make no optimizer step, in the order in which they begin: not those that are a part of
    a training's own step."""
    counted = {id(event) for phase in phases for each in phase.passes for event in each.events if event.doubt is None}
    # The same loops in other turns of theirs.
    own = {(id(phase.loop), event.turn.loop.statement) for phase in phases for event in phase.events
           if event.turn is not None and event.doubt is None and phase.loop is not None}  # fmt: skip
    # And those in a turn of a later run, before whose step what may be evaluated of the program has ended.
    statements = {(phase.loop.statement, event.turn.loop.statement) for phase in phases for event in phase.events
                  if event.turn is not None and event.doubt is None and phase.loop is not None}  # fmt: skip
    loops: dict[int, Loop] = {}
    for event in trace.events:
        if event.kind == "call" and event.turn is not None and id(event) not in counted:
            loops.setdefault(id(event.turn.loop), event.turn.loop)
    loops = {key: loop for key, loop in loops.items()
             if not any((id(turn.loop), loop.statement) in own
                        or (turn.cut and (turn.loop.statement, loop.statement) in statements)
                        for turn in around(loop.outer))}  # fmt: skip
    learning = {id(turn.loop) for event in trace.events if event.kind in ("step", "backward", "gradient", "fit")
                for turn in around(event.turn)}  # fmt: skip
    return [phase_of(trace, loop) for key, loop in loops.items() if key not in learning and loop.turns]


def gatherings_of(trace: Trace, phases: Sequence[Phase]) -> list[Phase]:
    """Loops over a loader that a training's step runs without going back in them: they keep the graphs of all batches
    for a backward pass after the loop. Each is the last run of its statement."""
    loops: dict[object, Loop] = {}
    for phase in phases:
        for event in phase.events:
            turn = event.turn
            if event.call is not None and event.call.grad and turn is not None and turn.loop is not phase.loop:
                loops[turn.loop.statement] = turn.loop
    found = []
    for loop in loops.values():
        goes_back = any(event.kind in ("step", "backward") for turn in loop.turns for event in trace.events_of(turn))
        if is_over_loader(trace, loop) and not goes_back and len(loop.turns) > 1:
            found.append(phase_of(trace, loop))
    return found


def evaluations_in_steps(trace: Trace, phases: Sequence[Phase]) -> list[Phase]:
    """Loops over a loader that a training's step runs without a gradient and that keep what models give: the results
    of all batches lie there at its end. Each is the last run of its statement of which most was followed."""
    loops: dict[object, Loop] = {}
    for event in (event for phase in phases for event in phase.events if event.call is not None):
        loop = event.turn.loop if event.turn is not None else None
        if loop is not None and loop.turns and all(loop is not phase.loop for phase in phases):
            known = loops.setdefault(loop.statement, loop)
            loops[loop.statement] = loop if len(loop.turns) >= len(known.turns) else known
    return [phase_of(trace, loop) for loop in loops.values() if is_over_loader(trace, loop) and only_looks(trace, loop)]


def only_looks(trace: Trace, loop: Loop) -> bool:
    """Whether the last turn of a loop calls models without a gradient, keeps some of what they give, and does not
    learn."""
    turn = loop.turns[-1]
    events = [event for event in trace.events_of(turn) if event.kind != "iterate"]
    calls = all(event.call is not None and not event.call.grad for event in events)
    return calls and any(kept.inside and kept.tensor.call is not None for kept in turn.kept)


def is_over_loader(trace: Trace, loop: Loop) -> bool:
    """Whether a loop goes through a loader itself: what was begun before it lies in the same turn, and is not what the
    loop around it goes through."""
    begun = trace.events[loop.started - 1] if loop.started > 0 else None
    return begun is not None and begun.kind == "iterate" and begun.turn is loop.outer


def phase_of(trace: Trace, loop: Loop) -> Phase:
    """A loop's last two turns."""
    passes = [passed(trace, [turn]) for turn in loop.turns[-2:]]
    return Phase(passes, loop, loaders_of(trace, loop, passes[0]))


def loaders_of(trace: Trace, loop: Loop, first: Pass) -> list[Instance]:
    """What a loop draws from: what it goes through itself, or what its turns go through; else what was begun last."""
    inside = [event for event in first.events if event.kind == "iterate"]
    before: list[Event] = []
    at = loop.started - 1
    while at >= 0 and trace.events[at].kind == "iterate":
        before.insert(0, trace.events[at])
        at -= 1
    found = before or inside
    if not found:
        earlier = [event for event in trace.events[: loop.started] if event.kind == "iterate"]
        found = earlier[-1:]
    return [event.subject for event in found if isinstance(event.subject, Instance)]


def phases_without_loop(trace: Trace, events: Sequence[Event]) -> Iterator[Phase]:
    """Steps that no loop repeats: each is a training, those that do the same as an earlier one left out. The first of
    these, on as much, is the earlier one's second run."""
    seen: dict[frozenset[tuple[str, int, int]], Phase] = {}
    loaders: list[Instance] = []
    for each in divided(events):
        drawn, body = without_preparation(each)
        loaders = drawn or loaders
        key = frozenset(identity(event) for event in body if event.kind in ("call", "step"))
        first, last = body[0].number, body[-1].number
        calls = [(call, doubt) for call, doubt in trace.calls if first < call.number <= last]
        run = Pass(body, calls, [(0, first)], last)
        known = seen.get(key)
        if known is None:
            seen[key] = Phase([run], None, loaders)
        else:
            if not known.again and given_in(run) == given_in(known.passes[0]):
                known.passes.append(run)
            known.again = True
    yield from seen.values()


def given_in(run: Pass) -> list[object]:
    """The shapes of what models are called on in a run of a step."""
    calls = [event.call for event in run.events if event.call is not None]
    return [[getattr(value, "shape", None) for value in (*call.args, *call.kwargs.values())] for call in calls]


def divided(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each step: one is over when, after an optimizer's step, something begins again, or when the next
    step has nothing in common with it."""
    gathered: list[Event] = []
    seen: set[tuple[str, int, int]] = set()
    last_step = 0
    for at, event in enumerate(events):
        key = identity(event)
        begins = event.kind == "iterate" or key in seen
        if event.kind == "call" and last_step and not begins:
            begins = not involved(gathered) & involved(until_step(events[at:]))
        if last_step and event.kind in ("iterate", "call", "step") and begins:
            yield gathered[:last_step]
            gathered = gathered[last_step:]
            seen = {identity(each) for each in gathered}
            last_step = 0
        gathered.append(event)
        seen.add(key)
        if event.kind == "step":
            last_step = len(gathered)
    if last_step:
        yield gathered[:last_step]


def until_step(events: Sequence[Event]) -> Sequence[Event]:
    """The events up to the first optimizer's step."""
    first = next((at for at, event in enumerate(events) if event.kind == "step"), len(events))
    return events[: first + 1]


def involved(events: Sequence[Event]) -> set[int]:
    """The models that are called, and the weights and optimizers that a step is made with, by id."""
    found: set[int] = set()
    for event in events:
        if event.kind in ("call", "backward", "step"):
            found |= {*event.trainable} | ({id(seen_through(event.subject))} if event.kind != "backward" else set())
    return found


def identity(event: Event) -> tuple[str, int, int]:
    """What happens, to whom and where."""
    return event.kind, id(event.subject) if event.kind != "backward" else 0, id(event.site)


def without_preparation(events: list[Event]) -> tuple[list[Instance], list[Event]]:
    """The loaders that are drawn from last before the first step, and what happens from then on.

    What was called before (a summary, a validation pass) is no part of the step.
    """
    first_step = next(at for at, event in enumerate(events) if event.kind == "step")
    first_backward = next((at for at, event in enumerate(events) if event.kind == "backward"), first_step)
    before = min(first_step, first_backward)
    last = next((at for at in range(before - 1, -1, -1) if events[at].kind == "iterate"), None)
    if last is None:
        return [], events
    first = last
    while first > 0 and events[first - 1].kind == "iterate":
        first -= 1
    loaders = [event.subject for event in events[first : last + 1] if isinstance(event.subject, Instance)]
    return loaders, events[last + 1 :]


def holds_no_weight(optimizer: Instance) -> bool:
    """Whether what an optimizer updates is known, and no weight of any model: a picture that is made to look like
    another."""
    held = held_by(optimizer)
    return bool(held) and all(isinstance(value, Tensor) and not isinstance(value, Weight) for value in held)


def held_by(optimizer: Instance) -> list[Value]:
    """What an optimizer is given to update, as far as it is known."""
    groups = optimizer.attributes.get("param_groups")
    each = groups if isinstance(groups, list) else []
    return [value for group in each if isinstance(group, dict) for value in group.get("params", [])]


def loose_parameters(phase: Phase) -> list[Weight]:
    """The parameters that stand for the tensors of no model that the optimizers of a phase update."""
    held = [weight for optimizer in phase.optimizers for weight in frameworks.updated_by(optimizer) or ()]
    return list({id(weight): weight for weight in held if weight.stands_for is not None}.values())
