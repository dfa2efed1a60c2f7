"""What a statement gives that ends its block: `break`, `continue`, or `return` with its value."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.values import Value


class Signal:
    """`BREAK`, `CONTINUE` and `UNDONE`."""


BREAK = Signal()
CONTINUE = Signal()
UNDONE = Signal()
"""A side of a branch is not to be taken: what it changes is put back, and the other side does not run."""


@dataclass(slots=True)
class Returned(Signal):
    """`return value`."""

    value: Value
