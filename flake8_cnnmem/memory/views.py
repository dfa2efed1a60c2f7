"""Ops that rearrange without arithmetic: which of them share their input's memory, and with which strides.

After torch/csrc/autograd/FunctionsManual.cpp for the gradients: a reshape's is a reshape, a slice's is a tensor
of zeros with the slice filled in, a split's joins what its parts get.
"""

from __future__ import annotations

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.memory import layout
from flake8_cnnmem.ops import Chunk, Elementwise, Expand, Index, Permute, Split, Transpose, Unbind
from flake8_cnnmem.ops.resample import Windows
from flake8_cnnmem.unknown import Unknown

Strides = tuple[int, ...]


def strides_of(op: Op, sizes: tuple[int, ...], strides: Strides, result: tuple[int, ...]) -> Strides | None:
    """The strides of a view's (first) result; None where the op has to copy."""
    rank = len(sizes)
    if isinstance(op, Permute) and len(op.axes) == rank:
        return tuple(strides[axis] for axis in op.axes if isinstance(axis, int))
    if isinstance(op, Transpose) and isinstance(op.a, int) and isinstance(op.b, int) and rank:
        swapped = list(strides)
        swapped[op.a], swapped[op.b] = swapped[op.b], swapped[op.a]
        return tuple(swapped)
    if isinstance(op, Expand):
        return layout.broadcast(sizes, strides, result)
    if isinstance(op, (Split, Chunk, Elementwise)):
        return strides
    if isinstance(op, Unbind) and isinstance(op.axis, int):
        return strides[: op.axis % rank] + strides[op.axis % rank + 1 :]
    if isinstance(op, Index):
        return _indexed(op, strides)
    if isinstance(op, Windows) and isinstance(op.axis, int) and isinstance(op.step, int):
        at = op.axis % rank
        return (*strides[:at], strides[at] * op.step, *strides[at + 1 :], strides[at])
    return layout.reshape(sizes, strides, result)


def _indexed(op: Index, strides: Strides) -> Strides:
    result: list[int] = []
    used = sum(isinstance(item, (int, slice)) and not isinstance(item, bool) for item in op.items)
    at = 0
    for item in op.items:
        if item is Ellipsis:
            rest = len(strides) - used
            result.extend(strides[at : at + rest])
            at += rest
        elif item is None:
            result.append(0)
        elif isinstance(item, slice):
            step = item.step if isinstance(item.step, int) else 1
            result.append(strides[at] * step)
            at += 1
        else:
            at += 1
    result.extend(strides[at:])
    return tuple(result)


def gradient_kind(op: Op) -> str:
    """How the gradient of a view's input comes about: "reshape", "permute", "sum", "fill" or "join"."""
    if isinstance(op, (Permute, Transpose, Elementwise)):
        return "permute"
    if isinstance(op, Expand):
        return "sum"
    if isinstance(op, (Split, Chunk, Unbind)):
        return "join"
    if isinstance(op, (Index, Windows)):
        return "fill"
    return "reshape"


def gradient_strides(op: Op, sizes: tuple[int, ...], strides: Strides) -> Strides:
    """The strides that a result's gradient has when it is read as the input's (for "permute")."""
    rank = len(sizes)
    if isinstance(op, Permute):
        back = [0] * rank
        for at, axis in enumerate(op.axes):
            if isinstance(axis, int):
                back[axis] = strides[at]
        return tuple(back)
    if isinstance(op, Transpose) and isinstance(op.a, int) and isinstance(op.b, int) and rank:
        swapped = list(strides)
        swapped[op.a], swapped[op.b] = swapped[op.b], swapped[op.a]
        return tuple(swapped)
    if isinstance(op, Elementwise):
        return strides
    return layout.contiguous(sizes)


def last_but_one(op: Op, shape: Shape) -> Shape | None:
    """The shape before the last axis is sliced, for an index of several axes; None for one axis or none."""
    if not isinstance(op, Index):
        return None
    cut = [at for at, item in enumerate(op.items) if item is not None and item is not Ellipsis and item != slice(None)]
    if len(cut) < 2 or Ellipsis in op.items:
        return None
    try:
        (before,) = Index(op.items[: cut[1]]).outputs(shape)
    except Mismatch:
        return None
    return None if isinstance(before, Unknown) else before


def takes_nothing(op: Op) -> bool:
    """Whether an index selects everything, so that it is no op at all (`x[:]`, `x[...]`)."""
    return isinstance(op, Index) and all(
        item is Ellipsis or (isinstance(item, slice) and item == slice(None)) for item in op.items
    )
