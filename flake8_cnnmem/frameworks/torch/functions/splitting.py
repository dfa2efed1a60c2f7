"""Tensors taken apart along an axis: split, chunk, unbind. Parts of constants keep their values."""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.functions.constants import Constant
from flake8_cnnmem.graph import Mismatch, Op, Tensor, Weight
from flake8_cnnmem.ops import Chunk, Elementwise, Split, Unbind
from flake8_cnnmem.runtime import Runtime, so_many
from flake8_cnnmem.shared_values import shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def parts(run: Runtime, op: Split | Chunk | Unbind, input: Value, function: str) -> Value:
    """Several tensors, or Unknown where their number is not known."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown):
        return tensor
    if isinstance(tensor.shape, Unknown):
        count: int | Unknown = len(op.sizes) if isinstance(op, Split) and isinstance(op.sizes, tuple) else tensor.shape
    else:
        try:
            count = op.count(tensor.shape)
        except Mismatch:
            count = 0
    if isinstance(count, Unknown):
        return count
    if isinstance(tensor.shape, Unknown):
        made = [apply(run, Elementwise("view"), tensor, function=function) for _ in range(count)]
        return tuple(made)
    known = constant_parts(op, tensor)
    if known is not None:
        return known
    result = apply(run, op, tensor, function=function)
    return (result,) if isinstance(result, Tensor) else result


def constant_parts(op: Op, tensor: Tensor) -> tuple[Constant, ...] | None:
    """Parts along the first axis of a constant with known values."""
    if tensor.data is None or isinstance(tensor, Weight) or isinstance(tensor.shape, Unknown) or not tensor.shape:
        return None
    axis = getattr(op, "axis", 0)
    if axis not in (0, -len(tensor.shape)):
        return None
    try:
        shapes = op.outputs(tensor.shape)
    except Mismatch:
        return None
    rows, at = tensor.data, 0
    made: list[Constant] = []
    for shape in shapes:
        if isinstance(shape, Unknown):
            return None
        if isinstance(op, Unbind):
            made.append(Constant(shape, tensor.dtype, data=rows[at]))
            shares(made[-1], tensor, itemgetter(at))
            at += 1
        elif isinstance(shape[0], int):
            made.append(Constant(shape, tensor.dtype, data=rows[at : at + shape[0]]))
            shares(made[-1], tensor, itemgetter(slice(at, at + shape[0])))
            at += shape[0]
    for each in made if tensor.moved else ():
        each.moved, each.born, each.view_of = True, tensor.born, tensor
    return tuple(made) if len(made) == len(shapes) else None


def split(run: Runtime, tensor: Value, split_size_or_sections: Value, dim: Size = 0) -> Value:
    """`torch.split(x, size or sizes, dim)`: a tuple of views."""
    return split_into(run, tensor, split_size_or_sections, dim)


def split_into(run: Runtime, input: Value, each: Value, dim: Size) -> Value:
    """A tuple of views of one size each (the last one smaller), or of these sizes."""
    if isinstance(each, (list, tuple, range)):
        return parts(run, Split(tuple(size(part) for part in each), dim), input, "split")
    found = parts(run, Split(size(each), dim), input, "split")
    return so_many_rows(run, input, each, found) if isinstance(found, Unknown) and dim == 0 else found


def so_many_rows(run: Runtime, input: Value, each: Value, cause: Unknown) -> Value:
    """Parts of a tensor that is as long as nobody knows: all are as long as it was said."""
    tensor = tensor_of(input)
    if not isinstance(tensor, Tensor) or not isinstance(tensor.shape, tuple) or type(each) is not int:
        return cause
    start = cause.another("int")
    return so_many(run, run.index(input, slice(start, start.moved(each))), cause)


def tensor_split(
    run: Runtime, input: Value, indices_or_sections: Value = None, dim: Value = 0, *, indices: Value = None,
    sections: Value = None, tensor_indices_or_sections: Value = None,
) -> Value:  # fmt: skip
    """A tuple of views: as many as a number says, or cut at places. Its overloads have each a name of its own for
    these."""
    named = (each for each in (indices, sections, tensor_indices_or_sections) if each is not None)
    indices_or_sections = next(named, indices_or_sections)
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown) or not isinstance(dim, int):
        return run.unknown("how a tensor is split is not known")
    length = tensor.shape[dim]
    if not isinstance(length, int):
        return run.unknown("how a tensor is split is not known")
    if isinstance(indices_or_sections, int) and indices_or_sections > 0:
        each, more = divmod(length, indices_or_sections)
        lengths = [each + 1] * more + [each] * (indices_or_sections - more)
    elif isinstance(indices_or_sections, (list, tuple)) and all(isinstance(at, int) for at in indices_or_sections):
        edges = [0, *(slice(at, None).indices(length)[0] for at in indices_or_sections), length]
        lengths = [max(0, after - before) for before, after in pairwise(edges)]
    else:
        return run.unknown("how a tensor is split is not known")
    return parts(run, Split(tuple(lengths), dim), tensor, "split")


def chunk(run: Runtime, input: Value, chunks: Value, dim: Size = 0) -> Value:
    """A tuple of at most `chunks` views."""
    return parts(run, Chunk(size(chunks), dim), input, "chunk")


def unbind(run: Runtime, input: Value, dim: Size = 0) -> Value:
    """A tuple of views, one for each place along the axis."""
    return parts(run, Unbind(dim), input, "unbind")
