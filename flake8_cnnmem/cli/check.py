"""`cnnmem check [PATH...]`: the findings, as flake8 would print them, for projects that do not run flake8."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import configuration
from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, failure_of, place, warn
from flake8_cnnmem.cli.options import add_settings, settings_of
from flake8_cnnmem.settings import BadValue

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.cli.linting import Selection
    from flake8_cnnmem.finding import Finding
    from flake8_cnnmem.settings import Settings

FORMATS = ("text", "json", "markdown", "sarif", "github")


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "check",
        help="the findings without flake8",
        description="The findings that flake8 would print, without flake8: of Python files and notebooks.",
        epilog=f"Configured by {configuration.TABLE}, or by [flake8] in setup.cfg, tox.ini or .flake8. "
        "Exit status: 0 nothing found, 1 something, 2 usage.",
    )
    command.set_defaults(command=run)
    command.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the working directory if none")
    for name in configuration.CODE_LISTS:
        command.add_argument(f"--{name}", type=codes, metavar="CODES", help="as flake8's")
    for name in ("exclude", "extend-exclude"):
        command.add_argument(f"--{name}", type=patterns, metavar="PATTERNS", help="as flake8's")
    command.add_argument("--disable-noqa", action="store_true", help="report what '# noqa' silences, too")
    add_settings(command)
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text (the default, as flake8's), json, markdown, sarif for code scanning, github for annotations",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write the findings there instead of printing them")


def codes(text: str) -> Sequence[str]:
    try:
        return configuration.listed("select", text, "the command line", os.getcwd())
    except BadValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def patterns(text: str) -> Sequence[str]:
    return configuration.listed("exclude", text, "the command line", os.getcwd())


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.report import FINDINGS
    from flake8_cnnmem.report.output import CannotWrite, deliver
    from flake8_cnnmem.report.progress import progress

    settings = settings_of(options)
    selection = selection_of(options)
    for path in options.paths:
        if not os.path.exists(path):
            raise Unusable(f"{path}: no such file or folder")
    wanted = selection.codes()
    found: list[Finding] = []
    for path in progress(selection.files(options.paths), str):
        found += findings_in(path, settings, selection, wanted)
    try:
        deliver(FINDINGS[options.format](found), options.output)
    except CannotWrite as error:
        raise Unusable(str(error)) from None
    return EXCEEDS if found else FITS


def selection_of(options: argparse.Namespace) -> Selection:
    """The configuration's lists, and over them those of the command line."""
    from flake8_cnnmem.cli.linting import Selection

    found = configuration.find()
    lists: dict[str, Any] = {name.replace("-", "_"): words for name, words in found.lists.items()}
    for name in configuration.LISTS:
        given = getattr(options, name.replace("-", "_"))
        if given is not None:
            lists[name.replace("-", "_")] = given
    return Selection(
        **lists,
        per_file_ignores=found.per_file_ignores,
        disable_noqa=options.disable_noqa or found.disable_noqa,
    )


def findings_in(path: str, settings: Settings, selection: Selection, wanted: frozenset[str]) -> Sequence[Finding]:
    """The findings of one file. What cannot be read or parsed is told; saying why is another linter's business."""
    from flake8_cnnmem import checks
    from flake8_cnnmem.cli.linting import shown
    from flake8_cnnmem.cli.targets import analysed, tell_cells
    from flake8_cnnmem.source import SourceError, load, mentions_framework

    try:
        source = load(path)
        if not mentions_framework(source.text):
            return ()
        source.tree  # noqa: B018  what does not parse is told
    except SourceError as error:
        warn(place(path, error.line, error.reason))
        return ()
    if not source.may_hold_models():
        return ()
    tell_cells(source)
    report = analysed(source, settings)
    if report.failure is not None and "CNM301" not in wanted:
        warn(failure_of(path, report.failure))
    found = checks.run(report, settings, wanted)
    return shown(source, [finding for finding in found if finding.path == path], selection)
