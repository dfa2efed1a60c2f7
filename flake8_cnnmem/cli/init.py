"""`cnnmem init [PATH...]`: what the models need today, and the configuration that holds them to it. Writes nothing."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.cli.ending import FITS, warn
from flake8_cnnmem.cli.options import add_settings, settings_of
from flake8_cnnmem.settings.options import OPTIONS

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.memory.gpus import Gpu
    from flake8_cnnmem.results import ModelReport

NOT_KEPT = ("gpu_limit", "per_file_limits", "cache_dir")
"""The options that the section is there to set, and those that change no figure."""


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "init",
        help="a limit for each model, to paste",
        description="What the project's models need today, and the configuration section that keeps them to it: a "
        "limit for each, the smallest known GPU that holds it, where batch size and input size came from. Nothing is "
        "written.",
    )
    command.set_defaults(command=run)
    command.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the working directory if none")
    add_settings(command)
    command.add_argument(
        "--format",
        choices=("flake8", "pyproject"),
        default="flake8",
        help="[flake8] for setup.cfg, tox.ini or .flake8 (the default), or [tool.cnnmem] for pyproject.toml",
    )


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.cli.targets import reports_of, targets_of
    from flake8_cnnmem.reporting.progress import progress

    settings = settings_of(options)
    # What the models need by themselves; a limit that a directive sets stays.
    unlimited = replace(settings, gpu_limit=None, per_file_limits=())
    paths = options.paths or ["."]
    targets = progress(targets_of(paths), str)
    reports = on_their_own([report for target in targets for report in reports_of(target, unlimited)])
    if not reports:
        warn(f"{' '.join(paths[:3])}: no model found")
        return FITS
    print(table(reports))
    print()
    print("\n".join(section(reports, given(options), options.format == "pyproject")))
    return FITS


def on_their_own(reports: Sequence[ModelReport]) -> list[ModelReport]:
    """The models without those that are a part of a training, which has the limit."""
    from flake8_cnnmem.reporting.summary import line_of, with_places

    parts = {number for number, line in with_places([line_of(report) for report in reports]) if line.part_of}
    return [report for number, report in enumerate(reports) if number not in parts]


def given(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The options of the command line, as a configuration writes them: without them the limits would not hold."""
    found = []
    for option in OPTIONS:
        value = getattr(options, option.field, None)
        if value is not None and option.field not in NOT_KEPT:
            found.append((option.name, written(value)))
    return found


def written(value: Any) -> str:
    return ",".join(str(part) for part in value) if isinstance(value, tuple) else str(value)


def table(reports: Sequence[ModelReport]) -> str:
    from flake8_cnnmem.finding import one_line
    from flake8_cnnmem.reporting.columns import in_columns

    rows = [[one_line(cell) for cell in row_of(report)] for report in reports]
    headers = ("model", "where", "needs", "smallest GPU", "batch", "input", "optimizer")
    return in_columns(rows, headers=headers)


def row_of(report: ModelReport) -> list[str]:
    from flake8_cnnmem.reporting.phrases import facts, total
    from flake8_cnnmem.reporting.summary import fact, line_of

    gpu, line = smallest(report), line_of(report)
    optimizer = next(each for each in facts(report) if each.name == "optimizer")
    return [
        report.name,
        f"{report.path}:{report.line}",
        "not estimated" if report.estimate is None else total(report),
        "" if report.estimate is None else gpu.name if gpu is not None else "none that is known",
        fact(line.batch, True),
        fact(line.input, True),
        f"{optimizer.value} ({optimizer.source})",
    ]


