"""Blocks of memory with the number of their holders, and the values that lie in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.chips import Chip
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.unknown import Unknown

Strides: TypeAlias = "tuple[int, ...]"


@dataclass(slots=True, eq=False)
class Storage:
    """One allocation. It is gone when nobody holds it."""

    line: Line
    use: str
    lot: int
    """The timeline's number of the two."""
    block: int = 0
    """The timeline's number of the allocation."""
    holds: int = 1
    kept: int = 0
    """How many of the holders wait for the backward pass."""


@dataclass(slots=True, eq=False)
class Form:
    """How a tensor lies in memory: shape, numbers at the probe batch size, strides, dtype. There is one for all tensors
    of a replay that lie alike, so that whatever follows from it is worked out once.

    `sizes` and `strides` are None where an axis is not known; such a tensor counts as contiguous.
    """

    number: int
    shape: Shape | Unknown
    sizes: tuple[int, ...] | None
    strides: Strides | None
    dtype: str
    line: Line | None = None
    """What a tensor of its own takes, once there has been one."""
    lot: int = 0
    """The same among the temporaries."""

    @property
    def values(self) -> Size:
        return self.shape if isinstance(self.shape, Unknown) else dims.product(self.shape)


def is_larger(one: Form, other: Form) -> bool:
    """Whether one has more values than another, as far as both are known."""
    return one.sizes is not None and other.sizes is not None and math.prod(one.sizes) > math.prod(other.sizes)


@dataclass(slots=True, eq=False)
class Value:
    """A tensor: where it lies, and how."""

    storage: Storage
    form: Form
    grad: bool = False
    """Whether a gradient flows into it."""
    weight: Weight | None = None
    viewed: bool = False
    """Whether it is a view of another tensor to autograd, which makes writing into it dear."""

    @property
    def shape(self) -> Shape | Unknown:
        return self.form.shape

    @property
    def sizes(self) -> tuple[int, ...] | None:
        return self.form.sizes

    @property
    def strides(self) -> Strides | None:
        return self.form.strides

    @property
    def dtype(self) -> str:
        return self.form.dtype

    @property
    def values(self) -> Size:
        return self.form.values


def without_holes(value: Value) -> Strides | None:
    """The strides of a copy that keeps the order of the axes (MemoryFormat::Preserve): of what fills a block of memory
    its own."""
    if value.sizes is None or value.strides is None:
        return value.strides
    return layout.elementwise(value.sizes, [(value.sizes, value.strides)])


@dataclass(slots=True)
class Memory:
    """The allocator of a replay. What has no known size takes no room and is remembered in `left_out`."""

    timeline: Timeline
    probe: int
    """The batch size at which layouts are worked out."""
    chip: Chip | None = None
    """What runs the step, where sums are split over the whole of it."""
    left_out: dict[Unknown, None] = field(default_factory=dict)
    curved: bool = False
    """Whether something grows with a power of the batch size: its figures hold at this one alone."""
    forms: dict[tuple[Shape | Unknown, str, Strides | None], Form] = field(default_factory=dict)
    """By shape, dtype and strides; contiguous ones without strides, too."""

    # Sizes and forms.

    def line(self, values: Size, each: int) -> Line:
        """The bytes of so many values."""
        if isinstance(values, Unknown):
            if values.grows is not None:
                # A number at this batch size, and another one at every other.
                self.curved = True
                multiple, power = values.grows
                return Line(max(0, multiple) * self.probe**power * each)
            self.left_out.setdefault(values)
            return Line()
        if isinstance(values, dims.Batch):
            return Line(0, max(0, values.multiple) * each)
        return Line(max(0, values) * each)

    def lot(self, values: Size, each: int) -> int:
        """The timeline's number of so many values among the temporaries."""
        return self.timeline.lot(self.line(values, each), "temporaries")

    def bytes_of(self, lots: Sequence[int]) -> int:
        """Of several lots together, at the probe batch size."""
        return sum(self.timeline.lots[lot][0].at(self.probe) for lot in lots)

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

    def form(self, shape: Shape | Unknown, dtype: str, strides: Strides | None = None) -> Form:
        """How a tensor lies; contiguous without `strides`."""
        key = (shape, dtype, strides)
        found = self.forms.get(key)
        if found is None:
            sizes = self.sizes(shape)
            actual = None if sizes is None else layout.contiguous(sizes) if strides is None else strides
            found = self.forms.get((shape, dtype, actual))
            if found is None:
                found = self.forms[shape, dtype, actual] = Form(len(self.forms), shape, sizes, actual, dtype)
            self.forms[key] = found
        return found

    def own_line(self, form: Form) -> Line:
        """What a tensor of its own takes that lies so."""
        if form.line is None:
            form.line = self.line(form.values, size_of(form.dtype))
            form.lot = self.timeline.lot(form.line, "temporaries")
        return form.line

    def roomy(self, form: Form, like: Form) -> Form:
        """A tensor in a storage as large as another one's."""
        key = (form.shape, f"{form.dtype} of {like.number}", None)
        found = self.forms.get(key)
        if found is None:
            line = self.line(like.values, size_of(form.dtype))
            lot = self.timeline.lot(line, "temporaries")
            found = self.forms[key] = Form(
                len(self.forms), form.shape, form.sizes, form.strides, form.dtype, line, lot
            )  # fmt: skip
        return found

    # Coming and going.

    def allocate(self, line: Line, use: str = "temporaries") -> Storage:
        lot = self.timeline.lot(line, use)
        return Storage(line, use, lot, self.timeline.come(lot))

    def room(self, lot: int) -> Storage:
        """A block of a size and for a use that the timeline has a number for."""
        return Storage(*self.timeline.lots[lot], lot, self.timeline.come(lot))

    def place(self, form: Form, use: str = "temporaries") -> Storage:
        """A block for a tensor that lies so."""
        line = form.line or self.own_line(form)
        lot = form.lot if use == "temporaries" else self.timeline.lot(line, use)
        return Storage(line, use, lot, self.timeline.come(lot))

    def new(
        self, shape: Shape | Unknown, dtype: str, strides: Strides | None = None, use: str = "temporaries"
    ) -> Value:
        """A tensor of its own; contiguous without `strides`."""
        form = self.form(shape, dtype, strides)
        return Value(self.place(form, use), form)

    def alias(self, value: Value, shape: Shape | Unknown, strides: Strides | None) -> Value:
        """Another view of the same memory."""
        return Value(self.hold(value.storage), self.form(shape, value.form.dtype, strides))

    def hold(self, storage: Storage) -> Storage:
        storage.holds += 1
        return storage

    def release(self, storage: Storage) -> None:
        storage.holds -= 1
        if not storage.holds:
            self.timeline.go(storage.lot, storage.block)

    # What waits for the backward pass.

    def keep_new(self, line: Line) -> Storage:
        """A block that the backward pass alone will read."""
        storage = self.allocate(line, "kept")
        storage.kept = 1
        return storage

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
        storage.use = use
        if storage.lot:
            lot = self.timeline.lot(storage.line, use)
            self.timeline.go(storage.lot, storage.block)
            self.timeline.come(lot, storage.block)
            storage.lot = lot
