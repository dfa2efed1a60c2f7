"""Bytes of one training step, from the layer graph. Knows nothing of source code."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory.actions import Step
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.training import Training


def account(
    model: Model,
    training: Training,
    accounting: str,
    overhead: int,
    gpu: str = "",
    step: Step | None = None,
    parts: Sequence[tuple[Model, Training]] = (),
    least: bool = True,
) -> Estimate:
    """The estimate by the accounting of this name, "framework" or "cs231n".

    `step` is what the code itself does in a training step, where that is known. `parts` are the models that `model`
    joins, where one step trains several.

    `overhead` is what the user wants kept free. Where that is nothing and the limit is a GPU's name, the framework
    accounting adds what is known of that GPU. Where none is named, what depends on the chip is that of an A100.

    Who asks only whether a step fits on that GPU does without `least`: of one that does not, the total is what it
    reserves with memory to spare, and the least that it needs is not searched for.
    """
    if accounting == "framework":
        from flake8_cnnmem.memory import alternating, chips, device, framework, training_loop

        chip = chips.CHIPS.get(gpu, chips.ASSUMED)
        if step is not None:
            estimate = training_loop.estimate(model, training, step, overhead, chip)
        elif parts and not model.goes_back:
            estimate = alternating.estimate(model, parts, training.batch_size.value, overhead, chip)
        else:
            estimate = framework.estimate(model, training, overhead, chip=chip)
        if model.arrangement is not None:
            from flake8_cnnmem.memory import data_parallel

            estimate = data_parallel.share(estimate, model, training)
        return device.added(estimate, model, gpu, training.dtype.value, least) if gpu and not overhead else estimate
    from flake8_cnnmem.memory import cs231n

    return cs231n.estimate(model, training, overhead)


def bytes_beside(model: Model, dtype: str) -> list[int]:
    """The bytes of each of the things that are in memory beside a model while it trains."""
    from flake8_cnnmem.memory import framework

    return framework.bytes_beside(model, dtype)
