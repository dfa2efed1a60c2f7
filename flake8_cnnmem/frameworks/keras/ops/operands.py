"""What the computations do with their arguments: tensors, numbers, lists and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.graph import Mismatch, Op, Tensor
from flake8_cnnmem.ops import Stack
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def apply(run: Runtime, op: Op, *inputs: Value, function: str = "", dtypes: Sequence[str] | None = None) -> Value:
    """Run an op on tensors, numbers taken as constants."""
    tensors = [as_tensor(run, value) for value in inputs]
    return run.apply(op, *tensors, function=function or op.kind, dtypes=dtypes, framework="keras")


def as_tensor(run: Runtime, value: Value) -> Tensor | Unknown:
    """An argument as the tensor that it is taken for: lists with tensors in them stacked, numbers as constants."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    if id(value) in run.havocked:
        return run.havocked[id(value)][1]
    if isinstance(value, (list, tuple)) and any(computed(item) for item in value):
        parts = [as_tensor(run, item) for item in value]
        # One output: its tensor.
        return cast("Tensor", run.apply(Stack(0), *parts, function="stack", framework="keras"))
    return constant(value)


def computed(value: Value) -> bool:
    """Whether a value is, or holds, a tensor whose values are not known."""
    if isinstance(value, (list, tuple)):
        return any(computed(item) for item in value)
    return isinstance(value, Tensor) and not is_constant(value)


def shape_of(value: Value) -> Shape | Unknown:
    """The shape of a tensor or of nested lists of numbers, or why it is not known."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, Unknown):
        return value
    found = constants.nested_shape(value)
    return Unknown("a value is not a tensor") if found is None else found


def axis_number(axis: Value) -> Any:
    """An axis argument as plain numbers."""
    axis = plain(axis)
    if isinstance(axis, (list, range)):
        return tuple(axis)
    return axis


def listed(value: Value) -> Value:
    """A list of numbers as a constant."""
    return constant(value) if isinstance(value, (list, tuple)) else value


def is_symbolic(run: Runtime, value: Value) -> bool:
    """Whether a value is computed from a model's inputs, or is one."""
    return isinstance(value, Tensor) and (value.call is not None or session_of(run).node_of(value) is not None)


def fitted_shape(run: Runtime, shapes: Sequence[Shape]) -> Shape | Unknown:
    """The shape that all of these fit into; Unknown where they do not fit each other."""
    try:
        return broadcast(tuple(shapes)) if shapes else ()
    except Mismatch:
        return run.unknown("tensors that are taken together do not fit each other")


def known(value: Value) -> bool:
    """Whether a value is a constant or a number."""
    return is_constant(value) or isinstance(value, (int, float, Batch))


def is_scalar(value: Value) -> bool:
    """Whether a value is a number, or a constant without axes."""
    return isinstance(value, (int, float, complex, Batch)) or (is_constant(value) and value.shape == ())


def float_of(items: Sequence[Value]) -> list[str] | None:
    """A float result where the first of several dtypes is not float and another one is; else None."""
    dtypes = [item.dtype for item in items if isinstance(item, Tensor)]
    if dtypes and dtypes[0] != "float" and "float" in dtypes:
        return ["float"]
    return None


def as_list(result: Value) -> Value:
    """Results as a list."""
    return list(result) if isinstance(result, tuple) else [result]


def layout(run: Runtime, data_format: Value) -> bool:
    """Whether the channels come last, for Keras' words and TensorFlow's (`NHWC`)."""
    if not isinstance(data_format, str):
        return session_of(run).data_format != "channels_first"
    return data_format != "channels_first" and not data_format.startswith("NC")


def float_dtype(x: Value) -> list[str] | None:
    """A float result for an input of another dtype; else None."""
    return ["float"] if isinstance(x, Tensor) and x.dtype != "float" else None


def dtype_of(run: Runtime, x: Value) -> Value:
    """`keras.ops.dtype(x)`: the name of its dtype."""
    return run.get(x, "dtype")


def is_tensor(run: Runtime, x: Value) -> bool:
    """`keras.ops.is_tensor(x)`: whether it is a tensor, a variable among them."""
    return isinstance(x, Tensor)
