"""Where options are set: by flags, and in setup.cfg, tox.ini or .flake8, found and read by flake8's own rules."""

from __future__ import annotations

import argparse
import configparser
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem.settings import OPTIONS, BadValue

PREFIX = "cnnmem-"


def typed(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser as argparse wants it: what it refuses is a usage error. flake8 hands it the values of a configuration
    file, too, and only of this kind of error makes a message."""

    def checked(text: str) -> Any:
        try:
            return parse(text)
        except BadValue as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


def read() -> dict[str, Any]:
    """The parsed options of the nearest configuration, by field name; folders are absolute.

    Raises BadValue, naming the option, and the file where it cannot be read at all.
    """
    section, folder = _section()
    values: dict[str, Any] = {}
    for option in OPTIONS:
        text = _value(section, option.name)
        if text is None:
            continue
        try:
            values[option.field] = option.parse(text)
        except BadValue as error:
            raise BadValue(f"{PREFIX}{option.name} in the configuration: {error}") from None
    return against(values, folder)


def resolve(
    values: Mapping[str, Any], config: str | None, append_config: Sequence[str] | None, isolated: bool
) -> dict[str, Any]:
    """The values of flake8's options with absolute paths: those of a configuration file are meant relative to it,
    those of the command line to the working directory. flake8 does not say which of the two it was."""
    if all(values.get(field) is None for field in WITH_PATHS):
        return dict(values)
    section, folder = _section(config, append_config, isolated)
    written = {}
    for option in OPTIONS:
        text = _value(section, option.name) if option.field in WITH_PATHS else None
        if text is not None and option.parse(text) == values[option.field]:
            written[option.field] = values[option.field]
    return against(values, os.getcwd()) | against(written, folder)


WITH_PATHS = ("search_path", "per_file_limits")
"""The options whose values have paths in them."""


def against(values: Mapping[str, Any], base: str) -> dict[str, Any]:
    """The values with the paths in them made absolute, from the folder `base` on."""
    found = dict(values)
    if found.get("search_path") is not None:
        found["search_path"] = tuple(os.path.abspath(os.path.join(base, folder)) for folder in found["search_path"])
    if found.get("per_file_limits") is not None:
        found["per_file_limits"] = tuple(
            # As flake8 takes the patterns of per-file-ignores: without a slash it is a name in any folder.
            replace(each, pattern=os.path.abspath(os.path.join(base, each.pattern))) if "/" in each.pattern else each
            for each in found["per_file_limits"]
        )
    return found


def _section(
    config: str | None = None, append_config: Sequence[str] | None = None, isolated: bool = False
) -> tuple[Mapping[str, str], str]:
    """The `[flake8]` section and the folder of its file."""
    from flake8.exceptions import ExecutionError
    from flake8.options.config import load_config

    try:
        parser, folder = load_config(config, list(append_config or []), isolated=isolated)
    except (configparser.Error, UnicodeDecodeError, ExecutionError) as error:
        raise BadValue(f"the configuration cannot be read: {' '.join(str(error).split())}") from None
    return (dict(parser["flake8"]) if parser.has_section("flake8") else {}), folder


def _value(section: Mapping[str, str], name: str) -> str | None:
    """flake8 takes hyphens and underscores alike; the last of both in the file wins."""
    keys = (f"{PREFIX}{name}", f"{PREFIX}{name}".replace("-", "_"))
    written = [section[key] for key in section if key in keys]
    return written[-1] if written else None
