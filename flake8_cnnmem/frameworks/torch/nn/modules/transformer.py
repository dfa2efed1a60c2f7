"""torch.nn's MultiheadAttention and Transformer layers, in the steps that torch takes while training."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from flake8_cnnmem.dims import floor_divide, multiply
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import size, whole
from flake8_cnnmem.frameworks.torch.copying import deep_copy
from flake8_cnnmem.frameworks.torch.devices import is_host
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.creation import born
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.shapes import swap
from flake8_cnnmem.frameworks.torch.nn.functional.attention import canonical, multi_head_attention_forward
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.functional.fast_attention import fast_attention
from flake8_cnnmem.frameworks.torch.nn.layer import composite, current
from flake8_cnnmem.frameworks.torch.nn.modules import fast_path
from flake8_cnnmem.frameworks.torch.nn.modules.activation import Dropout
from flake8_cnnmem.frameworks.torch.nn.modules.container import MODULE_LIST
from flake8_cnnmem.frameworks.torch.nn.modules.linear import Linear, NonDynamicallyQuantizableLinear
from flake8_cnnmem.frameworks.torch.nn.modules.module import put, set_attribute
from flake8_cnnmem.frameworks.torch.nn.modules.normalization import LayerNorm
from flake8_cnnmem.frameworks.torch.nn.parameter import empty_weight
from flake8_cnnmem.frameworks.torch.noted import note_made
from flake8_cnnmem.frameworks.torch.registry import FUNCTIONAL
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import AttentionInputs
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.ops.derivative import NotDerived
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, StaticMethod, Value


def attention_forward(
    run: Runtime, self: Instance, query: Value, key: Value, value: Value, key_padding_mask: Value = None,
    need_weights: Value = True, attn_mask: Value = None, average_attn_weights: Value = True,
    is_causal: Value = False, *, native_layer: bool = False,
) -> Value:  # fmt: skip
    """A call of nn.MultiheadAttention: query (L, N, E), or (N, L, E) where the batch leads, to the same, and the
    weights."""
    names = (
        "embed_dim", "num_heads", "in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "add_zero_attn", "dropout",
        "out_proj", "batch_first", "q_proj_weight", "k_proj_weight", "v_proj_weight",
    )  # fmt: skip
    width, heads, weight, bias, bias_k, bias_v, zero, rate, out, first, wq, wk, wv = current(run, self, *names)
    asks = AttentionInputs(width, self.attributes["kdim"], self.attributes["vdim"], first is True)
    shapes = [tensor.shape for each in (query, key, value) if isinstance(tensor := tensor_of(each), Tensor)]
    known = [shape for shape in shapes if not isinstance(shape, Unknown)]
    if len(known) == 3 and asks.problem(*known) is not None:
        return apply(run, asks, query, key, value, function="MultiheadAttention"), None
    if native_layer or fast_path.attends_fast(run, self, (query, key, value), (attn_mask, key_padding_mask)):
        projections = (weight, bias, run.get(out, "weight"), run.get(out, "bias"))
        masks = canonical(run, attn_mask), canonical(run, key_padding_mask)
        asked_for = need_weights is not False, average_attn_weights is not False
        return fast_attention(run, query, heads, projections, *masks, *asked_for)
    swapped = first is True and rank(query) == 3
    if swapped:
        same_key, same_value = key is query, value is key
        query = swap(run, query, 1, 0)
        key = query if same_key else swap(run, key, 1, 0)
        value = key if same_value else swap(run, value, 1, 0)
    result = multi_head_attention_forward(
        run, query, key, value, width, heads, weight, bias, bias_k, bias_v, zero, rate,
        run.get(out, "weight"), run.get(out, "bias"), self.attributes.get("training", True), key_padding_mask,
        need_weights, attn_mask, weight is None, wq, wk, wv,
        average_attn_weights=average_attn_weights, is_causal=is_causal,
    )  # fmt: skip
    output, scores = cast("tuple[Value, Value]", result)
    return (swap(run, output, 1, 0) if swapped else output), scores


def rank(value: Value) -> int:
    """How many axes a tensor has; 3 where that is not known."""
    tensor = tensor_of(value)
    known = isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple)
    return len(tensor.shape) if known else 3  # type: ignore[union-attr,arg-type]


@composite("activation", forward=attention_forward)
def MultiheadAttention(
    run: Runtime, self: Instance, embed_dim: Value, num_heads: Value, dropout: Value = 0.0, bias: Value = True,
    add_bias_kv: Value = False, add_zero_attn: Value = False, kdim: Value = None, vdim: Value = None,
    batch_first: Value = False, device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """Weights (3 E, E), or three where key and value are of other widths, and the output's (E, E)."""
    width, heads = size(embed_dim), size(num_heads)
    keys, values = width if kdim is None else size(kdim), width if vdim is None else size(vdim)
    if isinstance(width, int) and isinstance(heads, int):
        if width <= 0 or heads <= 0:
            raise run.error("ValueError", "embed_dim and num_heads must be greater than 0")
    same = keys == width and values == width
    self.attributes.update(
        embed_dim=width, kdim=keys, vdim=values, _qkv_same_embed_dim=same, num_heads=heads, dropout=dropout,
        batch_first=batch_first, head_dim=width if heads == 0 else floor_divide(width, heads),
        add_zero_attn=add_zero_attn,
    )  # fmt: skip
    own = dtype_of(dtype)
    shapes = {
        "q_proj_weight": None if same else (width, width),
        "k_proj_weight": None if same else (width, keys),
        "v_proj_weight": None if same else (width, values),
        "in_proj_weight": (multiply(width, 3), width) if same else None,
    }
    for name in sorted(shapes, key=lambda name: shapes[name] is None):
        shape = shapes[name]
        put(run, self, "_parameters", name, None if shape is None else empty_weight(run, shape, own))
    biased = asked(bias)
    learned = None
    if biased is not False:
        learned = empty_weight(run, (biased if isinstance(biased, Unknown) else multiply(width, 3),), own)
    put(run, self, "_parameters", "in_proj_bias", learned)
    out = run.construct(NonDynamicallyQuantizableLinear, width, width, bias=bias, dtype=dtype)
    put(run, self, "_modules", "out_proj", out)
    if add_bias_kv is True:
        put(run, self, "_parameters", "bias_k", empty_weight(run, (1, 1, width), own))
        put(run, self, "_parameters", "bias_v", empty_weight(run, (1, 1, width), own))
    else:
        self.attributes.update(bias_k=None, bias_v=None)


