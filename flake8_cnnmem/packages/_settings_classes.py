"""Command lines that are declared as a dataclass: tyro, pyrallis, draccus, simple_parsing, transformers' own.

A script is taken to be run without arguments: a field without a default, which has to be given, is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.argparse import PARSER
from flake8_cnnmem.evaluate.stdlib.dataclasses import entries_of
from flake8_cnnmem.packages._command_lines import called_bare
from flake8_cnnmem.packages._config_objects import load_yaml
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value, native


def made(run: Runtime, cls: Value, given: Mapping[Value, Value]) -> Value:
    """A dataclass of what is given for it; what is given for one within is a dict."""
    values = {str(word): value for word, value in given.items()}
    for each in entries_of(cls) or ():
        if each.init and each.default is MISSING and each.factory is MISSING and each.name not in values:
            values[each.name] = run.unknown(f"the argument --{each.name} is not given")
        found = values.get(each.name)
        if isinstance(found, dict) and isinstance(each.factory, Class) and entries_of(each.factory) is not None:
            values[each.name] = made(run, each.factory, found)
    return run.attempt(cls, **values)


def bare(run: Runtime, declared: Value) -> Value:
    """A dataclass, or what a function gives, that is told nothing."""
    return made(run, declared, {}) if entries_of(declared) is not None else called_bare(run, declared)


def by_command_line(run: Runtime, f: Value, *args: Value, default: Value = None, **kwargs: Value) -> Value:
    """`tyro.cli(Args)`: its defaults, or the object that is given for them."""
    return bare(run, f) if default is None or isinstance(f, Function) else default


def parsed(run: Runtime, config_class: Value, config_path: Value = None, args: Value = None, **kwargs: Value) -> Value:
    """`pyrallis.parse(config_class=Config, config_path="x.yaml")`"""
    if config_path is None:
        return bare(run, config_class)
    found = load_yaml(run, config_path)
    if not isinstance(found, dict):
        return found if isinstance(found, Unknown) else run.unknown("settings are not followed")
    return made(run, config_class, found)


def add_arguments(run: Runtime, self: Instance, dataclass: Value, dest: Value = None, **kwargs: Value) -> None:
    """`parser.add_arguments(Config, dest="config")` of simple_parsing."""
    value = made(run, dataclass, {}) if isinstance(dataclass, Class) else dataclass
    run.call(run.get(self, "set_defaults"), **{str(dest): value})


SIMPLE_PARSER = Class(
    "ArgumentParser", (PARSER,), {"add_arguments": native("add_arguments", add_arguments)}, module="simple_parsing"
)

TYRO: dict[str, Value] = {"cli": native("cli", by_command_line), "MISSING": ...}
FILES: dict[str, Value] = {"parse": native("parse", parsed)}
