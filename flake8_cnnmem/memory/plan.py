"""What one run of an op does to memory: worked out once for all calls of equal ops on operands that lie alike.

Networks repeat themselves: three calls of four have been seen before in the same model. Whatever depends only on the
op, on the forms of its operands and on whether gradients flow into them is in its `Plan`; who holds which storage is
left to the passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.rules import New, OpRule, Saved
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory import attention, batch_statistics
from flake8_cnnmem.memory.dtypes import HALVES, is_floating, resolve, size_of
from flake8_cnnmem.memory.plain_attention import CastBack
from flake8_cnnmem.memory.products import copied, gathered, second_first, summed
from flake8_cnnmem.memory.reductions import Excess, axes_reduced, blocks_of, buffer_of
from flake8_cnnmem.memory.sorting import sorted_by
from flake8_cnnmem.memory.storage_reuse import (
    computed_dtype,
    is_in_place,
    is_view,
    is_viewed,
    leading,
    own_strides,
    shared_strides,
    shares_input,
    turned_by,
)
from flake8_cnnmem.memory.storages import Form, Memory, Value, is_larger
from flake8_cnnmem.ops.strides import in_order
from flake8_cnnmem.unknown import Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.memory.backward_way import BackwardPlan

Keep: TypeAlias = "tuple[str, int]"
"""What a node keeps: a "new" block of a lot, an "input", a "result", a "weight" by its place, or a "clone" of an input
that the result overwrites."""

Made: TypeAlias = "tuple[Form, bool, bool]"
"""How a result lies, whether in the first input's memory, and whether a gradient flows into it."""


@dataclass(slots=True, eq=False)
class Plan:
    """One run of an op. Operands are its inputs and then its weights."""

    row: OpRule
    kind: str = "op"
    """ "op", "view" (the op rearranges), "cast"."""
    copies: Sequence[tuple[int, Form]] = ()
    """Inputs that are read as copies, by place."""
    scratch: Sequence[int] = ()
    """Lots that are there while the op runs."""
    results: Sequence[Made] = ()
    flows: bool = True
    """Whether a gradient flows through."""
    viewed: bool = False
    """Whether the results are views to autograd, as long as they lie in the first input's memory."""
    keeps: Sequence[Keep] = ()
    temporaries: Sequence[int] = ()
    """Lots that are there while its backward runs."""
    groups: Sequence[Sequence[int]] = ()
    """Lots that come when the gradients are made, one group after the other."""
    alone: Sequence[Sequence[int]] = ()
    """Those by the place of a result, where only that one has a gradient."""
    wanted: Sequence[int] = ()
    """The operands that want a gradient."""
    trained: Sequence[int] = ()
    """Those of them that are weights."""
    behind: Sequence[int] = ()
    """Lots as in `scratch`, asked for once the results are."""
    gathered: Sequence[int] = ()
    """The places of inputs that cuBLAS reads from copies."""
    ways: dict[Form, BackwardPlan] = field(default_factory=dict)
    """The way back, by the form of the gradient that arrives."""

    @property
    def reuses(self) -> bool:
        """Whether a result is written into the storage of an operand that nothing else needs."""
        return self.row.reuses or (self.row.reuses_dead and not self.flows)


