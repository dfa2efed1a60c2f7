"""From a native's arguments to a Call: which of them are weights, what dtype comes out, what needs no Call at all."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.torch.autograd.grad import STEPPING
from flake8_cnnmem.frameworks.torch.dtypes import promote
from flake8_cnnmem.frameworks.torch.functions.constants import CONSTANT_STEPS, Constant, is_constant
from flake8_cnnmem.graph import Mismatch, Op, Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Runtime, Value

NO_TENSOR = Unknown("a tensor was expected")


def tensor_of(value: Value) -> Tensor | Unknown:
    """An argument as the input of an op. Numbers are scalars; what is no tensor at all is Unknown."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Instance) and isinstance(value.payload, Tensor):
        return value.payload
    if isinstance(value, bool):
        return Constant((), "bool", data=value)
    if isinstance(value, int):
        return Constant((), "int64", data=value)
    if isinstance(value, float):
        return Constant((), "float", data=value)
    return NO_TENSOR


def apply(
    run: Runtime,
    op: Op,
    *inputs: Value,
    weights: Sequence[Value] = (),
    function: str = "",
    dtype: str | None = None,
    dtypes: Sequence[str] | None = None,
) -> Value:
    """Run an op. Weights among the inputs are recorded as the call's weights too.

    `dtype` is that of all outputs; without it and `dtypes`, the first input's.
    """
    tensors = [value if isinstance(value, Tensor) else tensor_of(value) for value in inputs]
    if dtypes is None and dtype is not None:
        dtypes = (dtype,)
    constants = True
    own: list[Value] = [weight for weight in weights if weight is not None]
    for tensor in tensors:
        if isinstance(tensor, Weight):
            constants = False
            if tensor not in own:
                own.append(tensor)
        elif constants and not is_constant(tensor):
            constants = False
    if constants and not own and any(type(tensor) is Constant for tensor in tensors):
        folded = fold(op, [tensor for tensor in tensors if isinstance(tensor, Tensor)], dtypes)
        if folded is not None:
            run.spend(CONSTANT_STEPS)
            # Written in place it is the same tensor, for whoever else holds it.
            first = tensors[0]
            return first if op.in_place and type(first) is Constant and first.data is None else folded
    made = run.apply(op, *tensors, weights=own, function=function, dtypes=dtypes)
    stepping = run.data(STEPPING)
    if stepping:
        for noted in stepping.values():
            noted.note_call(made)
    return made


def fold(op: Op, tensors: Sequence[Tensor], dtypes: Sequence[str] | None) -> Value | None:
    """What an op makes of constants: constants, by shape only. None where it cannot be said."""
    shapes: list[Shape] = []
    for tensor in tensors:
        if isinstance(tensor.shape, Unknown):
            return None
        shapes.append(tensor.shape)
    try:
        outputs = op.outputs(*shapes)
    except Mismatch:
        return None
    made = tuple(
        Constant(shape, dtypes[min(at, len(dtypes) - 1)] if dtypes else tensors[0].dtype)
        for at, shape in enumerate(outputs)
    )
    return made[0] if len(made) == 1 else made


def common_dtype(values: Sequence[Value]) -> str:
    """The dtype of an operation on several tensors and numbers: numbers do not widen a tensor of their kind."""
    dtype = ""
    for value in values:
        if isinstance(value, Tensor) and value.shape != ():
            dtype = promote(dtype, value.dtype) if dtype else value.dtype
    for value in values:
        if isinstance(value, Tensor) and value.shape == ():
            dtype = promote(dtype, value.dtype) if not dtype or kind(dtype) < kind(value.dtype) else dtype
        elif isinstance(value, (float, complex)) and dtype and kind(dtype) < kind("float"):
            dtype = "float"
    return dtype or "float"


def kind(dtype: str) -> int:
    """Bool below whole numbers below floats below complex numbers."""
    if dtype == "bool":
        return 0
    if dtype.startswith(("int", "uint")):
        return 1
    return 3 if dtype.startswith("complex") else 2
