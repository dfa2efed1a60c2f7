"""Parts of a tensor: indexing, split, chunk, unbind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.dims import Batch, Shape, Size, add, cut, show, subtract
from flake8_cnnmem.graph import Mismatch, Problem, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    BATCH_CUT,
    UNSURE,
    Flag,
    ViewGradient,
    axis_of,
    count,
    extent,
    first_not_known,
    quotient,
    whole_problem,
)
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.ops.shape import View
from flake8_cnnmem.ops.strides import Strides
from flake8_cnnmem.unknown import Unknown

MOST_PARTS = 65_536
"""A split into more parts than this is not followed."""

MASKED = Unknown("how many values a mask selects is not known")


def sliced(size: Size, part: slice) -> Size:
    """The length of `x[part]` along an axis of this size."""
    start, stop, step = part.start, part.stop, part.step
    if start is None and stop is None and (step is None or step == 1 or step == -1):
        return size
    bounds = (start, stop, step)
    if isinstance(size, int) and all(bound is None or isinstance(bound, int) for bound in bounds):
        if step == 0:
            raise Mismatch(Problem("CNM201", "takes a slice with a step of 0"))
        return len(range(*part.indices(size)))
    unknown = next((value for value in (size, *bounds) if isinstance(value, Unknown)), None)
    if unknown is not None:
        return cut(size, start, stop, step) if unknown is size else unknown
    if step is None or step == 1:
        begin = 0 if start is None else start
        end = size if stop is None else stop
        if isinstance(size, Batch):
            if begin == 0 and end == 1:
                return 1
            if begin == -1 and stop is None:
                return 1
            if is_fraction(begin, size) and is_fraction(end, size):
                length = subtract(end, begin)
                return length if length == 0 or (isinstance(length, Batch) and length.multiple > 0) else BATCH_CUT
    elif isinstance(size, Batch) and start is None and stop is None and isinstance(step, int) and step > 0:
        parts = quotient(size, step)
        return parts if isinstance(parts, Batch) else BATCH_CUT
    return BATCH_CUT


def is_fraction(bound: object, size: Batch) -> bool:
    """Whether a slice's bound lies inside an axis of this size for every batch."""
    if isinstance(bound, Batch):
        return 0 <= bound.multiple <= size.multiple
    return isinstance(bound, int) and bound == 0


def nested_shape(items: Any) -> Shape:
    """The shape of a nested list of numbers."""
    sizes: list[Size] = []
    while isinstance(items, (list, tuple, range)):
        sizes.append(len(items))
        if not len(items):
            break
        items = items[0]
    return tuple(sizes)


def is_basic(item: object) -> bool:
    """Whether an item of an index takes a view."""
    return item is None or item is Ellipsis or isinstance(item, slice) or is_number(item) or item is True


def is_number(item: object) -> bool:
    """Whether an item of an index picks one position: a number, or a tensor that holds just one."""
    if isinstance(item, Tensor):
        return item.shape == () and item.dtype != "bool"
    return isinstance(item, (int, Batch)) and not isinstance(item, bool)


