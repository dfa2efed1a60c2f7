"""Reductions over axes, and what orders values along one."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import NARROW, Flag, Product, Weightless, axes_of, axis_of, extent, whole_problem
from flake8_cnnmem.unknown import Unknown

RUNNING = frozenset({"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "argsort"})
"""Kinds that keep their input's shape."""


@dataclass(frozen=True, slots=True)
class Reduce(Weightless):
    """sum, mean, max, argmax, norm ... over `axes` (all when None or empty); cumsum and its like keep the shape.

    `results` is the number of outputs: 2 for torch's max over an axis, which also gives the positions.
    """

    kind: str
    axes: tuple[Size, ...] | Size | None = None
    keepdims: Flag = False
    results: int = 1

    @property
    def keeps_dtype(self) -> bool:
        """Of extreme values."""
        return self.kind in ("amax", "amin")

    @property
    def product(self) -> Product:
        """ "rows" of a linear layer of one row, whose axis the result does not have."""
        return "rows" if self.kind == "linear" else ""

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """An extreme value without its position is compared with "all" values; where no axes are given at all, over the
        "whole" tensor once more (torch.max; torch.amax without axes is given none of them, `()`), as a norm is. What is
        added up in wider whole numbers is "narrow"."""
        if self.kind == "sum" and operands[0].dtype in NARROW:
            return ("narrow",)
        if self.kind in ("norm", "norm_one", "median"):
            return ("whole",) if self.axes is None else ()
        if self.results != 1 or self.kind not in ("max", "min"):
            return ()
        return ("whole", "all") if self.axes is None else ("all",)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: an axis of any size is reduced."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown, ...]:
        """The shape without the reduced axes (1 with `keepdims`), as often as it has results; running sums keep it."""
        shape = inputs[0]
        if self.kind in RUNNING:
            if self.axes is not None and shape:
                axes_of(self.axes, len(shape))
            return (shape,) * self.results
        if isinstance(self.keepdims, Unknown):
            return (self.keepdims,) * self.results
        if self.axes is None or self.axes == ():
            return (((1,) * len(shape) if self.keepdims else ()),) * self.results
        # torch reduces a tensor without axes over axis 0 or -1.
        axes = axes_of(self.axes, len(shape) or 1)
        if isinstance(axes, Unknown):
            several = len(self.axes) if isinstance(self.axes, tuple) else 1
            rank = len(shape) if self.keepdims else max(0, len(shape) - several)
            return ((axes,) * rank,) * self.results
        if len(set(axes)) != len(axes):
            raise Mismatch(Problem("CNM201", f"reduces axes {self.axes} of {show(shape)}, which repeat"))
        if self.keepdims:
            result: Shape = tuple(1 if at in axes else size for at, size in enumerate(shape))
        else:
            result = tuple(size for at, size in enumerate(shape) if at not in axes)
        return (result,) * self.results


@dataclass(frozen=True, slots=True)
class TopK(Weightless):
    """The `k` largest along an axis, and their positions."""

    k: Size
    axis: Size = -1

    kind = "topk"

    def outputs(self, *inputs: Shape) -> tuple[Shape, Shape]:
        """Values and indices: the shape with k along the axis. Mismatch where it has fewer."""
        shape = inputs[0]
        if not shape:
            return (shape, shape)
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            unknown = (at,) * len(shape)
            return (unknown, unknown)
        result = (*shape[:at], extent(self.k), *shape[at + 1 :])
        problem = whole_problem("k", (self.k,), 0)
        size = shape[at]
        if not problem and type(size) is int and type(self.k) is int and self.k > size:
            problem = Problem("CNM201", f"takes the {self.k} largest of {size} in {show(shape)}", "", size, self.k)
        if problem:
            raise Mismatch(problem, (result, result))
        return (result, result)


@dataclass(frozen=True, slots=True)
class Sort(Weightless):
    """The values along an axis in order, and their positions; `results` 1 gives the positions alone, which are no
    function of the values to autograd. `running` is for the largest or smallest value so far."""

    axis: Size = -1
    results: int = 2
    running: bool = False

    @property
    def kind(self) -> str:
        """ "sort", "argsort" or "running_extreme"."""
        return "running_extreme" if self.running is True else "sort" if self.results > 1 else "argsort"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """The input's shape, for values, indices or both."""
        if inputs[0]:
            axis_of(self.axis, len(inputs[0]))
        return (inputs[0],) * self.results
