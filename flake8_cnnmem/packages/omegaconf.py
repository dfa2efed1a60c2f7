"""OmegaConf: configurations that code builds, merges and reads."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.packages._config_objects import (
    assign,
    fields_of,
    get,
    held,
    holder,
    load_yaml,
    lose_settings,
    merge_other,
    plain,
    without_tuples,
)
from flake8_cnnmem.packages._references import REFERENCES, RESOLVERS, noted, raw, refresh
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, StaticMethod, Value, native

CONFIG = holder("DictConfig", "omegaconf")


def assign_setting(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    """`cfg.a = 1`: what refers to it is something else from now on."""
    if isinstance(value, str) and "${" in value:
        value = run.unknown("a setting is made of others")
    found = run.data(REFERENCES)
    if (id(self.payload), name) in found:
        run.changed(found)
        del found[id(self.payload), name]
    assign(run, self, name, without_tuples(value) if isinstance(value, (dict, list, tuple)) else value)
    refresh(run)


def update_settings(run: Runtime, self: Instance, other: Value = None, **kwargs: Value) -> None:
    """`cfg.update({...})`, item by item."""
    if isinstance(other, Unknown):
        lose_settings(run, self, other)
        return
    items = payload(other)
    for key, item in {**(items if isinstance(items, dict) else {}), **kwargs}.items():
        assign_setting(run, self, key, item)


def merge_with(run: Runtime, self: Instance, *others: Value) -> None:
    """`cfg.merge_with(other, ...)`"""
    for other in others:
        merge_other(run, self, held(CONFIG, raw(run, other)) if isinstance(payload(other), dict) else other)
    noted(run, self)


def copied(run: Runtime, self: Instance, memo: Value = None) -> Value:
    """A copy, whose settings refer to its own; that of a part of the settings has what they stand for now."""
    below = [each for each in run.data(REFERENCES).values() if any(one is self.payload for one in each.above)]
    if below and all(each.above[0] is self.payload for each in below):
        return noted(run, held(CONFIG, raw(run, self)))
    return held(CONFIG, plain(self))


CONFIG.namespace.update({
    "__getattr__": native("__getattr__", get),
    **{name: native(name, assign_setting) for name in ("__setattr__", "__setitem__")},
    "update": native("update", update_settings),
    "merge_with": native("merge_with", merge_with),
    **{name: native(name, copied) for name in ("copy", "__copy__", "__deepcopy__")},
})  # fmt: skip


def created(run: Runtime, obj: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Of a dict, a list, a YAML text, a dataclass or an object of one."""
    value = {} if obj is None else obj
    if isinstance(value, str):
        value = read_yaml(run, value)
    if isinstance(value, Class):
        value = run.attempt(value)
    return noted(run, held(CONFIG, without_tuples(fields_of(value))))


def loaded(run: Runtime, file_: Value) -> Value:
    """`OmegaConf.load(path)`"""
    found = load_yaml(run, file_)
    return found if isinstance(found, Unknown) else noted(run, held(CONFIG, found))


def merged(run: Runtime, *configs: Value) -> Value:
    """`OmegaConf.merge(a, b)`: what refers to a setting finds that of the result."""
    result = Instance(CONFIG, payload={})
    for config in configs:
        if isinstance(config, (Class, Instance)) and not isinstance(payload(config), dict):
            config = created(run, config)
        known = isinstance(payload(config), dict) and id(payload(config)) not in run.havocked
        merge_other(run, result, held(CONFIG, raw(run, config)) if known else config)
    return noted(run, result)


def select(run: Runtime, cfg: Value, key: Value, default: Value = None, **kwargs: Value) -> Value:
    """`OmegaConf.select(cfg, "a.b")`"""
    at: Value = cfg
    for part in str(payload(key)).split("."):
        inner = payload(at)
        at = inner.get(part, MISSING) if isinstance(inner, dict) else MISSING
    return default if at is MISSING else at


