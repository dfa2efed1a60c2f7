"""What a gradient does on its way back through an op: worked out once for all nodes of a plan that it reaches alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Call, Op
from flake8_cnnmem.memory.attention import mask_in_full
from flake8_cnnmem.memory.backward_way import BackwardPlan, Made
from flake8_cnnmem.memory.batch_statistics import by_cudnn
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.gradient_layout import as_cast, as_computed, as_part, as_spread, fresh
from flake8_cnnmem.memory.lookups import places_sorted, segments_of
from flake8_cnnmem.memory.products import batched, is_gathered, is_in_columns, is_matrix, second_first, summed, swaps
from flake8_cnnmem.memory.reductions import axes_reduced, blocks_of, buffer_of, summed_axes
from flake8_cnnmem.memory.storage_reuse import is_in_place, is_turned, leading, lie_alike, turned_by
from flake8_cnnmem.memory.storages import Form, Memory, Value, is_larger
from flake8_cnnmem.memory.tape import TapeNode
from flake8_cnnmem.memory.view_gradient import through_view
from flake8_cnnmem.ops import Embedding
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.ops.base import quotient
from flake8_cnnmem.ops.derivative import ConvolutionBackward
from flake8_cnnmem.ops.products import Matmul
from flake8_cnnmem.unknown import Unknown

WHOLE = 8
"""Bytes of a whole number that places are counted with."""


def plan_backward(memory: Memory, node: TapeNode, gradient: Form, given: Sequence[Value | None]) -> BackwardPlan:
    """The way back through a node. `given` are the gradients of its results, `gradient` the form of the first."""
    way = unviewed_plan(memory, node, gradient, given)
    way.views = frozenset(views_of(node, way))
    return way


def unviewed_plan(memory: Memory, node: TapeNode, gradient: Form, given: Sequence[Value | None]) -> BackwardPlan:
    plan = node.plan
    if isinstance(node.label.op, ConvolutionBackward):
        return _through_convolution(memory, node, node.label.op, given)
    if plan.kind == "op":
        return _through_op(memory, node, gradient, given)
    wanted = [node.operands[at][1] for at in plan.wanted]
    if plan.kind == "view":
        return through_view(memory, node, gradient, given, wanted)
    return BackwardPlan([_cast_back(memory, gradient, value) for value in wanted])


def views_of(node: TapeNode, way: BackwardPlan) -> Iterator[int]:
    """The places of the gradients that an op's backward pass hands on as views: what undoes a view, the parts of a
    whole, a value spread over what was summed; what a product has read as a matrix of other axes, and the weight that
    a linear layer reads transposed."""
    row, call = node.plan.row, node.label
    if node.plan.kind == "cast":
        return
    first_weight = 1 if call.op.product == "rows" else len(call.inputs)
    for place, at in enumerate(node.plan.wanted):
        value, how = node.operands[at][1], way.made[place]
        aliased = how is not None and how[0] == "alias"
        rank = len(value.sizes or ())
        if node.plan.kind == "view":
            viewed = aliased and call.op.view_gradient != "sum" and not call.op.hands_on
        elif row.turned and at >= first_weight:
            viewed = True
        elif call.op.product == "rows":
            viewed = rank > 2
        elif call.op.product == "equation":
            # What turns an operand and reads it as matrices is undone by views.
            viewed = True
        elif isinstance(call.op, Matmul):
            # A product of batches reads each as one batch of matrices; that of a layer's gradient its weight turned.
            folded = call.op.axes is None and rank > 2 and repeated(node, value) is None
            viewed = folded or (call.rereads > 0 and at == 1)
        else:
            viewed = aliased and row.gradient in ("parts", "spread")
        if viewed:
            yield place


def _cast_back(memory: Memory, gradient: Form, value: Value) -> Made:
    """The gradient of what was cast; a parameter's that lies otherwise than the parameter is copied."""
    form = memory.form(value.shape, value.dtype, as_cast(gradient, value))
    known = form.sizes is not None and form.strides is not None and value.strides is not None
    copied = value.weight is not None and known and not lie_alike(form.sizes, form.strides, value.strides)  # type: ignore[arg-type]
    return ("new" if copied else "fresh"), form, None


