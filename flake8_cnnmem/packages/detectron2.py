"""detectron2: configurations that are Python files of calls to be made (`LazyConfig`, `LazyCall`, `instantiate`). The
rest of it is read from its source.

https://detectron2.readthedocs.io/en/latest/tutorials/lazyconfigs.html, and detectron2 0.6's config/lazy.py and
config/instantiate.py.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.evaluate.builtins import files
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.packages._config_objects import held, load_yaml, located
from flake8_cnnmem.packages._registries import native
from flake8_cnnmem.packages.omegaconf import CONFIG, select
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, StaticMethod, Value

TARGET = "_target_"

REFERENCE = re.compile(r"\$\{(\.*)([\w.]+)\}")
"""`${..num_classes}`: a setting of the node above; without dots, from the root."""


def keep(run: Runtime, self: Instance, target: Value) -> None:
    run.changed(self)
    self.attributes[TARGET] = target


def describe(run: Runtime, self: Instance, **kwargs: Value) -> Value:
    """`LazyCall(nn.Conv2d)(in_channels=3)`: the call as settings."""
    inner = {key: held(CONFIG, value) for key, value in kwargs.items()}
    return Instance(CONFIG, payload={**inner, TARGET: self.attributes[TARGET]})


LAZY_CALL = native_class(
    "LazyCall",
    {"__init__": native("__init__", keep), "__call__": native("__call__", describe)},
    module="detectron2.config.lazy",
)


def instantiate(run: Runtime, cfg: Value) -> Value:
    """Make the call that settings describe, those inside of it first."""
    return made(run, cfg, ())


def made(run: Runtime, cfg: Value, above: Sequence[Value]) -> Value:
    """As `instantiate`; `above` are the nodes that the settings lie in, the outermost first."""
    run.spend(1)
    if isinstance(cfg, str):
        return referred(run, cfg, above)
    items = payload(cfg)
    if isinstance(items, list):
        return [made(run, item, (*above, items)) for item in items]
    if not isinstance(items, dict) or TARGET not in items:
        lost = run.havocked.get(id(items))
        return cfg if lost is None else lost[1]
    given = {key: made(run, item, (*above, items)) for key, item in items.items()}
    target = given.pop(TARGET)
    if isinstance(target, str):
        target = located(run, target)
    return target if isinstance(target, Unknown) else run.call(target, **given)


def referred(run: Runtime, text: str, above: Sequence[Value]) -> Value:
    """What another setting says, where a text refers to one."""
    whole = REFERENCE.fullmatch(text)
    if whole is None:
        return run.unknown("a setting is made of others") if "${" in text else text
    dots, path = len(whole[1]), whole[2]
    if dots > len(above) or not above:
        return run.unknown(f"the setting {path} is not known")
    at: Value = above[-dots] if dots else above[0]
    *parts, last = path.split(".")
    nodes = list(above[: len(above) - dots + 1] if dots else above[:1])
    for part in parts:
        at = payload(payload(at).get(part)) if isinstance(payload(at), dict) else None
        nodes.append(at)
    if not isinstance(at, dict) or last not in at:
        return run.unknown(f"the setting {path} is not known")
    return made(run, at[last], nodes)


def load(run: Any, filename: Value, keys: Value = None) -> Value:
    """The settings that a file defines, or those among them that are asked for."""
    path = payload(filename)
    if not isinstance(path, str):
        return path if isinstance(path, Unknown) else run.unknown(files.NOT_READ)
    found = defined(run, path) if path.endswith(".py") else held(CONFIG, load_yaml(run, path))
    if keys is None or isinstance(found, Unknown):
        return found
    words = [keys] if isinstance(keys, str) else run.items(keys)
    if isinstance(words, Unknown):
        return words
    picked = [select(run, found, word, run.unknown(f"{word} is not among the settings")) for word in words]
    return picked[0] if isinstance(keys, str) else tuple(picked)


def defined(run: Any, path: str) -> Value:
    """The settings of a Python file: what it names that is a dict, a list or a call."""
    module = module_at(run, path)
    if module is None:
        return run.unknown(files.NOT_READ)
    take_in(run, module, set())
    own = {
        name: held(CONFIG, value)
        for name, value in module.namespace(run).items()
        if not name.startswith("_") and (isinstance(payload(value), (dict, list)) or isinstance(value, Unknown))
    }
    return Instance(CONFIG, payload=own)


def take_in(run: Any, module: Module, seen: set[int]) -> None:
    """Turn the dicts of the files that a file imports, by where they lie, into settings."""
    for name in module.outline().imports:
        level = len(name) - len(name.lstrip("."))
        inner = run.importer.find(run.importer.resolve_relative(module, level, name[level:])) if level else None
        if not isinstance(inner, Module) or id(inner) in seen:
            continue
        seen.add(id(inner))
        take_in(run, inner, seen)
        for word, value in inner.namespace(run).items():
            if type(value) is dict:
                inner.variables[word] = held(CONFIG, value)


def module_at(run: Any, path: str) -> Module | None:
    """The module of a file of settings. It may import others relative to where it lies, whether those are packages or
    not: its name is that of the path from a folder in which imports are looked up."""
    found = files.place(run, path)
    for folder in run.importer.path.in_force() if found is not None else ():
        if found is not None and files.is_below(found, folder):
            dotted = os.path.relpath(found, folder)[: -len(".py")].replace(os.sep, ".")
            module = run.importer.load_file(found, dotted, False)
            return module if isinstance(module, Module) else None
    return None


def load_beside(run: Any, filename: Value, keys: Value = None) -> Value:
    """`LazyConfig.load_rel`: the path is from the file that asks."""
    at = run.frame.module.path if run.frame is not None else ""
    return load(run, posixpath.join(posixpath.dirname(at), str(payload(filename))), keys)


def override(run: Runtime, cfg: Value, overrides: Value) -> Value:
    """`apply_overrides(cfg, ["model.backbone.depth=50"])`."""
    listed = run.items(overrides)
    if isinstance(listed, Unknown):
        return listed
    for entry in listed:
        name, divided, value = str(payload(entry)).partition("=")
        *path, last = name.lstrip("+~").split(".")
        at: Any = payload(cfg)
        for part in path:
            at = payload(at[int(part)] if isinstance(at, list) else at.get(part)) if at is not None else None
        if not divided or not isinstance(at, dict):
            return run.unknown("an override of the settings is not followed")
        run.changed(at)
        at[last] = held(CONFIG, read_yaml(run, value))
    return cfg


LAZY_CONFIG: Class = native_class(
    "LazyConfig",
    {
        "load": StaticMethod(native("load", load)),
        "load_rel": StaticMethod(native("load_rel", load_beside)),
        "apply_overrides": StaticMethod(native("apply_overrides", override)),
        "save": StaticMethod(ignored("save")),
        "to_py": StaticMethod(ignored("to_py", "")),
    },
    module="detectron2.config.lazy",
)

NAMES: dict[str, Value] = {
    "LazyCall": LAZY_CALL, "LazyConfig": LAZY_CONFIG, "instantiate": native("instantiate", instantiate),
}  # fmt: skip

PLACED: dict[str, dict[str, Value]] = {
    "detectron2.config": dict(NAMES),
    "detectron2.config.lazy": {name: NAMES[name] for name in ("LazyCall", "LazyConfig")},
    "detectron2.config.instantiate": {"instantiate": NAMES["instantiate"]},
}

STAND_INS: dict[str, dict[str, Value]] = {"detectron2": {}, "detectron2.config": dict(NAMES)}
"""What is known of it where its source is not found: projects that use its settings for models of their own."""
