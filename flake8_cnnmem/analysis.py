"""The whole pipeline, from a file's text to its models with their estimates: read this first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem import package_sources
from flake8_cnnmem.agreement import agreed
from flake8_cnnmem.evaluate.native_state import natives_put_back
from flake8_cnnmem.model_report import report_model
from flake8_cnnmem.model_report.repeated import told_once
from flake8_cnnmem.results import Drop, FileReport, LayerProblem, ModelReport, Row
from flake8_cnnmem.running.frame_stack import with_room_below
from flake8_cnnmem.running.gc_tuning import seldom_collected
from flake8_cnnmem.settings import environments, workspaces
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import SHELF, Source, SourceError
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import STRICT, Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.noting import Notes

__all__ = ["Drop", "FileReport", "LayerProblem", "ModelReport", "Row", "TargetError", "analyse"]


class TargetError(Exception):
    """`target` names nothing that can be built; the message is one plain sentence that says so."""


@seldom_collected
@with_room_below
def analyse(
    source: Source,
    settings: Settings,
    target: str | None = None,
    files: Files = DISK,
    notes: Notes | None = None,
    placed: bool = True,
    figures: bool = True,
) -> FileReport:
    """The models of a file, in the order of their lines, each distinct one once.

    `target` is None for every model that the file defines, or the name of a class or factory of the file, or any
    expression in its scope (`ResNet(Bottleneck, [3, 4, 6, 3])`); TargetError if it is no expression or names nothing.
    Models that a `# cnnmem: skip` is meant for are left out, unless `target` asks for them. What the file imports is
    read from `files`. What the file's expressions give goes into `notes`, if there are any: of a `Source` that is new.
    Unless `placed` is false, the edit is looked for after which no size is wrong, and its line told. Unless `figures`
    are asked for, the bytes of models are not counted that nothing trains and that no limit is set for.

    Raises nothing else: what cannot be read, parsed or followed is the report's `failure` or a model's causes.
    """
    from flake8_cnnmem.evaluate.unordered import sets_in_order

    with SHELF.kept_in_use():
        with sets_in_order(0) as order:
            first = in_one_order(source, settings, target, files, notes, figures)
        if target is None and notes is None and placed and any(report.problems for report in first.reports):
            first = with_lines_told(source, settings, files, figures)
        if order.cause is None or not any(report.estimate is not None or report.problems for report in first.reports):
            return first
        others = []
        for number in order.others:
            with sets_in_order(number):
                others.append(in_one_order(source, settings, target, files, figures=figures))
    return agreed(first, others, order.cause)


MOST_NOTES = 30_000
"""Notes that each analysis takes, for the case that a size is wrong."""


def with_lines_told(source: Source, settings: Settings, files: Files, figures: bool) -> FileReport:
    """The report of a file in which a size is wrong, with the lines that have to change. Only now is the file evaluated
    once more with notes of what its expressions give: most files have nothing to be told of, and notes cost."""
    from flake8_cnnmem.evaluate.noting import Notes
    from flake8_cnnmem.evaluate.unordered import sets_in_order

    # Its rules are read only where a size is wrong.
    from flake8_cnnmem.smallest_edit import with_lines_to_change

    def evaluated(text: Source, notes: Notes | None = None) -> FileReport:
        with sets_in_order(0):
            return in_one_order(text, settings, None, files, notes, figures)

    # Nothing may have been compiled of what is noted.
    own = Source(source.path, source.text, notebook=source.notebook)
    own.syntax, own.own_tree = source.syntax, source.own_tree
    notes = Notes(source.path, MOST_NOTES)
    told = with_lines_to_change(evaluated(own, notes), own, evaluated, notes)
    notes.close()
    return told


@natives_put_back()
def in_one_order(
    source: Source,
    settings: Settings,
    target: str | None,
    files: Files,
    notes: Notes | None = None,
    figures: bool = True,
) -> FileReport:
    """The models of a file, where its sets are gone through in one order."""
    from flake8_cnnmem import models
    from flake8_cnnmem.evaluate.noting import noting

    strict = bool(os.environ.get(STRICT))
    folders = search_folders(settings, files)
    try:
        directives = source.directives
        missing: tuple[Unknown, ...] = ()
        with noting(notes):
            if target is None:
                devices, stubs = settings.devices_for(source.path), settings.stubs or ""
                roots, missing = models.evaluate_file(source, folders, strict, files, devices, stubs)
            else:
                roots = models.evaluate_target(source, target, folders, strict, files, settings.stubs or "")
            reports = [report_model(root, source, settings, target is not None, figures) for root in roots]
    except models.TargetError as error:
        raise TargetError(str(error)) from None
    except SourceError as error:
        return FileReport(source.path, failure=Unknown(error.reason, source.path, error.line))
    fitted = [root.fit is not None for root in roots]
    found = told_once([(report, own) for report, own in zip(reports, fitted, strict=True) if report is not None])
    told = {cause.reason for report in found for cause in report.causes}
    missing = tuple(each for each in missing if each.reason not in told)
    return FileReport(source.path, found, directives, missing=missing)


def search_folders(settings: Settings, files: Files = DISK) -> Sequence[str]:
    """Where imports are looked up: the option's folders, the project's root, its `src` and what else its build files
    name, then the packages of the project's environments, those of the running interpreter, the other projects of its
    repository, and at last the sources that were added without installing anything."""
    root = os.getcwd()
    # Who names a package's folder does not mean to lose the project's own.
    own = [*(settings.search_path or ()), *workspaces.own_folders(root, files)]
    installed = environments.search_folders(own, root, files)
    return [
        *installed,
        *workspaces.beside(root, files),
        *(each for each in package_sources.code_folders(settings.cache_dir, files) if files.is_folder(each)),
    ]
