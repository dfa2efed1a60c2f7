"""The optimizer in a replay: the state that is there all the time, and the temporaries of its step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.frameworks.updates import InnerOptimizer, Update
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.followed_optimizers import line_of, run_step, state_lines
from flake8_cnnmem.memory.in_flight import InFlight
from flake8_cnnmem.memory.optimizers import (
    OptimizerState,
    ahead,
    beside,
    clips,
    flat_vectors,
    is_set,
    lookup,
    not_known,
    slots,
    waits_for_all,
)
from flake8_cnnmem.memory.reductions import blocks_of, buffer_of
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.timeline import CONSTRUCTED
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown

SCALAR = Line(4)


@dataclass(slots=True, eq=False)
class Stepping:
    """An optimizer in a replay: a row for what tables know of it, and what was followed of its own code."""

    optimizer: Optimizer
    table: Mapping[str, OptimizerState]

    @property
    def own(self) -> Update | None:
        return self.optimizer.own if isinstance(self.optimizer.own, Update) else None

    @property
    def parts(self) -> Sequence[InnerOptimizer]:
        """The optimizers that tables know."""
        return (InnerOptimizer(self.optimizer),) if self.own is None else self.own.parts

    @property
    def built(self) -> bool:
        """Whether what it keeps is made with it, for all of its parameters."""
        return self.own is None and any(lookup(part.optimizer, self.table)[0].built for part in self.parts)

    def step(
        self, memory: Memory, rules: Rules, dtype: str, weights: dict[int, Value], gradients: Mapping[int, Value]
    ) -> None:
        """The temporaries of its step on those of the `weights` (by id) that have `gradients`."""
        memory.timeline.mark("optimizer")
        for part in self.parts:
            row, options = lookup(part.optimizer, self.table)
            values = [value for key, value in gradients.items() if part.weights is None or key in part.weights]
            step(memory, row, options, values)
        if self.own is not None:
            run_step(memory, rules, dtype, weights, self.own, gradients)

    def state(
        self,
        memory: Memory,
        dtype: str,
        updated: Mapping[int, Value],
        first: bool = False,
        stepped: int | None = None,
    ) -> None:
        """Put the state of the weights that it updates (by id) at the beginning of the step; before the optimizer's
        first one only what is there without it. `stepped` is the place at which it steps, if that is told."""
        for lines, built in self.lines(memory, dtype, updated, first):
            memory.timeline.put_first(lines, "optimizer", CONSTRUCTED if built else stepped)

    def lie_beside(self, memory: Memory, updated: Mapping[int, Value]) -> None:
        """The state of an optimizer that does not step lies where it was made: behind the weights, before the step."""
        for lines, _ in self.lines(memory, "float32", updated):
            for line in lines:
                memory.allocate(line, "optimizer")

    def lines(
        self, memory: Memory, dtype: str, updated: Mapping[int, Value], first: bool = False
    ) -> Iterator[tuple[list[Line], bool]]:
        """The state of its parts, and whether that is made with it; before the `first` step only what then is."""
        for part in self.parts:
            row, options = lookup(part.optimizer, self.table)
            values = [value for key, value in updated.items() if part.weights is None or key in part.weights]
            if row.built or not first:
                yield lines_of(memory, row, options, values), row.built
            memory.left_out.update(dict.fromkeys(not_known(part.optimizer, self.table)))
        if self.own is not None:
            yield state_lines(memory, self.own, [] if first else list(updated), dtype), False
            memory.left_out.update(dict.fromkeys(self.own.causes))

    def make_state(self, memory: Memory, dtype: str, updated: Mapping[int, Value]) -> None:
        """What its first step makes of the state of these weights (by id)."""
        for part in self.parts:
            row, options = lookup(part.optimizer, self.table)
            values = [value for key, value in updated.items() if part.weights is None or key in part.weights]
            for line in () if row.built else lines_of(memory, row, options, values):
                memory.allocate(line, "optimizer")
        if self.own is not None:
            for tensor in (tensor for key in updated for tensor in self.own.state.get(key, ())):
                memory.allocate(line_of(memory, tensor, dtype), "optimizer")


def state(memory: Memory, row: OptimizerState, options: Mapping[str, Any], updated: Sequence[Value]) -> None:
    """Put the state of the weights that get a gradient at the beginning of the step."""
    memory.timeline.put_first(lines_of(memory, row, options, updated), "optimizer")


def lines_of(memory: Memory, row: OptimizerState, options: Mapping[str, Any], updated: Sequence[Value]) -> list[Line]:
    """The state of the weights that get a gradient."""
    lines: list[Line] = [SCALAR] * row.globals_
    held = slots(row, options)
    on_device = is_set(options.get("fused")) or is_set(options.get("capturable"))
    for value in updated:
        lines += [SCALAR] * (row.scalars + (row.steps if on_device else 0))
        lines += _state_of(memory, row, held, value)
    if row.history and updated:
        # LBFGS keeps flat vectors of all parameters.
        total = sum((value.storage.line for value in updated), Line())
        lines += [total] * held
    return lines


def _state_of(memory: Memory, row: OptimizerState, held: int, value: Value) -> list[Line]:
    shape = value.shape
    if row.history:
        return []
    if isinstance(shape, Unknown):
        return []
    each = size_of(value.dtype)
    if row.factored:
        whole = [value.storage.line] * held
        if len(shape) < 2:
            # Keras' vectors for rows and columns are there, with one value each.
            return [*whole, SCALAR, SCALAR] if whole else [memory.line(dims.product(shape), each)]
        rows, columns = dims.product(shape[:-1]), dims.product((*shape[:-2], shape[-1]))
        return [*whole, memory.line(rows, each), memory.line(columns, each)]
    number = row.matrices if row.matrices is not None and len(shape) == 2 else held
    return [value.storage.line] * number


@dataclass(slots=True)
class GraphUpdates:
    """Updates as TensorFlow's graph makes them: each variable once its gradient is there (memory only for that long).

    What an optimizer computes without the gradient (momentum x velocity) is computed ahead of the forward pass, for
    all variables, and stays until the variable's turn. A clipping by the global norm needs all gradients at once.
    """

    memory: Memory
    row: OptimizerState
    options: Mapping[str, Any]
    in_flight: InFlight
    updated: list[Value] = field(default_factory=list)
    ahead: dict[int, list[Storage]] = field(default_factory=dict)
    weights: Mapping[int, Value] = field(default_factory=dict)

    def begin(self, weights: Mapping[int, Value]) -> None:
        self.weights = weights
        for key, value in weights.items():
            if value.grad:
                made = [
                    self.memory.allocate(value.storage.line, "stepping") for _ in range(ahead(self.row, self.options))
                ]
                self.ahead[key] = made

    def update(self, key: int, gradient: Value) -> bool:
        """A variable's gradient has arrived: use it and let it go, unless all have to be there first."""
        self.updated.append(gradient)
        if waits_for_all(self.options):
            return False
        self._apply(key, gradient)
        return True

    def _apply(self, key: int, gradient: Value) -> None:
        # Rows of a table are scaled where they lie, and then put.
        rows = key in self.weights and self.weights[key].shape != gradient.shape
        times = 0 if rows else beside(self.row, self.options)
        made = [self.memory.allocate(gradient.storage.line, "stepping") for _ in range(times)]
        used = (*made, gradient.storage, *self.ahead.pop(key, []))
        if (self.row.chain and not ahead(self.row, self.options)) or self.in_flight.turns > 1:
            self.in_flight.now.extend(used)
            return
        for storage in used:
            self.memory.release(storage)

    def end(self, finished: Mapping[int, Value]) -> None:
        """What is left when the backward pass is over."""
        self.memory.timeline.mark("optimizer")
        self.in_flight.end()
        for key, gradient in finished.items():
            self._apply(key, gradient)
            self.in_flight.turn()
        self.in_flight.end()


