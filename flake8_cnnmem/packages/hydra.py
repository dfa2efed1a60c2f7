"""hydra: a program that is given its configuration, and objects that configurations name."""

from __future__ import annotations

import posixpath
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.packages._config_objects import held, located
from flake8_cnnmem.packages._hydra_defaults import STORE, Composition
from flake8_cnnmem.packages._references import noted
from flake8_cnnmem.packages.omegaconf import CONFIG, created, set_at
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, StaticMethod, Value, native

FOLDER = "hydra folder"


def main(run: Runtime, version_base: Value = None, config_path: Value = None, config_name: Value = None,
         **kwargs: Value) -> Value:  # fmt: skip
    """`@hydra.main(config_path="conf", config_name="config")`: the function is called with those settings."""
    if isinstance(version_base, str) and config_path is None and "." not in version_base:
        # Before version 1.1 the path came first.
        config_path = version_base

    def decorate(run: Runtime, function: Value) -> Value:
        def call(run: Runtime, *args: Value, **more: Value) -> Value:
            if args or more:
                return run.call(function, *args, **more)
            folder = posixpath.dirname(function.module.path) if isinstance(function, Function) else ""
            return run.call(function, composed(run, folder, config_path, config_name))

        return native("main", call)

    return native("hydra.main", decorate)


def composed(run: Runtime, folder: str, config_path: Value, config_name: Value, overrides: Value = None) -> Value:
    """A configuration with the groups that its defaults list names."""
    name = payload(config_name)
    stored = run.data(STORE).get(name)
    if stored is not None and not isinstance(payload(stored), dict):
        return created(run, stored)
    path = payload(config_path)
    if name is None and isinstance(path, str) and path.endswith((".yaml", ".yml")):
        # Before version 1.0 the path named the file.
        path, name = posixpath.split(path)
    if not isinstance(name, str):
        return run.unknown("which settings hydra loads is not known")
    if isinstance(path, Unknown):
        return path
    given = run.items(overrides) if overrides is not None else []
    if isinstance(given, Unknown):
        return given
    base = posixpath.join(folder, str(path)) if path is not None else folder
    return overridden(run, base, name, [payload(each) for each in given])


def overridden(run: Runtime, base: str, name: str, words: list[Value]) -> Value:
    """A composed configuration with what is asked for beside it: `model=big`, `model.width=3`, `+seed=1`."""
    unclear = next((word for word in words if not isinstance(word, str) or word.startswith("~")), None)
    if unclear is not None:
        return unclear if isinstance(unclear, Unknown) else run.unknown("what is left out of settings is not known")
    pairs = [str(word).lstrip("+").partition("=") for word in words]
    plan = Composition(run, base, {key: read_yaml(run, value) for key, _, value in pairs})
    found = plan.whole(name)
    if isinstance(found, Unknown):
        return found
    result = noted(run, held(CONFIG, found))
    for key, _, value in pairs:
        if key not in plan.groups:
            set_at(run, result, key, read_yaml(run, value) if value else None)
    return result


def store(run: Runtime, self: Value = None, name: Value = None, node: Value = None, group: Value = None,
          **kwargs: Value) -> None:  # fmt: skip
    """`ConfigStore.instance().store(name, node, group)`"""
    found = run.data(STORE)
    run.changed(found)
    found[name if group is None else (group, name)] = node


CONFIG_STORE = native_class("ConfigStore", {"store": native("store", store)}, module="hydra.core.config_store")
CONFIG_STORE.namespace["instance"] = StaticMethod(native("instance", lambda run: Instance(CONFIG_STORE)))


def initialize(run: Any, self: Instance, version_base: Value = None, config_path: Value = None, *args: Value,
               config_dir: Value = None, **kwargs: Value) -> None:  # fmt: skip
    """`initialize(config_path="conf")` beside the calling file, `initialize_config_dir("/path")`."""
    if isinstance(version_base, str) and config_path is None and "." not in version_base:
        config_path = version_base
    module = run.frame.module if run.frame is not None else None
    folder = posixpath.dirname(module.path) if module is not None else ""
    path = config_dir if config_dir is not None else config_path
    found = run.data(FOLDER)
    run.changed(found)
    found["path"] = path if isinstance(path, Unknown) else posixpath.join(folder, str(payload(path) or ""))


