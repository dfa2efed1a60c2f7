"""Which variant of a kind's row a call needs: what an op's fields and its operands change about what is kept."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.ops import (
    AdaptivePool,
    BatchNorm,
    Convolution,
    Dropout,
    InstanceNorm,
    Recurrent,
    Reduce,
    ScaledDotProduct,
)
from flake8_cnnmem.unknown import Unknown


def variants(call: Call, inputs: Sequence[Value]) -> tuple[str, ...]:
    """Names of variants, the more special first: an op's own class is always one."""
    op = call.op
    own = type(op).__name__
    if isinstance(op, ScaledDotProduct):
        return (*_attention(op, inputs), own)
    if isinstance(op, AdaptivePool) and op.size and all(size == 1 for size in op.size):
        return ("1", own)
    if isinstance(op, Convolution) and isinstance(op.groups, int) and op.groups > 1:
        return ("grouped", own)
    if isinstance(op, BatchNorm) and op.training is False:
        return ("eval", own)
    if isinstance(op, Recurrent) and op.layers != 1 and not (isinstance(op.dropout, (int, float)) and op.dropout == 0):
        return ("dropped", own)
    if isinstance(op, InstanceNorm) and op.scale is True:
        return ("scaled", own)
    if isinstance(op, Reduce) and op.results == 1 and op.kind in ("max", "min"):
        return ("whole", "all", own) if op.axes is None else ("all", own)
    if op.kind == "fourier" and inputs and not inputs[0].dtype.startswith("complex"):
        return ("real", own)
    return (own,)


def _attention(op: ScaledDotProduct, inputs: Sequence[Value]) -> tuple[str, ...]:
    """What decides which kernel runs (aten/src/ATen/native/transformers/sdp_utils_cpp.h): fused ones want four axes
    and as many heads everywhere."""
    dropped = not (isinstance(op.dropout, (int, float)) and op.dropout == 0)
    shapes = [value.shape for value in inputs[:3] if not isinstance(value.shape, Unknown)]
    odd = any(len(shape) != 4 for shape in shapes) or len({shape[:2] for shape in shapes}) > 1
    if op.fused is False or (odd and op.grouped is not True):
        return ("math, dropped", "math") if dropped else ("math",)
    if dropped:
        return ("dropout",)
    if len(inputs) > 3 and inputs[3].grad:
        return ("masked",)
    return ("unequal",) if len({shape[-1:] for shape in shapes}) > 1 else ()


def dropped_out(call: Call) -> bool:
    """Whether a dropout surely does nothing, and hands its input on."""
    op = call.op
    return isinstance(op, Dropout) and (op.training is False or (isinstance(op.p, (int, float)) and op.p == 0))
