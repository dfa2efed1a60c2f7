"""What one run of a call does to memory: the row of its kind, its plan, or the ops that it is computed by.

A plan is made once for all calls that are alike in what it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from flake8_cnnmem.frameworks.rules import OpRule, Rules
from flake8_cnnmem.graph import Call
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.attention import kernel
from flake8_cnnmem.memory.chips import Chip
from flake8_cnnmem.memory.dtypes import HALVES, is_floating
from flake8_cnnmem.memory.plain_attention import (
    by_neighbours,
    filled_up,
    folded,
    powers_pooled,
    scaled_by_root,
    written_out,
)
from flake8_cnnmem.memory.plan import Plan, planned
from flake8_cnnmem.memory.storage_reuse import is_in_place, is_turned
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.tape import Keyed
from flake8_cnnmem.memory.written_losses import written_loss
from flake8_cnnmem.ops import LocalResponseNorm, Loss, Matmul, RMSNorm, ScaledDotProduct
from flake8_cnnmem.ops import strides as layout


@dataclass(slots=True)
class Planner:
    """The plans of one replay, by the rules of its framework."""

    memory: Memory
    rules: Rules
    dtype: str
    """The training dtype."""
    written: dict[int, tuple[Call, ...]] = field(default_factory=dict)
    """The steps of attention, by the id of its call."""
    plans: dict[object, Plan] = field(default_factory=dict)
    """By all that a plan depends on."""

    def steps(self, call: Call, operands: Sequence[Value], half: str | None) -> tuple[Call, ...]:
        """The calls that a call is computed by where no kernel computes it as a whole; none where one does. `half` is
        the dtype of autocast, where it is on."""
        op, chip = call.op, self.memory.chip
        if isinstance(op, ScaledDotProduct) and chip is not None:
            return self._attention(call, op, operands, half, chip)
        if isinstance(op, Loss) and half is None and f"{op.kind}/mixed" in self.rules.rows and is_mixed(operands):
            return ()
        if isinstance(op, Loss) and self.rules.by_chip:
            return written_loss(call, [value.dtype for value in operands], half)
        if isinstance(op, RMSNorm) and chip is not None:
            return scaled_by_root(call, op, operands[0], half)
        if isinstance(op, LocalResponseNorm) and chip is not None:
            return by_neighbours(call, op, half)
        if isinstance(op, Matmul) and op.product == "batches" and self.rules.by_chip:
            return folded(call, operands, half)
        return powers_pooled(call, half) if op.pools_powers and self.rules.by_chip else ()

    def _attention(
        self, call: Call, op: ScaledDotProduct, operands: Sequence[Value], half: str | None, chip: Chip
    ) -> tuple[Call, ...]:
        """The calls of attention that no fused kernel computes as it is."""
        variant = next(iter(kernel(op, operands, half, chip)), "")
        if not variant.startswith("math") and variant != "flash, padded":
            return ()
        found = self.written.get(id(call))
        if found is None:
            trained = len(operands) > 3 and operands[3].grad
            dtypes = [value.dtype for value in operands]
            found = filled_up(call, half) if variant[0] == "f" else written_out(call, dtypes, half, trained)
            self.written[id(call)] = found
        return found

    def row(self, call: Call, operands: Sequence[Keyed], half: str | None = None) -> OpRule:
        """What the framework's rules say of the call, under autocast to `half` if it is on."""
        op, chip, given = call.op, self.memory.chip, [value for _, value in operands]
        variants = op.variants(given)
        if isinstance(op, ScaledDotProduct) and chip is not None:
            variants = kernel(op, given, half, chip)
        if is_complex(given):
            fixed = ("complex, fixed",) if len(given) > 1 and not given[1].grad else ()
            if not any(value.grad for value in given):
                fixed = ("complex, constant",)
            variants = (*fixed, "complex", *variants)
        as_maps = self.rules.row(op.kind, "channels last").layout == "maps"
        if chip is not None and given and is_turned(given[0], as_maps):
            variants = (*(f"channels last, {variant}" for variant in variants), "channels last", *variants)
        if chip is not None and given and not lies_contiguous(given[0]):
            variants = (*(f"not contiguous, {variant}" for variant in variants), "not contiguous", *variants)
        if half is None and is_mixed(given):
            variants = ("mixed", *variants)
        if half is not None and given and given[0].dtype in HALVES:
            variants = (*(f"half, {variant}" for variant in variants), "half", *variants)
        elif given and given[0].dtype in HALVES:
            variants = (*(f"halves, {variant}" for variant in variants), "halves", *variants)
        row = self.rules.row(op.kind, *variants, type(op).__name__)
        if is_complex(given) and not self.rules.knows_complex(op.kind):
            row = replace(row, known=False)
        if row.autocast and is_in_place(call):
            # Autocast knows ops by their names, and those in place are others.
            row = replace(row, autocast="")
        if op.idle:
            row = replace(row, keeps=(), in_place=None, forward=(), backward=(), gradient="same")
        return row

    def plan(
        self,
        call: Call,
        row: OpRule | None,
        operands: Sequence[Keyed],
        weights: Sequence[Keyed],
        half: str | None,
        records: bool,
    ) -> Plan:
        """The plan of a call, made now or for another one like it. `row` is given where autocast has changed what the
        op reads; `records` says whether the tape keeps what the backward pass needs."""
        key: object = (
            call.op,
            call.grad,
            records,
            call.problem is None,
            half,
            row,
            # What a plan reads of a value.
            tuple([(value.form.number, value.grad, value.weight is None, value.viewed) for _, value in operands]),
            tuple([(value.form.number, value.grad, value.weight is None, value.viewed) for _, value in weights]),
            len(call.weights),
            tuple([(tensor.shape, tensor.dtype) for tensor in call.outputs]),
        )
        try:
            found = self.plans.get(key)
        except TypeError:
            # An op with a list or a slice among its fields.
            key = object()
            found = None
        if found is None:
            given = [value for _, value in operands]
            row = row or self.row(call, operands)
            own = [value for _, value in weights]
            found = self.plans[key] = planned(self.memory, call, row, given, own, half, self.dtype, records)
        return found


def is_mixed(given: Sequence[Value]) -> bool:
    """Whether operands are floats of several widths; single values take on that of the others."""
    return len({value.dtype for value in given if is_floating(value.dtype) and value.shape != ()}) > 1


def is_complex(given: Sequence[Value]) -> bool:
    """Whether an op computes with complex numbers."""
    return any(value.dtype.startswith("complex") for value in given)


def lies_contiguous(value: Value) -> bool:
    """Whether a tensor's values lie in the order of its axes, as far as its layout is known."""
    sizes, strides = value.sizes, value.strides
    return sizes is None or strides is None or layout.is_contiguous(sizes, strides)
