"""What would make a training step fit, the cheapest change first, each with its own figure from the same replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.graph import Call, Invocation
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory import account
from flake8_cnnmem.memory.actions import for_input
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.models import Built, Whole
from flake8_cnnmem.results import Remedy
from flake8_cnnmem.training import Fact, Optimizer, Training

LEANER: dict[str, tuple[str, ...]] = {
    "adam": ("momentum", "sgd"),
    "adamw": ("momentum", "sgd"),
    "nadam": ("momentum", "sgd"),
    "radam": ("momentum", "sgd"),
    "adamax": ("momentum", "sgd"),
    "adadelta": ("momentum", "sgd"),
    "momentum": ("sgd",),
    "rmsprop": ("sgd",),
    "adagrad": ("sgd",),
}
"""Optimizers that keep less, the next one first."""

SMALLER = (0.75, 0.5)
"""What is tried for the sides of an image."""

STEP = 32
"""Sides that networks take are multiples of this."""


@dataclass(frozen=True, slots=True)
class StepOverLimit:
    """A training step that is over its limit. `feed` builds the model for another input shape, None where it cannot."""

    whole: Whole
    training: Training
    estimate: Estimate
    accounting: str
    overhead: int
    gpu: str
    limit: int
    certain: bool
    """Whether all is counted: of a lower bound nobody knows that it fits."""
    feed: Callable[[tuple[int | None, ...]], Built | None]

    figures: bool = True
    """Whether the totals of changes that are not enough are asked for. Without them nothing is told of such a one."""

    def account(self, whole: Whole, training: Training) -> Estimate:
        parts = [(model, how.as_part(self.training, training)) for _, model, how in whole.parts]
        return account(whole.model, training, self.accounting, self.overhead, self.gpu, whole.step, parts, self.figures)


def remedies(case: StepOverLimit) -> Iterator[Remedy]:
    """Each change alone; where it is not enough, together with the batch size that fits then. Each is worked out when
    it is asked for: a replay, or several."""
    return (remedy for remedy in changes(case) if remedy.total < case.estimate.total)


def first_that_fits(case: StepOverLimit) -> Remedy | None:
    """The first of them with which the step may fit; None where there is none."""
    return next((each for each in changes(replace(case, figures=False)) if each.fits is not False), None)


def changes(case: StepOverLimit) -> Iterator[Remedy]:
    """The same with those that make nothing smaller."""
    largest = case.estimate.largest_batch(case.limit)
    yield from smaller_batch(case, largest)
    for change, whole, training in (*half_precision(case), *leaner_optimizers(case)):
        yield tried(case, change, whole, training, largest)
    with checkpoints(case.whole) as blocks:
        # Told behind it: who asks for the next one, if anybody does, finds the blocks as they were.
        found = tried(case, f"checkpointing {named(blocks)}", case.whole, case.training, largest) if blocks else None
    if found is not None:
        yield found
    for change, whole in smaller_inputs(case):
        yield tried(case, change, whole, case.training, largest)


def smaller_batch(case: StepOverLimit, largest: int) -> Iterator[Remedy]:
    if 0 < largest < case.training.batch_size.value:
        total = case.account(case.whole, case.training.at_batch(largest)).total
        yield Remedy(f"batch size {largest * case.training.devices}", total, fits(case, total))


def tried(case: StepOverLimit, change: str, whole: Whole, training: Training, largest: int) -> Remedy:
    estimate = case.account(whole, training)
    if estimate.total <= case.limit:
        return Remedy(change, estimate.total, fits(case, estimate.total))
    batch = estimate.largest_batch(case.limit)
    if largest < batch < training.batch_size.value:
        total = case.account(whole, training.at_batch(batch)).total
        return Remedy(f"{change} and batch size {batch * training.devices}", total, fits(case, total))
    return Remedy(change, estimate.total, False)


def fits(case: StepOverLimit, total: int) -> bool | None:
    if total > case.limit:
        return False
    return True if case.certain else None


def half_precision(case: StepOverLimit) -> Iterator[tuple[str, Whole, Training]]:
    if case.training.dtype.value == "float32":
        yield "mixed_float16", case.whole, replace(case.training, dtype=Fact("mixed_float16", "remedy"))


def leaner_optimizers(case: StepOverLimit) -> Iterator[tuple[str, Whole, Training]]:
    optimizer = case.training.optimizer.value
    name = "momentum" if optimizer.name == "sgd" and dict(optimizer.options).get("momentum") else optimizer.name
    for leaner in LEANER.get(name, ())[:1]:
        optimizer = Optimizer(leaner)
        whole = case.whole
        if whole.step is not None:
            whole = replace(whole, step=whole.step.with_optimizer(optimizer))
        fact = Fact(optimizer, "remedy")
        parts = tuple((part, model, replace(how, optimizer=fact)) for part, model, how in whole.parts)
        whole = replace(whole, parts=parts)
        yield f"optimizer {leaner}", whole, replace(case.training, optimizer=fact)


@contextmanager
def checkpoints(whole: Whole) -> Iterator[list[Invocation]]:
    """Every top-level block of the model in a checkpoint of its own, for as long as this lasts.

    Empty where there are not two blocks, where the code has checkpoints already, or where the framework has none.
    """
    turns = [turn.calls for turn in whole.step.turns] if whole.step is not None else [whole.model.calls]
    each = [blocks_of(calls) for calls in turns] if frameworks.named(whole.model.framework).checkpoints else [[]]
    marked = [block for blocks in each for block in blocks] if all(each) else []
    try:
        for block in marked:
            block.checkpoint = block.reentrant = True
        yield each[-1] if marked else []
    finally:
        for block in marked:
            block.checkpoint = block.reentrant = False


def blocks_of(calls_made: Sequence[Call]) -> list[Invocation]:
    """Calls of the layers right below the model; of containers of the framework's own, those of what they hold."""
    found: dict[int, Invocation] = {}
    calls: dict[int, int] = {}
    for call in calls_made:
        ancestry = list(call.ancestry())[::-1]
        if any(invocation.checkpoint for invocation in ancestry):
            return []
        block = next((each for each in ancestry[1:] if not is_container(each)), None)
        if block is not None:
            found[id(block)] = block
            calls[id(block)] = calls.get(id(block), 0) + 1
    blocks = [block for key, block in found.items() if calls[key] > 1]
    return blocks if len(blocks) > 1 else []


