"""`cnnmem report TARGET...`: the layers of models, the memory of one training step, and whether it fits."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.cli import stdin
from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, failure_of, place, warn
from flake8_cnnmem.cli.options import add_jobs, add_no_cache, add_output, add_settings, keep_targets, settings_of
from flake8_cnnmem.reporting import FORMATS
from flake8_cnnmem.running.gc_tuning import held_back, seldom_collected
from flake8_cnnmem.source import SourceError, load, shared
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.text.notebook import ENDING as NOTEBOOK

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.cli.targets import FileTarget
    from flake8_cnnmem.reporting.ink import Ink
    from flake8_cnnmem.reporting.summary import SummaryRow
    from flake8_cnnmem.results import ModelReport
    from flake8_cnnmem.settings.options import Settings


ANNOTATE = "annotate"
"""The form that shows files, and not models."""


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "report",
        help="the layers and the memory of models",
        description="The layers of models, the memory of one training step, and whether it fits.",
        epilog="Defaults come from [tool.cnnmem] of pyproject.toml, or [flake8] in setup.cfg, tox.ini or .flake8. "
        "Exit status: 0 all fit or there is no limit, 1 one exceeds the limit or cannot run with its sizes, 2 usage or "
        "unreadable target.",
    )
    command.set_defaults(command=run)
    command.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="PATH (a file, or a folder in summary), PATH::NAME (a class or factory) or PATH::EXPRESSION; - "
        "for code on standard input",
    )
    stdin.add_name(command)
    add_settings(command)
    command.add_argument(
        "--details", action="store_true", help="every model in full, where only a summary would be printed"
    )
    command.add_argument(
        "--depth",
        type=depth,
        default=argparse.SUPPRESS,
        metavar="leaves|N",
        help="how deep modules lie that are rows of the layer table (leaves)",
    )
    command.add_argument("--outputs", action="store_true", help="in brackets behind what a layer keeps, what it writes")
    add_jobs(command)
    add_no_cache(command)
    command.add_argument(
        "--format",
        choices=(*FORMATS, ANNOTATE),
        default="table",
        help="table (the default), json, markdown for a thread, html for a page with the step as a picture, sarif for "
        "code scanning, github for annotations, annotate for the source with shapes and bytes behind its lines",
    )
    add_output(command, "write the report there instead of printing it")


def depth(text: str) -> int | None:
    if text == "leaves":
        return None
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is neither leaves nor a number of levels from 1")
    return int(text)


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.cli.targets import targets_of

    if options.format == "html" and options.output is None and sys.stdout.isatty():
        raise Unusable("--format html is a page for a browser: name its file with -o FILE")
    keep_targets(options.output, options.targets)
    settings = settings_of(options)
    if options.no_cache:
        settings = replace(settings, cache_dir="")
    if options.format == ANNOTATE:
        return annotated(options, settings)
    targets = targets_of(options.targets, options.stdin_filename)
    many = len(targets) > 1 and not all(target.what for target in targets)
    if options.format == "table" and (many or any(map(os.path.isdir, options.targets))):
        return summed(targets, options, settings)
    return in_full(targets, options, settings)


def in_full(targets: Sequence[FileTarget], options: argparse.Namespace, settings: Settings) -> int:
    """Every model with its layers, in the form that is asked for."""
    from flake8_cnnmem.cli.kept import kept
    from flake8_cnnmem.cli.targets import reports_of
    from flake8_cnnmem.reporting.progress import progress

    def work(files: Files) -> tuple[str, bool, bool]:
        reports = [report for target in progress(targets, str) for report in reports_of(target, settings, files)]
        exceeds = any(report.fits is False or report.problems for report in reports)
        return rendered(reports, options, settings), exceeds, bool(reports)

    if len(targets) == 1 and options.format != "html":
        wanted = options.format, getattr(options, "depth", 0), options.outputs, ink_of(options)
        text, exceeds, any_model = kept(targets[0], settings, wanted, work)
    else:
        text, exceeds, any_model = work(DISK)
    if not any_model:
        nothing(options)
    written(text, options)
    return EXCEEDS if exceeds else FITS


@held_back
def rendered(reports: Sequence[ModelReport], options: argparse.Namespace, settings: Settings) -> str:
    """The reports in the form that is asked for."""
    from flake8_cnnmem.reporting import MissingExtra

    try:
        if options.format == "table":
            return tables(reports, options, settings)
        if hasattr(options, "depth") or options.format == "json":
            depth = getattr(options, "depth", None)
            reports = [
                report if report.rows_at is None else replace(report, rows=report.rows_at(depth)) for report in reports
            ]
        return FORMATS[options.format](reports, settings)
    except MissingExtra as error:
        raise Unusable(str(error)) from None


def tables(reports: Sequence[ModelReport], options: argparse.Namespace, settings: Settings) -> str:
    from flake8_cnnmem.reporting import table
    from flake8_cnnmem.reporting.layer_table import TableOptions

    return table.render(
        reports, settings, TableOptions(getattr(options, "depth", None), options.outputs), ink_of(options)
    )


def summed(targets: Sequence[FileTarget], options: argparse.Namespace, settings: Settings) -> int:
    """One row for each model; with --details their tables behind it, without those of mere parts."""
    from flake8_cnnmem.cli.targets import reports_of
    from flake8_cnnmem.cli.workers import cores, in_order, tell
    from flake8_cnnmem.reporting import summary
    from flake8_cnnmem.reporting.ink import Ink
    from flake8_cnnmem.reporting.progress import progress

    reports: list[ModelReport] = []
    lines: list[summary.SummaryRow] = []

    def known() -> Sequence[str]:
        # A line as wide as the terminal would wrap in some.
        width = Ink(columns=(Ink.of(sys.stderr).columns or 80) - 1)
        return summary.table(summary.with_parts(lines), width).splitlines() if lines else ()

    workers = in_order(partial(lines_of, settings=settings), targets, options.jobs or cores())
    for target in progress(targets, str, above=known):
        if options.details:
            found = list(reports_of(target, settings))
            reports += found
            lines += map(summary.line_of, found)
            continue
        done = next(workers)
        tell(done)
        if done.result is None:
            warn(f"{target}: the process that looked at it has died")
        lines += done.result or ()
    if not lines:
        nothing(options)
        return FITS
    ask = "" if options.details else "the layers and the memory of one: cnnmem report PATH::NAME; of all: --details"
    text = summary.render(lines, ink_of(options), ask)
    parts = {(line.name, line.where) for line in summary.with_parts(lines) if line.part_of}
    reports = [report for report in reports if (report.name, f"{report.path}:{report.line}") not in parts]
    if reports:
        text = f"{text}\n\n\n{tables(reports, options, settings)}"
    written(text, options)
    return EXCEEDS if any(line.over for line in lines) else FITS


def lines_of(target: FileTarget, settings: Settings) -> list[SummaryRow]:
    """The rows of one target's models."""
    from flake8_cnnmem.cli.kept import kept
    from flake8_cnnmem.cli.targets import reports_of
    from flake8_cnnmem.reporting.summary import SummaryRow, line_of

    @seldom_collected
    def work(files: Files) -> list[list[Any]]:
        return [line_of(report).as_plain() for report in reports_of(target, settings, files)]

    return [SummaryRow.of_plain(each) for each in kept(target, settings, ("summary",), work)]


