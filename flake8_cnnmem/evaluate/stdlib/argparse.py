"""`argparse`: what `parse_args` gives when the script is run without arguments, or with those the code itself lists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.stdlib.argument_parsing import (
    ACTION,
    BOOLEAN,
    NAMESPACE,
    Argument,
    Options,
    default_of,
    options,
    parse,
)
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

names = Names()


groups = Names()


@groups.function("add_argument", propagate_unknown=False)
def add_argument(
    run: Runtime,
    self: Instance,
    *flags: Value,
    action: Value = "store",
    nargs: Value = None,
    const: Value = None,
    default: Value = MISSING,
    type: Value = None,
    dest: Value = None,
    required: Value = False,
    choices: Value = None,
    **kwargs: Value,
) -> Value:
    """`parser.add_argument(*flags, ...)`: note the argument; the value it gets is told by its default."""
    texts = [payload(flag) for flag in flags]
    unknown = next((text for text in (*texts, dest) if isinstance(text, Unknown)), None)
    if unknown is not None:
        return unknown
    names = [text for text in texts if isinstance(text, str)]
    if len(names) < len(texts):
        raise TypeError("the names of an argument are text")
    optional = tuple(text for text in names if text.startswith("-"))
    name = payload(dest) if dest is not None else destination(names)
    argument = Argument(
        optional, name, payload(action), default, type, payload(nargs), const,
        required is True if optional else payload(nargs) not in ("?", "*"), choices,
    )  # fmt: skip
    own = options(self)
    run.changed(own.arguments)
    own.arguments.append(argument)
    if default is not MISSING and name in own.defaults:
        # What `set_defaults` said before goes to arguments that name no default.
        run.changed(own.defaults)
        del own.defaults[name]
    return Instance(ACTION, {"dest": name, "option_strings": list(optional), "default": default_of(argument)})


def destination(flags: Sequence[str]) -> str:
    """The attribute that a flag sets: the first long one, else the first."""
    chosen = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return chosen.lstrip("-").replace("-", "_") if chosen.startswith("-") else chosen


@groups.function("add_argument_group", propagate_unknown=False)
def add_group(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """A group of arguments, which are the parser's own."""
    return Instance(GROUP, native=options(self))


groups["add_mutually_exclusive_group"] = groups["add_argument_group"]


@groups.function("set_defaults", propagate_unknown=False)
def set_defaults(run: Runtime, self: Instance, /, **kwargs: Value) -> None:
    """`parser.set_defaults(**kwargs)`"""
    defaults = options(self).defaults
    run.changed(defaults)
    defaults.update(kwargs)


def all_defaults_lost(run: Runtime, self: Instance, cause: Unknown) -> None:
    """`parser.set_defaults(**settings)` where it is not known what settings there are."""
    own = options(self)
    run.changed(own.defaults)
    own.defaults.clear()
    own.lost.append(cause)


groups["set_defaults"] = Native("set_defaults", set_defaults, False, all_defaults_lost)


@groups.function("get_default")
def get_default(run: Runtime, self: Instance, dest: Value) -> Value:
    """`parser.get_default(dest)`"""
    own = options(self)
    if payload(dest) in own.defaults:
        return own.defaults[payload(dest)]
    return next((default_of(each) for each in own.arguments if each.dest == payload(dest)), None)


GROUP = native_class("_ArgumentGroup", dict(groups), module="argparse")

parsers = Names(groups)


@parsers.function("__init__", propagate_unknown=False)
def parser_init(run: Runtime, self: Instance, *args: Value, parents: Value = (), **kwargs: Value) -> None:
    """`ArgumentParser(...)`: no arguments yet but those of its parents."""
    found = run.items(parents)
    site = run.here()
    own = self.native = Options([], {}, [], [], abbreviated=kwargs.get("allow_abbrev") is not False,
                                place=f"{site.path}:{site.line}:{site.column}" if site else "")  # fmt: skip
    for parent in found if isinstance(found, list) else ():
        if isinstance(parent, Instance) and isinstance(parent.native, Options):
            own.arguments.extend(parent.native.arguments)
            own.defaults.update(parent.native.defaults)
            own.lost += parent.native.lost
    program = args[0] if args else kwargs.get("prog")
    if program is None:
        program = (
            os.path.basename(site.path) if site is not None else run.unknown("the name of the program is not known")
        )
    self.attributes.update({"description": kwargs.get("description"), "prog": program, "epilog": kwargs.get("epilog")})


