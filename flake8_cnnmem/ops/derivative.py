"""What a backward pass computes where code asks for its graph: ops that read a gradient and give the next one.

What a formula makes of ordinary ops (products, sums, views) is those ops; here are the steps that are one kernel.
"""

from __future__ import annotations

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Derivative(Weightless):
    """From the gradient of a result, and what else it reads, the gradient of what lies like input `like`."""

    kind: str
    like: int = 1

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape of the input whose gradient it is."""
        return (inputs[min(self.like, len(inputs) - 1)],)


@dataclass(frozen=True, slots=True)
class Restored(Weightless):
    """From the gradient of a result the gradient of an input of this shape, which is not read for it."""

    kind: str
    shape: Shape

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape that the input of the op had, whatever the gradient's."""
        return (self.shape,)


@dataclass(frozen=True, slots=True)
class ConvolutionBackward(Weightless):
    """From the gradient of a convolution's result, its input and its weight the gradients in `parts`: of the "input",
    the "weight" and the "bias"."""

    parts: tuple[str, ...]
    groups: int = 1

    kind = "convolution_backward"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """Of a gradient, an input and a weight: the gradients that are asked for, of the shapes of input, weight and
        bias (filters,)."""
        if len(inputs) < 3:
            raise Mismatch(Problem("CNM201", "takes a gradient, an input and a weight"))
        gradient, x, weight = inputs[:3]
        filters = gradient[1:2] if len(gradient) == len(weight) else gradient[:1]
        shapes = {"input": x, "weight": weight, "bias": filters}
        return tuple(shapes[part] for part in self.parts)


@dataclass(frozen=True, slots=True)
class NotDerived(Weightless):
    """The gradient of an input of this shape, by a rule that is not known."""

    shape: Shape | Unknown
    cause: Unknown

    kind = "not_derived"

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The shape of the tensor whose gradient is not worked out."""
        return (self.shape,)