def activation_of(run: Runtime, activation: Value) -> Value:
    """`_get_activation_fn`: a name or any callable."""
    if isinstance(activation, str):
        if activation not in ("relu", "gelu"):
            raise run.error("RuntimeError", f"activation should be relu/gelu, not {activation}")
        return FUNCTIONAL[activation]
    return activation


def feed_forward(
    run: Runtime, self: Instance, d_model: Value, dim_feedforward: Value, dropout: Value, bias: Value, dtype: Value
) -> None:
    """linear1, dropout, linear2, as both kinds of layer register them."""
    set_attribute(run, self, "linear1", run.construct(Linear, d_model, dim_feedforward, bias=bias, dtype=dtype))
    set_attribute(run, self, "dropout", run.construct(Dropout, dropout))
    set_attribute(run, self, "linear2", run.construct(Linear, dim_feedforward, d_model, bias=bias, dtype=dtype))


def sublayers(
    run: Runtime, self: Instance, count: int, d_model: Value, eps: Value, dropout: Value, bias: Value
) -> None:
    """A norm and a dropout for each sublayer."""
    for at in range(1, count + 1):
        set_attribute(run, self, f"norm{at}", run.construct(LayerNorm, d_model, eps=eps, bias=bias))
    for at in range(1, count + 1):
        set_attribute(run, self, f"dropout{at}", run.construct(Dropout, dropout))


def child(run: Runtime, self: Instance, name: str, *args: Value, **kwargs: Value) -> Value:
    """A call of a module that a module holds under this name."""
    return run.call(attribute(run, self, name), *args, **kwargs)


def attend(
    run: Runtime, self: Instance, attention: str, dropout: str, x: Value, memory: Value, mask: Value, padding: Value,
    causal: Value,
) -> Value:  # fmt: skip
    """One attention of a transformer's layer, and its dropout."""
    result = child(
        run, self, attention, x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=causal,
        need_weights=False,
    )  # fmt: skip
    output = run.index(result, 0)
    return child(run, self, dropout, output)


def feed(run: Runtime, self: Instance, dropout: str, x: Value) -> Value:
    """The two linear layers of a transformer's layer, with activation and dropouts."""
    hidden = run.call(attribute(run, self, "activation"), child(run, self, "linear1", x))
    result = child(run, self, "linear2", child(run, self, "dropout", hidden))
    run.let_go(x)
    return child(run, self, dropout, result)


