"""Activation functions by name, and how a layer applies one: `activation=` takes a name, a function or a layer."""

from __future__ import annotations

import math

from flake8_cnnmem.dims import Size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import GLU, Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Native, Value

KINDS = {
    "relu": "relu", "relu6": "relu6", "sigmoid": "sigmoid", "tanh": "tanh", "softmax": "softmax",
    "softplus": "softplus", "softsign": "softsign", "elu": "elu", "selu": "selu", "gelu": "gelu", "silu": "silu",
    "swish": "silu", "exponential": "exp", "hard_sigmoid": "hardsigmoid", "hard_silu": "hardswish",
    "hard_swish": "hardswish", "leaky_relu": "leaky_relu", "linear": "identity", "identity": "identity",
    "mish": "mish", "log_softmax": "log_softmax", "log_sigmoid": "log_sigmoid", "celu": "celu", "hard_tanh": "hardtanh",
    "hard_shrink": "hardshrink", "soft_shrink": "softshrink", "tanh_shrink": "tanhshrink", "threshold": "threshold",
    "squareplus": "squareplus", "sparse_plus": "sparse_plus", "sparse_sigmoid": "sparse_sigmoid",
    "sparsemax": "sparsemax", "crelu": "crelu",
}  # fmt: skip
"""keras.activations' names, with the op each is."""

OPS = {kind: Elementwise(kind) for kind in KINDS.values()}

NUMBERS = {"sigmoid": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh, "exponential": math.exp}


def activation(name: str) -> Native:
    """The function `keras.activations.<name>`: a tensor of the shape of its argument; of a plain number a number."""
    kind = KINDS[name]
    op = OPS[kind]

    def activate(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
        if isinstance(x, (Tensor, Unknown)):
            return run.apply(op, x, function=name, framework="keras")
        if isinstance(x, (int, float)) and name in NUMBERS:
            return NUMBERS[name](x)
        return run.unknown(f"{name} of what is not a tensor")

    return Native(name, activate, propagate_unknown=False)


FUNCTIONS: dict[str, Native] = {name: activation(name) for name in KINDS if name != "crelu"}
LINEAR = FUNCTIONS["linear"]


def relu(
    run: Runtime, x: Value, negative_slope: Value = 0.0, max_value: Value = None, threshold: Value = 0.0, **old: Value
) -> Value:
    """`relu` with a slope is a leaky relu, with a ceiling a clamp: kept tensors differ."""
    negative_slope = old.get("alpha", negative_slope)
    name = "relu"
    if negative_slope not in (0, 0.0, None):
        name = "leaky_relu"
    elif max_value is not None:
        name = "relu6"
    return FUNCTIONS[name].function(run, x) if name != "relu" else PLAIN_RELU.function(run, x)


PLAIN_RELU = FUNCTIONS["relu"]
FUNCTIONS["relu"] = Native("relu", relu, propagate_unknown=False)


def glu(run: Runtime, x: Value, axis: Size = -1) -> Value:
    """(..., 2 C) to (..., C)."""
    return run.apply(GLU(axis), x, function="glu", framework="keras")


FUNCTIONS["glu"] = Native("glu", glu, propagate_unknown=False)


def get(run: Runtime, identifier: Value) -> Value:
    """`keras.activations.get`: the function that a name stands for; anything else as it is."""
    if identifier is None:
        return LINEAR
    if isinstance(identifier, str):
        found = FUNCTIONS.get(identifier)
        return run.unknown(f"the activation {identifier!r} is not known") if found is None else found
    if isinstance(identifier, dict) and isinstance(identifier.get("class_name"), str):
        return get(run, identifier["class_name"].lower())
    if isinstance(identifier, (int, float)):
        raise run.error("ValueError", f"Could not interpret activation function identifier: {identifier}")
    return identifier


def apply(run: Runtime, function: Value, x: Value) -> Value:
    """What a layer does with its `activation`."""
    if function is LINEAR or function is None:
        return x
    if isinstance(function, str):
        function = get(run, function)
        if function is LINEAR:
            return x
    if isinstance(function, Native):
        return function.function(run, x)
    if isinstance(function, Unknown):
        # whatever the function is, it keeps the shape: an activation maps value by value
        return run.apply(OPS["identity"], x, function="activation", framework="keras")
    return run.call(function, x)


def find(name: str) -> Value:
    """A member of `keras.activations`."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    return MEMBERS.get(name, MISSING)


def serialize(run: Runtime, activation: Value) -> Value:
    """`activations.serialize(activation)`: the activation itself."""
    return activation


MEMBERS: dict[str, Value] = {
    "get": Native("get", get, propagate_unknown=False),
    "deserialize": Native(
        "deserialize", lambda run, config, custom_objects=None: get(run, config), propagate_unknown=False
    ),
    "serialize": Native("serialize", serialize, propagate_unknown=False),
}
