"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size, differ, same, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Flag, Weightless, axes_of, count, first_not_known
from flake8_cnnmem.ops.merge import broadcast, wider
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Matmul(Weightless):
    """(..., A, B) @ (..., B, C) -> (..., A, C), with torch's and numpy's rules for one axis and for broadcasting.

    `axes`: those that each of the two must have (2 for torch.mm, 3 for torch.bmm, where nothing broadcasts).
    """

    axes: Literal[2, 3] | None = None

    kind = "matmul"
    volume = "own"
    multiplies = True
    product = "batches"
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


FEW_ROWS, PRODUCT = 25, "use_mm_for_euclid_dist"
"""Up to so many rows distances are worked out one by one, and how a caller asks for a product."""


@dataclass(frozen=True, slots=True)
class GroupedMatmul(Weightless):
    """Products of matrices, a group of the first one's rows by each matrix of the second; which are a group is told by
    the ends of them (E), the third operand. With groups of the second one's columns, or of what is summed over, the
    other way round; two stacks of as many matrices have no groups."""

    kind = "grouped_matmul"
    volume = "own"
    multiplies = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(S, K) by (E, K, N) to (S, N), (E, M, K) by (K, S) to (M, S), (M, S) by (S, N) to (E, M, N), as for matrices
        where both have three axes. Mismatch for K that differ."""
        left, right = inputs[0], inputs[1]
        if len(left) == len(right) == 3:
            return Matmul(3).outputs(left, right)
        if {len(left), len(right)} - {2, 3}:
            raise Mismatch(Problem("CNM201", "multiplies matrices in groups, of 2 or 3 axes"), None)
        (result,) = Matmul(2).outputs(left[-2:], right[-2:])
        if len(left) == len(right):
            return ((*(inputs[2][:1] if len(inputs) > 2 else ()), *result),)
        return (result,)


@dataclass(frozen=True, slots=True)
class Distances(Matmul):
    """(..., P, M) and (..., R, M) -> (..., P, R): the distance of each row to each, by the norm of `power`. `mode` says
    whether the Euclidean one is a product of matrices (torch's `compute_mode`)."""

    power: object = 2.0
    mode: object = None

    kind = "cdist"
    product = ""  # type: ignore[assignment]

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Whether it is worked out "by pairs" or as a product, which it is by itself from 26 rows on, and whose
        gradient alone is asked for; "repeated" where that is not known, or a batch is repeated. Rows that grow with the
        batch are as many as they are in this replay (`sizes` of a value in memory)."""
        shapes = [operand.shape for operand in operands if not isinstance(operand.shape, Unknown)]
        if (
            len(operands) != 2
            or len(shapes) != 2
            or min(map(len, shapes)) < 2
            or differ(shapes[0][:-2], shapes[1][:-2])
        ):
            return ("repeated",)
        first, second = (operand.grad for operand in operands)
        rows = [(getattr(operand, "sizes", None) or shape)[-2] for operand, shape in zip(operands, shapes, strict=True)]
        many = any(isinstance(each, int) and each > FEW_ROWS for each in rows)
        product = many if self.mode in (None, "use_mm_for_euclid_dist_if_necessary") else self.mode == PRODUCT
        if self.power == 2 and product:
            return () if first and second else ("first",) if first else ("second",)
        open_ = isinstance(self.power, Unknown) or isinstance(self.mode, Unknown)
        growing = self.power == 2 and not all(isinstance(each, int) for each in rows)
        return ("repeated",) if open_ or growing else ("by pairs",) if second else ("by pairs, first", "by pairs")

    def quantity(self, name: str, *shapes: Shape) -> Size:
        """The "first rows" and "second rows", or the "differences" of each row's values to each."""
        first, second = shapes[0], shapes[1]
        if name == "differences":
            return dims.multiply(dims.product(first), second[-2])
        return dims.product((second if name == "second rows" else first)[:-1])

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
    product = "equation"
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
                    what += f"{letter} is {sizes[letter]!r} and {size!r}"
                    both = (sizes[letter], size)
                    numbers = [each for each in both if isinstance(each, int)] if problem is None else []
                    problem = problem or Problem("CNM201", what, "", *(numbers if len(numbers) == len(both) else ()))
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
    product = "batches"
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
