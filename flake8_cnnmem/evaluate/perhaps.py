"""What code does beside its result where nobody knows how often it runs: items of a list that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

STEPS = 20_000
"""So much is spent on what one item may change."""


def perhaps_done(run: Interpreter, cause: Unknown, action: Callable[[], object]) -> None:
    """Run an action as a branch that may not be taken: what it changes is not known from here on. What it computes is
    nobody's, and no part of a training."""
    frame = run.frame
    if frame is None:
        return

    def body(frame: Frame) -> None:
        action()

    def once(run: Interpreter) -> None:
        run.branch(cause, frame, body, lambda frame: None)

    run.aside(Native("item", lambda run: run.within(STEPS, Native("item", once, propagate_unknown=False))))
