"""Convolutions of any number of spatial axes: plain, transposed, grouped, depthwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_cnnmem.dims import Shape, Size, add, multiply, product
from flake8_cnnmem.graph import Mismatch, Operand, Problem, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    UNSURE,
    Flag,
    Plain,
    add_if,
    blurred,
    bounded,
    channels_problem,
    divides_problem,
    extent,
    layout,
    quotient,
    unknown_among,
    whole_problem,
)
from flake8_cnnmem.ops.expected import Expected, map_of
from flake8_cnnmem.ops.windows import (
    Padding,
    PerAxis,
    Window,
    expand,
    lengths_problem,
    per_axis,
    shrunk_problem,
    window_transposed,
    window_transposed_named,
)
from flake8_cnnmem.unknown import Unknown

NOT_CALLED = Unknown("the layer's input channels are not known before its first call")


def given_channels(channels: Size | None, inputs: tuple[Shape, ...], rank: int, channels_last: Flag) -> Size:
    """The declared channels, else those of the first input, else Unknown."""
    if channels is not None:
        return extent(channels)
    if isinstance(channels_last, Unknown):
        return channels_last
    if not inputs or len(inputs[0]) - rank not in (1, 2):
        return NOT_CALLED
    axis, _ = layout(inputs[0], rank, channels_last)
    return extent(inputs[0][axis])


class Convolving(Plain):
    """What kernels have in common that slide over maps (N, C, *sides), or over maps with the channels last."""

    __slots__ = ()

    kernel: tuple[Size, ...]
    channels: Size | None
    stride: PerAxis
    padding: Padding
    dilation: PerAxis
    channels_last: Flag

    kind = "convolution"
    adds_bias = True
    convolves = True
    volume = "own"

    @property
    def window(self) -> Window:
        """The window that slides."""
        return Window(self.kernel, self.stride, self.padding, self.dilation)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: a window slides over a side of any size."""
        return True

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`overlapping`: the channels that each kernel reads, where neighbours read the same places; 0 where none do,
        or where each reads only a group of the channels. `dealt`: see there."""
        if name == "dealt":
            return dealt(self.window, inputs[0], self.channels_last)
        if name != "overlapping":
            return Plain.quantity(self, name, *inputs)
        if not self.whole or not overlap(self.kernel, self.stride):
            return 0
        return given_channels(self.channels, inputs, len(self.kernel), self.channels_last)

    @property
    def whole(self) -> bool:
        """Whether each kernel reads all channels."""
        return False

    @property
    def expected_input(self) -> Expected:
        """A map (batch, channels, sides) of the declared channels, sides open."""
        return map_of(self.channels, len(self.kernel), self.channels_last is True)


@dataclass(frozen=True, slots=True)
class Convolution(Convolving):
    """(N, C, *sides) -> (N, filters, *sides), or with the channels last; unbatched (C, *sides) too.

    `channels` None takes the input's. `output_padding` None gives Keras' transposed sizes under padding
    "same" / "valid". Weights are in torch's layout: (filters, channels / groups, *kernel), and
    transposed (channels, filters / groups, *kernel).
    """

    filters: Size
    kernel: tuple[Size, ...]
    channels: Size | None = None
    stride: PerAxis = 1
    padding: Padding = 0
    dilation: PerAxis = 1
    groups: Size = 1
    bias: Flag = True
    transposed: Flag = False
    output_padding: PerAxis | None = 0
    channels_last: Flag = False

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")
        if self.output_padding is not None:
            object.__setattr__(self, "output_padding", per_axis(self.output_padding, len(self.kernel)))

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "grouped" for more than one group, and "dilated" for a kernel with holes."""
        grouped = isinstance(self.groups, int) and self.groups > 1
        return (*(("grouped",) if grouped else ()), *has_holes(self.window))

    @property
    def whole(self) -> bool:
        """Whether all channels are one group."""
        return self.groups == 1

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`dense`: the values that its kernel would have without groups; others as of any kernel that slides."""
        if name != "dense":
            return Convolving.quantity(self, name, *inputs)
        if self.channels_last not in (True, False):
            return 0
        shape = inputs[0]
        channels = shape[-1 if self.channels_last else 1] if len(shape) > 1 else UNSURE
        return multiply(product(self.kernel), multiply(extent(self.filters), channels))

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) to (N, filters, sides as the window leaves them), or channels last. Mismatch for other
        channels, for groups that do not divide them, and for a kernel larger than its side."""
        shape = inputs[0]
        rank = len(self.kernel)
        cause = unknown_among(self.channels_last, self.transposed)
        if cause is not None:
            return (blurred(shape, cause),)
        axis, first = layout(shape, rank, self.channels_last)
        output = list(shape)
        output[axis] = extent(self.filters)
        sides = slice(first, first + rank)
        problem = self.argument_problem()
        if problem:
            wrong = self.transposed or self.window.problem()
            output[sides] = [UNSURE] * rank if wrong else self.window.fit(shape[sides])[0]
            raise Mismatch(problem, (tuple(output),))
        if self.transposed:
            after = self.sides(shape[sides])
            shrunk = shrunk_problem(shape[sides], after)
        else:
            after, shrunk = self.window.fit(shape[sides])
        output[sides] = after
        if self.channels is not None:
            problem = channels_problem(shape, axis, self.channels)
        else:
            problem = divides_problem(shape[axis], self.groups, "channels", "groups")
        problem = problem or shrunk
        if problem:
            raise Mismatch(problem, (tuple(output),))
        return (tuple(output),)

    def sides(self, sizes: Shape) -> list[Size]:
        """The spatial sizes after a transposed convolution, which may be too small to be any."""
        extra = self.output_padding
        if isinstance(self.padding, str):
            extra = extra or (None,) * len(sizes)
            same = self.padding == "same"
            return [
                window_transposed_named(size, self.kernel[at], self.stride[at], same, self.dilation[at], extra[at])
                for at, size in enumerate(sizes)
            ]
        extra = extra or (0,) * len(sizes)
        return [
            window_transposed(size, self.kernel[at], self.stride[at], self.padding[at], self.dilation[at], extra[at])
            for at, size in enumerate(sizes)
        ]

    def argument_problem(self) -> Problem | None:
        """What is wrong with the arguments themselves, whatever the input."""
        problem = (
            self.window.problem()
            or whole_problem("number of filters", (self.filters,))
            or whole_problem("number of groups", (self.groups,))
            or whole_problem("number of channels", (self.channels,))
            or divides_problem(self.channels, self.groups, "channels", "groups")
            or divides_problem(self.filters, self.groups, "filters", "groups")
        )
        if problem or not self.transposed or self.output_padding is None:
            return problem
        problem = lengths_problem(len(self.kernel), output_padding=self.output_padding)
        problem = problem or whole_problem("output padding", self.output_padding, 0)
        if problem:
            return problem
        for extra, step, gap in zip(self.output_padding, self.stride, self.dilation, strict=True):
            if not (isinstance(extra, int) and isinstance(step, int) and isinstance(gap, int)):
                continue
            # Keras asks for less than the stride, torch for less than the stride or the dilation.
            if 0 < extra >= (step if isinstance(self.padding, str) else max(step, gap)):
                what = f"takes an output padding smaller than its stride of {step}, but is given {extra}"
                return Problem("CNM201", what, "", extra, step)
        return None

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (filters, channels / groups, kernel), transposed (channels, filters / groups, kernel), and "bias"
        (filters,)."""
        channels = given_channels(self.channels, inputs, len(self.kernel), self.channels_last)
        filters, groups = extent(self.filters), extent(self.groups)
        kernel = tuple(extent(size) for size in self.kernel)
        if isinstance(self.transposed, Unknown):
            specs = {"weight": WeightSpec((self.transposed,))}
        elif self.transposed:
            specs = {"weight": WeightSpec((channels, quotient(filters, groups), *kernel))}
        else:
            specs = {"weight": WeightSpec((filters, quotient(channels, groups), *kernel))}
        add_if(specs, self.bias, "bias", (filters,))
        return specs

    def dropped(self, shape: Shape) -> tuple[tuple[int, int], ...]:
        """(axis, rows) that the stride leaves unread at the end of the input (CNM203)."""
        if self.transposed is not False or len(shape) - len(self.kernel) not in (1, 2):
            return ()
        if unknown_among(self.channels_last) is not None:
            return ()
        return self.window.dropped(shape, layout(shape, len(self.kernel), self.channels_last)[1])


def overlap(kernel: Sequence[Size], stride: PerAxis) -> bool:
    """Whether a window is longer than its step along some axis."""
    steps = stride if isinstance(stride, tuple) else (stride,) * len(kernel)
    pairs = zip(kernel, steps, strict=False)
    return any(isinstance(size, int) and isinstance(step, int) and size > step for size, step in pairs)


def has_holes(window: Window) -> tuple[str, ...]:
    """The variant of a convolution whose kernel has holes along some axis."""
    dilation = window.dilation if isinstance(window.dilation, tuple) else (window.dilation,)
    return ("dilated",) if any(isinstance(rate, int) and rate > 1 for rate in dilation) else ()


def dealt(window: Window, shape: Shape, channels_last: Flag) -> Size:
    """The values of an input that is dealt out to as many smaller maps as the kernel has holes: its sides with the
    padding, filled up to a multiple of the dilation (`required_space_to_batch_paddings` in tensorflow/python/ops/
    array_ops.py)."""
    rank = len(window.kernel)
    if isinstance(channels_last, Unknown):
        return channels_last
    if len(shape) - rank not in (1, 2):
        return UNSURE
    axis, first = layout(shape, rank, channels_last)
    total = multiply(shape[0], shape[axis])
    dilation = window.dilation if isinstance(window.dilation, tuple) else (window.dilation,) * rank
    for side, size, rate in zip(shape[first : first + rank], window.kernel, dilation, strict=True):
        around = 0 if window.padding == "valid" else multiply(add(size, -1), rate)
        total = multiply(total, multiply(quotient_up(add(side, around), rate), rate))
    return total


def quotient_up(size: Size, by: Size) -> Size:
    """A quotient rounded up."""
    return quotient(add(size, add(by, -1)), by)


@dataclass(frozen=True, slots=True)
class DepthwiseConvolution(Convolving):
    """(N, C, *sides) -> (N, C * multiplier, *sides): each channel on its own.

    Weight in torch's layout (C * multiplier, 1, *kernel).
    """

    kernel: tuple[Size, ...]
    multiplier: Size = 1
    channels: Size | None = None
    stride: PerAxis = 1
    padding: Padding = 0
    dilation: PerAxis = 1
    bias: Flag = True
    channels_last: Flag = False

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "dilated" for a kernel with holes."""
        return has_holes(self.window)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) to (N, C * multiplier, sides as the window leaves them), or channels last. Mismatch for other
        channels and for a kernel larger than its side."""
        shape = inputs[0]
        rank = len(self.kernel)
        cause = unknown_among(self.channels_last)
        if cause is not None:
            return (blurred(shape, cause),)
        axis, first = layout(shape, rank, self.channels_last)
        output = list(shape)
        channels = shape[axis] if self.channels is None else extent(self.channels)
        output[axis] = bounded(multiply(channels, extent(self.multiplier)))
        sides = slice(first, first + rank)
        problem = (
            self.window.problem()
            or whole_problem("depth multiplier", (self.multiplier,))
            or whole_problem("number of channels", (self.channels,))
        )
        if problem:
            output[sides] = [UNSURE] * rank if self.window.problem() else self.window.fit(shape[sides])[0]
            raise Mismatch(problem, (tuple(output),))
        output[sides], shrunk = self.window.fit(shape[sides])
        problem = channels_problem(shape, axis, self.channels) or shrunk
        if problem:
            raise Mismatch(problem, (tuple(output),))
        return (tuple(output),)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (channels * multiplier, 1, kernel) and "bias" (channels * multiplier,)."""
        channels = given_channels(self.channels, inputs, len(self.kernel), self.channels_last)
        filters = bounded(multiply(channels, extent(self.multiplier)))
        specs = {"weight": WeightSpec((filters, 1, *(extent(size) for size in self.kernel)))}
        add_if(specs, self.bias, "bias", (filters,))
        return specs

    def dropped(self, shape: Shape) -> tuple[tuple[int, int], ...]:
        """(axis, rows) that the stride leaves unread at the end of the input (CNM203)."""
        if len(shape) - len(self.kernel) not in (1, 2) or unknown_among(self.channels_last) is not None:
            return ()
        return self.window.dropped(shape, layout(shape, len(self.kernel), self.channels_last)[1])
