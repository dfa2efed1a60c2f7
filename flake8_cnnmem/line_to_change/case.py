"""A size that cannot be right, and what the graph and the text say of where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evidence.written import SyntaxIndex, indices_of
from flake8_cnnmem.graph import Call, Site, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.models import Built, Root
from flake8_cnnmem.ops import (
    GLU,
    Chunk,
    Convolution,
    DepthwiseConvolution,
    Embedding,
    Linear,
    Recurrent,
    RecurrentCell,
    Split,
)
from flake8_cnnmem.results import LayerProblem
from flake8_cnnmem.values import Instance


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line that is known by its number alone."""

    path: str
    line: int
    column: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """A size that cannot be right, in the model and the program that it was met in."""

    problem: LayerProblem
    call: Call
    built: Built
    root: Root

    @property
    def path(self) -> str:
        return self.problem.site.path

    def here(self, site: Site | None) -> Site | None:
        """The place, if it is in the file that the finding is in."""
        return site if site is not None and site.path == self.path else None

    def layer_of(self, call: Call | None) -> Site | None:
        """Where the framework's layer is made that a call belongs to."""
        layer = call.within.layer if call is not None and call.within is not None else None
        return self.here(layer.site) if isinstance(layer, Instance) and layer.cls.site is None else None

    def line_of(self, call: Call | None) -> Site | None:
        """Where the framework's layer is made that a call belongs to; of a function the nearest call in this file."""
        return self.layer_of(call) or self.called_at(call)

    def called_at(self, call: Call | None) -> Site | None:
        """The nearest call in this file that an op runs in."""
        sites = () if call is None else (call.site, *(each.site for each in call.ancestry()))
        return next((site for site in sites if self.here(site) is not None), None)

    def made_at(self, tensor: Tensor) -> Site | None:
        """Where the code makes the leaf, of sizes that it writes, that a tensor is in other values."""
        leaf = unchanged_from(tensor)
        return self.here(leaf.site) if leaf.call is None and not leaf.symbolic else None

    @property
    def channels_last(self) -> bool:
        """Whether the framework has an image's channels last, and takes every size from the first input that it is
        given."""
        return frameworks.named(self.built.model.framework).channels_last

    def index(self) -> SyntaxIndex | None:
        return indices_of(self.root.run).get(self.path)


def maker_of(tensor: Tensor) -> Call | None:
    """The last op before a tensor that gave it its shape: not what works value by value."""
    return unchanged_from(tensor).call


def unchanged_from(tensor: Tensor) -> Tensor:
    """The first tensor of the same shape that another one is computed from, value by value: the result of an op rather
    than a leaf beside it (noise of its shape)."""
    while tensor.call is not None:
        alike = [each for each in tensor.call.inputs if each.shape == tensor.shape]
        if not alike:
            break
        tensor = next((each for each in alike if each.call is not None), alike[0])
    return tensor


def unviewed(tensor: Tensor) -> Tensor:
    """The tensor that another one shows in part, or with its axes in another order."""
    while tensor.call is not None and len(tensor.call.inputs) == 1 and tensor.call.op.view:
        tensor = tensor.call.inputs[0]
    return tensor


def sizes_of(tensor: Tensor) -> tuple[object, ...]:
    return tensor.shape if isinstance(tensor.shape, tuple) else ()


WIDTHS = (Linear, Convolution, DepthwiseConvolution, Embedding, Recurrent, RecurrentCell)
"""The layers that are built with the number of features or channels that they give."""

PARTS = (Chunk, Split, GLU)
"""What takes a tensor apart along an axis."""


def decider(tensor: Tensor, axis: int) -> Call | None:
    """The last op that gave an axis (counted from the last) the size that it has, also where what follows has brought
    that size to another place: a flatten, a pool; of parts of a layer's features that layer. None where a leaf has
    it."""
    call, shape = tensor.call, sizes_of(tensor)
    while call is not None and call.inputs and len(shape) >= -axis:
        size = shape[axis]
        if gives_width(call, shape, axis):
            return call
        alike = [each for each in call.inputs if has(each, axis, size)]
        moved = [each for each in call.inputs if sizes_of(each).count(size) == 1] if not alike else []
        if not alike and not moved:
            return before_parts(call, axis)
        source = next((each for each in (*alike, *moved) if each.call is not None), (*alike, *moved)[0])
        axis = axis if alike else sizes_of(source).index(size) - len(sizes_of(source))
        call, shape = source.call, sizes_of(source)
    return call


def has(tensor: Tensor, axis: int, size: object) -> bool:
    """Whether a tensor has a size along an axis that is counted from the last."""
    shape = sizes_of(tensor)
    return len(shape) >= -axis and shape[axis] == size


def gives_width(call: Call, shape: tuple[object, ...], axis: int) -> bool:
    """Whether an axis is that of the features or channels that a layer is built with."""
    if not isinstance(call.op, WIDTHS) or not declares(call, shape[axis]):
        return False
    by_channels = isinstance(call.op, (Convolution, DepthwiseConvolution)) and not getattr(
        call.op, "channels_last", False
    )
    return axis + len(shape) == 1 if by_channels else axis == -1


def before_parts(call: Call, axis: int) -> Call:
    """The layer whose features a call takes apart right behind it; the call itself where it takes nothing apart."""
    if not isinstance(call.op, PARTS) or len(sizes_of(call.inputs[0])) < -axis:
        return call
    layer = decider(call.inputs[0], axis)
    return layer if layer is not None and isinstance(layer.op, WIDTHS) else call


def differing(left: Tensor, right: Tensor) -> list[int]:
    """The axes, counted from the last (-1), in which two tensors have other sizes, neither of them 1."""
    pairs = zip(reversed(sizes_of(left)), reversed(sizes_of(right)), strict=False)
    return [-at for at, (a, b) in enumerate(pairs, 1) if a != b and 1 not in (a, b)]


def declares(call: Call | None, size: object) -> bool:
    """Whether a layer is built with a size that its result has: it stands in the shape of a weight."""
    return call is not None and any(size in sizes_of(weight) for weight in call.weights)


def changes(maker: Call | None, axis: int) -> bool:
    """Whether an op gives another size along an axis (counted from the last) than it is given."""
    before = sizes_of(maker.inputs[0]) if maker is not None and maker.inputs else ()
    after = sizes_of(maker.outputs[0]) if maker is not None and maker.outputs else ()
    return len(before) == len(after) and bool(before) and before[axis] != after[axis]


def halved(left: object, right: object) -> bool:
    """Whether one side is about half of the other: a stride that a way around lacks, which is the call's to tell."""
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    return min(left, right) * 2 in (max(left, right), max(left, right) + 1)


def later(left: Site | None, right: Site | None) -> Site | None:
    """The later one of two lines; None where one is not known."""
    if left is None or right is None:
        return None
    return max(left, right, key=lambda site: site.line)


def larger(table: Tensor, others: Sequence[Tensor]) -> bool:
    """Whether a table has more along an axis than what it meets has there, and less along none."""
    sizes = [
        each.shape for each in others if unviewed(unchanged_from(each)) is not table and isinstance(each.shape, tuple)
    ]
    own = table.shape
    if not isinstance(own, tuple) or not sizes:
        return False
    pairs = [(a, b) for a, b in zip(reversed(own), reversed(sizes[0]), strict=False) if type(a) is type(b) is int]
    return any(a > b > 1 for a, b in pairs) and all(a >= b or a == 1 for a, b in pairs)