def _through_op(memory: Memory, node: TapeNode, gradient: Form, given: Sequence[Value | None]) -> BackwardPlan:
    row, call, wanted = node.plan.row, node.label, node.plan.wanted
    operands = [value for _, value in node.operands]
    each = size_of(gradient.dtype)
    scratch = list(node.plan.temporaries)
    reached = [place for place, one in enumerate(given) if one is not None]
    if node.plan.alone and len(reached) == 1:
        scratch = list(node.plan.alone[reached[0]])
    instead = turned = None
    arrived = gradient
    if row.restrided and is_turned(operands[0], False):
        # Its one place is told as channels last by as_strided, whose gradient is written into zeros.
        instead = memory.lot(gradient.values, each)
    if row.reads == "matrix" and not is_matrix(call, operands[:2], gradient):
        instead = memory.lot(gradient.values, each)
        gradient = memory.form(gradient.shape, gradient.dtype)
    if row.reads == "matrix" and memory.chip is not None:
        if instead is None and is_gathered(call, operands[:2], gradient):
            scratch.append(memory.lot(gradient.values, each))
        # The gradient of the left operand comes last, and of the right one where that has none.
        left = 1 if swaps(call, operands) else 0
        beside = 1 - left if left in wanted else left
        if beside in node.plan.gathered:
            scratch.append(memory.lot(operands[beside].values, size_of(operands[beside].dtype)))
    if is_in_place(call) and operands[0].viewed and node.whole is None:
        # CopySlices: a copy of the gradient to write into, and a clone of the part that is written.
        scratch += [memory.lot(gradient.values, each)] * 2
    if row.heads_inside:
        for form in (gradient, node.results[0][1].form):
            inside = None if form.sizes is None else layout.in_order(form.sizes, (0, 2, 1, 3))
            if inside is not None and (form.strides is None or not lie_alike(form.sizes or (), form.strides, inside)):
                scratch.append(memory.lot(form.values, each))
    if row.one_order and memory.chip is not None:
        lead = leading(operands[0].form, operands[min(1, len(operands) - 1)].form)
        read = [*turned_by(lead, operands[0].form), *turned_by(lead, gradient)]
        scratch += [memory.lot(form.values, size_of(form.dtype)) for form in read]
        if 0 in wanted and len(operands) > 1 and turned_by(lead, operands[1].form):
            turned = memory.lot(operands[1].values, size_of(operands[1].dtype))
    if row.passing == "both" and gradient.sizes is not None and gradient.strides is not None:
        # The kernel reads the gradient as it lies, or a copy of it.
        if not layout.is_contiguous(gradient.sizes, gradient.strides):
            scratch.append(memory.lot(gradient.values, each))
    if row.as_result and gradient.sizes is not None and gradient.strides is not None and reads_as_result(node):
        lies = node.results[0][1].strides
        if lies is not None and not lie_alike(gradient.sizes, gradient.strides, lies):
            scratch.append(memory.lot(gradient.values, each))
    unasked = row.batch_statistics and memory.chip is not None and 0 not in wanted
    if unasked and by_cudnn(call, node.results[0][1].dtype):
        # cuDNN makes the input's gradient whether anybody wants it or not.
        scratch.append(memory.lot(operands[0].values, each))
    if row.dense and gradient.sizes is not None and gradient.strides is not None:
        either = row.gradient_layout == "suggested" and layout.is_channels_last(gradient.sizes, gradient.strides)
        wanted_as = layout.channels_last(gradient.sizes) if either else layout.contiguous(gradient.sizes)
        if not lie_alike(gradient.sizes, gradient.strides, wanted_as):
            scratch.append(memory.lot(gradient.values, each))
    scratch += places_sorted(memory, call, operands[1:])
    in_full, last_made, crossed = 0, list[int](), dict[int, int]()
    if row.gradient in ("new", "reuse") or (row.gradient == "signed" and call.op.repeats == "gradient"):
        # The gradient of an operand that was repeated is made in full, and then summed.
        # The sum is there in the result's dtype before it is cast.
        spread = [operands[at] for at in wanted if repeated(node, operands[at]) is not None]
        wider = [value for value in spread if call.op.repeats == "operands" and size_of(value.dtype) < each]
        scratch += [memory.lot(value.values, each - size_of(value.dtype)) for value in wider]
        full = [shape for at in wanted if (shape := repeated(node, operands[at])) is not None]
        lots = [memory.lot(dims.product(shape), each) for shape in full]
        if row.crossed:
            crossed = dict(
                zip((p for p, at in enumerate(wanted) if repeated(node, operands[at]) is not None), lots, strict=True)
            )
        elif call.op.product == "steps":
            last_made = lots
        else:
            scratch += lots
            in_full = len(full)
    last = len(scratch)
    if row.gradient == "slices":
        # Zeros are put in a copy of the gradient where values were: they are gone when those get theirs.
        if list(wanted) == [0]:
            scratch += [memory.lot(value.values, size_of(value.dtype)) for value in operands[1:]]
    valuewise = row.gradient_layout in ("slope", "gradient") or (
        row.layout == "like" and (call.op.repeats == "operands" or call.op.like_input)
    )
    made: list[Made] = []
    passing: list[tuple[int, int]] = []
    result = node.results[0][1].dtype
    for at in wanted:
        value = operands[at]
        # A mean's is made of a repeated view, whose axes are in the order of their numbers.
        placed = "contiguous" if row.gradient in ("averaged", "placed") else row.layout
        own = fresh(memory, value, "contiguous" if row.gradient_layout == "contiguous" else placed)
        if row.gradient_layout == "suggested" and value.sizes is not None and gradient.strides is not None:
            like = layout.suggested(value.sizes, gradient.sizes or (), gradient.strides)
            own = memory.form(value.shape, value.dtype, like)
        if row.one_order and at == 0 and value.sizes is not None:
            # In channels last where the kernel worked so, if for the weight alone (cudnn_conv_suggest_memory_format).
            written = node.results[0][1]
            if written.sizes is not None and written.strides is not None:
                lying = layout.suggested(value.sizes, written.sizes, written.strides)
                own = memory.form(value.shape, value.dtype, lying)
        if valuewise and gradient.sizes == value.sizes and gradient.strides is not None:
            own = memory.form(value.shape, value.dtype, as_computed(row, operands, at, gradient))
        product = summed(call, operands[:2]) if call.op.product == "equation" and at < 2 else None
        if product is not None and value.sizes is not None:
            # A product of the gradient and of the other operand, as it was read.
            own = memory.form(value.shape, value.dtype, layout.in_order(value.sizes, product.orders[at]))
        if call.op.product == "batches" and at < 2 and is_in_columns(operands[:2], at):
            # What lies by columns gets a gradient that does (mm_mat1_grad of FunctionsManual.cpp).
            own = memory.form(value.shape, value.dtype, value.strides)
        if row.gradient == "spread" and value.sizes is not None:
            lying = as_spread(call.op, gradient, value) or ()
            own = memory.form(value.shape, value.dtype, layout.elementwise(value.sizes, [(value.sizes, lying)]))
        if row.resized and is_larger(gradient, own):
            own = memory.roomy(own, gradient)
        elif row.resized and is_larger(own, gradient):
            scratch.append(memory.lot(gradient.values, each))
        kind = row.gradient
        if kind == "signed":
            kind = "new" if at else "same"
        elif kind == "overwritten":
            kind = "same" if at else "new"
        # Of two tensors as large only one may be told to grow with the batch.
        as_large = gradient.shape == value.shape or (value.sizes is not None and gradient.sizes == value.sizes)
        same = as_large and gradient.dtype == value.dtype
        if kind == "same" and gradient.sizes == value.sizes and gradient.dtype != value.dtype:
            # A cast lies as what is cast.
            own = memory.form(value.shape, value.dtype, as_cast(gradient, value))
        part = as_part(gradient, value) if kind == "parts" and gradient.dtype != value.dtype else None
        if part is not None and value.sizes is not None:
            own = memory.form(value.shape, value.dtype, layout.elementwise(value.sizes, [(value.sizes, part)]))
        if kind == "new" and call.op.repeats and value.dtype != result and repeated(node, value) is None:
            # It is made in the result's dtype, and cast; of what was repeated, when it is summed. If that comes first,
            # what was made in full for it is gone by then.
            summed_before = any(repeated(node, operands[other]) is not None for other in wanted if other < at)
            lot = memory.lot(gradient.values, each - size_of(value.dtype) if summed_before else each)
            if not summed_before:
                passing.append((len(made), lot))
            else:
                scratch.append(lot)
        first = len(call.inputs)
        if row.begins and (at < min(2, first) or first <= at < first + (2 if row.gates_summed else 4)):
            made.append(("late", own, None))
        elif call.op.product in ("batches", "steps") and repeated(node, value) is not None:
            # A product's repeated operands, and a mask of attention's, are a node of their own: the sum comes when that
            # of the product is done.
            made.append(("late", fresh(memory, value), None))
        elif row.one_order and at == 1 and turned_by(leading(operands[0].form, value.form), value.form):
            # A parameter's gradient lies as the parameter does: one that is made channels last is copied.
            made.append(("new", memory.form(value.shape, value.dtype, layout.channels_last(value.sizes or ())), None))
        elif is_sparse(call.op) or kind == "rows":
            # The rows that were read and their numbers: the gradient as it has arrived, and the indices.
            made.append(("alias", gradient, None))
        elif kind == "same" and same:
            made.append(("alias", memory.form(value.shape, gradient.dtype, gradient.strides), None))
        elif kind == "spread" and gradient.dtype == value.dtype:
            made.append(("alias", memory.form(value.shape, gradient.dtype, as_spread(call.op, gradient, value)), None))
        elif kind == "reuse" and same:
            made.append(("reuse", memory.form(value.shape, gradient.dtype, gradient.strides), own))
        elif kind == "kept" or (row.crossed and same):
            made.append((kind if kind == "kept" else "crossed", own, None))
        elif kind == "parts" and gradient.dtype == value.dtype:
            made.append(("alias", memory.form(value.shape, gradient.dtype, as_part(gradient, value)), None))
        else:
            made.append(("fresh", own, None))
    repeats = [place for place, at in enumerate(wanted) if repeated(node, operands[at]) is not None]
    repeats += [place for place, _ in passing]
    split = is_split(node, operands)
    turned_round = second_first(row, call, operands[:2] if split else operands)
    if repeats and call.op.repeats:
        # What is summed has an order of its own.
        turned_round = False
    order = sorted(range(len(wanted))[:: -1 if turned_round else 1], key=lambda place: place in repeats)
    late = any(how == "late" for how, _, _ in made)
    if row.begins:
        sums = _gates(memory, node, gradient)
    else:
        sums = _count(memory, call, operands[0]) if row.counts else _sums(memory, node, arrived if split else gradient)
    if row.one_order and operands[0].sizes is not None and len(operands[0].sizes) == 3:
        # A copy that is read in one dimension is there until the bias is summed (convolution_backward).
        x = operands[0].form
        copies = [memory.lot(form.values, size_of(form.dtype)) for form in turned_by(x, x)]
        sums = [[*copies, *lots] for lots in sums]
    # A convolution's bias is summed when the kernels, and what was copied for them, are done.
    when = "last" if row.bias_last else "first" if row.counts or split else "within" if row.begins else ""
    if passing or len(scratch) != last or len(sums) != in_full:
        in_full = 0
    meanwhile = len(node.plan.temporaries)
    if row.bias_last:
        repeats, meanwhile = [place for place, at in enumerate(wanted) if at == len(call.inputs) + 1], len(scratch)
    both = row.gradient == "new" and call.op.repeats == "operands" and list(wanted) == [0, 1]
    return BackwardPlan(
        made,
        scratch,
        late,
        sums,
        order,
        instead,
        when,
        passing,
        repeats,
        in_full,
        in_full == 1 and both and repeats == [0],
        (),
        meanwhile,
        turned,
        crossed,
        last_made,
    )


