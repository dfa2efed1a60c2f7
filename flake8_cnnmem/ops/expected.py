"""What an op says of the shape of its input: from it the input of a model is solved that the code does not state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flake8_cnnmem.dims import BATCH, Shape, Size
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown

UNSTATED = Unknown("the size of the input is not stated")


@dataclass(frozen=True, slots=True)
class Expected:
    """What the first layer behind an input takes. `spatial` are the axes whose size it leaves open."""

    shape: Shape
    spatial: tuple[int, ...]
    dtype: str = "float"
    leading: bool = False
    """Whether any axes may stand before the last one: a Linear that reads the input itself."""
    flat: bool = False
    """Whether it is the values of a sample in one row, whatever its axes are."""
    parts: bool = False
    """Whether the rows may be parts of samples: those of its last axes that make up a row (`x.view(-1, 8)`)."""
    others: tuple[Shape, ...] = ()
    """Shapes that the layer takes as well, the most usual first."""

    def at(self, size: Size) -> Shape:
        """The shape with every open axis of this size."""
        return tuple(size if axis in self.spatial else known for axis, known in enumerate(self.shape))

    def alternatives(self) -> tuple[Expected, ...]:
        """All that the layer takes, the most usual first."""
        return (self, *(replace(self, shape=shape, spatial=(), others=()) for shape in self.others))


def map_of(channels: Size | None, rank: int, channels_last: bool = False) -> Expected:
    """Maps with `rank` open sides and these channels."""
    sizes: tuple[Size, ...] = (UNSTATED,) * rank
    # A lazy layer counts 0 channels until its first call.
    known = UNSTATED if channels is None or channels == 0 else channels
    if channels_last:
        return Expected((BATCH, *sizes, known), tuple(range(1, rank + 1)))
    return Expected((BATCH, known, *sizes), tuple(range(2, rank + 2)))


def open_axes(*counts: int) -> Iterator[tuple[Size, ...]]:
    """So many axes of an open size, for each count."""
    for count in counts:
        yield (UNSTATED,) * count


def open_alike(shapes: Sequence[Shape]) -> bool:
    """Whether every axis is open in all of some shapes, in none, or of size 1 where it is not."""
    rank = max(map(len, shapes))
    for axis in range(1, rank + 1):
        sizes = [shape[-axis] for shape in shapes if len(shape) >= axis]
        if any(isinstance(size, Unknown) for size in sizes):
            if not all(isinstance(size, Unknown) or size == 1 for size in sizes):
                return False
    return True
