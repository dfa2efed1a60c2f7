"""Pooling: sliding, adaptive, global, fractional, and un-pooling."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, differ, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    UNSURE,
    Flag,
    Weightless,
    blurred,
    by,
    extent,
    layout,
    unknown_among,
    whole_problem,
)
from flake8_cnnmem.ops.windows import (
    Padding,
    PerAxis,
    Window,
    expand,
    shrunk_problem,
    window_transposed,
)
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Pool(Weightless):
    """A window slides over (N, C, *sides) and leaves one value each. `stride` None is the kernel's.

    `mode` is "max", "average" or "lp". With `indices` there is a second output of the same shape.
    """

    mode: str
    kernel: tuple[Size, ...]
    stride: PerAxis = None
    padding: Padding = 0
    dilation: PerAxis = 1
    ceil_mode: Flag = False
    channels_last: Flag = False
    indices: Flag = False

    def __post_init__(self) -> None:
        if self.stride is None:
            object.__setattr__(self, "stride", self.kernel)
        expand(self, "stride", "dilation")

    volume = "own"

    @property
    def kind(self) -> str:
        """ "max_pool", "average_pool" or "lp_pool"."""
        return f"{self.mode}_pool"

    @property
    def pools_powers(self) -> bool:
        """In the mode "lp"."""
        return self.mode == "lp"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Maps of three sides are "volumes"."""
        return ("volumes",) if len(self.kernel) == 3 else ()

    @property
    def window(self) -> Window:
        """The window that slides."""
        return Window(self.kernel, self.stride, self.padding, self.dilation, self.ceil_mode is True)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: a window slides over a side of any size."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, C, sides) to (N, C, sides as the window leaves them), twice with indices. Mismatch for a window larger
        than its side."""
        shape = inputs[0]
        rank = len(self.kernel)
        cause = unknown_among(self.channels_last, self.indices)
        if cause is not None:
            return (blurred(shape, cause),) * (1 if self.indices is False else 2)
        _, first = layout(shape, rank, self.channels_last)
        sides = slice(first, first + rank)
        output = list(shape)
        window = self.window
        problem = self.argument_problem(window)
        if problem:
            output[sides] = [UNSURE] * rank
        else:
            output[sides], problem = window.fit(shape[sides])
            if self.mode == "average" and rank == 3 and not isinstance(self.padding, str):
                problem = problem or self.volume_problem(shape[sides])
            if isinstance(self.ceil_mode, Unknown):
                rounded, problem = window._replace(ceil=True).fit(shape[sides])
                pairs = zip(output[sides], rounded, strict=True)
                output[sides] = [one if one == other else self.ceil_mode for one, other in pairs]
        results = (tuple(output),) * (2 if self.indices else 1)
        if problem:
            raise Mismatch(problem, results)
        return results

    def argument_problem(self, window: Window) -> Problem | None:
        """What is wrong with the arguments themselves, whatever the input."""
        problem = window.problem()
        if problem or isinstance(self.padding, str):
            return problem
        for side, (before, _) in zip(self.kernel, self.padding, strict=True):
            # `pool2d_shape_check` in ATen/native/Pool.h; the dilation does not count.
            if isinstance(side, int) and isinstance(before, int) and before > side // 2:
                what = f"takes a padding of at most {side // 2}, half its window of {side}, but is given {before}"
                return Problem("CNM201", what, "", before, side // 2)
        return None

    def volume_problem(self, sides: Shape) -> Problem | None:
        """torch's average pool of volumes wants its input as large as the window, padding not counted."""
        for size, side in zip(sides, self.kernel, strict=True):
            if isinstance(size, int) and isinstance(side, int) and size < side:
                what = f"takes a map of at least {by(self.kernel)}, but is given {by(sides)}"
                return Problem("CNM202", what, "", size, side)
        return None

    def dropped(self, shape: Shape) -> tuple[tuple[int, int], ...]:
        """(axis, rows) that the stride leaves unread at the end of the input (CNM203)."""
        if self.ceil_mode is not False or len(shape) - len(self.kernel) not in (1, 2):
            return ()
        if unknown_among(self.channels_last) is not None:
            return ()
        return self.window.dropped(shape, layout(shape, len(self.kernel), self.channels_last)[1])


def sides(rank: int, channels_last: Flag) -> tuple[int, ...]:
    """The axes of the sides of a map, from the last one."""
    last = 1 if channels_last is True else 0
    return tuple(range(-rank - last, -last))


@dataclass(frozen=True, slots=True)
class AdaptivePool(Weightless):
    """Pools every map to the given size; None keeps an axis as it is."""

    mode: str
    size: tuple[Size | None, ...]
    channels_last: Flag = False
    indices: Flag = False

    volume = "own"

    @property
    def kind(self) -> str:
        """ "adaptive_max_pool" or "adaptive_average_pool"."""
        return f"adaptive_{self.mode}_pool"

    @property
    def axes(self) -> tuple[int, ...]:
        """The spatial axes, counted from the end."""
        return sides(len(self.size), self.channels_last)

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """To a single value "1" it is a mean; of three sides it is of "volumes"."""
        volumes = ("volumes",) if len(self.size) == 3 else ()
        return ("1", *volumes) if self.size and all(size == 1 for size in self.size) else volumes

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: any side becomes the size that is asked for."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, C, sides) to (N, C, size), a None in the size keeping its side; twice with indices."""
        shape = inputs[0]
        cause = unknown_among(self.channels_last, self.indices)
        if cause is not None:
            return (blurred(shape, cause),) * (1 if self.indices is False else 2)
        _, first = layout(shape, len(self.size), self.channels_last)
        output = list(shape)
        for at, size in enumerate(self.size):
            if size is not None:
                output[first + at] = extent(size)
        results = (tuple(output),) * (2 if self.indices else 1)
        problem = whole_problem("output size", self.size, 0)
        if problem:
            raise Mismatch(problem, results)
        return results


