"""dacite: dataclasses of dicts, by the types of their fields. https://github.com/konradhalas/dacite"""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.packages._settings_classes import made
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value, native


def from_dict(run: Runtime, data_class: Value, data: Value, config: Value = None) -> Value:
    """`from_dict(data_class=Config, data=raw)`"""
    found = payload(data)
    return made(run, data_class, found) if isinstance(found, dict) else run.unknown("settings are not followed")


CONFIG = native_class("Config", {"__init__": native("__init__", lambda run, self, **options: None)}, module="dacite")
MODULES: dict[str, dict[str, Value]] = {"dacite": {"from_dict": native("from_dict", from_dict), "Config": CONFIG}}
