"""Products of matrices: which operands have to be copied to be read as matrices, and whose gradients are summed.

After aten/src/ATen/native/LinearAlgebra.cpp (matmul, should_fold) and Linear.cpp: an operand of more than two axes
is read as one matrix where the other one is a matrix, and as a batch of them else, repeated where the other's batch
is larger. What is no such view is copied, and the copy is what is kept. cuBLAS in turn wants rows or columns whose
values lie side by side: of what has neither, each product makes a copy for as long as it runs
(aten/src/ATen/native/cuda/Blas.cpp, prepare_matrix_for_cublas and prepare_batch_matrix_for_cublas).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.rules import OpRule
from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory import einsum
from flake8_cnnmem.memory.batch_statistics import by_cudnn
from flake8_cnnmem.memory.storages import Form, Memory, Value
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown

Sizes = tuple[int, ...]


def copied(
    memory: Memory, call: Call, how: str, inputs: Sequence[Value], maps: bool = False
) -> Iterator[tuple[int, Form]]:
    """The operands that do not lie as the op wants, by their places, with the forms of the copies that are read
    instead. `how` is a row's `reads`; `maps` says that a single side counts as maps of one row."""
    result = call.outputs[0].shape
    for at, value in enumerate(inputs):
        other = inputs[1 - at] if len(inputs) == 2 else None
        if how == "contiguous":
            shape = None if _is_contiguous(value) else value.shape
        elif how in ("suggested", "by cuDNN"):
            reads = how == "suggested" or by_cudnn(call, value.dtype)
            copied = at == 0 and memory.chip is not None and reads and not _is_suggested(value, maps)
            shape = value.shape if copied else None
        elif call.op.product == "equation":
            plan, sizes, strides = summed(call, inputs), value.sizes, value.strides
            lies = plan is None or sizes is None or strides is None or not einsum.copies(plan, at, sizes, strides)
            shape = None if lies else value.shape
        elif how == "time first":
            turned = getattr(call.op, "batch_first", False) is True or not _is_contiguous(value)
            shape = value.shape if at == 0 and turned else None
        else:
            shape = _copied_shape(call.op.product, value, other, result, memory)
        if shape is not None:
            yield at, memory.form(shape, value.dtype)


def swaps(call: Call, operands: Sequence[Value]) -> bool:
    """Whether a sum of products is one of matrices whose left one is the second operand."""
    product = summed(call, operands[:2]) if call.op.product == "equation" else None
    return product is not None and product.swapped


def second_first(row: OpRule, call: Call, operands: Sequence[Value]) -> bool:
    """Whether autograd comes to the second operand before the first one. A linear layer with a bias is one op, whose
    matrices have other names (addmm)."""
    if not row.by_name or (call.op.product == "rows" and len(operands) > 2):
        return False
    return not swaps(call, operands)


def summed(call: Call, inputs: Sequence[Value]) -> einsum.Product | None:
    """How an einsum of two operands is computed; None where it is not one of matrices."""
    if len(inputs) != 2 or inputs[0].sizes is None or inputs[1].sizes is None:
        return None
    return einsum.product(getattr(call.op, "equation", None), inputs[0].sizes, inputs[1].sizes)


def _copied_shape(
    product: str, value: Value, other: Value | None, result: Shape | Unknown, memory: Memory
) -> Shape | Unknown | None:
    """The shape of the copy that an operand needs; None where it is read as it lies."""
    sizes, strides = value.sizes, value.strides
    if sizes is None or strides is None:
        return None
    if product == "rows" or (product == "batches" and other is not None and _rank(other) <= 2):
        flat = (math.prod(sizes[:-1]), *sizes[-1:])
        return None if len(sizes) < 3 or layout.reshape(sizes, strides, flat) is not None else value.shape
    full = batched(value.shape, result) if product in ("batches", "steps") else None
    wanted = memory.sizes(full) if full is not None else None
    if full is not None and wanted is not None and layout.fits(sizes, wanted):
        strides = layout.broadcast(sizes, strides, wanted)
        sizes = wanted
    if len(sizes) < 3 or layout.reshape(sizes, strides, (math.prod(sizes[:-2]), *sizes[-2:])) is not None:
        return None
    return full if full is not None else value.shape


def batched(shape: Shape | Unknown, result: Shape | Unknown) -> Shape | None:
    """The shape of a matrix or batch of matrices that is repeated to the batch of the product; None if it is not."""
    if isinstance(shape, Unknown) or isinstance(result, Unknown) or len(shape) < 2 or len(result) < 3:
        return None
    full = (*result[:-2], *shape[-2:])
    return full if full != shape and len(shape) > 2 else None


def is_matrix(call: Call, inputs: Sequence[Value], form: Form) -> bool:
    """Whether a product's gradient is a matrix, or a batch of them, as it lies."""
    if form.sizes is None or form.strides is None or len(form.sizes) < 3:
        return True
    return _result_as_read(call, inputs, form) is not None


