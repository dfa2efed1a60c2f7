"""What a training loop does in one step, in the graph's terms, and the same for any batch size.

Code that was followed gives the graph for the batch size that it states; `for_any_batch` works the shapes out again
with the batch as a size of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import BATCH, Batch, Shape
from flake8_cnnmem.graph import Call, Invocation, Mismatch, OwnBackward, Problem, Tensor, Weight, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.leaves import leaves_of, storage_of
from flake8_cnnmem.memory.reshapes import with_batch
from flake8_cnnmem.memory.tape import is_made_in, region_of
from flake8_cnnmem.ops import Expand, Reshape
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a step does beside running ops: it draws `inputs` ("draw"), goes "backward" from `loss`, makes a
    "step" of `optimizer` on `weights`, or a "zero_grad" of `weights` (ids) and of the leaves in `given`. It is counted
    among the ops by its `number`. With `retain` the graph stays for another pass.

    A "gradient" is a backward pass that gives the gradients of some tensors and nothing else: `given` are those with
    what stands for their gradients. A "backward" gives leaves theirs; where ops have made them already, all of them are
    in `given` and the pass is `made`.
    """

    kind: str
    number: int
    loss: Tensor | None = None
    optimizer: Optimizer | None = None
    weights: frozenset[int] = frozenset()
    retain: bool = False
    inputs: tuple[Tensor, ...] = ()
    seed: Tensor | None = None
    """The gradient that it begins with, where the code gives one."""
    beside: tuple[tuple[Tensor, Tensor | None], ...] = ()
    """What else it goes back from at the same time, with what that begins with."""
    given: tuple[tuple[Tensor, Tensor], ...] = ()
    made: bool = False
    by_hand: bool = False
    """Whether a step is the program's own ops, which may read gradients that it has asked for."""
    hook: int = 0
    """It happens within the backward pass before it: when the gradient of this weight (its id) is complete."""
    groups: tuple[frozenset[int], ...] = ()
    """The weights (ids) that the step updates one group after the other, where there are several."""
    cast_region: int = 0
    """The number of the outermost region of autocast that it happens in: what that has cached stays."""

    @property
    def ends(self) -> tuple[tuple[Tensor, Tensor | None], ...]:
        """All that it goes back from, each with the gradient that the code gives for it."""
        return () if self.loss is None else ((self.loss, self.seed), *self.beside)


@dataclass(frozen=True, slots=True)
class StepRun:
    """One run of a step: its ops and its actions in order, and the number of its last op."""

    calls: tuple[Call, ...]
    actions: tuple[Action, ...]
    last: int

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The leaves of its graph that have the batch in front: what the loader gives."""
        return tuple(tensor for action in self.actions for tensor in action.inputs)


@dataclass(frozen=True, slots=True)
class Step:
    """A whole step: one run of it, or two, the second of which finds in memory what the first has left. What a program
    does `once` finds nothing."""

    turns: tuple[StepRun, ...]
    causes: tuple[Unknown, ...] = ()
    """What of it was not known, and is left out."""
    keepers: tuple[tuple[Tensor, ...], ...] = ()
    """What names still lead to after the last run, that of each name: results of the run before, or what comes from
    them."""
    gathers: bool = False
    """Whether one of these names is a container with more in it after every run."""
    further: int | None = 0
    """How many runs follow the last one while all of that is held; None where it is not known."""
    less: bool = False
    """Whether one more comes behind them that is given less."""
    once: bool = False
    left: tuple[tuple[Tensor, int], ...] = ()
    """What a turn that does something now and then has left for those behind it, each with the number of the op until
    which a run holds it."""
    at_least: int = 0
    """Where `further` is not known: how many runs follow for certain that leave as much as the last one."""

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(action for turn in self.turns for action in turn.actions)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the loader gives for the last run of the step."""
        return self.turns[-1].inputs

    @property
    def calls(self) -> tuple[Call, ...]:
        """The ops of the last run."""
        return self.turns[-1].calls

    def with_optimizer(self, optimizer: Optimizer) -> Step:
        """The same step, made by another optimizer."""

        def changed(turn: StepRun) -> StepRun:
            actions = (replace(each, optimizer=optimizer) if each.optimizer else each for each in turn.actions)
            return replace(turn, actions=tuple(actions))

        return replace(self, turns=tuple(map(changed, self.turns)))


