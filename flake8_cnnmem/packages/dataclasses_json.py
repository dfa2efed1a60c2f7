"""dataclasses_json: dataclasses of JSON and back. https://lidatong.github.io/dataclasses-json"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.data import read_json
from flake8_cnnmem.evaluate.stdlib.dataclasses import names as dataclass_names
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.packages._settings_classes import made
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Value, native


def from_dict(run: Runtime, cls: Value, kvs: Value, **options: Value) -> Value:
    """`Config.from_dict(raw)`"""
    found = payload(kvs)
    if isinstance(found, dict):
        return made(run, cls, found)
    return kvs if isinstance(kvs, Unknown) else run.unknown("settings are not followed")


def from_json(run: Runtime, cls: Value, s: Value, **options: Value) -> Value:
    """`Config.from_json(text)`"""
    return from_dict(run, cls, s if isinstance(s, Unknown) else read_json(run, s))


METHODS: dict[str, Any] = {
    "from_dict": ClassMethod(native("from_dict", from_dict)),
    "from_json": ClassMethod(native("from_json", from_json)),
    "to_dict": native("to_dict", lambda run, self, **options: run.call(dataclass_names["asdict"], self)),
    "to_json": native("to_json", lambda run, self, **options: run.unknown("what to_json() writes is not followed")),
}


def dataclass_json(run: Runtime, cls: Value = None, **options: Value) -> Value:
    """`@dataclass_json`, with options or without: the class gets the methods."""

    def decorate(run: Runtime, cls: Value) -> Value:
        if isinstance(cls, Class):
            run.changed(cls.namespace)
            cls.namespace.update(METHODS)
        return cls

    return native("decorator", decorate) if cls is None else decorate(run, cls)


NAMES: dict[str, Value] = {
    "dataclass_json": native("dataclass_json", dataclass_json),
    "DataClassJsonMixin": native_class("DataClassJsonMixin", dict(METHODS), module="dataclasses_json"),
}
MODULES = {"dataclasses_json": NAMES}