def reads_as_result(node: TapeNode) -> bool:
    """Of a batch norm only cuDNN's does."""
    return not node.plan.row.batch_statistics or by_cudnn(node.label, node.results[0][1].dtype)


def is_split(node: TapeNode, operands: Sequence[Value]) -> bool:
    """Whether a linear layer is a product and then a sum of its own, and not one op: where its input has other than two
    axes and is not contiguous (aten/src/ATen/native/Linear.cpp)."""
    sizes, strides = operands[0].sizes, operands[0].strides
    if node.label.op.product != "rows" or sizes is None or strides is None or len(sizes) == 2:
        return False
    return not layout.is_contiguous(sizes, strides)


def _count(memory: Memory, call: Call, value: Value) -> list[list[int]]:
    """The blocks of a count of an operand's places over the axes of an op: a copy as whole numbers, and the buffer."""
    copy = memory.lot(value.values, WHOLE)
    axes = axes_reduced(call.op, len(value.sizes)) if value.sizes is not None else None
    if memory.chip is None or axes is None:
        return [[copy]]
    line = buffer_of(value.shape, value.strides, axes, WHOLE, memory.chip, WHOLE)
    return [[copy, *(memory.timeline.lot(block, "temporaries") for block in blocks_of(line))]]


def _gates(memory: Memory, node: TapeNode, gradient: Form) -> list[list[int]]:
    """The blocks of the buffers of a recurrent layer's step: its gates' gradients are summed over the rows for biases,
    whether these are trained or not, by the kernel; by a product that has none of its own for those that are."""
    call, chip = node.label, memory.chip
    weights = [value for _, value in node.operands[len(call.inputs) :]]
    if chip is None or isinstance(gradient.shape, Unknown) or len(gradient.shape) != 2 or len(weights) < 4:
        return []
    wide = weights[2].sizes
    if wide is None:
        return []
    line = buffer_of((gradient.shape[0], wide[0]), (wide[0], 1), (0,), size_of(gradient.dtype), chip)
    lots = [memory.timeline.lot(block, "temporaries") for block in blocks_of(line)]
    return [lots] * max(1, node.plan.row.gates_summed)


