"""Losses."""

from __future__ import annotations

from dataclasses import dataclass

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.unknown import Unknown

CLASSES = frozenset({"cross_entropy", "nll", "multi_margin"})
"""Kinds whose class axis (1, or 0 unbatched) goes away."""

ROWS = frozenset(
    {
        "cosine_embedding",
        "triplet_margin",
        "multilabel_margin",
        "multilabel_soft_margin",
        "categorical_crossentropy",
        "sparse_categorical_crossentropy",
    }
)
"""Kinds that give one value for each sample, or for each place that has a class on its last axis."""


@dataclass(frozen=True, slots=True)
class Loss(Weightless):
    """One number, or with `reduction` "none" one for each value (or sample) of the input."""

    kind: str
    reduction: str = "mean"

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        if isinstance(self.reduction, Unknown):
            return (self.reduction,)
        if self.reduction not in ("none", None):
            return ((),)
        shape = inputs[0]
        if self.kind in CLASSES:
            return (shape[:1] + shape[2:] if len(shape) > 1 else (),)
        if self.kind in ROWS:
            return (shape[:-1],)
        if self.kind == "ctc":
            return (shape[1:2] if len(shape) > 2 else (),)
        return (broadcast(inputs[:2], "compares") if len(inputs) > 1 else shape,)
