"""One training step as a program's own loop makes it: every op, every backward pass and optimizer step in its order.

What is alive from one to the next is what the program says: the generator's activations stay while the discriminator
learns from what it made, a variable holds its tensor until it is given another one, gradients that nothing clears stay
until the next step. A step is replayed after a first run of it, so that it finds in memory what that one has left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import chain, takewhile

from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.graph import Model, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.actions import Action, Step, StepRun
from flake8_cnnmem.memory.attribution import Keeping, keeping
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.backward import Backward
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.dtypes import HALVES
from flake8_cnnmem.memory.engine_order import in_order
from flake8_cnnmem.memory.estimate import Estimate, Line
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.framework import resident, rules_of, weights_in_memory
from flake8_cnnmem.memory.optimizer_step import Stepping
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import leading_from, steps_of
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.memory.unreachable import forget_unreachable
from flake8_cnnmem.results import LEAST_GROWTH
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown

MANY_TURNS, SEEN = 1000, 0.005
"""What so many turns leave behind matters where it is more than this part of what a step needs."""

GROWS = Unknown("memory grows with every turn of the loop, and how many turns it makes is not known")

SMALLER = Unknown("memory grows with every turn of the loop, of which the last is given less")


def estimate(model: Model, training: Training, actual: Step, overhead: int, chip: Chip = ASSUMED) -> Estimate:
    """Replay the step over the weights of `model`."""
    return replayed(model, training, actual, chip).estimate(training, overhead)


def replayed(model: Model, training: Training, actual: Step, chip: Chip = ASSUMED) -> Replayed:
    """The step's replay. One that was followed once is run twice, the second time with the gradients that are left."""
    if training.optimizer.source in ("directive", "option", "default"):
        # The code does not say what steps, or is overruled.
        actual = actual.with_optimizer(training.optimizer.value)
    start: Timeline | None = None
    growth = Line()
    cast = cast_by_code(actual, training.dtype.value)
    replay = Replay(model, training, chip, cast)
    before_all = standing(actual)
    replay.find(before_all, actual.left)
    if actual.once:
        replay.first = replay.once = True
        replay.run(actual.turns[0])
    elif len(actual.turns) == 1:
        replay.run(actual.turns[0])
        left = frozenset(replay.backward.finished)
        replay = Replay(model, training, chip, cast)
        replay.find(before_all, actual.left)
        replay.keep_from_before(left)
        replay.run(actual.turns[0])
    else:
        replay.first = True
        for turn in actual.turns[:-1]:
            replay.run(turn)
        replay.first = False
        start = replay.memory.timeline.copy() if any(call.derives for call in actual.calls) else None
        before = replay.memory.timeline.restart()
        replay.run(actual.turns[-1])
        if actual.gathers or actual.keepers:
            # Else the turns hold something else at their ends, as where one of them logs or evaluates.
            growth = replay.memory.timeline.left() - before
    replay.finish()
    batch = training.batch_size.value
    last = actual.turns[-2].last if len(actual.turns) > 1 else 0
    keepers = tuple(replay.graph_behind(tensors, last) for tensors in actual.keepers)

    def again(batch: int) -> Replayed:
        return replayed(model, training.at_batch(batch), actual, chip)

    memory = replay.memory
    left_out, turns = tuple(memory.left_out), 0
    if actual.gathers or any(line != Line() for line in keepers):
        least = min(LEAST_GROWTH, memory.timeline.peak(batch) * SEEN // MANY_TURNS)
        if actual.further is None and growth.at(batch) > least:
            left_out += (GROWS,)
            memory.timeline.put_first([growth.times(actual.at_least)], "kept")
        elif actual.further is not None and growth.at(batch) > 0:
            # The last run finds what all before have left.
            memory.timeline.put_first([growth.times(actual.further)], "kept")
            turns = len(actual.turns) + actual.further
            if actual.less and growth.at(batch) > memory.timeline.peak(batch) * SEEN:
                # The last one needs less itself, and finds more.
                left_out += (SMALLER,)
    timeline = memory.timeline
    if start is not None and start.peak(batch) > timeline.peak(batch):
        # A first step takes what waits for it in another order, which may need more than any later one.
        timeline = start
    return Replayed(
        timeline, batch, replay.saved, replay.most, left_out, again, growth, turns, keepers, memory.curved
    )  # fmt: skip


def standing(actual: Step) -> list[Tensor]:
    """What the ops of a step read and the program has put on the device, or computed there, before it."""
    first = min((call.number for call in actual.turns[0].calls), default=0)
    drawn = {id(tensor) for action in actual.actions for tensor in action.inputs}
    read = {id(tensor): tensor for turn in actual.turns for call in turn.calls for tensor in call.inputs}
    whole = [tensor for key, tensor in read.items() if key not in drawn and tensor.call is None and not tensor.view_of]
    return [tensor for tensor in whole if 0 < tensor.born < first]


def cast_by_code(actual: Step, dtype: str) -> frozenset[int]:
    """The leaves (ids) that a step casts to its own half dtype: what the code makes without a dtype is in float32, also
    where its model is in half precision."""
    found: set[int] = set()
    for call in chain.from_iterable(turn.calls for turn in actual.turns):
        if dtype in HALVES and call.op.casts and call.outputs[0].dtype == dtype:
            read = call.inputs[0]
            found.update(id(leaf) for leaf in (read, read.view_of) if leaf is not None and leaf.call is None)
    return frozenset(found)


@dataclass(slots=True)
class Replay:
    """A step on its way."""

    model: Model
    training: Training
    chip: Chip
    cast_by_code: frozenset[int] = frozenset()
    rules: Rules = field(init=False)
    memory: Memory = field(init=False)
    weights: dict[int, Value] = field(init=False)
    forward: Forward = field(init=False)
    backward: Backward = field(init=False)
    inputs: list[Tensor] = field(default_factory=list)
    updated: dict[int, Stepping] = field(default_factory=dict)
    """The optimizer that keeps state for a weight, by the weight's id."""
    stepped: dict[int, int] = field(default_factory=dict)
    """The place of the event before which an optimizer first stepped, by the id of its `Stepping`."""
    first: bool = False
    """Whether it is the program's first step that runs."""
    once: bool = False
    """Whether no other one follows: each optimizer makes its state in it."""
    saved: int = 0
    most: Keeping = ()
    """`saved` without the inputs, at the loss for which most is kept."""

    def __post_init__(self) -> None:
        batch, dtype = self.training.batch_size.value, self.training.dtype.value
        self.rules = rules_of(self.model.framework)
        timeline = Timeline(self.rules.alignment, dict(self.model.paths))
        self.memory = Memory(timeline, max(1, batch), self.chip if self.rules.by_chip else None)
        self.weights = weights_in_memory(self.model, self.memory, dtype)
        autocast = Autocast(self.memory, self.rules, dated=True)
        self.forward = Forward(
            self.memory, self.rules, dtype, self.weights, autocast, dated=True, cast_by_code=self.cast_by_code
        )
        self.backward = Backward(self.memory, self.rules, self.forward)
        self.forward.finished = self.backward.finished
        self.backward.finished.update(resident(self.model, self.memory, self.weights, self.rules.optimizers))

    def find(self, tensors: Sequence[Tensor], left: Sequence[tuple[Tensor, int]]) -> None:
        """What the program has computed before the step is there when it begins, though it may be read late in it; what
        an earlier turn has left, until a number."""
        for tensor in tensors:
            self.forward.value(tensor)
        for tensor, until in left:
            self.forward.value(tensor)
            self.forward.held.put(tensor, until)

    def keep_from_before(self, keys: frozenset[int]) -> None:
        """Gradients that are there when the step begins."""
        for key in (key for key in self.weights if key in keys and key not in self.backward.finished):
            weight = self.weights[key]
            self.backward.finished[key] = self.memory.new(weight.shape, weight.dtype, weight.strides, "gradients")

    def run(self, turn: StepRun) -> None:
        """One run of the step, its ops and actions in order."""
        forward = self.forward
        forward.autocast.said = any(call.autocast is not None for call in turn.calls)
        forward.begin(steps_of(turn.calls), [tensor for action in turn.actions for tensor in read_by(action)])
        at = 0
        for place, action in enumerate(turn.actions):
            if action.hook:
                continue
            within = list(takewhile(lambda each: each.hook, turn.actions[place + 1 :]))
            self.backward.on_weight = self.hooks(within) if within else None
            ahead = at
            while ahead < len(turn.calls) and turn.calls[ahead].number <= action.number:
                ahead += 1
            forward.follow(steps_of(turn.calls[at:ahead]), action.number)
            at = ahead
            self.act(action)
        forward.follow(steps_of(turn.calls[at:]), turn.last)
        forward.end(turn.last)
        forward.autocast.end()
        self.note_saved()

    def take_in(self, inputs: tuple[Tensor, ...], number: int) -> None:
        """What the loader gives behind the op of this number: in the place of what it gave before, where that lies on
        the host first, by the names that the code has for it."""
        if not all(tensor.made_there for tensor in inputs):
            for tensor in self.inputs:
                if tensor.held <= number and self.forward.reads.get(id(tensor), 0) <= 0:
                    self.forward.drop(id(tensor))
        for tensor in inputs:
            for each in (tensor.view_of, tensor):
                if each is not None and id(each) not in self.forward.values:
                    self.forward.values[id(each)] = self.lying_there(each)
        self.inputs += inputs

    def lying_there(self, tensor: Tensor) -> Value:
        """What the loader gives, or the code has made of data alone: a view of another one is no tensor of its own."""
        whole = self.forward.values.get(id(tensor.view_of))
        if whole is not None:
            return self.memory.alias(whole, tensor.shape, None)
        value = self.memory.new(tensor.shape, self.forward.dtype_of(tensor), use="input")
        value.grad = tensor.requires_grad
        if self.forward.reads.get(id(tensor), 0) <= 0:
            # What is read are views of it.
            self.forward.held.put(tensor, tensor.held)
        return value

    def act(self, action: Action) -> None:
        if action.kind == "draw":
            self.take_in(action.inputs, action.number)
        elif action.loss is not None:
            self.note_saved()
            self.forward.autocast.keep_within(action.cast_region)
            if action.made:
                self.take_over(action)
            elif action.kind == "gradient":
                self.give(action)
            else:
                # What retains its gradient has a copy of it.
                behind = action.given[len(action.given) - action.retained :]
                self.backward.retained = frozenset(id(result) for result, _ in behind)
                self.go_back(action)
                self.to_leaves(action)
            self.forward.done_with(read_by(action), action.number)
            forget_unreachable(self.forward)
        elif action.kind == "zero_grad":
            self.clear(action.weights)
            for leaf, _ in action.given:
                self.forward.drop_gradient(id(leaf))
        elif action.optimizer is not None:
            self.forward.autocast.keep_within(action.cast_region)
            self.step(action)

    def hooks(self, within: Sequence[Action]) -> Callable[[int, Value], bool]:
        """What is done with a weight's gradient as soon as it is complete."""

        def arrived(key: int, gradient: Value) -> bool:
            waiting = [action for action in within if action.hook == key]
            if waiting:
                self.backward.finished[key] = gradient
            for action in waiting:
                self.act(action)
            return bool(waiting)

        return arrived

    def note_saved(self) -> None:
        """What is kept for the backward pass now, if that is the most so far."""
        saved = self.kept()
        if saved > self.saved:
            self.saved, self.most = saved, self.keeping()

    def go_back(self, action: Action) -> None:
        """The backward pass over what leads to its ends. The rest of the tape waits for its own. With targets, what a
        gradient goes through on its way to them runs, and nothing else."""
        forward, backward, memory = self.forward, self.backward, self.memory
        targets = {id(tensor) for tensor, _ in action.given} if action.kind == "gradient" else None
        on_the_way = None if targets is None else leading_from(forward.tape, targets)
        wanted = {id(end) for end, _ in action.ends}
        reached, rest = [], []
        for entry in reversed(forward.tape):
            if wanted.isdisjoint(entry.gives):
                rest.append(entry)
                continue
            wanted.update(entry.asks)
            if on_the_way is not None and on_the_way.isdisjoint(entry.asks):
                rest.append(entry)
                continue
            reached.append(entry)
            if action.retain:
                # What the entry holds is held once more: this pass lets go of it, and the next one finds it.
                rest.append(entry)
                for storage in entry.saved:
                    memory.keep(storage)
        forward.tape[:] = rest[::-1]
        seeds: list[Storage] = []
        for end, seed in action.ends:
            value = forward.values.get(id(end))
            if value is not None and value.grad:
                given = forward.value(seed) if seed is not None else None
                gradient = memory.alias(given, value.shape, given.strides) if given else None
                if gradient is None:
                    # The caller holds what the pass begins with until it is over.
                    gradient = memory.new(value.shape, value.dtype)
                    seeds.append(memory.hold(gradient.storage))
                backward.hand_on(id(end), gradient)
        program, passes = forward.nodes
        backward.run(in_order(reached[::-1], program, passes, self.first), on_the_way, targets or ())
        for storage in seeds:
            memory.release(storage)
        forward.autocast.look_at(forward.tape)

    def give(self, action: Action) -> None:
        """A backward pass that gives the gradients of some tensors: what stands for them is their memory."""
        self.go_back(action)
        arrived, self.backward.arrived = self.backward.arrived, {}
        for tensor, result in action.given:
            value = arrived.get(id(tensor))
            made = self.forward.take(result, value and self.memory.alias(value, value.shape, value.strides))
            assert made is not None
        for value in arrived.values():
            self.memory.release(value.storage)

    def to_leaves(self, action: Action) -> None:
        """What a backward pass has brought to leaves is theirs: added to what they have, held as long as they are."""
        results, self.backward.arrived = self.backward.arrived, {}
        for leaf, result in action.given:
            value = self.backward.gradients.pop(id(leaf), None) or results.pop(id(leaf), None)
            if value is not None:
                self.forward.keep_gradient(leaf, result, value)

    def take_over(self, action: Action) -> None:
        """The gradients that ops have made are those of the weights and leaves from now on."""
        for leaf, result in action.given:
            value = self.forward.values.get(id(result))
            if value is None:
                continue
            own = self.memory.alias(value, value.shape, value.strides)
            if id(leaf) in self.weights:
                self.clear(frozenset((id(leaf),)))
                self.backward.finished[id(leaf)] = own
            else:
                self.forward.keep_gradient(leaf, result, own)

    def kept(self) -> int:
        """Bytes that wait for the backward pass, each storage once, weights left out."""
        fixed = {id(value.storage) for value in self.weights.values()}
        storages = {id(s): s for entry in self.forward.tape for s in entry.saved if id(s) not in fixed}
        return sum(storage.line.at(self.training.batch_size.value) for storage in storages.values())

    def keeping(self) -> Keeping:
        """The same, each storage with the op that keeps it; the inputs with none."""
        given = [self.forward.values[id(tensor)] for tensor in self.inputs if id(tensor) in self.forward.values]
        fixed = {id(value.storage) for value in (*self.weights.values(), *given)}
        return keeping(self.forward.tape, fixed)

    def graph_behind(self, tensors: Sequence[Tensor], until: int) -> Line:
        """What waits for a backward pass from these tensors that ops up to the number `until` have left: with their
        results, where those are among the tensors."""
        wanted = {id(tensor) for tensor in tensors}
        fixed = {id(value.storage) for value in self.weights.values()}
        found: dict[int, Line] = {}
        for entry in reversed(self.forward.tape):
            if wanted.isdisjoint(entry.gives):
                continue
            wanted.update(entry.asks)
            if entry.label.number <= until:
                found.update((id(each), each.line) for each in entry.saved if id(each) not in fixed)
        for tensor in tensors if found else ():
            value = self.forward.values.get(id(tensor))
            if value is not None and tensor.call is not None and tensor.call.number <= until:
                found[id(value.storage)] = value.storage.line
        return sum(found.values(), Line())

    def clear(self, keys: frozenset[int]) -> None:
        finished = self.backward.finished
        held = keys & finished.keys()
        # In the order of the parameters, as optimizers have them.
        for key in [*(key for key in self.weights if key in held), *(held - self.weights.keys())]:
            self.memory.release(finished.pop(key).storage)

    def step(self, action: Action) -> None:
        assert action.optimizer is not None
        # Where the code's own is not known, an option may say what it is.
        chosen = action.optimizer if action.optimizer.known else self.training.optimizer.value
        stepping = Stepping(chosen, self.rules.optimizers)
        finished = self.backward.finished
        gradients = {key: finished[key] for key in self.weights if key in action.weights and key in finished}
        timeline = self.memory.timeline
        self.stepped[id(stepping)] = len(timeline.events) - timeline.ahead
        if self.once:
            new = {key: self.weights[key] for key in gradients if key not in self.updated}
            stepping.make_state(self.memory, self.training.dtype.value, new)
        # Of one that is followed as a whole it is not known what it does for each.
        apart = len(action.groups) > 1 and stepping.own is None
        for group in action.groups if apart else [frozenset(gradients)]:
            part = {key: value for key, value in gradients.items() if key in group}
            if part or not apart:
                stepping.step(self.memory, self.rules, self.training.dtype.value, self.weights, part)
        also = self.forward.passed_over & action.weights if stepping.built else ()
        for key in self.weights:
            if key in gradients or key in also:
                self.updated.setdefault(key, stepping)

    def finish(self) -> None:
        """The optimizers' state was there from the beginning, but for what a single step makes."""
        timeline = self.memory.timeline
        timeline.single = self.once
        for stepping, values in self.by_optimizer():
            stepping.state(self.memory, self.training.dtype.value, values, self.once, self.stepped[id(stepping)])

    def by_optimizer(self) -> list[tuple[Stepping, dict[int, Value]]]:
        """The weights that each optimizer keeps state for."""
        found: dict[int, tuple[Stepping, dict[int, Value]]] = {}
        for key, stepping in self.updated.items():
            found.setdefault(id(stepping), (stepping, {}))[1][key] = self.weights[key]
        return list(found.values())


def read_by(action: Action) -> list[Tensor]:
    """The tensors that a backward pass reads."""
    return [tensor for end in action.ends for tensor in end if tensor is not None]
