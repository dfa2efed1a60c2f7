"""Normalisation. The outputs have their input's shape; what differs is the weights and what is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flake8_cnnmem.dims import Shape, Size, add, differ, multiply, product, show, subtract
from flake8_cnnmem.graph import Mismatch, Operand, Problem, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    Flag,
    Plain,
    Weightless,
    add_if,
    axes_of,
    axis_of,
    by,
    channels_problem,
    divides_problem,
    extent,
    rank_problem,
    whole_problem,
)
from flake8_cnnmem.ops.expected import Expected, map_of
from flake8_cnnmem.ops.quantities import instances, rows
from flake8_cnnmem.unknown import Unknown

NOT_CALLED = Unknown("the layer's input features are not known before its first call")


def affine(shape: Shape, scale: Flag, center: Flag) -> dict[str, WeightSpec]:
    """The learned scale and shift."""
    specs: dict[str, WeightSpec] = {}
    add_if(specs, scale, "weight", shape)
    add_if(specs, center, "bias", shape)
    return specs


def held(*flags: object) -> bool:
    """Whether a layer surely has weights or statistics, so that it takes no other width than theirs."""
    return any(not isinstance(flag, Unknown) and bool(flag) for flag in flags)


def running(features: Size, counted: Flag) -> dict[str, WeightSpec]:
    """The running statistics, which no gradient reaches."""
    specs = {
        "running_mean": WeightSpec((features,), trainable=False, buffer=True),
        "running_var": WeightSpec((features,), trainable=False, buffer=True),
    }
    if counted is True:
        specs["num_batches_tracked"] = WeightSpec((), trainable=False, buffer=True, dtype="int64")
    return specs


def width_of(features: Size | None, axis: Size, inputs: tuple[Shape, ...]) -> Size:
    """The declared width, else the input's along the axis, else Unknown."""
    if features is not None:
        return extent(features)
    if not inputs:
        return NOT_CALLED
    if isinstance(axis, int) and -len(inputs[0]) <= axis < len(inputs[0]):
        return extent(inputs[0][axis])
    return axis if isinstance(axis, Unknown) else NOT_CALLED


def checked(shape: Shape, features: Size | None, axis: Size, ranks: tuple[int, ...], strict: bool) -> tuple[Shape]:
    """The input's shape, when its rank and its width along the axis are as declared.

    A layer without weights or statistics of that width (not `strict`) takes any.
    """
    if ranks and len(shape) not in ranks:
        raise Mismatch(rank_problem(shape, f"{' or '.join(str(rank) for rank in ranks)} axes", "ValueError"), (shape,))
    at = axis_of(axis, len(shape))
    problem = whole_problem("number of features", (features,))
    if strict and not problem and not isinstance(at, Unknown):
        problem = channels_problem(shape, at, features)
    if problem:
        raise Mismatch(problem, (shape,))
    return (shape,)


@dataclass(frozen=True, slots=True)
class BatchNorm(Plain):
    """Statistics over all axes but one. `features` None takes the input's.

    `training` False uses the running statistics. `counted` is torch's `num_batches_tracked`; `ranks`
    are the numbers of axes that the layer accepts, any when empty.
    """

    features: Size | None = None
    axis: Size = 1
    scale: Flag = True
    center: Flag = True
    track: Flag = True
    training: bool = True
    counted: Flag = True
    ranks: tuple[int, ...] = ()

    kind = "batch_norm"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "eval" for one that uses its running statistics."""
        return ("eval",) if self.training is False else ()

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: statistics are of any number of places."""
        return True

    @property
    def expected_input(self) -> Expected | None:
        """A map (batch, features, sides) of as many axes as it takes; None without declared features."""
        if self.features is None:
            return None
        least, *more = sorted(self.ranks) if self.ranks else (4,)
        others = tuple(map_of(self.features, rank - 2).shape for rank in more)
        return replace(map_of(self.features, least - 2), others=others)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch for other features or another number of axes."""
        return checked(inputs[0], self.features, self.axis, self.ranks, held(self.scale, self.center, self.track))

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" and "bias" (features,), and buffers: "running_mean", "running_var" (features,),
        "num_batches_tracked" ()."""
        return weights_by_channel(self, inputs)


