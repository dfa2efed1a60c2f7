"""Sums of products as PyTorch runs them: each pair of operands as a batch of matrix products.

After aten/src/ATen/native/Linear.cpp (einsum, sumproduct_pair): axes of one value count as missing, the others are
those of both operands that stay (the batch), of the left or right one alone, and those that are summed over. Each
operand is read as batch x rows x columns; one that does not lie so is copied, and the copy is what is kept. Where all
axes of the right one alone come before those of the left one in the result, the two change places (swap_lo_ro).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import strides as layout

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A sum of two operands' products. Each operand's axes in the order in which it is read, and the three sizes that
    they are read as; `result` are the axes of the result in the order in which they lie; `swapped` says whether the
    second operand is the left one of the product."""

    orders: tuple[Sizes, Sizes]
    targets: tuple[Sizes, Sizes]
    result: Sizes
    swapped: bool = False

    @property
    def read(self) -> Sizes:
        """The three sizes that the result is made as."""
        first, second = self.targets[::-1] if self.swapped else self.targets
        return (*first[:2], second[2])


def product(equation: object, first: Sizes, second: Sizes) -> Product | None:
    """How two operands of these sizes are multiplied; None where each value is multiplied by one value and nothing is
    summed, or for equations with diagonals and for sums over one operand alone, which are not looked into."""
    terms = _terms(equation, (first, second))
    if terms is None:
        return None
    (left, right), output = terms
    sizes = [dict(zip(left, first, strict=True)), dict(zip(right, second, strict=True))]
    letters = dict.fromkeys([*output, *left, *right])
    both: list[str] = []
    mine: list[str] = []
    yours: list[str] = []
    summed: list[str] = []
    for letter in letters:
        a, b = (one.get(letter, 1) != 1 for one in sizes)
        if letter in output:
            (both if a and b else mine if a else yours).append(letter)
        elif a and b:
            summed.append(letter)
        elif a or b:
            return None
    if not summed:
        return None
    swapped = bool(mine and yours) and output.index(yours[-1]) < output.index(mine[0])
    groups = ((both, mine, summed), (both, summed, yours))
    if swapped:
        groups = ((both, summed, mine), (both, yours, summed))
    orders = tuple(
        _order(term, [letter for group in three for letter in group])
        for term, three in zip((left, right), groups, strict=True)
    )
    targets = tuple(
        tuple(math.prod(one.get(letter, 1) for letter in group) for group in three)
        for one, three in zip(sizes, groups, strict=True)
    )
    lying = tuple(output.index(letter) for letter in (*both, *((*yours, *mine) if swapped else (*mine, *yours))))
    return Product((orders[0], orders[1]), (targets[0], targets[1]), lying, swapped)


def _order(term: Sequence[str], wanted: Sequence[str]) -> Sizes:
    """The axes of an operand in the order of the letters, those of one value last."""
    first = [term.index(letter) for letter in wanted if letter in term]
    return (*first, *(axis for axis in range(len(term)) if axis not in first))


def copies(plan: Product, at: int, sizes: Sizes, strides: Sizes) -> bool:
    """Whether the operand at this place does not lie as it is read."""
    order = plan.orders[at]
    moved = [sizes[axis] for axis in order], [strides[axis] for axis in order]
    return layout.reshape(*moved, plan.targets[at]) is None


def _terms(equation: object, operands: Sequence[Sizes]) -> tuple[list[list[str]], list[str]] | None:
    """The letters of each operand and of the result; the axes that "..." stands for are letters of their own."""
    if not isinstance(equation, str):
        return None
    given, arrow, result = equation.replace(" ", "").replace("...", ".").partition("->")
    terms: list[list[str]] = []
    most = 0
    for term, sizes in zip(given.split(","), operands, strict=False):
        letters = term.replace(".", "")
        extra = len(sizes) - len(letters) if "." in term else 0
        if len(set(letters)) < len(letters) or extra < 0 or len(letters) + extra != len(sizes):
            return None
        most = max(most, extra)
        before, _, after = term.partition(".")
        terms.append([*before, *(f".{axis}" for axis in range(extra, 0, -1)), *after])
    if len(terms) != len(operands):
        return None
    if not arrow:
        alone = sorted(letter for letter in set(given) if letter.isalpha() and given.count(letter) == 1)
        result = ("." if most else "") + "".join(alone)
    before, dot, after = result.partition(".")
    return terms, [*before, *(f".{axis}" for axis in range(most if dot else 0, 0, -1)), *after]