def is_container(invocation: Invocation) -> bool:
    """Whether the layer that runs is one of the framework's own that holds others."""
    layer = invocation.layer
    framework = frameworks.of_layer(layer)
    return framework is not None and layer.cls.site is None and len(framework.children(layer)) > 1


def named(blocks: Sequence[Invocation]) -> str:
    """`each Bottleneck`, or how many blocks of several kinds."""
    kinds = {block.layer.cls.name for block in blocks if block.layer is not None}
    return f"each {kinds.pop()}" if len(kinds) == 1 else f"{len(blocks)} blocks"


def smaller_inputs(case: StepOverLimit) -> Iterator[tuple[str, Whole]]:
    """The first smaller image that fits, where the model takes it as it is."""
    given = case.training.input_shape
    if given is None or case.whole.parts or len(given.value) != 3 or None in given.value:
        return
    last = frameworks.named(case.whole.model.framework).channels_last
    shape = [size for size in given.value if size is not None]
    axes = (0, 1) if last else (1, 2)
    sides = tuple(shape)
    for factor in SMALLER:
        smaller = list(shape)
        for axis in axes:
            smaller[axis] = int(shape[axis] * factor) // STEP * STEP
        if min(smaller) < 1:
            return
        built = case.feed(tuple(smaller))
        if built is None or any(call.problem is not None for call in built.model.calls) or built.model.causes:
            return
        step = case.whole.step
        resized = for_input(step, sides, tuple(smaller)) if step is not None else None
        model = replace(built.model, beside=case.whole.model.beside)
        whole = Whole(model, resized)
        if case.account(whole, case.training).total <= case.limit or factor == SMALLER[-1]:
            yield f"input {'x'.join(str(size) for size in smaller)}", whole
            return
