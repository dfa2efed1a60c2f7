"""Dense, EinsumDense, Embedding, Lambda, Identity, Masking (keras/src/layers/core)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.layer import build_shapes
from flake8_cnnmem.frameworks.keras.parameters import count, takes
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.frameworks.keras.tracking import make_weight, state_of
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Broadcast, Einsum, Elementwise, Linear, Matmul, Reduce, Transpose
from flake8_cnnmem.ops import Embedding as EmbeddingOp
from flake8_cnnmem.ops.base import Weightless, asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@layer(least=2)
def Dense(
    units: Value, activation: Value = None, use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, bias_regularizer: Value = None,
    activity_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    lora_rank: Value = None, lora_alpha: Value = None, quantization_config: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(..., features) to (..., units)."""
    return Linear(count(units), bias=asked(use_bias), least=1)


@layer()
def Embedding(
    input_dim: Size, output_dim: Size, embeddings_initializer: Value = "uniform",
    embeddings_regularizer: Value = None, embeddings_constraint: Value = None, mask_zero: Value = False,
    weights: Value = None, lora_rank: Value = None, lora_alpha: Value = None, quantization_config: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Indices (N, length) to (N, length, output_dim)."""
    return EmbeddingOp(input_dim, output_dim)


def call_reversible(run: Runtime, self: Instance, inputs: Value, reverse: Value = False, **options: Value) -> Value:
    """Looks rows up, or in reverse multiplies by the same matrix (or by one of its own when not tied)."""
    arguments = self.attributes
    if reverse is not True:
        return apply(run, self, EmbeddingOp(arguments["input_dim"], arguments["output_dim"]), inputs, TABLE)
    tied = arguments.get("tie_weights") is not False
    kernel = arguments.get("embeddings" if tied else "reverse_embeddings")
    if not isinstance(kernel, Tensor):
        return run.unknown("the embeddings are not built")
    if tied:
        kernel = run.apply(Transpose(0, 1), kernel, function="transpose", framework="keras")
    return run.apply(Matmul(), inputs, kernel, function=self.cls.name, dtypes=["float"], framework="keras")


TABLE = {"embeddings": "embeddings"}


def build_reversible(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the table (input_dim, output_dim), and another one for the way back unless it is tied."""
    state_of(run, self).built = True
    rows, width = self.attributes["input_dim"], self.attributes["output_dim"]
    self.attributes["embeddings"] = make_weight(run, self, "embeddings", (rows, width))
    if self.attributes.get("tie_weights") is False:
        self.attributes["reverse_embeddings"] = make_weight(run, self, "reverse_embeddings", (width, rows))


@layer(bases=(Embedding,), call=call_reversible, build=build_reversible)
def ReversibleEmbedding(
    input_dim: Value, output_dim: Value, tie_weights: Value = True, embeddings_initializer: Value = "uniform",
    embeddings_regularizer: Value = None, embeddings_constraint: Value = None, mask_zero: Value = False,
    reverse_dtype: Value = None, logit_soft_cap: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Indices to rows, and with `reverse` rows to scores (..., input_dim)."""
    return ()


@layer()
def Identity(**kwargs: Value) -> Ops:
    """Gives its input on: the same shape."""
    return Elementwise("identity")


@layer()
def Masking(mask_value: Value = 0.0, **kwargs: Value) -> Ops:
    """Its input, with zeros where a step holds `mask_value` alone."""
    return Elementwise("scale")


def call_lambda(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    """A call of Lambda: its function with its arguments."""
    function = self.attributes.get("function")
    given = self.attributes.get("arguments")
    given = dict(given) if isinstance(given, dict) else {}
    for word in ("mask", "training"):
        if word in options and word not in given and takes(function, word):
            given[word] = options[word]
    if isinstance(function, Unknown):
        return lambda_by_shape(run, self, inputs, function)
    result = run.call(function, inputs, *args, **given)
    return lambda_by_shape(run, self, inputs, result) if isinstance(result, Unknown) else result


def lambda_by_shape(run: Runtime, self: Instance, inputs: Value, cause: Unknown) -> Value:
    """What a function that could not be followed gives, where `output_shape=` says it."""
    target = self.attributes.get("output_shape")
    if isinstance(target, int):
        target = (target,)
    tensor = inputs[0] if isinstance(inputs, (list, tuple)) and inputs else inputs
    if not isinstance(target, (list, tuple)) or not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        return run.apply(Elementwise("lambda"), cause, function="Lambda", framework="keras")
    shape = build_shapes((tensor.shape[0], *target[1:]) if target and target[0] is None else (tensor.shape[0], *target))
    result: Value = run.apply(Given(shape), tensor, function="Lambda", framework="keras")
    return result


def lambda_init(run: Runtime, self: Instance) -> None:
    """Keep the output shape that a Lambda is told."""
    # `output_shape` is a property of every layer: what was asked for is kept under Keras' own private name
    self.attributes["_output_shape"] = self.attributes.get("output_shape")


@layer(call=call_lambda, init=lambda_init)
def Lambda(
    function: Value, output_shape: Value = None, mask: Value = None, arguments: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """A function as a layer."""
    return ()


class Given(Weightless):
    """An op whose output shape is what the code says: the function inside could not be followed."""

    kind = "lambda"
    random = True

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """The shape that it was made with."""
        return (self.shape,)


# --- EinsumDense ------------------------------------------------------------------------------------------------------


def einsum_shapes(equation: str, bias_axes: Value, shape: Shape, output_shape: Any) -> tuple[Shape, Shape | None]:
    """The shapes of kernel and bias for an equation such as "...x,xy->...y" (einsum_dense.py)."""
    left, _, output = equation.replace(" ", "").partition("->")
    input_spec, _, kernel_spec = left.partition(",")
    wanted = list(output_shape) if isinstance(output_shape, (list, tuple)) else [output_shape]
    leading = input_spec.startswith("...")
    elided = leading or input_spec.endswith("...")
    names_in, names_out = input_spec.replace("...", ""), output.replace("...", "")
    sizes: dict[str, Size] = {}
    inputs = shape[len(shape) - len(names_in) :] if leading else shape[: len(names_in)]
    # output_shape leaves the batch out, which an ellipsis in front stands for
    outputs = wanted[len(wanted) - len(names_out) :] if leading else [shape[0], *wanted]
    if elided and not leading:
        outputs = [shape[0], *wanted][: len(names_out)]
    for name, size in zip(names_out, outputs, strict=False):
        if size is not None:
            sizes[name] = size
    for name, size in zip(names_in, inputs, strict=False):
        sizes[name] = size
    missing = Unknown(f"a size of {equation!r} is not known")
    kernel = tuple(sizes.get(name, missing) for name in kernel_spec)
    if not isinstance(bias_axes, str):
        return kernel, None
    first = min((names_out.find(name) for name in bias_axes if name in names_out), default=0)
    bias = tuple(sizes.get(name, missing) if name in bias_axes else 1 for name in names_out[first:])
    return kernel, bias if leading or not elided else (*bias, *(1,) * (len(shape) - len(names_in)))


def build_einsum(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the kernel and bias of EinsumDense, by its equation."""
    state_of(run, self).built = True
    shape = build_shapes(input_shape)
    equation = self.attributes.get("equation")
    if not isinstance(equation, str) or isinstance(shape, Unknown):
        return
    kernel, bias = einsum_shapes(equation, self.attributes.get("bias_axes"), shape, self.attributes["output_shape"])
    self.attributes["kernel"] = make_weight(run, self, "kernel", kernel)
    if bias is not None:
        self.attributes["bias"] = make_weight(run, self, "bias", bias)


def call_einsum(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of EinsumDense: input and kernel by its equation."""
    equation, kernel = self.attributes.get("equation"), self.attributes.get("kernel")
    if not isinstance(equation, str) or not isinstance(kernel, Weight):
        return run.unknown("the equation of an EinsumDense is not known")
    result = run.apply(Einsum(equation), inputs, kernel, function=self.cls.name, framework="keras")
    bias = self.attributes.get("bias")
    if isinstance(bias, Weight):
        result = run.apply(Broadcast("add"), result, bias, function="bias", framework="keras")
    return activations.apply(run, self.attributes.get("activation"), result)


@layer(call=call_einsum, build=build_einsum)
def EinsumDense(
    equation: Value, output_shape: Value, activation: Value = None, bias_axes: Value = None,
    kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    bias_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    lora_rank: Value = None, lora_alpha: Value = None, gptq_unpacked_column_size: Value = None,
    quantization_config: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """A product of the input and a kernel by an equation."""
    return ()


# --- Keras 1 ----------------------------------------------------------------------------------------------------------


def build_highway(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the two kernels (features, features) of Highway, and their biases."""
    state_of(run, self).built = True
    shape = build_shapes(input_shape)
    width = Unknown("the input's features are not known") if isinstance(shape, Unknown) else shape[-1]
    for name, sizes in (("W", (width, width)), ("W_carry", (width, width)), ("b", (width,)), ("b_carry", (width,))):
        self.attributes[name] = make_weight(run, self, name, sizes)


def call_highway(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """y * carry + x * (1 - carry), with a dense y and a dense sigmoid carry (keras 1, legacy/layers.py)."""
    width: Any = inputs.shape[-1] if isinstance(inputs, Tensor) and isinstance(inputs.shape, tuple) else inputs
    carry = apply(run, self, Linear(width), inputs, {"kernel": "W_carry", "bias": "b_carry"})
    carry = run.apply(Elementwise("sigmoid"), carry, function="sigmoid", framework="keras")
    dense = apply(run, self, Linear(width), inputs, {"kernel": "W", "bias": "b"})
    dense = activations.apply(run, self.attributes.get("activation"), dense)
    first = run.apply(Broadcast("multiply"), dense, carry, function="multiply", framework="keras")
    second = run.apply(Broadcast("multiply"), inputs, carry, function="multiply", framework="keras")
    return run.apply(Broadcast("add"), first, second, function="add", framework="keras")


@layer(call=call_highway, build=build_highway)
def Highway(
    init: Value = "glorot_uniform", activation: Value = None, weights: Value = None, W_regularizer: Value = None,
    b_regularizer: Value = None, activity_regularizer: Value = None, W_constraint: Value = None,
    b_constraint: Value = None, bias: Value = True, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, features), a gate between its transform and itself; from Keras 1."""
    return ()


def build_maxout(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the kernel (pieces, features, output_dim) of MaxoutDense, and its bias."""
    state_of(run, self).built = True
    shape = build_shapes(input_shape)
    width = Unknown("the input's features are not known") if isinstance(shape, Unknown) else shape[-1]
    pieces, units = self.attributes["nb_feature"], self.attributes["output_dim"]
    self.attributes["W"] = make_weight(run, self, "W", (pieces, width, units))
    if self.attributes.get("bias") is not False:
        self.attributes["b"] = make_weight(run, self, "b", (pieces, units))


def call_maxout(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of MaxoutDense: the largest of its pieces, (N, output_dim)."""
    kernel = self.attributes["W"]
    pieces = run.apply(Einsum("bi,kio->bko"), inputs, kernel, function=self.cls.name, framework="keras")
    return run.apply(Reduce("max", 1), pieces, function="max", framework="keras")


@layer(call=call_maxout, build=build_maxout)
def MaxoutDense(
    output_dim: Value, nb_feature: Value = 4, init: Value = "glorot_uniform", weights: Value = None,
    W_regularizer: Value = None, b_regularizer: Value = None, activity_regularizer: Value = None,
    W_constraint: Value = None, b_constraint: Value = None, bias: Value = True, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, features) to (N, output_dim); from Keras 1."""
    return ()
