"""Whether evaluations of one file in several orders of its sets say the same of its models.

What they agree on does not depend on the order. The others have no figures at all: the orders that were tried are few,
so that not even the smallest figure among them is a bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.unknown import Unknown


def agreed(first: FileReport, others: Sequence[FileReport], cause: Unknown) -> FileReport:
    """The first of several answers for a file, with `cause` in the place of what the others do not say as well."""
    said = [{figures(report) for report in other.reports} for other in others]
    reports = []
    for report in first.reports:
        told = report.status != "unresolved" or bool(report.problems)
        same = not told or all(figures(report) in each for each in said)
        reports.append(report if same else undecided(report, cause))
    return replace(first, reports=tuple(reports))


def figures(report: ModelReport) -> Hashable:
    """What is told of a model: sizes in the order of its calls, bytes, and which sizes are wrong."""
    estimate, training = report.estimate, report.training
    totals = (estimate.total, estimate.saved, estimate.tensor_peak, estimate.growth) if estimate is not None else ()
    calls = report.model.calls if report.model is not None else ()
    facts = (training.batch_size.value, training.dtype.value, str(training.optimizer.value), training.devices)
    return (
        (report.name, report.line, report.status, report.parameters, report.trainable, totals, facts),
        tuple((call.op.kind, tuple(str(tensor.shape) for tensor in call.outputs)) for call in calls),
        tuple((problem.place.path, problem.place.line, problem.message) for problem in report.problems),
        tuple((growth.line, growth.bytes) for growth in report.growths),
    )


def undecided(report: ModelReport, cause: Unknown) -> ModelReport:
    return ModelReport(
        report.target, report.name, report.path, report.line, report.column, report.framework, "unresolved", (cause,),
        report.training, None, None, None, report.limit, None, kind=report.kind, place=report.place,
        trained_at=report.trained_at,
    )  # fmt: skip