def for_any_batch(step: Step, batch: int) -> Step:
    """The step over a copy of its graph whose leaves have the batch in front where they had `batch`."""
    samples = (leaf for turn in step.turns for leaf in leaves_of(turn.calls) if begins_with(leaf.shape, batch))
    # The model's input comes before its targets.
    first = next(samples, None)
    grows = first is not None and lifted(first, batch) != first.shape
    return rebuilt(step, lambda leaf: lifted(leaf, batch), lambda made, call: shapes_of(made, call, batch, grows))


def for_input(step: Step, old: Shape, new: Shape) -> Step | None:
    """The step on images of another size, both without the batch; None where it does not take them."""

    def resized(leaf: Tensor) -> Shape | Unknown:
        shape = leaf.shape
        if isinstance(shape, Unknown) or shape[1:] == old:
            return shape if isinstance(shape, Unknown) else (*shape[:1], *new)
        # Maps of classes are as large as the images.
        return (*shape[:-2], *new[-2:]) if len(shape) > 2 and shape[-2:] == old[-2:] else shape

    def through(made: Call, call: Call) -> Sequence[Shape | Unknown]:
        given = [tensor.shape for tensor in made.inputs]
        if given == [tensor.shape for tensor in call.inputs]:
            return [tensor.shape for tensor in call.outputs]
        found = call.op.outputs(*given)  # type: ignore[arg-type]
        if len(found) != len(call.outputs):
            raise Mismatch(Problem("CNM201", "gives another number of results"))
        return found

    try:
        return rebuilt(step, resized, through)
    except Mismatch:
        return None


def rebuilt(
    step: Step,
    leaf_shape: Callable[[Tensor], Shape | Unknown],
    output_shapes: Callable[[Call, Call], Sequence[Shape | Unknown]],
) -> Step:
    """The step over a copy of its graph. `output_shapes` is given the copy of a call, over copies of what it reads, and
    the call itself."""
    copies: dict[int, Tensor] = {}
    for action in step.actions:
        if action.kind in ("backward", "gradient") and not action.made:
            for tensor, gradient in action.given:
                # It comes from a backward pass, not from the loader.
                own = tensor.trained_as if action.kind == "backward" else None
                shape = leaf_shape(gradient) if own is None else gradient.shape
                copies.setdefault(id(gradient), replace(gradient, shape=shape, gradient_of=own or gradient.gradient_of))

    def now(tensor: Tensor) -> Tensor:
        return copies.get(id(tensor)) or tensor.trained_as or tensor

    def copied(turn: StepRun) -> StepRun:
        leaves: list[tuple[int, Tensor]] = []

        def copy_of(tensor: Tensor, number: int, region: Invocation | None = None) -> Tensor:
            if (isinstance(tensor, Weight) or tensor.gradient_of is not None) and tensor.call is None:
                return tensor
            if tensor.trained_as is not None:
                return tensor.trained_as
            found = copies.get(id(tensor))
            if found is None:
                source = as_wide_as(tensor)
                wide = copies.get(id(source), source)
                # What the code computes of data alone, beside the graph, is there from then on.
                born = tensor.born or (tensor.call.number if tensor.call is not None else 0)
                whole = storage_of(tensor)
                view_of = None if whole is tensor else copy_of(whole, number, region)
                found = replace(
                    tensor, shape=leaf_shape(tensor), call=None, as_wide_as=wide, born=born, view_of=view_of
                )
                copies[id(tensor)] = found
                if region is None or not is_made_in(tensor, region):
                    leaves.append((number, found))
            return found

        def copy_call(call: Call) -> Call:
            region = region_of(call, None)
            made = replace(
                call,
                inputs=tuple(copy_of(tensor, call.number, region) for tensor in call.inputs),
                weights=tuple(copy_of(tensor, call.number) for tensor in call.weights),
            )
            outputs = []
            for tensor, shape in zip(call.outputs, output_shapes(made, call), strict=True):
                wide = None if tensor.as_wide_as is None else now(tensor.as_wide_as)
                result = replace(tensor, shape=shape, call=made, as_wide_as=wide)
                outputs.append(result)
                copies[id(tensor)] = result
            made.outputs = tuple(outputs)
            return made

        hold_leaves(turn)
        calls = [copy_call(call) for call in turn.calls]
        read = len(leaves)
        regions = Regions(copies, copy_call)
        for call in calls:
            call.within = regions.copy(call.within)
        # What a backward pass that the code writes is handed, or makes, comes from no loader.
        del leaves[read:]
        given = [(at, leaf) for at, leaf in leaves if not isinstance(leaf.shape, Unknown) and BATCH in leaf.shape[:1]]
        actions: list[Action] = []
        made: list[Action] = []
        for action in reversed(turn.actions):
            if action.kind == "draw":
                drawn = [leaf for at, leaf in given if at > action.number]
                given = [(at, leaf) for at, leaf in given if at <= action.number]
                # What the code itself makes on its way is there from then on.
                later = [leaf for leaf in drawn if leaf.born > action.number]
                made += [Action("draw", leaf.born, inputs=(leaf,)) for leaf in later]
                action = replace(action, inputs=tuple(leaf for leaf in drawn if leaf.born <= action.number))
            else:
                action = replace(
                    action,
                    loss=None if action.loss is None else now(action.loss),
                    seed=None if action.seed is None else now(action.seed),
                    beside=tuple((now(end), None if seed is None else now(seed)) for end, seed in action.beside),
                    given=tuple(
                        (now(tensor), now(gradient)) for tensor, gradient in action.given
                        # The gradient of what stands for a parameter is where those of parameters are.
                        if tensor.trained_as is None or action.made or action.kind != "backward"
                    ),
                )  # fmt: skip
            actions.append(action)
        # What is made after an action has its number.
        actions = sorted([*reversed(actions), *made], key=lambda action: action.number)
        return StepRun(tuple(calls), tuple(actions), turn.last)

    turns = tuple(map(copied, step.turns))
    keepers = tuple(tuple(copies.get(id(tensor), tensor) for tensor in each) for each in step.keepers)
    return replace(step, turns=turns, keepers=keepers)


