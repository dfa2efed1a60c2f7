"""Tensors made from nothing: zeros, randn, tensor(...), *_like, new_*, and filling in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.nested import countable
from flake8_cnnmem.frameworks.torch.applying import note_leaf_written, refuse_leaf, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import sizes, whole
from flake8_cnnmem.frameworks.torch.autograd.by_hand import written
from flake8_cnnmem.frameworks.torch.device_of import made_on
from flake8_cnnmem.frameworks.torch.devices import is_there
from flake8_cnnmem.frameworks.torch.dtypes import dtype_made, dtype_of, source_of
from flake8_cnnmem.frameworks.torch.functions.constants import (
    constant,
    counted,
    flat,
    from_nested,
    scalar,
    shape_around,
    spread,
    value_as,
)
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.overwriting import overwritten
from flake8_cnnmem.frameworks.torch.noted import note_made
from flake8_cnnmem.frameworks.torch.registry import METHODS, define
from flake8_cnnmem.graph import Mismatch, Tensor, Weight
from flake8_cnnmem.ops import Expand
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, nest, rewrite, same_values, shares
from flake8_cnnmem.unknown import Unknown, of_sequences
from flake8_cnnmem.values import MISSING, Instance, Native, Value

NOT_NESTED = Unknown("the sizes of a tensor could not be worked out")


def filled(shape: Shape | Unknown, value: Any, dtype: str) -> Tensor:
    """A tensor of one value. Values are kept for vectors and matrices only: larger ones stand in for inputs."""
    if isinstance(shape, Unknown):
        return Tensor(shape, dtype)
    count = counted(shape)
    if count is None or len(shape) > 2 or value is None:
        return Tensor(shape, dtype)
    return Tensor(shape, dtype, data=constant(shape, [value] * count, dtype).data)


def born(run: Runtime, made: Tensor) -> Tensor:
    """A tensor that is there from now on, whether the code gives it a name or not."""
    made.born = run.next_number()
    return made


def born_beside(run: Runtime, made: Tensor, other: Value) -> Tensor:
    """A tensor that is there from now on, on the device of another one."""
    return note_made(run, born(run, made), other)


def _declare_sized(name: str, value: Any) -> None:
    def function(
        run: Runtime,
        *size: Value,
        out: Value = None,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        pin_memory: Value = False,
        generator: Value = None,
        names: Value = None,
        memory_format: Value = None,
        **named: Value,
    ) -> Value:
        shape = sizes((named["size"],) if "size" in named else size)
        result = dtype_made(run, dtype)
        made = filled(shape, value_as(value, result), result)
        made.as_wide_as = source_of(dtype)
        made.requires_grad = requires_grad is True
        made.chance = name in RANDOM
        return made_on(run, made, device)

    define(f"torch.{name}")(function)


RANDOM = ("rand", "randn")


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", None), ("rand", None), ("randn", None)):
    _declare_sized(_name, _value)


def full(
    run: Runtime,
    size: Value,
    fill_value: Value,
    *,
    out: Value = None,
    dtype: Value = None,
    layout: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    names: Value = None,
    pin_memory: Value = False,
) -> Value:
    """(size), of one value; the dtype is the value's unless one is said."""
    number = scalar(fill_value)
    default = "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else "float"
    made = filled(sizes((size,)), number, dtype_made(run, dtype, default))
    made.requires_grad = requires_grad is True
    return made_on(run, made, device)


@define("torch.randint")
def randint(
    run: Runtime, *bounds: Value, size: Value = None, dtype: Value = None, device: Value = None, **options: Value
) -> Value:
    """(size), int64 unless a dtype is said; numbers are not known."""
    shape = size if size is not None else next((b for b in bounds if isinstance(b, (list, tuple))), None)
    made = Tensor(sizes((shape,)) if shape is not None else NOT_NESTED, dtype_of(dtype, "int64"))
    made.site = run.here()
    numbers = [each for each in bounds if type(each) is int]
    if len(numbers) < len(BOUNDS) and isinstance(made.shape, tuple) and all(type(each) is int for each in made.shape):
        high = options.get("high", numbers[-1] if numbers and "low" not in options else None)
        low = numbers[0] if len(numbers) > 1 else options.get("low", 0)
        if type(high) is int and high > 0 and low == 0:
            made.drawn = high, math.prod(each for each in made.shape if type(each) is int)
    return made


