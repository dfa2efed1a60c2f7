"""The report for people: a model's layers one by one, as the CS231n notes show VGG's, then the memory by term."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tabulate import tabulate

from flake8_cnnmem import units
from flake8_cnnmem.answers import ModelReport
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.settings import Settings

CAUSES_SHOWN = 5


def render(reports: Iterable[ModelReport], settings: Settings) -> str:
    return "\n\n\n".join(model(report, settings) for report in reports)


def model(report: ModelReport, settings: Settings) -> str:
    """One model: heading, causes, layers, memory, verdict."""
    blocks = [heading(report)]
    if report.causes:
        blocks.append(causes(report))
    if report.rows:
        blocks.append(layers(report))
    if report.estimate is not None:
        blocks.append(memory(report.estimate))
    blocks.append(verdict(report, settings))
    return "\n\n".join(blocks)


def heading(report: ModelReport) -> str:
    training = report.training
    facts = [
        f"batch {training.batch_size.value} ({training.batch_size.source})",
        f"{training.optimizer.value} ({training.optimizer.source})",
        f"{training.dtype.value} ({training.dtype.source})",
    ]
    if training.input_shape is not None:
        facts.insert(0, f"input {shape(training.input_shape.value)} ({training.input_shape.source})")
    what = {"exact": "exact", "lower-bound": "a lower bound", "unresolved": "not estimated"}[report.status]
    where = f"{report.path}:{report.line}"
    return one_line(f"{report.name}  {where}  {report.framework}, {what}") + "\n" + one_line(", ".join(facts))


def causes(report: ModelReport) -> str:
    lines = [one_line(f"  {cause.at(report.path)}") for cause in report.causes[:CAUSES_SHOWN]]
    if len(report.causes) > CAUSES_SHOWN:
        lines.append(f"  and {len(report.causes) - CAUSES_SHOWN} more")
    return "\n".join(["not known:", *lines])


def layers(report: ModelReport) -> str:
    """The layer table; `values` are per sample, the bytes for the whole batch, forward only."""
    header = ("layer", "type", "line", "output", "values", "parameters", "MiB")
    rows: list[Sequence[str]] = []
    values, size = sum(row.activations for row in report.rows), sum(row.bytes for row in report.rows)
    given = report.training.input_shape
    if given is not None and None not in given.value:
        inputs = math.prod(side for side in given.value if side is not None)
        values += inputs
        taken = report.estimate.input if report.estimate is not None else 0
        size += taken
        rows.append(("input", "", "", shape(given.value), f"{inputs:,}", "0", mib(taken)))
    for row in report.rows:
        rows.append(
            (
                one_line(row.name),
                one_line(row.type),
                str(row.line or ""),
                shape(row.output_shape),
                f"{row.activations:,}",
                f"{row.parameters:,}",
                mib(row.bytes),
            )
        )
    total = "" if report.parameters is None else f"{report.parameters:,}"
    rows.append(("sum", "", "", "", f"{values:,}", total, mib(size)))
    return tabulate(
        rows,
        headers=header,
        tablefmt="simple",
        disable_numparse=True,
        colalign=("left", "left", "right", "right", "right", "right", "right"),
    )


def memory(estimate: Estimate) -> str:
    """The sums by term."""
    rows = [
        ("parameters", estimate.parameters),
        ("gradients", estimate.gradients),
        ("optimizer state", estimate.optimizer),
        ("activations", estimate.activations),
        ("input", estimate.input),
    ]
    if estimate.overhead:
        rows += [(f"overhead: {name}", size) for name, size in estimate.overhead_parts] or [
            ("overhead", estimate.overhead)
        ]
    rows.append(("total", estimate.total))
    title = f"memory of a training step at batch {estimate.batch_size}, {estimate.accounting} accounting"
    if estimate.moment:
        title += f", highest in {one_line(estimate.moment)}"
    body = tabulate(
        [(one_line(name), units.show(size)) for name, size in rows],
        tablefmt="plain",
        disable_numparse=True,
        colalign=("left", "right"),
    )
    return f"{title}\n{body}"


def verdict(report: ModelReport, settings: Settings) -> str:
    if report.estimate is None:
        return "no estimate, no verdict"
    if report.limit is None:
        return "no limit is set"
    total, limit = units.show_apart(report.estimate.total, report.limit)
    name = settings.gpu_named(report.limit)
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
    batch = "" if largest is None else "; not even batch 1 fits" if largest < 1 else fits
    return f"limit {limit}{gpu}: {answer}{batch}"


def shape(sizes: Sequence[int | None]) -> str:
    """`64x224x224`, `?` for a size that is not known; a single value has no sides."""
    return "x".join("?" if size is None else str(size) for size in sizes) or "1"


def mib(size: int) -> str:
    return f"{size / units.MIB:,.2f}"