INITIALIZE = native_class(
    "initialize",
    {"__init__": native("__init__", initialize), "__enter__": ignored("__enter__"), "__exit__": ignored("__exit__")},
    module="hydra",
)


def compose(run: Runtime, config_name: Value = None, overrides: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`compose("config", overrides=["model=big"])`, in the folder that `initialize` has named."""
    path = run.data(FOLDER).get("path", "")
    return path if isinstance(path, Unknown) else composed(run, "", path, config_name, overrides)


def instantiate(run: Runtime, config: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Call what `_target_` names with the other items, inner ones with targets of their own first."""
    if isinstance(config, Unknown):
        return config
    items = payload(config)
    if isinstance(items, (list, tuple)):
        return [instantiate(run, item) for item in items]
    if not isinstance(items, dict):
        return config
    if "_target_" not in items and "_target_" not in kwargs:
        if not any(has_target(item) for item in items.values()):
            return config
        return Instance(CONFIG, payload={key: instantiate(run, item) for key, item in items.items()})
    settings = {**items, **{key: item for key, item in kwargs.items() if key.startswith("_")}}
    inner = settings.get("_recursive_") is not False
    given = {key: item for key, item in items.items() if not str(key).startswith("_")}
    given.update({key: item for key, item in kwargs.items() if not key.startswith("_")})
    given = {key: instantiate(run, item) if inner else item for key, item in given.items()}
    placed = [*args] if args else [instantiate(run, item) if inner else item for item in positional(settings)]
    target = located(run, settings["_target_"])
    if isinstance(target, Unknown):
        return target
    if settings.get("_partial_") is True:
        return native("partial", lambda run, *more, **last: run.call(target, *placed, *more, **{**given, **last}))
    return run.call(target, *placed, **given)


def positional(settings: dict[Value, Value]) -> list[Value]:
    """The arguments that `_args_` lists."""
    listed = payload(settings.get("_args_"))
    return list(listed) if isinstance(listed, (list, tuple)) else []


def has_target(value: Value, depth: int = 6) -> bool:
    """Whether something in settings names what is to be called."""
    inner = payload(value)
    if isinstance(inner, dict):
        return "_target_" in inner or (depth > 0 and any(has_target(item, depth - 1) for item in inner.values()))
    return isinstance(inner, (list, tuple)) and depth > 0 and any(has_target(item, depth - 1) for item in inner)


UTILS: dict[str, Value] = {
    "instantiate": native("instantiate", instantiate), "call": native("call", instantiate),
    "get_class": native("get_class", located), "get_method": native("get_method", located),
    "get_object": native("get_object", located), "get_original_cwd": native("get_original_cwd", lambda run: ""),
    "to_absolute_path": identity("to_absolute_path"),
}  # fmt: skip

COMPOSING: dict[str, Value] = {
    "initialize": INITIALIZE,
    "initialize_config_dir": native(
        "initialize_config_dir",
        lambda run, config_dir=None, *args, **kwargs: run.call(INITIALIZE, config_dir=config_dir),
    ),
    "compose": native("compose", compose),
}

CLEARED = native_class("GlobalHydra", {"clear": ignored("clear"), "is_initialized": ignored("is_initialized", False)})
CLEARED.namespace["instance"] = StaticMethod(native("instance", lambda run: Instance(CLEARED)))

MODULES: dict[str, dict[str, Value]] = {
    "hydra": {"main": native("main", main), **COMPOSING},
    "hydra.experimental": COMPOSING,
    "hydra.utils": UTILS,
    "hydra.core": {},
    "hydra.core.config_store": {"ConfigStore": CONFIG_STORE},
    "hydra.core.global_hydra": {"GlobalHydra": CLEARED},
}
