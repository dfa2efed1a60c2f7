"""Blocks of memory with the number of their holders, and the values that lie in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.memory import layout
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.unknown import Unknown


@dataclass(slots=True, eq=False)
class Storage:
    """One allocation. It is gone when nobody holds it."""

    line: Line
    use: str
    holds: int = 1
    kept: int = 0
    """How many of the holders wait for the backward pass."""


@dataclass(slots=True, eq=False)
class Value:
    """A tensor as it lies in memory: shape, numbers at the probe batch size, strides, dtype.

    `sizes` and `strides` are None where an axis is not known; such a tensor counts as contiguous.
    """

    storage: Storage
    shape: Shape | Unknown
    sizes: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    dtype: str
    grad: bool = False
    """Whether a gradient flows into it."""
    weight: Weight | None = None
    viewed: bool = False
    """Whether it is a view of another tensor to autograd, which makes writing into it dear."""

    @property
    def values(self) -> Size:
        return self.shape if isinstance(self.shape, Unknown) else dims.product(self.shape)


@dataclass(slots=True)
class Memory:
    """The allocator of a replay. What has no known size takes no room and is remembered in `left_out`."""

    timeline: Timeline
    probe: int
    """The batch size at which layouts are worked out."""
    left_out: dict[Unknown, None] = field(default_factory=dict)

    def line(self, values: Size, each: int) -> Line:
        """The bytes of so many values."""
        if isinstance(values, Unknown):
            self.left_out.setdefault(values)
            return Line()
        if isinstance(values, dims.Batch):
            return Line(0, max(0, values.multiple) * each)
        return Line(max(0, values) * each)

    def allocate(self, line: Line, use: str = "temporaries") -> Storage:
        self.timeline.change(line, 1, use)
        return Storage(line, use)

    def keep_new(self, line: Line) -> Storage:
        """A block that the backward pass alone will read."""
        self.timeline.change(line, 1, "kept")
        return Storage(line, "kept", kept=1)

    def keep(self, storage: Storage) -> Storage:
        """Hold a block for the backward pass."""
        storage.holds += 1
        storage.kept += 1
        if storage.use == "temporaries":
            self._becomes(storage, "kept")
        return storage

    def let_go(self, storage: Storage) -> None:
        """The backward pass has read it."""
        storage.kept -= 1
        if not storage.kept and storage.use == "kept" and storage.holds > 1:
            self._becomes(storage, "temporaries")
        self.release(storage)

    def _becomes(self, storage: Storage, use: str) -> None:
        self.timeline.change(storage.line, -1, storage.use)
        self.timeline.change(storage.line, 1, use)
        storage.use = use

    def hold(self, storage: Storage) -> Storage:
        storage.holds += 1
        return storage

    def release(self, storage: Storage) -> None:
        storage.holds -= 1
        if storage.holds == 0:
            self.timeline.change(storage.line, -1, storage.use)

    def sizes(self, shape: Shape | Unknown) -> tuple[int, ...] | None:
        """The shape in numbers, at the probe batch size."""
        if isinstance(shape, Unknown):
            return None
        found: list[int] = []
        for size in shape:
            if isinstance(size, Unknown):
                return None
            found.append(size if isinstance(size, int) else size.multiple * self.probe)
        return tuple(found)

    def new(
        self, shape: Shape | Unknown, dtype: str, strides: tuple[int, ...] | None = None, use: str = "temporaries"
    ) -> Value:
        """A tensor of its own; contiguous without `strides`."""
        sizes = self.sizes(shape)
        values: Size = shape if isinstance(shape, Unknown) else dims.product(shape)
        storage = self.allocate(self.line(values, size_of(dtype)), use)
        if sizes is None:
            strides = None
        elif strides is None:
            strides = layout.contiguous(sizes)
        return Value(storage, shape, sizes, strides, dtype)

    def alias(self, value: Value, shape: Shape | Unknown, strides: tuple[int, ...] | None) -> Value:
        """Another view of the same memory."""
        sizes = self.sizes(shape)
        self.hold(value.storage)
        if sizes is not None and strides is None:
            strides = layout.contiguous(sizes)
        return Value(value.storage, shape, sizes, strides if sizes is not None else None, value.dtype)
