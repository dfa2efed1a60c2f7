"""Views and copies: reshape, permute, squeeze, expand, repeat, split. Constants keep their values through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import axes, or_by_name, size, sizes
from flake8_cnnmem.frameworks.torch.dtypes import SIZES, dtype_of, is_dtype, is_floating
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, as_view, constant, flat, permuted
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.frameworks.torch.strides import strides_of, viewed
from flake8_cnnmem.graph import Mismatch, Op, Problem, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import (
    AcrossOrder,
    Elementwise,
    Flatten,
    Flip,
    Permute,
    Reshape,
    Roll,
    Squeeze,
    Transpose,
    Unflatten,
    Unsqueeze,
)
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import flattened, in_order, nest, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def shaped(run: Runtime, op: Op, input: Value, function: str) -> Value:
    """An op that keeps the order of the values."""
    if isinstance(input, Tensor) and input.data is not None and not isinstance(input, Weight):
        known = reordered(op, input, flat(input))
        if known is not None:
            run.spend(len(known.shape) + 5 if isinstance(known.shape, tuple) else 5)
            return known
    return apply(run, op, input, function=function)


def reordered(
    op: Op, input: Tensor, values: Sequence[Any] | None, order: Sequence[int] | None = None
) -> Constant | None:
    """A constant with these values in the shape that the op gives; `order` is that of its axes where it changes."""
    if values is None or isinstance(input.shape, Unknown):
        return None
    try:
        (shape,) = op.outputs(input.shape)
    except Mismatch:
        return None
    if isinstance(shape, Unknown) or dims.product(shape) != len(values):
        return None
    made = constant(shape, values, input.dtype)
    if input.view_of and isinstance(op, Reshape):
        # It may have to copy.
        shares(made, input, None)
        return made
    rank = len(input.shape)
    sizes_before = [size for size in input.shape if isinstance(size, int)]

    def read(data: Any) -> Any:
        before = flattened(data, rank)
        return nest(before if order is None else in_order(before, sizes_before, order), shape)

    return as_view(made, input, read)


def moved(run: Runtime, op: Op, input: Value, order: Sequence[int] | None, function: str) -> Value:
    """An op that gives the axes another order; `order` is None where it is not known."""
    if order is not None and isinstance(input, Tensor) and input.data is not None and not isinstance(input, Weight):
        known = reordered(op, input, permuted(input, order), order)
        if known is not None:
            return known
    return apply(run, op, input, function=function)


def rank_of(input: Value) -> int | None:
    """How many axes a tensor has; None where that is not known."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return None
    return len(tensor.shape)


@define("tensor.view")
@or_by_name("size")
def view(run: Runtime, input: Value, *shape: Value, dtype: Value = None) -> Value:
    """`x.view(*shape)` or `x.view(dtype)`: the same storage; -1 is worked out. RuntimeError where the
    strides do not allow it."""
    if dtype is not None:
        shape = (dtype,)
    return reshape_to(run, input, shape, "view")


@define("tensor.reshape")
@or_by_name("shape")
def reshape_method(run: Runtime, input: Value, *shape: Value) -> Value:
    """`x.reshape(*shape)`: a view, or a copy where the strides allow none; -1 is worked out."""
    return reshape_to(run, input, shape, "reshape")


def reshape_to(run: Runtime, input: Value, shape: Sequence[Value], function: str) -> Value:
    """The tensor in a shape given as numbers or as one sequence, a -1 worked out; a copy only where it has to be."""
    if len(shape) == 1 and is_dtype(shape[0]):
        return in_dtype(run, input, dtype_of(shape[0]))
    target = sizes(tuple(shape))
    if isinstance(target, Unknown):
        return lost_shape(run, input, target, function)
    if isinstance(input, Tensor) and isinstance(input.shape, Unknown) and is_lost_data(run, input):
        # Whatever it was before: of its values only how many there are can decide one of the sizes.
        filled = tuple(input.shape.loose() if size == -1 else size for size in target)
        return Tensor(filled, input.dtype, framework=input.framework)
    op = Reshape(target)
    if (
        function == "view"
        and isinstance(input, Tensor)
        and input.call is not None
        and needs_copy(op, input, run.called_at)
    ):
        if not is_floating(input.dtype):
            # What only counts hits (`correct[:k].view(-1)`) is no size of a model's: the program ends there.
            raise run.error("RuntimeError", "view size is not compatible with input tensor's size and stride")
        op = AcrossOrder(target)
    return shaped(run, op, input, function)


