"""Where options are set: by flags, in setup.cfg, tox.ini or .flake8, found and read by flake8's own rules, and for the
`cnnmem` command in the [tool.cnnmem] table of pyproject.toml."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings.options import OPTIONS, BadValue, Option
from flake8_cnnmem.text.notations import TooMuch, parse_toml

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


class AddsUp(argparse.Action):
    """An option whose values are those of all times that it is given on a command line. What a configuration file says,
    which flake8 takes for its default, is replaced by them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = f"{self.dest} given"
        before = getattr(namespace, given, ())
        setattr(namespace, given, (*before, *(values or ())))
        setattr(namespace, self.dest, getattr(namespace, given) or None)


TABLE = "[tool.cnnmem] of pyproject.toml"
SECTION = "[flake8] of the configuration"

CODE_LISTS = ("select", "ignore", "extend-select", "extend-ignore")
LISTS = (*CODE_LISTS, "exclude", "extend-exclude")
"""What `cnnmem check` takes beside our options: in the words of flake8, and with its meaning."""

PER_FILE_IGNORES = "per-file-ignores"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a project has set: our options by field name, and flake8's lists that count without it, too."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lists: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    """By the names of `LISTS`; patterns of files are as flake8 matches them. What is not there is not set."""
    per_file_ignores: str = ""
    disable_noqa: bool = False


def read() -> dict[str, Any]:
    """The parsed options of the nearest configuration, by field name; paths are absolute. Raises BadValue."""
    return dict(find().values)


def find(file: str | None = None) -> Configuration:
    """The project's configuration: [tool.cnnmem] of the nearest pyproject.toml that has it, else flake8's section; or
    that of one file alone.

    Raises BadValue for what cannot be read or makes no sense, naming the option, and where both set our options to
    different values.
    """
    if file is not None:
        return _from_file(file)
    own, others = _from_pyproject(*_table()), _from_flake8()
    if own is None:
        return others
    if others.values:
        for option in OPTIONS:
            left, right = own.values.get(option.field), others.values.get(option.field)
            if left != right:
                said = [f"{'not ' if value is None else ''}set in {where}" for value, where in
                        ((left, TABLE), (right, SECTION))]  # fmt: skip
                differ = "" if left is None or right is None else ", to another value"
                raise BadValue(f"{option.name} is {' and '.join(said)}{differ}: set it in one place, or alike in both")
    return own


def from_table() -> dict[str, Any]:
    """The options of [tool.cnnmem] alone, by field name. Raises BadValue as `find` does."""
    own = _from_pyproject(*_table())
    return {} if own is None else dict(own.values)


def check_names(config: str | None = None, append_config: Sequence[str] | None = None, isolated: bool = False) -> None:
    """Raises BadValue for what flake8's section says under a name that begins as ours do, and is none: flake8 itself
    passes over what it does not know."""
    names = [f"{PREFIX}{option.name}" for option in OPTIONS]
    for key in _section(config, append_config, isolated)[0]:
        name = key.replace("_", "-")
        if name.startswith("cnnmem") and name not in names:
            from difflib import get_close_matches

            near = get_close_matches(name, names, 1)
            raise BadValue(f"{key} in the configuration is no option{f': did you mean {near[0]}?' if near else ''}")


def _from_file(path: str) -> Configuration:
    """The configuration of one file: the table of a TOML file, the section of any other."""
    if not os.path.isfile(path):
        raise BadValue(f"{path} is no file that a configuration can be read from")
    if not path.endswith(".toml"):
        return _from_flake8(path)
    found = _from_pyproject(_table_of(path), os.path.dirname(os.path.abspath(path)))
    if found is None:
        raise BadValue(f"{path} has no [tool.cnnmem]")
    return found


def _from_flake8(file: str | None = None) -> Configuration:
    check_names(file)
    section, folder = _section(file)
    values: dict[str, Any] = {}
    for option in OPTIONS:
        text = _value(section, option.name)
        if text is not None:
            values[option.field] = _parsed(option, text, f"{PREFIX}{option.name} in the configuration")
    lists = {name: text for name in LISTS if (text := _written(section, name)) is not None}
    return Configuration(
        against(values, folder),
        {name: _list(name, text, folder) for name, text in lists.items()},
        _written(section, PER_FILE_IGNORES) or "",
        (_written(section, "disable-noqa") or "").strip().lower() in ("1", "yes", "true", "on"),
    )


def _from_pyproject(table: Mapping[str, Any] | None, folder: str) -> Configuration | None:
    if table is None:
        return None
    values: dict[str, Any] = {}
    lists: dict[str, Sequence[str] | None] = {}
    ignores = ""
    by_name = {option.name: option for option in OPTIONS}
    for key, value in table.items():
        name = key.replace("_", "-")
        where = f"{key} in {TABLE}"
        if name in by_name:
            text = _as_text(value, where, by_name[name].field == "per_file_limits")
            values[by_name[name].field] = _parsed(by_name[name], text, where)
        elif name in LISTS:
            lists[name] = listed(name, _as_text(value, where), TABLE, folder)
        elif name == PER_FILE_IGNORES:
            ignores = _as_text(value, where, True)
        else:
            known = [*by_name, *LISTS, PER_FILE_IGNORES]
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            raise BadValue(f"{where} is no option{f': did you mean {near[0]}?' if near else ''}")
    return Configuration(against(values, folder), lists, ignores)


