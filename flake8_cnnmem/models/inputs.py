"""What a PyTorch model is fed with: the shapes that its first layers and its Linear layers allow.

A module does not say what it takes. Its first layer tells the rank and the channels; the only image
size that its Linear layers allow is searched for, square sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from flake8_cnnmem import dims
from flake8_cnnmem.dims import BATCH, Shape, Size
from flake8_cnnmem.graph import Call, Op, Problem, Tensor
from flake8_cnnmem.ops import (
    AdaptivePool,
    Average,
    BatchNorm,
    Broadcast,
    Concatenate,
    Convolution,
    DepthwiseConvolution,
    Dropout,
    Elementwise,
    Embedding,
    Flatten,
    GlobalPool,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    Linear,
    LocalResponseNorm,
    Normalise,
    Pad,
    Permute,
    Pool,
    PRelu,
    Recurrent,
    Reduce,
    Reshape,
    Resize,
    Transpose,
)
from flake8_cnnmem.unknown import Unknown

UNSTATED = Unknown("the size of the input is not stated")

USUAL_SIZES = (
    224, 32, 28, 227, 64, 256, 128, 299, 96, 112, 48, 384, 512, 84, 160, 192, 100, 150, 200, 300, 416, 40, 50, 16,
    105,
)  # fmt: skip
"""Image sizes that data sets and papers use, the most usual first; where several fit, one of these is meant."""

LARGEST_SIZE = 2048

MANY = LARGEST_SIZE // 2
"""A layer that takes an image of this size does not ask for one size."""

ANY_SIZE = (
    AdaptivePool, BatchNorm, Convolution, DepthwiseConvolution, Dropout, Elementwise, GlobalPool, GroupNorm,
    InstanceNorm, LocalResponseNorm, Normalise, Pad, Permute, Pool, PRelu, Reduce, Resize, Transpose,
)  # fmt: skip
"""Ops that take maps of any size, if only it is large enough."""

ALIKE = (Average, Broadcast, Concatenate)
"""Ops that take maps of any size, if only it is the same."""

KEEPS_AXES = (Dropout, Elementwise, GroupNorm, InstanceNorm, LayerNorm, LocalResponseNorm, Normalise, Pad, Pool, Resize)
"""Ops behind which the channels are still those of their input."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the first layer behind an input takes. `spatial` are the axes whose size it leaves open."""

    shape: Shape
    spatial: tuple[int, ...]
    dtype: str = "float"
    leading: bool = False
    """Whether any axes may stand before the last one: a Linear that reads the input itself."""
    flat: bool = False
    """Whether it is the values of a sample in one row, whatever its axes are."""
    others: tuple[Shape, ...] = ()
    """Shapes that the layer takes as well, the most usual first."""

    def at(self, size: Size) -> Shape:
        """The shape with every open axis of this size."""
        return tuple(size if axis in self.spatial else known for axis, known in enumerate(self.shape))

    def alternatives(self) -> tuple[Expected, ...]:
        """All that the layer takes, the most usual first."""
        return (self, *(replace(self, shape=shape, spatial=(), others=()) for shape in self.others))


def same_for_all(expected: Sequence[Expected | None]) -> Expected | None:
    """What all inputs of a model are, where they are alike (two images to compare); None where they differ."""
    first = expected[0] if expected else None
    return first if all(each == first for each in expected) else None


Choice = tuple["Expected | None", ...]
"""One of what its layers take for each input of a model."""


def alike(expected: Sequence[Expected | None]) -> list[Choice]:
    """The inputs of a model by what their layers take, their ranks going together."""
    choices = alternatives(expected)
    longest = max(map(len, choices), default=1)
    return [tuple(each[min(at, len(each) - 1)] for each in choices) for at in range(longest)]


def mixed(expected: Sequence[Expected | None]) -> list[Choice]:
    """All other combinations, where they are few."""
    choices = alternatives(expected)
    if sum(len(each) > 1 for each in choices) > MIXED:
        return []
    known = alike(expected)
    return [choice for choice in product(*choices) if choice not in known]


def alternatives(expected: Sequence[Expected | None]) -> list[Choice]:
    return [each.alternatives() if each is not None else (None,) for each in expected]


MIXED = 2
"""So many inputs whose rank is open are tried in every combination."""


def expected_by(calls: Sequence[Call], tensor: Tensor) -> Expected | None:
    """What the first layer that reads a tensor, or what is made of it value by value, says of its shape."""
    alike, flattened, reshaped = {id(tensor)}, set[int](), False
    for call in calls:
        if not call.inputs or not call.outputs:
            continue
        first = id(call.inputs[0])
        if isinstance(call.op, Linear) and reshaped:
            # What it reads may be patches or rows of the input: it says nothing of the input itself.
            return None
        if first in flattened and isinstance(call.op, Linear) and call.op.inputs not in (None, 0):
            return Expected((BATCH, call.op.inputs), (), flat=True)
        if first in alike:
            expected = taken_by(call)
            if expected is not None:
                return expected
            if keeps_axes(call.op):
                alike.add(id(call.outputs[0]))
            elif flattens(call.op):
                flattened.add(id(call.outputs[0]))
            elif call.op.kind == "view":
                reshaped = True
        elif first in flattened and (keeps_axes(call.op) or flattens(call.op)):
            flattened.add(id(call.outputs[0]))
    return None


def keeps_axes(op: Op) -> bool:
    """Whether the channels are still those of the input; not behind a view whose shape is lost."""
    return isinstance(op, KEEPS_AXES) and op.kind != "view"


def flattens(op: object) -> bool:
    """Whether an op makes one row of values of each sample. Patches are reshaped too, and are no samples."""
    return isinstance(op, Flatten) or (isinstance(op, Reshape) and len(op.target) == 2)


