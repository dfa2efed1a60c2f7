"""The options that several commands share, and the Settings that they and the configuration add up to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from flake8_cnnmem.cli.ending import Unusable, warn
from flake8_cnnmem.settings import configuration
from flake8_cnnmem.settings.options import OPTIONS, BadValue, Settings
from flake8_cnnmem.text.notebook import ENDING as NOTEBOOK

CONFIGURATIONS = ("pyproject.toml", "setup.cfg", "tox.ini", ".flake8", ".pre-commit-config.yaml")


def add_settings(command: argparse.ArgumentParser) -> None:
    """flake8's options of ours, without their prefix, and where the others are read from."""
    command.add_argument(
        "--config", metavar="FILE", help="the file to take the configuration from, instead of the nearest one"
    )
    for option in OPTIONS:
        command.add_argument(
            f"--{option.name}",
            action=configuration.AddsUp if option.adds_up else "store",
            type=configuration.typed(option.parse),
            # Absent when not given: `--gpu-limit none` is None, and more than nothing said.
            default=argparse.SUPPRESS,
            metavar=option.metavar,
            help=option.help.replace("%", "%%"),
        )


def add_jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-j", "--jobs", type=jobs, metavar="N", help="processes that look at files at the same time (all processors)"
    )


def add_no_cache(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-cache", action="store_true", help="look at every file anew, and keep nothing")


def jobs(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def add_output(command: argparse.ArgumentParser, help: str) -> None:
    """`-o FILE`, which is refused where it would be written over what is analysed."""
    command.add_argument("-o", "--output", metavar="FILE", type=output_file, help=help)


def output_file(path: str) -> str:
    """Raises ArgumentTypeError for a module or a notebook, there or not, and for a file that configures."""
    name = os.path.basename(os.path.realpath(path))
    if name.lower().endswith((".py", ".pyi", NOTEBOOK)) or (name in CONFIGURATIONS and os.path.exists(path)):
        raise argparse.ArgumentTypeError(f"{path!r} is source code, which no report is written over")
    return path


def keep_targets(output: str | None, targets: Sequence[str]) -> None:
    """Raises Unusable where what a command is to write would replace one of the files that it reads."""
    for target in targets:
        path = target.partition("::")[0]
        if output is not None and os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise Unusable(f"{output} is what is analysed: no report is written over it")


def settings_of(options: argparse.Namespace) -> Settings:
    """The configuration's values, and over them those of the command line. Raises Unusable for a bad value."""
    values = dict(configured(options).values)
    given = {option.field: getattr(options, option.field) for option in OPTIONS if hasattr(options, option.field)}
    if "gpu_limit" in given:
        # Who names a GPU asks about that one, whatever the project's budgets are.
        values.pop("per_file_limits", None)
    values |= configuration.against(given, os.getcwd())
    for folder in values.get("search_path") or ():
        if not os.path.isdir(folder):
            warn(f"search-path: {shown(folder)} is no folder{nearest(folder)}")
    try:
        configuration.check_stubs(values)
    except BadValue as error:
        raise Unusable(str(error)) from None
    return Settings.of(values)


def configured(options: argparse.Namespace) -> configuration.Configuration:
    """What the project's configuration says, or the file that `--config` names. Raises Unusable for a bad value."""
    try:
        return configuration.find(getattr(options, "config", None))
    except BadValue as error:
        raise Unusable(str(error)) from None


def nearest(folder: str) -> str:
    """A hint at a folder beside it whose name is much alike."""
    above, name = os.path.split(folder)
    try:
        beside = [entry.name for entry in os.scandir(above) if entry.is_dir()]
    except OSError:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(name, beside, 1)
    return f": did you mean {shown(os.path.join(above, near[0]))}?" if near else ""


def shown(folder: str) -> str:
    """A folder below the working one relative to it, any other one whole."""
    inside = os.path.relpath(folder)
    return folder if inside.startswith(os.pardir) else inside
