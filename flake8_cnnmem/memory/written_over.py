"""What the gradient of a product of two tensors is written over: a kernel that works value by value takes the storage
of an operand that nothing else needs (forward_input_or_allocate_output of tensorflow/core/framework/op_kernel.h)."""

from __future__ import annotations

from flake8_cnnmem.memory.backward_way import BackwardPlan
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import TapeNode


def room_of_product(memory: Memory, node: TapeNode, way: BackwardPlan, place: int, gradient: Value) -> Storage | None:
    """What the product of the gradient and the other operand is written into: a storage that is held, or room of its
    own for one that is summed then; None for one that has the room of its result."""
    made = way.made[place]
    lot = way.crossed.get(place)
    if lot is None and (made is None or made[0] != "crossed"):
        return None
    line = memory.timeline.lots[lot][0] if lot is not None else memory.own_line(made[1]) if made is not None else None
    last = place == (way.order or range(len(way.made)))[-1]
    over = taken_over(node, node.plan.wanted[place], gradient, last, line) if line is not None else None
    if over is not None:
        return memory.hold(over)
    return None if lot is None else memory.room(lot)


def taken_over(node: TapeNode, operand: int, gradient: Value, last: bool, line: Line) -> Storage | None:
    """The storage that the gradient of an operand, made of the `gradient` that has arrived and of the other operand, is
    written into; None where both are needed elsewhere, or are smaller. `last`: no other gradient is made after it."""
    if last and gradient.storage.holds == 1 and gradient.storage.line == line:
        return gradient.storage
    for (what, at), storage in zip(node.plan.keeps, node.saved, strict=False):
        if what == "input" and at != operand and storage.holds == 1 and storage.line == line:
            return storage
    return None
