"""`cnnmem check [PATH...]`: the findings, as flake8 would print them, for projects that do not run flake8."""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.cli import stdin
from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, failure_of, place, warn
from flake8_cnnmem.cli.options import add_jobs, add_no_cache, add_output, add_settings, configured, settings_of
from flake8_cnnmem.cli.usage import near_path
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings import configuration
from flake8_cnnmem.settings.options import BadValue

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.cli.linting import Selection
    from flake8_cnnmem.finding import Finding
    from flake8_cnnmem.findings import FileFindings
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source

FORMATS = ("text", "json", "markdown", "sarif", "github")


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "check",
        help="the findings without flake8",
        description="The findings that flake8 would print, without flake8: of Python files and notebooks.",
        epilog=f"Configured by {configuration.TABLE}, or by [flake8] in setup.cfg, tox.ini or .flake8. "
        "Exit status: 0 nothing found, 1 something, or not all was checked that depends on the files given, 2 usage.",
    )
    command.set_defaults(command=run)
    command.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders, all here if none; - for standard input",
    )
    for name in configuration.CODE_LISTS:
        command.add_argument(f"--{name}", type=codes, metavar="CODES", help="as flake8's")
    for name in ("exclude", "extend-exclude"):
        command.add_argument(f"--{name}", type=patterns, metavar="PATTERNS", help="as flake8's")
    command.add_argument("--disable-noqa", action="store_true", help="report what '# noqa' silences, too")
    add_settings(command)
    add_jobs(command)
    add_no_cache(command)
    command.add_argument(
        "--shard",
        type=shard,
        metavar="I/N",
        help="the Ith of N parts of the files, for N machines that share the work; a file's path decides its part",
    )
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text (the default, as flake8's), json, markdown, sarif for code scanning, github for annotations",
    )
    command.add_argument("--exit-zero", action="store_true", help="end with 0 also where something is found")
    command.add_argument("-q", "--quiet", action="store_true", help="leave out the line that says how many models fit")
    command.add_argument("--statistics", action="store_true", help="how often each code is found, behind the findings")
    stdin.add_name(command)
    add_output(command, "write the findings there instead of printing them")


def codes(text: str) -> Sequence[str]:
    try:
        return configuration.listed("select", text, "the command line", os.getcwd())
    except BadValue as error:
        raise argparse.ArgumentTypeError(slip(re.split(r"[,\s]+", text)) or str(error)) from None


