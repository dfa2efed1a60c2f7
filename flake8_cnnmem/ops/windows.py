"""The arithmetic of sliding windows, which convolutions, pools and blocks share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from flake8_cnnmem.dims import Batch, Shape, Size, add, ceil_divide, multiply, subtract
from flake8_cnnmem.graph import Problem
from flake8_cnnmem.ops.base import BATCH_CUT, SHRUNK, bounded, by, first_not_known, whole, whole_problem

PerAxis: TypeAlias = Any
"""A tuple of one size for each spatial axis. Ops may be made with one size for all axes, or a tuple of one."""

Padding: TypeAlias = Any
"""A tuple of (before, after) pairs for the spatial axes, or "same", "valid", "causal". Ops may be made with one
size, or one for each axis."""

NAMED = ("same", "valid", "causal")


def per_axis(value: object, rank: int) -> PerAxis:
    """One value for each axis out of one for all. Sequences are kept as they are, whatever their length."""
    if type(value) is tuple:
        return value * rank if len(value) == 1 else value
    if isinstance(value, (list, range)):
        return per_axis(tuple(value), rank)
    return (value,) * rank


def pairs(padding: object, rank: int) -> Padding:
    """Padding in its full form: a name, or a (before, after) pair for each axis."""
    if isinstance(padding, str):
        return padding.lower()
    given = per_axis(padding, rank)
    return tuple(item if type(item) is tuple and len(item) == 2 else (item, item) for item in given)


def expand(op: Any, *names: str) -> None:
    """Bring an op's fields of these names (and its padding) into their full form, as it is being made."""
    rank = len(op.kernel)
    for name in names:
        object.__setattr__(op, name, per_axis(getattr(op, name), rank))
    object.__setattr__(op, "padding", pairs(op.padding, rank))


def lengths_problem(rank: int, **fields: object) -> Problem | None:
    """A field that has another number of values than there are axes."""
    for name, values in fields.items():
        if type(values) is tuple and len(values) != rank:
            return Problem("CNM201", f"takes {rank} values for its {name}, but is given {len(values)}")
    return None


class Window(NamedTuple):
    """A window over `len(kernel)` axes, all in full form. `ceil` lets a last window hang over the end."""

    kernel: tuple[Size, ...]
    stride: PerAxis
    padding: Padding
    dilation: PerAxis
    ceil: bool = False

    def problem(self) -> Problem | None:
        """What is wrong with the arguments themselves, whatever the input."""
        rank = len(self.kernel)
        problem = (
            lengths_problem(rank, stride=self.stride, padding=self.padding, dilation=self.dilation)
            or whole_problem("kernel size", self.kernel)
            or whole_problem("stride", self.stride)
            or whole_problem("dilation", self.dilation)
        )
        if not problem and self.padding == "causal" and len(self.kernel) > 1:
            return Problem("CNM201", "pads causally, which is for one spatial axis")
        if problem or self.padding in NAMED:
            return problem
        if isinstance(self.padding, str):
            return Problem("CNM201", f"knows no padding {self.padding!r}", "'same' and 'valid' are known")
        for pair in self.padding:
            problem = whole_problem("padding", pair, 0)
            if problem:
                return problem
        return None

    def fit(self, sizes: Sequence[Size]) -> tuple[list[Size], Problem | None]:
        """How often the window fits along each axis, and the problem where it does not fit at all.

        Sizes that would not be positive are Unknown then.
        """
        if self.padding == "same" or self.padding == "causal":
            after = [window_same(size, step) for size, step in zip(sizes, self.stride, strict=True)]
            return after, shrunk_problem(sizes, after)
        padding = ((0, 0),) * len(sizes) if self.padding == "valid" else self.padding
        after = []
        for at, size in enumerate(sizes):
            before, behind = padding[at]
            after.append(window(size, self.kernel[at], self.stride[at], before, behind, self.dilation[at], self.ceil))
        for at, size in enumerate(after):
            if isinstance(size, int) and size < 1:
                return after, shrunk_problem(sizes, after, self.least(at, padding[at]), by(self.kernel))
        return after, None

    def least(self, at: int, pads: tuple[Size, Size]) -> Size:
        """The smallest side along an axis on which the window fits once."""
        span = add(multiply(whole(self.dilation[at]), subtract(whole(self.kernel[at]), 1)), 1)
        need = subtract(subtract(span, pads[0]), pads[1])
        return subtract(need, subtract(self.stride[at], 1)) if self.ceil else need

    def dropped(self, shape: Shape, first: int) -> tuple[tuple[int, int], ...]:
        """(axis, rows) for each axis at whose end rows are read by no window because the stride does not divide.

        `first` is the first spatial axis. Rows that a stride larger than its window skips everywhere do
        not count, nor does padding. Nothing where arguments or sizes are wrong or not known.
        """
        if self.ceil or self.padding == "same" or self.padding == "causal" or self.problem():
            return ()
        found = []
        for at, side in enumerate(self.kernel):
            size, step, gap = shape[first + at], self.stride[at], self.dilation[at]
            before, after = (0, 0) if self.padding == "valid" else self.padding[at]
            count = window(size, side, step, before, after, gap)
            if isinstance(size, int) and isinstance(count, int) and isinstance(side, int) and count > 0:
                span = gap * (side - 1) + 1
                rest = size - ((count - 1) * step - before + span) - max(0, step - span)
                if rest > 0:
                    found.append((first + at, rest))
        return tuple(found)


