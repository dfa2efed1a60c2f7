"""How long the code holds its tensors: a variable keeps one alive until it is given another, or its function returns.

PyTorch frees a result when nothing refers to it any more. What the backward pass does not keep is alive for as long
as a variable, an argument or a list in one of them holds it, which can be long after the last op has read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Value

MOST = 256
"""Items of a container that are looked at."""
DEPTH = 3


def let_go(values: Iterable[Value], number: int, depth: int = DEPTH) -> None:
    """Note of every tensor in these values and their containers that it was held until call `number`."""
    for value in values:
        kind = type(value)
        if kind is Tensor:
            value.held = number
        elif depth and kind in (list, tuple):
            let_go(islice(value, MOST), number, depth - 1)
        elif depth and kind is dict:
            let_go(islice(value.values(), MOST), number, depth - 1)