@dataclass(frozen=True, slots=True)
class GlobalPool(Weightless):
    """(N, C, *sides) -> (N, C), or with sides of 1 where `keepdims`."""

    mode: str
    rank: int
    keepdims: Flag = False
    channels_last: Flag = False

    volume = "own"

    @property
    def kind(self) -> str:
        """ "global_max_pool" or "global_average_pool"."""
        return f"global_{self.mode}_pool"

    @property
    def axes(self) -> tuple[int, ...]:
        """The spatial axes, counted from the end."""
        return sides(self.rank, self.channels_last)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: all of a side is pooled."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """(N, C, sides) to (N, C), or with `keepdims` to (N, C, 1, ...)."""
        shape = inputs[0]
        cause = unknown_among(self.channels_last, self.keepdims)
        if cause is not None:
            return (cause,)
        _, first = layout(shape, self.rank, self.channels_last)
        kept: Shape = (1,) * self.rank if self.keepdims else ()
        return ((*shape[:first], *kept, *shape[first + self.rank :]),)


@dataclass(frozen=True, slots=True)
class FractionalMaxPool(Weightless):
    """To `size`, or to `ratio` of the input's sides, rounded down (torch.nn.FractionalMaxPool2d)."""

    kernel: tuple[Size, ...]
    size: tuple[Size, ...] | None = None
    ratio: tuple[float, ...] | None = None
    indices: Flag = False

    kind = "fractional_max_pool"
    volume = "own"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, C, sides) to (N, C, size), or each side times its ratio, rounded down; twice with indices."""
        shape = inputs[0]
        rank = len(self.kernel)
        _, first = layout(shape, rank, False)
        if isinstance(self.indices, Unknown):
            return (blurred(shape, self.indices),)
        output = list(shape)
        before = shape[first:]
        if self.size is not None:
            after = [extent(size) for size in self.size]
        elif self.ratio is not None:
            after = [
                int(size * part) if isinstance(size, int) and isinstance(part, float) and 0 < part < 1 else UNSURE
                for size, part in zip(before, self.ratio, strict=False)
            ]
        else:
            after = [UNSURE] * rank
        output[first:] = after
        results = (tuple(output),) * (2 if self.indices else 1)
        for size, side, left in zip(before, self.kernel, after, strict=False):
            if isinstance(left, int) and left < 1:
                raise Mismatch(Problem("CNM202", f"leaves nothing of its {by(before)} map"), results)
            if isinstance(size, int) and isinstance(side, int) and isinstance(left, int) and left + side - 1 > size:
                what = f"takes a map of at least {left + side - 1}, but is given {by(before)}"
                raise Mismatch(Problem("CNM202", what, "", size, left + side - 1), results)
        return results


@dataclass(frozen=True, slots=True)
class MaxUnpool(Weightless):
    """The inverse of max pooling: the values and their indices give a map of `size` (full shape or its sides)."""

    kernel: tuple[Size, ...]
    stride: PerAxis = None
    padding: Padding = 0
    size: tuple[Size, ...] | None = None

    kind = "max_unpool"
    volume = "own"

    def __post_init__(self) -> None:
        if self.stride is None:
            object.__setattr__(self, "stride", self.kernel)
        expand(self, "stride")

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) to (N, C, the sides before the pool): the stated size, or the smallest that fits."""
        shape = inputs[0]
        rank = len(self.kernel)
        _, first = layout(shape, rank, False)
        problem = Window(self.kernel, self.stride, self.padding, (1,) * rank).problem()
        if isinstance(self.padding, str):
            problem = problem or Problem("CNM201", f"knows no padding {self.padding!r}")
        if problem:
            raise Mismatch(problem, ((*shape[:first], *(UNSURE,) * rank),))
        if len(inputs) > 1 and differ(shape, inputs[1]):
            what = f"takes an index for each of its values, {show(shape)}, but is given {show(inputs[1])}"
            raise Mismatch(Problem("CNM201", what), ((*shape[:first], *(UNSURE,) * rank),))
        if self.size is not None and len(self.size) >= rank:
            return ((*shape[:first], *(extent(size) for size in self.size[-rank:])),)
        after = [
            window_transposed(size, self.kernel[at], self.stride[at], self.padding[at], 1, 0)
            for at, size in enumerate(shape[first:])
        ]
        problem = shrunk_problem(shape[first:], after)
        if problem:
            raise Mismatch(problem, ((*shape[:first], *after),))
        return ((*shape[:first], *after),)
