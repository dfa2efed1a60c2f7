"""An op whose results are worked out by who applies it: functions that no layer is made of."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Given(Weightless):
    """Gives tensors of these shapes, whatever it is given."""

    kind: str
    shapes: tuple[Shape, ...]

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """The shapes that it was made with."""
        return self.shapes


@dataclass(frozen=True, slots=True)
class Refused(Weightless):
    """What a framework refuses for sizes that no op computes with: lengths beside a batch, samples beside targets. It
    is run where they are known to be wrong, and nowhere else."""

    problem: Problem

    kind = "identity"
    hands_on = True

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """Mismatch; what follows is meant to see the first input."""
        raise Mismatch(self.problem, inputs[:1])


@dataclass(frozen=True, slots=True)
class Made(Weightless):
    """A tensor that the code makes of nothing, or of numbers (first input), whether anything reads it later or not. The
    others are what it is made of."""

    kind = "made"
    view = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The tensor's shape."""
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class Filled(Weightless):
    """Gives tensors that a kernel fills, of shapes that the code has made for it. `like` has for each of them the place
    of an input with as many rows, whose number it shares at any batch size; None where there is none."""

    kind: str
    shapes: tuple[Shape | Unknown, ...]
    like: tuple[int | None, ...]

    @classmethod
    def beside(cls, kind: str, shapes: Sequence[Shape | Unknown], inputs: Sequence[Shape | Unknown]) -> Filled:
        """The op for tensors of these shapes that are made beside `inputs`."""

        def alike(shape: Shape | Unknown) -> int | None:
            if isinstance(shape, Unknown):
                return None
            rows = [given[0] if not isinstance(given, Unknown) and given else None for given in inputs]
            return rows.index(shape[0]) if shape and shape[0] in rows else None

        return cls(kind, tuple(shapes), tuple(map(alike, shapes)))

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown, ...]:
        """The shapes that it was made with, the first axis that of the input that each is like."""
        return tuple(
            shape if at is None or isinstance(shape, Unknown) or not inputs[at] else (inputs[at][0], *shape[1:])
            for shape, at in zip(self.shapes, self.like, strict=True)
        )
