"""Ops that lay the same values out in other sizes, or repeat them: reshape, flatten, expand, repeat. What shares
storage says so by `view`."""

from __future__ import annotations

from flake8_cnnmem.dims import Batch, Shape, Size, floor_divide, multiply, product, same, show, subtract
from flake8_cnnmem.graph import Mismatch, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    MIXED,
    UNSURE,
    Weightless,
    axis_of,
    bounded,
    count,
    extent,
    first_not_known,
    whole_problem,
)
from flake8_cnnmem.ops.strides import Strides, broadcast
from flake8_cnnmem.unknown import Unknown

DEALT = Unknown("a reshape deals the samples of the batch out anew")


class View(Weightless):
    """An op whose output is its input's storage in another order."""

    __slots__ = ()
    kind = "view"
    keeps_dtype = True

    @property
    def view(self) -> bool:
        """Always: it may share its input's storage."""
        return True

    @property
    def declares(self) -> bool:
        """Never: a wrong size leaves no shape to go on with."""
        return False


def reshape(shape: Shape, target: tuple[Size, ...]) -> Shape:
    """The target with its one -1 worked out. Mismatch where no batch size makes the counts equal.

    A literal first size that stands for the batch, as in `x.view(32, -1)` on an input of N samples,
    becomes the batch again.
    """
    holes = [at for at, size in enumerate(target) if type(size) is int and size == -1]
    if len(holes) > 1:
        raise Mismatch(Problem("CNM201", f"reshapes to {show(target)}, which has more than one -1"))
    problem = whole_problem("size", (size for size in target if size != -1), 0)
    clean = tuple(-1 if size == -1 else extent(size, batch=True) for size in target)
    if problem:
        raise Mismatch(problem, (tuple(UNSURE if size == -1 else size for size in clean),))
    if holes:
        return filled(shape, clean, holes[0])
    total, wanted = product(shape), product(clean)
    if isinstance(total, Unknown) or isinstance(wanted, Unknown) or total == wanted:
        return clean
    if isinstance(total, Batch) and isinstance(wanted, int):
        if wanted == 0 or wanted % total.multiple:
            raise Mismatch(reshape_problem(shape, target, total.multiple, wanted), (clean,))
        return with_batch(clean, wanted // total.multiple)
    if isinstance(total, int) and isinstance(wanted, Batch) and total and total % wanted.multiple == 0:
        return clean
    counts = [size.multiple if isinstance(size, Batch) else size for size in (total, wanted)]
    raise Mismatch(reshape_problem(shape, target, *counts), (clean,))


def with_batch(target: Shape, samples: int) -> Shape:
    """The target of a reshape that fits for just this number of samples, with its first size as the batch."""
    first = target[0] if target else None
    if not isinstance(first, int) or first % samples or (samples == 1 and first != 1):
        return target
    return (Batch(first // samples), *target[1:])


def filled(shape: Shape, target: Shape, hole: int) -> Shape:
    """The target with the -1 at `hole` worked out."""
    others = target[:hole] + target[hole + 1 :]
    total, rest = product(shape), product(others)

    def result(size: Size) -> Shape:
        return (*target[:hole], bounded(size), *target[hole + 1 :])

    if isinstance(total, Unknown) or isinstance(rest, Unknown):
        return result(first_not_known((total, rest)))
    if rest == 0:
        raise Mismatch(Problem("CNM201", f"reshapes to {show(target)}, where -1 could be any size"), (result(UNSURE),))
    if isinstance(total, int):
        divisor = rest.multiple if isinstance(rest, Batch) else rest
        if total % divisor:
            raise Mismatch(reshape_problem(shape, target, total, divisor), (result(UNSURE),))
        return result(total // divisor) if isinstance(rest, int) else result(DEALT)
    if isinstance(rest, Batch):
        if total.multiple % rest.multiple:
            raise Mismatch(reshape_problem(shape, target, total.multiple, rest.multiple), (result(UNSURE),))
        return result(total.multiple // rest.multiple)

    # The input has the batch among its sizes and the target has only numbers beside the -1.
    lead = shape[0]
    each = total.multiple // lead.multiple if isinstance(lead, Batch) else total.multiple
    if hole and isinstance(lead, Batch):
        literal = target[0]
        assert isinstance(literal, int)
        if lead.multiple % literal:
            # The number is not a part of a sample: it deals the samples out, or it is the batch.
            if keeps_samples(target, hole, each):
                return result(DEALT)
            part = rest // literal
            if each % part:
                raise Mismatch(reshape_problem(shape, target, each, part), (result(UNSURE),))
            return (lead, *result(each // part)[1:])
    if total.multiple % rest == 0:
        return result(Batch(total.multiple // rest))
    if keeps_samples(target, hole, each) or joins_channels(shape, target, hole):
        return result(DEALT)
    recovered = result(Batch(1) if hole == 0 else UNSURE)
    raise Mismatch(reshape_problem(shape, target, total.multiple, rest), (recovered,))


def keeps_samples(target: Shape, hole: int, each: int) -> bool:
    """Whether the last axes of the target, behind the -1, hold just one sample of `each` values."""
    return any(product(target[at:]) == each for at in range(hole + 1, len(target) + 1))


def joins_channels(shape: Shape, target: Shape, hole: int) -> bool:
    """Whether several samples become one with the channels of all of them, as a norm over splits of a batch does it:
    which batches that divides is not asked here."""
    if hole or len(shape) < 3 or len(shape) != len(target) or shape[2:] != target[2:]:
        return False
    channels, together = shape[1], target[1]
    return type(channels) is int and type(together) is int and channels > 0 and together % channels == 0


def reshape_problem(shape: Shape, target: Shape, given: int, declared: int) -> Problem:
    """`given` values (for each sample, if there is a batch) do not fill rows of `declared`."""
    batch = any(isinstance(size, Batch) for size in shape)
    each = "each sample has" if batch else "it has"
    what = f"reshapes {show(shape)} to {show(target)}, but {each} {count(given, 'value', 'values')}, not {declared}"
    advice = (
        f"{show((target[0], given))} would fit" if len(target) == 2 else f"sizes whose product is {given} would fit"
    )
    return Problem("CNM201", what, advice, given, declared, fitting=given if len(target) == 2 else None)


@dataclass(frozen=True, slots=True)
class Reshape(View):
    """To `target`, in which one size may be -1 and sizes may be multiples of the batch."""

    target: tuple[Size, ...]

    @property
    def flattens(self) -> bool:
        """Whether the target is (rows, features)."""
        return len(self.target) == 2

    @property
    def joins_samples(self) -> bool:
        """Whether its first axis is no longer the batch alone."""
        return not self.target or self.target[0] != Batch(1)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The target shape, a -1 in it worked out. Mismatch where the number of values differs."""
        return (reshape(inputs[0], self.target),)


@dataclass(frozen=True, slots=True)
class AcrossOrder(Reshape):
    """A view of a tensor whose axes lie in another order in memory: no strides give it, and PyTorch makes no copy."""

    @property
    def declares(self) -> bool:
        """Always: what it was meant to give is what it says."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Mismatch, with the target's shape to go on with."""
        (shape,) = Reshape.outputs(self, *inputs)
        what = f"views {show(inputs[0])} as {show(shape)}, but its axes lie in another order in memory"
        raise Mismatch(Problem("CNM201", what, "reshape, or contiguous() before it, would fit"), (shape,))


@dataclass(frozen=True, slots=True)
class Steps(Reshape):
    """(N, T, ...) to `target`, (N * T, ...): each of the T steps is cut out by an op of its own."""

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Of as many steps as there are, which the target may leave open."""
        shape = inputs[0]
        return ((multiply(shape[0], shape[1]), *shape[2:]),) if len(shape) > 1 else Reshape.outputs(self, *inputs)

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """ "slices": what the gradients of all steps but one hold, each of the whole input's size."""
        if name != "slices":
            return Reshape.quantity(self, name, *inputs)
        shape = inputs[0]
        return multiply(product(shape), subtract(shape[1], 1)) if len(shape) > 1 else UNSURE


@dataclass(frozen=True, slots=True)
class StepsAgain(Reshape):
    """(N * T, ...) as it is: what was stacked for each of the T steps is cut apart again."""

    steps: Size = 1

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """ "slices": as of `Steps`. What arrives for a step is gone when its own is made."""
        if name != "slices":
            return Reshape.quantity(self, name, *inputs)
        return multiply(product(inputs[0]), subtract(self.steps, 1))


@dataclass(frozen=True, slots=True)
class StepsTogether(Reshape):
    """(N * T, ...) to `target`, (N, T, ...): stacked in the order of time first, and turned."""

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """With as many steps as there are, where the target leaves them open."""
        (shape,) = Reshape.outputs(self, *inputs)
        if not inputs[0] or len(shape) < 2 or not isinstance(shape[1], Unknown):
            return (shape,)
        rows, batch = inputs[0][0], shape[0]
        if not isinstance(rows, Batch) or not isinstance(batch, Batch):
            return (shape,)
        return ((batch, floor_divide(rows.multiple, batch.multiple), *shape[2:]),)


@dataclass(frozen=True, slots=True)
class Flatten(View):
    """Axes `start` to `end`, both included, become one."""

    start: Size = 1
    end: Size = -1

    @property
    def flattens(self) -> bool:
        """Whether all axes behind the first become one."""
        return self.start == 1 and self.end == -1

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The axes from `start` to `end` as one."""
        shape = inputs[0]
        if not shape:
            return ((1,),)
        start, end = axis_of(self.start, len(shape)), axis_of(self.end, len(shape))
        if isinstance(start, Unknown) or isinstance(end, Unknown):
            return (first_not_known((start, end)),)
        if start > end:
            raise Mismatch(Problem("CNM201", f"flattens from axis {start} to axis {end}, which comes before it"))
        return ((*shape[:start], bounded(product(shape[start : end + 1])), *shape[end + 1 :]),)


@dataclass(frozen=True, slots=True)
class Unflatten(View):
    """One axis becomes several `sizes`, one of which may be -1."""

    axis: Size
    sizes: tuple[Size, ...]

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """One axis as several, a -1 among them worked out. Mismatch where their product differs."""
        shape = inputs[0]
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            return ((at,) * (len(shape) - 1 + len(self.sizes)),)
        try:
            inner = reshape((shape[at],), self.sizes)
        except Mismatch as mismatch:
            recovered = mismatch.recovered
            if recovered is not None:
                recovered = ((*shape[:at], *recovered[0], *shape[at + 1 :]),)
            raise Mismatch(mismatch.problem, recovered) from None
        return ((*shape[:at], *inner, *shape[at + 1 :]),)


@dataclass(frozen=True, slots=True)
class Expand(View):
    """Axes of size 1 are repeated without a copy to `target`; -1 keeps an axis; new axes come first."""

    target: tuple[Size, ...]

    view_gradient = "sum"

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides:
        """The input's strides, 0 where a size of 1 is repeated."""
        return broadcast(sizes, strides, result)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The target shape, -1 for a size as it is. Mismatch where a size that is not 1 would change."""
        shape = inputs[0]
        extra = len(self.target) - len(shape)
        if extra < 0:
            what = f"expands to {count(len(self.target), 'axis', 'axes')}, but is given {show(shape)}"
            raise Mismatch(Problem("CNM201", what), None)
        problem = whole_problem("size", self.target, -1)
        sizes: list[Size] = []
        for at, wanted in enumerate(self.target):
            aim = -1 if wanted == -1 else extent(wanted, batch=True)
            if at < extra:
                if aim == -1:
                    problem = problem or Problem("CNM201", f"expands to {show(self.target)}, whose -1 is a new axis")
                sizes.append(UNSURE if aim == -1 else aim)
                continue
            given = shape[at - extra]
            if aim == -1 or given == aim:
                sizes.append(given)
            elif isinstance(given, int) and given == 1:
                sizes.append(aim)
            else:
                equal = same(given, aim)
                if equal is False:
                    what = f"expands {show(shape)} to {show(self.target)}, but axis {at - extra} is {given!r} and not 1"
                    problem = problem or Problem("CNM201", what)
                # An unknown size is 1 or the target; the batch against a number is either, too.
                sizes.append(aim if isinstance(given, Unknown) or equal is False else first_not_known((aim,), MIXED))
        if problem:
            raise Mismatch(problem, (tuple(sizes),))
        return (tuple(sizes),)


@dataclass(frozen=True, slots=True)
class Common(Expand):
    """An expansion to what operands have in common, within a function that reads them in a dtype of its own."""


class Copy(Weightless):
    """An op that writes its input's values to a new place, without arithmetic."""

    __slots__ = ()
    kind = "copy"
    keeps_dtype = True


@dataclass(frozen=True, slots=True)
class Repeat(Copy):
    """Each axis `times` over (torch.Tensor.repeat, tf.tile); more times than axes add new ones in front."""

    times: tuple[Size, ...]

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Each size as often as it is repeated, new axes in front."""
        shape = inputs[0]
        extra = len(self.times) - len(shape)
        if extra < 0:
            what = f"repeats {count(len(self.times), 'axis', 'axes')}, but is given {show(shape)}"
            raise Mismatch(Problem("CNM201", what), None)
        times = [extent(size, batch=True) for size in self.times]
        full: Shape = (1,) * extra + shape
        output = tuple(bounded(multiply(size, time)) for size, time in zip(full, times, strict=True))
        problem = whole_problem("number of repeats", self.times, 0)
        if problem:
            raise Mismatch(problem, (output,))
        return (output,)


@dataclass(frozen=True, slots=True)
class RepeatInterleave(Copy):
    """Each value along `axis` `times` in a row; without an axis, of the flattened input."""

    times: Size
    axis: Size | None = None

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The size of the axis times the repeats; all values in one axis where none is named."""
        shape = inputs[0]
        times = extent(self.times, batch=True)
        if self.axis is None:
            return ((bounded(multiply(product(shape), times)),),)
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            return ((at,) * len(shape),)
        return ((*shape[:at], bounded(multiply(shape[at], times)), *shape[at + 1 :]),)
