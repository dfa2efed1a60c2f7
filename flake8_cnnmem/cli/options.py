"""The options that several commands share, and the Settings that they and the configuration add up to."""

from __future__ import annotations

import argparse
import os

from flake8_cnnmem import configuration
from flake8_cnnmem.cli.ending import Unusable
from flake8_cnnmem.settings import OPTIONS, BadValue, Settings


def add_settings(command: argparse.ArgumentParser) -> None:
    """flake8's options of ours, without their prefix."""
    for option in OPTIONS:
        command.add_argument(
            f"--{option.name}",
            type=configuration.typed(option.parse),
            # Absent when not given: `--gpu-limit none` is None, and more than nothing said.
            default=argparse.SUPPRESS,
            metavar=option.metavar,
            help=option.help.replace("%", "%%"),
        )


def settings_of(options: argparse.Namespace) -> Settings:
    """The configuration's values, and over them those of the command line. Raises Unusable for a bad value."""
    try:
        values = configuration.read()
    except BadValue as error:
        raise Unusable(str(error)) from None
    given = {option.field: getattr(options, option.field) for option in OPTIONS if hasattr(options, option.field)}
    if "gpu_limit" in given:
        # Who names a GPU asks about that one, whatever the project's budgets are.
        values.pop("per_file_limits", None)
    return Settings.of(values | configuration.against(given, os.getcwd()))
