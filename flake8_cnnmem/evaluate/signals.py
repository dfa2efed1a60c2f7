"""What a statement gives that ends its block: `break`, `continue`, or `return` with its value."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.values import Value


class Signal:
    """`BREAK` and `CONTINUE`."""


BREAK = Signal()
CONTINUE = Signal()


@dataclass(slots=True)
class Returned(Signal):
    """`return value`."""

    value: Value
