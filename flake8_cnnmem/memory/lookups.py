"""What the way back of a lookup in a table takes beside the table's gradient on an NVIDIA GPU.

The gradients of many rows are sorted by their places in the table and summed in segments, each segment by parts that
lie in memory. After embedding_dense_backward_cuda of aten/src/ATen/native/cuda/Embedding.cu and
EmbeddingBackwardKernel.cu; the scratch of the sort itself, which comes before, is smaller.
"""

from __future__ import annotations

import math

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.unknown import Unknown

FEW = 3072
"""So many lookups are added up as they come."""
PART = 10
"""Rows that one part sums."""
PLACE = 8
PARTIAL = 4
"""Bytes of a place, and of a value while it is summed."""


@dataclass(frozen=True, slots=True)
class Segments(Line):
    """The bytes of the places and of the parts: no affine function of the batch size, so that `fixed` and `each` are
    0."""

    lookups: tuple[Size, ...] = ()
    rows: int = 0
    width: int = 0

    def at(self, batch: int) -> int:
        sizes = [dims.at_batch(size, batch) for size in self.lookups]
        lookups = math.prod(size for size in sizes if isinstance(size, int))
        if lookups <= FEW:
            return 0
        segments = min(lookups, self.rows)
        parts = lookups // PART + segments
        places = 3 * lookups + 2 * segments + parts + 2
        return places * PLACE + parts * self.width * PARTIAL


def segments_of(gradient: Shape | Unknown, table: Shape | Unknown) -> Line:
    """What a gradient of looked up rows takes on its way into that of the table; none where a size is not known."""
    if isinstance(gradient, Unknown) or isinstance(table, Unknown) or len(table) != 2:
        return Line()
    rows, width = table
    if not isinstance(rows, int) or not isinstance(width, int) or any(isinstance(size, Unknown) for size in gradient):
        return Line()
    return Segments(0, 0, tuple(gradient[:-1]), rows, width)