def hold_leaves(turn: StepRun) -> None:
    """A graph knows its leaves, and each result its graph: leaves that a gradient comes to live as long as one of the
    results that depend on them."""
    for action in turn.actions:
        leaves = [leaf for leaf, _ in action.given if leaf.requires_grad and not isinstance(leaf, Weight)]
        behind = calls_behind([end for end, _ in action.ends]) if leaves else []
        for leaf in leaves:
            carrying = {id(leaf)}
            for call in sorted(behind, key=lambda call: call.number):
                if call.grad and not call.op.cuts_gradient and not carrying.isdisjoint(map(id, call.inputs)):
                    carrying.update(map(id, call.outputs))
                    leaf.held = max(leaf.held, *(tensor.held for tensor in call.outputs))


class Regions:
    """Copies of the invocations that name tensors (a backward pass of their own, what a checkpoint is called on), over
    copies of these."""

    def __init__(self, copies: dict[int, Tensor], copy_call: Callable[[Call], Call]) -> None:
        self.copies = copies
        self.copy_call = copy_call
        self.known: dict[int, Invocation | None] = {}

    def copy(self, region: Invocation | None) -> Invocation | None:
        """The same region, or a copy of it where it or one around it names tensors."""
        if region is None or id(region) in self.known:
            return self.known[id(region)] if region is not None else None
        parent = self.copy(region.parent)
        own = self.backward(region.own) if region.own is not None else None
        arguments = None if region.arguments is None else tuple(map(self.mapped, region.arguments))
        changed = own is not None or arguments is not None or parent is not region.parent
        made = replace(region, parent=parent, own=own, arguments=arguments) if changed else region
        self.known[id(region)] = made
        return made

    def backward(self, own: OwnBackward) -> OwnBackward:
        tensors = [one for one in own.gradients if isinstance(one, Tensor)]
        for call in calls_behind(tensors):
            if call.number >= own.first:
                self.copy_call(call)
        return replace(
            own,
            saved=tuple(map(self.mapped, own.saved)),
            results=tuple(map(self.mapped, own.results)),
            given=tuple(map(self.mapped, own.given)),
            arguments=tuple(map(self.mapped, own.arguments)),
            gradients=tuple(map(self.mapped, own.gradients)),
        )

    def mapped(self, value: Any) -> Any:
        return self.copies.get(id(value), value)


NESTED = 8
"""How many of these steps are looked through for the tensor that data is made alike."""