def _sums(memory: Memory, node: TapeNode, gradient: Form) -> list[list[int]]:
    """The blocks of each sum's buffer: for a bias, for operands that were repeated, for the rows of a table."""
    op, chip = node.label.op, memory.chip
    if chip is None or gradient.sizes is None or gradient.strides is None or not len(gradient.sizes):
        return []
    lots = []
    for at in node.plan.wanted:
        if op.looks_up:
            if is_sparse(op):
                continue
            parts = segments_of(gradient.shape, node.operands[at][1].shape, size_of(gradient.dtype))
            lots.append([memory.timeline.lot(part, "temporaries") for part in parts])
            continue
        sizes = node.operands[at][1].sizes
        if sizes is None:
            continue
        if op.adds_bias:
            if at < 2:
                continue
            channels = -1
            if op.convolves and getattr(op, "channels_last", False) is not True:
                channels = 1
            axes = [axis for axis in range(len(gradient.sizes)) if axis != channels % len(gradient.sizes)]
        elif node.plan.row.channels_summed and at > 0:
            channels = 1 if sizes != (1,) else len(gradient.sizes)
            axes = [axis for axis in range(len(gradient.sizes)) if axis != channels]
        elif op.repeats and sizes != gradient.sizes and layout.fits(sizes, gradient.sizes):
            axes = summed_axes(gradient.sizes, sizes)
        else:
            continue
        line = buffer_of(gradient.shape, gradient.strides, axes, size_of(gradient.dtype), chip)
        lots.append([memory.timeline.lot(block, "temporaries") for block in blocks_of(line)])
    return lots


