"""A training step that the code of a model writes for `fit` (`train_step` with a GradientTape), as one graph: every op
from the batch to the loss, whichever models it goes through. Where it has one loss and one update, the framework runs
it as it runs the step of a model that is compiled with a loss."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import product
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.frameworks.framework import BY_NAME
from flake8_cnnmem.graph import Call, Model, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.actions import Action, Step, StepRun, for_any_batch
from flake8_cnnmem.memory.followed_turns import behind, known
from flake8_cnnmem.memory.leaves import leaves_of
from flake8_cnnmem.models.fits import fit_around
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


@dataclass(frozen=True, slots=True)
class GraphStep:
    """The ops of a step from its batch to its loss, for any batch size, and the model whose `fit` runs it."""

    step: Step
    fitted: Instance
    trained: frozenset[int]
    """The weights, by id, that it updates."""

    def model(self, model: Model, causes: tuple[Unknown, ...]) -> Model:
        """What the step runs of a model: its outputs are its losses."""
        (turn,) = self.step.turns
        framework = frameworks.of_layer(self.fitted)
        own = framework.weights(self.fitted) if framework is not None else []
        read = [weight for call in turn.calls for weight in call.weights if isinstance(weight, Weight)]
        return Model(
            model.name, model.framework, model.root, tuple(leaves_of(turn.calls)),
            tuple(action.loss for action in turn.actions if action.loss is not None), tuple(in_turns(turn.calls)),
            tuple({id(weight): weight for weight in (*own, *model.weights, *read)}.values()),
            paths=model.paths, causes=causes, site=model.site, backend=model.backend, version=model.version,
            trained=self.trained, allocator=model.allocator, batch_tests=model.batch_tests, goes_back=True,
        )  # fmt: skip


def in_turns(calls: Sequence[Call]) -> list[Call]:
    """The calls of a graph in the order in which an executor comes to them that runs what is ready in the order in
    which it became so (ExecutorState::ScheduleReady of tensorflow/core/common_runtime/executor.cc): models that do not
    read each other's results run side by side."""
    makers = {id(tensor): call.number for call in calls for tensor in call.outputs}
    waits = {call.number: {makers[id(each)] for each in call.inputs if id(each) in makers} for call in calls}
    readers: dict[int, list[Call]] = {}
    for call in calls:
        for number in waits[call.number]:
            readers.setdefault(number, []).append(call)
    ready = deque(call for call in calls if not waits[call.number])
    found: list[Call] = []
    while ready:
        call = ready.popleft()
        found.append(call)
        for reader in readers.get(call.number, ()):
            waits[reader.number].discard(call.number)
            if not waits[reader.number]:
                ready.append(reader)
    return found


def graph_step(root: Root, phase: Phase, batch: int, backend: str) -> GraphStep | None:
    """The step of a phase that `fit` repeats, computed by this backend; None where it is another one, where it runs as
    no graph, or not all of it is known."""
    framework = frameworks.of_layer(root.value)
    if framework is None or framework.rules().step != "graph" or backend not in ("", framework.computes):
        return None
    fit = fit_around(root.run.trace, phase)
    events = phase.events
    if fit is None or not isinstance(fit.subject, Instance) or any(event.doubt is not None for event in events):
        return None
    losses = [event.subject for event in events if event.kind == "backward"]
    steps = [event for event in events if event.kind == "step"]
    if len(losses) != 1 or len(steps) != 1 or any(event.kind in UNCLEAR for event in events):
        return None
    (loss,) = losses
    if not isinstance(loss, Tensor) or loss.shape != ():
        return None
    run = phase.passes[-1]
    doubts = {call.number for call, doubt in run.calls if doubt is not None}
    needed = [*behind([call for call, _ in run.calls], loss)][::-1]
    if not needed or not all(known(call) and call.number not in doubts for call in needed):
        return None
    by_name = root.run.data(BY_NAME)
    if any(id(tensor) in by_name for call in needed for tensor in call.outputs):
        return None
    outside = sum(values_of(call) for call in needed if call.within is None)
    if outside > SMALL * sum(values_of(call) for call in needed if call.within is not None):
        return None
    turn = StepRun(tuple(needed), (Action("draw", run.first), Action("backward", run.last, loss)), run.last)
    return GraphStep(for_any_batch(Step((turn,)), batch), fit.subject, steps[0].trainable)


def values_of(call: Call) -> int:
    """How many values a call makes, as far as that is known."""
    sizes = (product(tensor.shape) for tensor in call.outputs if isinstance(tensor.shape, tuple))
    return sum(size for size in sizes if isinstance(size, int))


SMALL = 0.25
"""The part of the values that its models make up to which those that a step makes outside of them are counted as they
stand. TensorFlow writes more of them over one another: of a loss of nothing else 13 % were too much."""

UNCLEAR = ("unclear", "gradient", "derived")
"""Events of a step that a graph of one loss does not have."""


def doubts_of(step: GraphStep) -> Iterator[Unknown]:
    """Why a step that is known may not be all that `fit` does."""
    framework = frameworks.of_layer(step.fitted)
    if framework is not None:
        for fit in framework.fits(step.fitted)[-1:]:
            yield from fit.doubts
