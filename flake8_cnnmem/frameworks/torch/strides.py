"""How a tensor lies in memory, as far as its making tells: whether it is contiguous, and so whether that copies it.

Strides are worked out from the call that made the tensor: views move them, elementwise ops keep them (torch's
TensorIterator does), layers of maps follow an input that is channels last, everything else writes its result in
row-major order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from flake8_cnnmem.dims import Batch, Shape, Size, multiply
from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.ops import (
    Broadcast,
    Chunk,
    Expand,
    Flatten,
    Index,
    Permute,
    Recurrent,
    Reshape,
    ScaledDotProduct,
    Split,
    Squeeze,
    Transpose,
    Unbind,
    Unflatten,
    Unsqueeze,
    Windows,
)
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown

DEPTH = 64
"""Calls that are looked back through. Behind longer chains of elementwise ops it is not known how a tensor lies."""

NOT_FOLLOWED = "how a tensor lies in memory is not known"

ROW_MAJOR = ("softmax", "log_softmax", "contiguous")
"""Kinds of elementwise ops whose results lie in row-major order whatever their input."""


def row_major(shape: Shape) -> tuple[Size, ...]:
    """The strides of a shape in row-major order, in values."""
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        step = multiply(step, size)
    return tuple(reversed(strides))


def strides_of(tensor: Tensor, depth: int = DEPTH) -> tuple[Size, ...] | None:
    """The stride of each axis; None where it is not known."""
    shape, call = tensor.shape, tensor.call
    if isinstance(shape, Unknown):
        return None
    if call is None or not call.inputs:
        return row_major(shape)
    if depth == 0:
        return None
    op: Any = call.op
    before = call.inputs[0]
    if isinstance(before.shape, Unknown):
        return None
    if op.kind in ROW_MAJOR or (isinstance(op, Recurrent) and tensor.index):
        return row_major(shape)
    if isinstance(op, Recurrent):
        # Steps come first while they are worked out: with `batch_first` the result is turned (RNN.cpp).
        turned = op.batch_first is True and len(shape) == 3
        return placed(shape, (1, 0, 2)) if turned else row_major(shape)
    if (op.like_input or isinstance(op, Broadcast)) and not op.in_place and writes_row_major(op):
        return row_major(shape)
    if op.kind == "channels_last" or (op.kind == "convolution" and _reads_channels_last(call)):
        return channels_last(shape)
    if op.like_input and op.kind not in ("copy", "cast"):
        return dense(op, shape, strides_of(before, depth - 1)) if before.shape == shape else row_major(shape)
    if op.like_input and op.kind == "cast":
        return dense(op, shape, strides_of(before, depth - 1))
    if isinstance(op, Broadcast):
        same = next((x for x in call.inputs if x.shape == shape), None)
        return row_major(shape) if same is None else dense(op, shape, strides_of(same, depth - 1))
    if isinstance(op, ScaledDotProduct):
        # The kernels write their result in the order of the queries (`empty_like`).
        return strides_of(before, depth - 1) if before.shape == shape else row_major(shape)
    if not op.view:
        return follows_input(op, before, shape, depth)
    known = strides_of(before, depth - 1)
    return None if known is None else moved(op, before.shape, shape, known)


def writes_row_major(op: Any) -> bool:
    """Whether the op's own rule says that its result lies in row-major order whatever its input."""
    from flake8_cnnmem.frameworks.torch.saved_tensors import RULES

    return RULES.row(op.kind).layout == "contiguous"


def dense(op: Any, shape: Shape, strides: tuple[Size, ...] | None) -> tuple[Size, ...] | None:
    """The strides of a result of its own that follows a tensor of these strides: in the same order, without holes."""
    if strides is None or op.in_place or strides == row_major(shape):
        return strides
    sizes, steps = (tuple(probed(each) for each in part) for part in (shape, strides))
    if not known_numbers(sizes) or not known_numbers(steps):
        return None
    found = layout.elementwise(sizes, [(sizes, steps)])
    return strides if found == steps else placed(shape, sorted(range(len(found)), key=lambda axis: -found[axis]))


PROBE = 7
"""The batch size at which orders of axes are compared."""


def probed(size: Size) -> Size:
    """A size at the batch size `PROBE`."""
    return size.multiple * PROBE if isinstance(size, Batch) else size


def known_numbers(sizes: tuple[Size, ...]) -> TypeGuard[tuple[int, ...]]:
    """Whether all of the sizes are numbers."""
    return all(isinstance(size, int) for size in sizes)


def placed(shape: Shape, order: Sequence[int]) -> tuple[Size, ...]:
    """The strides of a dense tensor whose axes lie in this order, the slowest first."""
    found: list[Size] = [0] * len(shape)
    for axis, stride in zip(order, row_major(tuple(shape[axis] for axis in order)), strict=True):
        found[axis] = stride
    return tuple(found)


def _reads_channels_last(call: Call) -> bool:
    """Whether a convolution's weight has its channels running fastest, in which order its result then lies."""
    return any(isinstance(weight, Weight) and weight.channels_last for weight in call.weights[:1])