def planned(
    memory: Memory,
    call: Call,
    row: OpRule,
    given: Sequence[Value],
    weights: Sequence[Value],
    half: str | None,
    dtype: str,
    records: bool,
) -> Plan:
    """The plan of a call. `given` are its inputs and `weights` its weights, as autocast to `half` leaves them; `dtype`
    is that of the training; `records` says whether there is a tape."""
    inputs = list(given)
    copies = list(copied(memory, call, row.reads, given, row.layout == "maps")) if row.reads else []
    passing: list[int] = []
    if row.passing:
        passing, copies = [memory.lot(form.values, size_of(form.dtype)) for _, form in copies], []
    for at, form in copies:
        memory.own_line(form)
        inputs[at] = Value(given[at].storage, form, given[at].grad, given[at].weight)
    within = half is not None and row.autocast == "within"
    computed = computed_dtype(row, inputs, half, dtype)
    if row.to_training and call.outputs[0].dtype == "float":
        # `y.to(x)`: the dtype of the model's input, whatever that of `y`.
        computed = resolve("float", dtype)
    each = size_of("float32" if within else computed)
    operands = (*given, *weights)
    wanted = [at for at, value in enumerate(operands) if value.grad and at not in row.without]
    flows = call.grad and row.gradient != "none" and bool(wanted)
    forward = lots_of(memory, row.forward, call, inputs, each)
    # A kernel's result that a single value takes over is there before what is summed up.
    result_first = row.roomy and call.outputs[0].shape == ()
    scratch = [*passing, *(() if result_first else forward), *parts_of(memory, call, row, inputs)]
    ahead = list(inputs)
    if row.one_order and weights and inputs:
        # The order of its result is that in which cuDNN reads.
        ahead[0] = Value(inputs[0].storage, leading(inputs[0].form, weights[0].form))
    placed = [result_of(memory, call, row, ahead, tensor, computed, half) for tensor in call.outputs]
    if call.op.casts and placed[0][1]:
        # To the dtype that it has: no cast, and no way back.
        row = replace(row, gradient="same")
    results = [(form, shared, flows and is_floating(form.dtype)) for form, shared in placed]
    if row.resized and is_larger(results[0][0], inputs[0].form):
        scratch.append(memory.lot(inputs[0].values, each))
    plan = Plan(row, "view" if is_view(call, row) else "op", copies, scratch, results, flows)
    if row.one_order and memory.chip is not None:
        # cuDNN reads all in one order of axes: channels last where the input has them so.
        lead = leading(inputs[0].form, (*weights, inputs[0])[0].form)
        turned = [form for value in (*inputs, *weights[:1]) for form in turned_by(lead, value.form)]
        plan.behind = [memory.lot(form.values, size_of(form.dtype)) for form in turned]
    if result_first:
        plan.behind = forward
    if row.reads == "matrix" and memory.chip is not None:
        plan.gathered = list(gathered(memory, call, inputs))
        plan.behind = [memory.lot(inputs[at].values, size_of(inputs[at].dtype)) for at in plan.gathered]
    if row.sorts:
        plan.behind = sorted_by(memory, call, inputs[0].form)
    plan.viewed = flows and is_viewed(call, row, inputs)
    if memory.chip is not None and not (flows and records) and len(call.outputs) == 1:
        # CUDA's pools work out the places of the extremes whether anything keeps them or not.
        places = [New("y", 8) for kept in row.keeps if kept.what == "positions"]
        plan.behind = [*plan.behind, *lots_of(memory, places, call, inputs, each)]
        if row.mask_first:
            # And so is a mask made.
            made = row.in_place if is_in_place(call) and row.in_place is not None else row.keeps
            masks = [kept.what for kept in made if isinstance(kept.what, New)]
            scratch += lots_of(memory, masks, call, inputs, each)
    if flows and records:
        plan.keeps = list(keeps_of(memory, call, row, inputs, weights, each))
        temporaries = lots_of(memory, row.backward, call, inputs, each)
        if within:
            # The gradient arrives in half, too.
            temporaries.append(memory.lot(results[0][0].values, each))
        if row.column_sums:
            temporaries += columns_summed(memory, results[0][0], inputs[1])
        plan.temporaries = temporaries + (passing if row.passing == "both" else [])
        plan.groups = [lots_of(memory, made, call, inputs, each) for made in row.behind]
        plan.alone = [lots_of(memory, made, call, inputs, each) for made in row.alone]
        plan.wanted = wanted
        plan.trained = [at for at in wanted if operands[at].weight is not None]
    return plan


def lots_of(memory: Memory, wanted: Sequence[New], call: Call, inputs: Sequence[Value], each: int) -> list[int]:
    """The lots of tensors that a row names; `each` are the bytes of a value that the row leaves open."""
    if not wanted:
        return []
    shape = call.outputs[0].shape
    output = shape if isinstance(shape, Unknown) else dims.product(shape)
    return [
        memory.lot(
            quantity(new.of, call, inputs, output),
            max(new.bytes, each) if new.bytes and new.widens else new.bytes or each,
        )
        for new in wanted
        for _ in range(new.times)
    ]


