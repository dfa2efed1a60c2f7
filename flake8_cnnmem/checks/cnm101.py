"""The estimated training memory exceeds the configured GPU limit.

## What it means

One training step of this model needs more memory than `cnnmem-gpu-limit`, `cnnmem-per-file-limits` or a directive's
`gpu-limit` allows. "activations" is what is kept for the backward pass and what comes and goes at the step's highest
moment; "parameters" are the weights and buffers, "gradients" theirs, "optimizer state" what the optimizer keeps for
them and, where the peak is in its step, makes for a moment; "overhead" is what `cnnmem-overhead` keeps free, or what a
GPU that is known by its name takes beside the tensors. Where batch size or
optimizer come from code or a directive, the message says from where. "at least" stands where something could not be
known and only what is known was counted, "at most" where a step is compiled and may need less than was counted. The
finding stands where the model is built, once for each distinct model:
of several trainings of it the one that needs most, and the message says which that is ("the second of three trainings,
its loop at line 88"). Where a loop that only evaluates needs more than the training, as one with a larger batch or
without `torch.no_grad()` may, the message says what evaluation needs, and what the training itself.
Without a limit this check says nothing.

## Example

    from torch import nn


    # cnnmem: input-shape=3,224,224 batch-size=256 gpu-limit=8GiB
    class Stem(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))

It says, in one line:

    example.py:5:1: CNM101 Stem: training needs 9.4 GiB at batch 256 (directive), over the 8.0 GiB limit
    (activations 9.2 GiB, parameters 0.01 MiB, optimizer state 0.01 MiB, input 147 MiB; momentum, float32); fits up to
    batch 218

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
from flake8_cnnmem.precedence import shown_path
from flake8_cnnmem.text.lines import in_words

if TYPE_CHECKING:
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.results import EvaluationReport, FileReport, ModelReport
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.training import Fact

CODE = "CNM101"
DEFAULT = True
LEVEL = "error"


def check_file(report: FileReport, settings: Settings) -> Iterator[Finding]:
    """One for each place: of several trainings of what is built there, the one that needs most."""
    most: dict[tuple[object, ...], ModelReport] = {}
    for number, model in enumerate(report.reports):
        if model.estimate is None or model.limit is None or model.fits is not False:
            continue
        key = (model.path, model.line, model.column, number if model.place is None else -1)
        known = most.get(key)
        if known is None or known.estimate is None or known.estimate.total < model.estimate.total:
            most[key] = model
    for model in most.values():
        assert model.estimate is not None
        assert model.limit is not None
        message = describe(model, model.estimate, model.limit, settings)
        yield Finding(model.path, model.line, model.column, CODE, message)


def describe(report: ModelReport, estimate: Estimate, limit: int, settings: Settings) -> str:
    training, found = report.training, report.evaluation
    needs, most = units.show_apart(estimate.total, limit)
    gpu = settings.gpu_named(limit, report.path)
    over = f"over the {most} limit of the {gpu}" if gpu else f"over the {most} limit"
    dtype = f"{training.dtype.value}{_from(training.dtype)}"
    if found is not None:
        batch = f"batch {found.batch_size} ({shown_path(found.path, report.path)}:{found.line})"
        rest = f"{_parts(estimate)}; {dtype}); the training itself needs {units.show(found.training_total)}"
        return f"{report.name}: evaluation needs {report.bound}{needs} at {batch}, {over} ({rest}{_evaluates(found)}"
    batch = f"batch {training.batch_words}{_from(training.drawn)}"
    how = f"{training.optimizer.value}{_from(training.optimizer)}, {dtype}"
    return (
        f"{report.name}: {_which(report)} needs {report.bound}{needs} at {batch}, {over} "
        f"({_parts(estimate)}; {how}){_fits(report, estimate, limit)}"
    )


COUNT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _which(report: ModelReport) -> str:
    """`training`; of several `the second of three trainings, its loop at line 88,`."""
    index, count = report.place or (1, 1)
    if count == 1:
        return "training"
    named = f"the {ORDER[index - 1]} of {COUNT[count - 1]} trainings" if count <= 10 else f"training {index} of {count}"
    at = report.trained_at
    if at is None:
        return named
    line = in_words(at.line) if at.path == report.path else f"{shown_path(at.path, report.path)}:{at.line}"
    return f"{named}, its loop at {line},"


def _evaluates(found: EvaluationReport) -> str:
    largest = found.largest_batch_size
    if largest is None:
        return ""
    return f"; evaluation fits up to batch {largest}" if largest > 0 else "; not even one of batch 1 fits"


def _from(fact: Fact[Any]) -> str:
    return "" if fact.source in ("option", "default") else f" ({fact.place})"


def _parts(estimate: Estimate) -> str:
    parts = [
        ("activations", estimate.activations),
        ("parameters", estimate.parameters),
        ("gradients", estimate.gradients),
        ("optimizer state", estimate.optimizer),
        ("input", estimate.input),
        ("overhead", estimate.overhead),
    ]
    always = ("activations", "parameters", "input")
    return ", ".join(f"{name} {units.show(size)}" for name, size in parts if size or name in always)


def _fits(report: ModelReport, estimate: Estimate, limit: int) -> str:
    largest = report.largest_batch_size
    if largest is None:
        return ""
    if largest > 0:
        return f"; fits up to {report.bound_of_batch}batch {largest}"
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
    best = report.first_fit
    return alone if best is None else f"{alone}; {best.change} takes {units.show(best.total)}"
