"""Which variant of a kind's row a call needs: what an op's fields change about what is kept."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.ops import AdaptivePool, BatchNorm, Dropout, InstanceNorm, Reduce, ScaledDotProduct


def variants(call: Call, operands: Sequence[tuple[int, Value]]) -> tuple[str, ...]:
    """Names of variants, the more special first: an op's own class is always one."""
    op = call.op
    own = type(op).__name__
    if isinstance(op, AdaptivePool) and op.size and all(size == 1 for size in op.size):
        return ("1", own)
    if isinstance(op, ScaledDotProduct) and op.fused is False:
        return ("math", own)
    if isinstance(op, ScaledDotProduct) and len(operands) > 3 and operands[3][1].grad:
        return ("masked", own)
    if isinstance(op, ScaledDotProduct) and not (isinstance(op.dropout, (int, float)) and op.dropout == 0):
        return ("dropout", own)
    if isinstance(op, BatchNorm) and op.training is False:
        return ("eval", own)
    if isinstance(op, InstanceNorm) and op.scale is True:
        return ("scaled", own)
    if isinstance(op, Reduce) and op.results == 1 and op.kind in ("max", "min"):
        return ("all", own)
    return (own,)


def dropped_out(call: Call) -> bool:
    """Whether a dropout surely does nothing, and hands its input on."""
    op = call.op
    return isinstance(op, Dropout) and (op.training is False or (isinstance(op.p, (int, float)) and op.p == 0))
