"""Low-rank adaptation (LoRA): `layer.enable_lora(rank)`, or `lora_rank=` at its construction.

The layer's own matrix no longer trains; two narrow ones do, whose product is added to it at each call
(keras/src/layers/core/dense.py, embedding.py, einsum_dense.py, convolutional/base_conv.py).
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.layers.convolutional import Conv1D, Conv2D, Conv3D
from flake8_cnnmem.frameworks.keras.layers.core import Dense, EinsumDense, Embedding
from flake8_cnnmem.frameworks.keras.ops.elementwise import binary, unary
from flake8_cnnmem.frameworks.keras.ops.matrices import matmul
from flake8_cnnmem.frameworks.keras.ops.windows import bias_add, conv
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.tracking import make_weight, state_of
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Einsum
from flake8_cnnmem.ops import Embedding as EmbeddingOp
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

ENABLED = "lora_enabled"


def own_name(layer: Instance) -> str:
    """The name of the weight that a low-rank update is added to."""
    return "embeddings" if layer.cls.derives_from(Embedding) else "kernel"


def enable(
    run: Runtime, self: Instance, rank: Value = None, lora_alpha: Value = None, a_initializer: Value = "he_uniform",
    b_initializer: Value = "zeros",
) -> None:  # fmt: skip
    """Two narrow matrices beside the layer's own, which is frozen."""
    state, name = state_of(run, self), own_name(self)
    if not state.built:
        raise run.error("ValueError", "Cannot enable lora on a layer that isn't yet built.")
    if self.attributes.get(ENABLED) is True:
        raise run.error("ValueError", "lora is already enabled. This can only be done once per layer.")
    own = self.attributes.get(name)
    shape = own.shape if isinstance(own, Weight) else run.unknown("the matrix of a layer is not known")
    given = rank if type(rank) is int else rank if isinstance(rank, Unknown) else run.unknown("a rank is not known")
    first, second = ((shape,), (shape,)) if isinstance(shape, Unknown) else ((*shape[:-1], given), (given, shape[-1]))
    run.changed(self)
    for part, sizes in (("a", first), ("b", second)):
        self.attributes[f"lora_{name}_{part}"] = make_weight(run, self, f"lora_{name}_{part}", sizes)
    if isinstance(own, Weight):
        state.frozen.add(id(own))
        own.trainable = False
    self.attributes.update({ENABLED: True, "lora_rank": rank, "lora_alpha": rank if lora_alpha is None else lora_alpha})
    session_of(run).altered.add(id(self))


def product(run: Runtime, self: Instance, left: Value) -> Value:
    """What is added: the left matrix (or rows of it) times the right one, times a number."""
    return unary(run, matmul(run, left, self.attributes[f"lora_{own_name(self)}_b"]), kind="scale")


def matrix(run: Runtime, self: Instance) -> Value:
    """The kernel with its low-rank update added."""
    return binary(run, self.attributes["kernel"], product(run, self, self.attributes["lora_kernel_a"]), kind="add")


def activated(run: Runtime, self: Instance, result: Value) -> Value:
    """A result through the layer's activation."""
    return activations.apply(run, self.attributes.get("activation"), result)


def dense(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Dense with a low-rank update."""
    result = matmul(run, inputs, matrix(run, self))
    bias = self.attributes.get("bias")
    return activated(run, self, binary(run, result, bias, kind="add") if isinstance(bias, Weight) else result)


def convolution(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of a convolution with a low-rank update."""
    own = self.attributes
    result = conv(
        run, inputs, matrix(run, self), own.get("strides"), own.get("padding"), own.get("data_format"),
        own.get("dilation_rate"),
    )  # fmt: skip
    bias = own.get("bias")
    return activated(run, self, bias_add(run, result, bias, own.get("data_format")) if bias is not None else result)


def embedding(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Embedding with a low-rank update."""
    own, (rows, rank) = self.attributes, self.attributes["lora_embeddings_a"].shape

    def looked_up(table: Value, width: Size) -> Value:
        op = EmbeddingOp(rows, width)
        return run.apply(op, inputs, weights=[table], function=self.cls.name, dtypes=["float"], framework="keras")

    found = looked_up(own["embeddings"], own["embeddings"].shape[-1])
    return binary(run, found, product(run, self, looked_up(own["lora_embeddings_a"], rank)), kind="add")


def einsum(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of EinsumDense with a low-rank update."""
    own = self.attributes
    result = run.apply(Einsum(own["equation"]), inputs, matrix(run, self), function=self.cls.name, framework="keras")
    bias = own.get("bias")
    return activated(run, self, binary(run, result, bias, kind="add") if isinstance(bias, Weight) else result)


def adaptable(cls: Class, adapted: Callable[..., Value]) -> None:
    """Give a layer class what it takes: the method, the words of its construction, and its call once adapted."""
    build, call = cls.namespace["build"].function, cls.namespace["call"].function

    def build_adapted(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        result = build(run, self, *args, **kwargs)
        rank = self.attributes.get("lora_rank")
        if rank and not isinstance(result, Unknown) and self.attributes.get(ENABLED) is not True:
            enable(run, self, rank, self.attributes.get("lora_alpha"))
        return result

    def call_adapted(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
        chosen = adapted if self.attributes.get(ENABLED) is True and isinstance(inputs, Tensor) else call
        return chosen(run, self, inputs, *args, **options)

    cls.namespace.update(
        build=Native("build", build_adapted, propagate_unknown=False),
        call=Native("call", call_adapted, propagate_unknown=False),
        enable_lora=Native("enable_lora", enable, propagate_unknown=False),
    )
    cls.namespace.setdefault(ENABLED, False)


for _cls, _adapted in (
    (Dense, dense), (Embedding, embedding), (EinsumDense, einsum), (Conv1D, convolution), (Conv2D, convolution),
    (Conv3D, convolution),
):  # fmt: skip
    adaptable(_cls, _adapted)
