"""What the way back of a lookup takes on an NVIDIA GPU beside the gradient of what was looked up in: a table, or a
tensor that is indexed by tensors.

The gradients of many rows are sorted by their places in the table and summed in segments, each segment by parts that
lie in memory. After embedding_dense_backward_cuda of aten/src/ATen/native/cuda/Embedding.cu and
EmbeddingBackwardKernel.cu; the scratch of the sort itself, which comes before, is smaller. What was indexed is summed
without parts (index_put_with_sort_kernel of Indexing.cu): that scratch is what counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.graph import Call, Mismatch
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.ops.indexing import Index
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.unknown import Unknown

FEW = 3072
"""So many lookups are added up as they come."""
PART = 10
"""Rows that one part sums."""
PLACE = 8
PARTIAL = 4
"""Bytes of a place, and of a value while it is summed, unless it is a double."""


ONE_TILE = 2048
"""So many places a single block sorts, in its own memory."""
COUNTS = 5375
"""Bytes of the counts of a sort (cub::DeviceRadixSort of CUDA 13, as it asked for them), and 43 more for 160 places."""


@dataclass(frozen=True, slots=True)
class Places(Line):
    """The bytes of one of the blocks: of places in a row, in their order and where they were, of numbers to count by
    (four alike), and of what sorts them; as for `Segments`."""

    lookups: tuple[Size, ...] = ()
    part: int = 0

    def at(self, batch: int) -> int:
        sizes = [dims.at_batch(size, batch) for size in self.lookups]
        lookups = math.prod(size for size in sizes if isinstance(size, int))
        if self.part < ROWS:
            return PLACE * lookups
        return 2 * PLACE * lookups + 43 * lookups // 160 + COUNTS if lookups > ONE_TILE else 0


ROWS = 4
"""Rows of places beside what sorts them."""


def places_sorted(memory: Memory, call: Call, indices: Sequence[Value]) -> list[int]:
    """The lots that the gradient of what is indexed by these tensors is made with; none where a size is not known, or
    where they are added one by one (index_select)."""
    shapes = [each.shape for each in indices if not isinstance(each.shape, Unknown)]
    if (
        memory.chip is None
        or not isinstance(call.op, Index)
        or call.function == "index_select"
        or not shapes
        or len(shapes) < len(indices)
    ):
        return []
    try:
        found = broadcast(tuple(shapes), "combines")
    except Mismatch:
        return []
    known = not any(isinstance(size, Unknown) for size in found)
    parts = [Places(0, 0, tuple(found), part) for part in range(ROWS + 1)] if known else []
    return [memory.timeline.lot(part, "temporaries") for part in parts]


@dataclass(frozen=True, slots=True)
class Segments(Line):
    """The bytes of one of the blocks of places, or of the parts: no affine function of the batch size, so that `fixed`
    and `each` are 0."""

    lookups: tuple[Size, ...] = ()
    rows: int = 0
    width: int = 0
    part: int = 0
    partial: int = PARTIAL

    def at(self, batch: int) -> int:
        sizes = [dims.at_batch(size, batch) for size in self.lookups]
        lookups = math.prod(size for size in sizes if isinstance(size, int))
        if lookups <= FEW:
            return 0
        segments = min(lookups, self.rows)
        parts = lookups // PART + segments
        places = (lookups, lookups, lookups, 1, segments, segments, 1, parts)
        return places[self.part] * PLACE if self.part < len(places) else parts * self.width * self.partial


BLOCKS = 9
"""The places in their order and where they were, where each segment begins and how many there are, its parts and where
those begin, how many there are, the places of all parts, and the parts themselves."""


def segments_of(gradient: Shape | Unknown, table: Shape | Unknown, each: int) -> tuple[Line, ...]:
    """What a gradient of looked up rows, of so many bytes a value, takes on its way into that of the table; none where
    a size is not known."""
    if isinstance(gradient, Unknown) or isinstance(table, Unknown) or len(table) != 2:
        return ()
    rows, width = table
    if not isinstance(rows, int) or not isinstance(width, int) or any(isinstance(size, Unknown) for size in gradient):
        return ()
    shape, partial = tuple(gradient[:-1]), max(PARTIAL, each)
    return tuple(Segments(0, 0, shape, rows, width, part, partial) for part in range(BLOCKS))
