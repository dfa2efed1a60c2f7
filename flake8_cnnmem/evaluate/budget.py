"""What bounds an evaluation: steps, depth, and the size of any one value."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = 4_000_000
"""Statements, calls, operators and loop rounds for one file. A ResNet-152 takes some 200,000."""

STATEMENT_STEPS = 2_000_000
"""Steps that one top-level statement may take, so that a long computation does not starve the models after it."""

LOOP_ROUNDS = 200_000
"""Rounds of one loop. A training loop over literal epochs is cut short well before the budget is gone."""

DEPTH = 180
"""Nested calls of interpreted functions."""

LENGTH = 300_000
"""Items of a container, characters of a string."""

BITS = 4096
"""Bits of an integer: sizes and seeds are far below, `10**10**10` far above."""

YIELDS = 2_000
"""Values taken from one generator function: its body is run to the end, or up to here."""


class Exhausted(Exception):
    """The budget ended. Caught where a whole statement or model can be given up."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Budget:
    steps: int = STEPS
    depth: int = 0