def _through_convolution(
    memory: Memory, node: TapeNode, op: ConvolutionBackward, given: Sequence[Value | None]
) -> BackwardPlan:
    """_convolution_double_backward: of the gradients of an input's, a weight's and a bias's gradient those of the
    gradient that they came of, the input and the weight.

    The first is a sum of convolutions. The weight's is a convolution of two gradients with the batch for channels,
    which copies both.
    """
    arrived = {part for part, one in zip(op.parts, given, strict=True) if one is not None}
    gradient, x = (value for _, value in node.operands[:2])
    terms = [memory.lot(gradient.values, size_of(gradient.dtype))] * (
        2 if {"input", "weight"} <= arrived else len(arrived) - 1
    )
    copies = [memory.lot(quotient(one.values, op.groups), size_of(one.dtype)) for one in (gradient, x)]
    made: list[Made | None] = []
    for at in node.plan.wanted:
        reached = at == 0 or ("weight" if at == 1 else "input") in arrived
        made.append(("fresh", fresh(memory, node.operands[at][1]), None) if reached else None)
    turned = 2 in node.plan.wanted and "input" in arrived
    scratch = max([copies if turned else [], terms if 0 in node.plan.wanted else []], key=memory.bytes_of)
    return BackwardPlan(made, scratch)


def is_sparse(op: Op) -> bool:
    """Whether the gradient of the op's weight is a sparse tensor."""
    return isinstance(op, Embedding) and op.sparse is True


def repeated(node: TapeNode, value: Value) -> Shape | None:
    """The larger shape in which an operand's gradient is made first; None where it is the operand's own."""
    result, shape = node.results[0][1].shape, value.shape
    if isinstance(result, Unknown) or isinstance(shape, Unknown):
        return None
    if node.label.op.product == "batches":
        return batched(shape, result)
    if node.label.op.product == "steps":
        mask = len(node.operands) > 3 and value is node.operands[3][1]
        return mask_in_full(node.operands[0][1], node.operands[1][1], value) if mask else None
    # Of a difference the second one's is the negative first.
    negative = node.plan.row.gradient == "signed" and value is not node.operands[0][1]
    # An axis of the batch that meets a number is as long as that: nothing was repeated.
    alike = shape == result or (value.sizes is not None and value.sizes == node.results[0][1].sizes)
    return result if (node.label.op.repeats == "operands" or negative) and not alike else None
