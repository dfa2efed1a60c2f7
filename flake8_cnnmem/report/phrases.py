"""What all forms of a report say in the same words and figures: the facts, the terms, the verdict, the remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flake8_cnnmem import units
from flake8_cnnmem.answers import ModelReport
from flake8_cnnmem.memory.device import LABELS
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.settings import LARGEST_NUMBER, Settings
from flake8_cnnmem.training import Fact

STATUS = {"exact": "exact", "lower-bound": "a lower bound", "unresolved": "not estimated"}


@dataclass(frozen=True, slots=True)
class Said:
    """A fact of training as people read it: its name, its value, where it was found, and what was passed over."""

    name: str
    value: str
    source: str
    passed_over: tuple[tuple[str, str], ...]


def facts(report: ModelReport) -> list[Said]:
    """Input, batch, optimizer and dtype, in this order; the input only where it is known."""
    training = report.training
    found: list[tuple[str, str, Fact[Any]]] = [
        ("batch", str(training.batch_size.value), training.batch_size),
        ("optimizer", str(training.optimizer.value), training.optimizer),
        ("dtype", training.dtype.value, training.dtype),
    ]
    if training.input_shape is not None:
        found.insert(0, ("input", shape(training.input_shape.value), training.input_shape))
    return [Said(name, value, fact.source, fact.passed_over) for name, value, fact in found]


def terms(estimate: Estimate) -> list[tuple[str, int]]:
    """The sums by term that add up to the total, and the total."""
    rows = [
        ("parameters", estimate.parameters),
        ("gradients", estimate.gradients),
        ("optimizer state", estimate.optimizer),
        ("activations", estimate.activations),
        ("input", estimate.input),
    ]
    if estimate.overhead:
        rows += [(f"overhead: {LABELS.get(name, name)}", size) for name, size in estimate.overhead_parts] or [
            ("overhead", estimate.overhead)
        ]
    return [*rows, ("total", estimate.total)]


def accounting(estimate: Estimate) -> str:
    """`at batch 64, framework accounting, highest in the backward pass, at features.4`."""
    where = f", highest {estimate.moment}" if estimate.moment else ""
    return f"at batch {estimate.batch_size}, {estimate.accounting} accounting{where}"


def verdict(report: ModelReport, settings: Settings) -> str:
    """Whether it fits, by how much, and up to which batch."""
    if report.estimate is None:
        return "no estimate, no verdict"
    if report.limit is None:
        return "no limit is set"
    total, limit = units.show_apart(report.estimate.total, report.limit)
    name = settings.gpu_named(report.limit, report.path)
    gpu = f" ({name})" if name else ""
    at_least = "at least " if report.status == "lower-bound" else ""
    if report.fits is None:
        answer = f"it takes {at_least}{total}; whether it fits is not known"
    elif report.fits:
        answer = f"fits, with {units.show(report.limit - report.estimate.total)} to spare"
    else:
        answer = f"does not fit: {at_least}{units.show(report.estimate.total - report.limit)} over"
    largest = report.largest_batch_size
    at_most = "at most " if report.status == "lower-bound" else ""
    fits = f"; fits up to {at_most}batch {largest}"
    batch = "" if largest is None or largest >= LARGEST_NUMBER else "; not even batch 1 fits" if largest < 1 else fits
    return f"limit {limit}{gpu}: {answer}{batch}"


def total(report: ModelReport) -> str:
    """`12.04 GiB`, `at least 2.1 GiB`, `not estimated`: the figure, as near to the limit as the verdict shows it."""
    if report.estimate is None:
        return STATUS["unresolved"]
    size = report.estimate.total
    shown = units.show(size) if report.limit is None else units.show_apart(size, report.limit)[0]
    return f"at least {shown}" if report.status == "lower-bound" else shown


def fitting(fits: bool | None) -> str:
    """One word for a verdict."""
    return {True: "fits", False: "does not fit", None: ""}[fits]


def shape(sizes: Sequence[int | None]) -> str:
    """`64x224x224`, `?` for a size that is not known; a single value has no sides."""
    return "x".join("?" if size is None else str(size) for size in sizes) or "1"


def mib(size: int) -> str:
    if size > units.LARGEST:
        return f"over {units.LARGEST // units.MIB:,}"
    return f"{size / units.MIB:,.2f}"
