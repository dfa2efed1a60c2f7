"""flax.nnx's layers: their parameters are made when they are, for the sizes that they are told."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.flax import computing
from flake8_cnnmem.frameworks.flax.arrays import apply, as_array, plain
from flake8_cnnmem.frameworks.flax.jax.products import attend
from flake8_cnnmem.frameworks.flax.layouts import parameters_of
from flake8_cnnmem.frameworks.flax.linen.layers import call_sequential
from flake8_cnnmem.frameworks.flax.nnx.module import MODULE
from flake8_cnnmem.frameworks.flax.nnx.signatures import SIGNATURES
from flake8_cnnmem.frameworks.flax.signatures import fields, positional
from flake8_cnnmem.graph import Mismatch, Op, Tensor, Weight, WeightSpec
from flake8_cnnmem.ops import BatchNorm, Convolution, GroupNorm, Heads, Linear, Matmul, Transpose
from flake8_cnnmem.ops.base import asked, quotient
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

LAYERS: dict[str, Class] = {}


def maker(run: Runtime, self: Instance) -> computing.Maker:
    """Gives a layer's parameter, and makes it while the layer is made."""

    def make(name: str, spec: WeightSpec) -> Value:
        found = self.attributes.get(name)
        if not isinstance(found, Tensor):
            dtype = computing.stored_dtype(self.attributes, spec)
            buffer = spec.buffer or not spec.trainable
            found = Weight(spec.shape, dtype, framework="flax", name=name, trainable=not buffer, buffer=buffer,
                           site=run.here())  # fmt: skip
            run.changed(self)
            self.attributes[name] = found
        return found

    return make


