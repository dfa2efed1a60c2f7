"""Tensors cast to other dtypes: `x.half()`, `x.to(dtype)`, `x.type_as(y)`."""

from __future__ import annotations

import dataclasses

from flake8_cnnmem.frameworks.torch import memory_formats
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.devices import (
    asks_for_gradient,
    is_host,
    lies_on_host,
    names_device,
    sent,
    to_device,
    to_host,
)
from flake8_cnnmem.frameworks.torch.dtypes import COMPLEX, dtype_of, is_dtype, is_floating, place_of, source_of
from flake8_cnnmem.frameworks.torch.functions.constants import constant, flat, value_as, with_largest, with_true
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.frameworks.torch.strides import is_row_major
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import same_values, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def cast(run: Runtime, input: Value, dtype: str, function: str, copy: bool = False) -> Value:
    """Another dtype: a call of its own, unless it is that dtype already."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown):
        return tensor
    if tensor.dtype == dtype and not copy:
        return tensor
    if tensor.data is not None and not isinstance(tensor, Weight):
        values = flat(tensor)
        if values is not None and isinstance(tensor.shape, tuple) and dtype not in COMPLEX:
            made = constant(tensor.shape, [value_as(value, dtype) for value in values], dtype)
            if not copy and {tensor.dtype, dtype} <= {"float", "float32"}:
                shares(made, tensor, same_values)
            return made
    result = with_largest(apply(run, Elementwise("cast"), tensor, function=function, dtype=dtype), tensor)
    return with_true(result, tensor.true)


def as_wide_as(asked: Value, input: Value, made: Value) -> Value:
    """A cast to the dtype of another tensor, or to one that was read off it, notes whose dtype that is."""
    if isinstance(made, Tensor) and made is not input and made.call is not None:
        made.as_wide_as = asked if isinstance(asked, Tensor) else source_of(asked)
    return made


def differs(run: Runtime, asked: Value, input: Value) -> bool:
    """Whether two tensors whose dtypes the code does not name may have different ones: under autocast one that an op
    has made, and one that was made in full."""
    other = asked if isinstance(asked, Tensor) else source_of(asked)
    return run.autocast is not None and other is not None and other is not input


def _declare_cast(name: str, dtype: str) -> None:
    def method(run: Runtime, input: Value, *, memory_format: Value = None) -> Value:
        return cast(run, input, dtype, name)

    define(f"tensor.{name}")(method)


for _name, _dtype in (
    ("float", "float32"), ("half", "float16"), ("bfloat16", "bfloat16"), ("double", "float64"), ("long", "int64"),
    ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool"),
    ("cfloat", "complex64"), ("cdouble", "complex128"),
):  # fmt: skip
    _declare_cast(_name, _dtype)


@define("tensor.to")
def to(run: Runtime, input: Value, *args: Value, copy: Value = False, **kwargs: Value) -> Value:
    """`x.to(...)`: another dtype, another device, both, or those of another tensor."""
    given = (*args, *kwargs.values())
    made = input
    if isinstance(input, Tensor) and leaves_card(run, input, given):
        return cast_on_host(run, input, next((dtype_of(value) for value in given if is_dtype(value)), input.dtype))
    for value in given:
        if is_dtype(value) or isinstance(value, Tensor):
            dtype = value.dtype if isinstance(value, Tensor) else dtype_of(value)
            made = as_wide_as(value, input, cast(run, input, dtype, "to", copy is True or differs(run, value, input)))
            break
    else:
        made = apply(run, Elementwise("copy"), input, function="to") if copy is True else input
    return memory_formats.laid_out(run, sent(run, input, given, made), memory_formats.asked(given), "to")


def leaves_card(run: Runtime, input: Tensor, given: tuple[Value, ...]) -> bool:
    """Whether `x.to(...)` copies a result of the card, behind which no gradient flows, to the host for certain."""
    if isinstance(input, Weight) or input.call is None or lies_on_host(input):
        return False
    there = any(names_device(value) and is_host(value) for value in given)
    return there and not (run.grad_enabled and asks_for_gradient(input))


def cast_on_host(run: Runtime, input: Tensor, dtype: str) -> Value:
    """A copy from the card in another dtype: the host casts, and the card makes a row-major copy where the tensor lies
    in another order (ATen/native/cuda/Copy.cu: `copy_requires_temporaries` and what follows)."""
    if dtype != input.dtype and not is_row_major(input):
        apply(run, Elementwise("contiguous"), input, function="to")
    made = to_host(run, input)
    return dataclasses.replace(made, dtype=dtype) if isinstance(made, Tensor) else made


def type_(run: Runtime, input: Tensor, dtype: Value = None) -> Value:
    """`x.type(dtype)`; without a dtype its name. A type of the older kind says where to as well."""
    if dtype is None:
        return f"torch.cuda.{'FloatTensor' if is_floating(input.dtype) else 'LongTensor'}"
    if isinstance(dtype, Unknown):
        return input
    there, wanted = place_of(dtype), dtype_of(dtype, input.dtype)
    if there is False and leaves_card(run, input, ("cpu",)):
        return cast_on_host(run, input, wanted)
    made = as_wide_as(dtype, input, cast(run, input, wanted, "type", differs(run, dtype, input)))
    return to_device(run, made) if there else made


def type_as(run: Runtime, input: Value, other: Value) -> Value:
    """`x.type_as(other)`: the other's dtype and device."""
    if not isinstance(other, Tensor):
        return input
    made = cast(run, input, other.dtype, "type_as", differs(run, other, input))
    return sent(run, input, (other,), as_wide_as(other, input, made))
