"""Functions that PyTorch writes in other ops, one by one where that decides what is in memory: attention without a
fused kernel (`_scaled_dot_product_attention_math`), or one that wants its heads filled up, and pools of powers.

After aten/src/ATen/native/transformers/attention.cpp of PyTorch 2.12. Autocast casts the operands of attention and is
off inside. In half precision all of it is computed in float32, and the result cast back, the probabilities, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.graph import Call, Mismatch, Op, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.dtypes import HALVES
from flake8_cnnmem.memory.storage_reuse import is_turned
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.ops import (
    Broadcast,
    Dropout,
    Elementwise,
    Index,
    LocalResponseNorm,
    Matmul,
    Pad,
    Pool,
    Reduce,
    RepeatInterleave,
    Reshape,
    RMSNorm,
    ScaledDotProduct,
    Squeeze,
    Transpose,
)
from flake8_cnnmem.ops.base import quotient
from flake8_cnnmem.ops.normalization import normalised_axes
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class CastBack(Elementwise):
    """A cast whose result stands for a tensor of the model's own dtype, and lies in this one."""

    dtype: str = ""


def written_out(call: Call, dtypes: Sequence[str], half: str | None, trained: bool) -> tuple[Call, ...]:
    """The calls in the place of one of attention; none where it is not known which heads are shared, or a size.
    `dtypes` are those in which the operands lie, `half` that of autocast, `trained` says whether the mask asks for a
    gradient."""
    op = call.op
    shapes = [tensor.shape for tensor in call.inputs]
    if not isinstance(op, ScaledDotProduct) or not isinstance(op.grouped, bool) or call.problem is not None:
        return ()
    if any(isinstance(shape, Unknown) or len(shape) < 2 for shape in shapes) or not isinstance(op.causal, bool):
        return ()
    heads = [shape[-3:-2] for shape in shapes[:3] if not isinstance(shape, Unknown)]
    if op.grouped and not all(each and isinstance(each[0], int) for each in heads):
        return ()
    try:
        return _steps_of(call, op, dtypes, half, trained)
    except Mismatch:
        # Sizes that do not fit are told at the call, not here.
        return ()


def filled_up(call: Call, half: str | None) -> tuple[Call, ...]:
    """The calls in the place of one that flash attention computes of heads filled up with zeros: it reads features in
    eights, and what it gives beyond theirs is cut off again; none where a size is not known."""
    shapes = [tensor.shape for tensor in call.inputs[:3]]
    if any(isinstance(shape, Unknown) or not isinstance(shape[-1], int) for shape in shapes):
        return ()
    steps = ComposedCalls(call)
    given = [steps.cast(tensor, half) if half is not None else tensor for tensor in call.inputs[:3]]
    width = steps.shape(given[0])[-1]
    assert isinstance(width, int)
    pads = (*[(0, 0)] * (len(steps.shape(given[0])) - 1), (0, -width % EIGHT))
    result = steps.make(call.op, *(steps.make(Pad(pads), tensor) for tensor in given))
    return steps.ending_in(steps.make(Index((Ellipsis, slice(0, width))), result))


def powers_pooled(call: Call, half: str | None) -> tuple[Call, ...]:
    """The calls in the place of an lp_pool (torch/nn/functional.py): powers, in float32 under autocast, their average,
    its sign times what is not negative of it, and a root."""
    op = call.op
    if not isinstance(op, Pool) or call.problem is not None or isinstance(call.inputs[0].shape, Unknown):
        return ()
    steps = ComposedCalls(call)
    given = call.inputs[0] if half is None else steps.make(Elementwise("cast"), call.inputs[0], dtype="float32")
    found = steps.make(replace(op, mode="average"), steps.make(Elementwise("pow"), given), held=True)
    sign = steps.make(Elementwise("sign"), found)
    size = steps.make(Elementwise("relu"), steps.make(Elementwise("abs"), found))
    whole = steps.make(Elementwise("scale"), steps.make(Broadcast("multiply"), sign, size))
    return steps.ending_in(steps.make(Elementwise("pow"), whole))


