"""Ops that rearrange axes: permute, transpose, squeeze, unsqueeze, roll, flip."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    UNSURE,
    Flag,
    axes_of,
    axis_of,
    count,
    first_not_known,
)
from flake8_cnnmem.ops.shape import Copy, View
from flake8_cnnmem.ops.strides import Strides, contiguous
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Permute(View):
    """Output axis i is input axis `axes[i]`."""

    axes: tuple[Size, ...]

    view_gradient = "permute"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """The input's strides in the new order."""
        if len(self.axes) != len(sizes):
            return View.view_strides(self, sizes, strides, result)
        return tuple(strides[axis] for axis in self.axes if isinstance(axis, int))

    def view_gradient_strides(self, sizes: Strides, strides: Strides) -> Strides:
        """The gradient's strides in the order that the input has."""
        back = [0] * len(sizes)
        for at, axis in enumerate(self.axes):
            if isinstance(axis, int):
                back[axis] = strides[at]
        return tuple(back)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: sizes are not looked at."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The sizes in the new order. Mismatch for another number of axes."""
        shape = inputs[0]
        if len(self.axes) != len(shape):
            what = f"reorders {count(len(self.axes), 'axis', 'axes')}, but is given {show(shape)}"
            raise Mismatch(Problem("CNM201", what), ((UNSURE,) * len(self.axes),))
        axes = axes_of(self.axes, len(shape))
        if isinstance(axes, Unknown):
            return ((axes,) * len(shape),)
        if len(set(axes)) != len(axes):
            raise Mismatch(Problem("CNM201", f"reorders axes {self.axes}, which repeat"), ((UNSURE,) * len(shape),))
        return (tuple(shape[at] for at in axes),)


@dataclass(frozen=True, slots=True)
class Transpose(View):
    """Two axes swapped."""

    a: Size
    b: Size

    view_gradient = "permute"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """The input's strides, two of them swapped."""
        return self.swapped(strides) or View.view_strides(self, sizes, strides, result)

    def view_gradient_strides(self, sizes: Strides, strides: Strides) -> Strides:
        """The gradient's strides, two of them swapped back."""
        return self.swapped(strides) or contiguous(sizes)

    def swapped(self, strides: Strides) -> Strides | None:
        """The strides with the two axes exchanged; None where an axis is not known."""
        if not isinstance(self.a, int) or not isinstance(self.b, int) or not strides:
            return None
        found = list(strides)
        found[self.a], found[self.b] = found[self.b], found[self.a]
        return tuple(found)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: sizes are not looked at."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape with two axes swapped."""
        shape = inputs[0]
        if not shape:
            return (shape,)
        a, b = axis_of(self.a, len(shape)), axis_of(self.b, len(shape))
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return ((first_not_known((a, b)),) * len(shape),)
        sizes = list(shape)
        sizes[a], sizes[b] = sizes[b], sizes[a]
        return (tuple(sizes),)


@dataclass(frozen=True, slots=True)
class Squeeze(View):
    """Drops axes of size 1: all, or those of `axes` that are 1. `strict` (TensorFlow) wants them all to be 1.

    The batch is never dropped. Gives Unknown where an unknown size may or may not be 1.
    """

    axes: tuple[int, ...] | Size | None = None
    strict: Flag = False

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The shape without axes of size 1: all of them, or those that are named and have it."""
        shape = inputs[0]
        if not shape:
            return (shape,)
        axes = range(len(shape)) if self.axes is None else axes_of(self.axes, len(shape))
        if isinstance(axes, Unknown):
            return (axes,)
        kept = []
        for at, size in enumerate(shape):
            if at not in axes:
                kept.append(size)
            elif isinstance(size, Unknown) and not (self.strict is True and self.axes is not None):
                return (size,)
            elif type(size) is int and size == 1:
                continue
            elif self.strict is not True or self.axes is None:
                kept.append(size)
            elif type(size) is int:
                raise Mismatch(Problem("CNM201", f"drops axis {at} of {show(shape)}, which is {size} and not 1"))
        return (tuple(kept),)


@dataclass(frozen=True, slots=True)
class Unsqueeze(View):
    """A new axis of size 1 at `axis` of the output."""

    axis: Size

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape with an axis of size 1 more."""
        shape = inputs[0]
        at = axis_of(self.axis, len(shape) + 1)
        if isinstance(at, Unknown):
            return ((at,) * (len(shape) + 1),)
        return ((*shape[:at], 1, *shape[at:]),)


@dataclass(frozen=True, slots=True)
class Roll(Copy):
    """Values move along `axes` and come in again at the other end."""

    axes: tuple[int, ...] | Size | None = None

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "several" for more than one axis, which is a copy for each."""
        return ("several",) if isinstance(self.axes, tuple) and len(self.axes) > 1 else ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        if self.axes is not None:
            axes_of(self.axes, len(inputs[0]))
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class Flip(Copy):
    """The order along `axes` reversed."""

    axes: tuple[int, ...] | Size | None = None

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        if self.axes is not None:
            axes_of(self.axes, len(inputs[0]))
        return (inputs[0],)
