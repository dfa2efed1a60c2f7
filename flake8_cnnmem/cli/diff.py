"""`cnnmem diff BASE [HEAD]`: the models that differ between two revisions, and what accounts for it."""

from __future__ import annotations

import argparse
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, place, warn
from flake8_cnnmem.cli.options import add_output, add_settings, settings_of

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.difference.changes import ModelChange
    from flake8_cnnmem.results import FileReport
    from flake8_cnnmem.source import Source
    from flake8_cnnmem.text.files import Files


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "diff",
        help="the models that differ between two revisions",
        description="The models that differ between two git revisions: memory, largest batch and parameters before "
        "and after, the verdict, and what accounts for the change. The work tree is not touched.",
        epilog="Limits and options are those that the work tree configures, for both revisions. "
        "Exit status: 0, 1 for what --fail-on names, 2 usage.",
    )
    command.set_defaults(command=run)
    command.add_argument("base", metavar="BASE", help="a commit, a branch, a tag")
    command.add_argument("head", metavar="HEAD", nargs="?", help="another one; the work tree if left out")
    command.add_argument(
        "--fail-on",
        type=failure,
        action="append",
        metavar="WHAT",
        help="over-limit (the default): a model that changed or is new exceeds its limit; increase=10%%: a model "
        "takes that much more; may be given several times",
    )
    add_settings(command)
    command.add_argument(
        "--format", choices=("table", "json", "markdown"), default="table", help="table (the default), json or markdown"
    )
    add_output(command, "write the answer there instead of printing it")


def failure(text: str) -> Fraction | None:
    """What `--fail-on` names: None for over-limit, else the share of the memory before."""
    if text == "over-limit":
        return None
    match = re.fullmatch(r"increase=(\d{1,6}(?:\.\d{1,6})?)%?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither over-limit nor increase=10%")
    return Fraction(match[1]) / 100


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.cli.targets import analysed
    from flake8_cnnmem.difference.changes import entry_of
    from flake8_cnnmem.difference.git import GitError
    from flake8_cnnmem.difference.pairs import matched
    from flake8_cnnmem.difference.repository import Repository
    from flake8_cnnmem.difference.revisions import Sides
    from flake8_cnnmem.reporting.difference import FORMATS, Difference
    from flake8_cnnmem.reporting.output import CannotWrite, deliver
    from flake8_cnnmem.reporting.progress import progress

    settings = settings_of(options)

    def evaluate(source: Source, files: Files) -> FileReport:
        return analysed(source, settings, files=files)

    try:
        repository = Repository(os.getcwd())
        sides = Sides.of(repository, options.base, options.head)
    except GitError as error:
        raise Unusable(str(error)) from None
    try:
        compared = [
            found
            for pair in progress(sides.pairs, lambda pair: pair.after or pair.before or "")
            if (found := sides.compare(pair, evaluate)) is not None
        ]
    finally:
        sides.close()
    problems = tuple(problem for each in compared for problem in each.problems)
    for problem in problems:
        warn(place(problem.path, problem.line, f"not compared: {problem.reason}"))
    matches = matched(compared)
    for _, after in matches:
        if after is not None and after.status == "unresolved":
            why = after.causes[0].at(after.path) if after.causes else "something in it could not be followed"
            warn(place(after.path, after.line, f"{after.name} is not estimated: {why}"))
    entries = tuple(entry for before, after in matches if (entry := entry_of(before, after, settings)) is not None)
    text = FORMATS[options.format](Difference(options.base, options.head or "", entries, problems))
    try:
        deliver(text, options.output)
    except CannotWrite as error:
        raise Unusable(str(error)) from None
    wanted = options.fail_on or [None]
    return EXCEEDS if any(fails(entry, what) for entry in entries for what in wanted) else FITS


def fails(entry: ModelChange, what: Fraction | None) -> bool:
    if what is None:
        return entry.after is not None and entry.after.fits is False
    if entry.bytes is None or entry.before is None or entry.before.estimate is None:
        return False
    return entry.bytes > what * entry.before.estimate.total