def parts_of(memory: Memory, call: Call, row: OpRule, inputs: Sequence[Value]) -> list[int]:
    """The lots of the buffer of a reduction that is split over the blocks of a GPU."""
    if row.batch_statistics and inputs:
        return batch_statistics.statistics(memory, call, inputs[0].form)
    if not row.partial or memory.chip is None or not inputs or inputs[0].sizes is None:
        return []
    first, axes = inputs[0], axes_reduced(call.op, len(inputs[0].sizes))
    if axes is None:
        return []
    each = size_of(first.dtype)
    partial = row.partial * max(1, each // 4) if row.deviates else row.partial
    line = buffer_of(first.shape, first.strides, axes, each, memory.chip, partial)
    return [memory.timeline.lot(block, "temporaries") for block in blocks_of(line)]


def columns_summed(memory: Memory, form: Form, second: Value) -> list[int]:
    """The lot by which the buffer of a sum over a result's rows exceeds two tensors of the second operand's size,
    which are made when it is gone (`_euclidean_dist_backward`)."""
    if memory.chip is None or form.sizes is None:
        return []
    each = size_of(form.dtype)
    buffer = buffer_of(form.shape, form.strides, (len(form.sizes) - 2,), each, memory.chip)
    behind = memory.timeline.lots[memory.lot(second.values, 2 * each)][0]
    return [memory.timeline.lot(Excess(of=buffer, over=behind), "temporaries")]


def quantity(name: str, call: Call, inputs: Sequence[Value], output: Size) -> Size:
    """How many values `name` stands for in this call: a tensor by its place, a kernel's, or a quantity of the op."""
    if name == "y":
        return output
    if name == "one":
        return 1
    if name[0] == "x" and (name[1:] or "0").isdigit():
        at = int(name[1:] or 0)
        return inputs[at].values if at < len(inputs) else 0
    shapes: list[Shape] = []
    for value in inputs:
        if isinstance(value.shape, Unknown):
            return value.shape
        shapes.append(value.shape)
    if name in attention.QUANTITIES:
        return attention.QUANTITIES[name](shapes[0], inputs)
    return call.op.quantity(name, *shapes) if shapes else NOT_KNOWN


def result_of(
    memory: Memory,
    call: Call,
    row: OpRule,
    inputs: Sequence[Value],
    tensor: Tensor,
    computed: str,
    half: str | None = None,
) -> tuple[Form, bool]:
    """How one of the call's results lies, and whether in the first input's memory."""
    dtype = tensor.dtype
    if dtype == "float":
        # What is real of complex numbers (magnitudes, parts) is half as wide. The inverse of a transform makes complex
        # numbers as many as its result first: they are counted in its place.
        dtype = REAL.get(computed, computed) if not call.op.complex_within else computed
        if isinstance(call.op, CastBack):
            dtype = call.op.dtype
    elif half is not None and is_handed_on(call, row, tensor):
        dtype = computed
    sizes = memory.sizes(tensor.shape)
    first = inputs[0] if inputs else None
    if first is not None and is_in_place(call):
        return memory.form(tensor.shape, first.dtype, fitting(first.strides, sizes)), True
    if first is not None and shares_input(call, row, first, dtype):
        strides = fitting(shared_strides(call, first, sizes), sizes)
        if strides is not None or sizes is None or first.sizes is None:
            # Two floats as one complex number, or the other way round, are of another dtype.
            recast = dtype.startswith("complex") != first.dtype.startswith("complex")
            return memory.form(tensor.shape, dtype if recast else first.dtype, strides), True
    strides = strides_of(call, row, inputs, tensor, sizes)
    form = memory.form(tensor.shape, dtype, strides)
    if first is not None and ((row.roomy and tensor.shape == ()) or (row.resized and is_larger(first.form, form))):
        return memory.roomy(form, first.form), False
    memory.own_line(form)
    return form, False


def is_handed_on(call: Call, row: OpRule, tensor: Tensor) -> bool:
    """Whether a result's floating dtype is that of an input, and not one that the code asks for: under autocast it is
    then what autocast makes of it."""
    if not is_floating(tensor.dtype) or call.op.casts:
        return False
    return row.autocast == "half" or any(tensor.dtype == given.dtype for given in (*call.inputs, *call.weights))


def fitting(strides: tuple[int, ...] | None, sizes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Strides for as many axes as there are sizes; None where code that cannot run gives others."""
    return strides if strides is not None and sizes is not None and len(strides) == len(sizes) else None


def strides_of(
    call: Call, row: OpRule, inputs: Sequence[Value], tensor: Tensor, sizes: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """The strides of a result in memory of its own; None where it is contiguous."""
    if sizes is None:
        return None
    if row.layout == "time first" and tensor.index == 0 and len(sizes) == 3:
        return in_order(sizes, (1, 0, 2) if getattr(call.op, "batch_first", False) is True else (0, 1, 2))
    if row.layout == "heads inside" and len(sizes) == 4:
        return in_order(sizes, (0, 2, 1, 3))
    product = summed(call, inputs) if call.op.product == "equation" and row.reads else None
    if product is not None:
        return in_order(sizes, product.result)
    return None if is_view(call, row) else own_strides(row, inputs, sizes)


def keeps_of(
    memory: Memory, call: Call, row: OpRule, inputs: Sequence[Value], weights: Sequence[Value], each: int
) -> Iterator[Keep]:
    """What the op's row says that it keeps. `inputs` are the operands as the op reads them."""
    in_place = is_in_place(call)
    for kept in row.in_place if in_place and row.in_place is not None else row.keeps:
        if isinstance(kept.what, New):
            if applies(kept, None, inputs, weights):
                for lot in lots_of(memory, [kept.what], call, inputs, each):
                    yield "new", as_kept(memory, lot)
        elif kept.what[0] == "y":
            at = int(kept.what[1:] or 0)
            if at < len(call.outputs):
                yield "result", at
        elif kept.what == "positions":
            # The second result, where the op has one, is what is kept.
            own = lots_of(memory, [New("y", 8)], call, inputs, each)[0]
            yield ("result", 1) if len(call.outputs) > 1 else ("new", as_kept(memory, own))
        elif kept.what == "positions of x1":
            yield "positions of", 1
        else:
            wanted = places(kept.what, len(inputs))
            for place in reversed(wanted) if second_first(row, call, inputs) else wanted:
                if applies(kept, place, inputs, weights):
                    yield "clone" if in_place and place == 0 else "input", place
    if row.weights and (row.weights != "needed" or any(value.grad for value in inputs)):
        for at in range(len(weights) if row.weights in ("all", "each") else min(1, len(weights))):
            if row.weights != "each" or at > 1 or (at < len(inputs) and inputs[at].grad):
                yield "weight", at


def as_kept(memory: Memory, lot: int) -> int:
    """The lot of the same size that only the backward pass reads."""
    return memory.timeline.lot(memory.timeline.lots[lot][0], "kept")


def places(what: str, number: int) -> list[int]:
    """The places of the inputs that "inputs", "x" or "x1" stands for."""
    wanted = list(range(number)) if what == "inputs" else [int(what[1:] or 0)]
    return [place for place in wanted if place < number]


NOT_KNOWN = Unknown("a shape is not known")
REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def applies(kept: Saved, place: int | None, inputs: Sequence[Value], weights: Sequence[Value]) -> bool:
    """Whether a row's condition holds for what is at `place` of the inputs."""
    trained = any(value.grad for value in weights)
    if kept.when == "weight":
        # A bias has a gradient without it.
        return any(value.grad for value in weights[:1]) or any(
            value.grad and value.weight is not None for value in inputs
        )
    if kept.when == "others":
        return trained or any(value.grad for at, value in enumerate(inputs) if at != place)
    if kept.when == "own":
        return place is not None and inputs[place].grad
    if kept.when == "half":
        return bool(inputs) and inputs[0].dtype in HALVES
    return True
