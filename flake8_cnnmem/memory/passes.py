"""One training step as a program's own loop makes it: several losses, optimizers and models, replayed in its order.

What is alive from one backward pass to the next is what the loop's own graph says: the generator's activations stay
while the discriminator learns from what it made. Gradients that nothing clears stay until the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.graph import Call, Model, Tensor, calls_behind
from flake8_cnnmem.memory.actions import Action, Step
from flake8_cnnmem.memory.attribution import Keeping, keeping
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.backward import Backward
from flake8_cnnmem.memory.dtypes import resolve
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.framework import TABLES, rules_of, weights_in_memory
from flake8_cnnmem.memory.replayed import Replayed
from flake8_cnnmem.memory.stepping import Stepping
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.tape import steps_of
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.training import Training


def estimate(model: Model, training: Training, actual: Step, overhead: int) -> Estimate:
    """Replay the step over the weights of `model`."""
    return replayed(model, training, actual).estimate(training, overhead)


def replayed(model: Model, training: Training, actual: Step) -> Replayed:
    rules = rules_of(model.framework)
    actions, inputs = actual.actions, actual.inputs
    first = Replay(model, training, inputs, rules)
    first.run(actions)
    # In the steady state the step begins with the gradients that the last one has left.
    replay = Replay(model, training, inputs, rules)
    replay.keep_from_before(frozenset(first.backward.finished))
    replay.run(actions)

    def again(batch: int) -> Replayed:
        return replayed(model, training.at_batch(batch), actual)

    memory = replay.memory
    left_out = tuple(memory.left_out)
    return Replayed(memory.timeline, training.batch_size.value, replay.saved, replay.most, left_out, again)


@dataclass(slots=True)
class Replay:
    """A step on its way."""

    model: Model
    training: Training
    inputs: Sequence[Tensor]
    rules: Rules
    memory: Memory = field(init=False)
    weights: dict[int, Value] = field(init=False)
    forward: Forward = field(init=False)
    backward: Backward = field(init=False)
    done: set[int] = field(default_factory=set)
    updated: dict[int, Stepping] = field(default_factory=dict)
    """The optimizer that keeps state for a weight, by the weight's id."""
    saved: int = 0
    most: Keeping = ()
    """`saved` without the inputs, at the loss for which most is kept."""

    def __post_init__(self) -> None:
        batch, dtype = self.training.batch_size.value, self.training.dtype.value
        self.memory = Memory(Timeline(self.rules.alignment, dict(self.model.paths)), max(1, batch))
        self.weights = weights_in_memory(self.model, self.memory, dtype)
        autocast = Autocast(self.memory, self.rules)
        self.forward = Forward(self.memory, self.rules, dtype, self.weights, autocast)
        self.backward = Backward(self.memory, self.rules, self.forward)
        for tensor in self.inputs:
            value = self.memory.new(tensor.shape, resolve(tensor.dtype, dtype), use="input")
            value.grad = tensor.requires_grad
            self.forward.values[id(tensor)] = value

    def keep_from_before(self, keys: frozenset[int]) -> None:
        """Gradients that are there when the step begins."""
        for key in keys:
            weight = self.weights[key]
            self.backward.finished[key] = self.memory.new(weight.shape, weight.dtype, weight.strides, "gradients")

    def run(self, actions: Sequence[Action]) -> None:
        losses = [action.loss for action in actions if action.loss is not None]
        for action in actions:
            if action.loss is not None:
                losses.pop(0)
                self.learn(action.loss, losses)
            elif action.kind == "zero_grad":
                self.clear(action.weights)
            elif action.optimizer is not None:
                self.step(action)
        for stepping, values in self.by_optimizer():
            stepping.state(self.memory, self.training.dtype.value, values)

    def learn(self, loss: Tensor, later: Sequence[Tensor]) -> None:
        """The forward pass to a loss, as far as it was not run before, and the way back."""
        calls = [call for call in calls_behind([loss]) if call.number not in self.done]
        self.done.update(call.number for call in calls)
        waiting = [call for call in calls_behind(later) if call.number not in self.done]
        read = {id(tensor) for call in waiting for tensor in (*call.inputs, *call.weights)}
        read.update(id(tensor) for tensor in later)
        held = dict.fromkeys(id(tensor) for tensor in self.inputs)
        self.forward.run(steps_of(calls), {id(loss), *read, *held})
        saved = self.kept()
        if saved > self.saved:
            self.saved, self.most = saved, self.keeping()
        self.forward.autocast.end()
        self.go_back(loss)
        self.forward.drop(id(loss))
        for key in set(self.forward.values) - read - set(held) - self.made_later(waiting):
            self.forward.drop(key)

    @staticmethod
    def made_later(waiting: Sequence[Call]) -> set[int]:
        return {id(tensor) for call in waiting for tensor in call.outputs}

    def go_back(self, loss: Tensor) -> None:
        """The backward pass over what leads to this loss. The rest of the tape waits for its own."""
        wanted = {id(loss)}
        reached, rest = [], []
        for entry in reversed(self.forward.tape):
            if wanted.isdisjoint(entry.gives):
                rest.append(entry)
                continue
            wanted.update(entry.asks)
            reached.append(entry)
        value = self.forward.values.get(id(loss))
        self.forward.tape[:] = rest[::-1]
        if value is not None and value.grad:
            self.backward.gradients[id(loss)] = self.memory.new((), value.dtype)
        self.backward.run(reached[::-1])

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

    def clear(self, keys: frozenset[int]) -> None:
        for key in keys & set(self.backward.finished):
            self.memory.release(self.backward.finished.pop(key).storage)

    def step(self, action: Action) -> None:
        assert action.optimizer is not None
        stepping = Stepping(action.optimizer, TABLES[self.rules.framework])
        finished = self.backward.finished
        gradients = {key: finished[key] for key in self.weights if key in action.weights and key in finished}
        stepping.step(self.memory, self.rules, self.training.dtype.value, self.weights, gradients)
        for key in gradients:
            self.updated.setdefault(key, stepping)

    def by_optimizer(self) -> list[tuple[Stepping, dict[int, Value]]]:
        """The weights that each optimizer keeps state for."""
        found: dict[int, tuple[Stepping, dict[int, Value]]] = {}
        for key, stepping in self.updated.items():
            found.setdefault(id(stepping), (stepping, {}))[1][key] = self.weights[key]
        return list(found.values())