def follows_input(op: Any, before: Tensor, shape: Shape, depth: int) -> tuple[Size, ...]:
    """Of an op that writes its result itself: channels last where its rule says that it follows an input that is."""
    if len(shape) not in (3, 4, 5) or before.call is None or isinstance(before.shape, Unknown):
        return row_major(shape)
    from flake8_cnnmem.frameworks.torch.saved_tensors import RULES

    # Asked first: to look back through all that the input was made of takes longer.
    follows = RULES.row(op.kind).layout in (("maps",) if len(shape) == 3 else ("maps", "suggested"))
    if not follows or strides_of(before, depth - 1) != channels_last(before.shape):
        return row_major(shape)
    return channels_last(shape)


def channels_last(shape: Shape) -> tuple[Size, ...]:
    """The strides of a map whose channels (axis 1) run fastest."""
    return placed(shape, (0, *range(2, len(shape)), 1))


def moved(op: Any, before: Shape, after: Shape, strides: tuple[Size, ...]) -> tuple[Size, ...] | None:
    """The strides after a view."""
    rank = len(before)
    if isinstance(op, Permute):
        return tuple(strides[axis] for axis in op.axes if isinstance(axis, int))
    if isinstance(op, Transpose):
        order = list(strides)
        if order and isinstance(op.a, int) and isinstance(op.b, int):
            order[op.a], order[op.b] = order[op.b], order[op.a]
        return tuple(order)
    if isinstance(op, Expand):
        lead = len(after) - rank
        return (0,) * lead + tuple(strides[at] if before[at] == after[at + lead] else 0 for at in range(rank))
    if isinstance(op, Squeeze):
        if op.axes is None:
            dropped = {at for at, size in enumerate(before) if size == 1}
        else:
            axes = op.axes if isinstance(op.axes, tuple) else (op.axes,)
            dropped = {axis % rank for axis in axes if isinstance(axis, int) and before[axis % rank] == 1}
        return tuple(stride for at, stride in enumerate(strides) if at not in dropped)
    if isinstance(op, Unsqueeze):
        at = op.axis % (rank + 1) if isinstance(op.axis, int) else 0
        step = multiply(strides[at], before[at]) if at < rank else 1
        return (*strides[:at], step, *strides[at:])
    if isinstance(op, (Split, Chunk)):
        return strides
    if isinstance(op, Unbind):
        at = op.axis % rank if isinstance(op.axis, int) else 0
        return strides[:at] + strides[at + 1 :]
    if isinstance(op, Windows):
        at = op.axis % rank if isinstance(op.axis, int) else 0
        return (*strides[:at], multiply(strides[at], op.step), *strides[at + 1 :], strides[at])
    if isinstance(op, Index):
        return indexed(op.items, strides)
    if isinstance(op, (Reshape, Flatten, Unflatten)):
        # What is no view is a copy, in row-major order.
        return viewed(before, strides, after) or row_major(after)
    return strides if len(strides) == len(after) else None


def indexed(items: tuple[Any, ...], strides: tuple[Size, ...]) -> tuple[Size, ...] | None:
    """The strides after a basic index."""
    used = sum(1 for item in items if item is not None and item is not Ellipsis)
    result: list[Size] = []
    at = 0
    for item in items:
        if item is Ellipsis:
            rest = len(strides) - used
            result.extend(strides[at : at + rest])
            at += rest
        elif item is None:
            result.append(0)
        elif isinstance(item, slice):
            step = item.step if isinstance(item.step, int) else 1
            result.append(multiply(strides[at], step))
            at += 1
        else:
            at += 1
    return (*result, *strides[at:])


def viewed(before: Shape, strides: tuple[Size, ...], after: Shape) -> tuple[Size, ...] | None:
    """The strides of a view of another shape, or None where only a copy has it (`computeStride` in ATen/TensorUtils).

    Axes that lie one behind the other are taken as one chunk; the new sizes have to fill chunk by chunk.
    """
    chunks: list[tuple[Size, Size]] = []
    for size, stride in zip(before, strides, strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][1] == multiply(stride, size):
            chunks[-1] = (multiply(chunks[-1][0], size), stride)
        else:
            chunks.append((size, stride))
    result: list[Size] = []
    rest = list(reversed(after))
    for total, base in reversed(chunks):
        filled: Size = 1
        while rest and filled != total:
            size = rest.pop(0)
            result.append(multiply(base, filled))
            filled = multiply(filled, size)
            if isinstance(filled, Unknown) or (isinstance(filled, int) and isinstance(total, int) and filled > total):
                return None
        while rest and rest[0] == 1:
            result.append(multiply(base, filled))
            rest.pop(0)
        if filled != total:
            return None
    if any(size != 1 for size in rest):
        return None
    result.extend(1 for _ in rest)
    return tuple(reversed(result))


def is_row_major(tensor: Tensor) -> bool:
    """Whether a tensor lies in row-major order; unknown ones are taken to."""
    strides = strides_of(tensor)
    if strides is None or isinstance(tensor.shape, Unknown):
        return True
    wanted = row_major(tensor.shape)
    return all(size == 1 or own == step for size, own, step in zip(tensor.shape, strides, wanted, strict=False))


def is_lost(tensor: Tensor) -> bool:
    """Whether it is not known how a tensor of a known shape lies."""
    return not isinstance(tensor.shape, Unknown) and strides_of(tensor) is None
