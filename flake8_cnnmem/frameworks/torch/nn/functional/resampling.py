"""torch.nn.functional's padding, interpolation, and what moves values between space and channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from flake8_cnnmem.dims import Shape, Size, same, show, subtract
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import ntuple, per_axis, sizes
from flake8_cnnmem.frameworks.torch.functions.constants import scalar
from flake8_cnnmem.frameworks.torch.functions.creation import born, filled
from flake8_cnnmem.frameworks.torch.functions.indexing import index, set_index
from flake8_cnnmem.graph import Mismatch, Op, Operand, Problem, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import AdaptivePool, Elementwise, Fold, Pad, Resize, Unfold
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

NO_PADDING = Unknown("the amount of padding is not known")


def pad_pairs(input: Value, amounts: Sequence[tuple[Size, Size]], mode: Value = "constant") -> Op:
    """Padding of the last axes by (before, after) each. A batched map is assumed where the rank is not known."""
    tensor = tensor_of(input)
    known = isinstance(tensor, Tensor) and not isinstance(tensor.shape, Unknown)
    rank = len(tensor.shape) if known else len(amounts) + 2  # type: ignore[union-attr,arg-type]
    lead = max(0, rank - len(amounts))
    return Pad(((0, 0),) * lead + tuple(amounts), mode if isinstance(mode, str) else "constant")


def pad(run: Runtime, input: Value, pad: Value, mode: Value = "constant", value: Value = None) -> Value:
    """The input with (before, after) added to its axes, the last one first; negative amounts cut."""
    amounts = sizes((pad,))
    if isinstance(amounts, Unknown) or len(amounts) % 2:
        cause = amounts if isinstance(amounts, Unknown) else NO_PADDING
        return apply(run, Elementwise("pad"), cause, function="pad")
    if all(isinstance(amount, int) and amount == 0 for amount in amounts) and mode == "constant":
        # torch copies here; the copy is what later in-place ops write to.
        return apply(run, pad_pairs(input, ((0, 0),)), input, function="pad")
    pairs = [(amounts[at], amounts[at + 1]) for at in range(0, len(amounts), 2)]
    return padded(run, input, tuple(reversed(pairs)), mode)


def padded(
    run: Runtime, input: Value, amounts: Sequence[tuple[Size, Size]], mode: Value, function: str = "pad"
) -> Value:
    """The input with (before, after) added to each of its last axes."""
    op = pad_pairs(input, amounts, mode)
    tensor = tensor_of(input)
    known = known_pads(tensor, op) if isinstance(op, Pad) and isinstance(tensor, Tensor) else None
    if mode == "circular" and isinstance(tensor, Tensor) and known is not None:
        return wrapped_around(run, tensor, *known)
    return apply(run, op, input, function=function)


def known_pads(tensor: Tensor, op: Pad) -> tuple[tuple[Shape, Shape], list[tuple[int, int]]] | None:
    """The shapes before and after a padding, and its amounts; None where one is not known, or they do not fit."""
    if isinstance(tensor.shape, Unknown):
        return None
    amounts = [(before, behind) for before, behind in op.pads if isinstance(before, int) and isinstance(behind, int)]
    try:
        (shape,) = op.outputs(tensor.shape)
    except Mismatch:
        return None
    if len(amounts) < len(shape) or any(isinstance(size, Unknown) for size in shape):
        return None
    return (tensor.shape, shape), amounts


def wrapped_around(run: Runtime, input: Tensor, shapes: tuple[Shape, Shape], pads: Sequence[tuple[int, int]]) -> Value:
    """A circular padding, as PyTorch writes it: into an empty tensor the input, then axis by axis from the last one
    what is before it and what is behind, of what stands there already (_pad_circular_symint of
    aten/src/ATen/native/PadNd.cpp)."""
    given, shape = shapes
    cut = tuple(left_by(size, (-before, -behind)) for size, (before, behind) in zip(given, pads, strict=True))
    within = input if all(min(pair) >= 0 for pair in pads) else index(run, input, cut)
    empty = filled(shape, None, input.dtype)
    empty.as_wide_as = within if isinstance(within, Tensor) else None
    out = set_index(run, born(run, empty), tuple(map(left_by, shape, pads)), within)
    for axis in range(len(shape) - 1, -1, -1):
        before, behind = pads[axis]
        lead, end = (slice(None),) * axis, subtract(shape[axis], max(behind, 0))
        if before > 0:
            part = index(run, out, (*lead, slice(subtract(end, before), end)))
            out = set_index(run, out, (*lead, slice(0, before)), part)
        if behind > 0:
            first = max(before, 0)
            part = index(run, out, (*lead, slice(first, first + behind)))
            out = set_index(run, out, (*lead, slice(end, shape[axis])), part)
    return out


def left_by(size: Size, pads: tuple[int, int]) -> slice:
    """What of an axis is between (before, behind); less than none counts as none."""
    before, behind = (max(amount, 0) for amount in pads)
    return slice(before or None, subtract(size, behind) if behind else None)


def spatial_rank(input: Value) -> int:
    """The number of spatial axes of a batched map; 2 where it is not known."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return 2
    return max(1, len(tensor.shape) - 2)


def scale_of(value: Value) -> Value:
    """A scale factor as a number; whole ones may come as tensors."""
    number = scalar(value)
    if isinstance(number, bool) or number is None:
        return value if isinstance(value, Unknown) else Unknown("a scale factor is not known")
    return number


RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
"""The number of axes that a mode works on."""


def check_rank(run: Runtime, input: Value, sizes: Value, mode: Value) -> None:
    """Raise what torch raises for an input of another rank than the mode or the sizes are for."""
    tensor = tensor_of(input)
    if not isinstance(tensor, Tensor) or not isinstance(tensor.shape, tuple):
        return
    rank = len(tensor.shape)
    needed = RANKS.get(mode, rank) if isinstance(mode, str) else rank
    if needed != rank or not 3 <= rank <= 5:
        raise run.error("NotImplementedError", f"Got {rank}D input, but {mode} mode needs {needed}D input")


def resize(
    run: Runtime, input: Value, target: Value, scale: Value, mode: Value, function: str, antialias: Value = False
) -> Value:
    """(N, C, sides) to (N, C, target), or each side times its scale. What torch refuses is raised."""
    rank = spatial_rank(input)
    check_rank(run, input, target if target is not None else scale, mode)
    wanted = None if target is None else per_axis(target, rank)
    factors = None if scale is None else tuple(scale_of(factor) for factor in ntuple(scale, rank))
    if factors is not None and len(factors) == 1:
        factors *= rank
    word = mode if isinstance(mode, str) else "nearest"
    if word == "area" and wanted is not None:
        return apply(run, AdaptivePool("average", wanted), input, function=function)
    # Factors of a wrong kind are found by the op.
    given = cast("tuple[float | Unknown, ...] | None", factors if wanted is None else None)
    return apply(run, Resize(wanted, given, word, antialias=antialias is True), input, function=function)


def unfold(
    run: Runtime, input: Value, kernel_size: Value, dilation: Value = 1, padding: Value = 0, stride: Value = 1
) -> Value:
    """(N, C, H, W) to (N, C * kernel, blocks)"""
    op = Unfold(per_axis(kernel_size, 2), per_axis(dilation, 2), per_axis(padding, 2), per_axis(stride, 2))
    return apply(run, op, input, function="unfold")


def fold(
    run: Runtime,
    input: Value,
    output_size: Value,
    kernel_size: Value,
    dilation: Value = 1,
    padding: Value = 0,
    stride: Value = 1,
) -> Value:
    """(N, C * kernel, blocks) to (N, C, output_size)"""
    op = Fold(
        per_axis(output_size, 2),
        per_axis(kernel_size, 2),
        per_axis(dilation, 2),
        per_axis(padding, 2),
        per_axis(stride, 2),
    )
    return apply(run, op, input, function="fold")


class GridSample(Resize):
    """Sampling at the places of a second input (torch.nn.functional.grid_sample)."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The name of its rule: "grid_sample"."""
        return "grid_sample"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """The grid is "fixed" where nobody asks for its gradient."""
        return () if len(operands) > 1 and operands[1].grad else ("fixed",)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, C, sides) and (N, *sides, rank) to (N, C, *sides). Mismatch for another number of axes or coordinates."""
        shape, grid = inputs[0], inputs[1]
        rank = len(shape) - 2
        if len(grid) != len(shape) or same(grid[-1], rank) is False or same(grid[0], shape[0]) is False:
            wanted = (shape[0], *("sides",) * rank, rank)
            what = f"samples {show(shape)} at places ({', '.join(map(str, wanted))}), but is given {show(grid)}"
            raise Mismatch(Problem("CNM201", what), None)
        return Resize.outputs(self, shape)


def sample(run: Runtime, input: Value, grid: Value) -> Value:
    """A map's values at the places of a grid: (N, C, ...) and (N, *sides, rank) give (N, C, *sides)."""
    places = tensor_of(grid)
    rank = spatial_rank(input)
    sides: tuple[Size, ...] = (Unknown("the size of a sampling grid is not known"),) * rank
    if isinstance(places, Tensor) and not isinstance(places.shape, Unknown) and len(places.shape) > 2:
        sides = places.shape[1:-1]
    return apply(run, GridSample(sides), input, grid, function="grid_sample")


@dataclass(frozen=True, slots=True)
class AffineGrid(Weightless):
    """Where each place of a map is read, from one matrix for each sample."""

    shape: Shape

    kind = "affine_grid"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(N, *sides, rank), of as many samples as matrices. Mismatch for matrices other than (N, rank, rank + 1)."""
        theta, rank = inputs[0], self.shape[-1]
        wanted = (self.shape[0], rank, rank + 1) if isinstance(rank, int) else ()
        if wanted and (len(theta) != 3 or any(same(a, b) is False for a, b in zip(theta, wanted, strict=True))):
            what = f"takes matrices {show(wanted)} for a map of {rank} sides, but is given {show(theta)}"
            raise Mismatch(Problem("CNM201", what), (self.shape,))
        return ((*theta[:1], *self.shape[1:]) if len(theta) == 3 else self.shape,)


def affine_grid(run: Runtime, theta: Value, size: Value) -> Value:
    """(N, 2, 3) or (N, 3, 4), and a size (N, C, *sides), to (N, *sides, rank)."""
    shape = sizes((size,))
    if isinstance(shape, Unknown) or len(shape) not in (4, 5):
        return run.unknown("the size of a sampling grid is not known")
    return apply(run, AffineGrid((shape[0], *shape[2:], len(shape) - 2)), theta, function="affine_grid")
