"""The forward pass: results, what autograd keeps of each op, and what dies as soon as nothing reads or holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from flake8_cnnmem.frameworks.rules import Row, Rules
from flake8_cnnmem.graph import Call, OwnBackward, Site, Tensor
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.dtypes import half_of, is_floating, resolve, size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.keeping import Keyed, lines_of, node_of
from flake8_cnnmem.memory.layout import in_order
from flake8_cnnmem.memory.placing import (
    computed_dtype,
    is_in_place,
    is_view,
    is_viewed,
    own_strides,
    shared_strides,
    shares_input,
)
from flake8_cnnmem.memory.products import as_read, summed
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import Entry, Operand, Region, Step, Stretch, Written, calls_in, first_number
from flake8_cnnmem.memory.variants import dropped_out, variants


@dataclass(slots=True)
class Forward:
    """The state of a forward pass. `values` are the tensors that something still reads, by `id`."""

    memory: Memory
    rules: Rules
    dtype: str
    """The training dtype."""
    weights: dict[int, Value]
    autocast: Autocast
    names: dict[int, str] = field(default_factory=dict)
    """Module path by the layer instance's id."""
    values: dict[int, Value] = field(default_factory=dict)
    tape: list[Entry] = field(default_factory=list)
    records: bool = True
    phase: str = "forward"
    """What the timeline calls what is run."""
    reads: Counter[int] = field(default_factory=Counter)
    """How often each tensor of the running steps is still read."""
    wanted: Collection[int] = ()
    constants: set[int] = field(default_factory=set)
    """Tensors without a call that the code made on the way."""

    # Running steps.

    def run(self, steps: Sequence[Step], wanted: Collection[int]) -> None:
        """Run the steps. Of their results those in `wanted`, and nothing else of theirs, are held afterwards."""
        reads = self._reads(steps)
        before = self.reads, self.wanted
        self.reads, self.wanted = reads, wanted
        made: set[int] = set()
        waiting: list[tuple[int, int]] = []
        read_at_all = frozenset(reads)
        for step in steps:
            gone: list[int] = []
            while waiting and waiting[0][0] < first_number(step):
                gone.append(heappop(waiting)[1])
                self.drop(gone[-1])
            for key in gone:
                if key not in read_at_all:
                    self._forget(key)
            if isinstance(step, Stretch):
                read, results = self._stretch(step, reads, wanted)
            else:
                read = [*step.inputs, *step.weights]
                results = list(step.outputs)
                self.call(step)
            made.update(id(tensor) for tensor in results)
            made |= self.constants
            self.constants.clear()
            for tensor in read:
                reads[id(tensor)] -= 1
            for key, tensor in {id(tensor): tensor for tensor in (*read, *results)}.items():
                if reads[key] <= 0 and key in made and key not in wanted:
                    if self.rules.eager:
                        heappush(waiting, (tensor.held, key))
                    else:
                        self.drop(key)
        for _, key in waiting:
            self.drop(key)
        self.reads, self.wanted = before

    def _reads(self, steps: Sequence[Step]) -> Counter[int]:
        """How often each tensor is read by the steps."""
        reads: Counter[int] = Counter()
        for step in steps:
            if isinstance(step, Stretch):
                reads.update({id(tensor): 1 for tensor in self._outer(step)})
            else:
                reads.update(id(tensor) for tensor in (*step.inputs, *step.weights))
        return reads

    @staticmethod
    def _outer(stretch: Stretch) -> list[Tensor]:
        """The tensors that a stretch reads and does not make."""
        calls = calls_in(stretch.steps)
        made = {id(tensor) for call in calls for tensor in call.outputs}
        read = {id(tensor): tensor for call in calls for tensor in (*call.inputs, *call.weights)}
        return [tensor for key, tensor in read.items() if key not in made]

    def _stretch(
        self, stretch: Stretch, reads: Counter[int], wanted: Collection[int]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """A checkpointed stretch: no tape inside, its outer inputs held for the second run. Of a function with a
        backward pass of its own what that saves is held instead."""
        outer = self._outer(stretch)
        inner = [tensor for call in calls_in(stretch.steps) for tensor in call.outputs]
        results = [tensor for tensor in inner if reads[id(tensor)] > 0 or id(tensor) in wanted]
        keys = tuple(id(tensor) for tensor in results)
        own = stretch.invocation.own
        among = {id(tensor) for tensor in inner}
        saved = {id(tensor) for tensor in own.saved if id(tensor) in among} if own is not None else set()
        recording, self.records = self.records, False
        self.run(stretch.steps, {*keys, *saved})
        self.records = recording
        if own is not None:
            self._written(stretch, own, outer)
            for key in saved.difference(keys):
                self.drop(key)
        elif recording and any(self.values[key].grad for key in keys if key in self.values):
            held = {id(tensor): self.value(tensor) for tensor in outer}
            for value in held.values():
                self.memory.keep(value.storage)
            self.tape.append(Region(stretch.steps, held, keys))
        return outer, results

    def _written(self, stretch: Stretch, own: OwnBackward, outer: Sequence[Tensor]) -> None:
        """What stays of a function whose backward pass the code itself writes: what it saves."""
        operands = tuple(Operand(id(tensor), self.value(tensor)) for tensor in outer if self.value(tensor).grad)
        for key in map(id, own.results):
            if key in self.values:
                self.values[key].grad = bool(operands) and is_floating(self.values[key].dtype)
        if self.records and operands:
            values = {id(tensor): self.value(tensor) for tensor in own.saved}
            for value in values.values():
                self.memory.keep(value.storage)
            self.tape.append(Written(calls_in(stretch.steps)[0], own, values, operands))

    def drop(self, key: int) -> None:
        """Nothing reads the tensor any more."""
        value = self.values.pop(key, None)
        if value is not None:
            self.memory.release(value.storage)

    def _forget(self, key: int) -> None:
        """The code has let go of a result that nothing reads: what was kept for its gradient goes with it."""
        asked = Counter(asked for entry in self.tape for asked in entry.asks)
        gone = {key}
        for at in range(len(self.tape) - 1, -1, -1):
            entry = self.tape[at]
            gives = list(entry.gives)
            if gone.isdisjoint(gives) or any(asked[one] or one in self.values for one in gives):
                continue
            del self.tape[at]
            for storage in entry.saved:
                self.memory.let_go(storage)
            asked.subtract(list(entry.asks))
            gone.update(one for one in entry.asks if not asked[one] and one not in self.values)

    def value(self, tensor: Tensor) -> Value:
        """Where a tensor lies. Constants are made when they are first read; single numbers take no room."""
        key = id(tensor)
        found = self.weights.get(key) or self.values.get(key)
        if found is not None:
            return found
        dtype = resolve(tensor.dtype, self.dtype)
        if tensor.shape == () and tensor.data is not None:
            found = Value(Storage(Line(), "temporaries"), (), (), (), dtype)
        else:
            found = self.memory.new(tensor.shape, dtype)
        found.grad = tensor.requires_grad
        self.values[key] = found
        self.constants.add(key)
        return found

    # Running one call.

    def call(self, call: Call) -> None:
        """One op: its results are added to `values`, what it keeps to the tape."""
        if not call.outputs:
            return
        memory, dtype = self.memory, self.dtype
        self.mark(self.phase, call)
        among = {id(tensor) for tensor in call.inputs}
        operands: list[Keyed] = [(id(tensor), self.value(tensor)) for tensor in call.inputs]
        row = self.rules.row(call.op.kind, *variants(call, [value for _, value in operands]))
        if dropped_out(call):
            row = replace(row, keeps=(), in_place=None, forward=(), backward=(), gradient="same")
        weights: list[Keyed] = [(id(w), self.value(w)) for w in call.weights if id(w) not in among]
        flows = call.grad and row.gradient != "none" and any(value.grad for _, value in (*operands, *weights))
        records = flows and self.records

        half = call.autocast or half_of(dtype)
        scratch: list[Storage] = []
        if half is not None:
            operands, weights, casts, made = self.autocast.cast(call, row, operands, weights, half)
            self.tape += casts if self.records else []
            scratch += made
        inputs = [value for _, value in operands]
        if row.reads:
            inputs, made = as_read(memory, call, row.reads, inputs)
            scratch += made
        computed = computed_dtype(row, inputs, half, dtype)
        within = half is not None and row.autocast == "within"
        each = size_of("float32" if within else computed)
        scratch += [memory.allocate(line) for line in lines_of(memory, row.forward, call, inputs, each)]
        results = [self._result(call, row, inputs, tensor, computed) for tensor in call.outputs]
        for value in results:
            value.grad = flows and is_floating(value.dtype)
            # A reshape that has to copy makes no view.
            shared = not is_view(call, row) or value.storage is inputs[0].storage
            value.viewed = flows and shared and is_viewed(call, row, inputs)
        if records:
            node = node_of(memory, call, row, operands, weights, inputs, results, each)
            if within:
                # The gradient arrives in half, too.
                node.temporaries += (memory.line(results[0].values, each),)
            self.tape.append(node)
        for storage in scratch:
            memory.release(storage)
        for tensor, value in zip(call.outputs, results, strict=True):
            self.drop(id(tensor))
            self.values[id(tensor)] = value

    def _result(self, call: Call, row: Row, inputs: Sequence[Value], tensor: Tensor, computed: str) -> Value:
        """Where one of the call's results lies."""
        memory = self.memory
        dtype = computed if tensor.dtype == "float" else tensor.dtype
        sizes = memory.sizes(tensor.shape)
        first = inputs[0] if inputs else None
        if first is not None and is_in_place(call):
            return memory.alias(first, tensor.shape, first.strides)
        if first is not None and shares_input(call, row, first, dtype):
            strides = shared_strides(call, first, sizes)
            if strides is not None or sizes is None or first.sizes is None:
                return memory.alias(first, tensor.shape, strides)
        spare = self._spare(call, row, tensor, dtype)
        if spare is not None:
            return memory.alias(spare, tensor.shape, spare.strides)
        if sizes is not None and row.layout == "time first" and tensor.index == 0 and len(sizes) == 3:
            order = (1, 0, 2) if getattr(call.op, "batch_first", False) is True else (0, 1, 2)
            return memory.new(tensor.shape, dtype, in_order(sizes, order))
        plan = summed(call, inputs) if call.op.kind == "einsum" and row.reads else None
        if plan is not None and sizes is not None:
            return memory.new(tensor.shape, dtype, in_order(sizes, plan.result))
        copied = sizes is None or is_view(call, row)
        return memory.new(tensor.shape, dtype, None if copied or sizes is None else own_strides(row, inputs, sizes))

    def _spare(self, call: Call, row: Row, result: Tensor, dtype: str) -> Value | None:
        """An operand whose storage the result can take over: nothing else needs it, and it is as large."""
        if not row.reuses:
            return None
        for tensor in call.inputs:
            key = id(tensor)
            value = self.values.get(key)
            if value is None or self.reads[key] > 1 or key in self.wanted or value.storage.use != "temporaries":
                continue
            if value.storage.holds == 1 and value.shape == result.shape and value.dtype == dtype:
                return value
        return None

    def mark(self, phase: str, call: Call) -> None:
        """From here on the step is at this call."""
        if phase == "forward" and call.function == "loss" and call.within is None:
            self.memory.timeline.mark("loss")
            return
        self.memory.timeline.mark(phase, *self._place(call))

    def name_of(self, call: Call) -> str:
        """What a `Moment` calls the op."""
        return self._place(call)[0]

    def _place(self, call: Call) -> tuple[str, Site | None]:
        """What a message calls the op, and where it stands: a layer by its path, at its construction; a function by
        the path of the module that calls it and its own name, at the call."""
        inside = call.within
        if inside is not None and getattr(getattr(inside.layer, "cls", None), "site", None) is None:
            for invocation in inside.ancestry():
                path = self.names.get(id(invocation.layer))
                if path:
                    return path, invocation.layer.site or call.site
        own = call.function or call.op.kind
        path = "" if inside is None else self.names.get(id(inside.layer))
        return (f"{path}.{own}" if path else own), call.site
