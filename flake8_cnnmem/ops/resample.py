"""Ops that give maps other sides: padding, cropping, resizing, pixel shuffling, sliding blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from flake8_cnnmem.dims import Batch, Shape, Size, add, multiply, product, show, subtract
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    BATCH_CUT,
    LIMIT,
    SHRUNK,
    TOO_LARGE,
    UNSURE,
    Flag,
    Weightless,
    axis_of,
    blurred,
    bounded,
    count,
    divides_problem,
    extent,
    first_not_known,
    layout,
    quotient,
    rank_problem,
    unknown_among,
    whole,
    whole_problem,
)
from flake8_cnnmem.ops.shape import View
from flake8_cnnmem.ops.strides import Strides
from flake8_cnnmem.ops.windows import Padding, PerAxis, Window, expand, shrunk_problem, window
from flake8_cnnmem.unknown import Unknown

PAD_KINDS = {
    "constant": "pad", "reflect": "reflection_pad", "symmetric": "reflection_pad",
    "replicate": "replication_pad", "edge": "replication_pad", "circular": "circular_pad", "wrap": "circular_pad",
}  # fmt: skip


def padded(shape: Shape, pads: tuple[tuple[Size, Size], ...], verb: str) -> tuple[Shape]:
    """The shape with (before, after) added along each axis from the first; axes beyond the pads stay."""
    if len(pads) > len(shape):
        what = f"{verb} {count(len(pads), 'axis', 'axes')}, but is given {show(shape)}"
        raise Mismatch(Problem("CNM201", what), None)
    problem: Problem | None = None
    sizes = list(shape)
    for at, (before, after) in enumerate(pads):
        problem = problem or whole_problem("padding", (before, after), -LIMIT)
        size = bounded(add(add(shape[at], whole(before)), whole(after)))
        if type(size) is int and size < 1 and shape[at] != 0:
            problem = problem or Problem("CNM202", f"{verb} away all of axis {at} of {show(shape)}")
            size = SHRUNK
        sizes[at] = size
    if problem:
        raise Mismatch(problem, (tuple(sizes),))
    return (tuple(sizes),)


@dataclass(frozen=True, slots=True)
class Pad(Weightless):
    """(before, after) for each axis from the first; negative ones crop."""

    pads: tuple[tuple[Size, Size], ...]
    mode: str = "constant"

    @property
    def kind(self) -> str:
        """ "pad", or one by its mode ("reflection_pad")."""
        return PAD_KINDS.get(self.mode, "pad")

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Maps of three sides are "volumes"."""
        return ("volumes",) if len(self.pads) == 5 else ()

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: any side grows by as much."""
        return True

    keeps_axes = True
    keeps_dtype = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Each size with its padding before and behind; negative ones cut. Mismatch where a reflection is longer than
        its side."""
        shape = inputs[0]
        result = padded(shape, self.pads, "pads")
        limit = {"reflect": 1, "circular": 0}.get(self.mode)
        if limit is not None:
            for size, pair in zip(shape, self.pads, strict=False):
                for side in pair:
                    if type(size) is int and type(side) is int and side > size - limit:
                        what = f"reflects {side} values" if limit else f"wraps {side} values around"
                        raise Mismatch(Problem("CNM201", f"{what}, but is given {show(shape)}"), result)
        return result


