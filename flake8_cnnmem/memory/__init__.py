"""Bytes of one training step, from the layer graph. Knows nothing of source code."""

from __future__ import annotations

from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.training import Training


def account(model: Model, training: Training, accounting: str, overhead: int) -> Estimate:
    """The estimate by the accounting of this name, "framework" or "cs231n"."""
    if accounting == "framework":
        from flake8_cnnmem.memory import framework

        return framework.estimate(model, training, overhead)
    from flake8_cnnmem.memory import cs231n

    return cs231n.estimate(model, training, overhead)
