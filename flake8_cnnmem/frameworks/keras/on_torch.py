"""What Keras' layers run on PyTorch: the calls that keras/src/backend/torch makes of each of Keras' own.

Convolutions and pools get a contiguous copy of their input with the channels first, convolutions another one with
the channels last, and a copy of their kernel (backend/torch/nn.py); a bias is added by a step of its own; a batch norm
is computed by hand. A functional model holds what every layer gives until the forward pass is over (`tensor_dict` of
keras/src/ops/function.py). What is not rewritten here runs as PyTorch's op of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.keras.optimizer_states import ON_TORCH
from flake8_cnnmem.frameworks.rules import New, OpRule, Rules, Saved
from flake8_cnnmem.frameworks.torch import reference, saved_tensors
from flake8_cnnmem.graph import Call, Model, Op, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import BatchNorm, Convolution, DepthwiseConvolution, Dropout, Permute, Pool
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown

X, OWN, MASK = Saved("x"), Saved(New("x")), Saved(New("x", 1))
WRITTEN_OUT = {
    "mish": OpRule((X, OWN), backward=(New("x"),)),
    "squareplus": OpRule((X, OWN), forward=(New("x"),), backward=(New("x"),)),
    "tanhshrink": OpRule((OWN,)),
    "sparse_plus": OpRule((X, MASK, MASK), forward=(New("x"),), backward=(New("x"),)),
    "sparse_sigmoid": OpRule((MASK, MASK), forward=(New("x"),)),
    # Its negated slopes, too, and a norm keeps sums of squares more than once: how much of either is not known.
    "prelu": OpRule((X, OWN), forward=(New("x"),), backward=(New("x"),), weights="first", known=False),
    "normalize": replace(saved_tensors.TABLE["normalize"], known=False),
    "gaussian_noise": OpRule(forward=(New("x"),), gradient="same"),
    # A multiplication by noise that is drawn around 1.
    "gaussian_dropout": OpRule((OWN,), mask_first=True),
    "square": saved_tensors.TABLE["pow"],
    "imag": saved_tensors.TABLE["real"],
}
"""Activations that Keras computes by formula (keras/src/activations/activations.py), not by PyTorch's own function."""


def trained_by_keras(rules: Rules) -> Rules:
    """The rules of torch for a step that Keras' trainer runs."""
    return replace(
        rules,
        framework="keras-torch",
        optimizers=ON_TORCH,
        rows=MappingProxyType({**rules.rows, **WRITTEN_OUT}),
        rewrites={**rules.rewrites, "log_sigmoid": "logsigmoid"},
        trainer=True,
    )


RULES = trained_by_keras(saved_tensors.RULES)
"""PyTorch's rules, in the hands of Keras' trainer."""
REFERENCE = trained_by_keras(reference.REFERENCE)
"""The same on the CPU build, for comparison with measured truth."""


@dataclass(frozen=True, slots=True)
class Step(Weightless):
    """One PyTorch op of a kind, whose result's shape is given with it."""

    kind: str
    in_place: bool = False

    @property
    def hands_on(self) -> bool:
        """Of a bias that is not there."""
        return self.kind == "identity"

    @property
    def layout_asked(self) -> Literal["", "contiguous"]:
        """The order in which a kernel wants its operand."""
        return "contiguous" if self.kind == "contiguous" else ""

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown, ...]:
        """The shape of its first input."""
        return inputs[:1]