def smallest(*reports: ModelReport) -> Gpu | None:
    """The smallest known GPU on which all of these train, with what it takes itself; of equal ones the first."""
    from flake8_cnnmem.memory.gpus import GPUS
    from flake8_cnnmem.units import MIB

    def holds(gpu: Gpu, report: ModelReport) -> bool:
        if report.replay is None:
            return False
        needs, evaluation = report.replay(report.training, gpu.name), report.evaluation
        # What the GPU itself takes comes on top of an evaluation as well.
        own = needs.overhead if evaluation is not None else 0
        return max(needs.total, evaluation.total + own if evaluation is not None else 0) <= gpu.mib * MIB

    by_size = sorted(GPUS, key=lambda gpu: gpu.mib)
    return next((gpu for gpu in by_size if all(holds(gpu, report) for report in reports)), None)


def section(reports: Sequence[ModelReport], options: Sequence[tuple[str, str]], toml: bool) -> Iterator[str]:
    """The lines to paste. A file's limit is what its largest model needs; the others are told how to have their own."""
    from flake8_cnnmem import units
    from flake8_cnnmem.finding import one_line

    prefix, quote = ("", '"') if toml else ("cnnmem-", "")
    known = [report for report in reports if report.estimate is not None]
    limited = [report for report in known if report.limit is None]
    yield "[tool.cnnmem]" if toml else "[flake8]"
    gpu = smallest(*known)
    bounds = [report for report in known if report.status != "exact"]
    if gpu is not None:
        off = "# " if bounds else ""
        yield f"# the smallest known GPU that holds them all, {units.show(gpu.mib * units.MIB)}; for models to come"
        if bounds:
            yield one_line(f"# left out, as some need more than is known ({bounds[0].name}: {why(bounds[0])})")
        yield f"{off}{prefix}gpu-limit = {quote}{gpu.name}{quote}"
    for name, value in options:
        yield f"{prefix}{name} = {quote}{value}{quote}"
    files: dict[str, list[ModelReport]] = {}
    for report in limited:
        files.setdefault(report.path, []).append(report)
    if files:
        yield "[tool.cnnmem.per-file-limits]" if toml else f"{prefix}per-file-limits ="
    indent = "" if toml else "    "
    for path, models in files.items():
        largest = max(models, key=lambda report: report.estimate.total if report.estimate is not None else 0)
        assert largest.estimate is not None
        for report in models:
            yield one_line(f"{indent}# {told(report)}")
            if report is not largest and report.estimate is not None:
                yield f"{indent}#   for a limit of its own: # cnnmem: gpu-limit={size(report.estimate.total)}"
        pattern = pattern_of(path)
        bound = next((report for report in models if report.status != "exact"), None)
        if bound is not None:
            yield one_line(f"{indent}#   left out, as {bound.name} needs more than is known: {why(bound)}")
        off = "" if bound is None else "# "
        if toml:
            yield f'{off}"{pattern}" = "{size(largest.estimate.total)}"'
        else:
            yield f"{indent}{off}{pattern}: {size(largest.estimate.total)}"


def why(report: ModelReport) -> str:
    """The first thing that is not known of it."""
    return report.causes[0].at(report.path) if report.causes else "something in it could not be followed"


def told(report: ModelReport) -> str:
    """`ResNet, line 12: 512 MiB at batch 64 (train.py:11), input 3x32x32 (option); fits a GTX 1060 3GB`."""
    from flake8_cnnmem.text.lines import in_words

    _, _, needs, gpu, batch, given, _ = row_of(report)
    return f"{report.name}, {in_words(report.line)}: {needs} at batch {batch}, input {given}; smallest GPU: {gpu}"


def size(total: int) -> str:
    """The smallest round size that holds so many bytes; so close that one more layer is seen."""
    from flake8_cnnmem.units import KIB, MIB

    unit, name = (MIB, "MiB") if total >= 100 * MIB else (KIB, "KiB")
    return f"{-(-total // unit)}{name}"


def pattern_of(path: str) -> str:
    """A pattern for one file. What a configuration file or a pattern reads something into becomes `?`, any letter."""
    plain = path.replace("\\", "/").removeprefix("./")
    found = "".join("?" if letter in ",:*[]\"'#;%" or not letter.isprintable() else letter for letter in plain)
    return found if found.startswith("/") else f"./{re.sub(r'^ ', '?', found)}"