@dataclass(frozen=True, slots=True)
class InstanceNorm(Plain):
    """Statistics for each sample and channel."""

    features: Size | None = None
    axis: Size = 1
    scale: Flag = False
    center: Flag = False
    track: Flag = False
    counted: Flag = True
    ranks: tuple[int, ...] = ()

    kind = "instance_norm"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "scaled", "tracked", or both in one: kernels differ by them."""
        if self.track is True:
            return ("scaled, tracked",) if self.scale is True else ("tracked",)
        return ("scaled",) if self.scale is True else ()

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: statistics are of any number of places."""
        return True

    keeps_axes = True

    @property
    def expected_input(self) -> Expected | None:
        """The smaller rank is that of a sample without a batch."""
        return None if self.features is None else map_of(self.features, (max(self.ranks) if self.ranks else 4) - 2)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """PyTorch refuses maps of one value (`_verify_spatial_size`) unless it has running statistics to go by."""
        result = checked(inputs[0], self.features, self.axis, self.ranks, held(self.scale, self.center, self.track))
        sides = inputs[0][-(max(self.ranks) - 2) :] if self.ranks else inputs[0][2:]
        if self.track is False and sides and all(type(side) is int and side == 1 for side in sides):
            what = f"normalises each map by itself, but its {by(sides)} maps hold one value"
            raise Mismatch(Problem("CNM202", what, error="ValueError"), inputs[:1])
        return result

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" and "bias" (features,), and running statistics (features,) where it tracks them."""
        return weights_by_channel(self, inputs)


def weights_by_channel(op: BatchNorm | InstanceNorm, inputs: tuple[Shape, ...]) -> Mapping[str, WeightSpec]:
    """A scale and an offset for each channel, and running statistics where they are tracked, or may be."""
    features = width_of(op.features, op.axis, inputs)
    specs = affine((features,), op.scale, op.center)
    if isinstance(op.track, Unknown):
        features = op.track
    return {**specs, **running(features, op.counted)} if op.track is not False else specs


def trailing(shape: Shape, declared: tuple[Size, ...] | None) -> tuple[Shape]:
    """The input's shape, when it ends with the declared one."""
    if declared is None:
        return (shape,)
    problem = whole_problem("normalized shape", declared)
    if declared == ():
        problem = Problem("CNM201", "takes a normalized shape of at least one axis, but is given ()")
    if not problem:
        end = shape[len(shape) - len(declared) :] if len(declared) <= len(shape) else shape
        wrong = len(end) != len(declared) or any(
            type(given) is int and type(size) is int and given != size
            for given, size in zip(end, declared, strict=True)
        )
        if wrong and len(declared) == 1 and shape:
            problem = channels_problem(shape, len(shape) - 1, declared[0], "features")
        elif wrong:
            what = f"takes an input that ends with {show(declared)}, but is given {show(shape)}"
            problem = Problem("CNM201", what, f"{show(end)} would fit" if len(end) == len(declared) else "")
    if problem:
        raise Mismatch(problem, (shape,))
    return (shape,)


def trailing_shape(shape: tuple[Size, ...] | None, axes: object, inputs: tuple[Shape, ...]) -> Shape:
    """The shape of a scale over the declared shape, or over the axes of the input."""
    if shape is not None:
        return tuple(extent(size) for size in shape)
    if not inputs:
        return (NOT_CALLED,)
    try:
        at = axes_of(-1 if axes is None else axes, len(inputs[0]))
    except Mismatch:
        return (NOT_CALLED,)
    return (at,) if isinstance(at, Unknown) else tuple(extent(inputs[0][axis]) for axis in at)


def normalised_axes(shape: tuple[Size, ...] | None, axes: tuple[int, ...] | int | None) -> tuple[int, ...] | int:
    """The axes that statistics are taken over: as many as the declared shape has, at the end."""
    if shape is not None:
        return tuple(range(-len(shape), 0))
    return -1 if axes is None else axes


