"""The forward pass: results, what autograd keeps of each op, and what dies as soon as nothing reads or holds it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace

from flake8_cnnmem.frameworks.rules import New, OpRule, Rules, Saved
from flake8_cnnmem.graph import FOREVER, Call, OwnBackward, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.dtypes import is_floating, resolve
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.held import Held
from flake8_cnnmem.memory.planner import Planner
from flake8_cnnmem.memory.saved_written import note_if_saved
from flake8_cnnmem.memory.step_reads import as_it_was, not_known, outer_of, reads_of
from flake8_cnnmem.memory.storage_reuse import is_in_place
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import (
    Entry,
    Keyed,
    Region,
    Stretch,
    TapeNode,
    TapeStep,
    WrittenBackward,
    calls_in,
    first_number,
)
from flake8_cnnmem.memory.unreachable import forget
from flake8_cnnmem.memory.written_views import as_it_lies

MADE = ("y", "y1", "positions")
POSITIONS = Saved("positions")
"""The last of what rows keep that have it."""
"""What a row of the rules calls results that are kept."""


@dataclass(slots=True)
class Forward:
    """The state of a forward pass. `values` are the tensors that something still reads, by `id`."""

    memory: Memory
    rules: Rules
    dtype: str
    """The training dtype."""
    weights: dict[int, Value]
    autocast: Autocast
    values: dict[int, Value] = field(default_factory=dict)
    tape: list[Entry] = field(default_factory=list)
    records: bool = True
    phase: str = "forward"
    """What the timeline calls what is run."""
    reads: dict[int, int] = field(default_factory=dict)
    """How often each tensor of the running steps is still read."""
    wanted: Collection[int] = ()
    held: Held = field(default_factory=Held)
    """Values of a followed turn that nothing reads any more, but that the code holds."""
    last_kept: int = 0
    """Of the checkpointed stretch that is running, the number of the first op that need not run again: behind the last
    one that keeps what it has made for the backward pass, or that last one itself where it keeps what it read."""
    stops: int | None = None
    """Where the second run of a checkpoint ends: ops from this number on give no results."""
    asked: set[int] = field(default_factory=set)
    """Values that some op of the tape asks for a gradient."""
    constants: set[int] = field(default_factory=set)
    """Tensors without a call that the code made on the way."""
    gradients: dict[int, Value] = field(default_factory=dict)
    """Those of leaves that are no weights, by the leaf's key: they are there as long as the leaf is."""
    finished: Mapping[int, Value] = field(default_factory=dict)
    """The gradients that weights have, by the weight's id."""
    dated: bool = False
    """Whether the calls are those of one turn, so that what was frozen when they ran counts."""
    nodes: list[int] = field(default_factory=lambda: [0, 0])
    """How many the program has put on the tape, and how many its backward passes whose graphs are kept."""
    cast_by_code: Collection[int] = ()
    """Leaves (ids) that the code casts to the half dtype in which its model is: they are made in float32."""
    longer: Mapping[int, int] = field(default_factory=dict)
    """Tensors that are held for longer than the code holds them, by their ids: until which op."""
    halved: dict[int, str] = field(default_factory=dict)
    """The dtypes of results that autocast has made in half, by their ids: of those that are gone too, as the code may
    still have what it has read off them."""
    wholes: dict[int, Value] = field(default_factory=dict)
    """What constants are views of, by its id: for as long as one of these views is there."""
    passed_over: set[int] = field(default_factory=set)
    """Weights, by id, that get no gradient because they are read in a checkpoint that sees none."""
    planner: Planner = field(init=False)

    def __post_init__(self) -> None:
        self.planner = Planner(self.memory, self.rules, self.dtype)

    # Running steps.

    def run(self, steps: Sequence[TapeStep], wanted: Collection[int]) -> None:
        """Run the steps. Of their results those in `wanted`, and nothing else of theirs, are held afterwards."""
        before = self.reads, self.wanted
        self.reads, self.wanted = reads_of(steps), wanted
        waiting = Held()
        self._run(steps, waiting, set())
        self._let_go(waiting, FOREVER)
        self.reads, self.wanted = before

    def begin(self, steps: Sequence[TapeStep], also: Sequence[Tensor]) -> None:
        """A turn of a training loop begins, with all its steps in order. Backward passes read, too: their losses."""
        self.reads, self.wanted = reads_of(steps), ()
        for tensor in also:
            self.reads[id(tensor)] = self.reads.get(id(tensor), 0) + 1

    def follow(self, steps: Sequence[TapeStep], until: int) -> None:
        """Run some of the turn's steps, up to the op of number `until`. What the code holds stays beyond it."""
        self._run(steps, self.held, None)
        self._let_go(self.held, until)

    def end(self, last: int) -> None:
        """The turn has ended, with the op of this number: what the code let go of before its end is gone."""
        self._let_go(self.held, last + 1)

    def done_with(self, read: Sequence[Tensor], until: int) -> None:
        """A backward pass has ended that has read these."""
        for tensor in read:
            key = id(tensor)
            self.reads[key] -= 1
            if self.reads[key] <= 0 and key in self.values:
                self.held.put(tensor, self._until(tensor))
        self._let_go(self.held, until)

    def take(self, tensor: Tensor, value: Value | None) -> Value:
        """A backward pass gives a tensor; zeros where nothing has arrived."""
        made = value or self.memory.new(tensor.shape, resolve(tensor.dtype, self.dtype))
        self.drop(id(tensor))
        self.values[id(tensor)] = made
        if self.reads.get(id(tensor), 0) <= 0:
            self.held.put(tensor, self._until(tensor))
        return made

    def keep_gradient(self, leaf: Tensor, result: Tensor, gradient: Value) -> None:
        """A backward pass has reached a leaf: the gradient is its own, or added to the one that it has. `result` is
        what the code reads as that."""
        key, memory = id(leaf), self.memory
        if key not in self.values or key in self.gradients:
            # A leaf that nothing holds any more goes when the graph does.
            memory.release(gradient.storage)
            return
        self.gradients[key] = gradient
        if self.reads.get(id(result), 0) > 0 and id(result) not in self.values:
            self.values[id(result)] = memory.alias(gradient, gradient.shape, gradient.strides)

    def drop_gradient(self, key: int) -> None:
        gradient = self.gradients.pop(key, None)
        if gradient is not None:
            self.memory.release(gradient.storage)

    def _run(self, steps: Sequence[TapeStep], waiting: Held, made: set[int] | None) -> None:
        """`waiting` are values that nothing reads any more, but that the code holds. `made` is given where only results
        of these steps may go; they are noted in it."""
        reads, wanted = self.reads, self.wanted
        eager = self.rules.eager
        for step in steps:
            if waiting.any_before(first_number(step)):
                self._let_go(waiting, first_number(step))
            read: Sequence[Tensor]
            results: Sequence[Tensor]
            if isinstance(step, Stretch):
                read, results = self._stretch(step, reads, wanted)
            else:
                read, results = step.inputs + step.weights, step.outputs
                self.call(step)
            if made is not None:
                made.update([id(tensor) for tensor in results])
                made |= self.constants
            self.constants.clear()
            done: list[Tensor] = []
            for tensor in read:
                key = id(tensor)
                reads[key] = left = reads[key] - 1
                if left <= 0 and (made is None or key in made) and key not in wanted and key in self.values:
                    done.append(tensor)
            for tensor in results:
                key = id(tensor)
                if reads.get(key, 0) <= 0 and key not in wanted:
                    done.append(tensor)
            for tensor in done:
                if eager:
                    waiting.put(tensor, self._until(tensor))
                else:
                    self.drop(id(tensor))

    def _until(self, tensor: Tensor) -> int:
        """The number of the op until which a tensor is held that nothing reads any more."""
        return self.longer.get(id(tensor), tensor.held) if self.longer else tensor.held

    def _let_go(self, waiting: Held, number: int) -> None:
        """Before the call of this number, what the code held until then goes. What was kept for the gradient of a
        result goes with it, unless something else needs that."""
        gone: list[int] = []
        for key in waiting.before(number):
            value = self.values.get(key)
            if value is not None and value.grad:
                gone.append(key)
            self.drop(key)
        for key in gone:
            if self.tape and key not in self.asked:
                forget(self, key)

    def _stretch(
        self, stretch: Stretch, reads: dict[int, int], wanted: Collection[int]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """A checkpointed stretch: no tape inside, its outer inputs held for the second run. Of a function with a
        backward pass of its own what that saves is held instead."""
        outer = outer_of(stretch)
        inner = [tensor for call in calls_in(stretch.steps) for tensor in call.outputs]
        results = [tensor for tensor in inner if reads.get(id(tensor), 0) > 0 or id(tensor) in wanted]
        keys = tuple(id(tensor) for tensor in results)
        own = stretch.invocation.own
        among = {id(tensor) for tensor in inner}
        saved = {id(tensor) for tensor in own.saved if id(tensor) in among} if own is not None else set()
        recording, self.records = self.records, False
        outside, self.last_kept = self.last_kept, 0
        self.run(stretch.steps, {*keys, *saved})
        self.records = recording
        arguments = stretch.invocation.arguments
        if arguments is not None and not any(self.value(tensor).grad for tensor in arguments):
            # As a function of tensors that ask for no gradient: what trains inside gets none.
            for key in keys:
                if key in self.values:
                    self.values[key].grad = False
            self.passed_over |= {id(weight) for call in calls_in(stretch.steps) for weight in call.weights}
        if own is not None:
            self._written(stretch, own, outer)
            for key in saved.difference(keys):
                self.drop(key)
        elif recording and any(self.values[key].grad for key in keys if key in self.values):
            held = {id(tensor): self.value(tensor) for tensor in outer}
            for value in held.values():
                self.memory.keep(value.storage)
            self.tape.append(Region(stretch.steps, held, keys, stretch.invocation.reentrant, self.last_kept))
            self.asked.update(held)
        self.last_kept = max(outside, self.last_kept)
        return outer, results

    def _written(self, stretch: Stretch, own: OwnBackward, outer: Sequence[Tensor]) -> None:
        """What stays of a function whose backward pass the code itself writes: what it saves."""
        operands = [(id(tensor), self.value(tensor)) for tensor in outer if self.value(tensor).grad]
        for key in map(id, own.results):
            if key in self.values:
                self.values[key].grad = bool(operands) and is_floating(self.values[key].dtype)
        if self.records and operands:
            values = {id(tensor): self.value(tensor) for tensor in own.saved}
            for value in values.values():
                self.memory.keep(value.storage)
            self.tape.append(WrittenBackward(calls_in(stretch.steps)[0], own, values, operands))
            self.asked.update([key for key, _ in operands])

    def drop(self, key: int) -> None:
        """Nothing reads the tensor any more."""
        value = self.values.pop(key, None)
        if value is not None:
            self.memory.release(value.storage)
            if key in self.gradients:
                self.drop_gradient(key)

    def value(self, tensor: Tensor) -> Value:
        """Where a tensor lies. Constants are made when they are first read; single numbers take no room."""
        key = id(tensor)
        found = self.weights.get(key) or self.values.get(key)
        if found is not None:
            return found
        there = self.finished.get(id(tensor.gradient_of)) if tensor.gradient_of is not None else None
        if there is not None:
            found = self.values[key] = self.memory.alias(there, there.shape, there.strides)
            self.constants.add(key)
            return found
        dtype = self.dtype_of(tensor)
        if tensor.view_of is not None:
            whole = self.wholes.get(id(tensor.view_of))
            there_before = id(tensor.view_of) in self.values or (whole is not None and whole.storage.holds > 0)
            if whole is None or not there_before:
                whole = self.wholes[id(tensor.view_of)] = self.value(tensor.view_of)
            found = self.memory.alias(whole, tensor.shape, None)
            if not there_before and self.reads.get(id(tensor.view_of), 0) <= 0:
                self.drop(id(tensor.view_of))
        elif tensor.shape == () and tensor.data is not None:
            found = Value(Storage(Line(), "temporaries", 0), self.memory.form((), dtype))
        else:
            found = self.memory.new(tensor.shape, dtype)
        found.grad = tensor.requires_grad
        self.values[key] = found
        self.constants.add(key)
        return found

    def dtype_of(self, tensor: Tensor) -> str:
        """The dtype that a tensor of no op is made in: that of the one that it is made alike, or the step's."""
        halved = self.halved.get(id(tensor.as_wide_as)) if is_floating(tensor.dtype) else None
        if tensor.dtype != "float":
            return halved or tensor.dtype
        if id(tensor) in self.cast_by_code:
            return "float32"
        source = self.values.get(id(tensor.as_wide_as))
        if source is not None and is_floating(source.dtype):
            return source.dtype
        return halved or resolve(tensor.dtype, self.dtype)

    # Running one call.

    def call(self, call: Call) -> None:
        """One op: its results are added to `values`, what it keeps to the tape."""
        if call.op.rebases:
            lying = as_it_lies(self, call)
            if lying is None:
                return
            call = lying
        if not call.outputs:
            return
        memory, values = self.memory, self.values
        memory.timeline.mark(self.phase, call)
        operands = [(id(tensor), self.value(tensor)) for tensor in call.inputs]
        weights: list[Keyed] = []
        if call.weights:
            among = {key for key, _ in operands}
            weights = [(id(w), self.value(w)) for w in call.weights if id(w) not in among]
        if call.frozen and self.dated:
            operands, weights = as_it_was(call, operands), as_it_was(call, weights)
        half = self.autocast.half(call, self.dtype)
        steps = self.planner.steps(call, [value for _, value in operands], half)
        if steps:
            # What it is given is held until all of them are done.
            held, self.constants = self.constants, set()
            self.run(steps, {id(call.outputs[0])})
            self.constants |= held
            return
        scratch: list[Storage] = []
        row: OpRule | None = None
        if half is not None:
            row = self.planner.row(call, operands, half)
            operands, weights, casts, scratch = self.autocast.cast(call, row, operands, weights, half, self.records)
            self.tape += casts
            if row.to_training and id(call.outputs[0].as_wide_as) in self.halved:
                row = replace(row, to_training=False, autocast="half")
        plan = self.planner.plan(call, row, operands, weights, half, self.records)
        # What runs where nothing has a gradient is not known of a kind that says so of constants.
        if (plan.flows or plan.row.gradient == "none") and (plan.row.library or not plan.row.known):
            memory.left_out.setdefault(not_known(call, plan.row.library))
        inputs = [value for _, value in operands]
        if inputs and is_in_place(call):
            note_if_saved(self, call, inputs[0].storage)
        for at, form in plan.copies:
            given = inputs[at]
            inputs[at] = copy = Value(memory.place(form), form, given.grad, given.weight)
            scratch.append(copy.storage)
        if not self.records and plan.flows and plan.row.keeps:
            # What a kernel itself makes is there when it has run.
            self.last_kept = call.number + any(
                kept.what in MADE or isinstance(kept.what, New) for kept in plan.row.keeps
            )
        stopped = self.stops is not None and call.number >= self.stops
        scratch += [memory.room(lot) for lot in plan.scratch] if not stopped else []
        masks: list[Storage] = []
        if plan.flows and self.records and plan.row.mask_first and memory.chip is not None:
            masks = [self._keep(what, at, inputs, weights, ()) for what, at in plan.keeps if what == "new"]
        results: list[Keyed] = []
        for tensor, (form, shared, grad) in zip(call.outputs, plan.results, strict=True):
            if shared:
                storage = memory.hold(inputs[0].storage)
            else:
                spare = self._spare(call, tensor, form.dtype) if plan.reuses else None
                if spare is not None:
                    form = spare.form
                if spare is not None:
                    storage = memory.hold(spare.storage)
                else:
                    storage = memory.place(form) if not stopped else Storage(Line(), "temporaries", 0)
            # A reshape that has to copy makes no view.
            viewed = plan.viewed and (plan.kind != "view" or storage is inputs[0].storage)
            results.append((id(tensor), Value(storage, form, grad or tensor.requires_grad, None, viewed)))
        scratch += [memory.room(lot) for lot in plan.behind] if not stopped else []
        if plan.flows and self.records:
            further = [each for each in plan.keeps if each[0] != "new"] if masks else plan.keeps
            saved = masks + [
                self._positions_of(operands[at][0]) if what == "positions of" else
                self._keep(what, at, inputs, weights, results) for what, at in further
            ]  # fmt: skip
            fetched: tuple[Line, ...] = ()
            if call.offloaded:
                fetched = tuple(storage.line for storage in saved)
                for storage in saved:
                    memory.let_go(storage)
                saved = []
            self.nodes[call.derives] += self.rules.nodes(call)
            self.tape.append(
                TapeNode(call, plan, operands + weights, results, saved, fetched, self.nodes[call.derives])
            )
            self.asked.update([key for key, _ in operands])
        for storage in scratch:
            memory.release(storage)
        for key, value in results:
            if key in values:
                self.drop(key)
            values[key] = value
            if half is not None and value.dtype == half:
                self.halved[key] = half

    def _keep(
        self, what: str, at: int, inputs: Sequence[Value], weights: Sequence[Keyed], results: Sequence[Keyed]
    ) -> Storage:
        """Hold for the backward pass what a plan says."""
        memory = self.memory
        if what == "input":
            return memory.keep(inputs[at].storage)
        if what == "result":
            return memory.keep(results[at][1].storage)
        if what == "weight":
            return memory.keep(weights[at][1].storage)
        if what == "clone":
            return memory.keep_new(memory.own_line(inputs[at].form))
        storage = memory.room(at)
        storage.kept = 1
        return storage

    def _positions_of(self, pooled: int) -> Storage:
        """Hold what the op that read this operand (its key) has kept of the places of its extremes."""
        for node in reversed(self.tape):
            if isinstance(node, TapeNode) and pooled in node.asks and POSITIONS in node.plan.row.keeps and node.saved:
                return self.memory.keep(node.saved[-1])
        return Storage(Line(), "temporaries", 0)

    def _spare(self, call: Call, result: Tensor, dtype: str) -> Value | None:
        """An operand whose storage the result can take over: nothing else needs it, and it is as large."""
        for tensor in call.inputs:
            key = id(tensor)
            value = self.values.get(key)
            if value is None or self.reads.get(key, 0) > 1 or key in self.wanted or value.storage.use != "temporaries":
                continue
            if value.storage.holds == 1 and value.shape == result.shape and value.dtype == dtype:
                return value
        return None