@dataclass(frozen=True, slots=True)
class Crop(Weightless):
    """(before, after) cut off each axis from the first."""

    crops: tuple[tuple[Size, Size], ...]

    kind = "crop"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Each size less what is cut before and behind. Mismatch where nothing is left."""
        problem = next((found for pair in self.crops if (found := whole_problem("cropping", pair, 0))), None)
        if problem:
            raise Mismatch(problem, (tuple(UNSURE for _ in inputs[0]),))
        negative = tuple((multiply(whole(before), -1), multiply(whole(after), -1)) for before, after in self.crops)
        return padded(inputs[0], negative, "crops")


def scaled(size: Size, scale: object) -> Size:
    """floor(size * scale), as torch.nn.functional.interpolate computes it."""
    if isinstance(scale, Unknown):
        return scale
    if not isinstance(scale, (int, float)):
        return first_not_known((size,))
    if isinstance(size, int):
        value = float(size) * float(scale) if abs(scale) < LIMIT else math.inf
        return math.floor(value) if abs(value) < LIMIT else TOO_LARGE
    if isinstance(size, Batch):
        return bounded(multiply(size, int(scale))) if float(scale).is_integer() else BATCH_CUT
    return size


FEW = 4
"""From so many channels on there are kernels that read them one beside the other."""

BY_RANK = {3: ("line",), 5: ("volumes",)}
"""What maps of so many axes, with the batch's and the channels', are called."""


@dataclass(frozen=True, slots=True)
class Resize(Weightless):
    """Maps to `size`, or to `scale` times their sides, rounded down. `mode` "nearest", "bilinear", ..."""

    size: tuple[Size, ...] | Size | None = None
    scale: tuple[float | Unknown, ...] | float | Unknown | None = None
    mode: str = "nearest"
    channels_last: Flag = False
    antialias: Flag = False

    volume = "own"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Maps of one axis are a "line", of three "volumes"; others are "antialiased", or have "few" channels."""
        if self.antialias is True:
            return ("antialiased",)
        shape = operands[0].shape if operands else None
        if not isinstance(shape, tuple):
            return ()
        few = len(shape) == 4 and isinstance(shape[1], int) and shape[1] < FEW
        return ("few",) if few else BY_RANK.get(len(shape), ())

    @property
    def kind(self) -> str:
        """ "upsample_nearest", "upsample_bilinear", ...: by its mode."""
        return f"upsample_{self.mode.replace('-', '_')}" if isinstance(self.mode, str) else "upsample_nearest"

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: any side is scaled."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) to (N, C, size), or each side times its scale, rounded down."""
        shape = inputs[0]
        if isinstance(self.channels_last, Unknown):
            return (blurred(shape, self.channels_last),)
        wanted = self.scale if self.size is None else self.size
        aims = wanted if isinstance(wanted, tuple) else (wanted,) * max(1, len(shape) - 2)
        rank = len(aims)
        if isinstance(wanted, tuple) and self.channels_last is False and len(shape) > 2 and rank != len(shape) - 2:
            sides_of = count(len(shape) - 2, "side", "sides")
            what = f"is given {count(rank, 'size', 'sizes')} for {show(shape)}, which has {sides_of}"
            raise Mismatch(Problem("CNM201", what, error="ValueError"), None)
        _, first = layout(shape, rank, self.channels_last)
        sides = shape[first : first + rank]
        if self.size is not None:
            after = [extent(size, batch=True) for size in aims]
            problem = whole_problem("size", aims)
        else:
            after = [scaled(size, scale) for size, scale in zip(sides, aims, strict=True)]
            problem = shrunk_problem(sides, after)
        result = (*shape[:first], *after, *shape[first + rank :])
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


@dataclass(frozen=True, slots=True)
class PixelShuffle(Weightless):
    """(..., C * f * f, H, W) -> (..., C, H * f, W * f), or back when `inverse`."""

    factor: Size
    channels_last: Flag = False
    inverse: Flag = False

    kind = "pixel_shuffle"
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., C * r * r, H, W) to (..., C, H * r, W * r), inverse back. Mismatch where r does not divide."""
        shape = inputs[0]
        if len(shape) < 3:
            raise Mismatch(rank_problem(shape, "at least 3 axes"), None)
        cause = unknown_among(self.channels_last, self.inverse)
        if cause is not None:
            return (blurred(shape, cause),)
        last = self.channels_last
        at, rows, columns = (-1, -3, -2) if last else (-3, -2, -1)
        factor = extent(self.factor)
        square = multiply(factor, factor)
        output = list(shape)
        problem = whole_problem("factor", (self.factor,))
        if self.inverse:
            output[at] = bounded(multiply(shape[at], square))
            output[rows], output[columns] = quotient(shape[rows], factor), quotient(shape[columns], factor)
            for side in (shape[rows], shape[columns]):
                problem = problem or divides_problem(side, self.factor, "rows or columns", "pixels a side")
        else:
            output[at] = quotient(shape[at], square)
            output[rows] = bounded(multiply(shape[rows], factor))
            output[columns] = bounded(multiply(shape[columns], factor))
            problem = problem or divides_problem(shape[at], square, "channels", "pixels for each channel")
        if problem:
            raise Mismatch(problem, (tuple(output),))
        return (tuple(output),)


@dataclass(frozen=True, slots=True)
class ChannelShuffle(Weightless):
    """The channels (axis 1) of all groups interleaved."""

    groups: Size

    kind = "copy"
    keeps_dtype = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch where the groups do not divide the channels."""
        shape = inputs[0]
        if len(shape) < 3:
            raise Mismatch(rank_problem(shape, "at least 3 axes"), (shape,))
        problem = whole_problem("number of groups", (self.groups,)) or divides_problem(
            shape[1], self.groups, "channels", "groups"
        )
        if problem:
            raise Mismatch(problem, (shape,))
        return (shape,)


