"""Shapes between our side (batch multiples, Unknowns) and what Keras code sees: tuples with None."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.base import bounded
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Native, Property, Value

UNSTATED_SIZE = "the input's {} is not stated"


class TensorShape(tuple[Any, ...]):
    """A shape as Keras code sees it: a tuple with None for the batch, that also answers TensorFlow's questions.

    The interpreter looks names that a tuple has not up in `more`.
    """

    __slots__ = ()
    more: ClassVar[dict[str, Value]] = {}

    def __getitem__(self, key: Any) -> Any:
        """A part of a shape is a shape."""
        found = super().__getitem__(key)
        return TensorShape(found) if isinstance(key, slice) else found


def unstated(axis: int, rank: int, channels_last: bool = True) -> Unknown:
    """The size of an axis that an `Input` leaves open."""
    spatial = {3: ("length",), 4: ("height", "width"), 5: ("depth", "height", "width")}.get(rank, ())
    place = axis - 1 if channels_last else axis - 2
    if 0 <= place < len(spatial):
        return Unknown(UNSTATED_SIZE.format(spatial[place]))
    channels = axis == (rank - 1 if channels_last else 1)
    return Unknown(UNSTATED_SIZE.format("number of channels" if channels and rank > 2 else "size"))


def is_unstated(size: object) -> bool:
    """Whether a size is open because the code leaves the input's size open, rather than not followed."""
    if not isinstance(size, Unknown):
        return False
    before, _, after = UNSTATED_SIZE.partition("{}")
    return size.reason.startswith(before) and size.reason.endswith(after)


def shown(shape: Shape | Unknown, batch_size: int | None = None) -> Value:
    """The shape as the user's code sees it; a batch size that the code states stands for the batch."""
    if isinstance(shape, Unknown):
        return shape
    if batch_size is not None and shape and shape[0] == BATCH:
        return TensorShape((batch_size, *(shown_size(size) for size in shape[1:])))
    return TensorShape(shown_size(size) for size in shape)


def shown_size(size: Size) -> Value:
    """A size as Keras shows it: None for the batch and for one that is not stated."""
    return None if isinstance(size, Batch) or is_unstated(size) else size


def shown_shapes(structure: Value, batch_size: int | None = None) -> Value:
    """The shapes of nested tensors, as `build` and `compute_output_shape` get them."""
    if isinstance(structure, Tensor):
        return shown(structure.shape, batch_size)
    if isinstance(structure, (list, tuple)):
        return [shown_shapes(item, batch_size) for item in structure]
    if isinstance(structure, dict):
        return {key: shown_shapes(item, batch_size) for key, item in structure.items()}
    return structure if isinstance(structure, Unknown) else None


def stated(value: Value, channels_last: bool = True) -> Shape | Unknown:
    """A shape that user code wrote, batch axis included: None is the batch in front, an open size elsewhere."""
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, (list, tuple)):
        return Unknown("a shape is not a tuple")
    sizes: list[Size] = []
    for axis, size in enumerate(value):
        if axis == 0 and (size is None or isinstance(size, int)):
            sizes.append(BATCH)
        elif size is None or (isinstance(size, int) and size == -1):
            sizes.append(unstated(axis, len(value), channels_last))
        else:
            sizes.append(plain_size(size))
    return tuple(sizes)


def plain_size(size: Value) -> Size:
    """One size: whole floats as TensorFlow takes them, 0-d constants by their value."""
    if isinstance(size, (int, Batch, Unknown)):
        return bounded(int(size) if isinstance(size, bool) else size)
    if isinstance(size, float):
        return int(size) if size.is_integer() else Unknown(f"a size is {size}")
    if isinstance(size, Tensor) and size.data is not None:
        return plain_size(size.data)
    if isinstance(size, tuple) and len(size) == 1:
        return plain_size(size[0])
    return Unknown("a size could not be worked out")


def is_shape(value: Value) -> bool:
    """Whether a value is one shape, rather than a list of them."""
    return isinstance(value, (list, tuple)) and not any(isinstance(item, (list, tuple, dict)) for item in value)


def as_list(run: Runtime, self: TensorShape) -> Value:
    """`shape.as_list()`: its sizes, None for those that are open."""
    return list(self)


def rank(run: Runtime, self: TensorShape) -> Value:
    """`shape.rank`: the number of axes."""
    return len(self)


def elements(run: Runtime, self: TensorShape) -> Value:
    """`shape.num_elements()`; the first size that is no number where there is one."""
    total = 1
    for size in self:
        if not isinstance(size, int):
            return size
        total *= size
    return total


def fully_defined(run: Runtime, self: TensorShape) -> Value:
    """`shape.is_fully_defined()`: whether no size is open."""
    return all(isinstance(size, int) for size in self)


def same(run: Runtime, self: TensorShape) -> Value:
    """A method that gives its shape."""
    return self


def with_rank(run: Runtime, self: TensorShape, rank: Value) -> Value:
    """`shape.with_rank(rank)`: the shape itself; that it has another rank is not looked at."""
    return self


def concatenate(run: Runtime, self: TensorShape, other: Iterable[Value]) -> Value:
    """`shape.concatenate(other)`: the axes of both."""
    return TensorShape((*self, *other))


def is_compatible_with(run: Runtime, self: TensorShape, other: Sequence[Value]) -> Value:
    """`shape.is_compatible_with(other)`, by the number of axes."""
    return len(self) == len(other)


ATTRIBUTES: dict[str, Value] = {
    "as_list": Native("as_list", as_list),
    "rank": Property(Native("rank", rank)),
    "ndims": Property(Native("ndims", rank)),
    "dims": Property(Native("dims", as_list)),
    "num_elements": Native("num_elements", elements),
    "is_fully_defined": Native("is_fully_defined", fully_defined),
    "assert_is_fully_defined": Native("assert_is_fully_defined", same),
    "with_rank": Native("with_rank", with_rank),
    "concatenate": Native("concatenate", concatenate),
    "is_compatible_with": Native("is_compatible_with", is_compatible_with),
    "assert_is_compatible_with": Native("assert_is_compatible_with", is_compatible_with),
}
"""What a TensorShape answers beyond a tuple's own methods."""


TensorShape.more = ATTRIBUTES


def construct(run: Runtime, cls: Class, dims: Any = None) -> Value:
    """`tf.TensorShape([None, 28, 28, 1])`: a shape of these sizes; an unknown for None, which is any shape."""
    if dims is None:
        return run.unknown("a shape of unknown rank")
    return dims if isinstance(dims, Unknown) else TensorShape(dims)


TENSOR_SHAPE = Class(
    "TensorShape",
    namespace={**ATTRIBUTES, "__new__": Native("__new__", construct, propagate_unknown=False)},
    module="tensorflow",
)