def folded(call: Call, operands: Sequence[Value], half: str | None) -> tuple[Call, ...]:
    """The calls in the place of a product of a matrix and a batch of matrices, where that is more than one product
    (`should_fold` of aten/src/ATen/native/LinearAlgebra.cpp). A batch of one matrix beside a larger one is that matrix.
    Of a trained matrix on the left the batch, turned, is copied into one matrix, and the product turned back into
    another copy."""
    shapes = [tensor.shape for tensor in call.inputs]
    if call.problem is not None or len(shapes) != 2 or any(isinstance(shape, Unknown) for shape in shapes):
        return ()
    ranks = [len(shape) for shape in shapes]  # type: ignore[arg-type]
    sizes = [value.sizes for value in operands[:2]]
    batches = [each[0] if each is not None and len(each) == 3 else None for each in sizes]
    single = batches.index(1) if None not in batches and batches.count(1) == 1 else None
    if single is not None and shapes[single][0] != 1:  # type: ignore[index]
        return ()
    is_matrix = single == 0 or (ranks[0] == 2 and ranks[1] > 2)
    trained = is_matrix and operands[0].grad
    if single is None and not trained:
        return ()
    steps = ComposedCalls(call)
    left, right = (steps.cast(tensor, half) if half is not None else tensor for tensor in call.inputs)
    if single == 1:
        return steps.ending_in(steps.make(Matmul(), left, steps.make(Squeeze((0,)), right, held=True)))
    matrix = steps.make(Squeeze((0,)), left, held=True) if single == 0 else left
    if not trained:
        return steps.ending_in(steps.make(Matmul(), matrix, right))
    turned = steps.make(Transpose(-2, -1), right)
    *lead, inner = steps.shape(turned)
    rows = steps.make(Elementwise("contiguous"), turned, held=True)
    rows = steps.make(Reshape((dims.product(lead), inner)), rows, held=True)
    product = steps.make(Matmul(), rows, steps.make(Transpose(-2, -1), matrix))
    result = steps.make(Reshape((*lead, steps.shape(product)[-1])), product, held=True)
    return steps.ending_in(steps.make(Elementwise("contiguous"), steps.make(Transpose(-2, -1), result)))


def by_neighbours(call: Call, op: LocalResponseNorm, half: str | None) -> tuple[Call, ...]:
    """The calls in the place of a local response norm (torch/nn/functional.py): squares, filled up with zeros
    beyond the first and last channels and averaged, a power, in float32 under autocast, and a quotient."""
    x = call.inputs[0]
    if call.problem is not None or isinstance(x.shape, Unknown) or not isinstance(op.size, int) or len(x.shape) < 3:
        return ()
    if op.size < 1:
        return ()
    steps = ComposedCalls(call)
    first, channels, *sides = x.shape
    planes: tuple[Size, ...] = (
        (channels, sides[0]) if len(sides) == 1 else (channels, sides[0], dims.product(sides[1:]))
    )
    found = steps.make(Reshape((first, 1, *planes)), steps.make(Broadcast("multiply"), x, x))
    before = op.size // 2
    pads = ((0, 0), (0, 0), (before, op.size - 1 - before), *[(0, 0)] * (len(planes) - 1))
    found = steps.make(Pool("average", (op.size, *[1] * (len(planes) - 1)), 1), steps.make(Pad(pads), found))
    mean = steps.make(Reshape(x.shape), found)
    moved = steps.make(Elementwise("shift"), steps.make(Elementwise("scale"), mean))
    base = steps.make(Elementwise("cast"), moved, dtype="float32") if half is not None else moved
    power = steps.make(Elementwise("pow"), base)
    # The expression holds what it has made, and the variable that it is assigned to.
    steps.expression_ends(mean, moved)
    return steps.ending_in(steps.make(Broadcast("divide"), x, power))


def scaled_by_root(call: Call, op: RMSNorm, given: Value, half: str | None) -> tuple[Call, ...]:
    """The calls in the place of an RMS norm of what lies channels last (rms_norm_composite of
    aten/src/ATen/native/layer_norm.cpp): the reciprocal of the root of the mean of the squares, and two products."""
    x, axes = call.inputs[0], normalised_axes(op.shape, op.axes)
    if call.problem is not None or not is_turned(given, False) or isinstance(x.shape, Unknown):
        return ()
    steps = ComposedCalls(call)
    x = steps.cast(x, "float32") if half is not None or given.dtype in HALVES else x
    mean = steps.make(Reduce("mean", axes, True), steps.make(Elementwise("pow"), x))
    root = steps.make(Elementwise("rsqrt"), steps.make(Elementwise("shift", True), mean), held=True)
    result = steps.make(Broadcast("multiply"), x, root)
    for weight in call.weights:
        result = steps.make(Broadcast("multiply"), result, weight)
    if given.dtype in HALVES and half is None:
        result = steps.make(CastBack("cast", dtype=given.dtype), result, dtype=given.dtype)
    return steps.ending_in(result)