def taken_by(call: Call) -> Expected | None:
    op = call.op
    if isinstance(op, (Convolution, DepthwiseConvolution)):
        return spread(op.channels, len(op.kernel), op.channels_last is True)
    if isinstance(op, BatchNorm) and op.features is not None:
        least, *more = sorted(op.ranks) if op.ranks else (4,)
        others = tuple(spread(op.features, rank - 2, False).shape for rank in more)
        return replace(spread(op.features, least - 2, False), others=others)
    if isinstance(op, InstanceNorm) and op.features is not None:
        # The smaller rank is that of a sample without a batch.
        return spread(op.features, (max(op.ranks) if op.ranks else 4) - 2, False)
    if isinstance(op, Linear) and op.inputs not in (None, 0):
        others = tuple((BATCH, *between, op.inputs) for between in open_axes(1, 2, 3))
        return Expected((BATCH, op.inputs), (), leading=True, others=others)
    if isinstance(op, Embedding):
        others = tuple((BATCH, *behind) for behind in open_axes(0, 2))
        return Expected((BATCH, UNSTATED), (1,), "int64", others=others)
    if isinstance(op, Recurrent) and op.inputs is not None:
        return Expected((BATCH, UNSTATED, op.inputs), (1,)) if op.batch_first else Expected(
            (UNSTATED, BATCH, op.inputs), (0,)
        )  # fmt: skip
    return None


def open_axes(*counts: int) -> Iterator[tuple[Size, ...]]:
    for count in counts:
        yield (UNSTATED,) * count


def spread(channels: Size | None, rank: int, channels_last: bool) -> Expected:
    sizes: tuple[Size, ...] = (UNSTATED,) * rank
    # A lazy layer counts 0 channels until its first call.
    known = UNSTATED if channels is None or channels == 0 else channels
    if channels_last:
        return Expected((BATCH, *sizes, known), tuple(range(1, rank + 1)))
    return Expected((BATCH, known, *sizes), tuple(range(2, rank + 2)))


def takes_any_size(calls: Sequence[Call]) -> bool:
    """Whether calls on maps of an open size leave it open for certain: what reads such maps takes them of any size, and
    where the size ends (a global pool) known features are left."""
    for call in calls:
        shapes = [tensor.shape for tensor in (*call.inputs, *call.weights)]
        if call.problem is not None or any(isinstance(shape, Unknown) for shape in shapes):
            return False
        given = [shape for tensor in call.inputs if isinstance(shape := tensor.shape, tuple)]
        if all(dims.known(shape) for shape in given) or isinstance(call.op, ANY_SIZE):
            continue
        if isinstance(call.op, Linear):
            fits = not isinstance(given[0][-1], Unknown)
        elif isinstance(call.op, LayerNorm):
            fits = call.op.shape is not None and len(call.op.shape) == 1 and not isinstance(given[0][-1], Unknown)
        else:
            fits = isinstance(call.op, ALIKE) and open_alike(given)
        if not fits:
            return False
    return True


def open_alike(shapes: Sequence[Shape]) -> bool:
    """Whether every axis is open in all of some shapes, in none, or of size 1 where it is not."""
    rank = max(map(len, shapes))
    for axis in range(1, rank + 1):
        sizes = [shape[-axis] for shape in shapes if len(shape) >= axis]
        if any(isinstance(size, Unknown) for size in sizes):
            if not all(isinstance(size, Unknown) or size == 1 for size in sizes):
                return False
    return True


Verdict = Callable[[int], "Problem | None"]
"""For an image size: the first problem that the model has with it, if any."""


def only_size(first_problem: Verdict, dropped: Callable[[int], int]) -> int | None:
    """The image size that the model's own layers ask for, or None where they take any size or none.

    The features that reach a Linear layer grow with the size, so the sizes that it takes lie together. Among them a
    usual one is meant, and rather one of which no stride or pool leaves over a row.
    """
    first_problem = cache(first_problem)
    small, usual_size = first_problem(64), first_problem(224)
    if (small is None and usual_size is None) or first_problem(MANY) is None:
        return None
    # Where 64 is too small and 224 is not, the smallest size lies between the two.
    between = small is not None and too_small(small) and usual_size is None
    low = first_fitting(first_problem, *((65, 224) if between else (1, LARGEST_SIZE)))
    if low is None:
        return None
    high = low
    step = 1
    while step:
        if high + step < MANY and first_problem(high + step) is None:
            high += step
            step *= 2
        else:
            step //= 2
    usual = [size for size in USUAL_SIZES if low <= size <= high]
    if usual:
        return min(usual, key=lambda size: (dropped(size), USUAL_SIZES.index(size)))
    return min(range(low, high + 1), key=lambda size: (dropped(size), size)) if high - low < 64 else low


def first_fitting(first_problem: Verdict, low: int, high: int) -> int | None:
    """The smallest size without a problem, by bisection on "too small"."""
    while low < high:
        middle = (low + high) // 2
        problem = first_problem(middle)
        if problem is not None and too_small(problem):
            low = middle + 1
        else:
            high = middle
    return low if first_problem(low) is None else None


def too_small(problem: Problem) -> bool:
    if problem.code == "CNM202":
        return True
    return problem.given is not None and problem.declared is not None and problem.given < problem.declared


def rows_dropped(calls: Sequence[Call]) -> int:
    """Rows and columns that strides and pools leave over, in all."""
    return sum(count for call in calls for _, count in drops_of(call))


def drops_of(call: Call) -> Iterator[tuple[int, int]]:
    """`(axis, rows)` of a call's input that its stride does not reach."""
    if isinstance(call.op, (Convolution, Pool)) and call.inputs and not isinstance(call.inputs[0].shape, Unknown):
        yield from call.op.dropped(call.inputs[0].shape)
