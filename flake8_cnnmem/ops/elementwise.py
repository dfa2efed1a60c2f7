"""Ops on each value: activations, dropout, mathematics with one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from flake8_cnnmem.dims import Shape, Size, product
from flake8_cnnmem.graph import Mismatch, Operand, Problem, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import NARROW, Plain, Weightless, axis_of, channels_problem, extent, quotient
from flake8_cnnmem.ops.strides import Strides
from flake8_cnnmem.unknown import Unknown

ALIASES = frozenset({"identity", "detach", "alias", "conj", "scaled_into"})
"""Kinds whose output is the input's own storage."""

ASKED: Mapping[str, Literal["contiguous", "channels last"]] = MappingProxyType(
    {"contiguous": "contiguous", "channels_last": "channels last"}
)
"""Kinds by the order of axes that they ask for."""

DRAWING = frozenset({"gaussian_noise", "augment", "lambda"})
"""Kinds that draw random numbers, or may."""


AS_WIDE = frozenset(
    {
        "scale", "shift", "add_number", "neg", "div", "rdiv", "view", "copy", "contiguous", "detach", "identity",
        "alias", "bernoulli", "poisson", "abs", "sign", "sqrt", "sin", "cos", "relu", "sigmoid", "tanh", "clamp",
        "clamp_one", "floor", "ceil", "round", "trunc", "frac", "pad", "mask",
    }
)  # fmt: skip
"""Kinds whose result is as wide as what they are given."""


@dataclass(frozen=True, slots=True)
class Elementwise(Weightless):
    """Any op of one tensor whose output has its shape: relu, exp, softmax, a cast, a sum with a number."""

    kind: str
    in_place: bool = False

    like_input = True

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """A running sum of "narrow" whole numbers is one of wider ones."""
        return ("narrow",) if operands and operands[0].dtype in NARROW else ()

    @property
    def view(self) -> bool:
        """Whether the result is the input's storage (detach, identity)."""
        return self.kind in ALIASES

    @property
    def hands_on(self) -> bool:
        """Of an identity: a result of `detach` or `alias` is a tensor of its own."""
        return self.kind == "identity"

    @property
    def random(self) -> bool:
        """Whether it draws random numbers."""
        return self.kind in DRAWING

    @property
    def casts(self) -> bool:
        """Of a cast."""
        return self.kind == "cast"

    @property
    def keeps_dtype(self) -> bool:
        """Of most of arithmetic with one tensor."""
        return self.kind in AS_WIDE

    @property
    def layout_asked(self) -> Literal["", "contiguous", "channels last"]:
        """The order that `contiguous` asks for, which has a word for each."""
        return ASKED.get(self.kind, "")

    @property
    def cuts_gradient(self) -> bool:
        """Of a detach."""
        return self.kind == "detach"

    @property
    def writes_part(self) -> bool:
        """Of a slice that is set."""
        return self.kind == "set_slice"

    view_gradient = "permute"

    def view_strides(self, sizes: tuple[int, ...], strides: tuple[int, ...], result: tuple[int, ...]) -> Strides:
        """The input's strides."""
        return strides

    def view_gradient_strides(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Strides:
        """The gradient's strides as they are."""
        return strides

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: each value is computed by itself."""
        return True

    @property
    def keeps_axes(self) -> bool:
        """Not behind a view whose shape is lost."""
        return self.kind != "view"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        return (inputs[0],)


class ScaledGradient(Elementwise):
    """A tensor as it is, whose gradient is multiplied by a number: what a kernel reads times that number."""

    __slots__ = ()
    view_gradient = "scaled"  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class OneHot(Weightless):
    """A row of `depth` values for each class number, along `axis` of the result."""

    depth: Size
    axis: Size = -1

    kind = "one_hot"

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """(...) to (..., depth), the new axis where it is asked for."""
        shape = inputs[0]
        at = axis_of(self.axis, len(shape) + 1)
        if isinstance(at, Unknown):
            return (at,)
        return ((*shape[:at], extent(self.depth), *shape[at:]),)


@dataclass(frozen=True, slots=True)
class Dropout(Weightless):
    """Kinds "dropout", "feature_dropout" (whole channels), "alpha_dropout", "feature_alpha_dropout".

    `noise` is Keras' `noise_shape`: along an axis of 1 all values are dropped together; None keeps the input's size.
    """

    p: float | Unknown = 0.5
    kind: str = "dropout"
    in_place: bool = False
    training: bool = True
    noise: tuple[int | None, ...] | None = None

    random = True
    like_input = True

    @property
    def idle(self) -> bool:
        """Whether nothing is dropped: in evaluation, or with p = 0."""
        return self.training is False or (isinstance(self.p, (int, float)) and self.p == 0)

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """With p = 1, where every value is dropped, it is "all"."""
        return ("all",) if isinstance(self.p, (int, float)) and self.p == 1 else ()

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`mask`: the values that are drawn; `zero`: the one number that all values are multiplied by with p = 1."""
        shape = inputs[0]
        if name == "zero":
            return 1
        if name != "mask" or not isinstance(self.noise, tuple) or len(self.noise) != len(shape):
            return Weightless.quantity(self, name, *inputs)
        drawn = zip(self.noise, shape, strict=True)
        return product(size if noise is None else extent(noise) for noise, size in drawn)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: each value is dropped by itself."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class PRelu(Plain):
    """A learned slope: one, one for each channel (axis 1), or with `parameters` None one for each value of a
    sample, shared along `shared_axes` (Keras, axes counted with the batch)."""

    parameters: Size | None = 1
    shared_axes: tuple[int, ...] | None = None

    kind = "prelu"

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: each value is computed by itself."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch where several slopes are not as many as the channels."""
        shape = inputs[0]
        if type(self.parameters) is int and self.parameters != 1 and len(shape) > 1:
            problem = channels_problem(shape, 1, self.parameters)
            if problem:
                raise Mismatch(problem, (shape,))
        return (shape,)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight": (parameters,), or in Keras the input's shape without the batch, 1 along shared axes."""
        if self.parameters is not None:
            return {"weight": WeightSpec((extent(self.parameters),))}
        if not inputs:
            return {"weight": WeightSpec((Unknown("the layer's input is not known before its first call"),))}
        shared = {axis if axis >= 0 else axis + len(inputs[0]) for axis in self.shared_axes or ()}
        sizes = (1 if at in shared else extent(size) for at, size in enumerate(inputs[0]) if at)
        return {"weight": WeightSpec(tuple(sizes))}


@dataclass(frozen=True, slots=True)
class GLU(Weightless):
    """One half gates the other: the axis is halved."""

    axis: Size = -1

    kind = "glu"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., 2 C, ...) to (..., C, ...): half as many along its axis. Mismatch for an odd size."""
        shape = inputs[0]
        at = axis_of(self.axis, len(shape))
        if isinstance(at, Unknown):
            return ((at,) * len(shape),)
        size = shape[at]
        output = (*shape[:at], quotient(size, 2), *shape[at + 1 :])
        if type(size) is int and size % 2:
            raise Mismatch(Problem("CNM201", f"halves axis {at}, which has {size} values", "", size), (output,))
        return (output,)
