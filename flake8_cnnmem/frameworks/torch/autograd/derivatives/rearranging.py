"""Derivatives of what moves values: views, copies in another order, parts and what joins them, resampling."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.autograd.derivatives.formulas import Back, Gradients, rule, rule_of_several, sizes
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Concatenate, Expand, Index, Permute, Reduce, Stack, Transpose, Unbind
from flake8_cnnmem.ops.base import axis_of


@rule("view/Reshape", "view/Flatten", "view/Unflatten", "view/Squeeze", "view/Unsqueeze")
def of_reshape(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's shape."""
    return [back.reshape(gradient, back.x.shape)]


@rule("view/Elementwise")
def of_alias(back: Back, gradient: Tensor) -> Gradients:
    """The gradient as it is."""
    return [gradient]


@rule("view/Permute")
def of_permute(back: Back, gradient: Tensor) -> Gradients:
    """The gradient with its axes in the input's order."""
    op = back.call.op
    assert isinstance(op, Permute)
    rank = len(op.axes)
    order = [0] * rank
    for at, axis in enumerate(op.axes):
        place = axis_of(axis, rank)
        if not isinstance(place, int):
            return []
        order[place] = at
    return [back.op(Permute(tuple(order)), gradient, function="permute")]


@rule("view/Transpose")
def of_transpose(back: Back, gradient: Tensor) -> Gradients:
    """The gradient with the same axes swapped."""
    op = back.call.op
    assert isinstance(op, Transpose)
    return [back.op(op, gradient, function="transpose")]


@rule("view/Expand")
def of_expand(back: Back, gradient: Tensor) -> Gradients:
    """The gradient summed over the axes that were repeated."""
    return [back.sum_to(gradient, back.x.shape)]


@rule("view/Index", "copy/Index", "copy/Masked", "view/Windows", "gather", "take")
def of_index(back: Back, gradient: Tensor) -> Gradients:
    """Zeros with the part filled in."""
    first = back.restored("index", gradient, back.x.shape)
    return [first, *[None] * (len(back.operands) - 1)]


@rule_of_several("view/Split", "view/Chunk", "view/Unbind")
def of_parts(back: Back, gradients: Gradients) -> Gradients:
    """The gradients of all parts joined, zeros for a part that has none."""
    op = back.call.op
    parts = [
        Tensor(result.shape, result.dtype) if gradient is None else gradient
        for gradient, result in zip(gradients, back.call.outputs, strict=True)
    ]
    axis = getattr(op, "axis", 0)
    joining = Stack(axis) if isinstance(op, Unbind) else Concatenate(axis)
    return [back.op(joining, *parts, function="cat")]


def part(axis: int, rank: int, item: object) -> Index:
    """An index that takes one item of an axis and all of the others."""
    return Index((*[slice(None)] * axis, item, *[slice(None)] * (rank - axis - 1)))


@rule("concatenate")
def of_concatenate(back: Back, gradient: Tensor) -> Gradients:
    """Each operand's part, a view."""
    shape = sizes(gradient)
    axis = axis_of(getattr(back.call.op, "axis", 0), len(shape))
    if not isinstance(axis, int):
        return []
    found: list[Tensor | None] = []
    start: Size = 0
    for operand, wanted in zip(back.operands, back.wanted, strict=True):
        length = sizes(operand)[axis]
        if not isinstance(start, int) or not isinstance(length, int):
            # Whole samples one behind the other: each operand's part is its own size for any batch.
            found.append(back.restored("part", gradient, operand.shape) if wanted else None)
            continue
        view = part(axis, len(shape), slice(start, start + length))
        found.append(back.op(view, gradient, function="narrow") if wanted else None)
        start += length
    return found


@rule("stack")
def of_stack(back: Back, gradient: Tensor) -> Gradients:
    """One part of the gradient for each input."""
    rank = len(sizes(gradient))
    axis = axis_of(getattr(back.call.op, "axis", 0), rank)
    if not isinstance(axis, int):
        return []
    return [
        back.op(part(axis, rank, at), gradient, function="select") if wanted else None
        for at, wanted in enumerate(back.wanted)
    ]


@rule("copy/Roll", "copy/Flip")
def of_order(back: Back, gradient: Tensor) -> Gradients:
    """The gradient through the same op (a flip turned back)."""
    return [back.op(back.call.op, gradient)]


@rule("copy/Repeat", "copy/RepeatInterleave")
def of_repeat(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's shape, repetitions added up."""
    return [back.restored("repeat", gradient, back.x.shape)]


@rule("copy/ChannelShuffle", "pixel_shuffle", "unfold", "fold", "pad", "upsample_nearest", "upsample_nearest_exact",
      "upsample_linear", "upsample_bilinear", "upsample_bicubic", "upsample_trilinear")  # fmt: skip
def of_resampling(back: Back, gradient: Tensor) -> Gradients:
    """Linear, and from the gradient alone."""
    return [back.restored("resample", gradient, back.x.shape)]


@rule("reflection_pad", "replication_pad", "upsample_area")
def of_resampling_that_reads(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's shape, by the input's values."""
    return [back.derivative("resample", gradient, back.x)]


# Pools.


@rule("max_pool", "adaptive_max_pool")
def of_max_pool(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's shape, at the places of the maxima."""
    return [back.derivative("max_pool", gradient, back.x)]


@rule("average_pool")
def of_average_pool(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's shape, spread over each window."""
    return [back.derivative("average_pool", gradient, back.x)]


@rule("adaptive_average_pool")
def of_adaptive_average_pool(back: Back, gradient: Tensor) -> Gradients:
    """To one value a map it is a mean."""
    size = getattr(back.call.op, "size", ())
    if size and all(each == 1 for each in size):
        return [spread(back, gradient, True)]
    return [back.derivative("average_pool", gradient, back.x)]


# Sums.


def spread(back: Back, gradient: Tensor, divided: bool) -> Tensor:
    """A sum's gradient, repeated without a copy; a mean's is divided."""
    op, shape = back.call.op, sizes(back.x)
    if isinstance(op, Reduce) and not op.keepdims and op.axes not in (None, ()):
        axes = op.axes if isinstance(op.axes, tuple) else (op.axes,)
        gone = {axis_of(axis, len(shape)) for axis in axes}
        kept = tuple(1 if at in gone else size for at, size in enumerate(shape))
        gradient = back.reshape(gradient, kept)
    full = back.op(Expand(shape), gradient, function="expand")
    return back.scale(full) if divided else full


@rule("sum", "sum_within", "mean")
def of_sum(back: Back, gradient: Tensor) -> Gradients:
    """The gradient expanded to the input's shape, of a mean divided by the count."""
    return [spread(back, back.cast_to(gradient, back.x.dtype), back.call.op.kind == "mean")]
