"""Ops of several tensors: broadcasting arithmetic, concatenation, products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size, add, same, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    MIXED,
    Flag,
    Repeats,
    Volume,
    Weightless,
    axes_of,
    axis_of,
    bounded,
    count,
    first_not_known,
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


@dataclass(frozen=True, slots=True)
class Matmul(Weightless):
    """(..., A, B) @ (..., B, C) -> (..., A, C), with torch's and numpy's rules for one axis and for broadcasting.

    `axes`: those that each of the two must have (2 for torch.mm, 3 for torch.bmm, where nothing broadcasts).
    """

    axes: Literal[2, 3] | None = None

    kind = "matmul"
    volume = "own"
    multiplies = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., n, k) by (..., k, m) to (..., n, m), vectors without their axis. Mismatch for k that differ, batches
        that do not broadcast, and another number of axes than `axes`."""
        left, right = inputs[0], inputs[1]
        if not left or not right:
            raise Mismatch(Problem("CNM201", "multiplies a matrix by a tensor without axes"), None)
        if self.axes is not None and (len(left) != self.axes or len(right) != self.axes):
            what = f"multiplies tensors of {self.axes} axes, but is given {show(left)} and {show(right)}"
            raise Mismatch(Problem("CNM201", what), None)
        rows: Shape = left[-2:-1] if len(left) > 1 else ()
        columns: Shape = right[-1:] if len(right) > 1 else ()
        inner = right[-2] if len(right) > 1 else right[-1]
        problem: Problem | None = None
        if same(left[-1], inner) is False:
            numbers = (left[-1], inner) if isinstance(left[-1], int) and isinstance(inner, int) else (None, None)
            what = f"multiplies {show(left)} by {show(right)}: {left[-1]!r} columns meet {inner!r} rows"
            problem = Problem("CNM201", what, "", *numbers)
        if self.axes == 3 and same(left[0], right[0]) is False:
            what = f"multiplies {show(left)} by {show(right)}: {left[0]!r} matrices meet {right[0]!r}"
            problem = problem or Problem("CNM201", what)
        try:
            batch = broadcast((left[:-2], right[:-2]), "multiplies matrices in")
        except Mismatch as mismatch:
            problem = problem or mismatch.problem
            if mismatch.recovered is None:
                raise Mismatch(problem, None) from None
            batch = mismatch.recovered[0]
        result = (*batch, *rows, *columns)
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


@dataclass(frozen=True, slots=True)
class MatmulInto(Weightless):
    """The product of the second and the third operand, written over the first one, which is as large (torch.bmm with an
    `out`)."""

    kind = "matmul_into"
    in_place = True
    volume = "own"
    multiplies = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Of the second (..., A, B) and the third (..., B, C) operand (..., A, C)."""
        return Matmul().outputs(*inputs[1:])


@dataclass(frozen=True, slots=True)
class Distances(Matmul):
    """(..., P, M) and (..., R, M) -> (..., P, R): the distance of each row to each."""

    kind = "cdist"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., P, M) and (..., R, M) to (..., P, R)."""
        first, *others = inputs
        turned = ((*each[:-2], each[-1], each[-2]) if len(each) > 1 else each for each in others)
        return Matmul.outputs(self, first, *turned)


@dataclass(frozen=True, slots=True)
class Einsum(Weightless):
    """A sum of products by its equation ("bhid,bhjd->bhij"; "..." stands for axes that broadcast)."""

    equation: str
    within: bool = False
    """Whether it is one of the products that a sum of three or more operands is computed by."""

    kind = "einsum"
    volume = "own"
    multiplies = True
    declares = False

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """One of a chain of products, or several at once."""
        return ("several",) if self.within is not False or len(operands) > 2 else ()

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The shape that the equation's right side names, sizes by letter. Mismatch where a letter has two sizes."""
        if not isinstance(self.equation, str):
            return (first_not_known((self.equation,)),)
        text = self.equation.replace(" ", "").replace("...", ".")
        left, arrow, right = text.partition("->")
        terms = left.split(",")
        if len(terms) != len(inputs):
            what = f"has an equation of {count(len(terms), 'tensor', 'tensors')}, but is given {len(inputs)}"
            raise Mismatch(Problem("CNM201", what), None)
        sizes: dict[str, Size] = {}
        dots: list[Shape] = []
        problem: Problem | None = None
        for term, shape in zip(terms, inputs, strict=True):
            letters = len(term.replace(".", ""))
            if letters > len(shape) or ("." not in term and letters != len(shape)) or term.count(".") > 1:
                raise Mismatch(Problem("CNM201", f"matches {show(shape)} against {term.replace('.', '...')!r}"), None)
            before, dot, after = term.partition(".")
            extra = len(shape) - letters
            if dot:
                dots.append(shape[len(before) : len(before) + extra])
            rest = shape[: len(before)] + shape[len(before) + extra :]
            for letter, size in zip(before + after, rest, strict=True):
                known = wider(sizes.get(letter, size), size)
                if known is None:
                    what = f"sums {' and '.join(show(one) for one in inputs)} by {self.equation!r}: "
                    problem = problem or Problem("CNM201", what + f"{letter} is {sizes[letter]!r} and {size!r}")
                    known = Unknown("two sizes that must be equal are not")
                sizes[letter] = known
        if not arrow:
            right = ("." if dots else "") + "".join(sorted(letter for letter in sizes if left.count(letter) == 1))
        spread = broadcast(tuple(dots), "combines") if dots else ()
        output: list[Size] = []
        for letter in right:
            if letter == ".":
                output.extend(spread)
            elif letter in sizes:
                output.append(sizes[letter])
            else:
                raise Mismatch(Problem("CNM201", f"has {letter!r} only in the result of {self.equation!r}"), None)
        if problem:
            raise Mismatch(problem, (tuple(output),))
        return (tuple(output),)


@dataclass(frozen=True, slots=True)
class Dot(Weightless):
    """keras.layers.Dot: each sample's product summed over an axis of each input; at least (N, 1)."""

    axes: tuple[Size, Size] | Size
    normalise: Flag = False

    kind = "matmul"
    volume = "own"
    multiplies = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """Both shapes without the axes that are multiplied, the batch once (Keras' Dot layer). Mismatch where those
        differ."""
        left, right = inputs[0], inputs[1]
        pair = self.axes if isinstance(self.axes, tuple) else (self.axes, self.axes)
        a, b = axes_of(pair[:1], len(left)), axes_of(pair[1:2], len(right))
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            unknown = a if isinstance(a, Unknown) else b
            assert isinstance(unknown, Unknown)
            return ((unknown,) * max(2, len(left) + len(right) - 3),)
        first, second = a[0], b[0]
        result = (*left[:first], *left[first + 1 :], *(size for at, size in enumerate(right) if at not in (0, second)))
        result = result if len(result) > 1 else (*result, 1)
        if same(left[first], right[second]) is False:
            what = f"multiplies {show(left)} and {show(right)} along axes {first} and {second}: "
            what += f"{left[first]!r} and {right[second]!r} are not equal"
            raise Mismatch(Problem("CNM201", what), (result,))
        return (result,)
