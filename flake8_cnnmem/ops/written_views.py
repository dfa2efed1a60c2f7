"""What autograd makes of a tensor one of whose views was written in place: the whole of it, and its views, anew."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import ViewGradient, Weightless
from flake8_cnnmem.ops.shape import View
from flake8_cnnmem.ops.strides import Strides, contiguous
from flake8_cnnmem.unknown import Unknown

NO_STEPS = Unknown("what a view is of its tensor is not known")


@dataclass(frozen=True, slots=True)
class Rebased(Weightless):
    """A tensor (first input) once an op has written into a view of it (second input, what that op gave): that op is
    then behind all of it (`rebase_history` in torch/csrc/autograd/variable.cpp)."""

    kind = "rebased"
    rebases = True

    @property
    def in_place(self) -> bool:
        """Always: it is the first input."""
        return True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The first input's shape."""
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class ViewAgain(View):
    """A view (second input) of a tensor that has been written meanwhile, of what that is now (first input): `steps`,
    the ops of views, give it one by one. Its gradient is written into zeros, whatever the steps (AsStridedBackward)."""

    steps: tuple[Any, ...] | Unknown

    rebases = True

    @property
    def view_gradient(self) -> ViewGradient:
        """Zeros with the gradient written into a part."""
        return "fill"

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The shape behind the last step."""
        if not isinstance(self.steps, tuple):
            return (self.steps if isinstance(self.steps, Unknown) else NO_STEPS,)
        shape: Shape | Unknown = inputs[0]
        for step in self.steps:
            if not isinstance(shape, Unknown):
                (shape,) = step.outputs(shape)
        return (shape,)

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides:
        """Those that the steps give one after the other; in the order of its axes where a step cannot be followed."""
        try:
            for step in self.steps if isinstance(self.steps, tuple) else ():
                (after,) = step.outputs(sizes)
                found = None if isinstance(after, Unknown) else step.view_strides(sizes, strides, after)
                if found is None:
                    return contiguous(result)
                sizes, strides = after, found
        except Mismatch:
            return contiguous(result)
        return strides