def step(memory: Memory, row: OptimizerState, options: Mapping[str, Any], updated: Sequence[Value]) -> None:
    """The temporaries of the step, for a moment."""
    memory.timeline.mark("optimizer")
    lines = [value.storage.line for value in updated]
    if not lines or is_set(options.get("fused")):
        return
    if row.orthogonal:
        orthogonalised(memory, options, updated)
        return
    # What is to grow has its gradients turned, into tensors in which the decay is added, too.
    decays, turned = is_set(options.get("weight_decay")), row.turns and is_set(options.get("maximize"))
    at_once = options.get("foreach")
    if row.foreach and (at_once is True if row.asked else at_once is not False):
        own = flat_vectors(row, options)[1] if row.history else row.step
        times = own + (row.decay if decays or turned else 0) + clips(options)
        lists = [[memory.allocate(line, "stepping") for line in lines] for _ in range(times)]
        for value in updated if row.masked else ():
            beside_it = memory.line(value.values, 1), value.storage.line
            for storage in [memory.allocate(line, "stepping") for line in beside_it]:
                memory.release(storage)
        # A list lets go of its last element first.
        made = [storage for each in lists for storage in reversed(each)]
    else:
        for value in updated if row.normed else ():
            pass_norms(memory, value)
        changes = row.single_decay if decays else 0, 1 if turned else 0
        # Both are there at once for a moment, before anything else is made of the second.
        times = max(row.single + max(changes), sum(changes))
        made = one_by_one(memory, lines, times, row.single_held)
    for storage in made:
        memory.release(storage)


