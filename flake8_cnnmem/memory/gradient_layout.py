"""How gradients lie in memory: as the operand, as the gradient that they are made of, or in a kernel's own order."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.rules import OpRule
from flake8_cnnmem.graph import Op
from flake8_cnnmem.memory.reductions import axes_reduced
from flake8_cnnmem.memory.storage_reuse import lie_alike
from flake8_cnnmem.memory.storages import Form, Memory, Value
from flake8_cnnmem.ops import strides as layout


def fresh(memory: Memory, value: Value, placed: str = "like") -> Form:
    """How a gradient of its own lies: like the operand, channels last if that is ("suggested"), or contiguous."""
    sizes, strides = value.sizes, value.strides
    if sizes is not None and strides is not None:
        if placed == "maps":
            strides = layout.suggested_of_maps(sizes, sizes, strides)
        elif placed == "suggested":
            strides = layout.suggested(sizes, sizes, strides)
        elif placed == "contiguous" or not layout.is_dense(sizes, strides):
            strides = None
    return memory.form(value.shape, value.dtype, strides)


def as_cast(gradient: Form, value: Value) -> tuple[int, ...] | None:
    """A cast lies as what is cast."""
    if gradient.sizes is None or gradient.strides is None or gradient.sizes != value.sizes:
        return None
    return layout.elementwise(gradient.sizes, [(gradient.sizes, gradient.strides)])


def as_computed(row: OpRule, operands: Sequence[Value], at: int, gradient: Form) -> tuple[int, ...]:
    """How arithmetic on a gradient and on what the op has kept lies: as the gradient, and where that is repeated along
    an axis as what was kept; the other way round where the slope comes first."""
    assert gradient.sizes is not None
    assert gradient.strides is not None
    beside: list[Value] = []
    if any(kept.when == "others" for kept in row.keeps):
        beside = [*operands[:at], *operands[at + 1 :]]
    elif row.keeps:
        # A condition alone, else all operands.
        beside = list(operands[:1] if operands[0].dtype == "bool" else operands)
    known = [(one.sizes, one.strides) for one in beside if one.sizes is not None and one.strides is not None]
    read = [pair for pair in known if layout.fits(pair[0], gradient.sizes)]
    own = (gradient.sizes, gradient.strides)
    return layout.elementwise(gradient.sizes, [*read, own] if row.gradient_layout == "slope" else [own, *read])


def as_part(gradient: Form, value: Value) -> tuple[int, ...] | None:
    if value.sizes is None or gradient.strides is None:
        return None
    if len(gradient.strides) == len(value.sizes):
        return gradient.strides
    return layout.contiguous(value.sizes)


def as_spread(op: Op, gradient: Form, value: Value) -> tuple[int, ...] | None:
    """The strides of a gradient that is repeated along the axes that were summed, whether these are still there as axes
    of one value or not."""
    if value.sizes is None:
        return None
    axes, steps = axes_reduced(op, len(value.sizes)), list(gradient.strides or ())
    if axes is None or not steps:
        return (0,) * len(value.sizes)
    if len(steps) == len(value.sizes):
        return tuple(0 if axis in axes else step for axis, step in enumerate(steps))
    if len(steps) + len(axes) != len(value.sizes):
        return (0,) * len(value.sizes)
    return tuple(0 if axis in axes else steps.pop(0) for axis in range(len(value.sizes)))


def as_joined(given: Sequence[Value | None], value: Value) -> tuple[int, ...] | None:
    """How gradients of parts lie that are put together: channels last if all of them do (`at::cat`)."""
    turned = [
        one is not None
        and one.sizes is not None
        and one.strides is not None
        and layout.is_channels_last(one.sizes, one.strides)
        for one in given
    ]
    return layout.channels_last(value.sizes) if value.sizes is not None and all(turned) else None


def as_added(one: Value, other: Value) -> tuple[int, ...] | None:
    """The strides of the sum of two gradients of a tensor; None where they are not known."""
    sizes, first, second = one.sizes, one.strides, other.strides
    if sizes is None or first is None or second is None or sizes != other.sizes:
        return None
    return layout.elementwise(sizes, [(sizes, first), (sizes, second)])


def as_viewed(how: str, op: Op, gradient: Form, value: Value) -> tuple[int, ...] | None:
    """The strides of a view's gradient as one of its operand: `how` says what kind of view it was."""
    if gradient.sizes is None or gradient.strides is None or value.sizes is None:
        return None
    if how == "permute":
        return op.view_gradient_strides(gradient.sizes, gradient.strides)
    return layout.reshape(gradient.sizes, gradient.strides, value.sizes)


def lies_otherwise(gradient: Value, weight: Value | None) -> bool:
    """Whether a gradient has not the strides of its parameter (AccumulateGrad, utils::obeys_layout_contract)."""
    if weight is None or gradient.sizes is None or gradient.strides is None or weight.strides is None:
        return False
    return not lie_alike(gradient.sizes, gradient.strides, weight.strides)


def is_dense(value: Value) -> bool:
    """Whether a gradient fills a block of memory, as far as that is known."""
    return value.sizes is None or value.strides is None or layout.is_dense(value.sizes, value.strides)
