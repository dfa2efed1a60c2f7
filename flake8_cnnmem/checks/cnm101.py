"""The estimated training memory exceeds the configured GPU limit.

    model.py:12:1: CNM101 VGG16: training needs 13.9 GiB at batch 64, over the 12.0 GiB limit
    (activations 10.4 GiB, parameters 2.1 GiB, input 37 MiB; adam, float32); fits up to batch 53

(One line in reality.) One training step of this model needs more memory than `cnnmem-gpu-limit`, or a directive's
`gpu-limit`, allows. "parameters" are the weights, their gradients and the optimizer's state together. Where batch
size or optimizer come from code, the message says from which line. "at least" stands where something could not be
known and only what is known was counted. The finding stands where the model is built, once for each distinct model.

To mend it: a smaller batch (the largest that fits is named), a half-precision dtype, a leaner optimizer, a smaller
input. To set another limit for one model, write `# cnnmem: gpu-limit=24GiB` at its class or call; to leave it alone,
`# cnnmem: skip` or `# noqa: CNM101`. Without a limit this check says nothing.
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


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if report.estimate is None or report.limit is None or report.fits is not False:
        return
    estimate, training = report.estimate, report.training
    needs, limit = units.show_apart(estimate.total, report.limit)
    at_least = "at least " if report.status == "lower-bound" else ""
    gpu = settings.gpu_named(report.limit)
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
    return f"; not even batch 1 fits: {name} {units.show(size)}{' alone' if size > limit else ''}"
