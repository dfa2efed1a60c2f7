"""The forward pass: results, what autograd keeps of each op, and what dies as soon as nothing reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.rules import Kept, New, Row, Rules
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.memory import layout, views
from flake8_cnnmem.memory.dtypes import half_of, is_floating, resolve, size_of, widest
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.measures import quantity
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import Entry, Node, Operand, Region, Step, Stretch, calls_in
from flake8_cnnmem.memory.variants import dropped_out, variants
from flake8_cnnmem.unknown import Unknown

NO_GRADIENT = ("none",)


def _tape() -> list[Entry]:
    return []


@dataclass(slots=True)
class Forward:
    """The state of a forward pass. `values` are the tensors that something still reads, by `id`."""

    memory: Memory
    rules: Rules
    dtype: str
    """The training dtype."""
    weights: dict[int, Value]
    names: dict[int, str] = field(default_factory=dict)
    """Module path by the layer instance's id."""
    values: dict[int, Value] = field(default_factory=dict)
    tape: list[Entry] = field(default_factory=_tape)
    casts: dict[int, Value] = field(default_factory=dict)
    """Autocast's cache of weights in half precision."""
    records: bool = True
    reads: Counter[int] = field(default_factory=Counter)
    """How often each tensor of the running steps is still read."""
    wanted: Collection[int] = ()
    constants: set[int] = field(default_factory=set)
    """Tensors without a call that the code made on the way."""

    # Running steps.

    def run(self, steps: Sequence[Step], wanted: Collection[int]) -> None:
        """Run the steps. Of their results those in `wanted`, and nothing else of theirs, are held afterwards."""
        reads = self._reads(steps)
        before, self.reads, self.wanted = (self.reads, self.wanted), reads, wanted
        made: set[int] = set()
        for step in steps:
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
            for key in {id(tensor) for tensor in (*read, *results)}:
                if reads[key] <= 0 and key in made and key not in wanted:
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
        """A checkpointed stretch: no tape inside, its outer inputs held for the second run."""
        outer = self._outer(stretch)
        inner = [tensor for call in calls_in(stretch.steps) for tensor in call.outputs]
        results = [tensor for tensor in inner if reads[id(tensor)] > 0 or id(tensor) in wanted]
        recording, self.records = self.records, False
        self.run(stretch.steps, {id(tensor) for tensor in results})
        self.records = recording
        held = {}
        for tensor in outer:
            value = self.value(tensor)
            held[id(tensor)] = value
            self.memory.hold(value.storage)
        keys = tuple(id(tensor) for tensor in results)
        if recording and any(self.values[key].grad for key in keys if key in self.values):
            self.tape.append(Region(stretch.steps, held, keys, tuple(results)))
        else:
            for value in held.values():
                self.memory.release(value.storage)
        return outer, results

    def drop(self, key: int) -> None:
        value = self.values.pop(key, None)
        if value is not None:
            self.memory.release(value.storage)

    def value(self, tensor: Tensor) -> Value:
        """Where a tensor lies. Constants are made when they are first read."""
        key = id(tensor)
        found = self.weights.get(key) or self.values.get(key)
        if found is None:
            if tensor.shape == () and tensor.data is not None:
                found = Value(Storage(Line(), "activations"), (), (), (), resolve(tensor.dtype, self.dtype))
            else:
                found = self.memory.new(tensor.shape, resolve(tensor.dtype, self.dtype))
            found.grad = isinstance(tensor, Tensor) and tensor.requires_grad
            self.values[key] = found
            self.constants.add(key)
        return found

    # Running one call.

    def call(self, call: Call) -> None:
        """One op: its results are added to `values`, what it keeps to the tape."""
        memory = self.memory
        memory.timeline.mark(f"the forward pass, at {self.label(call)}")
        row = self.rules.row(call.op.kind, *variants(call))
        operands, weights = self._operands(call)
        if not call.outputs:
            return
        if dropped_out(call):
            row = replace(row, keeps=(), forward=(), backward=(), gradient="same")
        half = call.autocast or half_of(self.dtype)
        made: list[Storage] = []
        if half is not None:
            operands, weights = self._cast(call, row, operands, weights, half, made)
        view = bool(getattr(call.op, "view", False)) and row.gradient == "same"
        if row.matrix:
            operands = self._matrices(call, operands, made)
        inputs = [value for _, value in operands]
        flows = self.records_for(call, row, operands, weights)

        each = self._each(call, row, inputs, half)
        lines = self._lines(row.forward, call, inputs, each)
        temporaries = [memory.allocate(line) for line in lines]
        results = self._results(call, row, inputs, half, view)
        for value in results:
            value.grad = flows and is_floating(value.dtype)
            value.viewed = flows and self._is_viewed(call, row, inputs, view)

        if flows and self.records:
            node = self._node(call, row, operands, weights, results, each)
            node.kind = "view" if view else "op"
            self.tape.append(node)
        for storage in (*temporaries, *made):
            memory.release(storage)
        for tensor, value in zip(call.outputs, results, strict=True):
            self.drop(id(tensor))
            self.values[id(tensor)] = value

    def _operands(self, call: Call) -> tuple[list[tuple[int, Value]], list[tuple[int, Value]]]:
        """The inputs, and those weights that are not among them, with the keys of their gradients."""
        among = {id(tensor) for tensor in call.inputs}
        operands = [(id(tensor), self.value(tensor)) for tensor in call.inputs]
        weights = [(id(tensor), self.value(tensor)) for tensor in call.weights if id(tensor) not in among]
        return operands, weights

    def records_for(
        self, call: Call, row: Row, operands: Sequence[tuple[int, Value]], weights: Sequence[tuple[int, Value]]
    ) -> bool:
        """Whether the results need a gradient."""
        if not call.grad or row.gradient in NO_GRADIENT:
            return False
        return any(value.grad for _, value in (*operands, *weights))

    def _each(self, call: Call, row: Row, inputs: Sequence[Value], half: str | None) -> int:
        """Bytes of a value in the dtype that the op computes in."""
        return size_of(self._computed(row, inputs, half))

    def _computed(self, row: Row, inputs: Sequence[Value], half: str | None) -> str:
        if half is not None and row.autocast == "half":
            return half
        if half is not None and row.autocast == "float32":
            return "float32"
        return widest([value.dtype for value in inputs]) or resolve("float", self.dtype)

    def _lines(self, temporaries: Sequence[New], call: Call, inputs: Sequence[Value], each: int) -> list[Line]:
        shape = call.outputs[0].shape
        output = shape if isinstance(shape, Unknown) else dims.product(shape)
        return [
            self.memory.line(quantity(new.of, call, inputs, output), new.bytes or each)
            for new in temporaries
            for _ in range(new.times)
        ]

    # Results.

    def _results(self, call: Call, row: Row, inputs: Sequence[Value], half: str | None, view: bool) -> list[Value]:
        memory = self.memory
        first = inputs[0] if inputs else None
        computed = self._computed(row, inputs, half)
        results = []
        for tensor in call.outputs:
            dtype = computed if tensor.dtype == "float" else tensor.dtype
            if call.op.kind == "cast" and tensor.dtype != "float":
                dtype = tensor.dtype
            sizes = memory.sizes(tensor.shape)
            if first is not None and getattr(call.op, "in_place", False):
                results.append(memory.alias(first, tensor.shape, first.strides))
                continue
            if first is not None and self._same(call, row, first, dtype, view):
                strides = self._view_strides(call, first, sizes)
                if strides is not None or sizes is None or first.sizes is None:
                    results.append(memory.alias(first, tensor.shape, strides))
                    continue
            spare = self._spare(call, row, tensor, dtype)
            if spare is not None:
                results.append(memory.alias(spare, tensor.shape, spare.strides))
                continue
            strides = self._layout(row, inputs, sizes) if sizes is not None and not view else None
            results.append(memory.new(tensor.shape, dtype, strides))
        return results

    def _spare(self, call: Call, row: Row, result: Tensor, dtype: str) -> Value | None:
        """An operand whose storage the result can take over: nothing else needs it, and it is as large."""
        if not row.reuses:
            return None
        for tensor in call.inputs:
            key = id(tensor)
            value = self.values.get(key)
            if value is None or self.reads[key] > 1 or key in self.wanted or value.storage.use != "activations":
                continue
            if value.storage.holds == 1 and value.shape == result.shape and value.dtype == dtype:
                return value
        return None

    @staticmethod
    def _is_viewed(call: Call, row: Row, inputs: Sequence[Value], view: bool) -> bool:
        if getattr(call.op, "in_place", False) or not inputs:
            return bool(inputs) and inputs[0].viewed
        if call.op.kind == "linear":
            # With a bias, a contiguous input of more than two axes is read as a matrix, and the result as a view.
            first = inputs[0]
            if first.sizes is None or first.strides is None or len(first.sizes) < 3 or len(call.weights) < 2:
                return False
            return layout.is_contiguous(first.sizes, first.strides)
        return view or row.viewed

    def _same(self, call: Call, row: Row, first: Value, dtype: str, view: bool) -> bool:
        """Whether the result is the input's own memory, if its layout allows."""
        if view or dropped_out(call):
            return True
        if call.op.kind == "cast":
            return dtype == first.dtype
        if call.op.kind == "contiguous":
            return first.sizes is None or first.strides is None or layout.is_contiguous(first.sizes, first.strides)
        return False

    def _view_strides(self, call: Call, first: Value, sizes: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if first.sizes is None or first.strides is None or sizes is None:
            return None
        return views.strides_of(call.op, first.sizes, first.strides, sizes)

    @staticmethod
    def _layout(row: Row, inputs: Sequence[Value], sizes: tuple[int, ...]) -> tuple[int, ...]:
        known = [(value.sizes, value.strides) for value in inputs]
        full = [(own, strides) for own, strides in known if own is not None and strides is not None]
        if not full or row.layout == "contiguous" or len(full) < len(known):
            return layout.contiguous(sizes)
        if row.layout == "suggested":
            return layout.suggested(sizes, *full[0])
        if all(len(own) <= len(sizes) for own, _ in full) and any(own == sizes for own, _ in full):
            return layout.elementwise(sizes, full)
        return layout.contiguous(sizes)

    # What is kept.

    def _node(
        self,
        call: Call,
        row: Row,
        operands: Sequence[tuple[int, Value]],
        weights: Sequence[tuple[int, Value]],
        results: Sequence[Value],
        each: int,
    ) -> Node:
        node = Node(
            call,
            row,
            tuple(Operand(key, value) for key, value in (*operands, *weights)),
            tuple((id(tensor), value) for tensor, value in zip(call.outputs, results, strict=True)),
        )
        inputs = [value for _, value in operands]
        in_place = bool(getattr(call.op, "in_place", False))
        keeps = row.in_place if in_place and row.in_place is not None else row.keeps
        for kept in keeps:
            self._keep(node, kept, call, inputs, weights, results, each, in_place)
        if row.weights:
            for _, value in weights if row.weights == "all" else weights[:1]:
                self._save(node, value.storage)
        node.temporaries = tuple(self._lines(row.backward, call, inputs, each))
        return node

    def _keep(
        self,
        node: Node,
        kept: Kept,
        call: Call,
        inputs: Sequence[Value],
        weights: Sequence[tuple[int, Value]],
        results: Sequence[Value],
        each: int,
        in_place: bool,
    ) -> None:
        what = kept.what
        if isinstance(what, New):
            if _applies(kept.when, None, inputs, weights):
                for line in self._lines([what], call, inputs, each):
                    node.saved.append(self.memory.allocate(line))
            return
        if what == "y":
            self._save(node, results[0].storage)
            return
        places = range(len(inputs)) if what == "inputs" else [int(what[1:] or 0)]
        for place in places:
            if place >= len(inputs) or not _applies(kept.when, place, inputs, weights):
                continue
            if in_place and place == 0:
                node.saved.append(self.memory.allocate(inputs[0].storage.line))
            else:
                self._save(node, inputs[place].storage)

    def _save(self, node: Node, storage: Storage) -> None:
        node.saved.append(self.memory.hold(storage))

    # What is made of the operands first.

    def _cast(
        self,
        call: Call,
        row: Row,
        operands: list[tuple[int, Value]],
        weights: list[tuple[int, Value]],
        half: str,
        made: list[Storage],
    ) -> tuple[list[tuple[int, Value]], list[tuple[int, Value]]]:
        """Autocast: the operands in the dtype that it chooses for the op."""
        if row.autocast == "half":
            wanted = half
        elif row.autocast == "float32":
            wanted = "float32"
        elif row.autocast == "widest":
            wanted = widest([value.dtype for _, value in operands]) or half
        else:
            return operands, weights
        both = wanted == half
        return (
            [self._converted(call, key, value, wanted, made) for key, value in operands],
            [self._converted(call, key, value, wanted, made) if both else (key, value) for key, value in weights],
        )

    def _converted(self, call: Call, key: int, value: Value, wanted: str, made: list[Storage]) -> tuple[int, Value]:
        if not is_floating(value.dtype) or value.dtype in (wanted, "float64"):
            return key, value
        cached = self.casts.get(key)
        if cached is not None:
            return id(cached), cached
        cast = self.memory.new(value.shape, wanted, value.strides)
        cast.grad = value.grad and call.grad
        if cast.grad and self.records:
            row = self.rules.row("cast")
            self.tape.append(Node(call, row, (Operand(key, value),), ((id(cast), cast),), kind="cast"))
        if value.weight is not None and value.grad:
            self.casts[key] = cast
        else:
            made.append(cast.storage)
        return id(cast), cast

    def _matrices(self, call: Call, operands: list[tuple[int, Value]], made: list[Storage]) -> list[tuple[int, Value]]:
        """Operands of a product of matrices: a copy of each that is no such view."""
        found = []
        for key, value in operands:
            sizes, strides = value.sizes, value.strides
            if sizes is None or strides is None or len(sizes) < 3:
                found.append((key, value))
                continue
            if call.op.kind == "linear":
                flat: tuple[int, ...] = (_numbers(sizes[:-1]), sizes[-1])
            else:
                flat = (_numbers(sizes[:-2]), *sizes[-2:])
            if layout.reshape(sizes, strides, flat) is not None:
                found.append((key, value))
                continue
            copy = self.memory.new(value.shape, value.dtype)
            copy.grad = value.grad
            made.append(copy.storage)
            found.append((key, copy))
        return found

    def end_autocast(self) -> None:
        """The autocast region ends, and its cache of half-precision weights with it."""
        for cast in self.casts.values():
            self.memory.release(cast.storage)
        self.casts.clear()

    def label(self, call: Call) -> str:
        """What a message calls the op: its layer's path, else the function's name."""
        at = call.within
        while at is not None:
            name = self.names.get(id(at.layer))
            if name:
                return name
            at = at.parent
        return call.function or call.op.kind


def _applies(when: str, place: int | None, inputs: Sequence[Value], weights: Sequence[tuple[int, Value]]) -> bool:
    if when == "weight":
        return any(value.grad for _, value in weights) or any(
            value.grad and value.weight is not None for value in inputs
        )
    if when == "others":
        return any(value.grad for _, value in weights) or any(
            value.grad for at, value in enumerate(inputs) if at != place
        )
    if when == "own":
        return place is not None and inputs[place].grad
    return True


def _numbers(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