BOUNDS = ("low", "high", "more")
"""More than `torch.randint` takes."""


@define("torch.randperm")
def randperm(run: Runtime, n: Value, *, dtype: Value = None, device: Value = None, **options: Value) -> Value:
    """(n,), int64."""
    return Tensor((whole(n),), dtype_of(dtype, "int64"))


@define("torch.normal")
def normal(
    run: Runtime, mean: Value = 0.0, std: Value = 1.0, size: Value = None, *, generator: Value = None,
    dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """`torch.normal(mean, std, size)`, or of the shape that mean and std have."""
    if size is not None:
        made = Tensor(sizes((size,)), dtype_made(run, dtype), requires_grad=requires_grad is True)
        return made_on(run, made, device)
    source = next((value for value in (mean, std) if isinstance(value, Tensor)), None)
    return Tensor(source.shape) if source is not None else run.unknown("the size of a random tensor is not known")


def poisson(run: Runtime, input: Value) -> Value:
    """The input's shape; numbers are not known."""
    return unary(run, "poisson", input)


def bernoulli(run: Runtime, input: Value) -> Value:
    """The input's shape; numbers are not known."""
    return unary(run, "bernoulli", input)


def multinomial(run: Runtime, input: Value, num_samples: Value) -> Value:
    """(num_samples,) or (rows, num_samples), int64."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return tensor
    return Tensor((*tensor.shape[:-1], whole(num_samples)), "int64")


def like(input: Value, value: Any, dtype: Value = None, requires_grad: Value = False) -> Tensor:
    """A new tensor of an input's shape."""
    tensor = tensor_of(input)
    asks = requires_grad is True
    if isinstance(tensor, Unknown):
        return Tensor(tensor, dtype_of(dtype), requires_grad=asks)
    result = dtype_of(dtype, tensor.dtype)
    made = filled(tensor.shape, value_as(value, result), result)
    # Of one that was made alike itself nothing may be there to be asked.
    made.as_wide_as = (tensor.as_wide_as or tensor) if dtype is None else source_of(dtype)
    made.moved = made.made_there = is_there(tensor)
    made.requires_grad = asks
    return made


def _declare_like(name: str, value: Any) -> None:
    def function(
        run: Runtime,
        input: Value,
        *,
        memory_format: Value = None,
        dtype: Value = None,
        layout: Value = None,
        device: Value = None,
        pin_memory: Value = False,
        requires_grad: Value = False,
    ) -> Value:
        return born_beside(run, like(input, value, dtype, requires_grad), input)

    define(f"torch.{name}_like")(function)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", None), ("rand", None), ("randn", None)):
    _declare_like(_name, _value)


def _declare_new(name: str, value: Any) -> None:
    def method(
        run: Runtime,
        input: Value,
        *size: Value,
        dtype: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        layout: Value = None,
        pin_memory: Value = False,
        **named: Value,
    ) -> Value:
        tensor = tensor_of(input)
        own = tensor.dtype if isinstance(tensor, Tensor) else "float"
        result = dtype_of(dtype, own)
        made = filled(sizes((named["size"],) if "size" in named else size), value_as(value, result), result)
        if isinstance(tensor, Tensor):
            made.as_wide_as = tensor if dtype is None else source_of(dtype)
            made.moved = made.made_there = is_there(tensor)
        made.requires_grad = requires_grad is True
        return born_beside(run, made, input)

    define(f"tensor.{name}")(method)


for _name, _value in (("new_zeros", 0), ("new_ones", 1), ("new_empty", None), ("new", None)):
    _declare_new(_name, _value)


@define("tensor.new_full")
def new_full(
    run: Runtime, input: Value, size: Value, fill_value: Value, *, dtype: Value = None, device: Value = None,
    requires_grad: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """(size), of one value; the tensor's dtype unless one is said, and on its device."""
    own = input.dtype if isinstance(input, Tensor) else "float"
    made = filled(sizes((size,)), scalar(fill_value), dtype_of(dtype, own))
    if isinstance(input, Tensor):
        made.moved = made.made_there = is_there(input)
        made.as_wide_as = (input.as_wide_as or input) if dtype is None else source_of(dtype)
    made.requires_grad = requires_grad is True
    return born_beside(run, made, input)


@define("tensor.resize_")
def resized(run: Runtime, input: Value, *size: Value, memory_format: Value = None) -> Value:
    """`x.resize_(size)`: the same tensor with room for so many values. A statement gives it its name anew."""
    if not isinstance(input, Tensor) or (isinstance(input, Weight) and not input.buffer) or input.call is not None:
        return run.unknown("what a tensor holds that is given another size is not followed")
    made = filled(sizes(size), None, input.dtype)
    made.moved = made.made_there = is_there(input)
    made.as_wide_as = input.as_wide_as or input
    return born_beside(run, made, input)


@define("tensor.resize_as_")
def resized_as(run: Runtime, input: Value, the_template: Value, memory_format: Value = None) -> Value:
    """`x.resize_as_(other)`: with room for as many values as another tensor has."""
    other = tensor_of(the_template)
    return resized(run, input, other.shape) if isinstance(other, Tensor) else other


def from_data(run: Runtime, data: Value, dtype: Value) -> Value:
    """torch.tensor: nested lists, numbers, arrays."""
    if isinstance(data, Unknown):
        if data.number:
            return Tensor((), dtype_of(dtype, "int64" if data.number == "int" else "float"))
        held = (data.known or {}).get("dtype")
        own = held.attributes.get("name") if isinstance(held, Instance) else None
        return Tensor(data.loose(), dtype_of(dtype, own if isinstance(own, str) else "float"))
    if isinstance(data, Tensor):
        made = constant(data.shape, None, dtype_of(dtype, torch_dtype(data))) if isinstance(data.shape, tuple) else None
        if made is None:
            return Tensor(data.shape, dtype_of(dtype, torch_dtype(data)))
        made.data = data.data
        return made if data.data is not None else Tensor(data.shape, made.dtype)
    if isinstance(data, list) and id(data) in run.havocked:
        item = run.sample(data)
        inner = from_data(run, item, dtype) if item is not MISSING else run.havocked[id(data)][1]
        cause = run.havocked[id(data)][1]
        if not isinstance(inner, Tensor) or isinstance(inner.shape, Unknown):
            return Tensor(cause, dtype_of(dtype))
        length = run.length_of(data)
        return Tensor((cause if length is None else length, *inner.shape), inner.dtype)
    if isinstance(data, (list, tuple, range)):
        count = countable(data)
        if count is None:
            return Tensor(NOT_NESTED, dtype_of(dtype))
        run.spend(count // 8)
        held = plain_items(list(data))
        found = from_nested(held)
        if found is None:
            return Tensor(NOT_NESTED, dtype_of(dtype))
        shape, values = found
        if any(type(value) is dict for value in values):
            raise run.error("RuntimeError", "Could not infer dtype of dict")
        first = next((value for value in values if isinstance(value, Tensor)), None)
        if first is not None:
            return Tensor(shape_around(shape, values, first), dtype_of(dtype, first.dtype))
        undecided = of_sequences(values)
        if undecided is not None:
            return Tensor(undecided, dtype_of(dtype))
        # Sizes of tensors, the batch among them.
        plain = all(isinstance(value, (bool, int, float, Batch)) for value in values)
        return constant(shape, values if plain else None, dtype_made(run, dtype, dtype_for(values)))
    if isinstance(data, (bool, int, float)):
        return constant((), [data], dtype_made(run, dtype, dtype_for([data])))
    return Tensor(run.unknown("the values of a tensor could not be worked out"), dtype_of(dtype))


def make_new(run: Runtime, input: Value, data: Value, dtype: Value) -> Value:
    """`x.new_tensor(data)`: as `torch.tensor`, of the dtype of x unless one is said, and on its device."""
    made = from_data(run, data, dtype)
    if isinstance(input, Tensor) and isinstance(made, Tensor):
        if dtype is None and made.dtype != input.dtype:
            made = Tensor(made.shape, input.dtype)
            made.as_wide_as = input
        made.moved = made.made_there = is_there(input)
    return born(run, made) if isinstance(made, Tensor) else made


def plain_items(items: list[Value]) -> list[Value]:
    """Constants of one value as their numbers, ranges as lists."""
    made: list[Value] = []
    for item in items:
        if isinstance(item, Tensor):
            number = scalar(item) if item.shape == () else None
            made.append(item if number is None else number)
        elif isinstance(item, (list, tuple, range)):
            made.append(plain_items(list(item)))
        else:
            made.append(item)
    return made


def torch_dtype(tensor: Tensor) -> str:
    """An array's dtype as torch takes it over."""
    return tensor.dtype


KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool}
"""Of a number that is not known the kind that it is."""


def dtype_for(values: Iterable[Any]) -> str:
    """The dtype that `torch.tensor` gives values: bool, int64, or float where one is."""
    kinds = {KINDS.get(value.number, Unknown) if isinstance(value, Unknown) else type(value) for value in values}
    kinds = {int if kind is Batch else kind for kind in kinds}
    if kinds == {bool}:
        return "bool"
    return "int64" if kinds and kinds <= {bool, int} else "float"


def tensor(
    run: Runtime,
    data: Value,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> Value:
    """`torch.tensor(data)`: a tensor of its own with the values, where they are known."""
    made = from_data(run, data, dtype)
    if isinstance(made, Tensor) and requires_grad is True:
        return Tensor(made.shape, made.dtype, requires_grad=True)
    return made_on(run, made, device)


def from_numpy(run: Runtime, ndarray: Value, **options: Value) -> Value:
    """`torch.from_numpy(array)`: a tensor in the array's storage."""
    return as_tensor(run, ndarray)


@define("torch.as_tensor", "torch.asarray", "torch.scalar_tensor", of_lists=True)
def as_tensor(run: Runtime, data: Value, dtype: Value = None, device: Value = None, **options: Value) -> Value:
    """`torch.as_tensor(data)`: a tensor is itself."""
    if isinstance(data, Tensor) and data.framework == "torch" and dtype is None:
        return data
    made = from_data(run, data, dtype)
    if isinstance(data, Tensor) and isinstance(made, Tensor) and dtype is None:
        shares(made, data, same_values)
    return made


def refilled(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
    """`x.normal_()`, `x.copy_(y)`: other values in the same place."""
    if isinstance(input, Tensor):
        refuse_leaf(run, input)
        known = input.data is not None
        lose(run, input)
        if known and not isinstance(input, Weight):
            return Tensor(input.shape, input.dtype)
    return input


for _name in (
    "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "cauchy_", "log_normal_", "geometric_",
    "fill_diagonal_", "set_", "erfinv_", "map_", "apply_",
):  # fmt: skip
    METHODS[_name] = Native(_name, refilled, propagate_unknown=False)


def refill(value_from: Callable[..., Any], function: str) -> Callable[..., Value]:
    """A method of this name that fills a tensor in place with the value that `value_from` gives for its arguments."""

    def method(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
        if isinstance(input, Weight):
            refuse_leaf(run, input)
            lose(run, input)
            return input
        if isinstance(input, Tensor) and input.call is None:
            note_leaf_written(run, input)
            value = value_from(*args, **kwargs)
            made = filled(input.shape, value_as(value, input.dtype), input.dtype)
            rewrite(run, input, made.data)
            return input if made.data is not None else made
        return overwritten(run, input, function=function)

    return method


METHODS["zero_"] = Native("zero_", refill(lambda: 0, "zero_"), propagate_unknown=False)
METHODS["fill_"] = Native("fill_", refill(lambda value: scalar(value), "fill_"), propagate_unknown=False)


def written_whole(run: Runtime, input: Tensor, other: Tensor) -> Tensor | None:
    """A constant that takes the known values of another one over; None where they are not known."""
    values = flat(other)
    fits = isinstance(input.shape, tuple) and isinstance(other.shape, tuple) and len(other.shape) <= len(input.shape)
    if values is None or not fits or counted(input.shape) is None or isinstance(other, Weight):
        return None
    try:
        Expand(input.shape).outputs(other.shape)  # type: ignore[arg-type]
    except Mismatch:
        return None
    given = spread(values, other.shape, input.shape)  # type: ignore[arg-type]
    rewrite(run, input, nest([value_as(value, input.dtype) for value in given], input.shape))
    return input


def copy_(run: Runtime, input: Value, other: Value) -> Value:
    """Into a parameter or buffer: other values. Into a feature map: the values come from another call."""
    if isinstance(input, Weight) or not isinstance(other, Tensor):
        written(run, input)
        return refilled(run, input)
    if other.call is None and isinstance(input, Tensor) and input.call is None:
        note_leaf_written(run, input)
        known = written_whole(run, input, other)
        return refilled(run, input) if known is None else known
    if isinstance(input, Tensor):
        lose(run, input)
    return overwritten(run, input, other, function="copy_")
