"""What stands above a model's class and a training's loop: needs, limit, largest batch, state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import units
from flake8_cnnmem.hints.model import Lens
from flake8_cnnmem.reporting.phrases import status, total
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.values import Instance

MOST_SAMPLES = 100_000
"""A larger batch says that the input's size is not known, or that nobody has to think of it."""


def lenses_of(reports: Sequence[ModelReport], source: Source, settings: Settings) -> Iterator[Lens]:
    """One for each place of a model: where it is built or defined, the loop that trains it. At a class of which there
    are several models stands the first of them."""
    at_class: set[int] = set()
    for report in reports:
        text = f"{report.name}: {said(report, settings)}"
        lines = list(lines_of(report, source.path))
        own = class_line(report, source.path)
        if own is not None and own not in at_class:
            at_class.add(own)
            lines.append(own)
        yield from (Lens(line, text, report.name) for line in sorted(set(lines)))


def lines_of(report: ModelReport, path: str) -> Iterator[int]:
    if report.trained_at is not None and report.trained_at.path == path:
        yield report.trained_at.line
    if report.path == path:
        yield report.line


def class_line(report: ModelReport, path: str) -> int | None:
    """Where the model's class stands in the file at `path`."""
    root = report.model.root if report.model is not None else None
    site = root.cls.site if isinstance(root, Instance) else None
    return site.line if site is not None and site.path == path else None


def said(report: ModelReport, settings: Settings) -> str:
    """`needs 13.9 GiB at batch 64, over the 12.0 GiB limit, fits up to batch 53 (exact)`."""
    if report.problems:
        lines = dict.fromkeys(str(each.place.line) for each in report.problems)
        return f"{status(report)} (line {', '.join(lines)})"
    if report.estimate is None:
        return f"{status(report)}: {report.causes[0].at(report.path)}" if report.causes else status(report)
    parts = [f"needs {total(report)} at batch {report.training.batch_words}"]
    if report.limit is not None:
        name = settings.gpu_named(report.limit, report.path)
        limit = units.show_apart(report.estimate.total, report.limit)[1]
        verdict = {True: "within", False: "over", None: "not known to be within"}[report.fits]
        parts.append(f"{verdict} the {limit} limit{f' ({name})' if name else ''}")
        largest = report.largest_batch_size
        if largest is not None and largest <= MOST_SAMPLES:
            parts.append(f"fits up to {report.bound_of_batch}batch {largest}" if largest else "not even batch 1 fits")
    return f"{', '.join(parts)} ({status(report)})"
