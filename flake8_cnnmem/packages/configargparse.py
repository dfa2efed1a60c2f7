"""configargparse: argparse whose arguments may also stand in files of the project.

A key of a file is an argument's long flag without its dashes (`netwidth = 256`); what is on the command line goes over
it. Files are those of `default_config_files` that are there, and the one that is the default of an argument declared
with `is_config_file`. Source: ConfigArgParse's documentation of its default syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.stdlib import argparse
from flake8_cnnmem.evaluate.stdlib.argument_parsing import Argument, default_of, options
from flake8_cnnmem.evaluate.stdlib.modules import unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

LINE = re.compile(r"(?P<key>[^:=;#\s]+)\s*(?:[:=\s]\s*(?P<value>.*?))?\s*(?:\s[#;].*)?")
"""`key = value`, `key: value`, `key value` or `key`, with a comment behind it."""

SKIPPED = ("#", ";", "[", "-")
"""What begins a line that says nothing: a comment, a section, a separator."""

FILES, SYNTAX = "_config_files", "_has_default_syntax"

DEFAULT = unfollowed("configargparse.DefaultConfigFileParser")


def init(run: Runtime, self: Instance, *args: Value, default_config_files: Value = (), **kwargs: Value) -> None:
    """`ArgumentParser(default_config_files=["train.conf"])`"""
    argparse.parser_init(run, self, *args, **kwargs)
    # Files of another syntax are not read: what they say is not known.
    self.attributes[SYNTAX] = kwargs.get("config_file_parser_class") in (None, DEFAULT)
    found = run.items(default_config_files)
    self.attributes[FILES] = [] if isinstance(found, Unknown) else [(path, None) for path in found]
    if isinstance(found, Unknown):
        argparse.all_defaults_lost(run, self, found)


def add_argument(
    run: Runtime, self: Instance, *flags: Value, is_config_file: Value = False, is_config_file_arg: Value = False,
    **kwargs: Value,
) -> Value:  # fmt: skip
    """`parser.add_argument("--config", is_config_file=True)`, and all that argparse's own takes."""
    made = argparse.add_argument(run, self, *flags, **kwargs)
    if is_config_file is True or is_config_file_arg is True:
        run.changed(self.attributes[FILES])
        self.attributes[FILES].append((None, options(self).arguments[-1]))
    return made


def words_of_files(run: Runtime, self: Instance) -> list[Value] | Unknown:
    """What the files say, as words of a command line."""
    words: list[Value] = []
    for path, argument in self.attributes[FILES]:
        name = path if argument is None else default_of(argument)
        found = text(run, name) if name is not None else ""
        if isinstance(found, Unknown):
            if argument is None:
                # Those that are not there are passed over.
                continue
            return found
        if found and not self.attributes[SYNTAX]:
            return run.unknown("a file of arguments in another syntax is not followed")
        words += words_of(found, options(self).arguments)
    return words


def words_of(source: str, arguments: list[Argument]) -> Iterator[str]:
    """The words of one file."""
    by_key = {flag.lstrip("-"): (flag, each) for each in arguments for flag in each.flags if flag.startswith("--")}
    for line in source.splitlines():
        found = LINE.fullmatch(line.strip())
        if found is None or line.strip().startswith(SKIPPED) or found["key"] not in by_key:
            continue
        flag, argument = by_key[found["key"]]
        value = (found["value"] or "").strip("\"'")
        if argument.action in ("store_true", "store_false", "store_const", "count"):
            yield from [flag] if value.lower() in ("", "true", "yes", "1") else []
        elif value.startswith("[") and value.endswith("]"):
            items = [item.strip(" \"'") for item in value[1:-1].split(",")]
            yield from (
                [flag, *items] if argument.action == "store" else [word for item in items for word in (flag, item)]
            )
        else:
            yield from (flag, value)


def parse_known_args(
    run: Runtime, self: Instance, args: Value = None, namespace: Value = None, **kwargs: Value
) -> Value:
    """`parser.parse_known_args(args)`: a namespace and the words that no argument takes."""
    words = words_of_files(run, self)
    given = [] if args is None else run.items(args)
    if isinstance(words, Unknown) or isinstance(given, Unknown):
        return argparse.parse_known_args(run, self, words if isinstance(words, Unknown) else given, namespace)
    return argparse.parse_known_args(run, self, [*words, *given] or None, namespace)


def parse_args(run: Runtime, self: Instance, args: Value = None, namespace: Value = None, **kwargs: Value) -> Value:
    """`parser.parse_args(args)`: a namespace. SystemExit for words that no argument takes."""
    found: Any = parse_known_args(run, self, args, namespace)
    result, rest = found
    if rest:
        raise run.error("SystemExit", "2")
    return result


METHODS = {
    "__init__": init, "add_argument": add_argument, "add": add_argument, "add_arg": add_argument,
    "parse_args": parse_args, "parse": parse_args, "parse_known_args": parse_known_args,
}  # fmt: skip
PARSER = Class(
    "ArgumentParser",
    (argparse.PARSER,),
    {name: Native(name, method, propagate_unknown=False) for name, method in METHODS.items()},
    module="configargparse",
)

MODULES: dict[str, dict[str, Value]] = {
    "configargparse": {
        **argparse.MODULES["argparse"],
        **dict.fromkeys(("ArgumentParser", "ArgParser", "Parser"), PARSER),
        "DefaultConfigFileParser": DEFAULT,
        "YAMLConfigFileParser": unfollowed("configargparse.YAMLConfigFileParser"),
    }
}