def as_wide_as(tensor: Tensor, nested: int = NESTED) -> Tensor | None:
    """The tensor whose dtype one that the code makes of data alone has: the one that it was made alike, or that all
    its operands were."""
    call = tensor.call
    if tensor.as_wide_as is not None or call is None or not nested or tensor.dtype != "float":
        return tensor.as_wide_as
    if not call.op.keeps_dtype or call.weights:
        return None
    found = [as_wide_as(each, nested - 1) for each in call.inputs if each.dtype == "float" and each.shape != ()]
    return found[0] if found and all(each is found[0] for each in found) else None


def lifted(tensor: Tensor, batch: int) -> Shape | Unknown:
    """A leaf's shape with the batch in front, if it is as long there."""
    shape = tensor.shape
    if isinstance(shape, Unknown) or tensor.data is not None or not shape:
        return shape
    if shape[0] == batch:
        return (BATCH, *shape[1:])
    rows = shape[0]
    if isinstance(rows, int) and rows > batch and rows % batch == 0 and batch in samples_behind(tensor):
        return (Batch(rows // batch), *shape[1:])
    return shape


def samples_behind(tensor: Tensor) -> set[object]:
    """The first axes of what a tensor was computed of on the host, before it was moved."""
    axes = len(tensor.shape) if isinstance(tensor.shape, tuple) else 0
    leaves = [read for call in calls_behind([tensor]) for read in call.inputs if read.call is None]
    return {leaf.shape[0] for leaf in leaves if isinstance(leaf.shape, tuple) and len(leaf.shape) >= max(axes, 2)}


def shapes_of(copied: Call, call: Call, batch: int, grows: bool = True) -> list[Shape | Unknown]:
    """The output shapes of a call over copies: what its op says, where that agrees at `batch` with what it was. `grows`
    says whether the first that begins with that number has the batch in front."""
    if is_filled_with_samples(copied, batch):
        target = copied.inputs[0]
        target.shape, target.data = lifted(replace(target, data=None), batch), None
    given = [tensor.shape for tensor in copied.inputs]
    if all(
        mine is theirs or mine == theirs for mine, theirs in zip(given, [t.shape for t in call.inputs], strict=True)
    ):
        if (
            grows
            and isinstance(call.op, Expand)
            and given[0] != call.outputs[0].shape
            and not begins_with(given[0], batch)
        ):
            # A parameter that is repeated for each sample: the number comes of the batch, as a leaf's does.
            return [lifted(replace(tensor, data=None), batch) for tensor in call.outputs]
        return [tensor.shape for tensor in call.outputs]
    if isinstance(call.op, Reshape):
        found = with_batch(given[0], call.inputs[0].shape, call.outputs[0].shape, batch)
        if found is not None:
            return [found]
    try:
        said: Sequence[Shape | Unknown] = call.op.outputs(*given)  # type: ignore[arg-type]
    except Mismatch:
        said = ()
    if len(said) == len(call.outputs) and all(
        agrees(new, tensor.shape, batch) for new, tensor in zip(said, call.outputs, strict=True)
    ):
        return list(said)
    return [lifted(replace(tensor, data=None), batch) for tensor in call.outputs]


def is_filled_with_samples(call: Call, batch: int) -> bool:
    """Whether the code writes what has the batch in front into zeros that it made as long: a sequence that is shifted
    by one (`shifted = ids.new_zeros(ids.shape); shifted[:, 1:] = ids[:, :-1]`)."""
    if not call.op.writes_part:
        return False
    target, *values = call.inputs
    samples = any(not isinstance(each.shape, Unknown) and each.shape[:1] == (BATCH,) for each in values)
    return samples and target.call is None and target.data is not None and begins_with(target.shape, batch)


def begins_with(shape: Shape | Unknown, size: int) -> bool:
    """Whether a shape has this number along its first axis."""
    return not isinstance(shape, Unknown) and shape[:1] == (size,)


def agrees(new: Shape | Unknown, old: Shape | Unknown, batch: int) -> bool:
    """Whether a shape at this batch is one that is known already."""
    if isinstance(new, Unknown) or isinstance(old, Unknown) or len(new) != len(old):
        return False
    return all(dims.at_batch(size, batch) == known for size, known in zip(new, old, strict=True))
