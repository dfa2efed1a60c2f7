"""Values that nothing reads any more, but that the code still holds, in the order in which it lets them go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from heapq import heappop, heappush
from itertools import count

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(slots=True)
class Held:
    """Tensors by their ids. A frame that ends lets its variables go in the order of their first assignment: of those
    that are held until the same op the one that was made first goes first."""

    _waiting: list[tuple[int, int, int, int]] = field(default_factory=list)
    _turns: count[int] = field(default_factory=count)

    def put(self, tensor: Tensor, until: int) -> None:
        """`until`: the number of the last op for which the code holds it."""
        made = tensor.call.number if tensor.call is not None else 0
        heappush(self._waiting, (until, made, next(self._turns), id(tensor)))

    def any_before(self, number: int) -> bool:
        """Whether something goes before the op of this number."""
        return bool(self._waiting) and self._waiting[0][0] < number

    def before(self, number: int) -> Iterator[int]:
        """What goes before the op of this number; it is no longer held then."""
        while self.any_before(number):
            yield heappop(self._waiting)[-1]