def window(
    size: Size, kernel: Size, stride: Size, before: Size = 0, after: Size = 0, dilation: Size = 1, ceil: bool = False
) -> Size:
    """How often a window fits along an axis; not positive when it does not fit at all.

    With `ceil`, a last window may hang over the end, but must start inside the input or the padding
    before it (`pooling_output_shape` in ATen/native/Pool.h).
    """
    if (
        isinstance(size, int)
        and isinstance(kernel, int)
        and isinstance(stride, int)
        and isinstance(before, int)
        and isinstance(after, int)
        and isinstance(dilation, int)
        and stride > 0
    ):
        free = size + before + after - dilation * (kernel - 1) - 1
        if not ceil:
            return bounded(free // stride + 1)
        windows = -(-free // stride) + 1
        return bounded(windows - 1 if (windows - 1) * stride >= size + before else windows)
    values = (kernel, stride, before, after, dilation)
    if isinstance(size, Batch) and stride == 1 and add(before, after) == multiply(dilation, subtract(kernel, 1)):
        return size  # a window that leaves the length alone leaves the batch alone
    return first_not_known((size, *values), BATCH_CUT)


def window_same(size: Size, stride: Size) -> Size:
    """As many windows as strides fit: padding "same" and "causal" of both frameworks, whatever the kernel."""
    if isinstance(stride, Batch) or stride == 0:
        return first_not_known((size,))
    return ceil_divide(size, stride)


def window_transposed(
    size: Size, kernel: Size, stride: Size, pads: tuple[Size, Size], dilation: Size, extra: Size
) -> Size:
    """(size - 1) * stride - before - after + dilation * (kernel - 1) + extra + 1 (torch.nn.ConvTranspose2d)."""
    grown = add(add(multiply(dilation, subtract(kernel, 1)), extra), 1)
    return bounded(add(multiply(subtract(size, 1), stride), subtract(subtract(grown, pads[0]), pads[1])))


def window_transposed_named(
    size: Size, kernel: Size, stride: Size, same: bool, dilation: Size, extra: Size | None
) -> Size:
    """Keras' transposed convolution with padding "same" or "valid" (`_get_output_shape_given_tf_padding`)."""
    span = add(multiply(dilation, subtract(kernel, 1)), 1)
    if same and extra is None:
        return bounded(multiply(size, stride))
    if not isinstance(span, int) or not isinstance(stride, int):
        return first_not_known((size, span, stride))
    if same:
        grown: Size = span % 2
    else:
        grown = span
        extra = max(stride - span, 0) if extra is None else extra
    return bounded(add(add(multiply(subtract(size, 1), stride), grown), extra or 0))


def shrunk_problem(
    before: Sequence[Size], after: list[Size], least: Size | None = None, kernel: str = ""
) -> Problem | None:
    """The problem of a map that leaves nothing, if it does. Such sizes become Unknown in `after`.

    `least` is the smallest side that would do for the first of them.
    """
    gone = [at for at, size in enumerate(after) if isinstance(size, int) and size < 1]
    if not gone:
        return None
    for at in gone:
        after[at] = SHRUNK
    what = f"leaves nothing of its {by(before)} map"
    given = before[gone[0]]
    if not isinstance(least, int) or not isinstance(given, int):
        return Problem("CNM202", what)
    what += f": its {kernel} window needs a side of at least {least}"
    return Problem("CNM202", what, "a larger input, a smaller window or fewer halvings would fit", given, least)