def attend_itself(
    run: Runtime, self: Instance, x: Value, attn_mask: Value, key_padding_mask: Value, is_causal: Value = False
) -> Value:
    """`_sa_block` of both kinds of layer."""
    return attend(run, self, "self_attn", "dropout1", x, x, attn_mask, key_padding_mask, is_causal)


def attend_memory(
    run: Runtime, self: Instance, x: Value, mem: Value, attn_mask: Value, key_padding_mask: Value,
    is_causal: Value = False,
) -> Value:  # fmt: skip
    """`_mha_block` of a decoder's layer."""
    return attend(run, self, "multihead_attn", "dropout2", x, mem, attn_mask, key_padding_mask, is_causal)


def blocks(**members: Callable[..., Value]) -> dict[str, Value]:
    """The methods that a layer's forward pass goes through, which a subclass may have its own of or call itself."""
    return {name: Native(name, member, propagate_unknown=False) for name, member in members.items()}


ENCODER_BLOCKS = blocks(_sa_block=attend_itself, _ff_block=lambda run, self, x: feed(run, self, "dropout2", x))
DECODER_BLOCKS = blocks(
    _sa_block=attend_itself, _mha_block=attend_memory, _ff_block=lambda run, self, x: feed(run, self, "dropout3", x)
)


def encoder_layer_forward(
    run: Runtime, self: Instance, src: Value, src_mask: Value = None, src_key_padding_mask: Value = None,
    is_causal: Value = False,
) -> Value:  # fmt: skip
    """A call of nn.TransformerEncoderLayer: (T, N, d_model), unchanged."""
    x = src
    if fast_path.encodes_fast(run, self, src, MultiheadAttention):
        return encoded_fast(run, self, src, src_mask, src_key_padding_mask)
    masks = (src_mask, src_key_padding_mask)
    if self.attributes.get("norm_first") is True:
        attended = child(run, self, "_sa_block", child(run, self, "norm1", x), *masks, is_causal=is_causal)
        x = binary(run, "+", x, attended)
        return binary(run, "+", x, child(run, self, "_ff_block", child(run, self, "norm2", x)))
    attended = child(run, self, "_sa_block", x, *masks, is_causal=is_causal)
    x = child(run, self, "norm1", binary(run, "+", x, attended))
    result = child(run, self, "norm2", binary(run, "+", x, child(run, self, "_ff_block", x)))
    # The names of its own forward pass.
    run.let_go(src, x)
    return result


def encoded_fast(run: Runtime, self: Instance, src: Value, mask: Value, padding: Value) -> Value:
    """`torch._transformer_encoder_layer_fwd`: the sums are written over the results of attention and of the second
    linear layer, the activation over that of the first one."""
    first = self.attributes.get("norm_first") is True
    x = child(run, self, "norm1", src) if first else src
    options = {"attn_mask": mask, "key_padding_mask": padding, "need_weights": False, "native_layer": True}
    attended = run.index(child(run, self, "self_attn", x, x, x, **options), 0)
    run.let_go(x)
    x = binary(run, "+", attended, src, in_place=True)
    before = x = x if first else child(run, self, "norm1", x)
    hidden = child(run, self, "linear1", child(run, self, "norm2", x) if first else x)
    gelu = attribute(run, self, "activation")
    name = "gelu" if gelu is FUNCTIONAL["gelu"] or getattr(getattr(gelu, "cls", None), "name", "") == "GELU" else "relu"
    x = child(run, self, "linear2", unary(run, name, hidden, inplace=True))
    x = binary(run, "+", x, before, in_place=True)
    result = x if first else child(run, self, "norm2", x)
    run.let_go(src, x, before)
    return result