def orthogonalised(memory: Memory, options: Mapping[str, Any], updated: Sequence[Value]) -> None:
    """The temporaries of Newton and Schulz's iteration, one matrix after the other (_zeropower_via_newtonschulz of
    torch/optim/_muon.py): the update, its copy in bfloat16, the product with itself and the polynomial in that, and the
    next copy. A variable of the loop holds the last matrix's until the next update is made."""
    before: list[Storage] = []
    looks_ahead = is_set(options.get("nesterov", True))
    for value in updated:
        shape = value.shape
        if isinstance(shape, Unknown) or len(shape) != 2:
            continue
        line = memory.line(value.values, 2)
        update = [memory.allocate(value.storage.line, "stepping")] if looks_ahead else []
        short = min(shape, key=lambda size: size if isinstance(size, int) else 0)
        square = memory.line(dims.product((short, short)), 2)
        for storage in before:
            memory.release(storage)
        made = [memory.allocate(each, "stepping") for each in (line, square, square)]
        before = [memory.allocate(line, "stepping")]
        for storage in (*made, *update):
            memory.release(storage)
    for storage in before:
        memory.release(storage)


def pass_norms(memory: Memory, value: Value) -> None:
    """The buffers of the norms of a tensor over its last axis and over the one before that, for a moment each."""
    rank, chip = len(value.sizes or ()), memory.chip
    if chip is None or rank < 2:
        return
    for axis in (rank - 1, rank - 2):
        line = buffer_of(value.shape, value.strides, (axis,), size_of(value.dtype), chip)
        for storage in [memory.allocate(block, "stepping") for block in blocks_of(line)]:
            memory.release(storage)


def one_by_one(memory: Memory, lines: Sequence[Line], times: int, held: int) -> list[Storage]:
    """The temporaries of a step that takes one parameter after the other: `times` tensors for each, of which the last
    `held` are still there, in variables of its loop, when the next one's are made. Gives what the last one leaves."""
    before: list[Storage] = []
    for line in lines:
        passing = [memory.allocate(line, "stepping") for _ in range(times - held)]
        now: list[Storage] = []
        for _ in range(held):
            now.append(memory.allocate(line, "stepping"))
            if before:
                memory.release(before.pop(0))
        for storage in passing:
            memory.release(storage)
        before = now
    return before