@parsers.function("parse_args", propagate_unknown=False)
def parse_args(run: Runtime, self: Instance, args: Value = None, namespace: Value = None) -> Value:
    """`parser.parse_args(args)`: a namespace. SystemExit for words that no argument takes."""
    result, rest = parse(run, self, args, namespace)
    if rest:
        raise run.error("SystemExit", "2")
    return result


@parsers.function("parse_known_args", propagate_unknown=False)
def parse_known_args(run: Runtime, self: Instance, args: Value = None, namespace: Value = None) -> Value:
    """`parser.parse_known_args(args)`: a namespace and the words that no argument takes."""
    result, rest = parse(run, self, args, namespace)
    return result, rest


@parsers.function("add_subparsers", propagate_unknown=False)
def add_subparsers(
    run: Runtime, self: Instance, *, dest: Value = None, required: Value = False, **kwargs: Value
) -> Instance:
    """`parser.add_subparsers(dest)`: what `add_parser` adds subcommands to."""
    own = options(self)
    run.changed(own.subcommands)
    own.subcommands.append((dest, required is True))
    return Instance(SUBPARSERS, native=own)


def add_parser(run: Runtime, self: Instance, name: Value, **kwargs: Value) -> Value:
    """`subparsers.add_parser(name)`: the parser of a subcommand."""
    made = run.construct(PARSER, **{word: value for word, value in kwargs.items() if word == "parents"})
    own: Any = self.native
    run.changed(own.subparsers)
    own.subparsers.append(made)
    run.changed(own.names)
    own.names.append(name if isinstance(name, str) else f"subcommand {len(own.names)}")
    return made


SUBPARSERS = native_class(
    "_SubParsersAction", {"add_parser": Native("add_parser", add_parser, propagate_unknown=False)}, module="argparse"
)


@parsers.function("error", propagate_unknown=False)
def error(run: Runtime, self: Instance, message: Value = "") -> None:
    """`parser.error(message)`: SystemExit 2."""
    raise run.error("SystemExit", "2")


parsers["exit"] = parsers["error"]
parsers["parse_intermixed_args"] = parsers["parse_args"]
for _name in ("print_help", "print_usage", "register", "convert_arg_line_to_args"):
    parsers[_name] = ignored(_name)
for _name in ("format_help", "format_usage"):
    parsers[_name] = unfollowed(_name)
PARSER = native_class("ArgumentParser", dict(parsers), module="argparse")

names.update({
    "ArgumentParser": PARSER, "Namespace": NAMESPACE, "Action": ACTION, "BooleanOptionalAction": BOOLEAN,
    "ArgumentError": Class("ArgumentError", (EXCEPTIONS["Exception"],), module="argparse"),
    "ArgumentTypeError": Class("ArgumentTypeError", (EXCEPTIONS["Exception"],), module="argparse"),
    "FileType": Native("FileType", lambda run, *args, **kwargs: unfollowed("argparse.FileType"),
                       propagate_unknown=False),
    "SUPPRESS": "==SUPPRESS==", "REMAINDER": "...", "OPTIONAL": "?", "ZERO_OR_MORE": "*", "ONE_OR_MORE": "+",
})  # fmt: skip
for _name in ("HelpFormatter", "ArgumentDefaultsHelpFormatter", "RawDescriptionHelpFormatter", "RawTextHelpFormatter",
              "MetavarTypeHelpFormatter"):  # fmt: skip
    names[_name] = native_class(_name, {"__init__": ignored("__init__")}, module="argparse")

MODULES: dict[str, dict[str, Value]] = {"argparse": names}
