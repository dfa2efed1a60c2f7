"""Input shapes as the code, a directive or an option states them: where from, and whether they agree with the model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from flake8_cnnmem import dims
from flake8_cnnmem.dims import BATCH, Shape, Size
from flake8_cnnmem.evidence.graphs import is_graph
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.models.outcome import tensors_in
from flake8_cnnmem.models.records import is_record, parts_of, with_parts
from flake8_cnnmem.ops.expected import Expected
from flake8_cnnmem.settings.options import InputShapes
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import WITHOUT_SIZES, Instance, Value

InputShape = tuple[int | None, ...]
"""Without the batch; None for a size that is not stated."""


def each_of(shape: InputShape) -> list[InputShape]:
    """The shape of the only input that is stated, or those of several in their order."""
    return list(shape.each) if isinstance(shape, InputShapes) else [shape]


def count_stated(*shapes: InputShape | None) -> int | None:
    """How many inputs the first of these states that states several."""
    counts = (len(each_of(shape)) for shape in shapes if shape is not None)
    return next((count for count in counts if count > 1), None)


def paired(stated: InputShape, expected: Sequence[Expected | None]) -> list[tuple[InputShape, Expected | None]]:
    """Each input's stated shape with what its first layer says of it: one shape alone is that of all of them. Empty
    where they do not agree."""
    shapes = each_of(stated)
    if len(shapes) == 1:
        shapes *= len(expected)
    pairs = list(zip(shapes, expected, strict=False))
    fits = len(shapes) == len(expected) and all(agrees(shape, each) for shape, each in pairs)
    return pairs if fits else []


def for_each(stated: InputShape, own: Sequence[Shape | Unknown]) -> list[InputShape]:
    """Each input's stated shape, of a model that declares its inputs: one shape alone is that of all that leave sizes
    open (tokens and their padding mask)."""
    shapes = each_of(stated)
    if len(shapes) > 1 or len(own) == 1:
        return shapes
    found: list[InputShape] = []
    for shape in own:
        sizes = [size for size in shape[1:] if isinstance(size, int)] if isinstance(shape, tuple) else []
        closed = isinstance(shape, tuple) and len(sizes) == len(shape) - 1
        found.append(tuple(sizes) if closed else shapes[0])
    return found


class StatedCall(list[Value]):
    """What the code itself calls a model with: the last of the values are given by name, under `words`. `batch` is the
    size for which the batch stands in them, where that is a number."""

    def __init__(self, values: Iterable[Value], words: Sequence[str] = (), batch: Size | None = None) -> None:
        super().__init__(values)
        self.words = tuple(words)
        self.batch = batch if isinstance(batch, int) else None

    @property
    def positional(self) -> list[Value]:
        """The arguments that are given by position."""
        return self[: len(self) - len(self.words)]

    @property
    def named(self) -> dict[str, Value]:
        """The arguments that are given by name."""
        return dict(zip(self.words, self[len(self) - len(self.words) :], strict=True))


def batched(values: Sequence[Value]) -> list[Value]:
    """The values with the batch in place of its size, which is what the first tensor's first axis is. Another tensor
    may have it as its second axis (a recurrent layer's state), or be no batch at all (what all samples share). Of a
    graph no axis is the batch."""
    if is_graph(tensors_in(list(values))):
        return list(values)
    leading, beside = leading_size(values), leading_beside(values)
    return [with_batch(value, leading, beside) for value in values]


def leading_size(values: Sequence[Value]) -> Size | None:
    """The first axis of the first tensor among some values."""
    return next((shape[0] for tensor in tensors_in(list(values)) if (shape := known_shape(tensor))), None)


def leading_beside(values: Iterable[Value]) -> Size | None:
    """The first axis of the first tensor that lies in no list."""
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else None
        shape = known_shape(value)
        found = shape[0] if shape else leading_beside(inner) if inner is not None else None
        if found is not None:
            return found
    return None


def are_plain(values: Sequence[Value]) -> bool:
    """Whether the values that a call gives are tensors, numbers and words, or tuples and dicts of such. A list may hold
    the samples of a batch one by one, unless it is inputs and targets, or the lengths or names of such."""
    beside = leading_beside(values)
    return all(is_plain(value, beside) for value in values)


def is_plain(value: Value, beside: Size | None) -> bool:
    """Whether one of them is."""
    if isinstance(value, tuple):
        return all(is_plain(each, beside) for each in value)
    if is_collated(value, beside) or (isinstance(value, list) and not any(isinstance(each, Tensor) for each in value)):
        return all(is_plain(each, beside) for each in value)
    if isinstance(value, dict):
        return all(is_plain(each, beside) for each in value.values())
    if isinstance(value, Instance):
        return WITHOUT_SIZES in value.cls.facts or (
            is_record(value) and all(is_plain(e, beside) for e in parts_of(value))
        )
    return isinstance(value, (Tensor, bool, int, float, str, type(None)))


def is_collated(value: Value, beside: Size | None) -> TypeGuard[list[Tensor]]:
    """Whether a list is a batch as a loader gives it: tensors of as many samples each, as the tensors `beside` the list
    have where there are others than it has tensors; else several of other axes, or each of more axes than a single
    image has (two paths of a video, several crops of each image)."""
    if not isinstance(value, list) or not all(isinstance(each, Tensor) for each in value):
        return False
    shapes = [known_shape(each) for each in value]
    if not shapes or not all(shapes) or len({shape[0] for shape in shapes}) != 1:
        return False
    ranks = {len(shape) for shape in shapes}
    return len(ranks) > 1 or min(ranks) > IMAGE_AXES or (beside == shapes[0][0] and beside != len(shapes))


IMAGE_AXES = 3
"""(channels, height, width): the axes of a single image."""


def known_shape(value: Value) -> Shape:
    """The shape of a tensor; () of anything else, and of one whose shape is not known."""
    return value.shape if isinstance(value, Tensor) and not isinstance(value.shape, Unknown) else ()


def with_batch(value: Value, size: Size | None, beside: Size | None) -> Value:
    """A value with its tensors, nested in tuples, batches and dicts, led by a batch axis of this size."""
    if isinstance(value, tuple):
        return tuple(with_batch(each, size, beside) for each in value)
    if is_collated(value, beside):
        return [with_batch(each, size, beside) for each in value]
    if isinstance(value, dict):
        return {word: with_batch(each, size, beside) for word, each in value.items()}
    if is_record(value):
        return with_parts(value, lambda part: with_batch(part, size, beside))
    shape = list(known_shape(value))
    # Where the batch is no number, it is not known which number would be one.
    axis = 0 if not isinstance(size, int) else shape.index(size) if size in shape[:2] else None
    if axis is None or not shape or not isinstance(value, Tensor):
        return value
    shape[axis] = BATCH
    made = Tensor(tuple(shape), value.dtype, framework=value.framework, requires_grad=value.requires_grad)
    made.largest = largest_in(value)
    return made


def largest_in(value: Tensor) -> int | None:
    """The largest of a row of whole numbers that are known, as of the lengths of sequences."""
    flat = isinstance(value.data, tuple) and isinstance(value.shape, tuple) and len(value.shape) == 1
    row = value.data if flat else ()
    whole = [number for number in row if type(number) is int]
    return max(whole) if whole and len(whole) == len(row) else value.largest


def place(site: Site | None) -> str:
    """A site as "path:line", for the report; "code" without one."""
    return "code" if site is None else f"{site.path}:{site.line}"


def first_shape(values: Sequence[Value]) -> InputShape | None:
    """The first input's shape without the batch; of a graph all of it."""
    first = next(tensors_in(list(values[:1])), None)
    shape = first.shape if first is not None else None
    if isinstance(shape, tuple) and is_graph(tensors_in(list(values))):
        return tuple(size if isinstance(size, int) else None for size in shape)
    return tuple(dims.drop_batch(shape)) if shape is not None and not isinstance(shape, Unknown) else None


def agrees(shape: InputShape, expected: Expected | None) -> bool:
    """Whether an input shape can be what the first layer takes: its rank, and the sizes that the layer states."""
    if expected is None:
        return True
    if expected.flat and expected.parts and None not in shape:
        ends = (math.prod(size or 0 for size in shape[at:]) for at in range(len(shape)))
        return any(dims.same(end, expected.shape[-1]) is not False for end in ends)
    if expected.flat:
        return None in shape or dims.same(math.prod(size or 0 for size in shape), expected.shape[-1]) is not False
    if expected.leading and shape:
        return shape[-1] is None or dims.same(shape[-1], expected.shape[-1]) is not False
    if len(shape) != len(expected.shape) - 1:
        return False
    return all(
        dims.same(size, known) is not False
        for size, known in zip(shape, expected.shape[1:], strict=True)
        if size is not None
    )


def filled_in(shapes: Sequence[Shape | Unknown], wanted: Sequence[InputShape]) -> list[Shape | Unknown] | None:
    """The inputs' shapes with the sizes that they leave open taken from `wanted`, one for each; None where the two
    contradict."""
    if len(shapes) != len(wanted):
        return None
    filled: list[Shape | Unknown] = []
    for shape, sizes in zip(shapes, wanted, strict=True):
        if isinstance(shape, Unknown) or len(shape) != len(sizes) + 1:
            return None
        pairs = list(zip(shape[1:], sizes, strict=True))
        if any(new is not None and not isinstance(size, Unknown) and size != new for size, new in pairs):
            return None
        filled.append(
            (shape[0], *(new if isinstance(size, Unknown) and new is not None else size for size, new in pairs))
        )
    return filled
