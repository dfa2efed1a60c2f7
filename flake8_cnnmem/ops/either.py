"""Tensors of which it is not known which of several they are."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Either(Weightless):
    """Stands in the graph where it is not known which of two tensors of one shape it is: the cheaper one is taken, or
    where the cause says that the figure can only be smaller, the other one."""

    cause: Unknown

    kind = "identity"
    view = True
    hands_on = True
    keeps_dtype = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape of its first input, which stands for whichever is taken."""
        return (inputs[0],)
