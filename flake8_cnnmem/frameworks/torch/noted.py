"""Tensors that the code makes of nothing in a forward pass: they are in memory whether anything reads them or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flake8_cnnmem.dims import first_unknown
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Made
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

UNNOTED = "makes tensors for kernels"
"""Scratch of the run: whether what runs makes tensors that kernels fill, which an op stands for."""


@contextmanager
def unnoted(run: Runtime) -> Iterator[None]:
    """Within it what is made is not noted."""
    scratch = run.data(UNNOTED)
    before = scratch.get(0)
    scratch[0] = True
    try:
        yield
    finally:
        scratch[0] = before


def note_made(run: Runtime, made: Tensor, *of: Value) -> Tensor:
    """A tensor that is made here, of others or on the device of another one. Whether that is the device that trains,
    who reads the turn decides."""
    if run.in_forward_of_turn and not isinstance(made.shape, Unknown) and made.shape:
        if not run.data(UNNOTED).get(0) and first_unknown(made.shape) is None:
            run.apply(Made(), made, *[each for each in of if isinstance(each, Tensor)], dtypes=(made.dtype,))
    return made