@dataclass(frozen=True, slots=True)
class Unfold(Weightless):
    """Sliding blocks as columns: (N, C, *sides) -> (N, C * prod(kernel), L) (torch.nn.Unfold)."""

    kernel: tuple[Size, ...]
    dilation: PerAxis = 1
    padding: Padding = 0
    stride: PerAxis = 1

    kind = "unfold"

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) to (N, C * kernel, blocks): one column for each place of the window."""
        shape = inputs[0]
        rank = len(self.kernel)
        axis, first = layout(shape, rank, False)
        blocks, problem = blocks_of(shape[first:], self)
        channels = bounded(multiply(shape[axis], product(extent(size) for size in self.kernel)))
        result = (*shape[:axis], channels, blocks)
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


@dataclass(frozen=True, slots=True)
class Fold(Weightless):
    """The inverse of Unfold, overlaps added: (N, C * prod(kernel), L) -> (N, C, *size)."""

    size: tuple[Size, ...]
    kernel: tuple[Size, ...]
    dilation: PerAxis = 1
    padding: Padding = 0
    stride: PerAxis = 1

    kind = "fold"

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C * kernel, blocks) to (N, C, size). Mismatch where the blocks are not as many as the window's places."""
        shape = inputs[0]
        if len(shape) not in (2, 3):
            raise Mismatch(rank_problem(shape, "3 axes (N, C x kernel, L)"), None)
        area = product(extent(size) for size in self.kernel)
        result = (*shape[:-2], quotient(shape[-2], area), *(extent(size) for size in self.size))
        problem = whole_problem("size", self.size)
        if not problem:
            blocks, problem = blocks_of(self.size, self)
            given = shape[-1]
            problem = problem or divides_problem(shape[-2], area, "rows", "values a block")
            if not problem and type(given) is int and type(blocks) is int and given != blocks:
                problem = Problem("CNM201", f"takes {blocks} blocks, but is given {given}", "", given, blocks)
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


def blocks_of(sides: Shape, op: Unfold | Fold) -> tuple[Size, Problem | None]:
    """The number of block positions on a map, and what is wrong with it."""
    window = Window(op.kernel, op.stride, op.padding, op.dilation)
    problem = window.problem()
    if problem or len(sides) != len(op.kernel):
        return UNSURE, problem
    after, problem = window.fit(sides)
    return bounded(product(after)), problem


@dataclass(frozen=True, slots=True)
class Windows(View):
    """Every window of `size` along an axis, `step` apart, as a new last axis (torch.Tensor.unfold)."""

    axis: Size
    size: Size
    step: Size

    view_gradient = "fill"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """The input's strides, those of the axis times the step, and behind them the axis' own."""
        if not isinstance(self.axis, int) or not isinstance(self.step, int):
            return View.view_strides(self, sizes, strides, result)
        if not sizes:
            # A single number is one window.
            return (1,)
        at = self.axis % len(sizes)
        return (*strides[:at], strides[at] * self.step, *strides[at + 1 :], strides[at])

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., L, ...) to (..., windows, ..., size): (L - size) / step + 1 windows. Mismatch for a window that is
        longer than its axis."""
        shape = inputs[0]
        if not shape:
            return ((extent(self.size),),)
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            return ((*((at,) * len(shape)), extent(self.size)),)
        problem = whole_problem("window", (self.size,)) or whole_problem("step", (self.step,))
        number: Size = UNSURE if problem else window(shape[at], extent(self.size), extent(self.step))
        if type(number) is int and number < 1:
            problem = Problem("CNM202", f"takes windows of {self.size}, but axis {at} of {show(shape)} is shorter")
            number = SHRUNK
        result = (*shape[:at], number, *shape[at + 1 :], extent(self.size))
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


@dataclass(frozen=True, slots=True)
class Restrided(View):
    """The storage of a tensor read as `target`, one value of an axis `steps` values behind the one before it, whatever
    the tensor's own shape (torch.as_strided). The gradient is zeros, into which that of the view is written
    (as_strided_backward in FunctionsManual.cpp)."""

    target: Shape
    steps: tuple[Size, ...]

    view_gradient = "fill"

    @property
    def overlaps(self) -> bool:
        """Whether two places of the view may be one of the storage (_maybe_overlapping_memory, there)."""
        known = [step for step in self.steps if type(step) is int]
        if len(known) < len(self.steps):
            return True
        last: Size = 0
        for step, side in sorted(zip(known, self.target, strict=False), key=itemgetter(0)):
            if side != 1:
                if type(last) is not int or step <= last:
                    return True
                last = add(last, multiply(step, subtract(side, 1)))
        return False

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """Those that are stated."""
        known = tuple([step for step in self.steps if type(step) is int])
        return known if len(known) == len(self.steps) else None

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The stated shape."""
        return (tuple(extent(side, batch=True) for side in self.target),)
