"""In-place ops on views: what they leave on the tape, and their way back (CopySlices of functions/tensor.cpp).

The op stands on the tape behind the tensor that the view is of. On the way back the gradient of that one is copied; the
op's own backward pass gets a clone of the part that was written, and what it gives takes that part's place.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.tape import TapeNode
from flake8_cnnmem.memory.unreachable import forget
from flake8_cnnmem.ops import Elementwise

if TYPE_CHECKING:
    from flake8_cnnmem.memory.forward import Forward

ITSELF = Elementwise("identity")


def as_it_lies(forward: Forward, call: Call) -> Call | None:
    """What a call of `Rebased` or `ViewAgain` is where tensors lie as they do now: a reshape that had to copy is no
    view. None for one that is done with here: the op that wrote is now behind the whole tensor."""
    if len(call.inputs) != 2:
        return replace(call, op=ITSELF)
    whole, part = (forward.value(tensor) for tensor in call.inputs)
    alike = whole.storage is part.storage
    if call.op.view:
        return replace(call, inputs=call.inputs[:1]) if alike else replace(call, op=ITSELF, inputs=call.inputs[1:])
    if alike and not forward.records:
        # In a checkpointed stretch, whose second run has a tape.
        in_place(forward, call, whole, whole.grad or part.grad)
        return None
    node = forward.tape[-1] if forward.tape else None
    key = id(call.inputs[1])
    if not alike or not isinstance(node, TapeNode) or key not in node.gives or len(node.results) > 1:
        return replace(call, op=ITSELF, inputs=call.inputs[:1])
    before, written = node.operands[0]
    own = id(call.inputs[0])
    reads = [(own, Value(written.storage, written.form, written.grad)), *node.operands[1:]]
    node.wire(reads, [(id(call.outputs[0]), node.results[0][1])])
    node.whole = whole.form
    forward.asked.add(own)
    if not any(before in entry.asks for entry in forward.tape):
        # What led from the whole to the view as it was is behind nothing now.
        forward.asked.discard(before)
        forget(forward, before)
    in_place(forward, call, whole, True)
    return None


def in_place(forward: Forward, call: Call, whole: Value, grad: bool) -> None:
    """What the call gives lies where the whole tensor does; `grad`: whether a gradient goes through it."""
    result = forward.memory.alias(whole, whole.shape, whole.strides)
    result.grad, result.viewed = grad, whole.viewed
    forward.values[id(call.outputs[0])] = result


class InWhole:
    """The way back through an op that wrote into a view. `part` is the gradient that its own backward pass gets, and
    `place` where that of the view stands among the gradients that are wanted."""

    __slots__ = ("memory", "part", "place", "result")

    def __init__(self, memory: Memory, node: TapeNode, gradient: Value) -> None:
        assert node.whole is not None
        self.memory = memory
        written = node.results[0][1]
        self.result = memory.new(node.whole.shape, gradient.dtype, node.whole.strides)
        self.part = memory.new(written.shape, gradient.dtype)
        self.place = next((place for place, at in enumerate(node.plan.wanted) if at == 0), None)

    def put_back(self, handed: MutableSequence[Value | None]) -> None:
        """What the op's backward pass has given the view is put into the gradient of the whole."""
        if self.place is None:
            self.memory.release(self.result.storage)
        else:
            own = handed[self.place]
            if own is not None:
                self.memory.release(own.storage)
            handed[self.place] = self.result
        self.memory.release(self.part.storage)
