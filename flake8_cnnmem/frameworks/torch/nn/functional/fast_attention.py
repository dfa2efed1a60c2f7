"""`torch._native_multi_head_attention`: multi-head attention in one kernel's steps, as it runs in evaluation.

After aten/src/ATen/native/transformers/cuda/attention.cu of PyTorch 2.12: one product makes queries, keys and values.
Where no mask is given, no weights are asked for and a head has a multiple of eight features, attention reads them
where they lie. Else they are copied apart, and all scores are made, whatever fused kernels there are: with a mask the
fast path takes more memory than the slow one.
"""

from __future__ import annotations

from flake8_cnnmem.dims import Size, floor_divide
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.functions.repetition import expand_to
from flake8_cnnmem.frameworks.torch.functions.shapes import permute, reshape_to, swap
from flake8_cnnmem.frameworks.torch.functions.splitting import chunk
from flake8_cnnmem.frameworks.torch.nn.functional.attention import pair, scaled_dot_product_attention, sizes_of
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import linear
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise, Index, MatmulInto
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

EIGHT = 8


def fast_attention(
    run: Runtime, x: Value, heads: Size, weights: tuple[Value, Value, Value, Value], mask: Value, padding: Value,
    need_weights: bool, average: bool,
) -> tuple[Value, Value]:  # fmt: skip
    """Attention of x (N, L, E) over itself. `weights` are those of the joint projection and of the last one, each with
    its bias; `mask` (L, L) or (N * heads, L, L) and `padding` (N, L) are added up as floats."""
    batch, length, width = sizes_of(x, 3)
    head = floor_divide(width, heads) if isinstance(heads, int) and heads else width
    weight, bias, out_weight, out_bias = weights
    split = (batch, length, heads, head)
    if mask is None and padding is None and not need_weights and isinstance(head, int) and head % EIGHT == 0:
        joint = linear(run, x, weight, bias)
        parts = pair(chunk(run, joint, 3, -1), 3)
        q, k, v = (swap(run, reshape_to(run, part, split, "view"), 1, 2) for part in parts)
        found = swap(run, scaled_dot_product_attention(run, q, k, v), 1, 2)
        result = linear(run, reshape_to(run, found, (batch, length, width), "reshape"), out_weight, out_bias)
        run.let_go(joint, q, k, v, found)
        return result, None
    joint = reshape_to(run, linear(run, x, weight, None), (batch, length, 3, heads, head), "view")
    joint = apply(run, Elementwise("contiguous"), permute(run, joint, (2, 0, 3, 1, 4)), function="contiguous")
    q, k, v = (apply(run, Index((at,)), joint, function="getitem") for at in range(3))
    scores = matmul(run, q, swap(run, k, -2, -1))
    hidden = merged(run, mask, padding, (batch, heads, length))
    if hidden is not None:
        hidden = apply(run, Elementwise("cast"), hidden, function="to", dtype="bool")
    # Without a mask the shares are written over the scores.
    shares = unary(run, "softmax", scores, inplace=hidden is None)
    if hidden is not None:
        run.let_go(scores, hidden)
    found = swap(run, apply(run, MatmulInto(), q, shares, v, function="bmm"), 1, 2)
    result = linear(run, reshape_to(run, found, (batch, length, width), "reshape"), out_weight, out_bias)
    told = None
    if need_weights:
        told = binary(run, "/", reduce(run, "sum", shares, 1), heads, in_place=True) if average else shares
    run.let_go(joint, q, k, v)
    return result, told


def merged(run: Runtime, mask: Value, padding: Value, sizes: tuple[Size, Size, Size]) -> Value:
    """`MultiheadAttention.merge_masks`: of both masks one for all heads."""
    batch, heads, length = sizes
    if mask is None:
        return padding
    whole = (batch, heads, length, length)
    several = isinstance(mask, Tensor) and isinstance(mask.shape, tuple) and len(mask.shape) == 3
    shape = (batch, -1, length, length) if several else (1, 1, length, length)
    mask = expand_to(run, reshape_to(run, mask, shape, "view"), whole, "expand")
    if padding is None:
        return mask
    padding = reshape_to(run, padding, (batch, 1, 1, length), "view")
    return binary(run, "+", mask, expand_to(run, padding, (-1, heads, -1, -1), "expand"))
