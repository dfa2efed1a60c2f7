"""flax.linen's layers: each a module whose call runs one op, or a few, on its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from flake8_cnnmem.frameworks.flax import computing
from flake8_cnnmem.frameworks.flax.arrays import apply, as_array, plain
from flake8_cnnmem.frameworks.flax.fields import FIELDS
from flake8_cnnmem.frameworks.flax.jax.products import attend
from flake8_cnnmem.frameworks.flax.linen.module import MODULE, make_weight, run_method
from flake8_cnnmem.frameworks.flax.linen.signatures import SIGNATURES
from flake8_cnnmem.frameworks.flax.signatures import fields
from flake8_cnnmem.graph import Op, Tensor, WeightSpec
from flake8_cnnmem.ops import Heads, Matmul, Transpose
from flake8_cnnmem.ops.base import quotient
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

LAYERS: dict[str, Class] = {}


def maker(run: Runtime, self: Instance) -> computing.Maker:
    """Makes a layer's parameters in its own scope."""

    def make(name: str, spec: WeightSpec) -> Value:
        return make_weight(
            run,
            self,
            name,
            spec.shape,
            computing.stored_dtype(self.attributes, spec),
            spec.buffer or not spec.trainable,
        )

    return make


def layer(name: str, call: Callable[..., Value], **more: Callable[..., Value]) -> Class:
    """Register a layer class with Flax's own fields. `call(run, self, *args)` is what its call does, `more` are its
    other methods."""

    def method(word: str, function: Callable[..., Value]) -> Native:
        inner = Native(word, function, propagate_unknown=False)

        def within(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
            bound = Native(word, lambda run, *args, **kwargs: function(run, self, *args, **kwargs), False)
            return run_method(run, self, bound, args, kwargs, True)

        within.__wrapped__ = function  # type: ignore[attr-defined]
        return Native(inner.name, within, propagate_unknown=False)

    methods = {"__call__": call, **more}
    namespace: dict[str, Value] = {word: method(word, body) for word, body in methods.items()}
    cls = Class(name, (MODULE,), namespace, module="flax.linen", facts={FIELDS: fields(SIGNATURES[name])})
    LAYERS[name] = cls
    return cls


def child(run: Runtime, self: Instance, name: str, cls: Class, **told: Value) -> Instance | Unknown:
    """A layer of the layer's own, under this name."""
    dtypes: dict[str, Value] = {word: self.attributes.get(word) for word in ("dtype", "param_dtype")}
    # A class of ours gives its instance.
    return cast("Instance | Unknown", run.construct(cls, name=name, parent=self, **{**dtypes, **told}))


# --- one op each ------------------------------------------------------------------------------------------------------


def call_dense(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of Dense: (..., in) to (..., features)."""
    held = self.attributes
    return computing.run_op(run, computing.dense(held), held, maker(run, self), inputs, function=self.cls.name)


def call_conv(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of Conv: (N, sides, in) to (N, sides, features)."""
    held = self.attributes
    return computing.convolve(run, computing.convolution(held), held, maker(run, self), inputs, self.cls.name)


def call_conv_transpose(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of ConvTranspose: (N, sides, in) to (N, sides, features)."""
    held = self.attributes
    return computing.convolve(run, computing.transposed(held), held, maker(run, self), inputs, self.cls.name)


def call_general(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of DenseGeneral: the named axes become `features`."""
    return computing.general(run, self.attributes, maker(run, self), inputs, self.cls.name)


def call_embed(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of Embed: indices (...) to (..., features)."""
    held = self.attributes
    return computing.run_op(run, computing.embedding(held), held, maker(run, self), inputs, function="Embed")


def attend_embed(run: Runtime, self: Instance, query: Value) -> Value:
    """`embed.attend(x)`: the product of each row with every embedding."""
    held = self.attributes
    shape = (computing.count(held.get("num_embeddings")), computing.count(held.get("features")))
    table = maker(run, self)("embedding", WeightSpec(shape))
    return apply(run, Matmul(), query, apply(run, Transpose(0, 1), table, function="transpose"), function="attend")


def call_batch_norm(
    run: Runtime, self: Instance, x: Value, use_running_average: Value = None, *, mask: Value = None
) -> Value:
    """A call of BatchNorm: the input's shape."""
    held = self.attributes
    averaged = computing.merged(run, "use_running_average", held.get("use_running_average"), use_running_average)
    return computing.run_op(
        run, computing.batch_norm(held, averaged), held, maker(run, self), x, function="BatchNorm"
    )  # fmt: skip


def norm(make_op: Callable[[computing.Held], Op]) -> Callable[..., Value]:
    """The call of a normalization whose op needs nothing but the layer's fields."""

    def call(run: Runtime, self: Instance, x: Value, *, mask: Value = None) -> Value:
        held = self.attributes
        return computing.run_op(run, make_op(held), held, maker(run, self), x, function=self.cls.name)

    return call


def call_group_norm(run: Runtime, self: Instance, x: Value, *, mask: Value = None) -> Value:
    """A call of GroupNorm: the input's shape."""
    held, array = self.attributes, as_array(run, x)
    op = computing.group_norm(held, array if isinstance(array, Unknown) else array.shape)
    if isinstance(op, Unknown):
        return op
    return computing.run_op(run, op, held, maker(run, self), array, function="GroupNorm")


def call_dropout(
    run: Runtime, self: Instance, inputs: Value, deterministic: Value = None, rng: Value = None
) -> Value:  # fmt: skip
    """A call of Dropout: the input's shape."""
    held = self.attributes
    fixed = computing.merged(run, "deterministic", held.get("deterministic"), deterministic)
    op = computing.dropout(held, fixed)
    return inputs if op.idle else apply(run, op, inputs, function="Dropout")


def call_prelu(run: Runtime, self: Instance, inputs: Value) -> Value:
    """A call of PReLU: the input's shape."""
    held = self.attributes
    return computing.run_op(run, computing.prelu(held), held, maker(run, self), inputs, function="PReLU")


layer("Dense", call_dense)
layer("Conv", call_conv)
layer("ConvTranspose", call_conv_transpose)
DENSE_GENERAL = layer("DenseGeneral", call_general)
layer("Embed", call_embed, attend=attend_embed)
layer("BatchNorm", call_batch_norm)
LAYER_NORM = layer("LayerNorm", norm(computing.layer_norm))
layer("RMSNorm", norm(computing.rms_norm))
layer("InstanceNorm", norm(computing.instance_norm))
layer("GroupNorm", call_group_norm)
layer("Dropout", call_dropout)
layer("PReLU", call_prelu)


# --- containers -------------------------------------------------------------------------------------------------------


def call_sequential(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """What each layer gives goes into the next one: a tuple as its arguments, a dict as those by name."""
    layers = run.items(self.attributes.get("layers"))
    if isinstance(layers, Unknown):
        return layers
    for at, each in enumerate(layers):
        result = run.call(each, *args, **kwargs)
        if at + 1 < len(layers):
            args = result if isinstance(result, tuple) else () if isinstance(result, dict) else (result,)
            kwargs = result if isinstance(result, dict) else {}
        else:
            return result
    raise run.error("ValueError", "Empty Sequential module")


layer("Sequential", call_sequential)


# --- attention --------------------------------------------------------------------------------------------------------


def call_attention(
    run: Runtime, self: Instance, inputs_q: Value, inputs_k: Value = None, inputs_v: Value = None, *,
    inputs_kv: Value = None, mask: Value = None, deterministic: Value = None, dropout_rng: Value = None,
    sow_weights: Value = False,
) -> Value:  # fmt: skip
    """Projections of query, key and value to heads, their attention, and the projection of all heads together."""
    keys = inputs_kv if inputs_k is None and inputs_kv is not None else inputs_q if inputs_k is None else inputs_k
    values = keys if inputs_v is None else inputs_v
    query = as_array(run, inputs_q)
    if isinstance(query, Unknown) or isinstance(query.shape, Unknown):
        return query if isinstance(query, Unknown) else query.shape
    held, last = self.attributes, query.shape[-1] if query.shape else run.unknown("a query without axes")
    heads = computing.count(held.get("num_heads"))
    width = last if held.get("qkv_features") is None else computing.count(held["qkv_features"])
    out = last if held.get("out_features") is None else computing.count(held["out_features"])
    query = cast("Tensor", apply(run, Heads(width, heads), query, function=self.cls.name))
    told = {"use_bias": held.get("use_bias", True), "features": (heads, quotient(width, heads))}
    parts = []
    for name, value in (("query", query), ("key", keys), ("value", values)):
        part = run.call(child(run, self, name, DENSE_GENERAL, **told), value)
        if held.get("normalize_qk") is True and name != "value":
            part = run.call(child(run, self, f"{name}_ln", LAYER_NORM, use_bias=False), part)
        parts.append(part)
    fixed = computing.merged(run, "deterministic", held.get("deterministic"), deterministic)
    rate = 0.0 if fixed is True else plain(held.get("dropout_rate", 0.0))
    attended = attend(run, *parts, dropout=rate, name="dot_product_attention")
    return run.call(
        child(run, self, "out", DENSE_GENERAL, features=out, axis=(-2, -1), use_bias=held.get("use_bias", True)),
        attended,
    )


def call_self_attention(
    run: Runtime, self: Instance, inputs_q: Value, mask: Value = None, deterministic: Value = None,
    dropout_rng: Value = None, sow_weights: Value = False,
) -> Value:  # fmt: skip
    """A call of SelfAttention: (N, L, features) to the same."""
    return call_attention(run, self, inputs_q, mask=mask, deterministic=deterministic)


layer("MultiHeadDotProductAttention", call_attention)
layer("MultiHeadAttention", call_attention)
layer("SelfAttention", call_self_attention)


def remat(run: Runtime, target: Value = None, *args: Value, **options: Value) -> Value:
    """`nn.remat`: a module class whose calls are computed again on the way back; of a function the same."""
    from flake8_cnnmem.frameworks.flax.jax.transforms import checkpoint
    from flake8_cnnmem.frameworks.flax.linen.module import CHECKPOINT

    if not isinstance(target, Class):
        return checkpoint(run, target, **options)
    name = f"Checkpoint{target.name}"
    return Class(name, (target,), {}, module=target.module, site=target.site, facts={CHECKPOINT: True})