class Lowering:
    """A model's calls as they are rewritten, in order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.source: Call | None = None

    def make(self, op: Op, inputs: Sequence[Tensor], shape: Shape | Unknown, weights: Sequence[Tensor] = ()) -> Tensor:
        """A step that gives a tensor of this shape."""
        assert self.source is not None
        result = Tensor(shape, inputs[0].dtype, framework="keras")
        self.put(op, inputs, (result,), weights)
        return result

    def put(
        self, op: Op, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...], weights: Sequence[Tensor] = ()
    ) -> None:
        """Add a call of torch's op in the place of the call that is being rewritten."""
        assert self.source is not None
        number = len(self.calls) + 1
        self.calls.append(
            replace(self.source, op=op, inputs=tuple(inputs), weights=tuple(weights), outputs=outputs, number=number)
        )

    def rewrite(self, call: Call) -> None:
        """Put the calls that torch's backend makes in the place of one of Keras."""
        self.source = call
        how = next((how for kind, how in REWRITES if isinstance(call.op, kind)), None)
        shapes = [tensor.shape for tensor in (*call.inputs[:1], *call.outputs[:1])]
        if how is None or len(shapes) < 2 or any(isinstance(shape, Unknown) for shape in shapes):
            self.put(call.op, call.inputs, call.outputs, call.weights)
            return
        how(self, call)

    # Layouts.

    def first(self, x: Tensor) -> Tensor:
        """Channels first, contiguous."""
        assert not isinstance(x.shape, Unknown)
        moved = self.make(Permute(to_first(len(x.shape))), [x], reordered(x.shape, to_first(len(x.shape))))
        return self.make(Step("contiguous"), [moved], moved.shape)

    def last_in_memory(self, x: Tensor) -> Tensor:
        """Channels first by name, last in memory."""
        assert not isinstance(x.shape, Unknown)
        back, forth = to_last(len(x.shape)), to_first(len(x.shape))
        moved = self.make(Permute(back), [x], reordered(x.shape, back))
        copy = self.make(Step("contiguous"), [moved], moved.shape)
        return self.make(Permute(forth), [copy], x.shape)

    def padded(self, x: Tensor, op: Convolution | DepthwiseConvolution | Pool, kind: str) -> Tensor:
        """What PyTorch cannot pad by itself: a padding that is larger at the end ("same" with strides)."""
        assert not isinstance(x.shape, Unknown)
        if op.padding != "same":
            return x
        sides = x.shape[2:]
        odd = [missing(size, op, axis) for axis, size in enumerate(sides)]
        if all(more % 2 == 0 for more in odd):
            return x
        larger = tuple(dims.add(size, more) for size, more in zip(sides, odd, strict=True))
        return self.make(Step(kind), [x], (*x.shape[:2], *larger))

    def finish(self, x: Tensor, call: Call, channels_last: bool, bias: Tensor | None) -> None:
        """The bias, and the layout that the layer promises."""
        shape = call.outputs[0].shape
        assert not isinstance(shape, Unknown)
        last = to_last(len(shape))
        if bias is None:
            self.put(Permute(last) if channels_last else Step("identity"), [x], call.outputs)
            return
        moved = self.make(Permute(last), [x], shape) if channels_last else x
        self.put(Step("add"), [moved, bias], call.outputs)


def to_first(rank: int) -> tuple[int, ...]:
    """The order of axes that brings the channels from the last place to the second."""
    return (0, rank - 1, *range(1, rank - 1))


def to_last(rank: int) -> tuple[int, ...]:
    """The order of axes that brings the channels from the second place to the last."""
    return (0, *range(2, rank), 1)


def reordered(shape: Shape, axes: Sequence[int]) -> Shape:
    """A shape with its axes in this order."""
    return tuple(shape[axis] for axis in axes)