def set_at(run: Runtime, cfg: Any, key: Value, value: Value = None, *args: Value, **kwargs: Value) -> None:
    """`OmegaConf.update(cfg, "a.b", value)`: nodes on the way that are not there are made."""
    if isinstance(cfg, Unknown) or not isinstance(payload(cfg), dict):
        return
    if not isinstance(payload(key), str):
        lose_settings(run, cfg, key if isinstance(key, Unknown) else run.unknown("which setting it is is not known"))
        return
    *path, last = payload(key).split(".")
    at: Any = cfg
    for part in path:
        inner = payload(at).get(part)
        if not isinstance(payload(inner), dict):
            inner = Instance(CONFIG, payload={})
            run.changed(payload(at))
            payload(at)[part] = inner
        at = inner
    now = payload(at).get(last)
    if isinstance(payload(value), dict) and isinstance(payload(now), dict):
        merge_with(run, now, value)
    else:
        assign_setting(run, at, last, value)


def from_dotlist(run: Runtime, dotlist: Value) -> Value:
    """`OmegaConf.from_dotlist(["a.b=1"])`"""
    words = run.items(dotlist)
    made = Instance(CONFIG, payload={})
    if isinstance(words, Unknown):
        return words
    for word in words:
        if not isinstance(payload(word), str):
            return word if isinstance(word, Unknown) else run.unknown("which setting it is is not known")
        key, _, text = payload(word).partition("=")
        set_at(run, made, key, read_yaml(run, text) if text else None)
    return made


def register_resolver(run: Runtime, name: Value, resolver: Value, *args: Value, **kwargs: Value) -> None:
    """`OmegaConf.register_new_resolver(name, function)`"""
    found = run.data(RESOLVERS)
    run.changed(found)
    found[payload(name)] = resolver
    refresh(run)


def masked_copy(run: Runtime, conf: Value, keys: Value) -> Value:
    """`OmegaConf.masked_copy(cfg, ["a", "b"])`"""
    words = payload(keys)
    wanted = words if isinstance(words, (list, tuple)) else [words]
    items = payload(conf)
    if not isinstance(items, dict):
        return conf
    return Instance(CONFIG, payload={key: item for key, item in items.items() if key in wanted})


OMEGA = native_class(
    "OmegaConf",
    {
        **{name: StaticMethod(native(name, created)) for name in ("create", "structured")},
        "load": StaticMethod(native("load", loaded)),
        **{name: StaticMethod(native("merge", merged)) for name in ("merge", "unsafe_merge")},
        **{
            name: StaticMethod(native(name, lambda run, cfg, *args, **kwargs: without_tuples(cfg)))
            for name in ("to_container", "to_object")
        },
        "from_cli": StaticMethod(native("from_cli", lambda run, args=None: created(run))),
        "from_dotlist": StaticMethod(native("from_dotlist", from_dotlist)),
        "select": StaticMethod(native("select", select)),
        "update": StaticMethod(native("update", set_at)),
        "masked_copy": StaticMethod(native("masked_copy", masked_copy)),
        "is_config": StaticMethod(native("is_config", lambda run, obj: getattr(obj, "cls", None) is CONFIG)),
        "is_dict": StaticMethod(native("is_dict", lambda run, obj: getattr(obj, "cls", None) is CONFIG)),
        "is_list": StaticMethod(native("is_list", lambda run, obj: isinstance(obj, list))),
        "is_missing": StaticMethod(native("is_missing", lambda run, cfg, key: select(run, cfg, key) == "???")),
        "has_resolver": StaticMethod(native("has_resolver", lambda run, name: payload(name) in run.data(RESOLVERS))),
        **{
            name: StaticMethod(native(name, register_resolver))
            for name in ("register_new_resolver", "register_resolver")
        },
        **{
            name: StaticMethod(ignored(name))
            for name in ("set_struct", "set_readonly", "save", "to_yaml", "resolve", "clear_resolvers")
        },
    },
    module="omegaconf",
)

OMEGACONF: dict[str, Value] = {
    "OmegaConf": OMEGA, "DictConfig": CONFIG, "ListConfig": native_class("ListConfig", {}, module="omegaconf"),
    "MISSING": "???", "open_dict": native_class("open_dict", {
        "__init__": ignored("__init__"), "__enter__": ignored("__enter__"), "__exit__": ignored("__exit__")}),
}  # fmt: skip
MODULES = {"omegaconf": OMEGACONF}