@dataclass(frozen=True, slots=True)
class LayerNorm(Plain):
    """Statistics for each sample, over the last axes of the declared `shape` or over `axes` of the input."""

    shape: tuple[Size, ...] | None = None
    axes: tuple[int, ...] | int | None = None
    scale: Flag = True
    center: Flag = True
    given: tuple[Shape, ...] | Unknown = ()
    """The shapes of weight and bias, where a function is given them."""

    kind = "layer_norm"

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`rows`: one for each row that is normalised."""
        if name != "rows":
            return Plain.quantity(self, name, *inputs)
        return rows(inputs[0], normalised_axes(self.shape, self.axes))

    keeps_axes = True

    def leaves_open(self, *inputs: Shape) -> bool:
        """Where only the last axis is normalized and its size is known."""
        return self.shape is not None and len(self.shape) == 1 and not isinstance(inputs[0][-1], Unknown)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch where its last axes are not the normalized shape, or weights are of
        another one."""
        if self.axes is not None:
            axes_of(self.axes, len(inputs[0]))
        for given in self.given if isinstance(self.given, tuple) else ():
            if self.shape is not None and isinstance(given, tuple) and differ(given, self.shape):
                what = f"takes a weight and a bias of {show(self.shape)}, but is given {show(given)}"
                raise Mismatch(Problem("CNM201", what), inputs[:1])
        return trailing(inputs[0], self.shape)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" and "bias" of the normalized shape."""
        return affine(trailing_shape(self.shape, self.axes, inputs), self.scale, self.center)


@dataclass(frozen=True, slots=True)
class RMSNorm(Plain):
    """Layer norm without a mean and a shift."""

    shape: tuple[Size, ...] | None = None
    scale: Flag = True
    axes: tuple[int, ...] | int | None = None

    kind = "rms_norm"

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`rows`: one for each row that is normalised."""
        if name != "rows":
            return Plain.quantity(self, name, *inputs)
        return rows(inputs[0], normalised_axes(self.shape, self.axes))

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch where its last axes are not the normalized shape."""
        if self.axes is not None:
            axes_of(self.axes, len(inputs[0]))
        return trailing(inputs[0], self.shape)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" of the normalized shape."""
        return affine(trailing_shape(self.shape, self.axes, inputs), self.scale, False)


@dataclass(frozen=True, slots=True)
class GroupNorm(Plain):
    """Statistics for each sample and group of channels."""

    groups: Size
    channels: Size | None = None
    axis: Size = 1
    scale: Flag = True
    center: Flag = True

    kind = "group_norm"

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`groups`: those of all samples."""
        if name != "groups":
            return Plain.quantity(self, name, *inputs)
        shape = inputs[0]
        if not shape:
            return 0
        return instances(shape, self.axis) if self.groups == -1 else multiply(shape[0], extent(self.groups))

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: statistics are of any number of places."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch for other channels, and for groups that do not divide them."""
        shape = inputs[0]
        # Without declared channels -1 is a group for each, as Keras has it.
        least = -1 if self.channels is None and self.groups != 0 else 1
        problem = whole_problem("number of groups", (self.groups,), least) or divides_problem(
            self.channels, self.groups, "channels", "groups"
        )
        if problem:
            raise Mismatch(problem, (shape,))
        checked(shape, self.channels, self.axis, (), held(self.scale, self.center))
        at = axis_of(self.axis, len(shape))
        if not isinstance(at, Unknown):
            problem = divides_problem(shape[at], self.groups, "channels", "groups")
            if problem:
                raise Mismatch(problem, (shape,))
        return (shape,)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" and "bias" (channels,)."""
        return affine((width_of(self.channels, self.axis, inputs),), self.scale, self.center)


@dataclass(frozen=True, slots=True)
class LocalResponseNorm(Weightless):
    """Across `size` neighbouring channels."""

    size: Size

    kind = "local_response_norm"

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`padded`: the input with the channels that a response across `size` of them needs beyond the ends."""
        shape = inputs[0]
        if name != "padded" or len(shape) < 2:
            return Plain.quantity(self, "mask" if name == "padded" else name, *inputs)
        return product((shape[0], add(shape[1], subtract(extent(self.size), 1)), *shape[2:]))

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: each value is divided by its neighbours in other channels."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class Normalise(Weightless):
    """Division by the norm along an axis (torch.nn.functional.normalize, keras.layers.UnitNormalization)."""

    kind: str = "normalize"
    axis: Size | tuple[Size, ...] = 1

    def leaves_open(self, *inputs: Shape) -> bool:
        """Always: each line along the axis is divided by its norm."""
        return True

    keeps_axes = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape."""
        return (inputs[0],)
