"""`cnnmem report TARGET...`: the layers of models, the memory of one training step, and whether it fits."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, failure_of, warn
from flake8_cnnmem.cli.options import add_output, add_settings, keep_targets, settings_of
from flake8_cnnmem.notebook import ENDING as NOTEBOOK
from flake8_cnnmem.report import FORMATS
from flake8_cnnmem.source import shared

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.settings import Settings


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
        help="PATH (every model of a file or folder), PATH::NAME (a class or factory) or PATH::EXPRESSION",
    )
    add_settings(command)
    command.add_argument(
        "--format",
        choices=(*FORMATS, ANNOTATE),
        default="table",
        help="table (the default), json, markdown for a thread, html for a page with the step as a picture, sarif for "
        "code scanning, github for annotations, annotate for the source with shapes and bytes behind its lines",
    )
    add_output(command, "write the report there instead of printing it")


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.cli.targets import reports_of
    from flake8_cnnmem.report import MissingExtra
    from flake8_cnnmem.report.output import CannotWrite, deliver
    from flake8_cnnmem.report.progress import progress

    if options.format == "html" and options.output is None and sys.stdout.isatty():
        raise Unusable("--format html is a page for a browser: name its file with -o FILE")
    keep_targets(options.output, options.targets)
    settings = settings_of(options)
    if options.format == ANNOTATE:
        return annotated(options, settings)
    alone = len(options.targets) == 1
    targets = progress(options.targets, str)
    reports = [report for text in targets for report in reports_of(text, settings, alone)]
    if not reports:
        warn(f"{' '.join(options.targets[:3])}{'' if len(options.targets) <= 3 else ' ...'}: no model found")
    try:
        deliver(FORMATS[options.format](reports, settings), options.output)
    except (CannotWrite, MissingExtra) as error:
        raise Unusable(str(error)) from None
    return EXCEEDS if any(report.fits is False or report.problems for report in reports) else FITS


def annotated(options: argparse.Namespace, settings: Settings) -> int:
    """Print the files with what an editor would show at their lines."""
    from flake8_cnnmem.cli.targets import load_target
    from flake8_cnnmem.hints import hints_of
    from flake8_cnnmem.hints.annotated import annotated as with_comments
    from flake8_cnnmem.report.output import CannotWrite, deliver

    texts, exceeds = [], False
    for path in options.targets:
        if "::" in path or not os.path.isfile(path) or path.endswith(NOTEBOOK):
            raise Unusable(f"{path}: --format annotate shows Python files, each as a whole")
        source = load_target(path)
        report, hints = hints_of(shared(path, source.text), settings)
        if report.failure is not None:
            raise Unusable(failure_of(path, report.failure))
        exceeds = exceeds or any(each.fits is False or each.problems for each in report.reports)
        texts.append(with_comments(source.text, hints))
    try:
        deliver("\n".join(texts), options.output)
    except CannotWrite as error:
        raise Unusable(str(error)) from None
    return EXCEEDS if exceeds else FITS
