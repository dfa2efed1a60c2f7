"""Bytes of one training step, from the layer graph. Knows nothing of source code."""

from __future__ import annotations

from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.training import Training


def account(model: Model, training: Training, accounting: str, overhead: int, gpu: str = "") -> Estimate:
    """The estimate by the accounting of this name, "framework" or "cs231n".

    `overhead` is what the user wants kept free. Where that is nothing and the limit is a GPU's name, the framework
    accounting adds what is known of that GPU.
    """
    if accounting == "framework":
        from flake8_cnnmem.memory import device, framework

        estimate = framework.estimate(model, training, overhead)
        return device.added(estimate, model, gpu) if gpu and not overhead else estimate
    from flake8_cnnmem.memory import cs231n

    return cs231n.estimate(model, training, overhead)
