"""The backward pass: the tape in reverse, gradients that come and go, parameter gradients that stay.

After torch/csrc/autograd/engine.cpp: a node runs once all its results' gradients have arrived; then what it kept
and the gradients that it read are released, and what it made is handed on, added to what is there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.graph import Op, Tensor, calls_behind
from flake8_cnnmem.memory import layout, views
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.placing import is_in_place
from flake8_cnnmem.memory.products import batched, is_matrix
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.tape import Entry, Node, Operand, Region, Written, steps_of
from flake8_cnnmem.ops import Unbind
from flake8_cnnmem.unknown import Unknown


@dataclass(slots=True)
class Backward:
    """The state of a backward pass. `gradients` are those on their way, `finished` those of the weights."""

    memory: Memory
    rules: Rules
    forward: Forward
    gradients: dict[int, Value] = field(default_factory=dict)
    finished: dict[int, Value] = field(default_factory=dict)
    uses: Counter[int] = field(default_factory=Counter)
    """How many nodes of the running tape still have to give a weight its gradient."""
    on_weight: Callable[[int, Value], bool] | None = None
    """Asked when a weight's gradient is there; True if it has been used up (TensorFlow updates at once)."""

    def run(self, tape: list[Entry]) -> None:
        """Run the tape from its end. It is empty afterwards."""
        before, self.uses = self.uses, uses_of(tape)
        while tape:
            entry = tape.pop()
            if isinstance(entry, Region):
                self._region(entry)
            elif isinstance(entry, Written):
                self._written(entry)
            else:
                self._node(entry)
        self.uses = before

    def _region(self, region: Region) -> None:
        """A checkpointed stretch: forward once more, now with a tape, then back."""
        if not any(key in self.gradients for key in region.results):
            self.discard(region)
            return
        forward = self.forward
        outside, forward.values = forward.values, dict(region.outer)
        tape, forward.tape = forward.tape, []
        forward.records, forward.phase = True, "recompute"
        forward.run(region.steps, set(region.results))
        for key in region.results:
            forward.drop(key)
        inner, forward.tape = forward.tape, tape
        forward.values = outside
        self.discard(region)
        self.run(inner)

    def _written(self, entry: Written) -> None:
        """A function's own backward pass: run as it is written, on the gradients and on what the function saved."""
        memory, forward, own = self.memory, self.forward, entry.backward
        arrived = {key: self.gradients.pop(key) for key in map(id, own.results) if key in self.gradients}
        if not arrived:
            self._not_reached(entry)
            return
        forward.mark("backward", entry.label)
        outside, forward.values = forward.values, dict(entry.values)
        for tensor, result in zip(own.given, own.results, strict=True):
            # What no gradient has reached is handed in as zeros.
            value = arrived.get(id(result))
            forward.values[id(tensor)] = value or memory.new(result.shape, forward.dtype)
        recording, phase, forward.records, forward.phase = forward.records, forward.phase, False, "backward"
        answers = {
            id(argument): gradient
            for argument, gradient in zip(own.arguments, own.gradients, strict=False)
            if isinstance(argument, Tensor) and isinstance(gradient, Tensor)
        }
        calls = [call for call in calls_behind(answers.values()) if call.number >= own.first]
        forward.run(steps_of(calls), {id(gradient) for gradient in answers.values()})
        made: list[Value] = []
        for operand in entry.operands:
            answer = answers.get(operand.key)
            found = forward.values.get(id(answer)) if answer is not None else None
            value = operand.value
            made.append(
                memory.alias(found, value.shape, found.strides) if found else memory.new(value.shape, value.dtype)
            )
        for key in {id(gradient) for gradient in answers.values()}.difference(map(id, own.given), entry.values):
            forward.drop(key)
        for tensor in own.given:
            forward.drop(id(tensor))
        forward.values, forward.records, forward.phase = outside, recording, phase
        self.discard(entry)
        for operand, handed in zip(entry.operands, made, strict=True):
            self._hand_on(operand, handed)
        self._ended(entry)

    def _not_reached(self, entry: Node | Written) -> None:
        """No gradient has come this far: what was kept goes, and the entry's weights wait for one node less."""
        self.discard(entry)
        self._ended(entry)

    def _ended(self, entry: Node | Written) -> None:
        for operand in entry.operands:
            if is_weight(operand.value):
                self._one_less(operand.key)

    def discard(self, entry: Entry) -> None:
        """Let go of what an entry has kept."""
        for storage in entry.saved:
            self.memory.let_go(storage)

    def _node(self, node: Node) -> None:
        given = [self.gradients.pop(key, None) for key, _ in node.results]
        arrived = [gradient for gradient in given if gradient is not None]
        if not arrived:
            self._not_reached(node)
            return
        self.forward.mark("backward", node.label)
        wanted = [operand for operand in node.operands if operand.value.grad]
        if node.kind == "view":
            made = self._view(node, given, wanted)
        elif node.kind == "cast":
            made = list[Value | None](self._fresh(operand, arrived[0]) for operand in wanted)
        else:
            made = self._op(node, arrived, wanted)
        if arrived:
            self._done(node, arrived)
        for operand, handed in zip(wanted, made, strict=True):
            if handed is not None:
                self._hand_on(operand, handed)
            if is_weight(operand.value):
                self._one_less(operand.key)

    # Gradients of operands.

    def _op(self, node: Node, arrived: list[Value], wanted: Sequence[Operand]) -> list[Value | None]:
        memory, kind = self.memory, node.row.gradient
        gradient = arrived[0]
        scratch = [memory.allocate(line) for line in node.temporaries]
        if node.row.reads == "matrix" and not is_matrix(node.label, [one.value for one in node.operands[:2]], gradient):
            scratch.append(memory.allocate(self._line(gradient)))
        if is_in_place(node.label) and node.operands[0].value.viewed:
            # CopySlices: a copy of the gradient to write into, and a clone of the part that is written.
            scratch += [memory.allocate(self._line(gradient)) for _ in range(2)]
        if kind in ("new", "reuse"):
            # The gradient of an operand that was repeated is made in full, and then summed.
            full = [shape for operand in wanted if (shape := repeated(node, operand)) is not None]
            each = size_of(gradient.dtype)
            scratch += [memory.allocate(memory.line(dims.product(shape), each)) for shape in full]
        made: list[Value | None] = []
        for operand in wanted:
            value = operand.value
            if node.label.op.kind == "matmul" and repeated(node, operand) is not None:
                made.append(None)
                continue
            if node.row.gradient == "signed":
                kind = "same" if operand is node.operands[0] else "new"
            if kind in ("same", "spread") and (kind == "spread" or self._same_shape(gradient, value)):
                made.append(memory.alias(gradient, value.shape, self._spread(kind, gradient, value)))
            elif kind == "reuse" and gradient.storage.holds == 1 and self._same_shape(gradient, value):
                made.append(memory.alias(gradient, value.shape, gradient.strides))
            elif kind == "parts":
                made.append(memory.alias(gradient, value.shape, self._part(gradient, value)))
            else:
                made.append(self._fresh(operand, gradient, node.row.layout))
        if None in made:
            # A product's repeated operands are a node of their own: the sum comes when the product's own is done.
            self._done(node, arrived)
            made = [one or self._fresh(operand, gradient) for one, operand in zip(made, wanted, strict=True)]
        for storage in scratch:
            memory.release(storage)
        return made

    def _done(self, node: Node, arrived: list[Value]) -> None:
        """Let go of what a node has read."""
        for gradient in arrived:
            self.memory.release(gradient.storage)
        arrived.clear()
        self.discard(node)

    def _fresh(self, operand: Operand, gradient: Value, placed: str = "like") -> Value:
        """A gradient of the operand's size: laid out like it, channels last if it is ("suggested"), or contiguous."""
        value = operand.value
        use = "gradients" if value.weight is not None and operand.key not in self.finished else "temporaries"
        sizes, strides = value.sizes, value.strides
        if sizes is not None and strides is not None:
            if placed == "suggested":
                strides = layout.suggested(sizes, sizes, strides)
            elif placed == "contiguous" or not layout.is_dense(sizes, strides):
                strides = None
        return self.memory.new(value.shape, value.dtype, strides, use)

    def _line(self, value: Value) -> Line:
        return self.memory.line(value.values, size_of(value.dtype))

    @staticmethod
    def _same_shape(gradient: Value, value: Value) -> bool:
        return gradient.shape == value.shape

    @staticmethod
    def _spread(kind: str, gradient: Value, value: Value) -> tuple[int, ...] | None:
        if value.sizes is None:
            return None
        return (0,) * len(value.sizes) if kind == "spread" else gradient.strides

    @staticmethod
    def _part(gradient: Value, value: Value) -> tuple[int, ...] | None:
        if value.sizes is None or gradient.strides is None:
            return None
        if len(gradient.strides) == len(value.sizes):
            return gradient.strides
        return layout.contiguous(value.sizes)

    def _view(self, node: Node, given: Sequence[Value | None], wanted: Sequence[Operand]) -> list[Value | None]:
        """The gradient of a view's input."""
        memory, op = self.memory, node.label.op
        if not wanted:
            return []
        operand = wanted[0]
        value = operand.value
        how = views.gradient_kind(op)
        gradient: Value = next(one for one in given if one is not None)
        rest: list[Value | None] = [None] * (len(wanted) - 1)
        if how in ("join", "fill") and not views.takes_nothing(op):
            # Parts without a gradient are zeros (an unbind's are one zero, repeated); slices of several axes are
            # undone one after the other.
            missing = [
                memory.line(result.values, size_of(gradient.dtype))
                for one, (_, result) in zip(given, node.results, strict=True)
                if one is None and how == "join" and not isinstance(op, Unbind)
            ]
            if how == "fill":
                missing += self._between(op, value, gradient)
            scratch = [memory.allocate(line) for line in missing]
            made = self._fresh(operand, gradient)
            for storage in scratch:
                memory.release(storage)
            return [made, *rest]
        if how == "sum" and gradient.shape != value.shape:
            return [self._fresh(operand, gradient), *rest]
        strides = self._view_strides(how, node, gradient, value)
        if strides is None and value.sizes is not None and gradient.sizes is not None:
            return [memory.new(value.shape, gradient.dtype), *rest]
        return [memory.alias(gradient, value.shape, strides), *rest]

    def _between(self, op: Op, value: Value, gradient: Value) -> list[Line]:
        """The last step but one of a slice's gradient, beyond the gradient that it is made of."""
        if isinstance(value.shape, Unknown):
            return []
        shape = views.last_but_one(op, value.shape)
        if shape is None:
            return []
        each = size_of(gradient.dtype)
        more = dims.subtract(dims.product(shape), gradient.values)
        return [self.memory.line(more, each)]

    @staticmethod
    def _view_strides(how: str, node: Node, gradient: Value, value: Value) -> tuple[int, ...] | None:
        if gradient.sizes is None or gradient.strides is None or value.sizes is None:
            return None
        if how == "permute":
            return views.gradient_strides(node.label.op, gradient.sizes, gradient.strides)
        return layout.reshape(gradient.sizes, gradient.strides, value.sizes)

    # Handing gradients on.

    def _hand_on(self, operand: Operand, gradient: Value) -> None:
        """Add a gradient to what has arrived at the operand before."""
        memory, key = self.memory, operand.key
        before = self.gradients.get(key)
        if before is None:
            self.gradients[key] = gradient
            return
        if self.rules.accumulates_in_place and before.storage.holds == 1 and _is_dense(before):
            memory.release(gradient.storage)
            return
        total = memory.new(before.shape, before.dtype, use=before.storage.use)
        memory.release(before.storage)
        memory.release(gradient.storage)
        self.gradients[key] = total

    def _one_less(self, key: int) -> None:
        """One node less that has to give a weight its gradient; after the last one it is the parameter's."""
        self.uses[key] -= 1
        if self.uses[key] <= 0:
            gradient = self.gradients.pop(key, None)
            if gradient is not None:
                self._finish(key, gradient)

    def _finish(self, key: int, gradient: Value) -> None:
        """The gradient of a weight is complete: it is kept, or added to the one that is there (AccumulateGrad)."""
        memory = self.memory
        if key in self.finished:
            memory.release(gradient.storage)
            return
        if gradient.storage.use != "gradients" or gradient.storage.holds > 1:
            # What others hold, too, is not taken but copied.
            own = memory.new(gradient.shape, gradient.dtype, use="gradients")
            memory.release(gradient.storage)
            gradient = own
        if self.on_weight is not None and self.on_weight(key, gradient):
            return
        self.finished[key] = gradient


def is_weight(value: Value) -> bool:
    """Whether a value is a parameter that is trained."""
    return value.weight is not None and value.grad


def uses_of(tape: Sequence[Entry]) -> Counter[int]:
    """How many nodes of a tape give each weight a gradient. A checkpoint's own tape is a pass of its own."""
    return Counter(
        operand.key
        for entry in tape
        if not isinstance(entry, Region)
        for operand in entry.operands
        if is_weight(operand.value)
    )


ARITHMETIC = frozenset(
    {"multiply", "divide", "power", "maximum", "minimum", "where", "atan2", "hypot", "lerp", "masked_fill"}
)
"""Kinds whose operands are repeated to the result's shape."""


def repeated(node: Node, operand: Operand) -> Shape | None:
    """The larger shape in which an operand's gradient is made first; None where it is the operand's own."""
    result, shape = node.results[0][1].shape, operand.value.shape
    if isinstance(result, Unknown) or isinstance(shape, Unknown):
        return None
    if node.label.op.kind == "matmul":
        return batched(shape, result)
    return result if node.label.op.kind in ARITHMETIC and shape != result else None


def _is_dense(value: Value) -> bool:
    return value.sizes is None or value.strides is None or layout.is_dense(value.sizes, value.strides)
