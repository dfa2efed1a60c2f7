"""Command lines that are declared as a dataclass: tyro, pyrallis, draccus, simple_parsing, transformers' own.

A script is taken to be run without arguments: a field without a default, which has to be given, is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flake8_cnnmem.evaluate.annotations import alternatives, annotations_of_class
from flake8_cnnmem.evaluate.builtins.classes import HOSTED
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.builtins.sequences import LIST, TUPLE
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.abstract import ABSTRACT
from flake8_cnnmem.evaluate.stdlib.argparse import PARSER
from flake8_cnnmem.evaluate.stdlib.dataclasses import entries_of
from flake8_cnnmem.evaluate.stdlib.enum import ENUM
from flake8_cnnmem.packages._command_lines import called_bare
from flake8_cnnmem.packages._config_objects import load_yaml
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value, native


def made(run: Runtime, cls: Value, given: Mapping[Value, Value]) -> Value:
    """A dataclass of what is given for it. What is given for one within is a dict; where nothing is, and it has no
    default, it is made of its own defaults."""
    values = {str(word): value for word, value in given.items()}
    hints = hints_of(run, cls)
    for each in entries_of(cls) or ():
        kind = one_of(hints.get(each.name), is_dataclass)
        if each.name in values:
            values[each.name] = fitted(run, values[each.name], hints.get(each.name), is_dataclass, made)
        elif each.init and each.default is MISSING and each.factory is MISSING:
            missing = run.unknown(f"the argument --{each.name} is not given")
            values[each.name] = missing if kind is None else made(run, kind, {})
        found = values.get(each.name)
        if isinstance(found, dict) and isinstance(each.factory, Class) and is_dataclass(each.factory):
            values[each.name] = made(run, each.factory, found)
    return run.attempt(cls, **values)


def is_dataclass(value: Value) -> bool:
    """Whether a value is a dataclass itself."""
    return isinstance(value, Class) and entries_of(value) is not None


def hints_of(run: Runtime, cls: Value) -> dict[str, Value]:
    """What the annotations of a class and of its bases stand for."""
    bases = reversed(cls.mro) if isinstance(cls, Class) else ()
    return {word: value for each in bases for word, value in annotations_of_class(run, each, as_hints=True).items()}


def one_of(annotation: Value, wanted: Callable[[Value], bool]) -> Class | None:
    """The one wanted class among what an annotation allows: of `Model`, `Model | None`, `Optional[Model]`."""
    found = [each for each in alternatives(annotation) if isinstance(each, Class) and wanted(each)]
    return found[0] if len(found) == 1 else None


def fitted(
    run: Runtime, value: Value, annotation: Value, wanted: Callable[[Value], bool],
    make: Callable[[Runtime, Class, dict[Value, Value]], Value],
) -> Value:  # fmt: skip
    """What is made of a value for a field with this annotation: an object of each dict, also within lists and dicts, a
    tuple of a list, a member of an Enum of its value, a number of a whole one. Anything else is kept."""
    inner = payload(value)
    for kind in alternatives(annotation):
        origin = kind.attributes.get("__origin__") if isinstance(kind, Instance) else kind
        args: tuple[Value, ...] = kind.attributes.get("__args__", ()) if isinstance(kind, Instance) else ()
        if isinstance(inner, dict) and isinstance(kind, Class) and wanted(kind):
            return make(run, kind, inner)
        if isinstance(inner, dict) and origin in MAPPINGS and len(args) == 2:
            return {key: fitted(run, item, args[1], wanted, make) for key, item in inner.items()}
        if isinstance(inner, (list, tuple)) and origin in SEQUENCES:
            kinds = (
                args
                if origin is TUPLE and args[1:] != (...,) and len(args) == len(inner)
                else (args[:1] or (None,)) * len(inner)
            )
            items = [fitted(run, item, each, wanted, make) for item, each in zip(inner, kinds, strict=True)]
            return tuple(items) if origin is TUPLE else items
        if isinstance(kind, Class) and kind.derives_from(ENUM) and isinstance(inner, (str, int)):
            return run.attempt(kind, value)
        if kind is HOSTED[float] and type(inner) is int:
            return float(inner)
    return value


MAPPINGS: tuple[Value, ...] = (DICT, *(ABSTRACT[word] for word in ("Mapping", "MutableMapping")))
SEQUENCES: tuple[Value, ...] = (LIST, TUPLE, *(ABSTRACT[word] for word in ("Sequence", "Iterable", "Collection")))
"""Classes whose values are given as dicts and lists."""


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
