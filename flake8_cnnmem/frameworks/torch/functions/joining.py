"""Tensors put together, and values taken out by position: cat, stack, gather, scatter, index_select, meshgrid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.dims import Shape, Size, show
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, tensor_of
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, constant, flat, is_constant
from flake8_cnnmem.frameworks.torch.functions.shapes import diagonal as diagonal_of
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape, shaped
from flake8_cnnmem.frameworks.torch.registry import define, everywhere
from flake8_cnnmem.graph import Mismatch, Op, Operand, Problem, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Concatenate, Elementwise, Expand, Flatten, Index, Reshape, Stack, Unsqueeze
from flake8_cnnmem.ops.base import Weightless, axis_of, count
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import DRAWN_AT_RANDOM, Runtime
from flake8_cnnmem.unknown import Unknown, unless_none
from flake8_cnnmem.values import Value


def given_tensors(run: Runtime, tensors: Value) -> list[Value] | Unknown:
    """The tensors of a list, tuple or tensor; None among them would be a TypeError."""
    if isinstance(tensors, Unknown):
        return tensors
    items = run.items(tensors)
    return items if isinstance(items, Unknown) else [tensor_of(unless_none(tensor)) for tensor in items]


def of_samples(run: Runtime, op: Op, tensors: Value, cause: Unknown) -> Tensor | None:
    """Samples of a list of unknown length put together along their first axis; None for anything else."""
    item = run.sample(tensors) if isinstance(tensors, list) else None
    if not isinstance(item, Tensor) or item.call is not None or not isinstance(item.shape, tuple):
        return None
    if isinstance(op, Stack) and op.axis == 0:
        return Tensor((cause, *item.shape), item.dtype)
    if isinstance(op, Concatenate) and op.axis == 0 and item.shape:
        return Tensor((cause, *item.shape[1:]), item.dtype)
    return None


def join(run: Runtime, op: Op, tensors: Value, function: str) -> Value:
    """An op over a list of tensors; of a list of which only a sample is known, over as many as it may hold."""
    inputs = given_tensors(run, tensors)
    if isinstance(inputs, Unknown):
        data = of_samples(run, op, tensors, inputs)
        return apply(run, op, inputs, function=function) if data is None else data
    if not inputs:
        raise run.error("RuntimeError", f"{function}(): expected a non-empty list of Tensors")
    known = joined(op, inputs) or drawn_together(run, op, inputs)
    return known if known is not None else apply(run, op, *inputs, function=function, dtype=common_dtype(inputs))


def drawn_together(run: Runtime, op: Op, inputs: Sequence[Value]) -> Tensor | None:
    """A batch of samples that chance has drawn from a memory: data, as a loader gives it. None for other tensors."""
    drawn = run.data(DRAWN_AT_RANDOM)
    tensors = [each for each in inputs if isinstance(each, Tensor) and id(each) in drawn]
    shapes = [each.shape for each in tensors if isinstance(each.shape, tuple)]
    if not drawn or getattr(op, "axis", None) != 0 or len(shapes) < len(inputs):
        return None
    try:
        (shape,) = op.outputs(*shapes)
    except Mismatch:
        return None
    return Tensor(shape, tensors[0].dtype, moved=any(each.moved for each in tensors))


def joined(op: Op, inputs: Sequence[Value]) -> Constant | None:
    """Constants with known values joined along their first axis."""
    tensors = [tensor for tensor in inputs if is_constant(tensor)]
    if getattr(op, "axis", None) != 0 or len(tensors) < len(inputs):
        return None
    columns = [flat(tensor) for tensor in tensors]
    if any(column is None for column in columns):
        return None
    shapes = [tensor.shape for tensor in tensors if isinstance(tensor.shape, tuple)]
    try:
        (shape,) = op.outputs(*shapes)
    except Mismatch:
        return None
    if isinstance(shape, Unknown):
        return None
    return constant(shape, [value for column in columns for value in column or ()], common_dtype(inputs))


def cat(run: Runtime, tensors: Value, dim: Size = 0) -> Value:
    """(..., sum of sizes, ...): tensors behind each other along an axis."""
    return join(run, Concatenate(dim), tensors, "cat")


def hstack(run: Runtime, tensors: Value) -> Value:
    """Tensors behind each other along axis 1, of one axis along axis 0."""
    inputs = given_tensors(run, tensors)
    first = inputs[0] if isinstance(inputs, list) and inputs else inputs
    flat_rows = isinstance(first, Tensor) and isinstance(first.shape, tuple) and len(first.shape) == 1
    return join(run, Concatenate(0 if flat_rows else 1), tensors, "hstack")


def meshgrid(run: Runtime, *tensors: Value, indexing: Value = None) -> tuple[Value, ...]:
    """One tensor of all sizes for each input (size,)."""
    given: Any = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    inputs = [tensor_of(tensor) for tensor in given]
    count = len(inputs)
    lengths: list[Any] = []
    for tensor in inputs:
        if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) <= 1:
            lengths.append(tensor.shape[0] if tensor.shape else 1)
        else:
            lengths.append(run.unknown("the length of a grid's side is not known"))
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[0], order[1] = 1, 0
    target = tuple(lengths[at] for at in order)
    grids = []
    for at, tensor in enumerate(inputs):
        place = order.index(at)
        column = (1,) * place + (lengths[at],) + (1,) * (count - place - 1)
        view = shaped(run, Reshape(column), tensor, "meshgrid")
        from flake8_cnnmem.frameworks.torch.functions.repetition import expand_to

        grids.append(expand_to(run, view, target, "meshgrid"))
    return tuple(grids)


def cartesian_prod(run: Runtime, *tensors: Value) -> Value:
    """(product of the sizes, inputs); of a single input that one"""
    grids = meshgrid(run, *tensors, indexing="ij")
    columns = [shaped(run, Flatten(0, -1), grid, "flatten") for grid in grids]
    return join(run, Stack(1), columns, "cartesian_prod") if len(columns) > 1 else columns[0]


@dataclass(frozen=True, slots=True)
class Gather(Weightless):
    """Values taken along an axis at the positions of a second input, whose shape the result has."""

    axis: Value

    kind = "gather"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape of the indices. Mismatch for another number of axes than the input has, or more places along an
        axis that is not gathered along (`gather_shape_check` in aten/src/ATen/native/ScatterGatherChecks.h)."""
        shape, places = inputs[0], inputs[1]
        if self.axis is not None and max(len(shape), 1) != max(len(places), 1):
            what = (
                f"takes indices of {count(len(shape), 'axis', 'axes')} from {show(shape)}, but is given {show(places)}"
            )
            raise Mismatch(Problem("CNM201", what), (places,))
        along = axis_of(self.axis, len(shape)) if self.axis is not None and shape else None
        for at, (own, asked) in enumerate(zip(shape, places, strict=False) if isinstance(along, int) else ()):
            if at != along and isinstance(own, int) and isinstance(asked, int) and 1 < own < asked:
                what = f"takes {asked} places along axis {at} of {show(shape)}: indices are {show(places)}"
                raise Mismatch(Problem("CNM201", what), (places,))
        return (places,)