def in_dtype(run: Runtime, input: Value, dtype: str) -> Value:
    """`x.view(dtype)`: the same bytes read as another dtype; where that is of another width the shape is not known."""
    if not isinstance(input, Tensor) or input.dtype == dtype or (input.dtype, dtype) == ("float", "float32"):
        return input
    if SIZES.get(input.dtype, 4) == SIZES.get(dtype, 4):
        return apply(run, Elementwise("alias"), input, function="view", dtype=dtype)
    return lost_shape(run, input, run.unknown("a view in a dtype of another width is not followed"), "view")


def needs_copy(op: Op, input: Tensor, batch: int | None) -> bool:
    """Whether no view of a tensor has the shape that an op gives it: its axes lie in another order. An axis of one
    sample, as it is in a call on a `batch` of 1, may lie anywhere."""
    strides = strides_of(input)
    if strides is None or isinstance(input.shape, Unknown):
        return False
    try:
        (shape,) = op.outputs(input.shape)
    except Mismatch:
        return False
    if isinstance(shape, Unknown) or len(strides) != len(input.shape):
        return False
    if not dims.known((*input.shape, *shape, *strides)) or dims.product(shape) != dims.product(input.shape):
        return False
    if batch == 1:
        before, strides, shape = (tuple(map(of_one_sample, part)) for part in (input.shape, strides, shape))
        return viewed(before, strides, shape) is None
    return viewed(input.shape, strides, shape) is None


def of_one_sample(size: Size) -> Size:
    """A size at batch 1."""
    return size.multiple if isinstance(size, Batch) else size


def is_lost_data(run: Runtime, tensor: Tensor) -> bool:
    """Whether a tensor of unknown shape is data, which no layer has to do with."""
    if not isinstance(tensor.shape, Unknown) or isinstance(tensor, Weight):
        return False
    return run.making_data or (tensor.call is None and run.invocation is None)


class Lost(Elementwise):
    """A view whose target shape is not known."""

    __slots__ = ("cause",)
    cause: Unknown

    def __init__(self, kind: str, cause: Unknown) -> None:
        super().__init__(kind)
        object.__setattr__(self, "cause", cause)

    def outputs(self, *inputs: Shape) -> Any:
        """An unknown shape, with its cause."""
        return (self.cause,)

    @property
    def view(self) -> bool:
        """Whether it is a view of its input."""
        return self.kind == "view"


def lost_shape(run: Runtime, input: Value, cause: Unknown, function: str, kind: str = "view") -> Value:
    """The call is kept, so that the layers behind it are; its output's shape is Unknown."""
    return apply(run, Lost(kind, cause), input, function=function)


def view_as(run: Runtime, input: Value, other: Value) -> Value:
    """The tensor in another one's shape."""
    other = tensor_of(other)
    shape = other if isinstance(other, Unknown) else other.shape
    return lost_shape(run, input, shape, "view") if isinstance(shape, Unknown) else shaped(
        run, Reshape(shape), input, "view"
    )  # fmt: skip


def flatten(run: Runtime, input: Value, start_dim: Size = 0, end_dim: Size = -1) -> Value:
    """The axes from `start_dim` to `end_dim` as one."""
    return shaped(run, Flatten(start_dim, end_dim), input, "flatten")


def unflatten(run: Runtime, input: Value, dim: Size, sizes: Value) -> Value:
    """One axis as several."""
    from flake8_cnnmem.frameworks.torch.arguments import shape_of

    target = shape_of(sizes)
    if isinstance(target, Unknown):
        return lost_shape(run, input, target, "unflatten")
    return shaped(run, Unflatten(dim, target), input, "unflatten")