def ink_of(options: argparse.Namespace) -> Ink:
    from flake8_cnnmem.reporting.ink import PLAIN, Ink

    return PLAIN if options.output is not None else Ink.of(sys.stdout)


def nothing(options: argparse.Namespace) -> None:
    """Say that there is no model; of a single file of which nothing was evaluated, why."""
    why = ""
    if len(options.targets) == 1 and os.path.isfile(options.targets[0]):
        source = load(options.targets[0])
        if "import" in source.text and not source.may_hold_models():
            why = ", and nothing that it imports leads to a framework of neural networks"
    warn(f"{' '.join(options.targets[:3])}{'' if len(options.targets) <= 3 else ' ...'}: no model found{why}")


def written(text: str, options: argparse.Namespace) -> None:
    from flake8_cnnmem.reporting.output import CannotWrite, deliver

    try:
        deliver(text, options.output)
    except CannotWrite as error:
        raise Unusable(str(error)) from None


def annotated(options: argparse.Namespace, settings: Settings) -> int:
    """Print the files with what an editor would show at their lines."""
    from flake8_cnnmem.cli.targets import targets_of
    from flake8_cnnmem.hints import hints_of
    from flake8_cnnmem.hints.annotated import annotated as with_comments

    texts, exceeds = [], False
    for target in targets_of(options.targets, options.stdin_filename):
        path = target.path
        if target.what or target.found or path.endswith(NOTEBOOK):
            raise Unusable(f"{target}: --format annotate shows Python files, each as a whole")
        try:
            source = target.load()
        except SourceError as error:
            raise Unusable(place(path, error.line, error.reason)) from None
        report, hints = hints_of(shared(path, source.text), settings)
        if report.failure is not None:
            raise Unusable(failure_of(path, report.failure))
        exceeds = exceeds or any(each.fits is False or each.problems for each in report.reports)
        texts.append(with_comments(source.text, hints))
    written("\n".join(texts), options)
    return EXCEEDS if exceeds else FITS
