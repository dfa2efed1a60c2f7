"""torch.nn's matrix layers and embeddings."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import (
    attribute,
    embedding_bag,
    linear_op,
    look_up,
    weight_shape,
)
from flake8_cnnmem.frameworks.torch.nn.layer import BIAS, current, layer
from flake8_cnnmem.frameworks.torch.nn.modules.module import put
from flake8_cnnmem.frameworks.torch.nn.parameter import make_parameter
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Bilinear as BilinearOp
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.ops import Embedding as EmbeddingOp
from flake8_cnnmem.ops import Linear as LinearOp
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, StaticMethod, Value


def identity_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Identity: its input, which may be a list or None as well."""
    if not isinstance(input, (Tensor, Instance, Unknown)):
        return input
    return apply(run, Elementwise("identity"), input, function="Identity")


@layer("linear", weighted=False, forward=identity_forward)
def Identity(*args: Value, **kwargs: Value) -> Elementwise:
    """Its input, whatever it is made with."""
    return Elementwise("identity")


def linear_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Linear, by the weights that it has."""
    weight, bias = current(run, self, "weight", "bias")
    declared = self.attributes.get("out_features"), self.attributes.get("in_features")
    return apply(run, linear_op(weight, bias, declared), input, weights=(weight, bias), function="Linear")


@layer("linear", forward=linear_forward, absent=BIAS)
def Linear(
    in_features: Value, out_features: Value, bias: Value = True, device: Value = None, dtype: Value = None
) -> LinearOp:
    """(..., in_features) to (..., out_features)."""
    return LinearOp(size(out_features), size(in_features), asked(bias))


@layer("linear", Linear, absent=BIAS, forward=linear_forward)
def NonDynamicallyQuantizableLinear(
    in_features: Value, out_features: Value, bias: Value = True, device: Value = None, dtype: Value = None
) -> LinearOp:
    """nn.Linear, as the output projection of attention is one."""
    return LinearOp(size(out_features), size(in_features), asked(bias))


def bilinear_forward(run: Runtime, self: Instance, input1: Value, input2: Value) -> Value:
    """A call of nn.Bilinear, by the weights that it has."""
    weight, bias = current(run, self, "weight", "bias")
    features, left, right = weight_shape(weight, 3)
    op = BilinearOp(left, right, features, bias is not None)
    return apply(run, op, input1, input2, weights=(weight, bias), function="Bilinear")


@layer("linear", forward=bilinear_forward, absent=BIAS)
def Bilinear(
    in1_features: Value, in2_features: Value, out_features: Value, bias: Value = True, device: Value = None,
    dtype: Value = None,
) -> BilinearOp:  # fmt: skip
    """(..., in1_features) and (..., in2_features) to (..., out_features)."""
    return BilinearOp(size(in1_features), size(in2_features), size(out_features), asked(bias))


def embedding_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """A call of nn.Embedding, by the weight that it has."""
    weight = attribute(run, self, "weight")
    own = self.attributes
    return look_up(run, input, weight, own.get("padding_idx"), "Embedding", own.get("sparse"))


def from_pretrained(cls: Class) -> StaticMethod:
    """`Embedding.from_pretrained(embeddings, freeze)`: a layer with these rows."""

    def build(run: Runtime, embeddings: Value, freeze: Value = True, *args: Value, **kwargs: Value) -> Value:
        count, width = weight_shape(embeddings, 2)
        made = run.construct(cls, count, width)
        if isinstance(made, Instance):
            put(run, made, "_parameters", "weight", make_parameter(run, embeddings, freeze is False))
        return made

    return StaticMethod(Native("from_pretrained", build, propagate_unknown=False))


@layer("sparse", forward=embedding_forward)
def Embedding(
    num_embeddings: Value, embedding_dim: Value, padding_idx: Size | None = None, max_norm: Value = None,
    norm_type: Value = 2.0, scale_grad_by_freq: Value = False, sparse: Value = False, _weight: Value = None,
    _freeze: Value = False, device: Value = None, dtype: Value = None,
) -> EmbeddingOp:  # fmt: skip
    """Indices (...) to rows (..., embedding_dim)."""
    return EmbeddingOp(size(num_embeddings), size(embedding_dim), padding_idx, sparse is True)


def bag_forward(
    run: Runtime, self: Instance, input: Value, offsets: Value = None, per_sample_weights: Value = None
) -> Value:
    """A call of nn.EmbeddingBag, by the weight that it has."""
    weight, mode = current(run, self, "weight", "mode")
    return embedding_bag(run, input, weight, offsets, mode=mode)


@layer("sparse", forward=bag_forward)
def EmbeddingBag(
    num_embeddings: Value, embedding_dim: Value, max_norm: Value = None, norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False, mode: Value = "mean", sparse: Value = False, _weight: Value = None,
    include_last_offset: Value = False, padding_idx: Size | None = None, device: Value = None, dtype: Value = None,
) -> EmbeddingOp:  # fmt: skip
    """Indices (bags, length) to (bags, embedding_dim)."""
    return EmbeddingOp(size(num_embeddings), size(embedding_dim), padding_idx)


for _cls in (Embedding, EmbeddingBag):
    _cls.namespace["from_pretrained"] = from_pretrained(_cls)
