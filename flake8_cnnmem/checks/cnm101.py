"""The estimated training memory exceeds the configured GPU limit.

## What it means

One training step of this model needs more memory than `cnnmem-gpu-limit`, `cnnmem-per-file-limits` or a directive's
`gpu-limit` allows. "activations" is what is kept for the backward pass and what comes and goes at the step's highest
moment; "parameters" are the weights, their gradients and the optimizer's state together; "overhead" is what
`cnnmem-overhead` keeps free, or what a GPU that is known by its name takes beside the tensors. Where batch size or
optimizer come from code or a directive, the message says from where. "at least" stands where something could not be
known and only what is known was counted. The finding stands where the model is built, once for each distinct model.
Without a limit this check says nothing.

## Example

    from torch import nn


    # cnnmem: input-shape=3,224,224 batch-size=256 gpu-limit=8GiB
    class Stem(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))

It says, in one line:

    example.py:5:1: CNM101 Stem: training needs 9.4 GiB at batch 256 (directive), over the 8.0 GiB limit
    (activations 9.2 GiB, parameters 0.01 MiB, input 147 MiB; momentum, float32); fits up to batch 218

## How to mend it

A smaller batch (the largest that fits is named), a half-precision dtype, a leaner optimizer, checkpoints, a smaller
input: `cnnmem report` on the file shows those changes that would make it fit, each with its figure, and with
`--format html` at which moment of the step and in which layers the memory is needed.

## How to silence it

To set another limit for one model, write `# cnnmem: gpu-limit=24GiB` at its class or call; for some folders,
`cnnmem-per-file-limits`. To leave one model alone, `# cnnmem: skip` at its class or call, or `# noqa: CNM101` on the
line of the finding. For everything, `extend-ignore = CNM101`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import units
from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import ModelReport
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.settings import Settings
    from flake8_cnnmem.training import Fact

CODE = "CNM101"
DEFAULT = True
LEVEL = "error"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if report.estimate is None or report.limit is None or report.fits is not False:
        return
    estimate, training = report.estimate, report.training
    needs, limit = units.show_apart(estimate.total, report.limit)
    at_least = "at least " if report.status == "lower-bound" else ""
    gpu = settings.gpu_named(report.limit, report.path)
    over = f"over the {limit} limit of the {gpu}" if gpu else f"over the {limit} limit"
    batch = f"batch {training.batch_size.value}{_from(training.batch_size)}"
    how = f"{training.optimizer.value}{_from(training.optimizer)}, {training.dtype.value}{_from(training.dtype)}"
    message = (
        f"{report.name}: training needs {at_least}{needs} at {batch}, {over} "
        f"({_parts(estimate)}; {how}){_fits(report, estimate, report.limit)}"
    )
    yield Finding(report.path, report.line, report.column, CODE, message)


def _from(fact: Fact[Any]) -> str:
    return "" if fact.source in ("option", "default") else f" ({fact.source})"


def _parts(estimate: Estimate) -> str:
    parts = [
        ("activations", estimate.activations),
        ("parameters", estimate.parameters + estimate.gradients + estimate.optimizer),
        ("input", estimate.input),
        ("overhead", estimate.overhead),
    ]
    return ", ".join(f"{name} {units.show(size)}" for name, size in parts if size or name != "overhead")


def _fits(report: ModelReport, estimate: Estimate, limit: int) -> str:
    largest = report.largest_batch_size
    if largest is None:
        return ""
    if largest > 0:
        return f"; fits up to {'at most ' if report.status == 'lower-bound' else ''}batch {largest}"
    batch = max(estimate.batch_size, 1)
    parts = {
        "the parameters with gradients and optimizer state need": estimate.parameters
        + estimate.gradients
        + estimate.optimizer,
        "the activations of one sample need": estimate.activations // batch,
        "one input needs": estimate.input // batch,
        "the overhead takes": estimate.overhead,
    }
    name, size = max(parts.items(), key=lambda part: part[1])
    alone = f"; not even batch 1 fits: {name} {units.show(size)}{' alone' if size > limit else ''}"
    best = next((remedy for remedy in report.remedies if remedy.fits is not False), None)
    return alone if best is None else f"{alone}; {best.change} takes {units.show(best.total)}"
