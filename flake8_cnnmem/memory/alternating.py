"""Several models that are trained in one step, each with a replay of its own while the others lie in memory.

Exact where each model's update is a program of its own (Keras' `train_on_batch`); elsewhere, for models whose common
graph is not known, no more than a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.graph import Call, Model
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory import framework
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.estimate import LARGEST, Estimate, Moment
from flake8_cnnmem.memory.optimizer_step import Stepping
from flake8_cnnmem.memory.storages import Memory
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.training import Training


@dataclass(frozen=True, slots=True)
class Turns:
    """The replays of several models, each with the bytes that the others take meanwhile."""

    turns: tuple[tuple[Model, Estimate, int], ...]
    largest: Estimate
    """The turn that takes most."""
    batch: int
    """The batch that the program draws, of which a model may be given a part only, or several joined."""

    def largest_batch(self, limit: int) -> int:
        found = []
        for _, one, others in self.turns:
            found.append(one.largest_batch(limit - others) * self.batch // max(1, one.batch_size))
        return min(min(found), LARGEST)

    def moments(self, batch: int) -> tuple[Moment, ...]:
        return tuple(moment for _, one, _ in self.turns for moment in one.moments())

    def kept_by(self) -> tuple[tuple[str, int], ...]:
        return self.largest.kept_by

    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        return self.largest.kept_by_call


def estimate(parts: Sequence[tuple[Model, Training]], batch: int, overhead: int, chip: Chip = ASSUMED) -> Estimate:
    """The turn that takes most, with what the other models keep all the time added to its terms. `batch` is what the
    program draws for all of them."""
    turns = []
    for at, (model, training) in enumerate(parts):
        own = framework.estimate(model, training, 0, chip=chip)
        counted = {id(weight) for weight in model.weights}
        parameters = states = 0
        for other, (held, how) in enumerate(parts):
            if other == at:
                continue
            rest = replace(held, weights=tuple(w for w in held.weights if id(w) not in counted), calls=())
            parameters += kept_always(rest, how, with_state=False)
            states += kept_always(held, how, with_state=True) - kept_always(held, how, with_state=False)
            counted.update(id(weight) for weight in held.weights)
        turns.append((model, own, parameters, states))
    _, largest, parameters, states = max(turns, key=lambda turn: turn[1].total + turn[2] + turn[3])
    assert largest.tensor_peak is not None
    more = parameters + states
    return replace(
        largest,
        parameters=largest.parameters + parameters,
        optimizer=largest.optimizer + states,
        overhead=overhead,
        total=largest.total + more + overhead,
        tensor_peak=largest.tensor_peak + more,
        saved=max(own.saved or 0 for _, own, _, _ in turns),
        left_out=tuple(dict.fromkeys(cause for _, own, _, _ in turns for cause in own.left_out)),
        peaks=Turns(tuple((model, own, held + kept) for model, own, held, kept in turns), largest, batch),
    )


def kept_always(model: Model, training: Training, with_state: bool) -> int:
    """Bytes of a model's weights, and of the optimizer's state of those that train."""
    batch = training.batch_size.value
    memory = Memory(Timeline(framework.rules_of(model.framework).alignment), max(1, batch))
    weights = framework.weights_in_memory(model, memory, training.dtype.value)
    if with_state:
        stepping = Stepping(training.optimizer.value, framework.rules_of(model.framework).optimizers)
        stepping.state(memory, training.dtype.value, {key: value for key, value in weights.items() if value.grad})
    return memory.timeline.peak(batch)
