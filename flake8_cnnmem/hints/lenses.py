"""What stands above a model's class and a training's loop: needs, limit, largest batch, state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import units
from flake8_cnnmem.answers import ModelReport
from flake8_cnnmem.hints.model import Lens
from flake8_cnnmem.report.phrases import status, total
from flake8_cnnmem.settings import LARGEST_NUMBER, Settings
from flake8_cnnmem.source import Source


def lenses_of(reports: Sequence[ModelReport], source: Source, settings: Settings) -> Iterator[Lens]:
    """One for each place of a model: where it is built or defined, its class, the loop that trains it."""
    for report in reports:
        text = f"{report.name}: {said(report, settings)}"
        for line in dict.fromkeys(lines_of(report, source.path)):
            yield Lens(line, text)


def lines_of(report: ModelReport, path: str) -> Iterator[int]:
    sites = [report.trained_at, getattr(getattr(report.model and report.model.root, "cls", None), "site", None)]
    yield from (site.line for site in sites if site is not None and site.path == path)
    if report.path == path:
        yield report.line


def said(report: ModelReport, settings: Settings) -> str:
    """`needs 13.9 GiB at batch 64, over the 12.0 GiB limit, fits up to batch 53 (exact)`."""
    if report.estimate is None:
        return f"{status(report)}: {report.causes[0].at(report.path)}" if report.causes else status(report)
    parts = [f"needs {total(report)} at batch {report.training.batch_words}"]
    if report.limit is not None:
        name = settings.gpu_named(report.limit, report.path)
        limit = units.show_apart(report.estimate.total, report.limit)[1]
        verdict = {True: "within", False: "over", None: "not known to be within"}[report.fits]
        parts.append(f"{verdict} the {limit} limit{f' ({name})' if name else ''}")
        largest = report.largest_batch_size
        if largest is not None and largest < LARGEST_NUMBER:
            parts.append(f"fits up to {report.bound_of_batch}batch {largest}" if largest else "not even batch 1 fits")
    return f"{', '.join(parts)} ({status(report)})"
