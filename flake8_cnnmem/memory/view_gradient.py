"""The gradients of what views were taken of."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.graph import Op
from flake8_cnnmem.memory.backward_way import BackwardPlan, Made
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.gradient_layout import as_joined, as_viewed, fresh
from flake8_cnnmem.memory.reductions import blocks_of, buffer_of, summed_axes
from flake8_cnnmem.memory.storages import Form, Memory, Value
from flake8_cnnmem.memory.tape import TapeNode
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown


def through_view(
    memory: Memory, node: TapeNode, gradient: Form, given: Sequence[Value | None], wanted: Sequence[Value]
) -> BackwardPlan:
    """The gradient of a view's input."""
    if not wanted:
        return BackwardPlan(())
    op, value = node.label.op, wanted[0]
    how = op.view_gradient
    rest: list[Made | None] = [None] * (len(wanted) - 1)
    each = size_of(gradient.dtype)
    if how in ("join", "stack", "fill"):
        # Parts without a gradient are zeros (an unbind's are one zero, repeated); slices of several axes are
        # undone one after the other.
        scratch = [
            memory.lot(result.values, each)
            for one, (_, result) in zip(given, node.results, strict=True)
            if one is None and how == "join"
        ]
        between = last_but_one(op, value) if how == "fill" else None
        # The zeros around a slice lie in row-major order (slice_backward, select_backward), and so does a stack.
        own = memory.form(value.shape, value.dtype, as_joined(given, value) if how == "join" else None)
        instead = None if between is None else memory.lot(between, each)
        return BackwardPlan([("fresh", own, None), *rest], scratch, instead=instead)
    if how == "scaled" or (how == "sum" and gradient.shape != value.shape):
        sums = [] if how == "scaled" else summed_over(memory, gradient, value)
        return BackwardPlan([("fresh", fresh(memory, value), None), *rest], sums=sums)
    strides = as_viewed(how, op, gradient, value)
    scratch = list(node.plan.temporaries)
    # A view as complex numbers, or of such, is of another dtype.
    recast = value.dtype.startswith("complex") != gradient.dtype.startswith("complex")
    dtype = value.dtype if recast else gradient.dtype
    if strides is None and value.sizes is not None and gradient.sizes is not None:
        return BackwardPlan([("new", memory.form(value.shape, dtype), None), *rest], scratch)
    return BackwardPlan([("alias", memory.form(value.shape, dtype, strides), None), *rest], scratch)


def summed_over(memory: Memory, gradient: Form, value: Value) -> list[list[int]]:
    """The blocks of the buffer of a sum of a gradient over what a value was repeated for."""
    sizes, strides, chip = gradient.sizes, gradient.strides, memory.chip
    if chip is None or sizes is None or strides is None or value.sizes is None:
        return []
    if not layout.fits(value.sizes, sizes):
        return []
    line = buffer_of(gradient.shape, strides, summed_axes(sizes, value.sizes), size_of(gradient.dtype), chip)
    return [[memory.timeline.lot(block, "temporaries") for block in blocks_of(line)]]


def last_but_one(op: Op, value: Value) -> Size | None:
    """The values of the last step but one of a slice's gradient, which takes the place of what that was made of."""
    shape = None if isinstance(value.shape, Unknown) else op.before_last_slice(value.shape)
    return None if shape is None else dims.product(shape)