def _table() -> tuple[Mapping[str, Any] | None, str]:
    """The [tool.cnnmem] table of the nearest pyproject.toml that has one, and its folder; looked for where flake8
    looks, from the working directory up, the home excluded."""
    home = os.path.expanduser("~")
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, "pyproject.toml")
        table = _table_of(path) if os.path.isfile(path) else None
        if table is not None:
            return table, folder
        above = os.path.dirname(folder)
        if above in (folder, home):
            return None, folder
        folder = above


def _table_of(path: str) -> Mapping[str, Any] | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise BadValue(f"{path} cannot be read: {error.strerror}") from None
    if b"cnnmem" not in content:
        return None
    try:
        tools = parse_toml(content.decode()).get("tool")
    except (ValueError, TooMuch) as error:
        raise BadValue(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    table = tools.get("cnnmem") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise BadValue(f"tool.cnnmem of {path} is no table")
    return table


def _as_text(value: Any, where: str, is_table: bool = False) -> str:
    """A value of TOML as a configuration file of flake8 has it."""
    if isinstance(value, dict) and is_table:
        entries = ((key, _as_text(inner, where)) for key, inner in value.items())
        # A comma would part the pattern; what it stands for is one letter.
        return "\n".join(f"{key.replace(',', '?')}: {text}" for key, text in entries)
    if isinstance(value, list):
        return ",".join(_as_text(inner, where) for inner in value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadValue(f"{where}: {value!r:.60} is neither text nor a number")
    return str(value)


def _parsed(option: Option, text: str, where: str) -> Any:
    try:
        return option.parse(text)
    except BadValue as error:
        raise BadValue(f"{where}: {error}") from None


def listed(name: str, text: str, where: str, folder: str) -> Sequence[str]:
    """One of `LISTS`, parted by commas or blanks; patterns with a slash are meant from `folder` on. Raises BadValue for
    what is no code; of flake8's own section flake8 says so."""
    words = _list(name, text, folder)
    for word in words if name in CODE_LISTS else ():
        if re.fullmatch(r"[A-Z]{1,3}[0-9]{0,3}", word, re.ASCII) is None:
            raise BadValue(f"{name} in {where}: {word!r:.60} is no code")
    return words


def _list(name: str, text: str, folder: str) -> Sequence[str]:
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    return words if name in CODE_LISTS else [patterned(word, folder) for word in words]


def patterned(pattern: str, folder: str) -> str:
    """A pattern of files as flake8 takes it: absolute from this folder on, if it has a slash."""
    return os.path.abspath(os.path.join(folder, pattern)) if "/" in pattern or pattern == "." else pattern


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


def check_stubs(values: Mapping[str, Any]) -> None:
    """Raises BadValue for a folder of stubs that is not there, or a stub in it that makes no sense."""
    folder = values.get("stubs")
    if folder is None:
        return
    from flake8_cnnmem.stubs.reading import BadStub, check_folder

    if not os.path.isdir(folder):
        raise BadValue(f"stubs: {os.path.relpath(folder)} is no folder")
    try:
        check_folder(folder)
    except BadStub as error:
        place = os.path.relpath(error.path) + (f":{error.line}" if error.line else "")
        raise BadValue(f"stubs: {place}: {error.reason}") from None


WITH_PATHS = ("search_path", "stubs", "per_file_limits", "cache_dir")
"""The options whose values have paths in them."""


def against(values: Mapping[str, Any], base: str) -> dict[str, Any]:
    """The values with the paths in them made absolute, from the folder `base` on."""
    found = dict(values)
    if found.get("search_path") is not None:
        found["search_path"] = tuple(os.path.abspath(os.path.join(base, folder)) for folder in found["search_path"])
    for name in ("cache_dir", "stubs"):
        if found.get(name):
            found[name] = os.path.abspath(os.path.join(base, found[name]))
    if found.get("per_file_limits") is not None:
        found["per_file_limits"] = tuple(
            replace(each, pattern=patterned(each.pattern, base)) for each in found["per_file_limits"]
        )
    return found


def _section(
    config: str | None = None, append_config: Sequence[str] | None = None, isolated: bool = False
) -> tuple[Mapping[str, str], str]:
    """The `[flake8]` section and the folder of its file."""
    if config is None and not append_config and not isolated and not _any_section(os.getcwd()):
        # flake8 itself costs as much to import as libcst: it is asked only where there is something to find.
        return {}, os.getcwd()
    import configparser

    from flake8.exceptions import ExecutionError
    from flake8.options.config import load_config

    try:
        parser, folder = load_config(config, list(append_config or []), isolated=isolated)
    except (configparser.Error, UnicodeDecodeError, ExecutionError) as error:
        raise BadValue(f"the configuration cannot be read: {' '.join(str(error).split())}") from None
    return (dict(parser["flake8"]) if parser.has_section("flake8") else {}), folder


def _any_section(folder: str) -> bool:
    """Whether a file that flake8 looks for, here or in a folder above, may have a section of its."""
    while True:
        for name in ("setup.cfg", "tox.ini", ".flake8"):
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    if b"flake8" in file.read():
                        return True
            except FileNotFoundError:
                continue
            except OSError:
                return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _value(section: Mapping[str, str], name: str) -> str | None:
    """flake8 takes hyphens and underscores alike; the last of both in the file wins."""
    return _written(section, f"{PREFIX}{name}")


def _written(section: Mapping[str, str], name: str) -> str | None:
    written = [section[key] for key in section if key in (name, name.replace("-", "_"))]
    return written[-1] if written else None
