"""How long the code holds its tensors: a variable keeps one alive until it is given another, or its function returns.

PyTorch frees a result when nothing refers to it any more. What the backward pass does not keep is alive for as long
as a variable, an argument or a list in one of them holds it, which can be long after the last op has read it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice

from flake8_cnnmem import frameworks
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.values import Instance, Value

MOST = 1024
"""Items that are looked at, those of containers after the variables that hold them."""
DEPTH = 5
PLAIN: set[type] = {int, float, bool, str, type(None)}
"""What most variables hold, and no tensor is in: the types of which that is known by now."""


def let_go(values: Iterable[Value], number: int) -> None:
    """Note of every tensor in these values, in containers and in objects that are no layers (which hold what they hold
    from step to step) that it was held until call `number`."""
    left, depth = MOST, DEPTH
    level: list[Iterable[Value]] = [values]
    while level and depth:
        inner: list[Iterable[Value]] = []
        for held in level:
            for value in islice(held, left):
                left -= 1
                kind = type(value)
                if kind in PLAIN:
                    continue
                if type(value) is Tensor:
                    value.held = number
                elif type(value) is Instance:
                    if not frameworks.is_layer(value):
                        inner.append(value.attributes.values())
                        if value.payload is not None:
                            inner.append((value.payload,))
                elif isinstance(value, (list, tuple, deque)):
                    inner.append(value)
                elif isinstance(value, dict):
                    inner.append(value.values())
                elif isinstance(value, Tensor) and not isinstance(value, Weight):
                    # A constant.
                    value.held = number
                else:
                    PLAIN.add(kind)
        level, depth = inner, depth - 1
