"""Ops of several tensors: broadcasting arithmetic and concatenation."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size, add, same, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    MIXED,
    Repeats,
    Volume,
    Weightless,
    axis_of,
    bounded,
)
from flake8_cnnmem.ops.expected import open_alike
from flake8_cnnmem.unknown import Unknown

VERBS = {
    "add": "adds", "subtract": "subtracts", "multiply": "multiplies", "divide": "divides", "average": "averages",
    "maximum": "takes the maximum of", "minimum": "takes the minimum of", "compare": "compares",
}  # fmt: skip


def wider(left: Size, right: Size) -> Size | None:
    """The size that two broadcast to; None where they surely do not.

    1 gives way. The batch against another number is not known: it may be 1, or be that number. An
    unknown size is 1 or the other size.
    """
    if left == right:
        return left
    if isinstance(left, int) and left == 1:
        return right
    if isinstance(right, int) and right == 1:
        return left
    if isinstance(left, Unknown):
        return left if isinstance(right, Unknown) else right
    if isinstance(right, Unknown):
        return left
    return None if same(left, right) is False else MIXED


def broadcast(shapes: tuple[Shape, ...], verb: str = "combines") -> Shape:
    """The shape that all broadcast to. Mismatch where there is none: with the sizes in conflict unknown, or without a
    shape where the numbers of axes differ, too, and it is anybody's guess which axes were meant to meet."""
    result = shapes[0]
    if all(shape == result for shape in shapes):
        return result
    problem: Problem | None = None
    misaligned = False
    for shape in shapes[1:]:
        rank = max(len(result), len(shape))
        left: Shape = (1,) * (rank - len(result)) + result
        right: Shape = (1,) * (rank - len(shape)) + shape
        sizes: list[Size] = []
        for at in range(rank):
            size = wider(left[at], right[at])
            if size is None:
                problem = problem or unequal_problem(shapes, (result, shape), at - rank, verb)
                misaligned = misaligned or (len(result) != len(shape) and result[:1] == shape[:1] == (BATCH,))
                size = Unknown("two sizes that must be equal are not")
            sizes.append(size)
        result = tuple(sizes)
    if problem:
        raise Mismatch(problem, None if misaligned else (result,))
    return result


def unequal_problem(shapes: tuple[Shape, ...], pair: tuple[Shape, Shape], axis: int, verb: str) -> Problem:
    """Shapes that differ along an axis, counted from the end."""
    given, declared = pair[1][axis], pair[0][axis]
    shown = " and ".join(show(shape) for shape in shapes) if len(shapes) < 4 else f"{show(pair[0])} and {show(pair[1])}"
    what = f"{verb} {shown}: {declared!r} and {given!r} are not equal"
    numbers = (given, declared) if isinstance(given, int) and isinstance(declared, int) else (None, None)
    return Problem("CNM201", what, "", *numbers)


JOINING = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "where"})
"""Kinds of arithmetic that join feature maps."""

AS_WIDE = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "masked_fill", "lerp"})
"""Kinds whose result is as wide as what they are given."""


REPEATING = frozenset(
    {
        "multiply", "divide", "power", "maximum", "minimum", "where", "atan2", "hypot", "lerp", "masked_fill",
        "logaddexp", "logaddexp2",
    }
)  # fmt: skip
"""Kinds of arithmetic whose gradients are made of operands repeated to the result's shape."""


def repeats_second(operands: Sequence[Operand]) -> bool:
    """Whether the second of two operands is repeated to the shape of the first."""
    first, second = operands[0].shape, operands[1].shape
    if isinstance(first, Unknown) or isinstance(second, Unknown) or first == second:
        return False
    try:
        return broadcast((first, second), "combines") == first
    except Mismatch:
        return False


def repetition(operands: Sequence[Operand]) -> str:
    """Of an `addcmul` whose operands are repeated: "repeated" where that are trained factors or the first operand, else
    "repeated, fixed"."""
    shapes = [one.shape for one in operands if not isinstance(one.shape, Unknown)]
    try:
        result = broadcast(tuple(shapes), "combines") if len(shapes) == len(operands) else None
    except Mismatch:
        result = None
    fixed = result is None or any(one.shape != result and not one.grad for one in operands[1:])
    return "repeated, fixed" if fixed else "repeated"


