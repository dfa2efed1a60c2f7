"""How many nodes of autograd's graph an op is: the engine runs those first that were made last."""

from __future__ import annotations

from flake8_cnnmem.graph import Call
from flake8_cnnmem.unknown import Unknown


def nodes_of(call: Call) -> int:
    """How many nodes torch makes of an op. A layer on a matrix reads its weight transposed, and one on more axes reads
    its input as a matrix, and gives its result back in their shape."""
    shape = call.inputs[0].shape
    if call.op.kind == "linear":
        return 4 if not isinstance(shape, Unknown) and len(shape) > 2 else 2
    if call.op.kind == "matmul":
        return 2 if call.derives else 1
    return 2 if call.op.kind == "cross_entropy" else 1