def take_along(run: Runtime, input: Value, indices: Value, dim: Value) -> Value:
    """`torch.take_along_dim`: both are broadcast but for the axis, and what is gathered by are the indices from the
    first place on, a copy (aten/src/ATen/native/TensorAdvancedIndexing.cpp). Without an axis of all values."""
    axis = 0 if dim is None else dim
    given: list[Value] = [tensor_of(input), tensor_of(indices)]
    if dim is None:
        given = [apply(run, Flatten(0, -1), each, function="flatten") for each in given]
    wide = widened(given, axis)
    if wide is not None:
        given = [apply(run, Expand(shape), each, function="expand") for shape, each in zip(wide, given, strict=True)]
        given[1] = apply(run, Elementwise("remainder"), given[1], function="remainder", dtype="int64")
    return apply(run, Gather(axis), *given, function="gather")


def widened(given: Sequence[Value], axis: Value) -> list[Shape] | None:
    """The shapes of two tensors that are broadcast but for an axis; None where they do not fit, or are not known."""
    shapes = [each.shape for each in given if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    if len(shapes) < 2 or not isinstance(axis, int) or not len(shapes[0]) == len(shapes[1]) > axis >= -len(shapes[0]):
        return None
    lead = axis % len(shapes[0])
    try:
        others = broadcast(tuple((*each[:lead], 1, *each[lead + 1 :]) for each in shapes))
    except Mismatch:
        return None
    return [(*others[:lead], each[lead], *others[lead + 1 :]) for each in shapes]


def index_select(run: Runtime, input: Value, dim: Value, index: Value) -> Value:
    """The input's shape with as many along the axis as there are indices."""
    tensor, positions = tensor_of(input), tensor_of(index)
    unknown = tensor if isinstance(tensor, Unknown) else tensor.shape
    if isinstance(unknown, Unknown) or isinstance(positions, Unknown) or not isinstance(dim, int):
        return lost_shape(run, input, run.unknown("what is selected is not known"), "index_select", "copy")
    lead = dim if dim >= 0 else dim + len(unknown)
    where = (positions,) if not isinstance(positions.shape, Unknown) else ()
    dtype = tensor.dtype if isinstance(tensor, Tensor) else "float"
    op = Index((slice(None),) * lead + (positions,))
    return apply(run, op, tensor, *where, function="index_select", dtype=dtype)


def masked_select(run: Runtime, input: Value) -> Value:
    """(found,): how many there are is not known."""
    return lost_shape(run, input, run.unknown("how many values a mask selects is not known"), "masked_select", "copy")


def sources(args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Tensor]:
    """Where values are written, and the values: those of unknown rank would hide the result's shape."""
    given = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, Tensor)]
    return [arg for arg in given if not isinstance(arg.shape, Unknown)]


