"""The findings of one file: from the cache on disk where nothing has changed that they depend on, else worked out."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import astuple, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import checks
from flake8_cnnmem.cache import FOLDER, Store, noted, remembered
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.running.gc_tuning import seldom_collected
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import Files
from flake8_cnnmem.unknown import STRICT, Unknown, internal_error

if TYPE_CHECKING:
    from flake8_cnnmem.results import ModelReport


@dataclass(frozen=True, slots=True)
class Standing:
    """How a model or training stands to its limit, in bytes. `total` is None for what is not estimated."""

    path: str
    status: str
    total: int | None
    limit: int | None
    fits: bool | None
    wrong: bool = False
    """Whether it cannot run with its sizes."""
    training: bool = False
    defined_at: tuple[str, int, int] = ("", 0, 0)
    """Where its class or factory stands: the absolute path, the first and the last line."""
    made_of: tuple[tuple[str, int], ...] = ()
    """Of a training, where the classes stand that it trains."""


@dataclass(frozen=True, slots=True)
class FileFindings:
    """What is found in a file, in order of place, why its models were not looked for, where they were not, and how they
    stand. `missing` is why there may be models where none was found."""

    findings: tuple[Finding, ...] = ()
    failure: Unknown | None = None
    models: tuple[Standing, ...] = ()
    missing: Unknown | None = None


WITHOUT_FIGURES = frozenset({"CNM101", "CNM102", "CNM201", "CNM202", "CNM901"})
"""The codes that have nothing to say by the bytes of a model that nothing trains and that no limit is set for."""


def asked(source: Source, settings: Settings, codes: Collection[str], figures: bool = True) -> tuple[object, ...]:
    """All that decides the answer beside the files that are read."""
    import hashlib

    text = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
    what = "findings" if figures else "findings alone"
    return (what, source.path, text, plain(settings), sorted(codes), [noted(each) for each in sys.path])


def findings_of(source: Source, settings: Settings, codes: Collection[str], standings: bool = True) -> FileFindings:
    """The findings with these codes. An error of ours is the answer's failure, and is not kept. Where nobody reads the
    `standings` of the models, what no finding depends on is not counted."""
    figures = standings or not WITHOUT_FIGURES.issuperset(codes)

    # What the checks ask of a report (remedies, the largest batch) is worked out while they run.
    @seldom_collected
    def work(files: Files) -> dict[str, Any]:
        from flake8_cnnmem.analysis import FileReport, analyse

        if set(codes) == {"CNM901"}:
            report = FileReport(source.path, directives=source.directives)
        else:
            report = analyse(source, settings, files=files, figures=figures)
        found = checks.run(report, settings, codes)
        return {
            # What stands in another file is told where that one is checked.
            "findings": [astuple(each)[1:] for each in checks.grouped(found) if each.path == source.path],
            "failure": None if report.failure is None else told(report.failure),
            "models": [astuple(standing(each)) for each in report.reports],
            "missing": told(report.missing[0]) if report.missing and not report.reports else None,
        }

    try:
        store = store_of(settings)
        answer = remembered(store, () if store is None else asked(source, settings, codes, figures), work)
    except Exception as error:
        if os.environ.get(STRICT):
            raise
        from flake8_cnnmem.results import FileReport

        failed = FileReport(source.path, failure=internal_error(error))
        return FileFindings(tuple(checks.run(failed, settings, codes)), failed.failure)
    failure, missing = answer["failure"], answer["missing"]
    return FileFindings(
        tuple(Finding(source.path, *each) for each in answer["findings"]),
        None if failure is None else Unknown(*failure),
        tuple(map(kept_standing, answer["models"])),
        None if missing is None else Unknown(*missing),
    )


def told(cause: Unknown) -> list[Any]:
    """A cause for JSON to keep."""
    return [cause.reason, cause.path, cause.line]


def kept_standing(kept: Sequence[Any]) -> Standing:
    """A model's standing as JSON has kept it."""
    path, status, total, limit, fits, wrong, training, defined_at, made_of = kept
    places = tuple((path, line) for path, line in made_of)
    return Standing(path, status, total, limit, fits, wrong, training, tuple(defined_at), places)


def standing(report: ModelReport) -> Standing:
    training = report.kind == "training"
    path, first, last = report.defined_at
    return Standing(
        report.path,
        report.status,
        report.estimate.total if report.estimate else None,
        report.limit,
        report.fits,
        bool(report.problems),
        training,
        (noted(path) if path else "", first, last),
        tuple(sorted((noted(path), line) for path, line in report.made_of)) if training else (),
    )


def plain(settings: Settings) -> Settings:
    """The settings that decide an answer, with the paths in them as they are noted."""
    return replace(
        settings,
        cache_dir=None,
        search_path=None if settings.search_path is None else tuple(map(noted, settings.search_path)),
        stubs=None if settings.stubs is None else noted(settings.stubs),
        per_file_limits=tuple(replace(each, pattern=noted(each.pattern)) for each in settings.per_file_limits),
    )


def store_of(settings: Settings) -> Store | None:
    """The cache of the project whose root is the working directory; None where there is to be none."""
    if settings.cache_dir == "" or os.environ.get(STRICT):
        return None
    return opened(os.path.abspath(settings.cache_dir or FOLDER))


@cache
def opened(folder: str) -> Store | None:
    return Store.open(folder)