def patterns(text: str) -> Sequence[str]:
    return configuration.listed("exclude", text, "the command line", os.getcwd())


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of the files, counted from 1."""

    number: int
    of: int

    def has(self, path: str) -> bool:
        """Whether a file is in it: its path decides, and not what other files there are."""
        name = os.path.relpath(path).replace(os.sep, "/")
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


def shard(text: str) -> Shard:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) < 10_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of a whole, as 2/8 is")
    return Shard(int(number), int(of))


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.cli.closing import closing
    from flake8_cnnmem.cli.workers import cores, in_order, tell
    from flake8_cnnmem.finding import one_line
    from flake8_cnnmem.reporting import FINDINGS
    from flake8_cnnmem.reporting.output import CannotWrite, deliver
    from flake8_cnnmem.reporting.progress import clear, progress

    settings = settings_of(options)
    if options.no_cache:
        settings = replace(settings, cache_dir="")
    selection = selection_of(options)
    for path in options.paths:
        if path != stdin.DASH and not os.path.exists(path):
            raise Unusable(f"{path}: no such file or folder{near_path(path)}")
    wanted = selection.codes()
    known_codes(selection)
    found: list[Finding] = []
    answers: list[FileFindings] = []
    if stdin.DASH in options.paths and options.paths != [stdin.DASH]:
        raise Unusable("- is code on standard input, and stands alone")
    if options.statistics and options.format != "text":
        raise Unusable("--statistics counts in text: leave --format out")
    if options.shard is not None and stdin.DASH in options.paths:
        raise Unusable("--shard divides files: code on standard input is none")
    files: list[str] = []
    whole = True
    if stdin.DASH not in options.paths:
        files, whole = files_to_check(options.paths, selection, settings)
    if options.shard is not None:
        files = [path for path in files if options.shard.has(path)]
    work = partial(answer_of, settings=settings, selection=selection, wanted=wanted)
    workers = in_order(work, files, options.jobs or cores())
    for path in progress(files, str):
        done = next(workers)
        tell(done)
        if done.result is None:
            warn(f"{path}: the process that looked at it has died")
        else:
            answers.append(done.result)
            found += done.result.findings
    if stdin.DASH in options.paths:
        answers.append(answer_on_stdin(options.stdin_filename, settings, selection, wanted))
        found += answers[-1].findings
    # Paths as all commands name them: without flake8's `./`.
    text = FINDINGS[options.format]([replace(each, path=os.path.normpath(each.path)) for each in found])
    if options.statistics:
        text = "\n".join(filter(None, [text, statistics(found)]))
    try:
        deliver(text, options.output)
    except CannotWrite as error:
        raise Unusable(str(error)) from None
    if not options.quiet:
        clear()
        print(one_line(closing(answers, settings)), file=sys.stderr)
    # What a change reaches and nobody looked at may exceed its limit: that is no success.
    return EXCEEDS if (found or not whole) and not options.exit_zero else FITS


def statistics(found: Sequence[Finding]) -> str:
    """`3  CNM101  The estimated training memory exceeds the configured GPU limit`, the most frequent code first."""
    from flake8_cnnmem.reporting.pages import named, title

    counts = Counter(finding.code for finding in found)
    width = len(str(max(counts.values(), default=0)))
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return "\n".join(f"{number:>{width}}  {code}  {title(named(code))}" for code, number in ordered)


def files_to_check(paths: Sequence[str], selection: Selection, settings: Settings) -> tuple[list[str], bool]:
    """The files below these paths, and whether that is all that is to be checked. Where files are named, as by a hook,
    those of the project as well that import or read one of them: the training that a change makes too large may stand
    elsewhere."""
    from flake8_cnnmem.cli.asked_names import MODULES, SETTINGS
    from flake8_cnnmem.cli.project import with_dependents
    from flake8_cnnmem.findings import store_of

    folders = [path for path in paths if os.path.isdir(path)]
    named = [path for path in paths if not os.path.isdir(path)]
    whole = True
    found = selection.files(folders or ["."]) if folders or not named else []
    if named:
        kinds = [f"*{ending}" for ending in (*MODULES, *SETTINGS)]
        reached, whole = with_dependents(selection.files(named, kinds), selection, store_of(settings))
        found += reached
    return sorted(dict.fromkeys(found)), whole


def known_codes(selection: Selection) -> None:
    """Raises Unusable for a code that begins as ours do, and is none."""
    for words in (selection.select, selection.ignore, selection.extend_select, selection.extend_ignore):
        said = slip(words or ())
        if said is not None:
            raise Unusable(said)


def slip(words: Sequence[str]) -> str | None:
    """What to say of the first word that begins as our codes do and is none."""
    from flake8_cnnmem import checks

    ours = [check.code for check in checks.every()]
    for word in words:
        if word.startswith("CNM") and not any(code.startswith(word) for code in ours):
            return f"{word} is no code: did you mean {difflib.get_close_matches(word, ours, 1, 0.0)[0]}?"
    return None


def selection_of(options: argparse.Namespace) -> Selection:
    """The configuration's lists, and over them those of the command line."""
    from flake8_cnnmem.cli.linting import Selection

    found = configured(options)
    lists: dict[str, Any] = {name.replace("-", "_"): words for name, words in found.lists.items()}
    for name in configuration.LISTS:
        given = getattr(options, name.replace("-", "_"), None)
        if given is not None:
            lists[name.replace("-", "_")] = given
    return Selection(
        **lists,
        per_file_ignores=found.per_file_ignores,
        disable_noqa=getattr(options, "disable_noqa", False) or found.disable_noqa,
    )


def answer_of(path: str, settings: Settings, selection: Selection, wanted: frozenset[str]) -> FileFindings:
    """What is found in one file. What cannot be read or parsed is told; saying why is another linter's business."""
    from flake8_cnnmem.findings import FileFindings
    from flake8_cnnmem.source import SourceError, load

    try:
        return answer_for(load(path), settings, selection, wanted)
    except SourceError as error:
        warn(place(path, error.line, error.reason))
        return FileFindings()


def answer_on_stdin(name: str, settings: Settings, selection: Selection, wanted: frozenset[str]) -> FileFindings:
    """The same of the code on standard input; that it cannot be read is an error."""
    from flake8_cnnmem.source import SourceError

    try:
        return answer_for(stdin.source(name), settings, selection, wanted)
    except SourceError as error:
        raise Unusable(place(name, error.line, error.reason)) from None


def answer_for(source: Source, settings: Settings, selection: Selection, wanted: frozenset[str]) -> FileFindings:
    """What is found in a text. Raises SourceError where it does not parse."""
    from flake8_cnnmem.cli.linting import shown
    from flake8_cnnmem.cli.targets import tell_cells
    from flake8_cnnmem.findings import FileFindings, findings_of
    from flake8_cnnmem.source import mentions_framework

    if mentions_framework(source.text):
        source.tree  # noqa: B018  what does not parse is told
    if not source.may_hold_models():
        return FileFindings()
    tell_cells(source)
    answer = findings_of(source, settings, wanted)
    if answer.failure is not None and "CNM301" not in wanted:
        warn(failure_of(source.path, answer.failure))
    return replace(answer, findings=tuple(shown(source, answer.findings, selection)))