def is_in_columns(inputs: Sequence[Value], at: int) -> bool:
    """Whether an operand of a product of matrices lies column by column, as the transposed view of one that lies row by
    row does."""
    sizes, strides = inputs[at].sizes, inputs[at].strides
    if sizes is None or strides is None or len(sizes) != 2 or len(inputs) != 2 or _rank(inputs[1 - at]) < 2:
        return False
    return strides == (1, sizes[0])


def is_gathered(call: Call, inputs: Sequence[Value], gradient: Form) -> bool:
    """Whether cuBLAS reads a product's gradient, which is a matrix or a batch of them, from a copy."""
    if gradient.sizes is None or gradient.strides is None or len(gradient.sizes) < 2:
        return False
    read = _result_as_read(call, inputs, gradient)
    return read is not None and not _has_lines(*read)


def gathered(memory: Memory, call: Call, inputs: Sequence[Value]) -> Iterator[int]:
    """The places of the operands that cuBLAS reads from a copy. `inputs` are those that are read: copies of what is no
    matrix as it lies."""
    if call.op.product not in ("rows", "batches", "equation"):
        return
    for at, value in enumerate(inputs[:2]):
        read = _operand_as_read(memory, call, inputs, at, value)
        if read is not None and not _has_lines(*read):
            yield at


def _has_lines(sizes: Sizes, strides: Sizes) -> bool:
    """Whether the rows or the columns of a matrix, or of a batch of them, lie in lines."""
    rows, columns = sizes[-2:]
    down, right = strides[-2:]
    if (right == 1 and down >= max(1, columns)) or (down == 1 and right >= max(1, rows)):
        return True
    return layout.is_contiguous(sizes, strides) and down != 0 and right != 0


def _operand_as_read(
    memory: Memory, call: Call, inputs: Sequence[Value], at: int, value: Value
) -> tuple[Sizes, Sizes] | None:
    """Sizes and strides of an operand as a matrix, or as a batch of them; None where that is not known."""
    sizes, strides, product = value.sizes, value.strides, call.op.product
    if sizes is None or strides is None or len(sizes) < 2:
        return None
    target: Sizes
    if product == "equation":
        plan = summed(call, inputs)
        if plan is None:
            return None
        order, target = plan.orders[at], plan.targets[at]
        sizes, strides = tuple(sizes[axis] for axis in order), tuple(strides[axis] for axis in order)
    elif product == "rows" or (len(inputs) == 2 and _rank(inputs[1 - at]) <= 2):
        target = (math.prod(sizes[:-1]), sizes[-1])
    else:
        full = batched(value.shape, call.outputs[0].shape)
        wanted = memory.sizes(full) if full is not None else None
        if wanted is not None and layout.fits(sizes, wanted):
            strides, sizes = layout.broadcast(sizes, strides, wanted), wanted
        target = (math.prod(sizes[:-2]), *sizes[-2:])
    read = layout.reshape(sizes, strides, target)
    return None if read is None else (target, read)


def _result_as_read(call: Call, inputs: Sequence[Value], form: Form) -> tuple[Sizes, Sizes] | None:
    """The same of what lies as a product's result; None where it is no such view."""
    sizes, strides, product = form.sizes, form.strides, call.op.product
    assert sizes is not None
    assert strides is not None
    plan = summed(call, inputs) if product == "equation" else None
    target: Sizes
    if plan is not None:
        target = plan.read
        sizes, strides = tuple(sizes[axis] for axis in plan.result), tuple(strides[axis] for axis in plan.result)
    elif product == "rows":
        target = (math.prod(sizes[:-1]), sizes[-1])
    else:
        target = (math.prod(sizes[:-2]), *sizes[-2:])
    read = layout.reshape(sizes, strides, target)
    return None if read is None else (target, read)


def _is_contiguous(value: Value) -> bool:
    """Whether it lies in row-major order; what is not known is taken to."""
    sizes, strides = value.sizes, value.strides
    return sizes is None or strides is None or layout.is_contiguous(sizes, strides)


def _is_suggested(value: Value, maps: bool = False) -> bool:
    """Whether it lies in row-major order, or as a map whose channels run fastest."""
    sizes, strides = value.sizes, value.strides
    if maps and sizes is not None and strides is not None and len(sizes) == 3:
        sizes, strides = (*sizes[:2], 1, sizes[2]), (*strides[:2], sizes[2] * strides[2], strides[2])
    return _is_contiguous(value) or (
        sizes is not None
        and strides is not None
        and layout.is_channels_last(sizes, strides)
        and layout.is_dense(sizes, strides)
    )


def _rank(value: Value) -> int:
    return len(value.sizes) if value.sizes is not None else 3