def layer(
    name: str, build: Callable[..., None] | None, call: Callable[..., Value], **more: Callable[..., Value]
) -> Class:
    """Register a layer class with nnx's own parameters. `build(run, self)` makes what it holds."""
    signature = SIGNATURES[name]
    known, count = fields(signature), positional(signature)
    words = list(known)

    def initialise(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
        if len(args) > count:
            raise TypeError(f"{name}.__init__() takes {count + 1} positional arguments but {len(args) + 1} were given")
        bound = dict(zip(words, args, strict=False))
        for word, value in kwargs.items():
            if word not in known or word in bound:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{word}'")
            bound[word] = value
        for word, default in known.items():
            if word not in bound:
                if default is MISSING:
                    raise TypeError(f"{name}.__init__() missing 1 required argument: '{word}'")
                bound[word] = default
        run.changed(self)
        # Keys are of use while the layer is made alone.
        self.attributes.update((word, value) for word, value in bound.items() if word != "rngs")
        if build is not None:
            build(run, self)

    def within(function: Callable[..., Value]) -> Native:
        def method(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
            with run.enter(self):
                return function(run, self, *args, **kwargs)

        return Native("__call__", method, propagate_unknown=False)

    namespace = {"__init__": Native("__init__", initialise, propagate_unknown=False), "__call__": within(call)}
    namespace |= {word: within(body) for word, body in more.items()}
    LAYERS[name] = cls = Class(name, (MODULE,), namespace, module="flax.nnx")
    return cls


def own(run: Runtime, self: Instance, op: Op) -> None:
    """Make the parameters of an op that declares its sizes."""
    make = maker(run, self)
    try:
        specs = parameters_of(op)
    except Mismatch as mismatch:
        raise run.error("ValueError", mismatch.problem.what) from None
    for name, spec in specs.items():
        make(name, spec)


def size(self: Instance, word: str) -> Size:
    """A size among a layer's attributes."""
    return computing.count(self.attributes.get(word))


def one_op(make_op: Callable[[Instance], Op | Unknown]) -> tuple[Callable[..., None], Callable[..., Value]]:
    """A layer of one op: what builds it, and what its call does."""

    def build(run: Runtime, self: Instance) -> None:
        op = make_op(self)
        if isinstance(op, Unknown):
            maker(run, self)("kernel", WeightSpec((op,)))
        else:
            own(run, self, op)

    def call(run: Runtime, self: Instance, inputs: Value, *args: Value, **options: Value) -> Value:
        op, held = make_op(self), self.attributes
        if isinstance(op, Unknown):
            return op
        if isinstance(op, Convolution):
            return computing.convolve(run, op, held, maker(run, self), inputs, self.cls.name)
        return computing.run_op(run, op, held, maker(run, self), inputs, function=self.cls.name)

    return build, call


def linear(self: Instance) -> Linear:
    """The op of nnx.Linear."""
    return computing.dense(self.attributes, size(self, "in_features"))


def convolution(self: Instance) -> Op | Unknown:
    """The op of nnx.Conv; unknown where its kernel is."""
    return computing.convolution(self.attributes, size(self, "in_features"))


def transposed(self: Instance) -> Op | Unknown:
    """The op of nnx.ConvTranspose; unknown where its kernel is."""
    return computing.transposed(self.attributes, size(self, "in_features"))


def embedding(self: Instance) -> Op:
    """The op of nnx.Embed."""
    return computing.embedding(self.attributes)


def layer_norm(self: Instance) -> Op:
    """The op of nnx.LayerNorm."""
    return computing.with_features(computing.layer_norm(self.attributes), size(self, "num_features"))


def rms_norm(self: Instance) -> Op:
    """The op of nnx.RMSNorm."""
    return computing.with_features(computing.rms_norm(self.attributes), size(self, "num_features"))


def group_norm(self: Instance) -> Op | Unknown:
    """The op of nnx.GroupNorm."""
    features = size(self, "num_features")
    op = computing.group_norm(self.attributes, (features,))
    return computing.with_features(op, features) if isinstance(op, GroupNorm) else op


def prelu(self: Instance) -> Op:
    """The op of nnx.PReLU."""
    return computing.prelu(self.attributes)


def batch_norm(self: Instance, averaged: Value = None) -> BatchNorm:
    """The op of nnx.BatchNorm, by running statistics where `averaged` says so."""
    uses = computing.merged(None, "use_running_average", self.attributes.get("use_running_average"), averaged)  # type: ignore[arg-type]
    return computing.batch_norm(self.attributes, uses, size(self, "num_features"))


def build_batch_norm(run: Runtime, self: Instance) -> None:
    """Make the weights and statistics of nnx.BatchNorm."""
    own(run, self, batch_norm(self))


def call_batch_norm(
    run: Runtime, self: Instance, x: Value, use_running_average: Value = None, *, mask: Value = None
) -> Value:
    """A call of nnx.BatchNorm: the input's shape."""
    op = batch_norm(self, use_running_average)
    return computing.run_op(run, op, self.attributes, maker(run, self), x, function="BatchNorm")


def attend_embed(run: Runtime, self: Instance, query: Value) -> Value:
    """`embed.attend(query)`: (..., features) to (..., num_embeddings)."""
    table = apply(run, Transpose(0, 1), self.attributes["embedding"], function="transpose")
    return apply(run, Matmul(), query, table, function="attend")


def call_dropout(
    run: Runtime, self: Instance, inputs: Value, *, deterministic: Value = None, rngs: Value = None
) -> Value:  # fmt: skip
    """A call of nnx.Dropout: the input's shape."""
    op = computing.dropout(
        self.attributes, computing.merged(run, "", self.attributes.get("deterministic"), deterministic)
    )
    return inputs if op.idle else apply(run, op, inputs, function="Dropout")


def build_general(run: Runtime, self: Instance) -> None:
    """Make the weights of nnx.LinearGeneral."""
    held, make = self.attributes, maker(run, self)
    inputs, features = plain(held.get("in_features")), plain(held.get("out_features"))
    pair = [each if isinstance(each, tuple) else tuple(each) if isinstance(each, list) else (each,)
            for each in (inputs, features)]  # fmt: skip
    make("kernel", WeightSpec((*pair[0], *pair[1])))
    if asked(held.get("use_bias", True)) is not False:
        make("bias", WeightSpec(pair[1]))


def call_general(run: Runtime, self: Instance, inputs: Value, *args: Value, **options: Value) -> Value:
    """A call of nnx.LinearGeneral: the named axes become `out_features`."""
    return computing.general(run, self.attributes, maker(run, self), inputs, self.cls.name)


layer("Linear", *one_op(linear))
layer("Conv", *one_op(convolution))
layer("ConvTranspose", *one_op(transposed))
layer("Embed", *one_op(embedding), attend=attend_embed)
LAYER_NORM = layer("LayerNorm", *one_op(layer_norm))
layer("RMSNorm", *one_op(rms_norm))
layer("GroupNorm", *one_op(group_norm))
layer("PReLU", *one_op(prelu))
layer("BatchNorm", build_batch_norm, call_batch_norm)
layer("Dropout", None, call_dropout)
LINEAR_GENERAL = layer("LinearGeneral", build_general, call_general)


# --- attention --------------------------------------------------------------------------------------------------------


def build_attention(run: Runtime, self: Instance) -> None:
    """Make the projections of nnx.MultiHeadAttention."""
    held = self.attributes
    features, heads = size(self, "in_features"), size(self, "num_heads")
    width = features if held.get("qkv_features") is None else size(self, "qkv_features")
    keys = features if held.get("in_kv_features") is None else size(self, "in_kv_features")
    out = features if held.get("out_features") is None else size(self, "out_features")
    shared = heads if held.get("num_kv_heads") is None else size(self, "num_kv_heads")
    each = quotient(width, heads)
    told = {"use_bias": held.get("use_bias", True), "rngs": None, "dtype": held.get("dtype"),
            "param_dtype": held.get("param_dtype")}  # fmt: skip
    for name, inputs, count in (("query", features, heads), ("key", keys, shared), ("value", keys, shared)):
        held[name] = run.construct(LINEAR_GENERAL, inputs, (count, each), **told)
    held["out"] = run.construct(LINEAR_GENERAL, (heads, each), out, axis=(-2, -1), **told)
    if held.get("normalize_qk") is True:
        for name in ("query_ln", "key_ln"):
            held[name] = run.construct(LAYER_NORM, each, use_bias=False, rngs=None)


def call_attention(
    run: Runtime, self: Instance, inputs_q: Value, inputs_k: Value = None, inputs_v: Value = None, *,
    mask: Value = None, deterministic: Value = None, **options: Value,
) -> Value:  # fmt: skip
    """A call of nnx.MultiHeadAttention: (N, L, features) to (N, L, out_features)."""
    held = self.attributes
    keys = inputs_q if inputs_k is None else inputs_k
    values = keys if inputs_v is None else inputs_v
    width = size(self, "in_features") if held.get("qkv_features") is None else size(self, "qkv_features")
    query = apply(run, Heads(width, size(self, "num_heads")), as_array(run, inputs_q), function=self.cls.name)
    parts = []
    for name, value in (("query", query), ("key", keys), ("value", values)):
        part = run.call(held[name], value)
        parts.append(run.call(held[f"{name}_ln"], part) if f"{name}_ln" in held else part)
    fixed = computing.merged(run, "deterministic", held.get("deterministic"), deterministic)
    rate = 0.0 if fixed is True else plain(held.get("dropout_rate", 0.0))
    return run.call(held["out"], attend(run, *parts, dropout=rate, name="dot_product_attention"))


layer("MultiHeadAttention", build_attention, call_attention)


def sequential_init(run: Runtime, self: Instance, *fns: Value) -> None:
    """`nnx.Sequential(*fns)`."""
    run.changed(self)
    self.attributes["layers"] = list(fns)


def sequential_call(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """The input through all functions, one after the other."""
    with run.enter(self):
        return call_sequential(run, self, *args, **kwargs)


LAYERS["Sequential"] = Class(
    "Sequential",
    (MODULE,),
    {
        "__init__": Native("__init__", sequential_init, propagate_unknown=False),
        "__call__": Native("__call__", sequential_call, propagate_unknown=False),
    },
    module="flax.nnx",
)
