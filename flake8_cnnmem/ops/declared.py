"""An op that a project's stub describes: its shapes are those that the stub's patterns say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from flake8_cnnmem.dims import Shape, Size, show
from flake8_cnnmem.graph import Mismatch, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.stubs.shapes import Pattern
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Declared(Weightless):
    """Takes tensors of the shapes `takes` (None: of any shape) and gives those of `results` (None: not said).

    `names` are the inputs' names for messages, `arguments` the values of the other arguments that sizes count with.
    """

    kind: str
    takes: tuple[Pattern | None, ...]
    results: tuple[Pattern | None, ...]
    names: tuple[str, ...]
    arguments: Mapping[str, Any] = field(hash=False)

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown, ...]:
        """Raises Mismatch for an input of another number of axes, or of another size, than the stub says."""
        sizes: dict[str, Size | Shape] = {}
        for pattern, shape, name in zip(self.takes, inputs, self.names, strict=False):
            if pattern is None:
                continue
            if not pattern.fits_rank(len(shape)):
                raise Mismatch(Problem("CNM201", f"takes {name} of ({pattern.text}), but is given {show(shape)}"))
            pattern.bind(shape, sizes)
        for pattern, shape, name in zip(self.takes, inputs, self.names, strict=False):
            wrong = pattern.contradiction(shape, sizes, self.arguments) if pattern is not None else None
            if pattern is not None and wrong is not None:
                axis, said = wrong
                size = show(said) if isinstance(said, tuple) else repr(said)
                what = f"takes {name} of ({pattern.text}) with {axis.text} = {size}, but is given {show(shape)}"
                raise Mismatch(Problem("CNM201", what), tuple(self.given(sizes)) if self.all_said(sizes) else None)
        return tuple(self.given(sizes))

    def given(self, sizes: Mapping[str, Size | Shape]) -> list[Any]:
        """The shapes of the results."""
        return [NOT_SAID if each is None else each.shape(sizes, self.arguments) for each in self.results]

    def all_said(self, sizes: Mapping[str, Size | Shape]) -> bool:
        """Whether these sizes decide every shape of the results."""
        return not any(isinstance(shape, Unknown) for shape in self.given(sizes))


NOT_SAID = Unknown("the stub does not say the shape of its result")
