"""Attention as torch.nn.functional computes it: the same steps in the same order, so that what is kept is the same."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.dims import Size, floor_divide, multiply
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.creation import filled
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.joining import cat
from flake8_cnnmem.frameworks.torch.functions.products import added
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.functions.repetition import expand_to, repeat_by
from flake8_cnnmem.frameworks.torch.functions.shapes import permute, reshape_to, squeeze, swap, unflatten, unsqueeze
from flake8_cnnmem.frameworks.torch.functions.splitting import chunk, split_into
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import linear
from flake8_cnnmem.frameworks.torch.nn.functional.normalization import drop
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import pad
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Broadcast, Elementwise, Heads, Index, PaddingMask, ScaledDotProduct
from flake8_cnnmem.ops.either import Either
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

NOT_SHAPED = Unknown("the shape of attention's inputs is not known")


def scaled_dot_product_attention(
    run: Runtime,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value = None,
    dropout_p: Value = 0.0,
    is_causal: Value = False,
    scale: Value = None,
    enable_gqa: Value = False,
) -> Value:
    """q (..., L, E), k (..., S, E), v (..., S, Ev) to (..., L, Ev), by the kernel that the code allows."""
    rate = dropout_p if isinstance(dropout_p, (int, float, Unknown)) else 0.0
    op = ScaledDotProduct(rate, is_causal is True, grouped=enable_gqa is True, kernels=run.attention)
    # Whether there is a mask may depend on values ("none where nothing is masked"): it is counted, and may be less.
    perhaps = attn_mask.instead if isinstance(attn_mask, Unknown) else attn_mask
    masks = [perhaps] if isinstance(perhaps, Tensor) else []
    own = query.dtype if isinstance(query, Tensor) else "float"
    found = apply(run, op, query, key, value, *masks, function="scaled_dot_product_attention", dtype=own)
    if not isinstance(attn_mask, Unknown) or not isinstance(found, Tensor):
        return found
    doubt = Either(replace(attn_mask.loose(), upper=bool(masks)))
    return apply(run, doubt, found, function="scaled_dot_product_attention", dtype=own)


def sizes_of(tensor: Value, rank: int) -> tuple[Size, ...]:
    """The sizes of a tensor of this rank; unknown ones of any other value."""
    found = tensor_of(tensor)
    if isinstance(found, Tensor) and isinstance(found.shape, tuple) and len(found.shape) == rank:
        return found.shape
    cause = found if isinstance(found, Unknown) else found.shape if isinstance(found.shape, Unknown) else NOT_SHAPED
    return (cause,) * rank


def packed(run: Runtime, q: Value, k: Value, v: Value, weight: Value, bias: Value) -> tuple[Value, Value, Value]:
    """`_in_projection_packed`: one product where the inputs are the same tensor."""
    width = sizes_of(q, 3)[-1]
    if k is v and q is k:
        joint = linear(run, q, weight, bias)
        parts = unflatten(run, joint, -1, (3, width))
        parts = squeeze(run, swap(run, unsqueeze(run, parts, 0), 0, -2), -2)
        parts = apply(run, Elementwise("contiguous"), parts, function="contiguous")
        first, second, third = (apply(run, Index((at,)), parts, function="getitem") for at in range(3))
        return first, second, third
    if k is v:
        lengths = (width, multiply(width, 2))
        own, other = pair(split_into(run, weight, lengths, 0), 2)
        own_bias, other_bias = (None, None) if bias is None else pair(split_into(run, bias, lengths, 0), 2)
        q = linear(run, q, own, own_bias)
        joint = linear(run, k, other, other_bias)
        parts = unflatten(run, joint, -1, (2, width))
        parts = squeeze(run, swap(run, unsqueeze(run, parts, 0), 0, -2), -2)
        parts = apply(run, Elementwise("contiguous"), parts, function="contiguous")
        first, second = (apply(run, Index((at,)), parts, function="getitem") for at in range(2))
        return q, first, second
    rows = pair(chunk(run, weight, 3), 3)
    shifts = (None,) * 3 if bias is None else pair(chunk(run, bias, 3), 3)
    made = [linear(run, x, w, b) for x, w, b in zip((q, k, v), rows, shifts, strict=True)]
    return made[0], made[1], made[2]


def pair(parts: Value, count: int) -> tuple[Value, ...]:
    """Parts of a known number; Unknown ones where they could not be made."""
    if isinstance(parts, (tuple, list)) and len(parts) == count:
        return tuple(parts)
    return (parts if isinstance(parts, Unknown) else NOT_SHAPED,) * count


def multi_head_attention_forward(
    run: Runtime,
    query: Value,
    key: Value,
    value: Value,
    embed_dim_to_check: Value,
    num_heads: Size,
    in_proj_weight: Value,
    in_proj_bias: Value,
    bias_k: Value,
    bias_v: Value,
    add_zero_attn: Value,
    dropout_p: Value,
    out_proj_weight: Value,
    out_proj_bias: Value,
    training: Value = True,
    key_padding_mask: Value = None,
    need_weights: Value = True,
    attn_mask: Value = None,
    use_separate_proj_weight: Value = False,
    q_proj_weight: Value = None,
    k_proj_weight: Value = None,
    v_proj_weight: Value = None,
    static_k: Value = None,
    static_v: Value = None,
    average_attn_weights: Value = True,
    is_causal: Value = False,
) -> Value:
    """query (L, N, E), key and value (S, N, E) to (L, N, E) and the attention weights (N, L, S), or None."""
    found = tensor_of(query)
    batched = not (isinstance(found, Tensor) and isinstance(found.shape, tuple) and len(found.shape) == 2)
    if not batched:
        same_key, same_value = key is query, value is key
        query = unsqueeze(run, query, 1)
        key = query if same_key else unsqueeze(run, key, 1)
        value = key if same_value else unsqueeze(run, value, 1)
        key_padding_mask = None if key_padding_mask is None else unsqueeze(run, key_padding_mask, 0)
    target, batch, width = sizes_of(query, 3)
    causal = is_causal is True
    if causal and key_padding_mask is None and need_weights is False:
        attn_mask = None
    elif key_padding_mask is not None:
        causal = False
    head = floor_divide(width, num_heads) if num_heads != 0 else NOT_SHAPED
    if isinstance(width, int) and isinstance(num_heads, int) and num_heads > 0 and width % num_heads:
        # torch refuses such a layer when it is made; here it is told at its call, with the sizes.
        return apply(run, Heads(width, num_heads), query, function="MultiheadAttention"), None
    groups = multiply(batch, num_heads)
    if use_separate_proj_weight is True:
        shifts = (None,) * 3 if in_proj_bias is None else pair(chunk(run, in_proj_bias, 3), 3)
        q = linear(run, query, q_proj_weight, shifts[0])
        k = linear(run, key, k_proj_weight, shifts[1])
        v = linear(run, value, v_proj_weight, shifts[2])
    else:
        q, k, v = packed(run, query, key, value, in_proj_weight, in_proj_bias)
    attn_mask, key_padding_mask = canonical(run, attn_mask), canonical(run, key_padding_mask)
    if isinstance(attn_mask, Tensor) and isinstance(attn_mask.shape, tuple) and len(attn_mask.shape) == 2:
        attn_mask = unsqueeze(run, attn_mask, 0)
    if isinstance(bias_k, Tensor) and isinstance(bias_v, Tensor):
        k = cat(run, [k, repeat_by(run, bias_k, (1, batch, 1), "repeat")])
        v = cat(run, [v, repeat_by(run, bias_v, (1, batch, 1), "repeat")])
        attn_mask, key_padding_mask = padded(run, attn_mask), padded(run, key_padding_mask)
    q = swap(run, reshape_to(run, q, (target, groups, head), "view"), 0, 1)
    if static_k is None:
        k = swap(run, reshape_to(run, k, (sizes_of(k, 3)[0], groups, head), "view"), 0, 1)
    else:
        k = static_k
    if static_v is None:
        v = swap(run, reshape_to(run, v, (sizes_of(v, 3)[0], groups, head), "view"), 0, 1)
    else:
        v = static_v
    if add_zero_attn is True:
        k, v = (cat(run, [each, zeros_beside(each, (groups, 1, head))], 1) for each in (k, v))
        attn_mask, key_padding_mask = padded(run, attn_mask), padded(run, key_padding_mask)
    source = sizes_of(k, 3)[1]
    if key_padding_mask is not None:
        key_padding_mask = checked(run, PaddingMask(batch, source), key_padding_mask)
        mask = reshape_to(run, key_padding_mask, (batch, 1, 1, source), "view")
        mask = expand_to(run, mask, (-1, num_heads, -1, -1), "expand")
        mask = reshape_to(run, mask, (groups, 1, source), "reshape")
        attn_mask = mask if attn_mask is None else binary(run, "+", attn_mask, mask)
    rate: Value = dropout_p if training is not False else 0.0
    if need_weights is not False:
        scaled = unary(run, "scale", q, "mul")
        turned = swap(run, k, -2, -1)
        masked = attn_mask is not None
        scores = added(run, attn_mask, scaled, turned) if masked else matmul(run, scaled, turned)
        run.let_go(scaled, k)
        scores = unary(run, "softmax", scores)
        if isinstance(rate, Unknown) or (isinstance(rate, (int, float)) and rate > 0):
            scores = drop(run, "dropout", "dropout", scores, rate, True, False)
        output = swap(run, matmul(run, scores, v), 0, 1)
        output = reshape_to(run, output, (multiply(target, batch), width), "reshape")
        output = linear(run, output, out_proj_weight, out_proj_bias)
        output = reshape_to(run, output, (target, batch, sizes_of(output, 2)[1]), "view")
        scores = reshape_to(run, scores, (batch, num_heads, target, source), "view")
        if average_attn_weights is not False:
            scores = reduce(run, "mean", scores, 1)
        if not batched:
            output, scores = squeeze(run, output, 1), squeeze(run, scores, 0)
        # What the function does not delete itself.
        run.let_go(q, attn_mask)
        return output, scores
    if isinstance(attn_mask, Tensor):
        single = isinstance(attn_mask.shape, tuple) and len(attn_mask.shape) == 3 and attn_mask.shape[0] == 1
        attn_mask = (
            unsqueeze(run, attn_mask, 0)
            if single
            else reshape_to(run, attn_mask, (batch, num_heads, -1, source), "view")
        )
    q = reshape_to(run, q, (batch, num_heads, target, head), "view")
    k = reshape_to(run, k, (batch, num_heads, source, head), "view")
    v = reshape_to(run, v, (batch, num_heads, source, head), "view")
    output = scaled_dot_product_attention(run, q, k, v, attn_mask, rate, causal)
    output = permute(run, output, (2, 0, 1, 3))
    output = reshape_to(run, output, (multiply(batch, target), width), "reshape")
    output = linear(run, output, out_proj_weight, out_proj_bias)
    output = reshape_to(run, output, (target, batch, sizes_of(output, 2)[1]), "view")
    return (output if batched else squeeze(run, output, 1)), None


def canonical(run: Runtime, mask: Value) -> Value:
    """A boolean mask as the floats that are added to the scores (`_canonical_mask`)."""
    if isinstance(mask, Tensor) and mask.dtype == "bool":
        zeros = Tensor(mask.shape, "float")
        return apply(run, Broadcast("masked_fill", True), zeros, mask, function="masked_fill_")
    return mask


def zeros_beside(value: Value, shape: tuple[Size, ...]) -> Tensor:
    """Zeros of the dtype that a result has."""
    made = filled(shape, None, "float")
    if isinstance(value, Tensor):
        made.as_wide_as = value.as_wide_as or value
    return made


def padded(run: Runtime, mask: Value) -> Value:
    """An attention mask with one more key at its end; None stays."""
    return None if mask is None else pad(run, mask, (0, 1))


def checked(run: Runtime, op: PaddingMask, mask: Value) -> Value:
    """The mask as it is; where its sizes cannot be right, what is to be said of it is noted."""
    tensor = tensor_of(mask)
    if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        return mask
    try:
        op.outputs(tensor.shape)
    except Mismatch:
        return apply(run, op, mask, function="MultiheadAttention")
    return mask