@dataclass(frozen=True, slots=True)
class Broadcast(Weightless):
    """Arithmetic of any number of tensors that broadcast together: add, multiply, maximum, where, compare ..."""

    kind: str
    in_place: bool = False

    @property
    def volume(self) -> Volume:
        """ "merge" for arithmetic that joins feature maps, else "none"."""
        return "merge" if self.kind in JOINING else "none"

    @property
    def keeps_dtype(self) -> bool:
        """Of most of arithmetic."""
        return self.kind in AS_WIDE

    @property
    def repeats(self) -> Repeats:
        """ "gradient" for sums and differences, "operands" for most others."""
        if self.kind in ("add", "subtract"):
            return "gradient"
        return "operands" if self.kind in REPEATING else ""

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Of a `lerp` between two tensors by a third: whether that is trained; of an `addcmul`: which of its factors
        are, and whether an operand is repeated for it; of a quotient whether one of the two is not
        trained, of an angle whether just one is; of a power whether the exponent is repeated."""
        if self.kind == "addcmul" and len(operands) == 3:
            which = {(True, False): ("first",), (False, True): ("second",), (False, False): ("neither",)}
            variants = which.get((operands[1].grad, operands[2].grad), ())
            repeats = any(one.shape != operands[0].shape for one in operands) and variants != ("neither",)
            return (repetition(operands),) if repeats else variants
        if self.kind == "divide" and len(operands) == 2 and not (operands[0].grad and operands[1].grad):
            return ("fixed dividend",) if operands[1].grad else ("fixed divisor",)
        if self.kind == "atan2" and len(operands) == 2 and operands[0].grad is not operands[1].grad:
            return ("one",)
        if self.kind == "power" and len(operands) == 2 and repeats_second(operands):
            return ("repeated exponent",)
        if self.kind != "lerp" or len(operands) < 3:
            return ()
        return ("weight trained",) if operands[2].grad else ("weighted",)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Where all inputs have one shape."""
        return open_alike(inputs)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The broadcast shape of all inputs. Mismatch for sizes that differ and are not 1, and where an in-place result
        would be larger than its first input."""
        verb = VERBS.get(self.kind, "combines")
        result = broadcast(inputs, verb)
        if self.in_place is True and len(result) == len(inputs[0]):
            for before, after in zip(inputs[0], result, strict=True):
                if type(before) is int and same(before, after) is False:
                    what = f"{verb} in place {' and '.join(show(shape) for shape in inputs)}, which is larger"
                    raise Mismatch(Problem("CNM201", what), (inputs[0],))
        return (result,)


@dataclass(frozen=True, slots=True)
class Average(Weightless):
    """The mean of several tensors (keras.layers.Average)."""

    kind = "average"
    volume = "merge"

    def leaves_open(self, *inputs: Shape) -> bool:
        """Where all inputs have one shape."""
        return open_alike(inputs)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The broadcast shape of all inputs."""
        return (broadcast(inputs, VERBS["average"]),)


def equal_but(inputs: tuple[Shape, ...], axis: int | None, verb: str) -> tuple[list[Size], Problem | None]:
    """The sizes that all inputs share, except along `axis`, and the problem of those that differ."""
    sizes = list(inputs[0])
    problem: Problem | None = None
    for shape in inputs[1:]:
        for at, size in enumerate(shape):
            if at == axis:
                continue
            equal = same(sizes[at], size)
            if equal is False:
                maps = show_pair(inputs, shape)
                numbers = (size, sizes[at]) if isinstance(size, int) and isinstance(sizes[at], int) else (None, None)
                what = f"{verb} {maps}: axis {at} is {sizes[at]!r} and {size!r}"
                problem = problem or Problem("CNM201", what, "", *numbers)
                sizes[at] = Unknown("two sizes that must be equal are not")
            elif isinstance(sizes[at], Unknown) or isinstance(size, Batch):
                sizes[at] = size if not isinstance(size, Unknown) else sizes[at]
    return sizes, problem


def show_pair(inputs: tuple[Shape, ...], shape: Shape) -> str:
    """The first input and the one that does not fit."""
    return f"{show(inputs[0])} and {show(shape)}"


@dataclass(frozen=True, slots=True)
class Concatenate(Weightless):
    """Tensors joined along an axis; their other sizes must be equal."""

    axis: Size = -1

    kind = "concatenate"
    volume = "merge"
    keeps_dtype = True

    def leaves_open(self, *inputs: Shape) -> bool:
        """Where all inputs have one shape."""
        return open_alike(inputs)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The first shape with the sizes along the axis added up. Mismatch where others differ."""
        # torch.cat still lets empty tensors of one axis pass.
        inputs = tuple(shape for shape in inputs if shape != (0,)) or inputs
        first = inputs[0]
        other = next((shape for shape in inputs if len(shape) != len(first)), None)
        if other is not None:
            what = f"joins {show_pair(inputs, other)}, which differ in their number of axes"
            raise Mismatch(Problem("CNM201", what), None)
        if not first:
            raise Mismatch(Problem("CNM201", "joins tensors without axes"), None)
        at = axis_of(self.axis, len(first))
        if isinstance(at, Unknown):
            return ((at,) * len(first),)
        sizes, problem = equal_but(inputs, at, "joins")
        total: Size = 0
        for shape in inputs:
            total = add(total, shape[at])
        sizes[at] = bounded(total)
        if problem:
            raise Mismatch(problem, (tuple(sizes),))
        return (tuple(sizes),)


@dataclass(frozen=True, slots=True)
class Stack(Weightless):
    """Tensors of one shape joined along a new axis."""

    axis: Size = 0

    kind = "stack"
    volume = "merge"
    keeps_dtype = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(...) each, n of them, to one shape with an axis of n. Mismatch where they differ."""
        first = inputs[0]
        other = next((shape for shape in inputs if len(shape) != len(first)), None)
        if other is not None:
            what = f"stacks {show_pair(inputs, other)}, which differ in their number of axes"
            raise Mismatch(Problem("CNM201", what), None)
        at = axis_of(self.axis, len(first) + 1)
        if isinstance(at, Unknown):
            return ((at,) * (len(first) + 1),)
        sizes, problem = equal_but(inputs, None, "stacks")
        sizes.insert(at, len(inputs))
        if problem:
            raise Mismatch(problem, (tuple(sizes),))
        return (tuple(sizes),)
