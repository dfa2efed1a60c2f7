"""Where the batch is in a shape that the code states in numbers (`x.view(48, 24 * heads, 32)`)."""

from __future__ import annotations

from collections.abc import Iterator

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.unknown import Unknown

Span = tuple[slice, slice]


def with_batch(given: Shape | Unknown, old: Shape | Unknown, target: Shape | Unknown, batch: int) -> Shape | None:
    """What becomes of a tensor of `old` sizes, seen as `target`, if it is `given` with the batch in it. Axes that hold
    the same values before and after are taken together, and of those after the first that is a multiple of `batch` has
    it, since values lie in row-major order. None where that is not told."""
    if isinstance(given, Unknown) or isinstance(old, Unknown) or isinstance(target, Unknown):
        return None
    if batch < 2 or len(given) != len(old):
        return None
    found: list[Size] = []
    for before, after in spans(old, target):
        inside, sizes = dims.product(given[before]), list(target[after])
        if isinstance(inside, Batch):
            at = next((at for at, size in enumerate(sizes) if isinstance(size, int) and size % batch == 0), None)
            size = None if at is None else sizes[at]
            if at is None or not isinstance(size, int):
                return None
            sizes[at] = Batch(size // batch)
        elif inside != dims.product(old[before]):
            return None
        found += sizes
    return tuple(found) if dims.product(tuple(found)) == dims.product(given) else None


def spans(old: Shape, new: Shape) -> Iterator[Span]:
    """The shortest stretches of axes, from the first on, that hold as many values in the one shape as in the other."""
    first = second = 0
    i = j = 0
    left: Size = 1
    right: Size = 1
    while i < len(old) or j < len(new):
        if j < len(new) and (i == len(old) or (isinstance(left, int) and isinstance(right, int) and right < left)):
            right = dims.multiply(right, new[j])
            j += 1
        elif i < len(old):
            left = dims.multiply(left, old[i])
            i += 1
        if left == right and j > second and i > first:
            yield slice(first, i), slice(second, j)
            first, second, left, right = i, j, 1, 1
    if i > first or j > second:
        yield slice(first, i), slice(second, j)