@composite("transformer", forward=encoder_layer_forward, members=ENCODER_BLOCKS)
def TransformerEncoderLayer(
    run: Runtime, self: Instance, d_model: Value, nhead: Value, dim_feedforward: Value = 2048, dropout: Value = 0.1,
    activation: Value = FUNCTIONAL["relu"], layer_norm_eps: Value = 1e-5, batch_first: Value = False,
    norm_first: Value = False, bias: Value = True, device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """Attention, two linear layers, two norms, dropouts."""
    attention = run.construct(
        MultiheadAttention, d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
    )
    set_attribute(run, self, "self_attn", attention)
    feed_forward(run, self, d_model, dim_feedforward, dropout, bias, dtype)
    self.attributes["norm_first"] = norm_first
    sublayers(run, self, 2, d_model, layer_norm_eps, dropout, bias)
    set_attribute(run, self, "activation", activation_of(run, activation))


def decoder_layer_forward(
    run: Runtime, self: Instance, tgt: Value, memory: Value, tgt_mask: Value = None, memory_mask: Value = None,
    tgt_key_padding_mask: Value = None, memory_key_padding_mask: Value = None, tgt_is_causal: Value = False,
    memory_is_causal: Value = False,
) -> Value:  # fmt: skip
    """A call of nn.TransformerDecoderLayer: the target (T, N, d_model), unchanged, with a memory (S, N, d_model)."""

    def own(x: Value) -> Value:
        return child(run, self, "_sa_block", x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

    def cross(x: Value) -> Value:
        masks = (memory_mask, memory_key_padding_mask)
        return child(run, self, "_mha_block", x, memory, *masks, memory_is_causal)

    x = tgt
    if self.attributes.get("norm_first") is True:
        x = binary(run, "+", x, own(child(run, self, "norm1", x)))
        x = binary(run, "+", x, cross(child(run, self, "norm2", x)))
        return binary(run, "+", x, child(run, self, "_ff_block", child(run, self, "norm3", x)))
    x = child(run, self, "norm1", binary(run, "+", x, own(x)))
    crossed = child(run, self, "norm2", binary(run, "+", x, cross(x)))
    run.let_go(x)
    result = child(run, self, "norm3", binary(run, "+", crossed, child(run, self, "_ff_block", crossed)))
    run.let_go(tgt, memory, crossed)
    return result


@composite("transformer", forward=decoder_layer_forward, members=DECODER_BLOCKS)
def TransformerDecoderLayer(
    run: Runtime, self: Instance, d_model: Value, nhead: Value, dim_feedforward: Value = 2048, dropout: Value = 0.1,
    activation: Value = FUNCTIONAL["relu"], layer_norm_eps: Value = 1e-5, batch_first: Value = False,
    norm_first: Value = False, bias: Value = True, device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """Two attentions, two linear layers, three norms, dropouts."""
    for name in ("self_attn", "multihead_attn"):
        attention = run.construct(
            MultiheadAttention, d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
        )
        set_attribute(run, self, name, attention)
    feed_forward(run, self, d_model, dim_feedforward, dropout, bias, dtype)
    self.attributes["norm_first"] = norm_first
    sublayers(run, self, 3, d_model, layer_norm_eps, dropout, bias)
    set_attribute(run, self, "activation", activation_of(run, activation))


def clones(run: Runtime, layer: Value, count: Value) -> Value:
    """`_get_clones`: independent copies of a layer in a ModuleList."""
    if not isinstance(count, int) or not isinstance(layer, Instance):
        cause = next((value for value in (count, layer) if isinstance(value, Unknown)), None)
        unknown = run.unknown("the layers of a transformer are not known") if cause is None else cause
        return run.construct(MODULE_LIST, [unknown])
    run.check_size(max(0, count))
    return run.construct(MODULE_LIST, [deep_copy(layer) for _ in range(count)])


def stack_forward(run: Runtime, self: Instance, x: Value, *args: Value, **kwargs: Value) -> Value:
    """Every layer in turn, then the final norm."""
    layers = run.items(attribute(run, self, "layers"))
    for layer in [layers] if isinstance(layers, Unknown) else layers:
        before, x = x, run.call(layer, x, *args, **kwargs)
        run.let_go(before)
    norm = attribute(run, self, "norm")
    return x if norm is None else run.call(norm, x)


def encoder_forward(
    run: Runtime, self: Instance, src: Value, mask: Value = None, src_key_padding_mask: Value = None,
    is_causal: Value = None,
) -> Value:  # fmt: skip
    """A call of nn.TransformerEncoder: all its layers, then its norm."""
    causal = is_causal is True
    layers = run.items(attribute(run, self, "layers"))
    layer = layers[0] if isinstance(layers, list) and layers else None
    cause = fast_path.is_nested(run, self, src, layer, src_key_padding_mask, MultiheadAttention)
    if cause is not None:
        found = tensor_of(src)
        shape = found.shape if isinstance(found, Tensor) else found
        src = apply(run, NotDerived(shape, cause), src, function="TransformerEncoder")
    return stack_forward(run, self, src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=causal)


@composite("transformer", forward=encoder_forward)
def TransformerEncoder(
    run: Runtime, self: Instance, encoder_layer: Value, num_layers: Value, norm: Value = None,
    enable_nested_tensor: Value = True, mask_check: Value = True,
) -> None:  # fmt: skip
    """So many copies of a layer, and a norm."""
    set_attribute(run, self, "layers", clones(run, encoder_layer, num_layers))
    self.attributes.update(num_layers=num_layers, enable_nested_tensor=enable_nested_tensor)
    set_attribute(run, self, "norm", norm)


def decoder_forward(
    run: Runtime, self: Instance, tgt: Value, memory: Value, tgt_mask: Value = None, memory_mask: Value = None,
    tgt_key_padding_mask: Value = None, memory_key_padding_mask: Value = None, tgt_is_causal: Value = None,
    memory_is_causal: Value = False,
) -> Value:  # fmt: skip
    """A call of nn.TransformerDecoder: all its layers, then its norm."""
    return stack_forward(
        run, self, tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
        tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
        tgt_is_causal=tgt_is_causal is True, memory_is_causal=memory_is_causal,
    )  # fmt: skip


@composite("transformer", forward=decoder_forward)
def TransformerDecoder(
    run: Runtime, self: Instance, decoder_layer: Value, num_layers: Value, norm: Value = None
) -> None:
    """So many copies of a layer, and a norm."""
    set_attribute(run, self, "layers", clones(run, decoder_layer, num_layers))
    self.attributes["num_layers"] = num_layers
    set_attribute(run, self, "norm", norm)


def transformer_forward(
    run: Runtime, self: Instance, src: Value, tgt: Value, src_mask: Value = None, tgt_mask: Value = None,
    memory_mask: Value = None, src_key_padding_mask: Value = None, tgt_key_padding_mask: Value = None,
    memory_key_padding_mask: Value = None, src_is_causal: Value = None, tgt_is_causal: Value = None,
    memory_is_causal: Value = False,
) -> Value:  # fmt: skip
    """A call of nn.Transformer: source (S, N, d_model) and target (T, N, d_model) to (T, N, d_model)."""
    memory = child(
        run, self, "encoder", src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
    )
    return child(
        run, self, "decoder", tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
        tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
        tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
    )  # fmt: skip


@composite("transformer", forward=transformer_forward)
def Transformer(
    run: Runtime, self: Instance, d_model: Value = 512, nhead: Value = 8, num_encoder_layers: Value = 6,
    num_decoder_layers: Value = 6, dim_feedforward: Value = 2048, dropout: Value = 0.1,
    activation: Value = FUNCTIONAL["relu"], custom_encoder: Value = None, custom_decoder: Value = None,
    layer_norm_eps: Value = 1e-5, batch_first: Value = False, norm_first: Value = False, bias: Value = True,
    device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """An encoder and a decoder."""
    options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
    encoder, decoder = custom_encoder, custom_decoder
    if encoder is None:
        layer = run.construct(TransformerEncoderLayer, *options, dtype=dtype)
        norm = run.construct(LayerNorm, d_model, eps=layer_norm_eps, bias=bias)
        encoder = run.construct(TransformerEncoder, layer, num_encoder_layers, norm)
    if decoder is None:
        layer = run.construct(TransformerDecoderLayer, *options, dtype=dtype)
        norm = run.construct(LayerNorm, d_model, eps=layer_norm_eps, bias=bias)
        decoder = run.construct(TransformerDecoder, layer, num_decoder_layers, norm)
    set_attribute(run, self, "encoder", encoder)
    set_attribute(run, self, "decoder", decoder)
    self.attributes.update(d_model=d_model, nhead=nhead, batch_first=batch_first)


def square_subsequent_mask(run: Runtime, sz: Value, device: Value = None, dtype: Value = None) -> Value:
    """The mask of a causal attention, (sz, sz): what is above the diagonal of another one."""
    full, made = (Tensor((whole(sz), whole(sz)), dtype_of(dtype)) for _ in range(2))
    for each in (full, made):
        each.moved = each.made_there = device is not None and not is_host(device)
        born(run, each)
    note_made(run, note_made(run, made), full)
    return made


Transformer.namespace["generate_square_subsequent_mask"] = StaticMethod(
    Native("generate_square_subsequent_mask", square_subsequent_mask, propagate_unknown=False)
)
