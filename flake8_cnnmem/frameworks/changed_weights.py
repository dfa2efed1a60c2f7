"""Weights that the program gives another dtype or shape: what a training before that found is not what they are now."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

CHANGED_WEIGHTS = "changed weights"
"""Scratch of the run: by a weight's id its changes, in order."""

TRAINABLE_FLAGS = "flags of weights"
"""Scratch of the run: by a weight's id what the program has last said of it, whether it asks for a gradient."""


MADE_WEIGHTS = "tensors that weights were made of"
"""Scratch of the run: by a tensor's id the tensor and the weight that lies in its storage."""

CROSSED = "results with a graph that went from the host to the device, or back"
"""Scratch of the run: by id those tensors."""


PLACED = "devices that are said where something is made"
"""Scratch of the run: filled where layers are made on a device that they are told, or one is set for all that is
made: what was not moved may lie there, too."""

WRITTEN_LEAVES = "leaves that are written in place"
"""Scratch of the run: by the id of a weight, or of a tensor that no op made, the numbers among the ops at which the
program writes into it, not through `.data`."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a weight was until the op of this number; `cause` says where it was changed."""

    weight: Weight
    number: int
    shape: Shape | Unknown
    dtype: str
    cause: Unknown


def note_changed(run: Runtime, weight: Weight) -> None:
    """A weight is about to be given another dtype or shape."""
    cause = run.unknown("after this training the model's weights are given another dtype or shape, which was counted")
    before = Before(weight, run.next_number(), weight.shape, weight.dtype, cause)
    run.data(CHANGED_WEIGHTS).setdefault(id(weight), []).append(before)


def set_flag(run: Runtime, weight: Weight, value: Value) -> None:
    """The program says whether a weight asks for a gradient: all values but False do, and one that is not known may. Of
    a buffer that does nothing more is counted."""
    trainable = value is not False
    if not run.data("optimizers"):
        # What is said while a loop trains is told by its turns.
        run.changed(weight)
        weight.unsure = unsure_of(value)
    if weight.buffer and trainable:
        note_cause(run, None, "buffers that train", "what a buffer needs that asks for a gradient")
    weight.trainable = run.data(TRAINABLE_FLAGS)[id(weight)] = trainable


def unsure_of(value: Value) -> Unknown | None:
    """Why it is not known whether a weight is trained of which the program says so; None where it is."""
    return replace(value, upper=True) if isinstance(value, Unknown) else None
