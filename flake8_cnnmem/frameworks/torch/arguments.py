"""Arguments as torch takes them: sizes given as several numbers or one tuple, one number for all axes, NumPy names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, cast

from flake8_cnnmem.dims import Batch, Shape, Size, as_size
from flake8_cnnmem.frameworks.torch.autograd.grad import STEPPING
from flake8_cnnmem.frameworks.torch.functions.constants import flat, scalar
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

NOT_A_SHAPE = Unknown("a shape could not be worked out")

NOT_A_SIZE = Unknown("True or False stands where a size is expected")


def ntuple(value: Value, count: int) -> tuple[Value, ...]:
    """One value for each of `count` axes, as torch.nn.modules.utils._ntuple: sequences are kept as tuples."""
    if isinstance(value, (list, tuple, range)):
        return tuple(value)
    return (value,) * count


def per_axis(value: Value, count: int) -> Shape:
    """As `ntuple`, with a sequence of one standing for all axes, as C++ functions take it."""
    sizes = ntuple(value, count)
    return tuple(size(item) for item in (sizes * count if len(sizes) == 1 else sizes))


def size(value: Value) -> Size:
    """One size: whole numbers, floats that torch would refuse become Unknown, tensors by their value. torch takes a
    bool in a few places (behind the first size of a tuple), and refuses it in most."""
    if type(value) is int or type(value) is Batch or type(value) is Unknown:
        return value
    if isinstance(value, bool):
        return NOT_A_SIZE
    if isinstance(value, Tensor):
        number = scalar(value)
        return int(number) if number is not None else Unknown("a size is computed from a tensor's values")
    if isinstance(value, Instance) and type(value.payload) is int:
        # A member of an IntEnum.
        return value.payload
    # Wrong kinds are found by the op.
    return cast("Size", value)


def whole(value: Value) -> Size:
    """As `size`, for what no op looks at: Unknown for what torch would refuse."""
    return as_size(size(value), Unknown("a size is no whole number"))


def number_of(value: Any) -> Any:
    """A tensor of one known whole number as that number; anything else as it is."""
    number = scalar(value) if isinstance(value, Tensor) and value.shape == () else None
    return number if type(number) is int else value


def sizes(values: Any) -> Shape | Unknown:
    """`f(2, 3)`, `f((2, 3))`, `f([2, 3])` and `f(torch.Size([2, 3]))` alike: `values` is what *size caught."""
    if isinstance(values, Unknown):
        return values
    if len(values) == 1:
        only = values[0]
        if isinstance(only, (list, tuple, range)):
            values = only
        elif isinstance(only, Unknown) and only.number != "int":
            return only
        elif isinstance(only, Tensor):
            numbers = flat(only)
            if numbers is not None and only.shape:
                values = numbers
    if not all(isinstance(value, (int, Batch, Unknown, Tensor)) for value in values):
        return NOT_A_SHAPE
    return tuple(size(value) for value in values)


def shape_of(value: Value) -> Shape | Unknown:
    """A shape given as one argument: a number, a tuple, a list."""
    return sizes((value,))


def axes(value: Any) -> tuple[int, ...] | Unknown | None:
    """A `dim` argument as a tuple; None stays None (all axes)."""
    if value is None or isinstance(value, Unknown):
        return value
    if isinstance(value, (list, tuple)):
        unknown = next((axis for axis in value if isinstance(axis, Unknown)), None)
        return unknown if unknown is not None else tuple(map(number_of, value))
    return (number_of(value),)


OTHER_NAMES = {
    "axis": "dim", "axes": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",
    "mat2": "other", "tensor": "other", "axis0": "dim0", "axis1": "dim1",
}  # fmt: skip
"""What functions accept beside their own names: NumPy's (numpy_compatibility_arg_names in python_arg_parser.cpp), and
names in which functions differ that are one here (`mm(input, mat2)` is `matmul(input, other)`)."""


NUMBERS = frozenset(("dim", "dim0", "dim1", "start_dim", "end_dim", "chunks", "start", "length"))
"""Parameters that are one whole number: a tensor of one known value is that number."""


def renaming(function: Callable[..., Value], names: Iterable[str]) -> Callable[..., Value]:
    """`function`, taking NumPy's names for its parameters `names` too, tensors of one value where it takes a number,
    and any `out=`."""
    ordered = tuple(names)
    known = frozenset(ordered)
    # With two operands (`torch.max(x, y)`) a tensor in that place is the other operand.
    counted = () if "other" in known else tuple(at for at, name in enumerate(ordered, 1) if name in NUMBERS)

    def renamed(*args: Any, **kwargs: Any) -> Value:
        for at in counted:
            if at < len(args) and isinstance(args[at], Tensor):
                args = (*args[:at], number_of(args[at]), *args[at + 1 :])
        if kwargs:
            for word in tuple(kwargs):
                if word not in known and OTHER_NAMES.get(word) in known:
                    kwargs[OTHER_NAMES[word]] = kwargs.pop(word)
                elif word in NUMBERS and counted:
                    kwargs[word] = number_of(kwargs[word])
            if "out" not in known:
                written = kwargs.pop("out", None)
                if isinstance(written, Tensor):
                    lose(args[0], written)
                    # What is made of numbers alone (`torch.eye`) stays a tensor of known values.
                    if any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
                        return written_into(written, function, *args, **kwargs)
        return function(*args, **kwargs)

    return renamed


def written_into(out: Tensor, function: Callable[..., Value], run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`f(x, out=y)`: what is computed lies in `y`, which is resized first where it is of another shape (and is a new
    tensor then, as it is here)."""
    from flake8_cnnmem.frameworks.torch.functions.overwriting import overwritten

    def computed(run: Runtime) -> Value:
        return function(run, *args, **kwargs)

    # What is applied for its shape alone is no op of an optimizer's step.
    stepping = run.data(STEPPING)
    before = dict(stepping)
    stepping.clear()
    try:
        _, made = run.aside(Native("out", computed, propagate_unknown=False))
    finally:
        stepping.update(before)
    if isinstance(made, Tensor) and made.shape == out.shape:
        return overwritten(run, out, function="out")
    return computed(run)


def or_by_name(word: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """A method that takes sizes or axes one by one, or all of them by their name: `x.view(size=(2, 3))`."""

    def make(function: Callable[..., Value]) -> Callable[..., Value]:
        @wraps(function)
        def taking(run: Runtime, input: Value, *given: Value, **named: Value) -> Value:
            if word in named and not given:
                given = (named.pop(word),)
            return function(run, input, *given, **named)

        return taking

    return make
