"""The command `cnnmem`: arguments in, a report out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

import flake8_cnnmem
from flake8_cnnmem import configuration
from flake8_cnnmem.analysis import TargetError, analyse
from flake8_cnnmem.answers import FileReport, ModelReport
from flake8_cnnmem.settings import OPTIONS, BadValue, Settings
from flake8_cnnmem.source import Source, SourceError, load
from flake8_cnnmem.unknown import STRICT, Unknown, internal_error

FITS, EXCEEDS, UNUSABLE = 0, 1, 2


class Unusable(Exception):
    """A target that cannot be reported; the message is one plain sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `cnnmem` and gives its exit status: 0 all fit or there is no limit, 1 one exceeds it, 2 unusable."""
    # A name that the terminal's encoding does not have is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # `cnnmem gpus | head`: whoever read has seen enough. Python must not flush into the closed pipe on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FITS
    except Unusable as error:
        print(f"cnnmem: error: {error}", file=sys.stderr)
        return UNUSABLE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cnnmem", description="GPU memory of training a neural network, read from its source code."
    )
    parser.add_argument("--version", action="version", version=f"cnnmem {flake8_cnnmem.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    report = commands.add_parser(
        "report",
        help="the layers and the memory of models",
        description="The layers of models, the memory of one training step, and whether it fits.",
        epilog="Defaults come from [flake8] in setup.cfg, tox.ini or .flake8 (cnnmem-gpu-limit and so on). "
        "Exit status: 0 all fit or there is no limit, 1 one exceeds the limit, 2 usage or unreadable target.",
    )
    report.set_defaults(command=report_command)
    report.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="PATH (every model of a file or folder), PATH::NAME (a class or factory) or PATH::EXPRESSION",
    )
    for option in OPTIONS:
        report.add_argument(
            f"--{option.name}",
            type=configuration.typed(option.parse),
            # Absent when not given: `--gpu-limit none` is None, and more than nothing said.
            default=argparse.SUPPRESS,
            metavar=option.metavar,
            help=option.help.replace("%", "%%"),
        )
    report.add_argument("--format", choices=("table", "json"), default="table", help="table (the default) or json")

    gpus = commands.add_parser("gpus", help="the known GPUs and their memory", description="The known GPUs.")
    gpus.set_defaults(command=gpus_command)
    return parser


def report_command(options: argparse.Namespace) -> int:
    settings = settings_of(options)
    alone = len(options.targets) == 1
    reports = [report for text in options.targets for report in reports_of(text, settings, alone)]
    if not reports:
        _warn(f"{' '.join(options.targets[:3])}{'' if len(options.targets) <= 3 else ' ...'}: no model found")
    if options.format == "json":
        from flake8_cnnmem.report import as_json

        print(as_json.render(reports))
    elif reports:
        from flake8_cnnmem.report import table

        print(table.render(reports, settings))
    return EXCEEDS if any(report.fits is False for report in reports) else FITS


def settings_of(options: argparse.Namespace) -> Settings:
    """The configuration's values, and over them those of the command line."""
    try:
        values = configuration.read()
    except BadValue as error:
        raise Unusable(str(error)) from None
    given = {option.field: getattr(options, option.field) for option in OPTIONS if hasattr(options, option.field)}
    if given.get("search_path") is not None:
        given["search_path"] = tuple(map(os.path.abspath, given["search_path"]))
    return Settings.of(values | given)


def reports_of(text: str, settings: Settings, alone: bool = True) -> Iterator[ModelReport]:
    """The models that one TARGET names. Raises Unusable for one that names nothing readable.

    A file that is the only target is evaluated whatever it imports; among others (those that pre-commit hands over)
    only if it can hold a model.
    """
    path, colons, what = text.partition("::")
    if colons and not what.strip():
        raise Unusable(f"{text}: nothing stands after '::'; a class, a factory or an expression is expected")
    if os.path.isdir(path):
        if what:
            raise Unusable(f"{text}: {path} is a folder; a name is looked up in a file")
        yield from _folder(path, settings)
        return
    try:
        source = load(path)
        source.tree  # noqa: B018  what does not parse is refused here
    except SourceError as error:
        raise Unusable(_place(path, error.line, error.reason)) from None
    if alone or what or source.may_hold_models():
        yield from _file(source, settings, what or None)


def _file(source: Source, settings: Settings, what: str | None) -> Iterator[ModelReport]:
    try:
        answer = _analyse(source, settings, what)
    except TargetError as error:
        raise Unusable(f"{source.path}::{what}: {error}") from None
    if answer.failure is not None:
        raise Unusable(_failure(source.path, answer.failure))
    for problem in answer.directives.problems:
        _warn(_place(source.path, problem.line, problem.message))
    yield from answer.reports


def _folder(path: str, settings: Settings) -> Iterator[ModelReport]:
    """The models of all Python files below. What cannot be read there is told, and passed over."""
    for name in python_files(path):
        try:
            source = load(name)
            source.tree  # noqa: B018  what does not parse is told
        except SourceError as error:
            _warn(_place(name, error.line, error.reason))
            continue
        if not source.may_hold_models():
            continue
        answer = _analyse(source, settings)
        if answer.failure is not None:
            _warn(_failure(name, answer.failure))
        for problem in answer.directives.problems:
            _warn(_place(name, problem.line, problem.message))
        yield from answer.reports


def _analyse(source: Source, settings: Settings, what: str | None = None) -> FileReport:
    try:
        return analyse(source, settings, what)
    except TargetError:
        raise
    except Exception as error:
        if os.environ.get(STRICT):
            raise
        return FileReport(source.path, failure=internal_error(error))


def python_files(folder: str) -> Iterator[str]:
    """Every Python file below a folder, in order of name; hidden folders and virtual environments left out."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__")) and not os.path.exists(os.path.join(here, name, "pyvenv.cfg"))
        )
        yield from (os.path.join(here, name) for name in sorted(files) if name.endswith(".py"))


def _place(path: str, line: int, message: str) -> str:
    return f"{path}:{line}: {message}" if line else f"{path}: {message}"


def _failure(path: str, failure: Unknown) -> str:
    return _place(failure.path or path, failure.line, failure.reason)


def _warn(message: str) -> None:
    print(f"cnnmem: {message}", file=sys.stderr)


def gpus_command(options: argparse.Namespace) -> int:
    from tabulate import tabulate

    from flake8_cnnmem.memory.gpus import GPUS

    rows = [(gpu.name, f"{gpu.mib} MiB", f"{gpu.mib / 1024:.1f} GiB") for gpu in GPUS]
    print(tabulate(rows, tablefmt="plain", disable_numparse=True, colalign=("left", "right", "right")))
    return FITS
