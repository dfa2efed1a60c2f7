"""Where the batch is in a shape that the code states in numbers (`x.view(48, 24 * heads, 32)`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.unknown import Unknown

Span = tuple[slice, slice]


def with_batch(given: Shape | Unknown, old: Shape | Unknown, target: Shape | Unknown, batch: int) -> Shape | None:
    """What becomes of a tensor of `old` sizes, seen as `target`, if it is `given` with the batch in it. Axes that hold
    the same values before and after are taken together, and of those after one in the same
    range has it, since values lie in row-major order. None where that is not told."""
    if isinstance(given, Unknown) or isinstance(old, Unknown) or isinstance(target, Unknown):
        return None
    if batch < 2 or len(given) != len(old):
        return None
    found: list[Size] = []
    for before, after in spans(old, target):
        inside, sizes = dims.product(given[before]), list(target[after])
        if isinstance(inside, Batch):
            found_at = place_of_batch(given[before], sizes, batch)
            if found_at is None:
                return None
            at, multiple = found_at
            sizes[at] = Batch(multiple)
        elif inside != dims.product(old[before]):
            return None
        found += sizes
    return tuple(found) if dims.product(tuple(found)) == dims.product(given) else None


def place_of_batch(given: Shape, sizes: Sequence[Size], batch: int) -> tuple[int, int] | None:
    """Which of the axes that a stretch becomes has the batch, and how many times: one in the range of the axis that has
    it now, as long as the batch if there is one, else the first that is a multiple of it."""
    at = [place for place, size in enumerate(given) if isinstance(size, Batch)]
    if len(at) != 1:
        return None
    ahead = dims.at_batch(dims.product(given[: at[0]]), batch)
    length = dims.at_batch(given[at[0]], batch)
    if not isinstance(ahead, int) or not isinstance(length, int):
        return None
    behind = ahead * length
    found: list[tuple[bool, int, int]] = []
    outside = 1
    for place, size in enumerate(sizes):
        if not isinstance(size, int):
            return None
        if outside < behind and outside * size > ahead and size % batch == 0:
            found.append((size != batch, place, size // batch))
        outside *= size
    return min(found)[1:] if found else None


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
