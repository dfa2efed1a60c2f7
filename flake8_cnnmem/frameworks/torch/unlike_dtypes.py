"""Ops on two dtypes that torch refuses: products and norms of single precision and half, doubles, or whole numbers.

"float" is the dtype that the model trains in, which nobody may have stated of its inputs: a model that is in half
precision as a whole is given halves. What a layer in that dtype has made is in it for certain, so that another layer in
a dtype of its own cannot take it.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.dtypes import is_floating, kind
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

PLAIN = ("float", "float32")
MOST_OPS = 64
"""So far back it is looked for a layer that decides in which dtype a result is."""


def note_unlike(run: Runtime, what: str, one: Tensor | Unknown, other: Value) -> None:
    """Note a cause where an op surely is on two dtypes: it is a RuntimeError, and what follows is not told as exact."""
    if not isinstance(one, Tensor) or not isinstance(other, Tensor) or one.dtype == other.dtype:
        return
    pairs = [(one, other)] if isinstance(other, Weight) else [(one, other), (other, one)]
    for wide, plain in pairs:
        if plain.dtype in PLAIN and (wide.dtype == "float64" or kind(wide.dtype) < kind("float")):
            note_refused(run, what, wide.dtype)
            return
    for narrow, plain in ((one, other), (other, one)):
        own = is_floating(narrow.dtype) and narrow.dtype not in PLAIN
        if own and (plain.dtype == "float32" or (plain.dtype == "float" and is_in_training_dtype(run, plain))):
            note_refused(run, what, narrow.dtype)
            return


def note_refused(run: Runtime, what: str, dtype: str) -> None:
    """The cause, by what was asked for."""
    called = "a norm" if what == "layer_norm" else "a product"
    note_cause(run, None, "unlike dtypes", f"{called} of {dtype} and float32 is refused")


def is_in_training_dtype(run: Runtime, tensor: Tensor) -> bool:
    """Whether a layer in the dtype that the model trains in has made a result, it is such a layer's weight, or the code
    makes it in the default dtype (`torch.randn`)."""
    at = tensor
    for _ in range(MOST_OPS):
        if isinstance(at, Weight):
            return not at.buffer
        if at.call is None:
            return at is tensor and at.site is not None and at.as_wide_as is None and not at.symbolic
        if not at.call.inputs or at.dtype != "float":
            return False
        run.spend(1)
        if (at.call.op.product or at.call.op.convolves) and at.call.weights:
            return at.call.autocast is None and at.call.weights[0].dtype == "float"
        at = at.call.inputs[0]
    return False