def _written(name: str, *others: str, copies: bool = True) -> None:
    """`x.name_(...)` writes into x and `x.name(...)` into a copy of it; either has x's shape."""

    def writing(in_place: bool, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Written:
        index = kwargs.get("index", args[1] if len(args) > 1 else None)
        given = sources(args, kwargs)
        known = name in ("scatter", "scatter_add") and bool(given) and index is given[0]
        return Scattered(name, in_place) if known else Written(name, in_place)

    def written(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
        if isinstance(input, Weight):
            return input
        return apply(run, writing(True, args, kwargs), input, *sources(args, kwargs), function=f"{name}_")

    def copied(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
        return apply(run, writing(False, args, kwargs), input, *sources(args, kwargs), function=name)

    for word in (name, *others):
        define(f"tensor.{word}_")(written)
        if copies:
            define(*everywhere(word))(copied)


class Written(Elementwise):
    """Values of other inputs written at some positions of the first."""

    __slots__ = ()


class Scattered(Written):
    """Values written at the places along an axis that a second input gives, which has as many axes as the first."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The first input's shape. Mismatch for another number of axes (`scatter_shape_check` in ATen)."""
        shape, places = inputs[:2]
        if max(len(shape), 1) != max(len(places), 1):
            what = (
                f"takes indices of {count(len(shape), 'axis', 'axes')} for {show(shape)}, but is given {show(places)}"
            )
            raise Mismatch(Problem("CNM201", what), (shape,))
        return (shape,)


@dataclass(frozen=True, slots=True)
class Reduced(Written):
    """Values of another input joined with those of the first at the same place: `reduce` says how. With `alone` the
    first one's own value at such a place does not count."""

    reduce: str = ""
    alone: bool = False

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """The way in which values are joined, and of extremes whether those of "both" ask for a gradient."""
        if self.reduce in ("amax", "amin") and not self.alone and all(operands[at].grad for at in (0, -1)):
            return (f"{self.reduce}, both", self.reduce)
        return (f"{self.reduce}, alone", self.reduce) if self.alone else (self.reduce,)


def reduced(
    run: Runtime, name: str, in_place: bool, input: Value, index: Value, source: Value, reduce: Value, own: Value
) -> Value:
    """`x.scatter_reduce(...)` and its like. Where the way is not known, neither is what the backward pass takes."""
    if in_place and isinstance(input, Weight):
        return input
    word = reduce if isinstance(reduce, str) and isinstance(own, bool) else ""
    op = Reduced(name, in_place, word, own is False)
    return apply(run, op, input, *sources((index, source), {}), function=f"{name}_" if in_place else name)


def _reduced(in_place: bool, scattered: Sequence[str], indexed: Sequence[str]) -> None:
    """Declare both, in place or out of place: they name the values otherwise."""

    def scatter_reduce(
        run: Runtime, input: Value, dim: Value, index: Value, src: Value, reduce: Value, *, include_self: Value = True
    ) -> Value:
        return reduced(run, "scatter_reduce", in_place, input, index, src, reduce, include_self)

    def index_reduce(
        run: Runtime, input: Value, dim: Value, index: Value, source: Value, reduce: Value, *,
        include_self: Value = True,
    ) -> Value:  # fmt: skip
        return reduced(run, "index_reduce", in_place, input, index, source, reduce, include_self)

    define(*scattered)(scatter_reduce)
    define(*indexed)(index_reduce)


for _name in (
    "scatter", "scatter_add", "index_add", "index_copy", "index_fill", "index_put", "masked_scatter",
):  # fmt: skip
    _written(_name)
_reduced(True, ("tensor.scatter_reduce_",), ("tensor.index_reduce_",))
_reduced(False, everywhere("scatter_reduce"), everywhere("index_reduce"))
_written("put", copies=False)


def tril(run: Runtime, input: Value, diagonal: Value = 0) -> Value:
    """The input's shape, zeros above a diagonal."""
    return triangle(run, input, diagonal, lambda row, column, by: column - row <= by)


def triu(run: Runtime, input: Value, diagonal: Value = 0) -> Value:
    """The input's shape, zeros below a diagonal."""
    return triangle(run, input, diagonal, lambda row, column, by: column - row >= by)


def triangle(run: Runtime, input: Value, diagonal: Value, kept: Any) -> Value:
    """The input with zeros where `kept(row, column, diagonal)` does not hold."""
    tensor = tensor_of(input)
    values = flat(tensor) if is_constant(tensor) and isinstance(tensor, Tensor) else None
    if values is not None and isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 2:
        width = tensor.shape[1]
        if isinstance(width, int) and width and isinstance(diagonal, int):
            zero = type(values[0])(0)
            cut = [v if kept(at // width, at % width, diagonal) else zero for at, v in enumerate(values)]
            return constant(tensor.shape, cut, tensor.dtype)
    return apply(run, Elementwise("mask"), tensor, function="tril")


def tril_in_place(run: Runtime, input: Value) -> Value:
    """Zeros written into a tensor; a parameter stays itself."""
    if isinstance(input, Weight):
        return input
    return apply(run, Elementwise("mask", True), input, function="tril_")


def diag(run: Runtime, input: Value, diagonal: Value = 0) -> Value:
    """The diagonal of a matrix (rows, columns), or a matrix (n, n) with the input (n,) on it."""
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 2:
        return diagonal_of(run, tensor, diagonal)
    return diag_embed(run, input, diagonal)


def diag_embed(run: Runtime, input: Value, offset: Value = 0, dim1: Value = -2, dim2: Value = -1) -> Value:
    """(..., n) to (..., n, n)"""
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.shape and offset == 0:
        column = apply(run, Unsqueeze(-1), tensor, function="diag_embed")
        square = apply(run, Expand((*tensor.shape, tensor.shape[-1])), column, function="diag_embed")
        return apply(run, Elementwise("copy"), square, function="diag_embed")
    return lost_shape(run, input, run.unknown("the size of a diagonal matrix is not worked out"), "diag", "copy")
