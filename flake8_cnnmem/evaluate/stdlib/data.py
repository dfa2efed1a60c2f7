"""Settings as data: `json`, `yaml`, `toml` and `configparser`, of texts and of the project's files."""

from __future__ import annotations

import configparser
import json
from collections.abc import Callable, Mapping
from typing import Any

from flake8_cnnmem.evaluate.builtins.concrete import concrete
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.builtins.files import held, text
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.text.notations import TooMuch, parse_toml, parse_yaml
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

SCALARS = (str, int, float, bool, bytes, type(None))


def as_value(run: Runtime, plain: Any) -> Value:
    """What a reader gives as values of the program: fresh containers, each item drawing on the budget, so that one
    text that names another many times over is copied no further than that allows."""
    run.spend(1)
    if isinstance(plain, SCALARS):
        return plain
    if isinstance(plain, dict):
        return {as_value(run, key): as_value(run, value) for key, value in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [as_value(run, item) for item in plain]
    return run.unknown(f"a {type(plain).__name__} in a settings file is not followed")


def reader(read: Callable[[str], Any]) -> Callable[[Runtime, Value], Value]:
    """A function of a text or an open file; ValueError of the host's for a text that cannot be read."""

    def parse(run: Runtime, source: Value) -> Value:
        found = held(run, source)
        if isinstance(found, Unknown):
            return found
        run.spend(len(found) // 16)
        try:
            return as_value(run, read(found))
        except TooMuch as error:
            return run.unknown(str(error))

    return parse


# JSON

notation = Names()
read_json = reader(json.loads)


HOOKS = ("object_hook", "object_pairs_hook")
"""What a program has called for each object of a JSON text, the innermost first."""


@notation.function("loads", propagate_unknown=False)
def loads(run: Runtime, s: Value, **kwargs: Value) -> Value:
    """`json.loads(text)`, `json.loads(text, object_hook=lambda held: SimpleNamespace(**held))`"""
    asked = {word: value for word, value in kwargs.items() if value is not None and word != "strict"}
    other = next((word for word in asked if word not in HOOKS), None)
    if other is not None:
        return run.unknown(f"what json reads with {other} is not followed")
    return with_hook(run, read_json(run, s), asked) if asked else read_json(run, s)


def with_hook(run: Runtime, value: Value, asked: Mapping[str, Value]) -> Value:
    """What a program makes of the objects of a JSON text: the hook of pairs comes first, as in Python."""
    if isinstance(value, list):
        return [with_hook(run, item, asked) for item in value]
    if not isinstance(value, dict):
        return value
    inside = {word: with_hook(run, item, asked) for word, item in value.items()}
    pairs = asked.get("object_pairs_hook")
    return run.call(asked["object_hook"], inside) if pairs is None else run.call(pairs, list(inside.items()))


@notation.function("load", propagate_unknown=False)
def load(run: Runtime, fp: Value, **kwargs: Value) -> Value:
    """`json.load(file)`"""
    return loads(run, fp, **kwargs)


@notation.function("dumps")
def dumps(run: Runtime, obj: Value, **kwargs: Value) -> Value:
    """`json.dumps(obj, ...)`: a text, unknown where a part of it is."""
    plain, options = concrete(run, obj), concrete(run, kwargs)
    for part in (plain, options):
        if isinstance(part, Unknown):
            return part
    indent = options.get("indent")
    if isinstance(indent, int) and indent > 16:
        return run.unknown("an indentation is too wide")
    result = json.dumps(plain, **options)
    run.check_size(len(result))
    return result


notation["dump"] = ignored("dump")
notation["JSONDecodeError"] = Class("JSONDecodeError", (EXCEPTIONS["ValueError"],), module="json")
notation["JSONEncoder"] = native_class("JSONEncoder", {"__init__": ignored("__init__")}, module="json")
notation["JSONDecoder"] = native_class("JSONDecoder", {"__init__": ignored("__init__")}, module="json")


# YAML, with the reader that nearly all projects use themselves: what `1e-3` is in YAML 1.1, it is here


def read_yaml(run: Runtime, stream: Value, Loader: Value = None, **kwargs: Value) -> Value:
    """`yaml.load(stream)`"""
    try:
        return reader(parse_yaml)(run, stream)
    except (ValueError, RecursionError):
        # A tag of the project's own, or no YAML.
        return run.unknown("a YAML file cannot be read")


READ_YAML = Native("load", read_yaml, propagate_unknown=False)
marked_up: dict[str, Value] = {
    **dict.fromkeys(("load", "safe_load", "full_load", "unsafe_load"), READ_YAML),
    "load_all": unfollowed("yaml.load_all"), "safe_load_all": unfollowed("yaml.safe_load_all"),
    "dump": unfollowed("yaml.dump"), "safe_dump": unfollowed("yaml.safe_dump"),
    **{
        name: native_class(name, {word: ignored(word) for word in ("add_constructor", "add_implicit_resolver")})
        for name in ("Loader", "FullLoader", "SafeLoader", "UnsafeLoader", "CLoader", "CSafeLoader", "Dumper",
                     "SafeDumper")
    },
    **{word: ignored(word) for word in ("add_constructor", "add_representer", "add_implicit_resolver")},
    "YAMLError": Class("YAMLError", (EXCEPTIONS["Exception"],), module="yaml"),
}  # fmt: skip

RUAMEL = native_class(
    "YAML",
    {
        "__init__": ignored("__init__"),
        "load": Native("load", lambda run, self, stream: read_yaml(run, stream), propagate_unknown=False),
        "dump": ignored("dump"),
    },
    module="ruamel.yaml",
)


# TOML


def read_toml(run: Runtime, source: Value, *args: Value, **kwargs: Value) -> Value:
    """`tomllib.load(file)`, `toml.loads(text)`"""
    return reader(parse_toml)(run, source)


def read_toml_file(run: Runtime, source: Value, *args: Value, **kwargs: Value) -> Value:
    """Of a text, an open file or, as `toml.load` takes it, a path."""
    plain = payload(source)
    if isinstance(plain, str) or type(plain).__name__ == "PurePosixPath":
        plain = text(run, plain)
        return plain if isinstance(plain, Unknown) else read_toml(run, plain)
    return read_toml(run, source)


TOML: dict[str, Value] = {
    "load": Native("load", read_toml_file, propagate_unknown=False),
    "loads": Native("loads", read_toml, propagate_unknown=False),
    "dump": ignored("dump"), "dumps": unfollowed("toml.dumps"),
    "TOMLDecodeError": Class("TOMLDecodeError", (EXCEPTIONS["ValueError"],), module="tomllib"),
}  # fmt: skip


# INI: values are texts until they are asked for as something else

parsers = Names()
sections = Names()


@parsers.function("__init__", propagate_unknown=False)
def parser_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`ConfigParser(...)`"""
    self.native = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    self.attributes["cause"] = None


def take(run: Runtime, self: Instance, source: str | Unknown) -> None:
    """Add a text. What was never read may hold anything."""
    run.changed(self)
    if isinstance(source, Unknown):
        self.attributes["cause"] = source
        return
    try:
        self.native.read_string(source)
    except configparser.Error as error:
        raise ValueError(str(error)) from None


@parsers.function("read", propagate_unknown=False)
def read_files(run: Runtime, self: Instance, filenames: Value, encoding: Value = None) -> Value:
    """`parser.read(filenames)`: the names of those that are read."""
    names = filenames if isinstance(filenames, (list, tuple)) else [filenames]
    for name in names:
        take(run, self, text(run, name))
    return list(names)


@parsers.function("read_file", propagate_unknown=False)
def read_open_file(run: Runtime, self: Instance, f: Value, source: Value = None) -> None:
    """`parser.read_file(f)`"""
    take(run, self, held(run, f))


@parsers.function("read_string", propagate_unknown=False)
def read_text(run: Runtime, self: Instance, string: Value, source: Value = None) -> None:
    """`parser.read_string(text)`"""
    take(run, self, held(run, string))


def sections_of(self: Instance) -> Value:
    """`parser.sections()`, or why they are not known."""
    cause = self.attributes["cause"]
    return self.native.sections() if cause is None else cause


@parsers.function("read_dict", propagate_unknown=False)
def read_dict(run: Runtime, self: Instance, dictionary: Value, source: Value = None) -> None:
    """`parser.read_dict(dictionary)`"""
    plain = concrete(run, dictionary)
    if isinstance(plain, Unknown):
        take(run, self, plain)
    elif isinstance(plain, dict) and all(isinstance(inner, dict) for inner in plain.values()):
        self.native.read_dict(plain)
    else:
        raise TypeError("read_dict() takes a dict of dicts")


BOOLEANS = {"1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False}


def as_boolean(value: str) -> bool:
    """True for "1", "yes", "true", "on", False for their opposites. ValueError else."""
    if value.lower() not in BOOLEANS:
        raise ValueError(f"Not a boolean: {value}")
    return BOOLEANS[value.lower()]


def found(
    run: Runtime, self: Instance, section: Value, option: Value, fallback: Value, kind: Callable[..., Value]
) -> Value:
    """An option of a section, converted; the fallback where it is not there. NoOptionError without one."""
    plain = concrete(run, (section, option))
    if isinstance(plain, Unknown):
        return plain
    if not all(isinstance(part, str) for part in plain):
        raise TypeError("sections and options are named by texts")
    if self.native.has_option(*plain):
        value = self.native.get(*plain)
        if isinstance(value, str) and "%(" in value:
            return run.unknown("an interpolated setting is not followed")
        return None if value is None else kind(value)
    if self.attributes.get("cause") is not None:
        return self.attributes["cause"]
    if fallback is not MISSING:
        return fallback
    raise KeyError(f"No option {plain[1]!r} in section: {plain[0]!r}")


KINDS: dict[str, Callable[..., Any]] = {"get": str, "getint": int, "getfloat": float, "getboolean": as_boolean}


def getter(kind: Callable[..., Any]) -> Callable[..., Value]:
    """`parser.getint(section, option)` and its like, by what converts."""

    def get(
        run: Runtime, self: Instance, section: Value, option: Value, *, raw: Value = False, vars: Value = None,
        fallback: Value = MISSING,
    ) -> Value:  # fmt: skip
        return found(run, self, section, option, fallback, kind)

    return get


def section_getter(kind: Callable[..., Any]) -> Callable[..., Value]:
    """`section.getint(option)` and its like, by what converts."""

    def get(run: Runtime, self: Instance, option: Value, fallback: Value = None, **kwargs: Value) -> Value:
        return found(run, self.native, self.attributes["name"], option, fallback, kind)

    return get


for _name, _kind in KINDS.items():
    parsers[_name] = Native(_name, getter(_kind), propagate_unknown=False)
    sections[_name] = Native(_name, section_getter(_kind), propagate_unknown=False)


@parsers.function("__getitem__")
def section_of(run: Runtime, self: Instance, key: Value) -> Value:
    """`parser[section]`. KeyError for one that it does not have."""
    if key != "DEFAULT" and not self.native.has_section(key):
        cause = self.attributes.get("cause")
        if cause is not None:
            return cause
        raise KeyError(key)
    return Instance(SECTION, {"name": key}, native=self)


@sections.function("__getitem__")
def item(run: Runtime, self: Instance, key: Value) -> Value:
    """`section[option]`. KeyError for one that it does not have."""
    return found(run, self.native, self.attributes["name"], key, MISSING, str)


def options_of(run: Runtime, self: Instance) -> dict[str, Value]:
    """The options of a section and their texts."""
    name = self.attributes["name"]
    return {word: found(run, self.native, name, word, None, str) for word in self.native.native[name]}


sections["__iter__"] = sections["keys"] = Native("keys", lambda run, self: iter(options_of(run, self)))
sections["items"] = Native("items", lambda run, self: list(options_of(run, self).items()))
sections["values"] = Native("values", lambda run, self: list(options_of(run, self).values()))
sections["__contains__"] = Native("__contains__", lambda run, self, key: key in options_of(run, self))
SECTION = native_class("SectionProxy", dict(sections), module="configparser")
parsers["sections"] = Native("sections", lambda run, self: sections_of(self))
parsers["has_section"] = Native("has_section", lambda run, self, name: self.native.has_section(name))
parsers["has_option"] = Native(
    "has_option", lambda run, self, name, option: self.native.has_option(str(payload(name)), str(payload(option)))
)
parsers["options"] = Native("options", lambda run, self, name: list(self.native[name]))
parsers["items"] = Native(
    "items", lambda run, self, name: list(options_of(run, Instance(SECTION, {"name": name}, native=self)).items())
)
parsers["__contains__"] = Native("__contains__", lambda run, self, key: self.native.has_section(key))
for _name in ("set", "write", "add_section"):
    parsers[_name] = ignored(_name)
PARSER = native_class("ConfigParser", dict(parsers), module="configparser")

MODULES: dict[str, dict[str, Value]] = {
    "json": notation,
    "tomllib": TOML,
    "configparser": dict.fromkeys(("ConfigParser", "RawConfigParser", "SafeConfigParser"), PARSER),
}