@dataclass(frozen=True, slots=True)
class Index(View):
    """`x[items]`: ints, slices, None, Ellipsis, tensors (a mask where the dtype is "bool"), lists of ints.

    Gives Unknown where not even the number of axes is known.
    """

    items: tuple[Any, ...]

    @property
    def view(self) -> bool:
        """Whether only numbers, slices, None and `...` index: the result is in the input's storage."""
        return all(is_basic(item) for item in self.items)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """ "view" or "copy"."""
        return "view" if self.view else "copy"

    @property
    def declares(self) -> bool:
        """Whether a wrong size leaves the shape as it is declared: only where values are copied by number."""
        return not self.view

    @property
    def view_gradient(self) -> ViewGradient:
        """ "reshape" for all of the tensor, else "fill": zeros with the gradient written into a part."""
        everything = all(item is Ellipsis or (isinstance(item, slice) and item == slice(None)) for item in self.items)
        return "reshape" if everything else "fill"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides:
        """The input's strides without the axes that a number takes, times a slice's step, 0 for a new axis."""
        found: list[int] = []
        used = sum(isinstance(item, (int, slice)) and not isinstance(item, bool) for item in self.items)
        at = 0
        for item in self.items:
            if item is Ellipsis:
                rest = len(strides) - used
                found.extend(strides[at : at + rest])
                at += rest
            elif item is None:
                found.append(0)
            elif isinstance(item, slice):
                step = item.step if isinstance(item.step, int) else 1
                found.append(strides[at] * step)
                at += 1
            else:
                at += 1
        found.extend(strides[at:])
        return tuple(found)

    def before_last_slice(self, shape: Shape) -> Shape | None:
        """The shape before the last of several axes is cut; None where one axis is cut, or none."""
        items = tuple(self.items)
        if any(item is Ellipsis for item in items):
            at = next(at for at, item in enumerate(items) if item is Ellipsis)
            named = sum(item is not None for item in items) - 1
            items = (*items[:at], *(slice(None),) * (len(shape) - named), *items[at + 1 :])
        cut = [at for at, item in enumerate(items) if item is not None and item != slice(None)]
        if len(cut) < 2:
            return None
        try:
            (before,) = Index(items[: cut[1]]).outputs(shape)
        except Mismatch:
            return None
        return None if isinstance(before, Unknown) else before

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The shape that is left: numbers take an axis away, slices shorten it, tensors replace it. Mismatch for more
        items than axes, and for a number beyond its axis."""
        shape = inputs[0]
        used = 0
        for item in self.items:
            taken = axes_taken(item)
            if isinstance(taken, Unknown):
                return (taken,)
            used += taken
        if used > len(shape):
            what = f"indexes {count(used, 'axis', 'axes')}, but is given {show(shape)}"
            raise Mismatch(Problem("CNM201", what))
        sizes: list[Size] = []
        chosen: list[Shape] = []
        place: int | None = None
        together = True
        at = 0
        after_gap = False
        for item in self.items:
            if item is Ellipsis:
                rest = len(shape) - used
                sizes.extend(shape[at : at + rest])
                at += rest
                used += rest
                after_gap = place is not None
            elif item is None or item is True:
                sizes.append(1)
                after_gap = place is not None
            elif isinstance(item, slice):
                sizes.append(sliced(shape[at], item))
                at += 1
                after_gap = place is not None
            elif is_number(item):
                # torch takes whole numbers first, so that they never part the tensors of an index.
                check_position(shape, at, item)
                at += 1
            else:
                taken, selected = selection(item)
                if place is None:
                    place = len(sizes)
                elif after_gap:
                    together = False
                chosen.append(selected)
                at += taken
        sizes.extend(shape[at:])
        if place is not None:
            picked = broadcast(tuple(chosen), "indexes with")
            where = place if together else 0
            sizes[where:where] = picked
        return (tuple(sizes),)


def axes_taken(item: object) -> int | Unknown:
    """How many axes of the input an item of an index stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, (int, slice, Batch)):
        return 1
    if isinstance(item, Tensor):
        # A whole number as a tensor counts as one axis, as every other index that is not a mask.
        if isinstance(item.shape, Unknown):
            return item.shape
        return len(item.shape) if item.dtype == "bool" else 1
    if isinstance(item, (list, tuple, range)):
        return 1
    return item if isinstance(item, Unknown) else UNSURE


def selection(item: Any) -> tuple[int, Shape]:
    """Axes that a tensor or list in an index stands for, and the shape that it puts there."""
    if isinstance(item, Tensor):
        assert not isinstance(item.shape, Unknown)
        return (len(item.shape), (true_values(item),)) if item.dtype == "bool" else (1, item.shape)
    if isinstance(item, bool):
        return 0, (0,)
    if len(item) and all(isinstance(entry, bool) for entry in item):
        return 1, (sum(item),)
    return 1, nested_shape(item)


def true_values(mask: Tensor) -> int | Unknown:
    """How many values of a mask are true."""
    if mask.data is None:
        return MASKED if mask.true is None else mask.true
    values: list[Any] = [mask.data]
    for _ in mask.shape if isinstance(mask.shape, tuple) else ():
        values = [value for group in values for value in group]
    return sum(map(bool, values))


def check_position(shape: Shape, at: int, position: object) -> None:
    """Mismatch for a position that surely lies outside."""
    size = shape[at]
    if isinstance(size, int) and isinstance(position, int) and not -size <= position < size:
        raise Mismatch(Problem("CNM201", f"takes position {position} of axis {at}, but is given {show(shape)}"))


class Masked(Index):
    """`x[mask]`, with other items beside it: the places of what is true are looked for first."""

    __slots__ = ()


class Parts(View):
    """A tensor's parts along an axis. Their gradients are joined."""

    __slots__ = ()

    view_gradient = "join"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides:
        """The input's strides."""
        return strides


def undecided(axis: int | Unknown, number: int | Unknown, rank: int) -> tuple[Shape, ...]:
    """The shapes of parts of which the axis or the number is not known: none without a number."""
    if isinstance(number, Unknown):
        return ()
    cause = axis if isinstance(axis, Unknown) else UNSURE
    return ((cause,) * rank,) * number