def missing(size: Size, op: Convolution | DepthwiseConvolution | Pool, axis: int) -> int:
    """The values that a "same" padding adds along a side; 0 where that is not known."""
    kernel, stride, dilation = (per_axis(value, axis) for value in (op.kernel, op.stride, op.dilation))
    if not isinstance(size, int) or not stride:
        return 0
    return max(0, (-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size)


def per_axis(value: object, axis: int) -> int:
    """The number for an axis, of a tuple or for all; 0 where it is not known."""
    found = value[axis] if isinstance(value, tuple) else value
    return found if isinstance(found, int) else 0


def convolution(low: Lowering, call: Call) -> None:
    """A convolution as torch's backend runs it, with what it turns and pads."""
    op, x = call.op, call.inputs[0]
    assert isinstance(op, (Convolution, DepthwiseConvolution))
    channels_last = op.channels_last is True
    shape = call.outputs[0].shape
    assert not isinstance(shape, Unknown)
    assert not isinstance(x.shape, Unknown)
    kernel, *rest = call.weights or [selecting(low, x, channels_last, shape)]
    if channels_last:
        x = low.first(x)
    if getattr(op, "transposed", False) is not True:
        if channels_last and len(shape) > 3:
            x = low.last_in_memory(x)
            kernel = low.make(Step("copy"), [kernel], kernel.shape)
        x = low.padded(x, op, "pad")
    result = reordered(shape, to_first(len(shape))) if channels_last else shape
    made = low.make(op, [x], result, [kernel])
    low.finish(made, call, channels_last, rest[0] if rest else None)


def selecting(low: Lowering, x: Tensor, channels_last: bool, shape: Shape) -> Tensor:
    """The matrix of ones and zeros with which `extract_patches` convolves (keras/src/ops/image.py), made at each call:
    a row and a column for each value of a patch."""
    values = shape[-1 if channels_last else 1]
    return low.make(Step("copy"), [Tensor((values, values), x.dtype, framework="keras")], (values, values))


def pool(low: Lowering, call: Call) -> None:
    """A pool as torch's backend runs it, with what it turns and pads."""
    op, x = call.op, call.inputs[0]
    assert isinstance(op, Pool)
    channels_last = op.channels_last is True
    shape = call.outputs[0].shape
    assert not isinstance(shape, Unknown)
    if channels_last:
        x = low.first(x)
    x = low.padded(x, op, "replication_pad")
    result = reordered(shape, to_first(len(shape))) if channels_last else shape
    low.finish(low.make(op, [x], result), call, channels_last, None)


def batch_norm(low: Lowering, call: Call) -> None:
    """(x - mean) * factor + offset, written over itself; in training the moments of x, and of its square."""
    op, x = call.op, call.inputs[0]
    assert isinstance(op, BatchNorm)
    assert not isinstance(x.shape, Unknown)
    axis = op.axis if isinstance(op.axis, int) else -1
    channels = (x.shape[axis],)
    trained = [weight for weight in call.weights if not getattr(weight, "buffer", False)]
    stored = [weight for weight in call.weights if getattr(weight, "buffer", False)]
    if op.training is False:
        mean, variance = (stored * 2)[:2] if stored else (x, x)
    else:
        mean = low.make(Step("mean"), [x], channels)
        square = low.make(Step("pow"), [x], x.shape)
        average = low.make(Step("mean"), [square], channels)
        variance = low.make(Step("subtract"), [average, low.make(Step("pow"), [mean], channels)], channels)
    scale = trained[:1] if len(trained) > 1 or op.scale is not False else []
    root = low.make(Step("rsqrt"), [variance], channels)
    factor = low.make(Step("multiply"), [root, *(scale or [Tensor(channels, framework="keras")])], channels)
    centred = low.make(Step("subtract"), [x, mean], x.shape)
    offset = trained[len(scale) : len(scale) + 1]
    if not offset:
        low.put(Step("multiply", True), [centred, factor], call.outputs)
        return
    scaled = low.make(Step("multiply", True), [centred, factor], x.shape)
    low.put(Step("add", True), [scaled, *offset], call.outputs)


def dropout(low: Lowering, call: Call) -> None:
    """With a noise of another shape it is a choice between the scaled input and zeros; else PyTorch's own."""
    op = call.op
    assert isinstance(op, Dropout)
    if op.noise is None or all(size is None for size in op.noise) or op.training is False:
        low.put(op, call.inputs, call.outputs)
        return
    zeros = low.make(Step("scale"), call.inputs, call.inputs[0].shape)
    low.put(Step("scale"), [zeros], call.outputs)


REWRITES: tuple[tuple[type, Callable[[Lowering, Call], None]], ...] = (
    (Convolution, convolution),
    (DepthwiseConvolution, convolution),
    (Pool, pool),
    (BatchNorm, batch_norm),
    (Dropout, dropout),
)


def lowered(model: Model) -> Model:
    """The model with the calls that PyTorch gets."""
    low = Lowering()
    for call in model.calls:
        low.rewrite(call)
    return replace(model, calls=tuple(low.calls), held=held_by_layers(model.calls, len(low.calls)))


def held_by_layers(calls: Sequence[Call], last: int) -> dict[int, int]:
    """What each layer gives, by id, as held until the last call."""
    ends: dict[int, tuple[Tensor, ...]] = {}
    for call in calls:
        ends[id(call.within) if call.within is not None else -call.number] = call.outputs
    return {id(tensor): last for outputs in ends.values() for tensor in outputs}
