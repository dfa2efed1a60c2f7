"""Functions that repeat a tensor: as a view along axes of one value (expand, broadcast), or copied (repeat, tile)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import or_by_name, size, sizes
from flake8_cnnmem.frameworks.torch.functions.constants import LARGEST, Constant, as_view, constant, flat, spread
from flake8_cnnmem.frameworks.torch.functions.shapes import is_row, lost_shape, rank_of
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Mismatch, Op, Tensor, Weight
from flake8_cnnmem.ops import (
    Expand,
    Repeat,
    RepeatInterleave,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import flattened, nest
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def expand_to(run: Runtime, input: Value, target: Shape | Unknown, function: str) -> Value:
    """Axes of size 1 repeated to the target shape, in the same storage."""
    if isinstance(target, Unknown):
        return lost_shape(run, input, target, function)
    op = Expand(target)
    if isinstance(input, Tensor) and input.data is not None and not isinstance(input, Weight):
        known = expanded(op, input)
        if known is not None:
            return known
    return apply(run, op, input, function=function)


def expanded(op: Op, input: Tensor) -> Constant | None:
    """A constant repeated to a larger shape."""
    values = flat(input)
    if values is None or isinstance(input.shape, Unknown):
        return None
    try:
        (shape,) = op.outputs(input.shape)
    except Mismatch:
        return None
    if isinstance(shape, Unknown):
        return None
    total = dims.product(shape)
    if not isinstance(total, int) or total > LARGEST:
        return as_view(Constant(shape, input.dtype), input) if dims.known(shape) and isinstance(total, int) else None
    own = input.shape

    def read(data: Any) -> Any:
        return nest(spread(flattened(data, len(own)), own, shape), shape)

    return as_view(constant(shape, spread(values, own, shape), input.dtype), input, read)


@define("tensor.expand")
@or_by_name("size")
def expand(run: Runtime, input: Value, *size: Value, implicit: Value = False) -> Value:
    """`x.expand(*size)`: a view in which axes of 1 are repeated; -1 keeps a size."""
    return expand_to(run, input, sizes(size), "expand")


def expand_as(run: Runtime, input: Value, other: Value) -> Value:
    """`x.expand_as(other)`: a view in the shape of another tensor."""
    other = tensor_of(other)
    return expand_to(run, input, other if isinstance(other, Unknown) else other.shape, "expand")


@define("torch.broadcast_to", "tensor.broadcast_to")
@or_by_name("size")
def broadcast_to(run: Runtime, input: Value, *size: Value) -> Value:
    """`torch.broadcast_to(x, size)`: a view in which axes of 1 are repeated."""
    return expand_to(run, input, sizes(size), "expand")


def broadcast_tensors(run: Runtime, *tensors: Value) -> Value:
    """Each tensor expanded to the broadcast shape of all."""
    from flake8_cnnmem.ops import Broadcast

    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shapes = [tensor.shape for tensor in map(tensor_of, given) if isinstance(tensor, Tensor)]
    if len(shapes) != len(given) or any(isinstance(shape, Unknown) for shape in shapes):
        return run.unknown("the shape that tensors broadcast to is not known")
    try:
        (shape,) = Broadcast("add").outputs(*shapes)  # type: ignore[arg-type]
    except Mismatch:
        return run.unknown("tensors do not broadcast to one shape")
    return tuple(expand_to(run, tensor, shape, "expand") for tensor in given)


@define("tensor.repeat")
@or_by_name("repeats")
def repeat(run: Runtime, input: Value, *repeats: Value) -> Value:
    """`x.repeat(*repeats)`, a copy."""
    return repeat_by(run, input, sizes(repeats), "repeat")


@define("tensor.tile")
@or_by_name("dims")
def tile_method(run: Runtime, input: Value, *dims: Value) -> Value:
    """`x.tile(*dims)`, a copy."""
    return tile_by(run, input, sizes(dims))


def tile_by(run: Runtime, input: Value, times: Shape | Unknown) -> Value:
    """As `repeat`, with missing axes in front repeated once."""
    rank = rank_of(input)
    if not isinstance(times, Unknown) and rank is not None and len(times) < rank:
        times = (1,) * (rank - len(times)) + times
    return repeat_by(run, input, times, "tile")


def repeat_by(run: Runtime, input: Value, times: Shape | Unknown, function: str) -> Value:
    """A copy with each axis as often as `times` says."""
    if isinstance(times, Unknown):
        return lost_shape(run, input, times, function, "copy")
    often = times[0] if len(times) == 1 else None
    if is_row(input) and isinstance(often, int) and often * len(input.data) <= LARGEST:
        return constant((often * len(input.data),), input.data * often, input.dtype)
    return apply(run, Repeat(times), input, function=function)


def repeat_interleave(
    run: Runtime, input: Value, repeats: Value = None, dim: Size | None = None, *, output_size: Value = None
) -> Value:
    """Each value repeated along an axis, or of the flat tensor; times that are a tensor need `output_size`."""
    times = size(repeats)
    if isinstance(repeats, Tensor) and isinstance(times, Unknown) and isinstance(output_size, int):
        return lost_shape(run, input, times, "repeat_interleave", "copy")
    if is_row(input) and dim in (None, 0, -1) and isinstance(times, int) and times * len(input.data) <= LARGEST:
        return constant((times * len(input.data),), [each for each in input.data for _ in range(times)], input.dtype)
    return apply(run, RepeatInterleave(times, dim), input, function="repeat_interleave")