@dataclass(frozen=True, slots=True)
class Split(Parts):
    """Parts along an axis: of one size each, the last one smaller (torch.split), or of the given sizes.

    `outputs` is empty where the number of parts is not known: ask `count` first.
    """

    sizes: Size | tuple[Size, ...]
    axis: Size = 0

    def count(self, shape: Shape) -> int | Unknown:
        """The number of parts."""
        if isinstance(self.sizes, tuple):
            return len(self.sizes)
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            return at
        size, each = shape[at], self.sizes
        if isinstance(size, Unknown):
            return size
        if isinstance(size, int) and isinstance(each, int) and each > 0:
            return few(max(1, -(-size // each)))
        if isinstance(size, Batch) and isinstance(each, Batch) and each.multiple > 0:
            return few(-(-size.multiple // each.multiple))
        return first_not_known((each,), BATCH_CUT)

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """One shape for each part along the axis, the last one shorter where the size does not divide it; none where
        their number is not known."""
        shape = inputs[0]
        at, number = axis_of(self.axis, len(shape)), self.count(shape)
        if isinstance(at, Unknown) or isinstance(number, Unknown):
            return undecided(at, number, len(shape))
        size = shape[at]
        if not isinstance(self.sizes, tuple):
            each = self.sizes
            parts: list[Size] = [each] * (number - 1)
            taken: Size = 0
            if isinstance(each, Batch):
                taken = Batch(each.multiple * (number - 1)) if number > 1 else 0
            elif isinstance(each, int):
                taken = each * (number - 1)
            return along(shape, at, [*parts, subtract(size, taken)])
        given = [extent(part, batch=True) for part in self.sizes]
        results = along(shape, at, given)
        problem = whole_problem("part", self.sizes, 0)
        total: Size = 0
        for part in given:
            total = add(total, part)
        if not problem and type(total) is type(size) and not isinstance(total, Unknown) and total != size:
            what = f"splits axis {at} into parts of {total!r} together, but is given {show(shape)}"
            numbers = (size, total) if isinstance(size, int) and isinstance(total, int) else (None, None)
            problem = Problem("CNM201", what, "", *numbers)
        if problem:
            raise Mismatch(problem, results)
        return results


def few(number: int) -> int | Unknown:
    """A number of parts, or Unknown for more than MOST_PARTS."""
    return number if number <= MOST_PARTS else Unknown("a tensor is split into too many parts to follow")


def along(shape: Shape, axis: int, sizes: Sequence[Size]) -> tuple[Shape, ...]:
    """The shape once for each size along the axis."""
    return tuple((*shape[:axis], size, *shape[axis + 1 :]) for size in sizes)


@dataclass(frozen=True, slots=True)
class Chunk(Parts):
    """About equal parts along an axis, rounded up, so that there may be fewer (torch.chunk). `exact`: the axis
    must be divisible (tf.split). `outputs` is empty where the number of parts is not known: ask `count` first."""

    chunks: Size
    axis: Size = 0
    exact: Flag = False

    def count(self, shape: Shape) -> int | Unknown:
        """The number of parts."""
        at = axis_of(self.axis, len(shape))
        chunks = extent(self.chunks)
        if not isinstance(chunks, int):
            return first_not_known((chunks,))
        size = shape[at] if isinstance(at, int) else at
        if self.exact is True or not isinstance(size, int) or chunks < 1 or size == 0:
            return few(max(1, chunks))
        return few(-(-size // -(-size // chunks)))

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """As many shapes as chunks are asked for, or fewer, each of the size divided and rounded up, the last one
        shorter."""
        shape = inputs[0]
        at, number = axis_of(self.axis, len(shape)), self.count(shape)
        if isinstance(at, Unknown) or isinstance(number, Unknown):
            return undecided(at, number, len(shape))
        size = shape[at]
        problem = whole_problem("number of chunks", (self.chunks,))
        if problem:
            raise Mismatch(problem, ((*shape[:at], UNSURE, *shape[at + 1 :]),))
        assert isinstance(self.chunks, int)
        if isinstance(size, int):
            each = -(-size // self.chunks)
            if self.exact is True and size % self.chunks:
                what = f"splits axis {at} into {self.chunks} equal parts, but is given {show(shape)}"
                results = along(shape, at, [UNSURE] * number)
                raise Mismatch(Problem("CNM201", what, "", size, self.chunks), results)
            return along(shape, at, [*[each] * (number - 1), size - each * (number - 1)])
        return along(shape, at, [quotient(size, self.chunks)] * number)


@dataclass(frozen=True, slots=True)
class Unbind(View):
    """One tensor for each position along an axis, without that axis.

    `outputs` is empty where the number is not known: ask `count` first.
    """

    axis: Size = 0

    view_gradient = "stack"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """The input's strides without those of the axis."""
        if not isinstance(self.axis, int):
            return View.view_strides(self, sizes, strides, result)
        at = self.axis % len(sizes)
        return strides[:at] + strides[at + 1 :]

    def count(self, shape: Shape) -> int | Unknown:
        """The number of parts."""
        at = axis_of(self.axis, len(shape))
        size = shape[at] if isinstance(at, int) else at
        return few(size) if isinstance(size, int) else first_not_known((size,), BATCH_CUT)

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """One shape without the axis for each place along it; none where their number is not known."""
        shape = inputs[0]
        at = axis_of(self.axis, len(shape))
        number = self.count(shape)
        if isinstance(number, Unknown) or isinstance(at, Unknown):
            return ()
        return ((*shape[:at], *shape[at + 1 :]),) * number