EIGHT = 8
"""Features of a head come in multiples of them."""


def _steps_of(
    call: Call, op: ScaledDotProduct, dtypes: Sequence[str], half: str | None, trained: bool
) -> tuple[Call, ...]:
    steps = ComposedCalls(call)
    q, k, v = (steps.cast(tensor, half) if half is not None else tensor for tensor in call.inputs[:3])
    own = half or dtypes[0]
    full = "float32" if own in HALVES else None
    if full is not None:
        q, k, v = (steps.cast(tensor, full) for tensor in (q, k, v))
    mask = call.inputs[3] if len(call.inputs) > 3 else None
    if op.causal and mask is None:
        mask = Tensor((steps.shape(q)[-2], steps.shape(k)[-2]), "bool")
    if mask is not None and (mask.dtype == "bool" or full is not None):
        mask = steps.cast(mask, full or own)
    scaled = steps.make(Elementwise("scale"), q, held=True)
    if op.grouped:
        k, v = (repeated_heads(steps, q, shared) for shared in (k, v))
    turned = steps.make(Elementwise("scale"), steps.make(Transpose(-2, -1), k))
    scores = steps.make(Matmul(), scaled, turned)
    if mask is not None:
        scores = steps.make(Broadcast("add", not trained), scores, mask)
    probabilities = steps.make(Elementwise("safe_softmax"), scores)
    if op.drops:
        probabilities = steps.make(Dropout(op.dropout), probabilities)
    result = steps.make(Matmul(), probabilities, v)
    if full is not None:
        # PyTorch's builds evaluate the last argument first.
        steps.cast(probabilities, own)
        result = steps.make(CastBack("cast", dtype=own), result, dtype=own)
    return steps.ending_in(result)


def repeated_heads(steps: ComposedCalls, q: Tensor, shared: Tensor) -> Tensor:
    """Keys or values whose heads several of q's share, once for each of them
    (pre_process_group_query_attention_input)."""
    heads, given = steps.shape(q)[-3], steps.shape(shared)[-3]
    return shared if heads == given else steps.make(RepeatInterleave(quotient(heads, given), -3), shared, held=True)


class ComposedCalls:
    """Calls on their way, which stand where `whole` does."""

    def __init__(self, whole: Call) -> None:
        self.whole = whole
        self.calls: list[Call] = []
        inside = whole.cast_region or whole.autocast is not None
        self.region = whole.cast_region if inside else whole.number

    @staticmethod
    def shape(tensor: Tensor) -> Shape:
        assert not isinstance(tensor.shape, Unknown)
        return tensor.shape

    def make(self, op: Op, *inputs: Tensor, dtype: str | None = None, held: bool = False) -> Tensor:
        """An op's result. A variable of the function may hold it until that ends."""
        whole = self.whole
        call = replace(whole, op=op, inputs=inputs, weights=(), autocast=None, cast_region=self.region)
        (shape,) = op.outputs(*map(self.shape, inputs))
        made = Tensor(shape, dtype or inputs[0].dtype, call, held=whole.number if held else 0)
        call.outputs = (made,)
        self.calls.append(call)
        return made

    def cast(self, tensor: Tensor, dtype: str) -> Tensor:
        return self.make(Elementwise("cast"), tensor, dtype=dtype, held=True)

    def expression_ends(self, *made: Tensor) -> None:
        """One expression of the function has made these: until now they are held, and no longer."""
        for tensor in made:
            self.make(Elementwise("detach"), tensor)

    def ending_in(self, result: Tensor) -> tuple[Call, ...]:
        """The calls, of which one gives the result of the whole."""
        for call in self.calls:
            if call.outputs == (result,):
                call.outputs = self.whole.outputs
        return tuple(self.calls)