def permute_axes(run: Runtime, input: Value, order: Value, function: str) -> Value:
    """The axes in another order, a view."""
    if isinstance(order, Unknown):
        return lost_shape(run, input, order, function)
    if not isinstance(order, (tuple, list)):
        return lost_shape(run, input, run.unknown("the order of a tensor's axes is not known"), function)
    unknown = next((axis for axis in order if isinstance(axis, Unknown)), None)
    if unknown is not None:
        return lost_shape(run, input, unknown, function)
    order = tuple(map(size, order))
    rank = len(order)
    if isinstance(input, Tensor) and input.call is None and isinstance(input.shape, Unknown):
        sides = input.shape.sides
        if sides is not None and rank == 3:
            # A picture of three axes, which holds its channels behind.
            input = Tensor((*sides, input.shape.loose()), input.dtype, framework=input.framework)
    known = [axis % rank for axis in order if isinstance(axis, int) and -rank <= axis < rank]
    whole = len(known) == rank == rank_of(input)
    return moved(run, Permute(tuple(order)), input, known if whole else None, function)


@define("tensor.permute")
@or_by_name("dims")
def permute_method(run: Runtime, input: Value, *dims: Value) -> Value:
    """`x.permute(*dims)`: a view with its axes in this order."""
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple, Unknown)) else dims
    return permute_axes(run, input, order, "permute")


def permute(run: Runtime, input: Value, dims: Value) -> Value:
    """`torch.permute(x, dims)`: a view with its axes in this order."""
    return permute_axes(run, input, dims, "permute")


def swap(run: Runtime, input: Value, first: Size, second: Size) -> Value:
    """Two axes swapped, a view."""
    rank = rank_of(input)
    order = None
    if rank and isinstance(first, int) and isinstance(second, int) and max(abs(first), abs(second)) <= rank:
        order = list(range(rank))
        if -rank <= first < rank and -rank <= second < rank:
            order[first], order[second] = order[second], order[first]
    return moved(run, Transpose(first, second), input, order, "transpose")


def t(run: Runtime, input: Value) -> Value:
    """A matrix transposed; a vector as it is."""
    return swap(run, input, 0, 1) if rank_of(input) != 1 else input


def movedim(run: Runtime, input: Value, source: Value, destination: Value) -> Value:
    """Axes moved to other places, a view."""
    rank = rank_of(input)
    given, wanted = axes(source), axes(destination)
    if rank is None or not isinstance(given, tuple) or not isinstance(wanted, tuple):
        return lost_shape(run, input, run.unknown("the order of a tensor's axes is not known"), "movedim")
    if not all(isinstance(axis, int) for axis in (*given, *wanted)):
        return lost_shape(run, input, run.unknown("the order of a tensor's axes is not known"), "movedim")
    given, wanted = tuple(axis % rank for axis in given), tuple(axis % rank for axis in wanted)
    order = [axis for axis in range(rank) if axis not in given]
    for target, axis in sorted(zip(wanted, given, strict=False)):
        order.insert(target, axis)
    return permute_axes(run, input, tuple(order), "movedim")


def squeeze(run: Runtime, input: Value, dim: Value = None) -> Value:
    """Without axes of size 1: all, or those of `dim`."""
    which = axes(dim)
    if isinstance(which, Unknown):
        return lost_shape(run, input, which, "squeeze")
    return shaped(run, Squeeze(which), input, "squeeze")


def unsqueeze(run: Runtime, input: Value, dim: Size) -> Value:
    """With an axis of size 1 at `dim`."""
    return shaped(run, Unsqueeze(dim), input, "unsqueeze")


def is_row(value: Value) -> TypeGuard[Constant]:
    """Whether a value is a constant with one axis."""
    return isinstance(value, Tensor) and isinstance(value.data, tuple) and value.shape == (len(value.data),)


def roll(run: Runtime, input: Value, dims: Value = ()) -> Value:
    """The values shifted along axes, a copy."""
    which = axes(dims)
    return apply(run, Roll(None if which == () or isinstance(which, Unknown) else which), input, function="roll")


@define("tensor.flip")
@or_by_name("dims")
def flip_method(run: Runtime, input: Value, *dims: Value) -> Value:
    """`x.flip(*dims)`: a copy of the same shape."""
    return flip_axes(run, input, dims[0] if len(dims) == 1 else dims)


