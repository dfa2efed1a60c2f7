"""What stands beside the source for who reads it: shapes, parameters and bytes at the expressions that they belong to.

`hints_of` analyses a file once and gives plain data; an editor's server and `--format annotate` show it. Whose figures
stand at a line that several models of the file run is decided in `file_hints`: those of the first of `by_weight`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.hints.collected import Collected
from flake8_cnnmem.hints.lenses import lenses_of
from flake8_cnnmem.hints.model import FileHints, Hint, Lens, Span, Told
from flake8_cnnmem.hints.places import Places
from flake8_cnnmem.hints.shown import hint_at, parameters_of, told_at, without_repeats
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import STRICT, internal_error

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.noting import Note

__all__ = ["FileHints", "Hint", "Lens", "Span", "Told", "hints_of"]


def hints_of(
    source: Source, settings: Settings, files: Files = DISK, target: str | None = None
) -> tuple[FileReport, FileHints]:
    """A file's report and its hints, from one analysis; of one of its models alone if `target` names one.

    `source` is one of which nothing has been compiled. Raises nothing but TargetError, where `target` names nothing: an
    error of ours is the report's failure, and gives no hints.
    """
    from flake8_cnnmem.analysis import TargetError, analyse
    from flake8_cnnmem.evaluate.noting import Notes

    notes = Notes(source.path)
    try:
        report = analyse(source, settings, target, files, notes)
        return report, file_hints(source, report, notes.found, settings)
    except TargetError:
        raise
    except Exception as error:
        if os.environ.get(STRICT):
            raise
        return FileReport(source.path, failure=internal_error(error)), FileHints(source.path)


def file_hints(source: Source, report: FileReport, notes: Sequence[Note], settings: Settings) -> FileHints:
    """The hints of a file whose analysis has noted these values."""
    places = Places(source.text)
    collected = Collected(source.path, places, notes)
    taken: dict[Span, Told] = {}
    hints: dict[Span, Hint] = {}
    models = by_weight(report.reports)
    for each in models:
        for found in collected.of(each):
            if found.span not in taken:
                counts = [parameters_of(layer, each) for layer in found.layers]
                taken[found.span] = told_at(found, each, counts)
                hint = hint_at(found, each, counts)
                if hint is not None:
                    hints[found.span] = hint
    return FileHints(
        source.path,
        tuple(without_repeats(hints.values())),
        tuple(taken.values()),
        tuple(lenses_of(models, source, settings)),
    )


def by_weight(reports: Sequence[ModelReport]) -> list[ModelReport]:
    """The models of a file, whose figures matter most first: what does not fit, then trainings, then by size."""

    def weight(report: ModelReport) -> tuple[bool, bool, int]:
        size = report.estimate.total if report.estimate is not None else 0
        return report.fits is not False, report.kind != "training", -size

    return sorted(reports, key=weight)