def flip_axes(run: Runtime, input: Value, which: Value) -> Value:
    """The values in reverse along axes, a copy."""
    found = axes(which)
    if is_row(input):
        return constant((len(input.data),), input.data[::-1], input.dtype)
    return apply(run, Flip(None if isinstance(found, Unknown) else found), input, function="flip")


def rot90(run: Runtime, input: Value, k: Value = 1, dims: Value = (0, 1)) -> Value:
    """The tensor turned k times by a quarter in the plane of two axes."""
    if not isinstance(k, int) or not isinstance(dims, (list, tuple)) or len(dims) != 2:
        return lost_shape(run, input, run.unknown("how a tensor is rotated is not known"), "rot90", "copy")
    turned = apply(run, Flip(None), input, function="rot90")
    return swap(run, turned, *dims) if k % 2 else turned


def narrow(run: Runtime, input: Value, dim: Value, start: Value, length: Value) -> Value:
    """`length` values from `start` on along an axis, a view; no more than there are."""
    if not isinstance(dim, int):
        return lost_shape(run, input, run.unknown("which axis is cut is not known"), "narrow")
    rank, tensor = rank_of(input), tensor_of(input)
    held = tensor.shape[dim] if isinstance(tensor, Tensor) and rank is not None and -rank <= dim < rank else None  # type: ignore[index]
    if type(held) is int and type(start) is int and type(length) is int:
        start = start + held if start < 0 else start
        if start < 0 or start + length > held:
            what = f"takes {length} values from place {start} on along axis {dim}, which has {held}"
            return apply(run, Refused(Problem("CNM201", what)), tensor, function="narrow")
    end = dims.add(start, length) if dims.is_size(start) and dims.is_size(length) else length
    lead = dim if dim >= 0 else (rank or 0) + dim
    from flake8_cnnmem.frameworks.torch.functions.indexing import index

    return index(run, tensor_of(input), (slice(None),) * lead + (slice(start, end),))


def select(run: Runtime, input: Value, dim: Value, index: Value) -> Value:
    """One place along an axis, which goes, a view."""
    from flake8_cnnmem.frameworks.torch.functions.indexing import index as take

    rank = rank_of(input)
    if not isinstance(dim, int) or (rank is None and dim < 0):
        return lost_shape(run, input, run.unknown("which axis is indexed is not known"), "select")
    return take(run, tensor_of(input), (slice(None),) * (dim if dim >= 0 else (rank or 0) + dim) + (index,))


def atleast_1d(run: Runtime, input: Value) -> Value:
    """The tensor, with an axis where it has none."""
    return shaped(run, Unsqueeze(0), input, "atleast_1d") if rank_of(input) == 0 else input


def diagonal(run: Runtime, input: Value, offset: Value = 0, dim1: Value = 0, dim2: Value = 1) -> Value:
    """The diagonal of two axes as the last axis, a view."""
    tensor = tensor_of(input)
    cause = run.unknown("the length of a diagonal is not worked out")
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown) or not isinstance(dim1, int):
        return lost_shape(run, input, cause, "diagonal")
    if not isinstance(dim2, int) or not isinstance(offset, int):
        return lost_shape(run, input, cause, "diagonal")
    shape, rank = tensor.shape, len(tensor.shape)
    rows, columns = shape[dim1], shape[dim2]
    if not isinstance(rows, int) or not isinstance(columns, int):
        return lost_shape(run, input, cause, "diagonal")
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    rest = tuple(size for at, size in enumerate(shape) if at not in (dim1 % rank, dim2 % rank))
    return apply(run, Diagonal((*rest, length), (dim1 % rank, dim2 % rank)), tensor, function="diagonal")


@dataclass(frozen=True, slots=True)
class Diagonal(Reshape):
    """The diagonal of two axes, as the last axis."""

    axes: tuple[int, int] = (0, 1)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The other axes, whatever the batch, and the length that it was made with."""
        rest = tuple(size for at, size in enumerate(inputs[0]) if at not in self.axes)
        return ((*rest, self.target[-1]),)
